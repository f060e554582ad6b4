#include "jtag/core/registers.h"

#include <string.h>

enum { FRAME_R8 = 8, FRAME_SP = 13, BANK_REGISTERS = 3 };

struct system_register {
    const char *name;
    uint8_t opc1, crn, crm, opc2;
};

/* From REGISTER_SCTLR on. */
static const struct system_register system_registers[] = {
    {"SCTLR", 0, 1, 0, 0},     {"DACR", 0, 3, 0, 0},      {"DFSR", 0, 5, 0, 0},
    {"DFAR", 0, 6, 0, 0},      {"IFSR", 0, 5, 0, 1},      {"IFAR", 0, 6, 0, 2},
    {"VBAR", 0, 12, 0, 0},     {"TTBR0_EL1", 0, 2, 0, 0}, {"TTBR1_EL1", 0, 2, 0, 1},
    {"TTBCR", 0, 2, 0, 2},     {"MIDR", 0, 0, 0, 0},      {"CTR", 0, 0, 0, 1},
    {"TCMTR", 0, 0, 0, 2},     {"TLBTR", 0, 0, 0, 3},     {"AIDR", 1, 0, 0, 7},
    {"CSSELR", 2, 0, 0, 0},    {"CPACR", 0, 1, 0, 2},     {"CONTEXTIDR_EL1", 0, 13, 0, 1},
    {"TPIDRURW", 0, 13, 0, 2}, {"TPIDRURO", 0, 13, 0, 3}, {"TPIDRPRW", 0, 13, 0, 4},
    {"ID_PFR0", 0, 0, 1, 0},   {"ID_DFR0", 0, 0, 1, 2},   {"ID_AFR0", 0, 0, 1, 3},
    {"ID_MMFR0", 0, 0, 1, 4},  {"ID_MMFR1", 0, 0, 1, 5},  {"ID_MMFR2", 0, 0, 1, 6},
    {"ID_MMFR3", 0, 0, 1, 7},  {"ID_ISAR0", 0, 0, 2, 0},  {"ID_ISAR1", 0, 0, 2, 1},
    {"ID_ISAR2", 0, 0, 2, 2},  {"ID_ISAR3", 0, 0, 2, 3},  {"ID_ISAR4", 0, 0, 2, 4},
    {"ID_ISAR5", 0, 0, 2, 5},  {"PAR", 0, 7, 4, 0},       {"CNTFRQ", 0, 14, 0, 0},
};
enum { SYSTEM_REGISTERS = sizeof system_registers / sizeof system_registers[0] };
_Static_assert(REGISTER_SCTLR + SYSTEM_REGISTERS == REGISTER_COUNT, "a number for each");

static const char *const frame_names[CORE_FRAME_REGISTERS] = {"r0",  "r1", "r2", "r3", "r4",  "r5",
                                                              "r6",  "r7", "r8", "r9", "r10", "r11",
                                                              "r12", "sp", "lr", "pc", "cpsr"};

static const char *const double_names[] = {"d0",  "d1",  "d2",  "d3",  "d4",  "d5",  "d6",  "d7",
                                           "d8",  "d9",  "d10", "d11", "d12", "d13", "d14", "d15",
                                           "d16", "d17", "d18", "d19", "d20", "d21", "d22", "d23",
                                           "d24", "d25", "d26", "d27", "d28", "d29", "d30", "d31"};

enum processor_mode register_mode(uint32_t cpsr)
{
    switch (cpsr & CPSR_MODE) {
    case MODE_USER:
    case MODE_FIQ:
    case MODE_IRQ:
    case MODE_SUPERVISOR:
    case MODE_ABORT:
    case MODE_UNDEFINED: return (enum processor_mode)(cpsr & CPSR_MODE);
    default: return MODE_SYSTEM;
    }
}

enum register_number register_sp(enum processor_mode mode)
{
    switch (mode) {
    case MODE_FIQ: return REGISTER_SP_FIQ;
    case MODE_IRQ: return REGISTER_SP_IRQ;
    case MODE_SUPERVISOR: return REGISTER_SP_SUPERVISOR;
    case MODE_ABORT: return REGISTER_SP_ABORT;
    case MODE_UNDEFINED: return REGISTER_SP_UNDEFINED;
    default: return REGISTER_SP;
    }
}

