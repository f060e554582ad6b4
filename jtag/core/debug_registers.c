/*
 * debug_registers.c - the debug registers of a node: what a read gives, what a write begins.
 *
 * A register that depends on the processor's state begins a task (debug_unit.c); all others are
 * read and written at once. To a client that does not have the node, a processor looks as if it
 * ran, and what would change that is refused.
 *
 * Source   ARM DDI 0406C, chapters C8 (DCC, ITR) and C11 (registers)
 */
#include "jtag/core/debug_internal.h"

#include <stddef.h>

enum debug_register {
    DBGDIDR = 0x000,
    DBGWFAR = 0x018,
    DBGVCR = 0x01c,
    DBGDSCCR = 0x028,
    DBGDSMCR = 0x02c,
    DBGDTRRX = 0x080,
    DBGITR = 0x084, /* written; read, it is DBGPCSR */
    DBGDSCR = 0x088,
    DBGDTRTX = 0x08c,
    DBGDRCR = 0x090,
    DBGBVR = 0x100,
    DBGBCR = 0x140,
    DBGWVR = 0x180,
    DBGWCR = 0x1c0,
    DBGPRCR = 0x310,
    DBGPRSR = 0x314,
    PROCESSOR_ID = 0xd00,
    DBGAUTHSTATUS = 0xfb8,
    DBGDEVTYPE = 0xfcc,
    PERIPHERAL_ID = 0xfd0,
    COMPONENT_ID = 0xff0
};

enum drcr_bit { DRCR_HALT = 1, DRCR_RESTART = 2, DRCR_CLEAR = 4 };
enum { PRCR_RESET = 2, PRSR_POWERED = 1, PRSR_WAS_RESET = 8, PRSR_HALTED = 16 };
enum { DCC_FAST = 2, PCSR_NONE = -1 };
enum { DIDR = 0x35150021 }; /* 4 watchpoints, 6 breakpoints of which 2 know contexts, v7.1; r2p1 */

struct constant_register {
    uint16_t address;
    uint32_t value;
};

/* What can be read and never changes; the processor's are those of the emulator's Cortex-A15, but
 * that ID_PFR1 tells of no security and no virtualisation extension: it has no such registers. */
static const struct constant_register constants[] = {
    {DBGDIDR, DIDR},
    {DBGITR, (uint32_t)PCSR_NONE},
    {PROCESSOR_ID + 0x00, 0x412fc0f1}, /* MIDR */
    {PROCESSOR_ID + 0x04, 0x8444c004}, /* CTR */
    {PROCESSOR_ID + 0x14, 0x80000000}, /* MPIDR */
    {PROCESSOR_ID + 0x20, 0x00001131}, /* ID_PFR0 */
    {PROCESSOR_ID + 0x24, 0x00000000}, /* ID_PFR1 */
    {PROCESSOR_ID + 0x28, 0x02010555}, /* ID_DFR0 */
    {PROCESSOR_ID + 0x30, 0x10201105}, /* ID_MMFR0 to 3 */
    {PROCESSOR_ID + 0x34, 0x20000000},
    {PROCESSOR_ID + 0x38, 0x01240000},
    {PROCESSOR_ID + 0x3c, 0x02102211},
    {PROCESSOR_ID + 0x40, 0x02101110}, /* ID_ISAR0 to 4 */
    {PROCESSOR_ID + 0x44, 0x13112111},
    {PROCESSOR_ID + 0x48, 0x21232041},
    {PROCESSOR_ID + 0x4c, 0x11112131},
    {PROCESSOR_ID + 0x50, 0x10011142},
    {DBGAUTHSTATUS, 0xff}, /* everything is there and allowed */
    {DBGDEVTYPE, 0x15},    /* debug logic of a processor */
    {PERIPHERAL_ID + 0x00, 0x04},
    {PERIPHERAL_ID + 0x10, 0x0f}, /* part c0f of ARM */
    {PERIPHERAL_ID + 0x14, 0xbc},
    {PERIPHERAL_ID + 0x18, 0x2b},
    {COMPONENT_ID + 0x0, 0x0d},
    {COMPONENT_ID + 0x4, 0x90},
    {COMPONENT_ID + 0x8, 0x05},
    {COMPONENT_ID + 0xc, 0xb1},
};

