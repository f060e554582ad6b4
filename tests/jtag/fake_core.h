/*
 * fake_core.h - a processor and its memory that do what core.h says, as the emulator does it: one
 * mode's registers are shown, no SPSR, and from user mode a write of CPSR leaves the mode.
 *
 * It runs only the few instructions that the debug unit plants, and counts what is asked of it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jtag/core/core.h"
#include "jtag/core/registers.h"

enum {
    FAKE_RAM = 0x40000000,
    FAKE_RAM_BYTES = 0x10000,
    FAKE_PAGE = 0x100,
    FAKE_USER = FAKE_RAM + 0x8000,   /* from here on not executable in privileged modes, with MMU */
    FAKE_VECTORS = FAKE_RAM + 0x100, /* VBAR */
    FAKE_ALIAS = 0x20000000,         /* the same memory once more, with MMU */
    FAKE_POINTS = 128,
    FAKE_NEVER = -1
};

struct fake_point {
    enum core_point point;
    uint32_t address;
    uint8_t bytes;
};

struct fake_core {
    uint8_t ram[FAKE_RAM_BYTES];
    uint64_t registers[REGISTER_COUNT];
    uint32_t rom; /* FAKE_PAGE bytes from here on take writes and stay as they are */
    bool running;
    bool keep; /* how it was resumed */
    struct fake_point points[FAKE_POINTS];
    unsigned point_count;
    unsigned ops; /* asked for so far */
    int fail_at;  /* this one fails, of those */
    int fail_kind;
    enum core_op_kind failed; /* the one of fail_at */
    unsigned mistakes;        /* operations that a running processor cannot do */
    unsigned steps, resets;
};

/* In supervisor mode at FAKE_RAM + 0x200, running; register n of a frame holds 0x1000 + n. */
void fake_core_init(struct fake_core *core);

void fake_core_do(struct fake_core *core, struct core_op *op);

uint32_t fake_core_word(const struct fake_core *core, uint32_t address);
void fake_core_set_word(struct fake_core *core, uint32_t address, uint32_t word);

/* Whether it has a point. */
bool fake_core_has(const struct fake_core *core, enum core_point point, uint32_t address,
                   uint8_t bytes);
