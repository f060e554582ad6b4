/*
 * debug_unit.c - the machine of tasks: an access begins one, what the processor did leads it on,
 * and its step says which is next.
 *
 * A step wants operations of the processor (they go into the script) and is called again when they
 * are done. What an access of a register comes to is in debug_registers.c, the steps are in
 * execute.c and halting.c; none of them knows this machine. One operation is with the processor at
 * a time; the access is complete when none is wanted any more.
 */
#include "jtag/core/debug_unit.h"

#include <stddef.h>

#include "drivers/check.h"
#include "jtag/core/debug_registers.h"
#include "jtag/core/dscr.h"
#include "jtag/core/execute.h"
#include "jtag/core/halting.h"
#include "jtag/core/mode_visit.h"
#include "jtag/core/need.h"

enum { REGISTERS_END = 0x1000 };

void debug_unit_init(struct debug_unit *unit, const struct debug_board *board)
{
    *unit = (struct debug_unit){.board = *board, .tried = REGISTER_NONE};
}

const void *debug_unit_owner(const struct debug_unit *unit)
{
    return unit->owner;
}

bool debug_unit_halted(const struct debug_unit *unit)
{
    return unit->state == DEBUG_HALTED;
}

bool debug_unit_lost(const struct debug_unit *unit)
{
    return unit->state == DEBUG_LOST;
}

/* What else there is to tell of a processor that has stopped by itself. */
static void tell_stop(struct debug_unit *unit)
{
    uint32_t pc = (uint32_t)unit->registers.real[REGISTER_PC];
    bool thumb = debug_real_cpsr(unit) & CPSR_THUMB;

    if (!unit->stopped) {
        return;
    }
    unit->stopped = false;
    if (unit->stop == CORE_STOP_CODE && points_written_at(&unit->points, pc)) {
        debug_set_entry(unit, ENTRY_INSTRUCTION);
    }
    /* The emulator stops before the access; its instruction's address is told as PC reads in it. */
    if (unit->stop == CORE_STOP_DATA) {
        unit->wfar = pc + (thumb ? 4 : 8);
    }
}

/* A task has ended in vain: what it has noted is undone, and its access fails. */
static void fail(struct debug_unit *unit)
{
    bool full;

    if (unit->undo) {
        *unit->undo = unit->undo_value;
    }
    if (!unit->access) {
        return;
    }
    if (unit->access->space == ACCESS_BUS && unit->access->write) {
        points_write(&unit->points, unit->access->address, unit->access->bytes, 0, &full);
    }
    unit->access->failed = true;
}

static void take_result(struct debug_unit *unit, const struct script_step *step)
{
    struct registers *registers = &unit->registers;
    const struct core_op *op = &step->op;

    switch (step->then) {
    case THEN_ACCESS: unit->access->value = (uint32_t)op->value; break;
    case THEN_HALTED: unit->held = unit->halted = true; break;
    case THEN_FRAME:
        registers_learn_frame(registers, op->frame);
        unit->tried = REGISTER_NONE;
        tell_stop(unit);
        break;
    case THEN_BANK:
        if (register_mode(op->frame[CORE_FRAME_CPSR]) == unit->visit.mode) {
            registers_learn_bank(registers, op->frame);
        }
        break;
    case THEN_REGISTER: registers_learn(registers, step->subject, op->value); break;
    case THEN_WRITTEN: registers->real[step->subject] = op->value; break;
    case THEN_LOADED: unit->loaded = true, unit->load_value = (uint32_t)op->value; break;
    case THEN_POINT: unit->points.told[unit->slot] = unit->wanted; break;
    default: mode_visit_did(unit, step); break;
    }
}

static void take_failure(struct debug_unit *unit, const struct script_step *step)
{
    if (unit->restoring) {
        return;
    }
    if (step->then == THEN_LOADED) {
        unit->loaded = unit->load_failed = true;
        return;
    }
    if (step->then == THEN_POINT) {
        unit->points.told[unit->slot] = unit->wanted;
        unit->points.told[unit->slot].refused = unit->wanted.set;
        return;
    }
    if (step->op.kind == CORE_RESUME) {
        unit->state = DEBUG_HALTED;
        unit->held = true;
    }
    unit->broke = true;
    script_clear(&unit->script);
}

