#include "host/plan/json_pull.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum { DEPTH_MAX = 32, WORDS_MAX = 400 };

void json_pull_open(struct json_pull *pull, FILE *file, const char *path, uint64_t bytes_max,
                    struct message *message)
{
    pull->file = file;
    pull->path = path;
    pull->message = message;
    pull->line = 1;
    pull->bytes = 0;
    pull->bytes_max = bytes_max;
    pull->at = pull->end = 0;
    pull->first = true;
    pull->text[0] = '\0';
    message->text[0] = '\0';
}

/* The first thing that is wrong is the one that is told. */
int json_pull_fail(struct json_pull *pull, const char *format, ...)
{
    char words[WORDS_MAX];
    va_list arguments;

    if (pull->message->text[0]) {
        return -1;
    }
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return message_set(pull->message, "%.60s, line %llu: %s", pull->path,
                       (unsigned long long)pull->line, words);
}

/* Fills the empty buffer; false: there is nothing more. */
static bool fill(struct json_pull *pull)
{
    if (pull->bytes >= pull->bytes_max) {
        json_pull_fail(pull, "the file has more than %llu bytes, which do not fit in memory",
                       (unsigned long long)pull->bytes_max);
        return false;
    }
    pull->at = 0;
    pull->end = fread(pull->buffer, 1, sizeof pull->buffer, pull->file);
    pull->bytes += pull->end;
    if (pull->end == 0 && ferror(pull->file)) {
        json_pull_fail(pull, "it cannot be read: %s", strerror(errno));
    }
    return pull->end > 0;
}

/* The next character, which stays; 0: none. */
static char look(struct json_pull *pull)
{
    if (pull->at == pull->end && !fill(pull)) {
        return '\0';
    }
    char c = pull->buffer[pull->at];
    if (c == '\0') {
        json_pull_fail(pull, "a zero byte is no JSON");
    }
    return c;
}

static void take(struct json_pull *pull)
{
    pull->line += pull->buffer[pull->at++] == '\n';
}

char json_pull_peek(struct json_pull *pull)
{
    char c = look(pull);

    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        take(pull);
        c = look(pull);
    }
    return c;
}

/* What stands where something else should. */
static int fail_at(struct json_pull *pull, const char *wanted)
{
    char c = json_pull_peek(pull);

    if (c == '\0') {
        return json_pull_fail(pull, "the file is cut off: %s should come", wanted);
    }
    if (isprint((unsigned char)c)) {
        return json_pull_fail(pull, "'%c' where %s should be", c, wanted);
    }
    return json_pull_fail(pull, "a byte of 0x%02x where %s should be", (unsigned char)c, wanted);
}

static int take_one(struct json_pull *pull, char wanted)
{
    char words[] = "' '";

    if (json_pull_peek(pull) != wanted) {
        words[1] = wanted;
        return fail_at(pull, words);
    }
    take(pull);
    return 0;
}

int json_pull_begin(struct json_pull *pull, char bracket)
{
    pull->first = true;
    return take_one(pull, bracket);
}

int json_pull_more(struct json_pull *pull, char bracket, bool *more)
{
    char c = json_pull_peek(pull);

    *more = c != bracket;
    if (c == bracket) {
        take(pull);
        pull->first = false; /* in what it stands in, something has been read */
        return 0;
    }
    if (!pull->first && c != ',') {
        return fail_at(pull, bracket == '}' ? "',' or '}'" : "',' or ']'");
    }
    if (!pull->first) {
        take(pull);
    }
    pull->first = false;
    return 0;
}

int json_pull_key(struct json_pull *pull)
{
    return json_pull_string(pull) != 0 || take_one(pull, ':') != 0 ? -1 : 0;
}

/* What stands behind a backslash; what is no ASCII becomes '?'. */
static int take_escape(struct json_pull *pull, char *c)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char name = look(pull);
    const char *known = name ? strchr(names, name) : NULL;
    unsigned value = 0;

    if (known) {
        *c = values[known - names];
        take(pull);
        return 0;
    }
    if (name != 'u') {
        return fail_at(pull, "an escape of JSON");
    }
    take(pull);
    for (unsigned i = 0; i < 4; i++) {
        char digit = look(pull);
        if (!isxdigit((unsigned char)digit)) {
            return fail_at(pull, "four hexadecimal digits");
        }
        value = value * 16 + (unsigned)(isdigit((unsigned char)digit)
                                            ? digit - '0'
                                            : tolower((unsigned char)digit) - 'a' + 10);
        take(pull);
    }
    *c = value > 0 && value < 0x80 ? (char)value : '?';
    return 0;
}

