/*
 * screen.c - runs a command in a terminal of its own, and prints what it left on the screen.
 *
 *   screen [-c COLUMNS] [-r COLUMNS@TEXT] [-t] [-w TEXT] -- COMMAND...
 *
 * The screen is a roll: what scrolls out of it stays, and home is its beginning. Each of its rows
 * is a line of output; behind one that ran over the right margin, so that the terminal went on in
 * the next row by itself, stands a "\". -r makes it COLUMNS wide when TEXT is first on it; its rows
 * then flow anew as in most terminals, with -t they are cut off as in xterm. -w prints on standard
 * error in how many rows at once TEXT stood at most, and how often the terminal was asked for a
 * colour. Ends as the command does; 99 for an escape sequence that this terminal does not know.
 *
 * Source   ECMA-48 (CUP home, ED, EL, SGR); console_codes(4); the last column holds the cursor
 *          until the next character (VT100)
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS_MAX = 20000, WIDTH_MAX = 400, ESCAPE_MAX = 32, STATUS_USAGE = 98, STATUS_UNKNOWN = 99 };

/* A cell holds a character of UTF-8. */
struct cell {
    char bytes[5];
};

struct row {
    struct cell *cells;
    unsigned count;
    bool runs_over; /* its line goes on in the next row */
};

struct screen {
    struct row rows[ROWS_MAX];
    unsigned count, columns;
    unsigned row, column; /* of the cursor; column == columns: behind the last */
    char escape[ESCAPE_MAX];
    unsigned escape_bytes;
    struct cell partial; /* a character whose bytes have not all come */
    unsigned partial_bytes, partial_left;
    unsigned colours;
    bool unknown;
};

static struct screen screen;

static void *must(void *memory)
{
    if (!memory) {
        fputs("screen: out of memory\n", stderr);
        exit(STATUS_USAGE);
    }
    return memory;
}

static struct row *row_at(struct screen *s, unsigned at)
{
    while (s->count <= at) {
        if (s->count == ROWS_MAX) {
            fputs("screen: too many rows\n", stderr);
            exit(STATUS_USAGE);
        }
        s->rows[s->count++] = (struct row){.cells = must(calloc(WIDTH_MAX, sizeof(struct cell)))};
    }
    return &s->rows[at];
}

static void put_cell(struct screen *s, const struct cell *cell)
{
    if (s->column >= s->columns) {
        row_at(s, s->row)->runs_over = true;
        s->row++;
        s->column = 0;
    }
    struct row *row = row_at(s, s->row);
    while (row->count <= s->column) {
        row->cells[row->count++] = (struct cell){" "};
    }
    row->cells[s->column++] = *cell;
}

static void erase(struct screen *s, bool below)
{
    struct row *row = row_at(s, s->row);

    row->count = row->count < s->column ? row->count : s->column;
    row->runs_over = false;
    for (unsigned at = s->row + 1; below && at < s->count; at++) {
        s->rows[at].count = 0;
        s->rows[at].runs_over = false;
    }
    s->count = below ? s->row + 1 : s->count;
}

/* "[...X", whole. */
static void do_escape(struct screen *s)
{
    char last = s->escape[s->escape_bytes - 1];

    s->escape[s->escape_bytes] = '\0';
    if (strcmp(s->escape, "[K") == 0 || strcmp(s->escape, "[0K") == 0) {
        erase(s, false);
    } else if (strcmp(s->escape, "[J") == 0 || strcmp(s->escape, "[0J") == 0) {
        erase(s, true);
    } else if (strcmp(s->escape, "[H") == 0) {
        s->row = s->column = 0;
    } else if (last == 'm') {
        s->colours++;
    } else {
        fprintf(stderr, "screen: ESC %s is not known\n", s->escape);
        s->unknown = true;
    }
    s->escape_bytes = 0;
}

static void put_byte(struct screen *s, char byte)
{
    unsigned char code = (unsigned char)byte;

    if (s->escape_bytes > 0) {
        bool begins = s->escape_bytes == 1 && s->escape[0] == '\033';
        if (begins) {
            s->escape_bytes = 0;
        }
        s->escape[s->escape_bytes++] = byte;
        if ((!begins && code >= 0x40 && code < 0x7f) || s->escape_bytes == ESCAPE_MAX - 1 ||
            (begins && byte != '[')) {
            do_escape(s);
        }
        return;
    }
    if (byte == '\033') {
        s->escape[s->escape_bytes++] = byte;
    } else if (byte == '\r') {
        s->column = 0;
    } else if (byte == '\n') {
        s->row++;
        row_at(s, s->row);
    } else if (byte == '\b') {
        s->column -= s->column > 0;
    } else if (byte == '\t') {
        do {
            put_cell(s, &(struct cell){" "});
        } while (s->column % 8 != 0 && s->column < s->columns);
    } else if ((code & 0xc0) == 0x80 && s->partial_left > 0) {
        s->partial.bytes[s->partial_bytes++] = byte;
        if (--s->partial_left == 0) {
            put_cell(s, &s->partial);
        }
    } else if (code >= 0xc0) {
        s->partial = (struct cell){{byte}};
        s->partial_bytes = 1;
        s->partial_left = code >= 0xf0 ? 3 : code >= 0xe0 ? 2 : 1;
    } else if (code >= ' ') {
        put_cell(s, &(struct cell){{byte}});
    }
}