/* Tasks ---------------------------------------------------------------------------------------- */

static bool may_touch(const struct debug_unit *unit, const void *client)
{
    return !unit->owner || unit->owner == client;
}

/* The node becomes a client's; false: it is another's. */
static bool claim(struct debug_unit *unit, const void *client)
{
    if (!may_touch(unit, client)) {
        return false;
    }
    if (unit->last != client) {
        points_clear(&unit->points);
    }
    unit->owner = unit->last = client;
    return true;
}

/* Where the registers cannot be had, what is known without them is told. */
static enum debug_task refresh(struct debug_unit *unit)
{
    if (!debug_need_frame(unit) && !script_is_empty(&unit->script)) {
        return DEBUG_REFRESH;
    }
    unit->access->value = debug_registers_value(unit, unit->access->address, true);
    return DEBUG_IDLE;
}

static void want_bus(struct debug_unit *unit)
{
    const struct access *access = unit->access;
    struct script_step *want =
        script_want(&unit->script, access->write ? CORE_WRITE_BUS : CORE_READ_BUS,
                    access->write ? THEN_NOTHING : THEN_ACCESS);

    want->op.address = access->address;
    want->op.bytes = access->bytes;
    want->op.value = access->value;
}

/* A node that runs is halted to be told of points. */
static enum debug_task update_points(const struct debug_unit *unit)
{
    return unit->state == DEBUG_RUNNING && points_differ(&unit->points) ? DEBUG_POINTS : DEBUG_IDLE;
}

/* The access itself has been made. */
static enum debug_task end_bus(struct debug_unit *unit)
{
    struct access *access = unit->access;

    access->failed = unit->broke;
    if (unit->client == unit->last && !access->write && !access->failed) {
        access->value = points_read(&unit->points, access->address, access->bytes, access->value);
    }
    unit->broke = false;
    return update_points(unit);
}

static enum debug_task step(struct debug_unit *unit)
{
    switch (unit->task) {
    case DEBUG_IDLE:
    case DEBUG_FAILED: break;
    case DEBUG_BUS: return end_bus(unit);
    case DEBUG_REFRESH: return refresh(unit);
    case DEBUG_HALT: return halting_halt(unit);
    case DEBUG_EXECUTE: return execute_instruction(unit) ? DEBUG_IDLE : DEBUG_EXECUTE;
    case DEBUG_RESTART: return halting_restart(unit);
    case DEBUG_POINTS: return halting_points(unit);
    case DEBUG_RESET: return halting_reset(unit);
    }
    return DEBUG_IDLE;
}

/* Who has it still: one that has it halted, or has set a point. */
static void settle(struct debug_unit *unit)
{
    if (unit->state != DEBUG_HALTED && !points_any_told(&unit->points)) {
        unit->owner = NULL;
    }
    unit->access = NULL;
}

static void go_on(struct debug_unit *unit)
{
    enum debug_task next = step(unit);
    bool waits = !script_is_empty(&unit->script) || unit->visit.open;

    if (next == unit->task) {
        if (waits) {
            return;
        }
        next = DEBUG_FAILED; /* nothing is wanted: what it needs cannot be had */
    }
    if (next == DEBUG_FAILED) {
        fail(unit);
        next = DEBUG_IDLE;
    }
    unit->task = next;
    unit->stage = 0;
}

/* Does what can be done without the processor. */
static void advance(struct debug_unit *unit)
{
    while (script_is_empty(&unit->script)) {
        if (unit->visit.open) {
            mode_visit_close(unit);
            continue;
        }
        unit->restoring = false;
        if (unit->task == DEBUG_IDLE) {
            settle(unit);
            return;
        }
        go_on(unit);
    }
}

/* Nothing of an earlier task is left. */
static void clear_task(struct debug_unit *unit)
{
    unit->stage = 0;
    unit->broke = unit->halted = false;
    unit->undo = NULL;
    unit->loaded = unit->load_failed = false;
    unit->tried = REGISTER_NONE;
    unit->native = NATIVE_IDLE;
    unit->native_again = false;
}

struct core_op *debug_unit_wants(struct debug_unit *unit)
{
    if (script_is_empty(&unit->script)) {
        return NULL;
    }
    struct script_step *first = script_first(&unit->script);
    if (first->then == THEN_UNPLANTED) {
        first->op.value = unit->visit.saved;
    }
    return &first->op;
}

