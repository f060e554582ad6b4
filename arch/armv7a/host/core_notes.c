#include "arch/armv7a/host/core_notes.h"

#include <stdio.h>

#include "arch/armv7a/host/processor.h"
#include "drivers/check.h"

enum { STATUS_REGISTERS_AT = 72, WORD_BYTES = 4, DOUBLE_BYTES = 8, DOUBLES = 32 };

const struct core_note core_notes[CORE_NOTES] = {
    [CORE_STATUS] = {"CORE", NT_PRSTATUS, 148},
    [CORE_VFP] = {"LINUX", NT_ARM_VFP, DOUBLES *DOUBLE_BYTES + WORD_BYTES},
};

bool core_note_register(enum core_note_kind kind, unsigned i, struct core_register *out)
{
    if (kind == CORE_STATUS) {
        if (i >= PROCESSOR_NAMES) {
            return false;
        }
        out->at = STATUS_REGISTERS_AT + i * WORD_BYTES;
        out->bytes = WORD_BYTES;
        snprintf(out->name, sizeof out->name, "%s", processor_names[i]);
        return true;
    }
    out->at = i * DOUBLE_BYTES;
    out->bytes = i < DOUBLES ? DOUBLE_BYTES : WORD_BYTES;
    if (i < DOUBLES) {
        snprintf(out->name, sizeof out->name, "d%u", i);
    } else {
        snprintf(out->name, sizeof out->name, "fpscr");
    }
    return i <= DOUBLES;
}

uint32_t core_description(char text[CORE_DESCRIPTION_MAX])
{
    size_t room = CORE_DESCRIPTION_MAX, used;

    used = (size_t)snprintf(text, room,
                            "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
                            "<target><architecture>arm</architecture>"
                            "<feature name=\"org.gnu.gdb.arm.core\">");
    for (unsigned i = 0; i < PROCESSOR_NAMES; i++) {
        const char *type = i == PROCESSOR_SP   ? "data_ptr"
                           : i == PROCESSOR_PC ? "code_ptr"
                                               : "uint32";

        used += (size_t)snprintf(text + used, room - used,
                                 "<reg name=\"%s\" bitsize=\"32\" type=\"%s\"/>",
                                 processor_names[i], type);
    }
    used += (size_t)snprintf(text + used, room - used,
                             "</feature><feature name=\"org.gnu.gdb.arm.vfp\">");
    for (unsigned i = 0; i < DOUBLES; i++) {
        used += (size_t)snprintf(text + used, room - used,
                                 "<reg name=\"d%u\" bitsize=\"64\" type=\"ieee_double\"/>", i);
    }
    used += (size_t)snprintf(text + used, room - used,
                             "<reg name=\"fpscr\" bitsize=\"32\" type=\"int\" group=\"float\"/>"
                             "</feature></target>");
    CHECK(used < room);
    return (uint32_t)used + 1;
}
