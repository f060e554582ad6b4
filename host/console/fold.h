/*
 * fold.h - a line of words that is wider than there is room goes on in lines below it, indented.
 *
 *     ecube: node 3 (rank 3): data abort at address 0x00000000 (null pointer) in memset,
 *            called from clear (squares.c:12), called from main (squares.c:20)
 *
 * Lines hang where their words begin: behind FOLD_HANG, which is not shown; else behind "ecube:"
 * or another word with two or more spaces after it; else four columns to the right of the line's
 * beginning. A line is broken at a space, in its second half behind a comma if there is one. A word
 * that is wider than the room, a path for example, stays whole.
 *
 * Units    columns; a character of UTF-8 takes one
 * Errors   none
 * Context  any; pure, but for what is written to the file
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum { FOLD_HANG = '\v' };

/* The bytes of "ecube:" or "ecube run:" at the beginning of a message; 0: it does not begin so. */
size_t fold_name(const char *text, size_t bytes);

/* Writes a line, of so many bytes without its end, as lines of at most so many columns, each with
 * its end. */
void fold_line(FILE *file, const char *text, size_t bytes, unsigned columns);