void debug_unit_did(struct debug_unit *unit)
{
    const struct script_step *first = script_first(&unit->script);

    script_pop(&unit->script);
    if (first->op.failed) {
        take_failure(unit, first);
    } else {
        take_result(unit, first);
    }
    advance(unit);
}

/* Accesses ------------------------------------------------------------------------------------ */

static enum debug_task begin_bus(struct debug_unit *unit)
{
    struct access *access = unit->access;
    bool breakpoint =
        access->write && points_is_breakpoint(access->address, access->bytes, access->value);

    if (breakpoint && !claim(unit, unit->client)) {
        access->failed = true;
        return DEBUG_IDLE;
    }
    if (access->write && unit->client == unit->last &&
        points_write(&unit->points, access->address, access->bytes, access->value,
                     &access->failed)) {
        return update_points(unit);
    }
    want_bus(unit);
    return DEBUG_BUS;
}

/* What is written to a node that is another one's is lost, or refused where it would change what
 * the processor does. */
static enum debug_task begin_write(struct debug_unit *unit)
{
    if (debug_registers_is_exclusive(unit) && !claim(unit, unit->client)) {
        unit->access->failed = true;
        return DEBUG_IDLE;
    }
    return may_touch(unit, unit->client) ? debug_registers_write(unit) : DEBUG_IDLE;
}

static enum debug_task begin(struct debug_unit *unit)
{
    struct access *access = unit->access;
    bool bus = access->space == ACCESS_BUS, word = access->bytes == CORE_WORD_BYTES;

    if (!word && (!bus || (access->bytes != 1 && access->bytes != 2))) {
        access->failed = true;
        return DEBUG_IDLE;
    }
    if (bus) {
        return begin_bus(unit);
    }
    if (access->address >= REGISTERS_END || access->address % CORE_WORD_BYTES != 0) {
        access->failed = true;
        return DEBUG_IDLE;
    }
    return access->write ? begin_write(unit)
                         : debug_registers_read(unit, may_touch(unit, unit->client));
}

void debug_unit_access(struct debug_unit *unit, const void *client, struct access *access)
{
    CHECK(unit->task == DEBUG_IDLE && script_is_empty(&unit->script));
    access->failed = false;
    unit->access = access;
    unit->client = client;
    clear_task(unit);
    unit->task = begin(unit);
    advance(unit);
}

/* What others do ------------------------------------------------------------------------------- */

void debug_unit_stopped(struct debug_unit *unit, enum core_stop why, uint32_t address)
{
    static const enum debug_entry entries[] = {[CORE_STOP_CODE] = ENTRY_BREAKPOINT,
                                               [CORE_STOP_DATA] = ENTRY_WATCHPOINT,
                                               [CORE_STOP_OTHER] = ENTRY_EXTERNAL};

    (void)address; /* the architecture tells that of the instruction */
    if (unit->state != DEBUG_RUNNING) {
        return;
    }
    unit->state = DEBUG_HALTED;
    unit->stopped = true;
    unit->stop = why;
    registers_forget(&unit->registers);
    debug_set_entry(unit, entries[why]);
}

void debug_unit_was_reset(struct debug_unit *unit)
{
    unit->was_reset = true;
    registers_forget(&unit->registers);
}

void debug_unit_give_up(struct debug_unit *unit)
{
    if (unit->owner) {
        return;
    }
    unit->state = DEBUG_RUNNING;
    unit->held = unit->stopped = false;
    registers_forget(&unit->registers);
}

void debug_unit_leave(struct debug_unit *unit, const void *client)
{
    if (unit->last != client) {
        return;
    }
    CHECK(unit->task == DEBUG_IDLE && script_is_empty(&unit->script));
    points_clear(&unit->points);
    unit->owner = unit->last = NULL;
    unit->vcr = 0;
    unit->dscr &= (uint32_t)DSCR_MOE;
    unit->rx_full = unit->tx_full = false;
    if (unit->state == DEBUG_HALTED) {
        registers_revert(&unit->registers);
    }
    clear_task(unit);
    unit->task = points_differ(&unit->points) ? DEBUG_POINTS : DEBUG_IDLE;
    advance(unit);
}
