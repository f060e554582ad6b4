#include "arch/armv7a/trap.h"

#include <stddef.h>

enum {
    REGISTER_PC = 15,
    CPSR_MODE = 0x1f,
    CPSR_MODE_USER = 0x10,
    CPSR_THUMB = 0x20,
    UDF = 0xde00, /* of Thumb: the immediate is the low byte */
    UDF_MASK = 0xff00
};

_Static_assert(offsetof(struct trap_frame, registers[13]) == FRAME_SP, "start.S stores sp there");
_Static_assert(offsetof(struct trap_frame, registers[REGISTER_PC]) == FRAME_PC, "and pc");
_Static_assert(offsetof(struct trap_frame, cpsr) == FRAME_CPSR, "and cpsr");
_Static_assert(sizeof(struct trap_frame) == 4 * FRAME_WORDS, "and that is all");

bool trap_is_program(const struct trap_frame *frame)
{
    return (frame->cpsr & CPSR_MODE) == CPSR_MODE_USER;
}

uint32_t trap_fault_address(uint32_t kind)
{
    uint32_t address;
    if (kind == TRAP_KIND_DATA) {
        __asm__ volatile("mrc p15, 0, %0, c6, c0, 0" : "=r"(address)); /* DFAR */
    } else {
        __asm__ volatile("mrc p15, 0, %0, c6, c0, 2" : "=r"(address)); /* IFAR */
    }
    return address;
}

uint32_t trap_fault_status(uint32_t kind)
{
    uint32_t status;
    if (kind == TRAP_KIND_DATA) {
        __asm__ volatile("mrc p15, 0, %0, c5, c0, 0" : "=r"(status)); /* DFSR */
    } else {
        __asm__ volatile("mrc p15, 0, %0, c5, c0, 1" : "=r"(status)); /* IFSR */
    }
    return status;
}

uint32_t trap_number(const struct trap_frame *frame, uintptr_t start, uintptr_t end)
{
    uintptr_t pc = frame->registers[REGISTER_PC];
    if ((frame->cpsr & CPSR_THUMB) == 0 || pc < start || pc >= end - 1) {
        return 0;
    }
    uint16_t code = *(const uint16_t *)pc;
    return (code & UDF_MASK) == UDF ? code & ~(uint32_t)UDF_MASK : 0;
}
