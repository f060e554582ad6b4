/*
 * debug_unit.c - the tasks of a debug unit: an access begins one, and what the processor did leads
 * it on to its end.
 *
 * What an access of a register comes to is in debug_registers.c, the tasks themselves in execute.c
 * and halting.c. One operation is with the processor at a time; the access is complete when none is
 * wanted any more.
 */
#include "jtag/core/debug_internal.h"

#include <stddef.h>

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

/* Operations ----------------------------------------------------------------------------------- */

struct script_step *debug_want(struct debug_unit *unit, enum core_op_kind kind,
                               enum debug_then then)
{
    struct script_step *step = script_push(&unit->script, kind);

    step->then = then;
    return step;
}

void debug_want_register(struct debug_unit *unit, const char *name, uint64_t value)
{
    struct script_step *step = debug_want(unit, CORE_WRITE_REGISTER, THEN_NOTHING);

    step->op.name = name;
    step->op.value = value;
}

void debug_want_memory(struct debug_unit *unit, enum core_op_kind kind, uint32_t address,
                       uint32_t value, enum debug_then then)
{
    struct script_step *step = debug_want(unit, kind, then);

    step->op.address = address;
    step->op.bytes = WORD;
    step->op.value = value;
    step->subject = value;
}

bool debug_need_frame(struct debug_unit *unit)
{
    if (unit->registers.known[REGISTER_CPSR]) {
        return true;
    }
    if (unit->tried == REGISTER_CPSR) {
        return false; /* in vain */
    }
    unit->tried = REGISTER_CPSR;
    if (!unit->held) {
        debug_want(unit, CORE_HALT, THEN_HALTED);
    }
    debug_want(unit, CORE_READ_FRAME, THEN_FRAME);
    return false;
}

/* An instruction brings SPSR into r0. */
static bool need_spsr(struct debug_unit *unit, enum register_number number)
{
    enum { MRS_R0_SPSR = (int)0xe14f0000 };
    uint32_t r0 = (uint32_t)unit->registers.real[REGISTER_R0];
    enum native_result result =
        native_run(unit, (uint32_t)MRS_R0_SPSR, register_bank_mode(number), r0);

    if (result == NATIVE_WAITS) {
        return false;
    }
    registers_learn(&unit->registers, number,
                    result == NATIVE_DONE ? unit->visit.frame[REGISTER_R0] : 0);
    return true;
}

