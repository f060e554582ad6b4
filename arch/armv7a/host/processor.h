/*
 * processor.h - a node's processor as the tool knows it: its registers, why an abort came, and what
 * its code looks like where a function is called.
 *
 * Units    bytes; addresses of 32 bits
 * Context  any; pure
 * Source   ARM DDI 0406C, A8.8.25 (BL, BLX), A8.8.26 (BLX register), table B3-23 (fault status);
 *          ABI for the Arm Architecture, DWARF, section 4.1 (register numbers)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/processor.h"

/* As fault reports and DWARF number them. */
enum {
    PROCESSOR_SP = 13,
    PROCESSOR_LR = 14,
    PROCESSOR_PC = 15,
    PROCESSOR_REGISTERS = 16,
    PROCESSOR_STATUS = PROCESSOR_REGISTERS, /* CPSR; behind the others */
    PROCESSOR_NAMES
};

extern const char *const processor_names[PROCESSOR_NAMES];

enum { PROCESSOR_CALL_BYTES = 4 }; /* that lie before a return address, and say whether it is one */

/* From the fault status register. */
enum abort_cause processor_abort_cause(uint32_t fault_status);

/* Where the code lies that a pc, a return address or a function's address means: its lowest bit
 * says that it is Thumb code. */
static inline uint32_t processor_code_address(uint32_t address)
{
    return address & ~1U;
}

/* An address within the call before a return address: no instruction is shorter than 2 bytes. */
static inline uint32_t processor_call_address(uint32_t return_address)
{
    return processor_code_address(return_address) - 2;
}

/* Whether `code`, the bytes before a return address, is a call; *target is the function, 0 for a
 * call by pointer. */
bool processor_is_call(const uint8_t code[PROCESSOR_CALL_BYTES], uint32_t return_address,
                       uint32_t *target);