enum register_number register_spsr(enum processor_mode mode)
{
    enum register_number sp = register_sp(mode);

    return sp == REGISTER_SP ? REGISTER_NONE : sp + BANK_SPSR;
}

enum register_number register_in_mode(enum processor_mode mode, unsigned n)
{
    if (n == FRAME_SP || n == FRAME_SP + BANK_LR) {
        return register_sp(mode) + (n - FRAME_SP);
    }
    if (mode == MODE_FIQ && n >= FRAME_R8 && n < FRAME_SP) {
        return REGISTER_R8_FIQ + (n - FRAME_R8);
    }
    return (enum register_number)n;
}

enum processor_mode register_bank_mode(enum register_number number)
{
    static const enum processor_mode modes[] = {MODE_IRQ, MODE_SUPERVISOR, MODE_ABORT,
                                                MODE_UNDEFINED};

    if (number >= REGISTER_SP_IRQ && number < REGISTER_D0) {
        return modes[(number - REGISTER_SP_IRQ) / BANK_REGISTERS];
    }
    return number >= REGISTER_R8_FIQ && number < REGISTER_SP_IRQ ? MODE_FIQ : MODE_SYSTEM;
}

unsigned register_in_frame(enum register_number number)
{
    if (number <= REGISTER_CPSR) {
        return number;
    }
    if (number < REGISTER_SP_FIQ) {
        return FRAME_R8 + (number - REGISTER_R8_FIQ);
    }
    return FRAME_SP + (number - REGISTER_SP_FIQ) % BANK_REGISTERS;
}

const char *register_name(enum register_number number)
{
    if (number >= REGISTER_SCTLR) {
        return system_registers[number - REGISTER_SCTLR].name;
    }
    if (number == REGISTER_FPSCR) {
        return "fpscr";
    }
    if (number >= REGISTER_D0) {
        return double_names[number - REGISTER_D0];
    }
    return frame_names[register_in_frame(number)];
}

enum register_number register_of_system(uint32_t opc1, uint32_t crn, uint32_t crm, uint32_t opc2)
{
    for (unsigned i = 0; i < SYSTEM_REGISTERS; i++) {
        const struct system_register *r = &system_registers[i];
        if (r->opc1 == opc1 && r->crn == crn && r->crm == crm && r->opc2 == opc2) {
            return REGISTER_SCTLR + i;
        }
    }
    return REGISTER_NONE;
}

uint32_t register_system_write(enum register_number number)
{
    const struct system_register *r = &system_registers[number - REGISTER_SCTLR];

    return 0xee000f10 | (uint32_t)r->opc1 << 21 | (uint32_t)r->crn << 16 | (uint32_t)r->opc2 << 5 |
           r->crm;
}

void registers_forget(struct registers *registers)
{
    memset(registers, 0, sizeof *registers);
}

void registers_learn(struct registers *registers, enum register_number number, uint64_t real)
{
    if (!registers->known[number]) {
        registers->value[number] = real;
    }
    registers->known[number] = true;
    registers->real[number] = real;
}

void registers_learn_frame(struct registers *registers, const uint32_t frame[])
{
    enum processor_mode mode = register_mode(frame[CORE_FRAME_CPSR]);

    for (unsigned i = 0; i <= CORE_FRAME_PC; i++) {
        registers_learn(registers, register_in_mode(mode, i), frame[i]);
    }
    registers_learn(registers, REGISTER_CPSR, frame[CORE_FRAME_CPSR]);
}

void registers_learn_bank(struct registers *registers, const uint32_t frame[])
{
    enum processor_mode mode = register_mode(frame[CORE_FRAME_CPSR]);

    for (unsigned i = FRAME_R8; i < CORE_FRAME_PC; i++) {
        registers_learn(registers, register_in_mode(mode, i), frame[i]);
    }
}

void registers_revert(struct registers *registers)
{
    memcpy(registers->value, registers->real, sizeof registers->value);
}

bool registers_changed(const struct registers *registers, enum register_number number)
{
    return registers->known[number] && registers->value[number] != registers->real[number];
}

void registers_forget_system(struct registers *registers)
{
    for (unsigned i = REGISTER_SCTLR; i < REGISTER_COUNT; i++) {
        if (!registers_changed(registers, i)) {
            registers->known[i] = false;
        }
    }
}
