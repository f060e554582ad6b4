/*
 * What is written to DBGITR, done on the registers that are kept here.
 *
 * An instruction is begun again whenever something that it needs has become known, so everything
 * is asked for before anything is changed.
 */
#include "jtag/core/execute.h"

#include <stddef.h>

#include "jtag/core/dscr.h"
#include "jtag/core/instruction.h"
#include "jtag/core/native.h"
#include "jtag/core/need.h"

enum { PC = 15, ARM_AHEAD = 8, THUMB_AHEAD = 4 };
enum { FAULT_TRANSLATION = 0x5, FAULT_EXTERNAL = 0x8, FAULT_WRITE = 1 << 11 };

static uint32_t cpsr_of(const struct debug_unit *unit)
{
    return (uint32_t)unit->registers.value[REGISTER_CPSR];
}

static enum register_number number_of(const struct debug_unit *unit, unsigned n)
{
    return register_in_mode(register_mode(cpsr_of(unit)), n);
}

static bool need(struct debug_unit *unit, unsigned n)
{
    return debug_need(unit, number_of(unit, n));
}

static uint32_t get(const struct debug_unit *unit, unsigned n)
{
    uint32_t value = (uint32_t)unit->registers.value[number_of(unit, n)];

    if (n == PC) {
        value += cpsr_of(unit) & CPSR_THUMB ? THUMB_AHEAD : ARM_AHEAD;
    }
    return value;
}

static void set(struct debug_unit *unit, unsigned n, uint32_t value)
{
    if (n == PC) {
        value &= cpsr_of(unit) & CPSR_THUMB ? ~1u : ~3u;
    }
    unit->registers.value[number_of(unit, n)] = value;
}

static void to_dcc(struct debug_unit *unit, uint32_t value)
{
    unit->dtrtx = value;
    unit->tx_full = true;
}

static uint32_t from_dcc(struct debug_unit *unit)
{
    unit->rx_full = false;
    return unit->dtrrx;
}

static void exchange(struct debug_unit *unit, uint32_t target)
{
    uint64_t *cpsr = &unit->registers.value[REGISTER_CPSR];

    *cpsr = (*cpsr & ~(uint64_t)CPSR_THUMB) | (target & 1 ? CPSR_THUMB : 0);
    set(unit, PC, target);
}

/* CPSR or SPSR; REGISTER_NONE: this mode has no SPSR. */
static enum register_number status_of(const struct debug_unit *unit, const struct instruction *i)
{
    return i->spsr ? register_spsr(register_mode(cpsr_of(unit))) : REGISTER_CPSR;
}

/* An instruction brings SPSR into r0. */
static bool need_spsr(struct debug_unit *unit, enum register_number number)
{
    uint32_t r0 = (uint32_t)unit->registers.real[REGISTER_R0];
    enum native_result result =
        native_run(unit, (uint32_t)SPSR_READ, register_bank_mode(number), r0);

    if (result == NATIVE_WAITS) {
        return false;
    }
    registers_learn(&unit->registers, number,
                    result == NATIVE_DONE ? unit->visit.frame[REGISTER_R0] : 0);
    return true;
}

static bool need_status(struct debug_unit *unit, enum register_number status)
{
    if (!debug_need_frame(unit)) {
        return false;
    }
    return status == REGISTER_NONE || unit->registers.known[status] || need_spsr(unit, status);
}

static bool read_status(struct debug_unit *unit, const struct instruction *i)
{
    enum register_number status = status_of(unit, i);

    if (!need(unit, i->rt) || !need_status(unit, status)) {
        return false;
    }
    set(unit, i->rt, status == REGISTER_NONE ? 0 : (uint32_t)unit->registers.value[status]);
    return true;
}

static bool write_status(struct debug_unit *unit, const struct instruction *i)
{
    enum register_number status = status_of(unit, i);

    if (!need(unit, i->rn) || !need_status(unit, status)) {
        return false;
    }
    if (status != REGISTER_NONE) {
        uint32_t kept = (uint32_t)unit->registers.value[status] & ~i->mask;
        unit->registers.value[status] = kept | (get(unit, i->rn) & i->mask);
    }
    return true;
}

static bool is_physical(const struct debug_unit *unit)
{
    return !(unit->registers.value[REGISTER_SCTLR] & SCTLR_MMU);
}

/* The one access of memory that an instruction makes; true: it has been made, or has failed. */
static bool transfer(struct debug_unit *unit, uint32_t address, uint8_t bytes,
                     const uint32_t *store)
{
    if (unit->loaded) {
        return true;
    }
    if (!debug_need(unit, REGISTER_SCTLR)) {
        return false;
    }
    if (store && points_write(&unit->points, address, bytes, *store, &unit->load_failed)) {
        unit->loaded = true;
        return true;
    }
    enum core_op_kind kind = is_physical(unit) ? (store ? CORE_WRITE_BUS : CORE_READ_BUS)
                                               : (store ? CORE_WRITE_MEMORY : CORE_READ_MEMORY);
    struct script_step *step = script_want(&unit->script, kind, THEN_LOADED);
    step->op.address = address;
    step->op.bytes = bytes;
    step->op.value = store ? *store : 0;
    return false;
}

/* A data abort as debug state has it: noted, and nothing else happens. */
static bool abort_transfer(struct debug_unit *unit, uint32_t address, bool store)
{
    if (!debug_need(unit, REGISTER_DFSR) || !debug_need(unit, REGISTER_DFAR)) {
        return false;
    }
    unit->registers.value[REGISTER_DFSR] =
        (is_physical(unit) ? FAULT_EXTERNAL : FAULT_TRANSLATION) | (store ? FAULT_WRITE : 0);
    unit->registers.value[REGISTER_DFAR] = address;
    unit->dscr |= DSCR_ABORT;
    return true;
}