/* What is on a row, as text. */
static const char *text_of(const struct row *row)
{
    static char text[WIDTH_MAX * 5 + 1];
    size_t used = 0;

    for (unsigned i = 0; i < row->count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", row->cells[i].bytes);
    }
    text[used] = '\0';
    return text;
}

static unsigned rows_with(const struct screen *s, const char *text)
{
    unsigned rows = 0;

    for (unsigned i = 0; i < s->count; i++) {
        rows += strstr(text_of(&s->rows[i]), text) != NULL;
    }
    return rows;
}

/* Other columns; lines that ran over flow anew, and the cursor stays at its character. */
static void reflow(struct screen *s, unsigned columns)
{
    static struct screen old;

    old = *s;
    *s = (struct screen){.columns = columns, .colours = old.colours, .unknown = old.unknown};
    unsigned row = 0, column = 0;
    for (unsigned i = 0; i < old.count; i++) {
        for (unsigned c = 0; c < old.rows[i].count; c++) {
            if (i == old.row && c == old.column) {
                row = s->row + (s->column == columns);
                column = s->column % columns;
            }
            put_cell(s, &old.rows[i].cells[c]);
        }
        row_at(s, s->row);
        if (i == old.row && old.column >= old.rows[i].count) {
            row = s->row;
            column = s->column;
        }
        if (!old.rows[i].runs_over && i + 1 < old.count) {
            s->row++;
            s->column = 0;
        }
        free(old.rows[i].cells);
    }
    s->row = row;
    s->column = column;
}

static void truncate_rows(struct screen *s, unsigned columns)
{
    for (unsigned i = 0; i < s->count; i++) {
        struct row *row = &s->rows[i];
        row->count = row->count < columns ? row->count : columns;
    }
    s->column = s->column < columns ? s->column : columns - 1;
    s->columns = columns;
}

static void set_size(int fd, unsigned columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};

    ioctl(fd, TIOCSWINSZ, &size);
}

struct request {
    unsigned columns, later;
    const char *when, *watched;
    bool truncates;
};

static unsigned number(const char *text, char **end)
{
    unsigned long value = strtoul(text, end, 10);

    if (value < 1 || value >= WIDTH_MAX) {
        fprintf(stderr, "screen: %s: columns are from 1 to %d\n", text, WIDTH_MAX - 1);
        exit(STATUS_USAGE);
    }
    return (unsigned)value;
}

/* Shows what the command writes until it has closed the terminal. */
static void watch(int fd, struct request *request)
{
    unsigned most = 0;
    char bytes[4096];
    ssize_t count;

    while ((count = read(fd, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR)) {
        for (ssize_t i = 0; i < count; i++) {
            put_byte(&screen, bytes[i]);
        }
        if (request->watched) {
            unsigned rows = rows_with(&screen, request->watched);
            most = rows > most ? rows : most;
        }
        if (request->when && rows_with(&screen, request->when) > 0) {
            (request->truncates ? truncate_rows : reflow)(&screen, request->later);
            set_size(fd, request->later);
            request->when = NULL;
        }
    }
    if (request->watched) {
        fprintf(stderr, "rows %u colours %u\n", most, screen.colours);
    }
    if (request->when) {
        fprintf(stderr, "screen: '%s' was never on it\n", request->when);
        exit(STATUS_USAGE);
    }
}

static void print(const struct screen *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        const struct row *row = &s->rows[i];
        if (i + 1 < s->count || row->count > 0) {
            printf("%s%s\n", text_of(row), row->runs_over ? "\\" : "");
        }
    }
}

int main(int argc, char **argv)
{
    struct request request = {.columns = 80};
    int option, fd, status = 0;
    char *end;

    while ((option = getopt(argc, argv, "c:r:tw:")) != -1) {
        switch (option) {
        case 'c': request.columns = number(optarg, &end); break;
        case 'r':
            request.later = number(optarg, &end);
            request.when = *end == '@' ? end + 1 : end;
            break;
        case 't': request.truncates = true; break;
        case 'w': request.watched = optarg; break;
        default: return STATUS_USAGE;
        }
    }
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)request.columns};
    pid_t child = optind < argc ? forkpty(&fd, NULL, NULL, &size) : -1;
    if (child < 0) {
        fputs("screen: name a command\n", stderr);
        return STATUS_USAGE;
    }
    if (child == 0) {
        execvp(argv[optind], argv + optind);
        fprintf(stderr, "screen: cannot run %s: %s\n", argv[optind], strerror(errno));
        _exit(STATUS_USAGE);
    }
    screen.columns = request.columns;
    row_at(&screen, 0);
    watch(fd, &request);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    print(&screen);
    if (screen.unknown) {
        return STATUS_UNKNOWN;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
