/*
 * arguments.c - a va_list of given words, as if no register had held an argument.
 *
 * Source   System V ABI, AMD64 Architecture Processor Supplement, 3.5.7 (va_list)
 */
#include <string.h>

#include "lib/newlib/arguments.h"

/* Offsets at the end of the area of registers: nothing is left there. */
enum { GENERAL_END = 6 * 8, FLOATING_END = 6 * 8 + 8 * 16 };

struct layout {
    unsigned general_offset, floating_offset;
    const void *on_stack, *in_registers;
};

_Static_assert(sizeof(va_list) == sizeof(struct layout), "its layout");

void ecube_arguments_on_stack(struct arguments *arguments, const void *words)
{
    struct layout layout = {
        .general_offset = GENERAL_END, .floating_offset = FLOATING_END, .on_stack = words};

    memcpy(&arguments->list, &layout, sizeof layout);
}
