/*
 * terminal.h - what shows the tool's words: how wide it is, and what it understands.
 *
 * Standard output and standard error of the tool fold their lines by themselves (fold.h), so who
 * prints a message, a table or a help thinks of no width. What programs print and data for other
 * programs do not pass here: they are written to descriptors.
 *
 * A terminal is as wide as it says, or as COLUMNS says if that is less. What is none is as wide as
 * COLUMNS says, or 100 columns. On a terminal "ecube:" is coloured at the beginning of a message,
 * unless NO_COLOR is set or TERM is dumb.
 *
 * Units    columns
 * Errors   of a standard stream, as usual: ferror(stdout)
 * Source   no-color.org; console_codes(4), ECMA-48; ioctl_tty(2), TIOCGWINSZ
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Room in a line of what shows this descriptor, now. */
unsigned terminal_columns(int fd);

/* How many lines it shows, now; 0: it is no terminal, or does not say. */
unsigned terminal_lines(int fd);

/* Whether it is a terminal on which a line can be drawn anew. */
bool terminal_redraws(int fd);

/* Makes stdout and stderr fold their lines, and argp keep to their width. Once, at first. */
void terminal_begin(void);

/* Writes text, one or more lines, as fits a descriptor. */
void terminal_write(FILE *file, int fd, const char *text, size_t bytes);

/* Writes all, also to a stream that others have made non-blocking. Returns 0 or errno. */
int terminal_put(int fd, const void *data, size_t bytes);

/* A line that says how far something has come, in place of the one before it. It is no wider than
 * the terminal, and the cursor stays at its beginning: so the next one, or `terminal_clear`, takes
 * its place even if the terminal has since become narrower and shows it in two lines. */
enum { TERMINAL_LINE_MAX = 256 };
void terminal_progress(char line[TERMINAL_LINE_MAX], int fd, const char *phase, uint64_t done,
                       uint64_t total, const char *unit);
/* The same with a bar for `done` of `total`, and words of one's own: the longer ones if they leave
 * room for the bar. */
void terminal_bar(char line[TERMINAL_LINE_MAX], int fd, const char *phase, uint64_t done,
                  uint64_t total, const char *longer, const char *shorter);
void terminal_note(char line[TERMINAL_LINE_MAX], int fd, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

extern const char terminal_clear[], terminal_clear_all[];
