#include "host/program/unwind.h"

#include <stdbool.h>

#include "arch/armv7a/host/processor.h"
#include "wire/bytes.h"

enum {
    SP = PROCESSOR_SP,
    LR = PROCESSOR_LR,
    PC = PROCESSOR_PC,
    PUSHED_MAX = 64 /* bytes, by a function whose frame is not described */
};

/* A program's state at one of the calls that are under way. */
struct level {
    uint32_t registers[PROCESSOR_REGISTERS];
    uint32_t known;  /* mask of registers */
    bool sp_guessed; /* sp may be lower than it was: the function called had pushed something */
};

/* Whether a call stands before a return address; *target is the function, 0 for one by pointer. */
static bool follows_call(const struct image *image, uint32_t address, uint32_t *target)
{
    uint32_t offset = processor_code_address(address) - PROCESSOR_CALL_BYTES - image->base;

    *target = 0;
    return offset < image->bytes && image->bytes - offset >= PROCESSOR_CALL_BYTES &&
           processor_is_call(image->data + offset, address, target);
}

static bool follows_call_of(const struct unwind *unwind, uint32_t address, uint32_t function)
{
    uint32_t target;

    return follows_call(unwind->image, address, &target) && target &&
           processor_code_address(target) == processor_code_address(function);
}

static bool read_stack(const struct unwind *unwind, uint32_t address, uint32_t *word)
{
    uint32_t offset = address - unwind->stack_start;

    if (unwind->stack_bytes < 4 || offset > unwind->stack_bytes - 4) {
        return false;
    }
    *word = get32(unwind->stack + offset);
    return true;
}

static bool is_known(const struct level *level, unsigned number)
{
    return level->known >> number & 1;
}

/* The caller's state as the frame describes it; false when its return address cannot be had. */
static bool follow_frame(const struct unwind *unwind, const struct level *level,
                         const struct symbol_frame *frame, struct level *caller)
{
    uint32_t cfa = level->registers[frame->cfa_register] + (uint32_t)frame->cfa_offset, word;

    if (!is_known(level, frame->cfa_register) ||
        (is_known(level, SP) && cfa < level->registers[SP])) {
        return false;
    }
    *caller = *level;
    for (unsigned i = 0; i < PROCESSOR_REGISTERS; i++) {
        caller->known &= frame->registers[i].kept == REGISTER_LOST ? ~(1U << i) : UINT32_MAX;
        if (frame->registers[i].kept == REGISTER_SAVED) {
            bool there = read_stack(unwind, cfa + (uint32_t)frame->registers[i].offset, &word);
            caller->registers[i] = there ? word : 0;
            caller->known = (caller->known & ~(1U << i)) | (uint32_t)there << i;
        }
    }
    caller->registers[SP] = cfa;
    caller->known |= 1U << SP;
    return is_known(caller, LR);
}

/* A program that is where no function is may have returned there, by an address on its stack that
 * was overwritten: then lr follows the last call that a function of the library has made. What the
 * function that returned had called has left its return address below sp: the nearest tells. */
static bool follow_return(const struct unwind *unwind, const struct level *level,
                          struct level *caller)
{
    struct symbol_place place;
    uint32_t target, word, at = level->registers[SP] & ~3U;

    if (!is_known(level, SP) || !follows_call(unwind->image, level->registers[LR], &target) ||
        !target ||
        !symbols_places(unwind->symbols, processor_call_address(level->registers[LR]), &place, 1) ||
        !place.library) {
        return false;
    }
    while (read_stack(unwind, at -= 4, &word)) {
        if (follows_call(unwind->image, word, &target) && target &&
            symbols_places(unwind->symbols, processor_call_address(word), &place, 1) &&
            !place.library) {
            *caller = *level;
            caller->registers[LR] = word;
            caller->known = 1U << LR; /* its own frame is gone */
            return true;
        }
    }
    return false;
}

/* lr follows a call of the function, or a jump to where no function is. */
static bool follow_lr(const struct unwind *unwind, const struct level *level, uint32_t function,
                      struct level *caller)
{
    uint32_t target;

    *caller = *level;
    caller->sp_guessed = true;
    return is_known(level, LR) &&
           (function ? follows_call_of(unwind, level->registers[LR], function)
                     : follows_call(unwind->image, level->registers[LR], &target));
}

/* The first word of the stack that follows a call of the function. */
static bool follow_stack(const struct unwind *unwind, const struct level *level, uint32_t function,
                         struct level *caller)
{
    uint32_t at = level->registers[SP] & ~3U, word;

    /* Where sp is below the piece, what lies between is not known, and the piece may be old. */
    if (!function || !is_known(level, SP)) {
        return false;
    }
    for (; read_stack(unwind, at, &word); at += 4) {
        if (follows_call_of(unwind, word, function)) {
            *caller = *level;
            caller->registers[SP] = at + 4;
            caller->registers[LR] = word;
            caller->sp_guessed = true;
            return true;
        }
    }
    return false;
}

/* As the frame describes it, where a call stands before the return address. A guessed sp may be
 * lower than it was: then the first place that fits, best one that follows a call of this very
 * function. Else its caller may have called another that jumped here. */
static bool follow_call(const struct unwind *unwind, const struct level *level, uint32_t function,
                        struct level *caller)
{
    uint32_t pushed_max = level->sp_guessed ? PUSHED_MAX : 0, target;
    struct symbol_frame frame;

    if (!function || !symbols_frame(unwind->symbols, level->registers[PC], &frame)) {
        return false;
    }
    for (int exact = level->sp_guessed; exact >= 0; exact--) {
        for (uint32_t pushed = 0; pushed <= pushed_max; pushed += 4) {
            struct level from = *level;
            from.registers[SP] += pushed;
            if (follow_frame(unwind, &from, &frame, caller) &&
                follows_call(unwind->image, caller->registers[LR], &target) &&
                (!exact || processor_code_address(target) == processor_code_address(function))) {
                caller->sp_guessed = false;
                return true;
            }
        }
    }
    return false;
}

/* From one call to the one around it; false: there is none, or it cannot be found. */
static bool step(const struct unwind *unwind, struct level *level)
{
    uint32_t function = symbols_function(unwind->symbols, level->registers[PC]);
    struct level caller;

    if (!follow_call(unwind, level, function, &caller) &&
        !(!function && follow_return(unwind, level, &caller)) &&
        !follow_lr(unwind, level, function, &caller) &&
        !follow_stack(unwind, level, function, &caller)) {
        return false;
    }
    caller.registers[PC] = processor_call_address(caller.registers[LR]);
    caller.known &= ~(1U << LR);
    *level = caller;
    return true;
}

unsigned unwind(const struct unwind *unwind, uint32_t *addresses, unsigned room)
{
    struct level level = {.known = unwind->stack_bytes ? UINT32_MAX : 1U << LR | 1U << PC};
    unsigned count = 0;

    for (unsigned i = 0; i < PROCESSOR_REGISTERS; i++) {
        level.registers[i] = unwind->registers[i];
    }
    level.registers[PC] = processor_code_address(level.registers[PC]);
    do {
        addresses[count++] = level.registers[PC];
    } while (count < room && step(unwind, &level));
    return count;
}
