#include "host/report/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

enum { REAL_DIGITS = 12 };

static bool xml_has(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xd7ff) ||
           (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

/* The bytes of the character that a text begins with; 0: it begins with none that XML has. */
static size_t character(const uint8_t *text, size_t bytes)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t count = text[0] < 0x80             ? 1
                   : (text[0] & 0xe0) == 0xc0 ? 2
                   : (text[0] & 0xf0) == 0xe0 ? 3
                   : (text[0] & 0xf8) == 0xf0 ? 4
                                              : 0;
    uint32_t c = count == 1 ? text[0] : count ? text[0] & (0x7fU >> count) : 0;

    for (size_t i = 1; i < count; i++) {
        if (i >= bytes || (text[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | (text[i] & 0x3fU);
    }
    return count && c >= least[count] && xml_has(c) ? count : 0;
}

void escape_text(FILE *file, const char *text, size_t bytes)
{
    size_t count;

    for (size_t at = 0; at < bytes; at += count ? count : 1) {
        count = character((const uint8_t *)text + at, bytes - at);
        switch (count ? text[at] : 0) {
        case 0: fputs("\xef\xbf\xbd", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '&': fputs("&amp;", file); break;
        case '"': fputs("&quot;", file); break;
        default: fwrite(text + at, 1, count, file);
        }
    }
}

void escape_json(FILE *file, const json_t *value)
{
    char *text =
        json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(REAL_DIGITS));

    CHECK(text);
    /* These stand nowhere in JSON but in strings. */
    for (const char *p = text; *p; p++) {
        if (*p == '<' || *p == '>' || *p == '&') {
            fprintf(file, "\\u%04x", (unsigned)*p);
        } else {
            putc(*p, file);
        }
    }
    free(text);
}
