/*
 * processor.c - the processor of programs that run in the simulator.
 *
 * A report has the lower halves of two registers; its fault status is the number of the trap and
 * the low byte of its error code:
 *
 *     31 ... 8  trap | 7  the address is outside the window | 4  fetch | 1  write |
 *     0  the page is there
 *
 * Source   Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3A, 4.7 (error code
 *          of a page fault), table 6-1 (numbers)
 */
#include "arch/processor.h"

#include <stddef.h>

enum {
    TRAP_BREAKPOINT = 3,
    TRAP_PROTECTION = 13,
    TRAP_PAGE = 14,
    PAGE_THERE = 1,
    ELSEWHERE = 0x80
};

static const char *const names[17] = {[13] = "rsp", [15] = "rip"};

static enum abort_cause abort_cause(uint32_t fault_status)
{
    if (fault_status & ELSEWHERE) {
        return ABORT_ELSEWHERE;
    }
    switch (fault_status >> 8) {
    case TRAP_BREAKPOINT: return ABORT_BREAKPOINT;
    case TRAP_PROTECTION: return ABORT_FORBIDDEN;
    case TRAP_PAGE: return fault_status & PAGE_THERE ? ABORT_PERMISSION : ABORT_OTHER;
    default: return ABORT_OTHER;
    }
}

const struct processor processor_x86_64 = {
    .names = names, .code_mask = UINT32_MAX, .call_bytes = 1, .abort_cause = abort_cause};
