#include "jtag/core/instruction.h"

enum { PC = 15, WORD = 4, HALF = 2, BYTE = 1 };

static uint8_t field(uint32_t code, unsigned shift)
{
    return code >> shift & 0xf;
}

static bool matches(uint32_t code, uint32_t mask, uint32_t value)
{
    return (code & mask) == value;
}

/* The bytes of a status register that the four bits of a field mask name. */
static uint32_t status_mask(uint32_t fields)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < 4; i++) {
        if (fields >> i & 1) {
            mask |= 0xffu << 8 * i;
        }
    }
    return mask;
}

/* Loads and stores of rt at [rn], behind which rn moves on. */
static struct instruction decode_transfer(uint32_t code, uint8_t bytes, uint32_t offset)
{
    struct instruction i = {INSTRUCTION_NATIVE, .rt = field(code, 12), .rn = field(code, 16),
                            .bytes = bytes};

    i.step = code >> 23 & 1 ? offset : 0 - offset;
    if (i.rt == PC) {
        i.kind = INSTRUCTION_REFUSED;
    } else if (i.rn != PC && i.rn != i.rt) {
        i.kind = code >> 20 & 1 ? INSTRUCTION_LOAD : INSTRUCTION_STORE;
    }
    return i;
}

/* LDC and STC of coprocessor 14's register 5, the only ones it has. */
static struct instruction decode_dcc_transfer(uint32_t code)
{
    bool load = code >> 20 & 1;

    return (struct instruction){load ? INSTRUCTION_LOAD_DCC : INSTRUCTION_STORE_DCC,
                                .rn = field(code, 16), .bytes = WORD, .step = (code & 0xff) * WORD};
}

static bool is_constant(uint32_t opc1, uint32_t crn, uint32_t crm, uint32_t opc2, uint32_t *value)
{
    enum { ALONE = (int)0x80000000 }; /* MPIDR: one processor, in the format of multiprocessors */

    if (crn != 0) {
        return false;
    }
    if (opc1 == 1 && crm == 0 && opc2 == 1) { /* CLIDR: no caches, so no debugger cares for them */
        *value = 0;
    } else if (opc1 == 0 && crm == 0 && opc2 == 5) {
        *value = (uint32_t)ALONE;
    } else if (opc1 == 0 && crm == 1 && opc2 == 1) { /* ID_PFR1: no security, no virtualisation */
        *value = 0;
    } else {
        return false;
    }
    return true;
}

static struct instruction decode_system(uint32_t code)
{
    struct instruction i = {INSTRUCTION_NATIVE, .rt = field(code, 12)};
    uint32_t opc1 = code >> 21 & 7, crn = field(code, 16), crm = field(code, 0);
    uint32_t opc2 = code >> 5 & 7;
    bool read = code >> 20 & 1;

    i.special = register_of_system(opc1, crn, crm, opc2);
    if (i.rt == PC) {
        i.kind = INSTRUCTION_REFUSED;
    } else if (read && is_constant(opc1, crn, crm, opc2, &i.value)) {
        i.kind = INSTRUCTION_CONSTANT;
    } else if (read && i.special != REGISTER_NONE) {
        i.kind = INSTRUCTION_READ;
    } else if (!read && i.special <= REGISTER_IFAR) {
        i.kind = INSTRUCTION_WRITE;
    } else if (!read && crn == 7 && crm != 8) { /* but for c8, addresses translated */
        i.kind = INSTRUCTION_NOTHING;
    }
    return i;
}

static struct instruction decode_coprocessor(uint32_t code)
{
    struct instruction none = {.kind = INSTRUCTION_NATIVE};
    uint8_t rt = field(code, 12), rt2 = field(code, 16);
    bool read = code >> 20 & 1;

