/*
 * terminal.c - stdout and stderr as cookies of stdio that fold their lines; progress lines.
 *
 * A cookie sees what printf, puts and argp write. It keeps what has no end of line yet, for only a
 * whole line can be folded.
 */
#include "host/console/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "drivers/check.h"
#include "host/console/fold.h"

enum {
    COLUMNS_MIN = 20,
    COLUMNS_TERMINAL = 80,             /* of one that does not say */
    COLUMNS_NONE = 100,                /* where there is none */
    HELP_COLUMNS_MIN = 40,             /* argp's columns need so many */
    WORDS_MAX = TERMINAL_LINE_MAX - 8, /* what is before and behind them has less than 8 bytes */
    PHASE_COLUMNS = 9,
    BAR_ENDS = 3, /* "[" and "] " */
    BAR_MIN = 10,
    BAR_MAX = 40
};

static const char colour_on[] = "\033[1;31m", colour_off[] = "\033[0m"; /* bold, red */

const char terminal_clear[] = "\r\033[J", terminal_clear_all[] = "\033[H\033[J";

/* What has been printed on a standard stream and has not come to the end of its line. */
struct stream {
    int fd;
    FILE **file;
    char *text;
    size_t bytes, room;
};

static struct stream streams[] = {{.fd = STDOUT_FILENO, .file = &stdout},
                                  {.fd = STDERR_FILENO, .file = &stderr}};

enum { STREAMS = sizeof streams / sizeof streams[0] };

unsigned terminal_columns(int fd)
{
    const char *text = getenv("COLUMNS");
    unsigned long wanted = text && *text >= '0' && *text <= '9' ? strtoul(text, NULL, 10) : 0;
    struct winsize size = {.ws_col = 0};
    unsigned long columns = COLUMNS_NONE;

    if (isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0) {
        columns = size.ws_col > 0 ? size.ws_col : wanted > 0 ? wanted : COLUMNS_TERMINAL;
        columns = wanted > 0 && wanted < columns ? wanted : columns;
    } else if (wanted > 0) {
        columns = wanted;
    }
    return columns < COLUMNS_MIN ? COLUMNS_MIN
           : columns > INT16_MAX ? INT16_MAX
                                 : (unsigned)columns;
}

unsigned terminal_lines(int fd)
{
    struct winsize size = {.ws_row = 0};

    return isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool terminal_redraws(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) == 1 && term && *term && strcmp(term, "dumb") != 0;
}

static bool colours(int fd)
{
    const char *no = getenv("NO_COLOR");

    return fd == STDERR_FILENO && !(no && *no) && terminal_redraws(fd);
}

