/*
 * format.c - printf and scanf with what the C library is built without: C99's length modifiers z,
 * t, j and hh, wide characters, %F and %a.
 *
 * It prints "zu" and takes wrong arguments from there on; it takes hh for h, and scanf then writes
 * a byte behind the one it is given. The linker puts these functions in front of the library's own
 * (--wrap in ecube-cc); they hand it a format that it knows, and arguments that go with it:
 *
 *   "%5zu of %jd, %hhu, %ls"  becomes  "%5lu of %lld, %u, %s"
 *
 * size_t and ptrdiff_t are as wide as long, intmax_t as long long. What hh prints is cut to a
 * byte; what hh reads, and %hhn, goes through a short. Wide characters become UTF-8; scanf does not
 * know them. %F is %f, but INF and NAN, which %E prints so. %a, a double in hexadecimal, is printed
 * like %e and read like %f: the value in decimal.
 *
 * Source   C11, 7.21.6.1 and 7.21.6.2; ld manual, --wrap; RFC 3629 (UTF-8)
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lib/newlib/arguments.h"

_Static_assert(sizeof(size_t) == sizeof(long) && sizeof(ptrdiff_t) == sizeof(long),
               "z and t become l");
_Static_assert(sizeof(intmax_t) == sizeof(long long), "j becomes ll");
_Static_assert(sizeof(void *) == sizeof(long), "a pointer takes a word");
_Static_assert(sizeof(long double) == sizeof(double), "L is left out");

enum {
    /* Width, precision, a gap before a value of two words, and that. */
    WORDS_PER_CONVERSION = 5,
    UTF8_MAX = 4,
    UNTOUCHED = SHRT_MIN /* no byte that has been read */
};

enum length { LENGTH_INT, LENGTH_BYTE, LENGTH_SHORT, LENGTH_LONG, LENGTH_WIDE };

/* A conversion as the program wrote it: %, options, length, letter. */
struct conversion {
    const char *options;
    size_t option_bytes;
    enum length length;
    char letter;
    bool known; /* to the C library */
    const char *end;
};

/* A byte of the program's that the library writes as a short. */
struct byte_target {
    signed char *to;
    short value;
};

/* What the library is handed instead; all in one piece of memory but the texts. */
struct rewrite {
    unsigned long *values; /* as they would lie on the stack */
    size_t value_count;
    struct byte_target *bytes;
    size_t byte_count;
    char **texts;
    size_t text_count;
    char *format;
    size_t format_bytes;
    bool failed; /* no memory */
};

/* The library's printf is _vfprintf_r on a file and _svfprintf_r on a string, and with an i where
 * the compiler or the program asks for one without floating point; scanf likewise. */
typedef int format_function(struct _reent *library, FILE *file, const char *format, va_list values);

format_function __real__vfprintf_r, __wrap__vfprintf_r;
format_function __real__vfiprintf_r, __wrap__vfiprintf_r;
format_function __real__svfprintf_r, __wrap__svfprintf_r;
format_function __real__svfiprintf_r, __wrap__svfiprintf_r;
format_function __real___svfscanf_r, __wrap___svfscanf_r;
format_function __real___ssvfscanf_r, __wrap___ssvfscanf_r;
int __wrap_vfprintf(FILE *file, const char *format, va_list values);

static bool is_integer(char letter)
{
    return letter != '\0' && strchr("diouxX", letter) != NULL;
}

static bool is_real(char letter)
{
    return letter != '\0' && strchr("fFeEgGaA", letter) != NULL;
}

/* Behind the length, which may be any of hh, h, l, ll, q, L, j, z, t. */
static const char *parse_length(const char *at, struct conversion *conversion)
{
    bool twice = (*at == 'h' || *at == 'l') && at[1] == *at;

    conversion->length = LENGTH_INT;
    conversion->known = true;
    switch (*at) {
    case 'h':
        conversion->length = twice ? LENGTH_BYTE : LENGTH_SHORT;
        conversion->known = !twice;
        break;
    case 'l': conversion->length = twice ? LENGTH_WIDE : LENGTH_LONG; break;
    case 'q':
    case 'L': conversion->length = LENGTH_WIDE; break;
    case 'j':
        conversion->length = LENGTH_WIDE;
        conversion->known = false;
        break;
    case 'z':
    case 't':
        conversion->length = LENGTH_LONG;
        conversion->known = false;
        break;
    default: return at;
    }
    return at + 1 + twice;
}

