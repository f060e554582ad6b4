/*
 * The emulator shows a debugger the registers of one mode, and no SPSR. What lies elsewhere is
 * reached by leading the processor there: into the mode, or onto an instruction planted in memory.
 * From user mode it does not go by a write of CPSR, so a planted SVC leads out, at the price of the
 * supervisor mode's lr and SPSR, which no kernel can rely on while user mode runs.
 */
#include "jtag/core/mode_visit.h"

#include <string.h>

enum { SVC = (int)0xef000000 };

/* The processor's CPSR, but in a mode and in ARM state. */
static uint32_t plain_cpsr(const struct debug_unit *unit, enum processor_mode mode)
{
    return (debug_real_cpsr(unit) & ~(uint32_t)(CPSR_MODE | CPSR_STATE)) | mode;
}

static bool is_user(const struct debug_unit *unit)
{
    return register_mode(debug_real_cpsr(unit)) == MODE_USER;
}

static void want_planted(struct debug_unit *unit, uint32_t place, uint32_t code)
{
    script_want_memory(&unit->script, CORE_READ_MEMORY, place, 0, THEN_SAVED);
    script_want_memory(&unit->script, CORE_WRITE_MEMORY, place, code, THEN_PLANTED);
    script_want_memory(&unit->script, CORE_READ_MEMORY, place, code, THEN_VERIFIED);
}

static void want_step(struct debug_unit *unit, uint32_t place, enum script_then then)
{
    script_want_register(&unit->script, "pc", place);
    script_want(&unit->script, CORE_STEP, then == THEN_STEPPED ? THEN_STEP : THEN_NOTHING);
    script_want(&unit->script, CORE_READ_FRAME, then);
}

static void leave_user(struct debug_unit *unit)
{
    uint32_t place = (uint32_t)unit->registers.real[REGISTER_PC] & ~3u;

    unit->visit.moved = true;
    want_planted(unit, place, (uint32_t)SVC);
    script_want_register(&unit->script, "cpsr", plain_cpsr(unit, MODE_USER));
    want_step(unit, place, THEN_ENTERED);
    script_want_memory(&unit->script, CORE_WRITE_MEMORY, place, 0, THEN_UNPLANTED);
}

static void open_with(struct debug_unit *unit, enum processor_mode mode, uint32_t flags)
{
    uint32_t cpsr = plain_cpsr(unit, mode) & ~(uint32_t)CPSR_FLAGS;

    unit->visit = (struct mode_visit){.open = true, .entered = !is_user(unit), .mode = mode};
    if (is_user(unit)) {
        leave_user(unit);
    }
    script_want_register(&unit->script, "cpsr", cpsr | (flags & (uint32_t)CPSR_FLAGS));
}

void mode_visit_open(struct debug_unit *unit, enum processor_mode mode)
{
    open_with(unit, mode, debug_real_cpsr(unit));
}

/* r0 to lr of the mode as the debugger has them. */
static void want_registers(struct debug_unit *unit, enum processor_mode mode, uint32_t r0)
{
    const struct registers *registers = &unit->registers;

    if (r0 != registers->real[REGISTER_R0]) {
        script_want_register(&unit->script, register_name(REGISTER_R0), r0);
    }
    for (unsigned i = 1; i < CORE_FRAME_PC; i++) {
        enum register_number number = register_in_mode(mode, i);
        if (registers_changed(registers, number)) {
            script_want_register(&unit->script, register_name(number), registers->value[number]);
        }
    }
}

void mode_visit_run(struct debug_unit *unit, uint32_t code, enum processor_mode mode, uint32_t r0,
                    uint32_t place)
{
    open_with(unit, mode, (uint32_t)unit->registers.value[REGISTER_CPSR]);
    unit->visit.moved = true;
    want_planted(unit, place, code);
    want_registers(unit, mode, r0);
    want_step(unit, place, THEN_STEPPED);
}

enum native_result mode_visit_judge(const struct mode_visit *visit)
{
    const uint32_t *frame = visit->frame;
    enum processor_mode mode = register_mode(frame[CORE_FRAME_CPSR]);

