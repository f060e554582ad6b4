/*
 * arguments.c - a va_list of given words: on this processor it points to them.
 *
 * Source   Procedure Call Standard for the Arm Architecture: 6.5 (arguments on the stack), 8.1.4
 *          (va_list)
 */
#include <string.h>

#include "lib/newlib/arguments.h"

_Static_assert(sizeof(va_list) == sizeof(void *), "a va_list points to arguments");

void ecube_arguments_on_stack(struct arguments *arguments, const void *words)
{
    memcpy(&arguments->list, &words, sizeof words);
}
