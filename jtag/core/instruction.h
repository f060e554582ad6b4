/*
 * instruction.h - what a word that is written to DBGITR means to a processor in debug state.
 *
 * The instructions that debuggers use are told apart, to be done on the registers that are kept
 * here. The others run on the processor itself (NATIVE), but for those that would lead it away from
 * where it stands (REFUSED).
 *
 * Context  any; pure
 * Source   ARM DDI 0406C, A5 and A8 (encodings, A1 forms), C5.3 (in debug state), C8 (DCC)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jtag/core/registers.h"

enum instruction_kind {
    INSTRUCTION_NATIVE,
    INSTRUCTION_REFUSED,
    INSTRUCTION_NOTHING,      /* barriers, caches: no effect here */
    INSTRUCTION_FROM_DCC,     /* rt := DBGDTRRX */
    INSTRUCTION_TO_DCC,       /* DBGDTRTX := rt */
    INSTRUCTION_MOVE,         /* rt := rn */
    INSTRUCTION_EXCHANGE,     /* BX rn */
    INSTRUCTION_READ_STATUS,  /* rt := CPSR or SPSR */
    INSTRUCTION_WRITE_STATUS, /* CPSR or SPSR := rn, where `mask` has ones */
    INSTRUCTION_LOAD,         /* rt := [rn], `bytes`; rn += step */
    INSTRUCTION_STORE,
    INSTRUCTION_LOAD_DCC, /* DBGDTRTX := [rn]; rn += step */
    INSTRUCTION_STORE_DCC,
    INSTRUCTION_CONSTANT, /* rt := value */
    INSTRUCTION_READ,     /* rt := the register `special`, FPSCR or of the system */
    INSTRUCTION_WRITE,
    INSTRUCTION_READ_DOUBLE, /* rt, rn := the register `special` */
    INSTRUCTION_WRITE_DOUBLE
};

struct instruction {
    enum instruction_kind kind;
    uint8_t rt, rn;
    uint8_t bytes;
    bool spsr;
    uint32_t mask;
    uint32_t step;
    uint32_t value;
    enum register_number special;
};

struct instruction instruction_decode(uint32_t code);
