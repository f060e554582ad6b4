#include "jtag/core/native.h"

#include "jtag/core/mode_visit.h"
#include "jtag/core/need.h"

/* Where an instruction can be planted that runs in a privileged mode: what user mode executes need
 * not be executable there, but vectors are. */
static bool find_place(struct debug_unit *unit, uint32_t *place)
{
    uint32_t base = unit->board.ram_base;
    bool user = register_mode(debug_real_cpsr(unit)) == MODE_USER;

    if (!debug_need(unit, REGISTER_SCTLR) || !debug_need(unit, REGISTER_VBAR)) {
        return false;
    }
    bool mmu = unit->registers.real[REGISTER_SCTLR] & SCTLR_MMU;
    *place = (uint32_t)unit->registers.real[mmu && user ? REGISTER_VBAR : REGISTER_PC];
    if (unit->native_again || (!mmu && *place - base >= unit->board.ram_bytes)) {
        *place = base;
    }
    *place &= ~3u;
    return true;
}

enum native_result native_run(struct debug_unit *unit, uint32_t code, enum processor_mode mode,
                              uint32_t r0)
{
    enum native_result result = unit->native;
    uint32_t place;

    if (result == NATIVE_WAITS) {
        result = mode_visit_judge(&unit->visit);
        unit->broke = false;
        unit->native = NATIVE_IDLE;
        if (result != NATIVE_FAILED || unit->native_again || unit->visit.stepped) {
            unit->native_again = false;
            return result;
        }
        unit->native_again = true;
    }
    if (debug_need(unit, register_sp(mode)) && find_place(unit, &place)) {
        unit->native = NATIVE_WAITS;
        mode_visit_run(unit, code, mode, r0, place);
    }
    return NATIVE_WAITS;
}
