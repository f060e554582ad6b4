#include "jtag/core/halting.h"

#include "jtag/core/dscr.h"
#include "jtag/core/mode_visit.h"
#include "jtag/core/native.h"
#include "jtag/core/need.h"

enum { VCR_RESET = 1 };

enum { HALT_ASKED = 1, RESET_ASKED = 1, RESTART_STEPPED = 1 };
enum { POINTS_HALTED = 1, POINTS_TOLD, POINTS_RESUMED };

enum debug_task halting_halt(struct debug_unit *unit)
{
    if (unit->stage == 0 && unit->state == DEBUG_RUNNING) {
        unit->stage = HALT_ASKED;
        registers_forget(&unit->registers);
        script_want(&unit->script, CORE_HALT, THEN_HALTED);
        script_want(&unit->script, CORE_READ_FRAME, THEN_FRAME);
        return DEBUG_HALT;
    }
    if (unit->state == DEBUG_RUNNING && !unit->halted) {
        return DEBUG_FAILED;
    }
    if (unit->state != DEBUG_HALTED) {
        debug_set_entry(unit, ENTRY_REQUEST);
    }
    unit->state = DEBUG_HALTED;
    return DEBUG_IDLE;
}

/* The processor goes on. What it does from now on is not known. */
static void want_resume(struct debug_unit *unit)
{
    bool keep = points_any_told(&unit->points);

    script_want(&unit->script, CORE_RESUME, THEN_NOTHING)->op.keep = keep;
    unit->held = keep;
    unit->state = DEBUG_RUNNING;
    unit->stopped = false;
    registers_forget(&unit->registers);
}

static bool want_point(struct debug_unit *unit)
{
    unsigned slot = points_next_difference(&unit->points, &unit->wanted);

    if (slot == POINT_SLOTS) {
        return false;
    }
    struct point *told = &unit->points.told[slot];
    if (told->set) { /* first that goes */
        unit->wanted = (struct point){0};
    }
    unit->slot = slot;
    const struct point *point = told->set ? told : &unit->wanted;
    struct script_step *step =
        script_want(&unit->script, told->set ? CORE_REMOVE_POINT : CORE_ADD_POINT, THEN_POINT);
    step->op.address = point->address;
    step->op.bytes = point->bytes;
    step->op.point = point->kind;
    return true;
}

enum debug_task halting_points(struct debug_unit *unit)
{
    if (unit->stage == 0 && unit->state == DEBUG_RUNNING) {
        unit->stage = POINTS_HALTED;
        script_want(&unit->script, CORE_HALT, THEN_HALTED);
        return DEBUG_POINTS;
    }
    if (unit->stage == POINTS_RESUMED || (unit->broke && unit->stage == POINTS_HALTED)) {
        return unit->broke ? DEBUG_FAILED : DEBUG_IDLE;
    }
    unit->stage = POINTS_TOLD;
    if (want_point(unit)) {
        return DEBUG_POINTS;
    }
    if (unit->state != DEBUG_RUNNING) {
        return DEBUG_IDLE;
    }
    unit->stage = POINTS_RESUMED;
    want_resume(unit);
    return DEBUG_POINTS;
}

enum debug_task halting_reset(struct debug_unit *unit)
{
    if (unit->stage == 0) {
        unit->stage = RESET_ASKED;
        script_want(&unit->script, CORE_RESET, THEN_HALTED);
        return DEBUG_RESET;
    }
    if (unit->broke) {
        return DEBUG_FAILED;
    }
    registers_forget(&unit->registers);
    unit->was_reset = true;
    unit->stopped = false;
    unit->state = DEBUG_HALTED;
    unit->dscr &= ~(uint32_t)DSCR_STICKY;
    debug_set_entry(unit, ENTRY_VECTOR);
    return unit->vcr & VCR_RESET ? DEBUG_IDLE : DEBUG_RESTART;
}

/* Wants one register as the debugger has it, in the mode that the processor is in then. */
static void want_written(struct debug_unit *unit, enum register_number number)
{
    struct script_step *step = script_want(&unit->script, CORE_WRITE_REGISTER, THEN_WRITTEN);

    step->op.name = register_name(number);
    step->op.value = unit->registers.value[number];
    step->subject = number;
}

/* The first register from `first` on, before `end`, that the processor has not as the debugger
 * wrote it. */
static enum register_number find_changed(const struct debug_unit *unit, unsigned first,
                                         unsigned last)
{
    for (unsigned i = first; i < last; i++) {
        if (registers_changed(&unit->registers, i)) {
            return i;
        }
    }
    return REGISTER_NONE;
}

/* A mode from which an instruction can write anything. */
static enum processor_mode native_mode(const struct debug_unit *unit)
{
    enum processor_mode mode = register_mode(debug_real_cpsr(unit));

    return mode == MODE_USER ? MODE_SYSTEM : mode;
}

/* Only an instruction can write it. True: it is under way. */
static bool write_natively(struct debug_unit *unit, enum register_number number)
{
    struct registers *registers = &unit->registers;
    bool spsr = register_is_spsr(number);
    uint32_t code = spsr ? (uint32_t)SPSR_WRITE : register_system_write(number);
    enum processor_mode mode = spsr ? register_bank_mode(number) : native_mode(unit);
    enum native_result result = native_run(unit, code, mode, (uint32_t)registers->value[number]);

    if (result == NATIVE_DONE) {
        registers->real[number] = registers->value[number];
    } else if (result != NATIVE_WAITS) {
        registers->value[number] = registers->real[number];
    }
    return result == NATIVE_WAITS;
}