static bool load(struct debug_unit *unit, const struct instruction *i)
{
    bool dcc = i->kind == INSTRUCTION_LOAD_DCC;

    if (!need(unit, i->rn) || (!dcc && !need(unit, i->rt))) {
        return false;
    }
    uint32_t address = get(unit, i->rn);
    if (!transfer(unit, address, i->bytes, NULL)) {
        return false;
    }
    if (unit->load_failed) {
        return abort_transfer(unit, address, false);
    }
    uint32_t value = points_read(&unit->points, address, i->bytes, unit->load_value);
    if (dcc) {
        to_dcc(unit, value);
    } else {
        set(unit, i->rt, value);
    }
    set(unit, i->rn, address + i->step);
    return true;
}

static bool store(struct debug_unit *unit, const struct instruction *i)
{
    bool dcc = i->kind == INSTRUCTION_STORE_DCC;

    if (!need(unit, i->rn) || (!dcc && !need(unit, i->rt))) {
        return false;
    }
    uint32_t address = get(unit, i->rn);
    uint32_t value = dcc ? unit->dtrrx : get(unit, i->rt);
    if (!transfer(unit, address, i->bytes, &value)) {
        return false;
    }
    if (unit->load_failed) {
        return abort_transfer(unit, address, true);
    }
    if (dcc) {
        unit->rx_full = false;
    }
    set(unit, i->rn, address + i->step);
    return true;
}

static bool read_special(struct debug_unit *unit, const struct instruction *i)
{
    if (!debug_need(unit, i->special) || !need(unit, i->rt) || !need(unit, i->rn)) {
        return false;
    }
    uint64_t value = unit->registers.value[i->special];
    set(unit, i->rt, (uint32_t)value);
    if (i->kind == INSTRUCTION_READ_DOUBLE) {
        set(unit, i->rn, (uint32_t)(value >> 32));
    }
    return true;
}

static bool write_special(struct debug_unit *unit, const struct instruction *i)
{
    if (!debug_need(unit, i->special) || !need(unit, i->rt) || !need(unit, i->rn)) {
        return false;
    }
    uint64_t value = get(unit, i->rt);
    if (i->kind == INSTRUCTION_WRITE_DOUBLE) {
        value |= (uint64_t)get(unit, i->rn) << 32;
    }
    unit->registers.value[i->special] = value;
    return true;
}

/* What an instruction left on the processor is the debugger's view now. */
static void take(struct debug_unit *unit, const uint32_t frame[])
{
    uint32_t flags = (uint32_t)CPSR_FLAGS;

    for (unsigned n = 0; n < PC; n++) {
        set(unit, n, frame[n]);
    }
    unit->registers.value[REGISTER_CPSR] =
        (cpsr_of(unit) & ~flags) | (frame[CORE_FRAME_CPSR] & flags);
    registers_forget_system(&unit->registers);
}

/* In debug state user mode may do all that system mode may. */
static bool run_native(struct debug_unit *unit)
{
    enum processor_mode mode = register_mode(cpsr_of(unit));
    uint32_t r0 = (uint32_t)unit->registers.value[REGISTER_R0];
    enum native_result result =
        native_run(unit, unit->instruction, mode == MODE_USER ? MODE_SYSTEM : mode, r0);

    if (result == NATIVE_WAITS) {
        return false;
    }
    if (result == NATIVE_DONE) {
        take(unit, unit->visit.frame);
    } else {
        unit->dscr |= result == NATIVE_ABORTED ? DSCR_ABORT : DSCR_UNDEFINED;
    }
    return true;
}

static bool move(struct debug_unit *unit, const struct instruction *i, bool known)
{
    if (!known) {
        return false;
    }
    switch (i->kind) {
    case INSTRUCTION_FROM_DCC: set(unit, i->rt, from_dcc(unit)); break;
    case INSTRUCTION_TO_DCC: to_dcc(unit, get(unit, i->rt)); break;
    case INSTRUCTION_MOVE: set(unit, i->rt, get(unit, i->rn)); break;
    case INSTRUCTION_EXCHANGE: exchange(unit, get(unit, i->rn)); break;
    default: set(unit, i->rt, i->value); break;
    }
    return true;
}

bool execute_instruction(struct debug_unit *unit)
{
    struct instruction i = instruction_decode(unit->instruction);

    if (!debug_need_frame(unit)) {
        return false;
    }
    switch (i.kind) {
    case INSTRUCTION_NOTHING: return true;
    case INSTRUCTION_REFUSED: unit->dscr |= DSCR_UNDEFINED; return true;
    case INSTRUCTION_FROM_DCC:
    case INSTRUCTION_TO_DCC:
    case INSTRUCTION_CONSTANT: return move(unit, &i, need(unit, i.rt));
    case INSTRUCTION_MOVE: return move(unit, &i, need(unit, i.rt) && need(unit, i.rn));
    case INSTRUCTION_EXCHANGE: return move(unit, &i, need(unit, i.rn));
    case INSTRUCTION_READ_STATUS: return read_status(unit, &i);
    case INSTRUCTION_WRITE_STATUS: return write_status(unit, &i);
    case INSTRUCTION_LOAD:
    case INSTRUCTION_LOAD_DCC: return load(unit, &i);
    case INSTRUCTION_STORE:
    case INSTRUCTION_STORE_DCC: return store(unit, &i);
    case INSTRUCTION_READ:
    case INSTRUCTION_READ_DOUBLE: return read_special(unit, &i);
    case INSTRUCTION_WRITE:
    case INSTRUCTION_WRITE_DOUBLE: return write_special(unit, &i);
    case INSTRUCTION_NATIVE: return run_native(unit);
    }
    return true;
}
