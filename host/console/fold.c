/*
 * fold.c - breaks one line into rows of a terminal.
 *
 * Rows below the first are indented to where the text of the first begins: behind "ecube: ", behind
 * a label and its two spaces, or at FOLD_HANG, a mark that is not printed. A comma in the right
 * half of a row is a better place to break than the last space.
 */
#include "host/console/fold.h"

#include <stdbool.h>
#include <string.h>

enum {
    INDENT = 4,
    LABEL_MAX = 24, /* what is behind more is a table's second column, and no label's words */
    WORDS_MIN = 24
};

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

static unsigned width(const char *text, size_t bytes)
{
    unsigned columns = 0;

    for (size_t i = 0; i < bytes; i++) {
        columns += begins_character(text[i]) && text[i] != FOLD_HANG;
    }
    return columns;
}

size_t fold_name(const char *text, size_t bytes)
{
    static const char name[] = "ecube";
    size_t at = sizeof name - 1;

    if (bytes < at || memcmp(text, name, at) != 0) {
        return 0;
    }
    while (at < bytes &&
           (text[at] == ' ' || text[at] == '-' || (text[at] >= 'a' && text[at] <= 'z'))) {
        at++;
    }
    return at + 1 < bytes && text[at] == ':' && text[at + 1] == ' ' ? at + 1 : 0;
}

/* The columns by which the lines below are indented. */
static unsigned margin_of(const char *text, size_t bytes, unsigned columns)
{
    const char *mark = memchr(text, FOLD_HANG, bytes);
    size_t lead = 0, at;
    unsigned margin;

    while (lead < bytes && text[lead] == ' ') {
        lead++;
    }
    margin = (unsigned)lead + INDENT;
    if (mark) {
        margin = width(text, (size_t)(mark - text));
        return margin + WORDS_MIN <= columns ? margin : INDENT;
    }
    if (fold_name(text, bytes) > 0) {
        margin = (unsigned)strlen("ecube: ");
    } else {
        for (at = lead; at + 1 < bytes && !(text[at] == ' ' && text[at + 1] == ' '); at++) {
        }
        while (at < bytes && text[at] == ' ') {
            at++;
        }
        margin = at < bytes && at <= LABEL_MAX ? width(text, at) : margin;
    }
    return margin <= columns / 2 ? margin : INDENT;
}

/* How many bytes of the text go on this line, which has so many columns left. */
static size_t bytes_of_line(const char *text, size_t bytes, unsigned columns)
{
    unsigned column = 0;
    size_t last = 0, comma = 0, at;

    for (at = 0; at < bytes && column <= columns; at++) {
        if (text[at] == ' ' && at > 0 && text[at - 1] != ' ') {
            last = at;
            comma = text[at - 1] == ',' && column >= columns / 2 ? at : comma;
        }
        column += begins_character(text[at]) && text[at] != FOLD_HANG;
    }
    if (column <= columns) {
        return bytes;
    }
    /* A word that is wider than a row (a path) stays whole, so that it can be copied. */
    if (comma > 0) {
        return comma;
    }
    if (last > 0) {
        return last;
    }
    while (at < bytes && text[at] != ' ') {
        at++;
    }
    return at;
}

static void write_words(FILE *file, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] != FOLD_HANG) {
            fputc(text[i], file);
        }
    }
    fputc('\n', file);
}

void fold_line(FILE *file, const char *text, size_t bytes, unsigned columns)
{
    unsigned margin = margin_of(text, bytes, columns), indent = 0;

    for (;;) {
        size_t lead = 0, part;

        while (indent == 0 && lead < bytes && text[lead] == ' ') { /* of the first line: its own */
            lead++;
        }
        part = lead + bytes_of_line(text + lead, bytes - lead, columns - indent - (unsigned)lead);
        fprintf(file, "%*s", (int)indent, "");
        write_words(file, text, part);
        text += part;
        bytes -= part;
        while (bytes > 0 && *text == ' ') {
            text++;
            bytes--;
        }
        if (bytes == 0) {
            return;
        }
        indent = margin;
    }
}
