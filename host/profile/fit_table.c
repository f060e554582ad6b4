#include "host/profile/fit_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "host/computer/input_file.h"

enum { LINE_BYTES_MAX = 1000, ROWS_MAX = 1 << 20, COLUMNS = 3, HOPS_MAX = 65535 };

static const double time_max_ns = 1e15;
static const char between[] = ",; \t\r\n";

/* The table as it is read. */
struct reading {
    const char *path;
    FILE *file;
    unsigned line;
    double unit_ns;
    bool named; /* the line of names has been there */
    struct fit_table *table;
    struct message *message;
};

/* The words of a line, and how many there are; COLUMNS + 1: more. */
static unsigned split(char *text, char *words[COLUMNS])
{
    unsigned count = 0;
    char *rest, *word;

    text[strcspn(text, "#")] = '\0';
    for (word = strtok_r(text, between, &rest); word; word = strtok_r(NULL, between, &rest)) {
        if (count == COLUMNS) {
            return COLUMNS + 1;
        }
        words[count++] = word;
    }
    return count;
}

/* A line of names: it says the unit of time. */
static bool take_names(struct reading *r, char *const words[COLUMNS])
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

    if (r->named || r->table->count > 0 || strcmp(words[0], "bytes") != 0 ||
        strcmp(words[1], "hops") != 0) {
        return false;
    }
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(words[2], units[i].name) == 0) {
            r->unit_ns = units[i].ns;
            r->named = true;
            return true;
        }
    }
    return false;
}

static bool take_whole(const char *word, uint64_t low, uint64_t high, uint32_t *number)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    *number = (uint32_t)value;
    return *word >= '0' && *word <= '9' && *end == '\0' && errno == 0 && value >= low &&
           value <= high;
}

static bool take_time(const struct reading *r, const char *word, double *ns)
{
    char *end;
    double value = strtod(word, &end);

    *ns = value * r->unit_ns;
    return strspn(word, "0123456789.eE+-") == strlen(word) && end != word && *end == '\0' &&
           *ns > 0 && *ns <= time_max_ns;
}

static int wrong(const struct reading *r, const char *word, const char *use)
{
    return message_set(r->message, "%.300s, line %u: '%.40s': use %s", r->path, r->line, word, use);
}

static int take_row(struct reading *r, char *const words[COLUMNS])
{
    struct fit_table *table = r->table;
    struct fit_row row;

    if (take_names(r, words)) {
        return 0;
    }
    if (!take_whole(words[0], 0, UINT32_MAX, &row.bytes)) {
        return wrong(r, words[0], "bytes from 0 to 4294967295");
    }
    if (!take_whole(words[1], 1, HOPS_MAX, &row.hops)) {
        return wrong(r, words[1], "hops from 1 to 65535");
    }
    if (!take_time(r, words[2], &row.ns)) {
        return wrong(r, words[2], "a time above 0 of up to ten days, without its unit");
    }
    if (table->count == ROWS_MAX) {
        return message_set(r->message, "%.300s has more than %d rows", r->path, ROWS_MAX);
    }
    if ((table->count & (table->count - 1)) == 0) { /* a power of two: full */
        size_t room = table->count ? 2 * (size_t)table->count : 1;
        table->rows = realloc(table->rows, room * sizeof *table->rows);
        CHECK(table->rows);
    }
    table->rows[table->count++] = row;
    return 0;
}

static int take_line(struct reading *r, char *text)
{
    char *words[COLUMNS];
    size_t bytes = strlen(text);

    r->line++;
    if (bytes == 0 || (text[bytes - 1] != '\n' && !feof(r->file))) {
        return message_set(r->message, "%.300s, line %u: it is %s", r->path, r->line,
                           bytes < LINE_BYTES_MAX - 1 ? "no text" : "longer than a row");
    }
    unsigned count = split(text, words);
    if (count == 0) {
        return 0;
    }
    return count == COLUMNS ? take_row(r, words)
                            : message_set(r->message,
                                          "%.300s, line %u: a row has three columns: bytes, hops "
                                          "and time, as 1000,3,520.0",
                                          r->path, r->line);
}

int fit_table_read(const char *path, struct fit_table *table, struct message *message)
{
    struct reading r = {.path = path, .unit_ns = 1e3, .table = table, .message = message};
    char text[LINE_BYTES_MAX];
    int status = 0;

    *table = (struct fit_table){0};
    r.file = input_file_open(path, "table", message);
    if (!r.file) {
        return -1;
    }
    while (status == 0 && fgets(text, sizeof text, r.file)) {
        status = take_line(&r, text);
    }
    if (status == 0 && ferror(r.file)) {
        status = message_set(message, "cannot read the table %.300s: %s", path, strerror(errno));
    }
    input_file_close(r.file);
    if (status != 0) {
        fit_table_free(table);
    }
    return status;
}

void fit_table_free(struct fit_table *table)
{
    free(table->rows);
    *table = (struct fit_table){0};
}