int terminal_put(int fd, const void *data, size_t bytes)
{
    const char *text = data;

    while (bytes > 0) {
        ssize_t written = write(fd, text, bytes);

        if (written >= 0) {
            text += written;
            bytes -= (size_t)written;
        } else if (errno == EAGAIN) {
            struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
            poll(&poll_fd, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* A line without its end. */
static void write_line(FILE *file, int fd, const char *line, size_t bytes)
{
    size_t name = colours(fd) ? fold_name(line, bytes) : 0, count;
    FILE *folded;
    char *text;

    if (name == 0) {
        fold_line(file, line, bytes, terminal_columns(fd));
        return;
    }
    folded = open_memstream(&text, &count);
    if (!folded) {
        fwrite(line, 1, bytes, file);
        return;
    }
    fold_line(folded, line, bytes, terminal_columns(fd));
    CHECK(fclose(folded) == 0);
    fprintf(file, "%s%.*s%s", colour_on, (int)name, text, colour_off);
    fwrite(text + name, 1, count - name, file);
    free(text);
}

void terminal_write(FILE *file, int fd, const char *text, size_t bytes)
{
    const char *end;

    while (bytes > 0 && (end = memchr(text, '\n', bytes)) != NULL) {
        write_line(file, fd, text, (size_t)(end - text));
        bytes -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    if (bytes > 0) {
        write_line(file, fd, text, bytes);
    }
}

/*
 * Writes the stream's first lines, of so many bytes; as they are if there is no memory to fold them
 * in, for that is what they may be about. Returns 0 or errno.
 */
static int put_lines(struct stream *stream, size_t bytes)
{
    char *text = NULL;
    size_t count;
    FILE *file = open_memstream(&text, &count);
    bool folded = false;
    int error;

    if (file) {
        terminal_write(file, stream->fd, stream->text, bytes);
        folded = fclose(file) == 0;
    }
    error = folded ? terminal_put(stream->fd, text, count)
                   : terminal_put(stream->fd, stream->text, bytes);
    free(text);
    stream->bytes -= bytes;
    memmove(stream->text, stream->text + bytes, stream->bytes);
    return error;
}

/* As stdio calls it: how many bytes it has taken, 0 for an error. */
static ssize_t take(void *cookie, const char *data, size_t bytes)
{
    struct stream *stream = cookie;
    const char *end = memrchr(data, '\n', bytes);
    size_t whole = end ? stream->bytes + (size_t)(end + 1 - data) : 0;

    if (stream->bytes + bytes > stream->room) {
        size_t room = 2 * (stream->bytes + bytes);
        char *text = realloc(stream->text, room);
        if (!text) {
            errno = ENOMEM;
            return 0;
        }
        stream->text = text;
        stream->room = room;
    }
    memcpy(stream->text + stream->bytes, data, bytes);
    stream->bytes += bytes;
    errno = whole > 0 ? put_lines(stream, whole) : 0;
    return errno ? 0 : (ssize_t)bytes;
}

/* A last line that has no end gets one. */
static void end_lines(void)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        fflush(*streams[i].file);
        if (streams[i].bytes > 0) {
            put_lines(&streams[i], streams[i].bytes);
        }
    }
}

static void narrow_help(unsigned columns)
{
    char format[40];

    if (columns < COLUMNS_TERMINAL) {
        snprintf(format, sizeof format, "rmargin=%u,opt-doc-col=%u",
                 columns < HELP_COLUMNS_MIN ? HELP_COLUMNS_MIN : columns, HELP_COLUMNS_MIN / 2);
        setenv("ARGP_HELP_FMT", format, false);
    }
}

void terminal_begin(void)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        int fd = streams[i].fd;
        bool lines = fd == STDERR_FILENO || isatty(fd) == 1;

        *streams[i].file = fopencookie(&streams[i], "w", (cookie_io_functions_t){.write = take});
        streams[i].text = malloc(BUFSIZ); /* at once, for a line about memory */
        streams[i].room = BUFSIZ;
        CHECK(*streams[i].file && streams[i].text);
        setvbuf(*streams[i].file, NULL, lines ? _IOLBF : _IOFBF, BUFSIZ);
    }
    atexit(end_lines);
    narrow_help(terminal_columns(STDOUT_FILENO));
}

/* In place of what stands on the line; cut to what the terminal shows. */
static void make_line(char line[TERMINAL_LINE_MAX], int fd, const char *words)
{
    snprintf(line, TERMINAL_LINE_MAX, "%s%.*s\r", terminal_clear, (int)terminal_columns(fd) - 1,
             words);
}

void terminal_progress(char line[TERMINAL_LINE_MAX], int fd, const char *phase, uint64_t done,
                       uint64_t total, const char *unit)
{
    char count[80], bare[80];

    snprintf(count, sizeof count, "%" PRIu64 " of %" PRIu64 " %s", done, total, unit);
    snprintf(bare, sizeof bare, "%" PRIu64 " of %" PRIu64, done, total);
    terminal_bar(line, fd, phase, done, total, count, bare);
}

void terminal_bar(char line[TERMINAL_LINE_MAX], int fd, const char *phase, uint64_t done,
                  uint64_t total, const char *longer, const char *shorter)
{
    int columns = (int)terminal_columns(fd) - 1;
    int room = columns - (int)strlen(longer) - PHASE_COLUMNS - BAR_ENDS;
    char bar[BAR_MAX + BAR_ENDS + 1] = "", words[WORDS_MAX];
    const char *count = longer;

    if (room < BAR_MIN) { /* the bar says more than the longer words */
        count = shorter;
        room = columns - (int)strlen(count) - PHASE_COLUMNS - BAR_ENDS;
    }
    room = room < BAR_MAX ? room : BAR_MAX;
    if (room >= BAR_MIN) {
        bar[0] = '[';
        memset(bar + 1, ' ', (size_t)room);
        memset(bar + 1, '#', done < total ? (size_t)(done * (uint64_t)room / total) : (size_t)room);
        strcpy(bar + 1 + room, "] ");
    }
    snprintf(words, sizeof words, "%-*s%s%s", PHASE_COLUMNS, phase, bar, count);
    make_line(line, fd, words);
}

void terminal_note(char line[TERMINAL_LINE_MAX], int fd, const char *format, ...)
{
    char words[WORDS_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    make_line(line, fd, words);
}