/* Whether the MMU is on is the program's: what a debugger does to read memory is undone. */
static void keep_mmu(struct debug_unit *unit)
{
    uint64_t *sctlr = &unit->registers.value[REGISTER_SCTLR];

    *sctlr = (*sctlr & ~(uint64_t)SCTLR_MMU) | (unit->registers.real[REGISTER_SCTLR] & SCTLR_MMU);
}

static enum register_number find_special(const struct debug_unit *unit)
{
    for (unsigned i = REGISTER_SP_FIQ; i < REGISTER_D0; i++) {
        if (register_is_spsr(i) && registers_changed(&unit->registers, i)) {
            return i;
        }
    }
    return find_changed(unit, REGISTER_SCTLR, REGISTER_VBAR);
}

/* True: something is being written by an instruction. */
static bool write_special(struct debug_unit *unit)
{
    enum register_number number;

    keep_mmu(unit);
    while ((number = find_special(unit)) != REGISTER_NONE) {
        if (write_natively(unit, number)) {
            return true;
        }
    }
    return false;
}

/* r0 to lr that a mode shows; true: there are some to be written. */
static bool write_mode(struct debug_unit *unit, enum processor_mode mode, bool away)
{
    bool any = false;

    for (unsigned n = 0; n < CORE_FRAME_PC; n++) {
        enum register_number number = register_in_mode(mode, n);
        if (!registers_changed(&unit->registers, number)) {
            continue;
        }
        if (away && !any) {
            mode_visit_open(unit, mode);
        }
        any = true;
        want_written(unit, number);
    }
    return any;
}

static bool write_banks(struct debug_unit *unit)
{
    static const enum processor_mode modes[] = {MODE_SYSTEM,     MODE_FIQ,   MODE_IRQ,
                                                MODE_SUPERVISOR, MODE_ABORT, MODE_UNDEFINED};

    if (write_mode(unit, register_mode(debug_real_cpsr(unit)), false)) {
        return true;
    }
    for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (write_mode(unit, modes[i], true)) {
            return true;
        }
    }
    return false;
}

/* A mode that the processor does not have stays what it was. */
static void keep_mode(struct debug_unit *unit)
{
    uint64_t *cpsr = &unit->registers.value[REGISTER_CPSR];

    if ((*cpsr & CPSR_MODE) != register_mode((uint32_t)*cpsr)) {
        *cpsr = (*cpsr & ~(uint64_t)CPSR_MODE) | (debug_real_cpsr(unit) & CPSR_MODE);
    }
}

static bool write_position(struct debug_unit *unit)
{
    keep_mode(unit);
    enum processor_mode mode = register_mode((uint32_t)unit->registers.value[REGISTER_CPSR]);

    if (registers_changed(&unit->registers, REGISTER_CPSR)) {
        if (register_mode(debug_real_cpsr(unit)) == MODE_USER && mode != MODE_USER) {
            mode_visit_open(unit, mode);
        }
        want_written(unit, REGISTER_CPSR);
        return true;
    }
    if (!registers_changed(&unit->registers, REGISTER_PC)) {
        return false;
    }
    want_written(unit, REGISTER_PC);
    return true;
}

static bool write_floats(struct debug_unit *unit)
{
    enum register_number number = find_changed(unit, REGISTER_D0, REGISTER_SCTLR);

    if (number == REGISTER_NONE) {
        return false;
    }
    want_written(unit, number);
    return true;
}

static enum debug_task want_go(struct debug_unit *unit)
{
    if (!points_step(&unit->points)) {
        want_resume(unit);
        return DEBUG_IDLE;
    }
    unit->stage = RESTART_STEPPED;
    debug_set_entry(unit, ENTRY_BREAKPOINT);
    registers_forget(&unit->registers);
    script_want(&unit->script, CORE_STEP, THEN_NOTHING);
    script_want(&unit->script, CORE_READ_FRAME, THEN_FRAME);
    return DEBUG_RESTART;
}

static bool is_in_ram(const struct debug_unit *unit)
{
    uint32_t pc = (uint32_t)unit->registers.value[REGISTER_PC];

    return pc - unit->board.ram_base < unit->board.ram_bytes;
}

enum debug_task halting_restart(struct debug_unit *unit)
{
    bool expected = unit->native == NATIVE_WAITS || unit->tried != REGISTER_NONE;

    if (unit->stage == RESTART_STEPPED || (unit->broke && !expected)) {
        return DEBUG_IDLE;
    }
    if (!debug_need_frame(unit) || (!is_in_ram(unit) && !debug_need(unit, REGISTER_SCTLR))) {
        return DEBUG_RESTART;
    }
    if (!is_in_ram(unit) && !(unit->registers.real[REGISTER_SCTLR] & SCTLR_MMU)) {
        unit->state = DEBUG_LOST; /* no instruction can lie at the PC */
        return DEBUG_IDLE;
    }
    if (write_floats(unit) || write_special(unit) || write_banks(unit) || write_position(unit)) {
        return DEBUG_RESTART;
    }
    return want_point(unit) ? DEBUG_RESTART : want_go(unit);
}
