/*
 * description.h - the registers that the emulator's target description names: their numbers, sizes.
 *
 * The description is a file "target.xml", which names more files; each is fed as it comes, in the
 * order in which they are named. Registers are numbered on from one file to the next.
 *
 *     <xi:include href="arm-core.xml"/>
 *     <reg name="cpsr" bitsize="32" regnum="25"/>
 *     <reg name="SCTLR" bitsize="32" group="cp_regs"/>
 *
 * Errors   what is too much, or malformed, is left out
 * Context  any; pure
 * Source   GDB manual, appendix G; QEMU 7.2 target/arm/gdbstub.c, gdb-xml/
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DESCRIPTION_REGISTERS_MAX = 400,
    DESCRIPTION_FILES_MAX = 8,
    DESCRIPTION_NAME_MAX = 24,
    DESCRIPTION_FILE_NAME_MAX = 48,
    DESCRIPTION_ELEMENT_MAX = 256
};

struct description_register {
    char name[DESCRIPTION_NAME_MAX];
    uint16_t number;
    uint16_t bits;
    bool system; /* the emulator says OK when it is written, and leaves it as it is */
};

/* Start from zeros. */
struct description {
    unsigned register_count, file_count, next_number;
    unsigned element_bytes; /* of an element that has begun, its first character included */
    char element[DESCRIPTION_ELEMENT_MAX];
    char files[DESCRIPTION_FILES_MAX][DESCRIPTION_FILE_NAME_MAX];
    struct description_register registers[DESCRIPTION_REGISTERS_MAX];
};

void description_feed(struct description *description, const char *text, size_t bytes);

/* The first register of that name; NULL: none. */
const struct description_register *description_find(const struct description *description,
                                                    const char *name);