/* The set of characters of a scanf's %[: behind its bracket, which may be the set's first. */
static const char *skip_set(const char *at)
{
    at += *at == '^';
    at += *at == ']';
    at += strcspn(at, "]");
    return at + (*at == ']');
}

/* Reads the conversion behind a percent sign. */
static struct conversion parse(const char *at, bool scan)
{
    struct conversion conversion = {.options = at, .option_bytes = strspn(at, "-+ #0'123456789.*")};

    at = parse_length(at + conversion.option_bytes, &conversion);
    conversion.letter = *at;
    at += *at != '\0';
    if (scan && conversion.letter == '[') {
        at = skip_set(at);
    }
    if (!scan && (conversion.letter == 'S' || conversion.letter == 'C')) {
        conversion.letter = conversion.letter == 'S' ? 's' : 'c';
        conversion.length = LENGTH_LONG;
    }
    if (is_real(conversion.letter) && strchr("FaA", conversion.letter) != NULL) {
        conversion.known = false;
    }
    if (!scan && conversion.length == LENGTH_LONG &&
        (conversion.letter == 's' || conversion.letter == 'c')) {
        conversion.known = false;
    }
    conversion.end = at;
    return conversion;
}

static bool is_known(const char *format, bool scan)
{
    while ((format = strchr(format, '%')) != NULL) {
        struct conversion conversion = parse(format + 1, scan);

        if (!conversion.known) {
            return false;
        }
        format = conversion.end;
    }
    return true;
}

static void put_text(struct rewrite *rewrite, const char *text, size_t bytes)
{
    memcpy(rewrite->format + rewrite->format_bytes, text, bytes);
    rewrite->format_bytes += bytes;
}

static void put_value(struct rewrite *rewrite, unsigned long value)
{
    rewrite->values[rewrite->value_count++] = value;
}

/* Values of eight bytes are aligned to that. */
static void put_wide_value(struct rewrite *rewrite, uint64_t value)
{
    enum { WORDS = sizeof value / sizeof *rewrite->values };

    if (rewrite->value_count % WORDS) {
        put_value(rewrite, 0);
    }
    memcpy(&rewrite->values[rewrite->value_count], &value, sizeof value);
    rewrite->value_count += WORDS;
}

/* Puts the address of a short in the place of that of a byte. */
static void put_byte_target(struct rewrite *rewrite, signed char *to)
{
    struct byte_target *target = &rewrite->bytes[rewrite->byte_count++];

    *target = (struct byte_target){.to = to, .value = UNTOUCHED};
    put_value(rewrite, (unsigned long)&target->value);
}

/* One character in UTF-8, a question mark for what is none; its bytes. */
static size_t encode(char to[UTF8_MAX], wchar_t wide)
{
    uint32_t code = (uint32_t)wide;

    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        code = '?';
    }
    size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = bytes - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    to[0] = (char)(bytes == 1 ? code : (0xf00u >> bytes & 0xff) | code);
    return bytes;
}

/* A wide string, as many whole characters as bytes_max has room for, in UTF-8. */
static char *make_text(const wchar_t *wide, size_t bytes_max)
{
    size_t bytes = 0, more, i;
    char last[UTF8_MAX];

    for (i = 0; bytes < bytes_max && wide[i] != 0; i++) {
        more = encode(last, wide[i]);
        if (more > bytes_max - bytes) {
            break;
        }
        bytes += more;
    }
    char *text = malloc(bytes + 1);
    if (text) {
        text[bytes] = '\0';
        for (size_t at = 0, k = 0; k < i; k++) {
            more = encode(last, wide[k]);
            memcpy(text + at, last, more);
            at += more;
        }
    }
    return text;
}

static void put_wide_text(struct rewrite *rewrite, const wchar_t *wide, size_t bytes_max)
{
    char *text = wide ? make_text(wide, bytes_max) : NULL;

    rewrite->texts[rewrite->text_count++] = text;
    rewrite->failed |= wide && !text;
    put_text(rewrite, "s", 1);
    put_value(rewrite, (unsigned long)text);
}

