/*
 * argv.h - the words of a command, one after the other, with the memory they lie in.
 *
 * Errors   none: CHECK that they have room
 */
#pragma once

enum { ARGV_WORDS_MAX = 96, ARGV_TEXT_MAX = 6000 };

/* All zero: no words yet. */
struct argv {
    char *words[ARGV_WORDS_MAX]; /* NULL ends them */
    unsigned count;
    char text[ARGV_TEXT_MAX];
    unsigned text_bytes;
};

/* Adds one word. */
__attribute__((format(printf, 2, 3))) void argv_add(struct argv *argv, const char *format, ...);
