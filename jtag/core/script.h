/*
 * script.h - operations that a processor shall do one after another, each with what becomes of its
 * result.
 *
 * Context  any; pure
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/check.h"
#include "jtag/core/core.h"

/* The longest is a native instruction from user mode: 8 to leave it, 22 to run it. */
enum { SCRIPT_STEPS_MAX = 40 };

/* What becomes of an operation's result. */
enum script_then {
    THEN_NOTHING,
    THEN_ACCESS,   /* it is the access's */
    THEN_HALTED,   /* the processor is held now */
    THEN_FRAME,    /* the registers are known */
    THEN_BANK,     /* those of another mode too */
    THEN_REGISTER, /* that of the subject is known */
    THEN_WRITTEN,  /* the processor has the register of the subject as the debugger wrote it */
    THEN_LOADED,   /* what a load or a store of an instruction found */
    THEN_POINT,    /* the emulator has the point of `slot` as wanted */
    THEN_SAVED,    /* the word where an instruction will be planted */
    THEN_PLANTED,
    THEN_VERIFIED, /* the subject lies there */
    THEN_ENTERED,  /* a mode from which all others can be reached */
    THEN_UNPLANTED,
    THEN_STEP,   /* the planted instruction may run */
    THEN_STEPPED /* what it left */
};

struct script_step {
    struct core_op op;
    enum script_then then;
    uint32_t subject;
};

struct script {
    struct script_step steps[SCRIPT_STEPS_MAX];
    unsigned next, count;
};

static inline bool script_is_empty(const struct script *script)
{
    return script->next == script->count;
}

static inline void script_clear(struct script *script)
{
    script->next = script->count = 0;
}

static inline struct script_step *script_first(struct script *script)
{
    return &script->steps[script->next];
}

/* One more step at the end, for the caller to fill further. */
struct script_step *script_want(struct script *script, enum core_op_kind kind,
                                enum script_then then);

/* One that writes a register by its name. */
void script_want_register(struct script *script, const char *name, uint64_t value);

/* One that reads or writes a word of memory; `value` is the step's subject, too. */
void script_want_memory(struct script *script, enum core_op_kind kind, uint32_t address,
                        uint32_t value, enum script_then then);

/* Takes the first step off. What it points to is overwritten by the next push. */
static inline void script_pop(struct script *script)
{
    CHECK(!script_is_empty(script));
    script->next++;
}
