/*
 * native_calls.c - where a rank was, and who had called it there: by its frames.
 *
 * A function begins with push %rbp, mov %rsp, %rbp, or has no frame: then it calls nothing
 * (arch/x86_64/README.md).
 *
 * Source   System V ABI, AMD64 supplement, 3.2.2 (the stack frame)
 */
#include <stdlib.h>
#include <string.h>

#include "sim/programs/native_rank.h"

enum {
    CALL_BYTES = 5,       /* of one that names its function */
    LEAF_BYTES_MAX = 4096 /* of a function without a frame */
};

/* A word of the stack of a rank; false: it is not one. */
static bool read_stack(const struct native_program *program, const struct rank *own, uintptr_t at,
                       uintptr_t *word)
{
    uintptr_t offset = at - (uintptr_t)own->window;

    if (at % sizeof *word || offset < program->stack_base ||
        offset > program->stack_top - sizeof *word) {
        return false;
    }
    memcpy(word, (const void *)at, sizeof *word);
    return true;
}

static bool is_code(const struct native_program *program, const struct rank *own, uintptr_t at)
{
    uintptr_t offset = at - (uintptr_t)own->window;

    return offset >= program->segments[0].address &&
           offset - program->segments[0].address < program->segments[0].bytes;
}

static bool has_bytes(const struct native_program *program, const struct rank *own, uintptr_t at,
                      const uint8_t *bytes, size_t count)
{
    return is_code(program, own, at) && is_code(program, own, at + count - 1) &&
           memcmp((const void *)at, bytes, count) == 0;
}

static const uint8_t push_frame[] = {0x55}, move_frame[] = {0x48, 0x89, 0xe5}, call[] = {0xe8};

/* Whether a call stands before a return address whose function has no frame and is the one that
 * runs. */
static bool is_leaf(const struct native_program *program, const struct rank *own, uintptr_t back)
{
    int32_t distance;

    if (!has_bytes(program, own, back - CALL_BYTES, call, sizeof call)) {
        return false;
    }
    memcpy(&distance, (const void *)(back - sizeof distance), sizeof distance);
    uintptr_t function = back + (uintptr_t)(intptr_t)distance;
    return own->pc - function < LEAF_BYTES_MAX && is_code(program, own, function) &&
           !has_bytes(program, own, function, push_frame, sizeof push_frame);
}

/* Where the return address of the function that runs lies, if not in a frame; 0: there is one. */
static uintptr_t frameless(const struct native_program *program, const struct rank *own)
{
    uintptr_t back;

    if (!is_code(program, own, own->pc) ||
        has_bytes(program, own, own->pc, push_frame, sizeof push_frame) ||
        (read_stack(program, own, own->sp, &back) && is_leaf(program, own, back))) {
        return own->sp;
    }
    return has_bytes(program, own, own->pc, move_frame, sizeof move_frame) ? own->sp + 8 : 0;
}

/* The newest. */
static unsigned far_calls(const struct native *native, uint32_t rank, uint32_t *addresses,
                          unsigned room)
{
    for (uint32_t i = native->far_count; i-- > 0;) {
        const struct far_calls *far = &native->far[i];
        if (far->rank == rank) {
            unsigned count = far->count < room ? far->count : room;
            memcpy(addresses, far->addresses, count * sizeof *addresses);
            return count;
        }
    }
    addresses[0] = 0;
    return 1;
}

void native_note_calls(struct sim *sim, uint32_t rank, const uint32_t *addresses, unsigned count)
{
    struct native *native = sim->native;
    struct far_calls *more = realloc(native->far, (native->far_count + 1) * sizeof *more);

    if (!more) {
        sim_own(sim, 0)->no_memory = true;
        return;
    }
    native->far = more;
    more += native->far_count++;
    more->rank = rank;
    more->count = count;
    memcpy(more->addresses, addresses, count * sizeof *addresses);
}

unsigned native_calls(const struct sim *sim, uint32_t rank, uint32_t *addresses, unsigned room)
{
    const struct native_program *program = sim->native->program;
    const struct rank *own = &sim->native->ranks[rank];
    uintptr_t frame = own->frame, at = frameless(program, own), back;
    unsigned count = 0;

    if (sim_is_far(sim, rank)) {
        return far_calls(sim->native, rank, addresses, room);
    }
    addresses[count++] = (uint32_t)own->pc;
    if (at && read_stack(program, own, at, &back) && is_code(program, own, back - 1) &&
        count < room) {
        addresses[count++] = (uint32_t)(back - 1);
    }
    while (count < room && read_stack(program, own, frame + sizeof back, &back) &&
           is_code(program, own, back - 1)) {
        uintptr_t above;
        addresses[count++] = (uint32_t)(back - 1);
        if (!read_stack(program, own, frame, &above) || above <= frame) {
            break;
        }
        frame = above;
    }
    return count;
}