/* The values of *; the precision, SIZE_MAX when there is none. */
static size_t put_options(struct rewrite *rewrite, const struct conversion *conversion,
                          va_list *values)
{
    size_t precision = SIZE_MAX;

    for (size_t i = 0; i < conversion->option_bytes; i++) {
        const char *option = conversion->options + i;
        int value = *option == '*' ? va_arg(*values, int) : 0;
        if (*option == '*') {
            put_value(rewrite, (unsigned)value);
        }
        if (*option == '.') {
            precision = strtoul(option + 1, NULL, 10);
        } else if (*option == '*' && i > 0 && option[-1] == '.') {
            precision = value < 0 ? SIZE_MAX : (size_t)value;
        }
    }
    put_text(rewrite, conversion->options, conversion->option_bytes);
    return precision;
}

static void put_integer(struct rewrite *rewrite, const struct conversion *conversion,
                        va_list *values)
{
    bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';

    if (conversion->length == LENGTH_WIDE) {
        put_text(rewrite, "ll", 2);
        put_wide_value(rewrite, va_arg(*values, unsigned long long));
    } else if (conversion->length == LENGTH_LONG) {
        put_text(rewrite, "l", 1);
        put_value(rewrite, va_arg(*values, unsigned long));
    } else {
        unsigned value = va_arg(*values, unsigned);
        if (conversion->length == LENGTH_BYTE) {
            value = is_signed ? (unsigned)(signed char)value : (uint8_t)value;
        } else if (conversion->length == LENGTH_SHORT) {
            put_text(rewrite, "h", 1);
        }
        put_value(rewrite, value);
    }
    put_text(rewrite, &conversion->letter, 1);
}

/* The place that a scanf's conversion, or %n, writes to. */
static void put_pointer(struct rewrite *rewrite, const struct conversion *conversion,
                        va_list *values)
{
    static const char *const texts[] = {"", "h", "h", "l", "ll"};
    const char *text = texts[conversion->length];
    void *to = va_arg(*values, void *);

    put_text(rewrite, text, strlen(text));
    if (conversion->length == LENGTH_BYTE &&
        (is_integer(conversion->letter) || conversion->letter == 'n')) {
        put_byte_target(rewrite, to);
    } else {
        put_value(rewrite, (unsigned long)to);
    }
}

/* The letter that the library knows for a value's. */
static char real_letter(char letter, double value)
{
    switch (letter) {
    case 'a': return 'e';
    case 'A': return 'E';
    case 'F': return isfinite(value) ? 'f' : 'E';
    default: return letter;
    }
}

static void rewrite_print(struct rewrite *rewrite, const struct conversion *conversion,
                          va_list *values)
{
    char letter = conversion->letter;
    size_t precision = put_options(rewrite, conversion, values);

    if (is_integer(letter)) {
        put_integer(rewrite, conversion, values);
    } else if (is_real(letter)) {
        double value = va_arg(*values, double);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        put_wide_value(rewrite, bits);
        letter = real_letter(letter, value);
        put_text(rewrite, &letter, 1);
    } else if (letter == 's' && conversion->length == LENGTH_LONG) {
        put_wide_text(rewrite, va_arg(*values, const wchar_t *), precision);
    } else if (letter == 'c' && conversion->length == LENGTH_LONG) {
        wchar_t wide[] = {(wchar_t)va_arg(*values, wint_t), 0};
        if ((uint32_t)wide[0] < 0x80) {
            put_value(rewrite, (unsigned)wide[0]);
            put_text(rewrite, "c", 1);
        } else {
            put_wide_text(rewrite, wide, SIZE_MAX);
        }
    } else if (letter == 'n') {
        put_pointer(rewrite, conversion, values);
        put_text(rewrite, "n", 1);
    } else {
        if (letter == 's' || letter == 'c' || letter == 'p') {
            put_value(rewrite, va_arg(*values, unsigned long));
        }
        put_text(rewrite, &letter, letter != '\0');
    }
}

