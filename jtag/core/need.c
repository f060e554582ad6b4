#include "jtag/core/need.h"

#include "drivers/check.h"
#include "jtag/core/mode_visit.h"

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
        script_want(&unit->script, CORE_HALT, THEN_HALTED);
    }
    script_want(&unit->script, CORE_READ_FRAME, THEN_FRAME);
    return false;
}

bool debug_need(struct debug_unit *unit, enum register_number number)
{
    CHECK(!register_is_spsr(number));
    if (!debug_need_frame(unit)) {
        return false;
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
        script_want(&unit->script, CORE_READ_FRAME, THEN_BANK);
        return false;
    }
    struct script_step *step = script_want(&unit->script, CORE_READ_REGISTER, THEN_REGISTER);
    step->op.name = register_name(number);
    step->subject = number;
    return false;
}
