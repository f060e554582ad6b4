#include "trace/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drivers/check.h"

static const char tail[] = "\n]}\n";

/* Writes it all; an errno, or 0. */
static int write_all(int fd, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t written = write(fd, data, bytes);
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        if (written > 0) {
            data += written;
            bytes -= (size_t)written;
        }
    }
    return 0;
}

static void flush(struct trace_file *file)
{
    uint32_t used = file->used;

    sha256_update(&file->sha, used, (const uint8_t *)file->buffer);
    file->bytes += used;
    file->used = 0;
    if (!file->error) {
        file->error = write_all(file->fd, file->buffer, used);
    }
}

static void add_list(struct trace_file *file, const char *format, va_list arguments)
{
    size_t room = TRACE_BUFFER - file->filling;
    int bytes = vsnprintf(file->buffer + file->filling, room, format, arguments);

    CHECK(bytes >= 0 && (size_t)bytes < room);
    file->filling += (uint32_t)bytes;
}

static void add(struct trace_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct trace_file *file, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_list(file, format, arguments);
    va_end(arguments);
}

/* What is in the buffer up to here may go to the file. */
static void commit(struct trace_file *file)
{
    file->used = file->filling;
}

static void open_event(struct trace_file *file, char kind, struct trace_track track)
{
    if (file->used > TRACE_BUFFER - TRACE_EVENT_MAX) {
        flush(file);
    }
    file->filling = file->used;
    add(file, "%s{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, file->events ? ",\n" : "",
        kind, track.process, track.thread);
}

static void close_event(struct trace_file *file)
{
    add(file, "}");
    commit(file);
    file->events++;
}

static void add_time(struct trace_file *file, const char *key, uint64_t ns)
{
    add(file, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static void add_name(struct trace_file *file, const struct trace_slice *slice)
{
    add(file, ",\"name\":\"%s\",\"cat\":\"%s\"", slice->name, slice->category);
}

static void add_arguments(struct trace_file *file, const char *format, va_list arguments)
{
    add(file, ",\"args\":{");
    add_list(file, format, arguments);
    add(file, "}");
}

void trace_file_begin(struct trace_file *file, int fd, const char *about)
{
    file->fd = fd;
    file->error = 0;
    file->used = file->filling = 0;
    file->events = file->bytes = 0;
    sha256_init(&file->sha);
    add(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":%s,\"traceEvents\":[\n", about);
    commit(file);
}

static void name_one(struct trace_file *file, struct trace_track track, const char *what,
                     const char *name, uint32_t place)
{
    open_event(file, 'M', track);
    add(file, ",\"name\":\"%s_name\",\"args\":{\"name\":\"%s\"}", what, name);
    close_event(file);
    open_event(file, 'M', track);
    add(file, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}", what, place);
    close_event(file);
}

void trace_file_name_thread(struct trace_file *file, struct trace_track track, const char *name,
                            uint32_t place)
{
    name_one(file, track, "thread", name, place);
}

void trace_file_name_process(struct trace_file *file, struct trace_track track, const char *name,
                             uint32_t place)
{
    name_one(file, track, "process", name, place);
}

static void add_instant(struct trace_file *file, const struct trace_slice *at, char scope)
{
    open_event(file, 'i', at->track);
    add_time(file, "ts", at->start_ns);
    add(file, ",\"s\":\"%c\"", scope);
}

/* Viewers that turn a slice into a begin and an end sort a slice without length the wrong way round
 * and lose those that stand around it; so it becomes a mark. */
void trace_file_slice(struct trace_file *file, const struct trace_slice *slice,
                      const char *arguments, ...)
{
    va_list list;

    if (slice->end_ns == slice->start_ns) {
        add_instant(file, slice, 't');
    } else {
        open_event(file, 'X', slice->track);
        add_time(file, "ts", slice->start_ns);
        add_time(file, "dur", slice->end_ns - slice->start_ns);
    }
    add_name(file, slice);
    va_start(list, arguments);
    add_arguments(file, arguments, list);
    va_end(list);
    close_event(file);
}

void trace_file_instant(struct trace_file *file, const struct trace_slice *at, char scope,
                        const char *arguments, ...)
{
    va_list list;

    add_instant(file, at, scope);
    add_name(file, at);
    va_start(list, arguments);
    add_arguments(file, arguments, list);
    va_end(list);
    close_event(file);
}

void trace_file_async(struct trace_file *file, const struct trace_slice *slice, uint64_t id,
                      const char *arguments, ...)
{
    va_list list;

    open_event(file, 'b', slice->track);
    add(file, ",\"id\":\"%" PRIu64 "\"", id);
    add_time(file, "ts", slice->start_ns);
    add_name(file, slice);
    va_start(list, arguments);
    add_arguments(file, arguments, list);
    va_end(list);
    close_event(file);
    open_event(file, 'e', slice->track);
    add(file, ",\"id\":\"%" PRIu64 "\"", id);
    add_time(file, "ts", slice->end_ns);
    add_name(file, slice);
    close_event(file);
}

void trace_file_end(struct trace_file *file, uint8_t digest[32])
{
    if (file->used > TRACE_BUFFER - TRACE_EVENT_MAX) {
        flush(file);
    }
    file->filling = file->used;
    add(file, "%s", tail);
    commit(file);
    flush(file);
    sha256_digest(&file->sha, SHA256_DIGEST_SIZE, digest);
}

/* The bytes of the UTF-8 character that a text begins with; 0: it is none (RFC 3629). */
static unsigned character_bytes(const char *text)
{
    const uint8_t *at = (const uint8_t *)text;
    unsigned bytes = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;

    if (at[0] > 0xf4) {
        return 0;
    }
    for (unsigned i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool beyond = (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f);
    return bytes > 1 && (overlong || beyond) ? 0 : bytes;
}

void trace_file_escape(char *escaped, const char *text)
{
    while (*text) {
        unsigned bytes = character_bytes(text);
        uint8_t first = (uint8_t)*text;

        if (bytes == 0) {
            *escaped++ = '?';
            text++;
        } else if (first < 0x20 || first == '"' || first == '\\' || first == 0x7f) {
            escaped += sprintf(escaped, "\\u%04x", first);
            text++;
        } else {
            memcpy(escaped, text, bytes);
            escaped += bytes;
            text += bytes;
        }
    }
    *escaped = '\0';
}

void trace_file_abandon(const struct trace_file *file)
{
    if (!file->error && write_all(file->fd, file->buffer, file->used) == 0) {
        write_all(file->fd, tail, sizeof tail - 1);
    }
}
