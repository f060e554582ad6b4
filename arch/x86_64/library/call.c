/*
 * call.c - the program's start, its calls and its traps, on this computer: all go through the gate
 * that the simulator has handed to it.
 */
#include "include/ecube/gate.h"
#include "lib/check/check.h"
#include "lib/portable/call.h"

_Noreturn void ecube_program_start(const char *block, uint32_t block_bytes);
_Noreturn void ecube_native_start(const char *block, uint32_t block_bytes,
                                  struct ecube_gate *given);

static struct ecube_gate *gate;

/* start.S calls it; .bss is clear already. */
_Noreturn void ecube_native_start(const char *block, uint32_t block_bytes, struct ecube_gate *given)
{
    gate = given;
    ecube_program_start(block, block_bytes);
}

int32_t ecube_call(uint32_t number, uint32_t first, uint32_t second)
{
    return gate->call(gate, number, first, second, 0);
}

int32_t ecube_call_three(uint32_t number, uint32_t first, uint32_t second, uint32_t third)
{
    return gate->call(gate, number, first, second, third);
}

static _Noreturn void trap(enum ecube_trap trap, const uint32_t words[4])
{
    for (;;) {
        gate->trap(gate, trap, words);
    }
}

_Noreturn void ecube_signal(int signal)
{
    const uint32_t words[4] = {(uint32_t)signal};

    trap(ECUBE_TRAP_SIGNAL, words);
}

/* In programs with checks alone. */
_Noreturn void ecube_check_trap(const uint8_t *list, uint32_t count, uint32_t all, uint32_t at_end)
{
    const uint32_t words[4] = {ecube_address(list), count, all, at_end};

    trap(ECUBE_TRAP_FINDING, words);
}

_Noreturn void ecube_error_trap(int status, uint32_t number, const struct ecube_called *called)
{
    const uint32_t words[4] = {(uint32_t)status, number, ecube_address(called)};

    trap(ECUBE_TRAP_ERROR, words);
}