/* A text; of one that nobody wants to know only the end is looked for. */
static int take_text(struct json_pull *pull, bool wanted)
{
    size_t used = 0;

    if (json_pull_peek(pull) != '"') {
        return fail_at(pull, "a text");
    }
    take(pull);
    for (;;) {
        char c = look(pull);
        if (c == '\0') {
            return json_pull_fail(pull, "the file is cut off in a text");
        }
        if ((unsigned char)c < ' ') {
            return json_pull_fail(pull, "a text does not end in its line");
        }
        take(pull);
        if (c == '"') {
            break;
        }
        if (c == '\\' && take_escape(pull, &c) != 0) {
            return -1;
        }
        if (wanted && used + 1 == sizeof pull->text) {
            return json_pull_fail(pull, "a text of more than %d characters", JSON_TEXT_MAX - 1);
        }
        if (wanted) {
            pull->text[used++] = c < ' ' || c > '~' ? '?' : c; /* it goes to terminals */
        }
    }
    pull->text[used] = '\0';
    return 0;
}

int json_pull_string(struct json_pull *pull)
{
    return take_text(pull, true);
}

/* Digits; false: there is none, or they are more than `most`. */
static bool take_digits(struct json_pull *pull, uint64_t most, uint64_t *number)
{
    bool any = false, fits = true;

    *number = 0;
    for (char c = look(pull); isdigit((unsigned char)c); c = look(pull)) {
        unsigned digit = (unsigned)(c - '0');
        fits = fits && digit <= most && *number <= (most - digit) / 10;
        *number = fits ? *number * 10 + digit : *number;
        any = true;
        take(pull);
    }
    return any && fits;
}

int json_pull_number(struct json_pull *pull, uint64_t most, uint64_t *number)
{
    if (!isdigit((unsigned char)json_pull_peek(pull))) {
        return fail_at(pull, "a whole number");
    }
    if (!take_digits(pull, most, number)) {
        return json_pull_fail(pull, "a number of more than %llu", (unsigned long long)most);
    }
    char c = look(pull);
    return c == '.' || c == 'e' || c == 'E' ? fail_at(pull, "the end of a whole number") : 0;
}

int json_pull_thousandths(struct json_pull *pull, uint64_t *number)
{
    unsigned digits = 0;

    if (!isdigit((unsigned char)json_pull_peek(pull))) {
        return fail_at(pull, "a number");
    }
    if (!take_digits(pull, UINT64_MAX / 1000 - 1, number)) {
        return json_pull_fail(pull, "a number that is too large");
    }
    *number *= 1000;
    if (look(pull) != '.') {
        return 0;
    }
    take(pull);
    for (unsigned value = 100; isdigit((unsigned char)look(pull)); value /= 10, digits++) {
        unsigned digit = (unsigned)(look(pull) - '0');
        if (value == 0 && digit != 0) {
            return json_pull_fail(pull, "more than three digits behind the point");
        }
        *number += digit * value;
        take(pull);
    }
    return digits > 0 ? 0 : fail_at(pull, "a digit");
}

static int take_word(struct json_pull *pull, const char *word)
{
    json_pull_peek(pull);
    for (const char *c = word; *c; c++) {
        if (look(pull) != *c) {
            return fail_at(pull, word);
        }
        take(pull);
    }
    return 0;
}

int json_pull_truth(struct json_pull *pull, bool *truth)
{
    char c = json_pull_peek(pull);

    *truth = c == 't';
    return c == 't'   ? take_word(pull, "true")
           : c == 'f' ? take_word(pull, "false")
                      : fail_at(pull, "true or false");
}

int json_pull_null(struct json_pull *pull)
{
    return take_word(pull, "null");
}

/* A number of any form. */
static int skip_number(struct json_pull *pull)
{
    for (char c = look(pull); c && strchr("+-.0123456789eE", c); c = look(pull)) {
        take(pull);
    }
    return 0;
}

/* A value that is no object or array. */
static int skip_plain(struct json_pull *pull)
{
    bool truth;
    char c = json_pull_peek(pull);

    switch (c) {
    case '"': return take_text(pull, false);
    case 't':
    case 'f': return json_pull_truth(pull, &truth);
    case 'n': return json_pull_null(pull);
    default:
        return c == '-' || isdigit((unsigned char)c) ? skip_number(pull) : fail_at(pull, "a value");
    }
}

int json_pull_skip(struct json_pull *pull)
{
    char ends[DEPTH_MAX];
    unsigned depth = 0;

    for (;;) {
        char c = json_pull_peek(pull);
        bool more = true;
        if (c == '{' || c == '[') {
            if (depth == DEPTH_MAX) {
                return json_pull_fail(pull, "more than %d brackets in each other", DEPTH_MAX);
            }
            ends[depth++] = c == '{' ? '}' : ']';
            json_pull_begin(pull, c);
        } else if (skip_plain(pull) != 0) {
            return -1;
        }
        do {
            if (depth == 0) {
                return 0;
            }
            if (json_pull_more(pull, ends[depth - 1], &more) != 0) {
                return -1;
            }
            depth -= !more;
        } while (!more);
        if (ends[depth - 1] == '}' && json_pull_key(pull) != 0) {
            return -1;
        }
    }
}

int json_pull_end(struct json_pull *pull)
{
    if (json_pull_peek(pull) != '\0') {
        return fail_at(pull, "the end of the file");
    }
    return pull->message->text[0] ? -1 : 0;
}
