#include "host/program/unwind.h"

#include <stdbool.h>

#include "wire/bytes.h"

enum {
    SP = 13,
    LR = 14,
    PC = 15,
    CALL_BYTES = 4,
    THUMB = 1,
    PUSHED_MAX = 64 /* bytes, by a function whose frame is not described */
};

/* A program's state at one of the calls that are under way. */
struct level {
    uint32_t registers[ARM_REGISTERS];
    uint32_t known;  /* mask of registers */
    bool sp_guessed; /* sp may be lower than it was: the function called had pushed something */
};

/* The program's four bytes before an address, the last two in the upper half; 0 outside of it. */
static uint32_t code_before(const struct image *image, uint32_t address)
{
    uint32_t offset = address - CALL_BYTES - image->base;

    return offset < image->bytes && image->bytes - offset >= CALL_BYTES
               ? get32(image->data + offset)
               : 0;
}

/* The destination of a BL or BLX of Thumb code; 0 when it is none. */
static uint32_t thumb_target(uint32_t code, uint32_t after)
{
    uint32_t first = code & 0xffff, second = code >> 16, sign = first >> 10 & 1;
    bool to_arm = (second & 0xd001) == 0xc000;

    if ((first & 0xf800) != 0xf000 || !(to_arm || (second & 0xd000) == 0xd000)) {
        return 0;
    }
    uint32_t high = ((second >> 13 & 1) ^ sign ^ 1) << 1 | ((second >> 11 & 1) ^ sign ^ 1);
    uint32_t distance = high << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1;

    return (to_arm ? after & ~3U : after) + distance - (sign << 24);
}

/* The same of ARM code, whose pc is two instructions ahead. */
static uint32_t arm_target(uint32_t code, uint32_t after)
{
    bool to_thumb = (code & 0xfe000000) == 0xfa000000;

    if ((code & 0x0f000000) != 0x0b000000 && !to_thumb) {
        return 0;
    }
    uint32_t distance = (code & 0xffffff) << 2 | (to_thumb ? code >> 23 & 2 : 0);

    return after + 4 + distance - ((code >> 23 & 1) << 26);
}

/* Whether a call stands before a return address; *target is the function, 0 for one by pointer. */
static bool follows_call(const struct image *image, uint32_t address, uint32_t *target)
{
    uint32_t after = address & ~1U, code = code_before(image, after);

    if (address & THUMB) {
        *target = thumb_target(code, after);
        return *target || (code >> 16 & 0xff87) == 0x4780;
    }
    *target = arm_target(code, after);
    return *target || (code & 0x0ffffff0) == 0x012fff30;
}

static bool follows_call_of(const struct unwind *unwind, uint32_t address, uint32_t function)
{
    uint32_t target;

    return follows_call(unwind->image, address, &target) && target &&
           (target & ~1U) == (function & ~1U);
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
    for (unsigned i = 0; i < ARM_REGISTERS; i++) {
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
        !target || !symbols_places(unwind->symbols, level->registers[LR] - 2, &place, 1) ||
        !place.library) {
        return false;
    }
    while (read_stack(unwind, at -= 4, &word)) {
        if (follows_call(unwind->image, word, &target) && target &&
            symbols_places(unwind->symbols, (word & ~1U) - 2, &place, 1) && !place.library) {
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
                (!exact || (target & ~1U) == (function & ~1U))) {
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
    /* Before the return address stands the call, whose length does not matter here. */
    caller.registers[PC] = (caller.registers[LR] & ~1U) - 2;
    caller.known &= ~(1U << LR);
    *level = caller;
    return true;
}

unsigned unwind(const struct unwind *unwind, uint32_t *addresses, unsigned room)
{
    struct level level = {.known = unwind->stack_bytes ? UINT32_MAX : 1U << LR | 1U << PC};
    unsigned count = 0;

    for (unsigned i = 0; i < ARM_REGISTERS; i++) {
        level.registers[i] = unwind->registers[i];
    }
    level.registers[PC] &= ~1U;
    do {
        addresses[count++] = level.registers[PC];
    } while (count < room && step(unwind, &level));
    return count;
}
