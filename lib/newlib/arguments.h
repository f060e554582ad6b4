/*
 * arguments.h - the arguments of a function that takes any, made anew: a va_list of words as they
 * would lie on the stack.
 *
 * Context  node programs; each processor has its own (library/arguments.c)
 */
#pragma once

#include <stdarg.h>

struct arguments {
    va_list list;
};

/* The words must stay while the list is read. A value of eight bytes is aligned to that. */
void ecube_arguments_on_stack(struct arguments *arguments, const void *words);