/* The register among those of points that an address names; NULL: none. */
static uint32_t *find_point_register(struct debug_unit *unit, uint32_t address)
{
    struct points *points = &unit->points;
    uint32_t i = (address & 0x3f) / WORD;

    switch (address & ~0x3fu) {
    case DBGBVR: return i < DEBUG_BREAKPOINTS ? &points->bvr[i] : NULL;
    case DBGBCR: return i < DEBUG_BREAKPOINTS ? &points->bcr[i] : NULL;
    case DBGWVR: return i < DEBUG_WATCHPOINTS ? &points->wvr[i] : NULL;
    case DBGWCR: return i < DEBUG_WATCHPOINTS ? &points->wcr[i] : NULL;
    default: return NULL;
    }
}

static uint32_t read_constant(uint32_t address)
{
    for (unsigned i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (constants[i].address == address) {
            return constants[i].value;
        }
    }
    return 0;
}

static uint32_t read_dscr(const struct debug_unit *unit, bool mine)
{
    uint32_t value = DSCR_RESTARTED | DSCR_COMPLETE;

    if (!mine) {
        return value;
    }
    value |= unit->dscr;
    value |= unit->state == DEBUG_HALTED ? DSCR_HALTED : 0;
    value |= unit->rx_full ? (uint32_t)(DSCR_RX | DSCR_RX_LATCHED) : 0;
    value |= unit->tx_full ? (uint32_t)(DSCR_TX | DSCR_TX_LATCHED) : 0;
    return value;
}

static uint32_t read_prsr(struct debug_unit *unit, bool mine)
{
    uint32_t value = PRSR_POWERED | (unit->was_reset ? PRSR_WAS_RESET : 0) |
                     (mine && unit->state == DEBUG_HALTED ? PRSR_HALTED : 0);

    unit->was_reset = false;
    return value;
}

/* Whether a transfer of the DCC makes the processor do the instruction that DBGITR holds. */
static bool is_fast(const struct debug_unit *unit)
{
    return unit->state == DEBUG_HALTED && unit->dscr & DSCR_ITR_ENABLED &&
           (unit->dscr >> DSCR_DCC_SHIFT & 3) == DCC_FAST && !(unit->dscr & DSCR_STICKY);
}

static void execute(struct debug_unit *unit, uint32_t code)
{
    debug_begin(unit, DEBUG_EXECUTE);
    unit->instruction = code;
}

static uint32_t read_dtrtx(struct debug_unit *unit)
{
    unit->tx_full = false;
    if (is_fast(unit)) {
        execute(unit, unit->itr);
    }
    return unit->dtrtx;
}

uint32_t debug_read_register(struct debug_unit *unit, uint32_t address, bool mine)
{
    const uint32_t *point = find_point_register(unit, address);

    switch (address) {
    case DBGWFAR: return unit->wfar;
    case DBGVCR: return unit->vcr;
    case DBGDSCCR: return unit->dsccr;
    case DBGDSMCR: return unit->dsmcr;
    case DBGDTRRX: return unit->dtrrx;
    case DBGDSCR: return read_dscr(unit, mine);
    case DBGDTRTX: return mine ? read_dtrtx(unit) : 0;
    case DBGPRSR: return read_prsr(unit, mine);
    default: return point ? (mine ? *point : 0) : read_constant(address);
    }
}

/* Why it stopped is told only when its PC is known. */
static bool is_stop_unknown(const struct debug_unit *unit, uint32_t address)
{
    return unit->state == DEBUG_HALTED && unit->stopped &&
           (address == DBGDSCR || address == DBGWFAR);
}