    if (matches(code, 0xffef0fff, 0xee000e15)) {
        enum instruction_kind kind = read ? INSTRUCTION_FROM_DCC : INSTRUCTION_TO_DCC;
        return (struct instruction){rt == PC ? INSTRUCTION_REFUSED : kind, .rt = rt};
    }
    if (matches(code, 0xff000f10, 0xee000f10)) {
        return decode_system(code);
    }
    if (matches(code, 0xffe0ff00, 0xeca05e00) && rt2 != PC) {
        return decode_dcc_transfer(code);
    }
    if (matches(code, 0xffef0fff, 0xeee10a10) && rt != PC) {
        return (struct instruction){read ? INSTRUCTION_READ : INSTRUCTION_WRITE, .rt = rt,
                                    .special = REGISTER_FPSCR};
    }
    if (matches(code, 0xffe00fd0, 0xec400b10) && rt != PC && rt2 != PC) {
        enum register_number d = REGISTER_D0 + (code >> 5 & 1) * 16 + (code & 0xf);
        return (struct instruction){read ? INSTRUCTION_READ_DOUBLE : INSTRUCTION_WRITE_DOUBLE,
                                    .rt = rt, .rn = rt2, .special = d};
    }
    return none;
}

/* Whether it could put the processor elsewhere, or into another mode. */
static bool leads_away(uint32_t code)
{
    uint32_t group = code >> 25 & 7;
    bool load = code >> 20 & 1;

    if (code >> 28 == 0xf) { /* only NEON and coprocessors */
        return !(matches(code, 0x0e000000, 0x02000000) || matches(code, 0x0f100000, 0x04000000) ||
                 matches(code, 0x0f100000, 0x04100000) || matches(code, 0x0c000000, 0x0c000000)) ||
               matches(code, 0x0f000000, 0x0f000000);
    }
    if (group == 5 || matches(code, 0x0f000000, 0x0f000000)) { /* branches, SVC */
        return true;
    }
    if (group == 4) { /* LDM of the PC, or of another mode's registers */
        return (load && code >> 15 & 1) || code >> 22 & 1;
    }
    if (matches(code, 0x0f9000f0, 0x01000070) || matches(code, 0x0f9000f0, 0x01000060)) {
        return true; /* BKPT, HVC, SMC, ERET */
    }
    return group < 4 && field(code, 12) == PC;
}

struct instruction instruction_decode(uint32_t code)
{
    struct instruction i = {INSTRUCTION_NATIVE, .rt = field(code, 12), .rn = field(code, 16)};
    uint32_t halfword_offset = (code >> 4 & 0xf0) | (code & 0xf);

    if (matches(code, 0xffffff00, 0xf57ff000) || matches(code, 0xfffffff0, 0xe320f000)) {
        i.kind = INSTRUCTION_NOTHING;
    } else if (matches(code, 0xfffffff0, 0xe12fff10)) {
        i = (struct instruction){INSTRUCTION_EXCHANGE, .rn = field(code, 0)};
    } else if (matches(code, 0xffff0ff0, 0xe1a00000)) {
        i = (struct instruction){INSTRUCTION_MOVE, .rt = field(code, 12), .rn = field(code, 0)};
    } else if (matches(code, 0xffbf0fff, 0xe10f0000) && i.rt != PC) {
        i = (struct instruction){INSTRUCTION_READ_STATUS, .rt = i.rt, .spsr = code >> 22 & 1};
    } else if (matches(code, 0xffb0fff0, 0xe120f000) && field(code, 0) != PC) {
        i = (struct instruction){INSTRUCTION_WRITE_STATUS, .rn = field(code, 0),
                                 .spsr = code >> 22 & 1, .mask = status_mask(field(code, 16))};
    } else if (matches(code, 0xff600000, 0xe4000000)) {
        i = decode_transfer(code, WORD, code & 0xfff);
    } else if (matches(code, 0xff600000, 0xe4400000)) {
        i = decode_transfer(code, BYTE, code & 0xfff);
    } else if (matches(code, 0xff6000f0, 0xe04000b0)) {
        i = decode_transfer(code, HALF, halfword_offset);
    } else if (matches(code, 0xfc000000, 0xec000000)) {
        i = decode_coprocessor(code);
    }
    if (i.kind == INSTRUCTION_NATIVE && leads_away(code)) {
        i.kind = INSTRUCTION_REFUSED;
    }
    return i;
}
