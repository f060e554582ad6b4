#include "jtag/core/script.h"

struct script_step *script_want(struct script *script, enum core_op_kind kind,
                                enum script_then then)
{
    if (script_is_empty(script)) {
        script_clear(script);
    }
    CHECK(script->count < SCRIPT_STEPS_MAX);
    struct script_step *step = &script->steps[script->count++];
    *step = (struct script_step){.op.kind = kind, .then = then};
    return step;
}

void script_want_register(struct script *script, const char *name, uint64_t value)
{
    struct script_step *step = script_want(script, CORE_WRITE_REGISTER, THEN_NOTHING);

    step->op.name = name;
    step->op.value = value;
}

void script_want_memory(struct script *script, enum core_op_kind kind, uint32_t address,
                        uint32_t value, enum script_then then)
{
    struct script_step *step = script_want(script, kind, then);

    step->op.address = address;
    step->op.bytes = CORE_WORD_BYTES;
    step->op.value = value;
    step->subject = value;
}