static void rewrite_scan(struct rewrite *rewrite, const struct conversion *conversion,
                         va_list *values)
{
    const char *letters = conversion->end - 1;
    size_t bytes = conversion->letter != '\0';

    put_text(rewrite, conversion->options, conversion->option_bytes);
    if (is_real(conversion->letter)) {
        letters = "f";                      /* they all read the same */
    } else if (conversion->letter == '[') { /* the whole set */
        letters = conversion->options + strcspn(conversion->options, "[");
        bytes = (size_t)(conversion->end - letters);
    }
    if (conversion->letter != '%' && conversion->letter != '\0' &&
        !memchr(conversion->options, '*', conversion->option_bytes)) {
        put_pointer(rewrite, conversion, values);
    }
    put_text(rewrite, letters, bytes);
}

/* Room for everything that a format with so many conversions may need; NULL when there is none. */
static void *make_room(struct rewrite *rewrite, const char *format)
{
    size_t count = 0;

    for (const char *at = format; (at = strchr(at, '%')) != NULL; at++) {
        count++;
    }
    size_t values_bytes = count * WORDS_PER_CONVERSION * sizeof *rewrite->values;
    size_t bytes_bytes = count * sizeof *rewrite->bytes;
    size_t texts_bytes = count * sizeof *rewrite->texts;
    char *room = malloc(values_bytes + bytes_bytes + texts_bytes + 2 * strlen(format) + 1);
    if (room) {
        *rewrite = (struct rewrite){.values = (void *)room,
                                    .bytes = (void *)(room + values_bytes),
                                    .texts = (void *)(room + values_bytes + bytes_bytes),
                                    .format = room + values_bytes + bytes_bytes + texts_bytes};
    }
    return room;
}

static void rewrite_all(struct rewrite *rewrite, const char *format, va_list *values, bool scan)
{
    const char *percent;

    while ((percent = strchr(format, '%')) != NULL) {
        struct conversion conversion = parse(percent + 1, scan);
        put_text(rewrite, format, (size_t)(percent + 1 - format));
        (scan ? rewrite_scan : rewrite_print)(rewrite, &conversion, values);
        format = conversion.end;
    }
    put_text(rewrite, format, strlen(format) + 1);
}

/* Stores the bytes that the library has written as shorts. */
static void store_bytes(const struct rewrite *rewrite)
{
    for (size_t i = 0; i < rewrite->byte_count; i++) {
        if (rewrite->bytes[i].value != UNTOUCHED) {
            *rewrite->bytes[i].to = (signed char)rewrite->bytes[i].value;
        }
    }
}

static int translated(format_function *real, struct _reent *library, FILE *file, const char *format,
                      va_list values, bool scan)
{
    struct rewrite rewrite;
    void *room;
    int done = EOF;

    if (is_known(format, scan)) {
        return real(library, file, format, values);
    }
    room = make_room(&rewrite, format);
    if (room) {
        va_list read;
        struct arguments rewritten;
        va_copy(read, values); /* which `values` may be the address of */
        rewrite_all(&rewrite, format, &read, scan);
        va_end(read);
        ecube_arguments_on_stack(&rewritten, rewrite.values);
        if (!rewrite.failed) {
            done = real(library, file, rewrite.format, rewritten.list);
            store_bytes(&rewrite);
        }
        for (size_t i = 0; i < rewrite.text_count; i++) {
            free(rewrite.texts[i]);
        }
    }
    if (!room || rewrite.failed) {
        errno = ENOMEM;
    }
    free(room);
    return done;
}

int __wrap__vfprintf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real__vfprintf_r, library, file, format, values, false);
}

int __wrap__vfiprintf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real__vfiprintf_r, library, file, format, values, false);
}

int __wrap__svfprintf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real__svfprintf_r, library, file, format, values, false);
}

int __wrap__svfiprintf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real__svfiprintf_r, library, file, format, values, false);
}

int __wrap___svfscanf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real___svfscanf_r, library, file, format, values, true);
}

int __wrap___ssvfscanf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real___ssvfscanf_r, library, file, format, values, true);
}

/* The library's own calls _vfprintf_r inside its object, where nothing can be put in front. */
int __wrap_vfprintf(FILE *file, const char *format, va_list values)
{
    return __wrap__vfprintf_r(_REENT, file, format, values);
}
