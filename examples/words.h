/*
 * words.h - the words that a program has been given: numbers, and what is said of others.
 *
 * All ranks have the same words, so all of them come to the same end: rank 0 says why, in one line
 * that begins with the program's name, and ends the run with status 2.
 */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/ecube/ecube.h"

__attribute__((noreturn, format(printf, 2, 0))) static inline void words_refuse_list(
    const char *program, const char *format, va_list arguments)
{
    if (ecube_rank() == 0) {
        fprintf(stderr, "%s: ", program);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        ecube_abort(2);
    }
    ecube_barrier(); /* until rank 0 has ended the run */
    exit(2);
}

__attribute__((noreturn, format(printf, 2, 3))) static inline void words_refuse(const char *program,
                                                                                const char *format,
                                                                                ...)
{
    va_list arguments;

    va_start(arguments, format);
    words_refuse_list(program, format, arguments);
}

/* A word as a number from `least` to `most`. */
static inline long words_read(const char *program, const char *word, long least, long most)
{
    char *end;

    errno = 0;
    long value = strtol(word, &end, 10);
    if (*end || end == word || errno || value < least || value > most) {
        words_refuse(program, "'%s' is no number from %ld to %ld", word, least, most);
    }
    return value;
}

/* The argument of an index in the same way; `usual` if there is none. */
static inline long words_number(const char *program, int argc, char **argv, int index, long usual,
                                long least, long most)
{
    return argc > index ? words_read(program, argv[index], least, most) : usual;
}

/* The same, and a power of two. */
static inline long words_power_of_two(const char *program, int argc, char **argv, int index,
                                      long usual, long most)
{
    long value = words_number(program, argc, argv, index, usual, 1, most);

    if ((value & (value - 1)) != 0) {
        words_refuse(program, "'%s' is no power of two", argv[index]);
    }
    return value;
}

/* Refuses words behind the last one that is known. */
static inline void words_end(const char *program, int argc, char **argv, int count)
{
    if (argc > count) {
        words_refuse(program, "there is nothing to do with '%s'", argv[count]);
    }
}
