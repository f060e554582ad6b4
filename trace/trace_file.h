/*
 * trace_file.h - a file in the Trace Event Format, written event by event.
 *
 * Events go into a buffer, and from there to the file; what is in the buffer is always whole
 * events, so that the file can be completed at any moment, by a signal handler too.
 *
 *   {"displayTimeUnit":"ns","otherData":{...},"traceEvents":[
 *   {"ph":"X","pid":7,"tid":31,"ts":65.425,"dur":20.000,"name":"1>4","cat":"circuit","args":{...}},
 *   ...
 *   ]}
 *
 * Units    ns; in the file us, with three decimals
 * Errors   the first write that fails is kept in `error`, and nothing more is written
 * Context  names and arguments are the tool's own and need no escapes; those of programs get them
 *          (trace_file_escape)
 * Source   Trace Event Format (Chromium), JSON Object Format: complete (X), instant (i), async (b,
 *          e) and metadata (M) events
 */
#pragma once

#include <nettle/sha2.h>
#include <stdint.h>

enum { TRACE_BUFFER = 1 << 18, TRACE_EVENT_MAX = 1024 };

struct trace_file {
    int fd;
    int error; /* errno; 0: all well */
    uint32_t used, filling;
    uint64_t events, bytes;
    struct sha256_ctx sha;
    char buffer[TRACE_BUFFER];
};

/* Where an event belongs: a track is a thread of a process. */
struct trace_track {
    uint32_t process, thread;
};

struct trace_slice {
    struct trace_track track;
    const char *name, *category;
    uint64_t start_ns, end_ns;
};

/* `about` is the text of a JSON object that says what was run. */
void trace_file_begin(struct trace_file *file, int fd, const char *about);

/* Names a track, or its process, and says where it stands among the others. */
void trace_file_name_thread(struct trace_file *file, struct trace_track track, const char *name,
                            uint32_t place);
void trace_file_name_process(struct trace_file *file, struct trace_track track, const char *name,
                             uint32_t place);

/* A slice, or a mark on its track when it has no length; `arguments` are the members of a JSON
 * object, as printf makes them. */
void trace_file_slice(struct trace_file *file, const struct trace_slice *slice,
                      const char *arguments, ...) __attribute__((format(printf, 3, 4)));

/* A moment: start_ns; scope 't', 'p' or 'g' for its track, its process or all. */
void trace_file_instant(struct trace_file *file, const struct trace_slice *at, char scope,
                        const char *arguments, ...) __attribute__((format(printf, 4, 5)));

/* A slice that may overlap others of its process. */
void trace_file_async(struct trace_file *file, const struct trace_slice *slice, uint64_t id,
                      const char *arguments, ...) __attribute__((format(printf, 4, 5)));

/* Completes the file; the digest is that of all its bytes. */
void trace_file_end(struct trace_file *file, uint8_t digest[32]);

/* Writes a text that may hold anything as what stands between the quotes of a JSON string: at most
 * 6 bytes for each, and a zero byte. What is no UTF-8 becomes '?'. */
void trace_file_escape(char *escaped, const char *text);

/* Completes the file with what is there, and counts nothing: for a handler of a signal. */
void trace_file_abandon(const struct trace_file *file);
