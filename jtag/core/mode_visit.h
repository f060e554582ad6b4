/*
 * mode_visit.h - leads the processor into another mode, or onto a planted instruction, and back.
 *
 * Each wants operations; what they find is taken by mode_visit_did. The registers of the present
 * mode are known.
 *
 * Context  any; pure
 */
#pragma once

#include "jtag/core/debug_state.h"

/* Into a mode; it comes back by mode_visit_close. */
void mode_visit_open(struct debug_unit *unit, enum processor_mode mode);

/* Into a mode, and there over an instruction that is planted at a place, with the registers as the
 * debugger has them in that mode, but r0 as given. */
void mode_visit_run(struct debug_unit *unit, uint32_t code, enum processor_mode mode, uint32_t r0,
                    uint32_t place);

/* What has become of that instruction; visit->frame is what it left. */
enum native_result mode_visit_judge(const struct mode_visit *visit);

/* Everything is put back. */
void mode_visit_close(struct debug_unit *unit);

/* A step of these has been done. */
void mode_visit_did(struct debug_unit *unit, const struct script_step *step);
