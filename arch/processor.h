/*
 * processor.h - what the tool must know of the processor that a program runs on, to say why the
 * program has crashed.
 *
 * Units    registers as a fault report has them (wire/report.h)
 * Context  any; pure
 */
#pragma once

#include <stdint.h>

/* Why a data or prefetch abort came, as far as it matters to a user. */
enum abort_cause {
    ABORT_OTHER,
    ABORT_BREAKPOINT, /* a breakpoint instruction without a debugger */
    ABORT_PERMISSION, /* a page forbids it */
    ABORT_FORBIDDEN,  /* an address that no memory can have, or an instruction of kernels */
    ABORT_ELSEWHERE   /* an address outside the window: its halves are registers 0 and 1 */
};

struct processor {
    /* Of the registers in a report, and of its processor status behind them; NULL: it has none
     * there. */
    const char *const *names;
    uint32_t code_mask;  /* the bits of a pc that are its address */
    uint32_t call_bytes; /* of the shortest instruction: so far before a return address is a call */
    enum abort_cause (*abort_cause)(uint32_t fault_status);
};

extern const struct processor processor_armv7a, processor_x86_64;
