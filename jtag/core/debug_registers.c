#include "jtag/core/debug_registers.h"

#include <stddef.h>

#include "jtag/core/dscr.h"

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
    uint32_t i = (address & 0x3f) / CORE_WORD_BYTES;

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

/* The instruction that DBGITR holds, if a transfer of the DCC begins it. */
static enum debug_task execute_fast(struct debug_unit *unit)
{
    if (!is_fast(unit)) {
        return DEBUG_IDLE;
    }
    unit->instruction = unit->itr;
    return DEBUG_EXECUTE;
}

uint32_t debug_registers_value(struct debug_unit *unit, uint32_t address, bool mine)
{
    const uint32_t *point = find_point_register(unit, address);

    switch (address) {
    case DBGWFAR: return unit->wfar;
    case DBGVCR: return unit->vcr;
    case DBGDSCCR: return unit->dsccr;
    case DBGDSMCR: return unit->dsmcr;
    case DBGDTRRX: return unit->dtrrx;
    case DBGDSCR: return read_dscr(unit, mine);
    case DBGDTRTX: return mine ? unit->dtrtx : 0;
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

enum debug_task debug_registers_read(struct debug_unit *unit, bool mine)
{
    uint32_t address = unit->access->address;

    if (mine && is_stop_unknown(unit, address)) {
        return DEBUG_REFRESH;
    }
    unit->access->value = debug_registers_value(unit, address, mine);
    if (!mine || address != DBGDTRTX) {
        return DEBUG_IDLE;
    }
    unit->tx_full = false;
    return execute_fast(unit);
}

static enum debug_task write_itr(struct debug_unit *unit, uint32_t code)
{
    bool fast = (unit->dscr >> DSCR_DCC_SHIFT & 3) == DCC_FAST;

    if (unit->state != DEBUG_HALTED || !(unit->dscr & DSCR_ITR_ENABLED) ||
        unit->dscr & DSCR_STICKY) {
        return DEBUG_IDLE;
    }
    unit->itr = code;
    if (fast) {
        return DEBUG_IDLE;
    }
    unit->instruction = code;
    return DEBUG_EXECUTE;
}

static enum debug_task write_dtrrx(struct debug_unit *unit, uint32_t value)
{
    if (unit->rx_full) {
        return DEBUG_IDLE;
    }
    unit->dtrrx = value;
    unit->rx_full = true;
    return execute_fast(unit);
}

static enum debug_task write_drcr(struct debug_unit *unit, uint32_t value)
{
    if (value & DRCR_CLEAR) {
        unit->dscr &= ~(uint32_t)DSCR_STICKY;
    }
    if (value & DRCR_RESTART && unit->state == DEBUG_HALTED) {
        return DEBUG_RESTART;
    }
    return value & DRCR_HALT && unit->state != DEBUG_HALTED ? DEBUG_HALT : DEBUG_IDLE;
}

/* A register that decides about points has been written; unless the node can be told of it, it has
 * its old value again. */
static enum debug_task change_points(struct debug_unit *unit, uint32_t *changed, uint32_t value)
{
    uint32_t old = *changed;

    *changed = value;
    if (unit->state != DEBUG_RUNNING || !points_differ(&unit->points)) {
        return DEBUG_IDLE;
    }
    unit->undo = changed;
    unit->undo_value = old;
    return DEBUG_POINTS;
}

bool debug_registers_is_exclusive(struct debug_unit *unit)
{
    uint32_t address = unit->access->address, value = unit->access->value;

    switch (address) {
    case DBGITR:
    case DBGDTRRX: return true;
    case DBGDRCR: return value & (DRCR_HALT | DRCR_RESTART);
    case DBGPRCR: return value & PRCR_RESET;
    case DBGVCR: return value != 0;
    default: return find_point_register(unit, address) && value != 0;
    }
}

enum debug_task debug_registers_write(struct debug_unit *unit)
{
    uint32_t address = unit->access->address, value = unit->access->value;
    uint32_t *point = find_point_register(unit, address);

    switch (address) {
    case DBGVCR: unit->vcr = value; return DEBUG_IDLE;
    case DBGDSCCR: unit->dsccr = value; return DEBUG_IDLE;
    case DBGDSMCR: unit->dsmcr = value; return DEBUG_IDLE;
    case DBGDTRRX: return write_dtrrx(unit, value);
    case DBGITR: return write_itr(unit, value);
    case DBGDSCR:
        unit->dscr = (unit->dscr & ~(uint32_t)DSCR_WRITABLE) | (value & DSCR_WRITABLE);
        return DEBUG_IDLE;
    case DBGDRCR: return write_drcr(unit, value);
    case DBGPRCR: return value & PRCR_RESET ? DEBUG_RESET : DEBUG_IDLE;
    default: return point ? change_points(unit, point, value) : DEBUG_IDLE;
    }
}
