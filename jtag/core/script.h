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

struct script_step {
    struct core_op op;
    unsigned then; /* what is done with the result: the owner's number */
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
static inline struct script_step *script_push(struct script *script, enum core_op_kind kind)
{
    if (script_is_empty(script)) {
        script_clear(script);
    }
    CHECK(script->count < SCRIPT_STEPS_MAX);
    struct script_step *step = &script->steps[script->count++];
    *step = (struct script_step){.op.kind = kind};
    return step;
}

/* Takes the first step off. What it points to is overwritten by the next push. */
static inline void script_pop(struct script *script)
{
    CHECK(!script_is_empty(script));
    script->next++;
}
