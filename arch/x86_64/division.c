/*
 * division.c - reads the instruction that has faulted.
 *
 *     [REX] f7 ModRM [SIB] [displacement]
 *
 *     REX     0100 WRXB    W: 64 bits; X, B: bit 3 of index and of base or register
 *     ModRM   mode (2) 111 register or base (3)
 *     SIB     scale (2) index (3) base (3)
 */
#include "arch/x86_64/division.h"

#include <stdint.h>
#include <string.h>

enum { IDIV = 0xf7, IDIV_MORE = 7, NO_BASE = 5, NO_INDEX = 4 };

static const unsigned REX_W = 8, REX_X = 2, REX_B = 1;

static const int numbers[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};

/* The displacement at the end of an instruction, which goes on behind it. */
static intptr_t displacement(const uint8_t **at, unsigned bytes)
{
    int32_t wide = 0;

    memcpy(&wide, *at, bytes);
    *at += bytes;
    return bytes == 1 ? (int8_t)wide : wide;
}

/* Where the operand lies that ModRM says, behind which the instruction goes on. */
static const void *operand(const greg_t *registers, unsigned rex, const uint8_t **at)
{
    unsigned mode = **at >> 6, base = *(*at)++ & 7U, sib = 0;
    uintptr_t address = 0;

    if (mode == 3) {
        return &registers[numbers[base | (rex & REX_B) << 3]];
    }
    bool indexed = base == 4;
    if (indexed) {
        sib = *(*at)++;
        base = sib & 7;
        unsigned index = (sib >> 3 & 7U) | (rex & REX_X) << 2;
        address = index == NO_INDEX ? 0 : (uintptr_t)registers[numbers[index]] << (sib >> 6);
    }
    bool absolute = mode == 0 && base == NO_BASE;
    if (!absolute) {
        address += (uintptr_t)registers[numbers[base | (rex & REX_B) << 3]];
    }
    address += (uintptr_t)displacement(at, absolute || mode == 2 ? 4 : mode);
    return (const void *)(absolute && !indexed ? address + (uintptr_t)*at : address);
}

bool division_mend(greg_t *registers)
{
    const uint8_t *at = (const uint8_t *)registers[REG_RIP];
    unsigned rex = (*at & 0xf0) == 0x40 ? *at++ : 0, bytes = rex & REX_W ? 8 : 4;
    int64_t minus = -1;

    if (*at++ != IDIV || (*at >> 3 & 7) != IDIV_MORE ||
        memcmp(operand(registers, rex, &at), &minus, bytes) != 0) {
        return false;
    }
    if (bytes == 4) { /* rax is the dividend already, and what is above eax is cleared */
        registers[REG_RAX] = (uint32_t)registers[REG_RAX];
    }
    registers[REG_RDX] = 0;
    registers[REG_RIP] = (greg_t)at;
    return true;
}