    if (!visit->judged) {
        return NATIVE_FAILED;
    }
    if (mode == visit->mode && frame[CORE_FRAME_PC] == visit->place + CORE_WORD_BYTES) {
        return NATIVE_DONE;
    }
    return mode == MODE_ABORT ? NATIVE_ABORTED : NATIVE_UNDEFINED;
}

/* An exception that the planted instruction took has spoilt the banked registers of its mode: those
 * that are known are put back. */
static void want_repair(struct debug_unit *unit, enum processor_mode mode)
{
    struct registers *registers = &unit->registers;
    enum register_number lr = register_sp(mode) + BANK_LR, spsr = register_spsr(mode);

    script_want_register(&unit->script, "cpsr", plain_cpsr(unit, mode));
    if (registers->known[lr]) {
        script_want_register(&unit->script, "lr", registers->real[lr]);
    }
    if (spsr == REGISTER_NONE || !registers->known[spsr]) {
        return;
    }
    script_want_register(&unit->script, "r0", registers->real[spsr]);
    script_want_memory(&unit->script, CORE_WRITE_MEMORY, unit->visit.place, (uint32_t)SPSR_WRITE,
                       THEN_NOTHING);
    script_want_register(&unit->script, "pc", unit->visit.place);
    script_want(&unit->script, CORE_STEP, THEN_NOTHING);
}

/* r0 to lr as the processor had them. */
static void want_real_registers(struct debug_unit *unit, bool all)
{
    const struct mode_visit *visit = &unit->visit;
    const struct registers *registers = &unit->registers;

    for (unsigned i = 0; i < CORE_FRAME_PC; i++) {
        enum register_number number = register_in_mode(visit->mode, i);
        if (registers->known[number] && (all || visit->frame[i] != registers->real[number])) {
            script_want_register(&unit->script, register_name(number), registers->real[number]);
        }
    }
}

/* What an instruction that ran, or was about to, has left of r0 to lr. */
static void want_undone(struct debug_unit *unit)
{
    const struct mode_visit *visit = &unit->visit;
    bool elsewhere = mode_visit_judge(visit) != NATIVE_DONE;

    if (visit->judged && elsewhere) {
        want_repair(unit, register_mode(visit->frame[CORE_FRAME_CPSR]));
    }
    if (elsewhere) {
        script_want_register(&unit->script, "cpsr", plain_cpsr(unit, visit->mode));
    }
    want_real_registers(unit, elsewhere);
}

void mode_visit_close(struct debug_unit *unit)
{
    struct mode_visit *visit = &unit->visit;
    const struct registers *registers = &unit->registers;

    visit->open = false;
    unit->restoring = true;
    if (!registers->known[REGISTER_CPSR]) { /* reset meanwhile: nothing is as it was */
        return;
    }
    if (unit->native == NATIVE_WAITS && visit->entered) {
        want_undone(unit);
    }
    if (visit->planted) {
        script_want_memory(&unit->script, CORE_WRITE_MEMORY, visit->place, 0, THEN_UNPLANTED);
    }
    script_want_register(&unit->script, "cpsr", registers->real[REGISTER_CPSR]);
    if (visit->moved) {
        script_want_register(&unit->script, "pc", registers->real[REGISTER_PC]);
    }
}

/* What has been found out ends the script: it cannot go on as it was meant. */
static void give_up(struct debug_unit *unit)
{
    unit->broke = true;
    script_clear(&unit->script);
}

void mode_visit_did(struct debug_unit *unit, const struct script_step *step)
{
    struct mode_visit *visit = &unit->visit;
    const struct core_op *op = &step->op;

    switch (step->then) {
    case THEN_SAVED:
        visit->place = op->address;
        visit->saved = (uint32_t)op->value;
        return;
    case THEN_PLANTED: visit->planted = true; return;
    case THEN_UNPLANTED: visit->planted = false; return;
    case THEN_VERIFIED:
        if ((uint32_t)op->value != step->subject) {
            give_up(unit);
        }
        return;
    case THEN_ENTERED:
        visit->entered = register_mode(op->frame[CORE_FRAME_CPSR]) != MODE_USER;
        if (!visit->entered) {
            give_up(unit);
        }
        return;
    case THEN_STEP: visit->stepped = true; return;
    case THEN_STEPPED:
        visit->judged = true;
        memcpy(visit->frame, op->frame, sizeof visit->frame);
        return;
    default: return;
    }
}