void debug_begin_read(struct debug_unit *unit)
{
    bool mine = debug_may_touch(unit, unit->client);
    uint32_t address = unit->access->address;

    if (mine && is_stop_unknown(unit, address)) {
        debug_begin(unit, DEBUG_REFRESH);
    } else {
        unit->access->value = debug_read_register(unit, address, mine);
    }
}

static void write_itr(struct debug_unit *unit, uint32_t code)
{
    bool fast = (unit->dscr >> DSCR_DCC_SHIFT & 3) == DCC_FAST;

    if (unit->state != DEBUG_HALTED || !(unit->dscr & DSCR_ITR_ENABLED) ||
        unit->dscr & DSCR_STICKY) {
        return;
    }
    unit->itr = code;
    if (!fast) {
        execute(unit, code);
    }
}

static void write_dtrrx(struct debug_unit *unit, uint32_t value)
{
    if (unit->rx_full) {
        return;
    }
    unit->dtrrx = value;
    unit->rx_full = true;
    if (is_fast(unit)) {
        execute(unit, unit->itr);
    }
}

static void write_drcr(struct debug_unit *unit, uint32_t value)
{
    if (value & DRCR_CLEAR) {
        unit->dscr &= ~(uint32_t)DSCR_STICKY;
    }
    if (value & DRCR_RESTART && unit->state == DEBUG_HALTED) {
        debug_begin(unit, DEBUG_RESTART);
    } else if (value & DRCR_HALT && unit->state != DEBUG_HALTED) {
        debug_begin(unit, DEBUG_HALT);
    }
}

/* A register that decides about points has been written; unless the node can be told of it, it has
 * its old value again. */
static void change_points(struct debug_unit *unit, uint32_t *changed, uint32_t value)
{
    uint32_t old = *changed;

    *changed = value;
    if (unit->state != DEBUG_RUNNING || !debug_points_differ(unit)) {
        return;
    }
    debug_begin(unit, DEBUG_POINTS);
    unit->undo = changed;
    unit->undo_value = old;
}

/* Whether a write is only for the one who has the node. */
static bool is_exclusive(struct debug_unit *unit, uint32_t address, uint32_t value)
{
    switch (address) {
    case DBGITR:
    case DBGDTRRX: return true;
    case DBGDRCR: return value & (DRCR_HALT | DRCR_RESTART);
    case DBGPRCR: return value & PRCR_RESET;
    case DBGVCR: return value != 0;
    default: return find_point_register(unit, address) && value != 0;
    }
}

static void write_register(struct debug_unit *unit, uint32_t address, uint32_t value)
{
    uint32_t *point = find_point_register(unit, address);

    switch (address) {
    case DBGVCR: unit->vcr = value; return;
    case DBGDSCCR: unit->dsccr = value; return;
    case DBGDSMCR: unit->dsmcr = value; return;
    case DBGDTRRX: write_dtrrx(unit, value); return;
    case DBGITR: write_itr(unit, value); return;
    case DBGDSCR:
        unit->dscr = (unit->dscr & ~(uint32_t)DSCR_WRITABLE) | (value & DSCR_WRITABLE);
        return;
    case DBGDRCR: write_drcr(unit, value); return;
    case DBGPRCR:
        if (value & PRCR_RESET) {
            debug_begin(unit, DEBUG_RESET);
        }
        return;
    default:
        if (point) {
            change_points(unit, point, value);
        }
    }
}

/* What is written to a node that is another one's is lost, or refused where it would change what
 * the processor does. */
void debug_begin_write(struct debug_unit *unit)
{
    struct access *access = unit->access;
    uint32_t address = access->address;

    if (is_exclusive(unit, address, access->value) && !debug_claim(unit, unit->client)) {
        access->failed = true;
    } else if (debug_may_touch(unit, unit->client)) {
        write_register(unit, address, access->value);
    }
}