bool debug_need(struct debug_unit *unit, enum register_number number)
{
    if (!debug_need_frame(unit)) {
        return false;
    }
    if (register_is_spsr(number) && !unit->registers.known[number]) {
        return need_spsr(unit, number);
    }
    if (unit->tried == number && !unit->registers.known[number]) {
        registers_learn(&unit->registers, number, 0);
        unit->broke = false;
    }
    if (unit->registers.known[number]) {
        unit->tried = REGISTER_NONE;
        return true;
    }
    unit->tried = number;
    if (number < REGISTER_D0) {
        mode_visit_open(unit, register_bank_mode(number));
        debug_want(unit, CORE_READ_FRAME, THEN_BANK);
        return false;
    }
    struct script_step *step = debug_want(unit, CORE_READ_REGISTER, THEN_REGISTER);
    step->op.name = register_name(number);
    step->subject = number;
    return false;
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

static void end_access(struct debug_unit *unit, bool failed)
{
    if (unit->access && failed) {
        unit->access->failed = true;
    }
    unit->task = DEBUG_IDLE;
}

void debug_fail(struct debug_unit *unit)
{
    bool full;

    if (unit->undo) {
        *unit->undo = unit->undo_value;
    }
    if (unit->access && unit->access->space == ACCESS_BUS && unit->access->write) {
        points_write(&unit->points, unit->access->address, unit->access->bytes, 0, &full);
    }
    end_access(unit, true);
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

bool debug_may_touch(const struct debug_unit *unit, const void *client)
{
    return !unit->owner || unit->owner == client;
}

/* The node becomes a client's; false: it is another's. */
bool debug_claim(struct debug_unit *unit, const void *client)
{
    if (!debug_may_touch(unit, client)) {
        return false;
    }
    if (unit->last != client) {
        points_clear(&unit->points);
    }
    unit->owner = unit->last = client;
    return true;
}

static void step_execute(struct debug_unit *unit)
{
    if (debug_execute(unit)) {
        end_access(unit, false);
    }
}

/* Where the registers cannot be had, what is known without them is told. */
static void step_refresh(struct debug_unit *unit)
{
    if (!debug_need_frame(unit) && !script_is_empty(&unit->script)) {
        return;
    }
    unit->access->value = debug_read_register(unit, unit->access->address, true);
    end_access(unit, false);
}

static void want_bus(struct debug_unit *unit)
{
    const struct access *access = unit->access;
    struct script_step *want = debug_want(unit, access->write ? CORE_WRITE_BUS : CORE_READ_BUS,
                                          access->write ? THEN_NOTHING : THEN_ACCESS);

    want->op.address = access->address;
    want->op.bytes = access->bytes;
    want->op.value = access->value;
}

/* The access itself has been made. */
static void step_bus(struct debug_unit *unit)
{
    struct access *access = unit->access;

    access->failed = unit->broke;
    if (unit->client == unit->last && !access->write && !access->failed) {
        access->value = points_read(&unit->points, access->address, access->bytes, access->value);
    }
    unit->broke = false;
    debug_update_points(unit);
}

static void step(struct debug_unit *unit)
{
    switch (unit->task) {
    case DEBUG_IDLE: return;
    case DEBUG_BUS: step_bus(unit); return;
    case DEBUG_REFRESH: step_refresh(unit); return;
    case DEBUG_HALT: debug_step_halt(unit); return;
    case DEBUG_EXECUTE: step_execute(unit); return;
    case DEBUG_RESTART: debug_step_restart(unit); return;
    case DEBUG_POINTS: debug_step_points(unit); return;
    case DEBUG_RESET: debug_step_reset(unit); return;
    }
}

/* Who has it still: one that has it halted, or has set a point. */
static void settle(struct debug_unit *unit)
{
    if (unit->state != DEBUG_HALTED && !points_any_told(&unit->points)) {
        unit->owner = NULL;
    }
    unit->access = NULL;
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
        enum debug_task task = unit->task;
        step(unit);
        /* Nothing was wanted, and yet it has not ended: what it needs cannot be had. */
        if (unit->task == task && script_is_empty(&unit->script) && !unit->visit.open) {
            debug_fail(unit);
        }
    }
}

void debug_begin(struct debug_unit *unit, enum debug_task task)
{
    unit->task = task;
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

static void begin_bus(struct debug_unit *unit)
{
    struct access *access = unit->access;
    bool breakpoint =
        access->write && points_is_breakpoint(access->address, access->bytes, access->value);

    debug_begin(unit, DEBUG_BUS);
    if (breakpoint && !debug_claim(unit, unit->client)) {
        end_access(unit, true);
        return;
    }
    if (access->write && unit->client == unit->last &&
        points_write(&unit->points, access->address, access->bytes, access->value,
                     &access->failed)) {
        debug_update_points(unit);
        return;
    }
    want_bus(unit);
}

void debug_unit_access(struct debug_unit *unit, const void *client, struct access *access)
{
    CHECK(unit->task == DEBUG_IDLE && script_is_empty(&unit->script));
    bool bus = access->space == ACCESS_BUS;

    access->failed = false;
    unit->access = access;
    unit->client = client;
    if (access->bytes != WORD && (!bus || (access->bytes != 1 && access->bytes != 2))) {
        access->failed = true;
    } else if (bus) {
        begin_bus(unit);
    } else if (access->address >= REGISTERS_END || access->address % WORD != 0) {
        access->failed = true;
    } else if (access->write) {
        debug_begin_write(unit);
    } else {
        debug_begin_read(unit);
    }
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
    debug_begin(unit, DEBUG_POINTS);
    if (!debug_points_differ(unit)) {
        unit->task = DEBUG_IDLE;
    }
    advance(unit);
}
