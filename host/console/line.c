#include "host/console/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/ecube/abi.h"

enum { UTF8_BYTES_MAX = 4, HEX_DIGITS = 2 };

/* How many bytes the character at the front takes, and its code point; 0: that is no UTF-8. */
static size_t character(const char *text, size_t bytes, uint32_t *code)
{
    static const uint32_t least[UTF8_BYTES_MAX + 1] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t)text[0];
    size_t length = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    if (length == 0 || length > bytes || first >= 0xf8) {
        return 0;
    }
    *code = length == 1 ? first : first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (((uint8_t)text[i] & 0xc0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | ((uint8_t)text[i] & 0x3f);
    }
    return *code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)
               ? 0
               : length;
}

bool line_is_text(const char *bytes, size_t count)
{
    uint32_t code;

    for (size_t at = 0, length; at < count; at += length) {
        length = character(bytes + at, count - at, &code);
        if (length == 0 || code == 0) {
            return false;
        }
    }
    return true;
}

/* Characters that move what follows: C0 and C1 controls, ends of lines and changes of direction. */
static bool moves(uint32_t code)
{
    return (code < 0x20 && code != '\t') || (code >= 0x7f && code < 0xa0) ||
           (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

void line_write_shown(FILE *file, const char *bytes, size_t count)
{
    for (size_t at = 0; at < count;) {
        uint32_t code;
        size_t length = character(bytes + at, count - at, &code);

        if (length > 0 && !moves(code)) {
            fwrite(bytes + at, 1, length, file);
            at += length;
            continue;
        }
        for (size_t end = at + (length ? length : 1); at < end; at++) {
            fprintf(file, "\\x%02x", (uint8_t)bytes[at]);
        }
    }
}

static json_t *to_hex(const char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(count * HEX_DIGITS + 1);
    json_t *string;

    if (!text) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        text[HEX_DIGITS * i] = digits[(uint8_t)bytes[i] >> 4];
        text[HEX_DIGITS * i + 1] = digits[bytes[i] & 0xf];
    }
    string = json_stringn_nocheck(text, count * HEX_DIGITS);
    free(text);
    return string;
}

json_t *line_to_json(const struct line *line)
{
    bool is_text = line_is_text(line->text, line->bytes);
    json_t *text =
        is_text ? json_stringn_nocheck(line->text, line->bytes) : to_hex(line->text, line->bytes);

    return json_pack("{s:s, s:i, s:s, s:o}", "event", "console", "rank", (int)line->rank, "stream",
                     line->stream == ECUBE_STREAM_ERROR ? "error" : "output",
                     is_text ? "text" : "hex", text);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *from_hex(const char *text, size_t count)
{
    char *bytes = count % HEX_DIGITS == 0 ? malloc(count / HEX_DIGITS + 1) : NULL;

    for (size_t i = 0; bytes && i < count / HEX_DIGITS; i++) {
        int high = digit(text[HEX_DIGITS * i]), low = digit(text[HEX_DIGITS * i + 1]);

        if (high < 0 || low < 0) {
            free(bytes);
            return NULL;
        }
        bytes[i] = (char)(high << 4 | low);
    }
    return bytes;
}

bool line_from_json(struct line *line, const json_t *event, char **memory)
{
    const json_t *text = json_object_get(event, "text"), *hex = json_object_get(event, "hex");
    const char *stream = json_string_value(json_object_get(event, "stream"));

    *memory = NULL;
    *line = (struct line){.rank = (uint32_t)json_integer_value(json_object_get(event, "rank")),
                          .stream = stream && strcmp(stream, "error") == 0 ? ECUBE_STREAM_ERROR
                                                                           : ECUBE_STREAM_OUTPUT};
    if (json_is_string(text)) {
        line->text = json_string_value(text);
        line->bytes = json_string_length(text);
    } else if (json_is_string(hex)) {
        *memory = from_hex(json_string_value(hex), json_string_length(hex));
        line->text = *memory;
        line->bytes = json_string_length(hex) / HEX_DIGITS;
    }
    return line->text != NULL;
}
