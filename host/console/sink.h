/*
 * sink.h - what people read, written out in order by a thread of its own, so that a reader who
 * takes his time holds up nobody else.
 *
 * Standard output and standard error go through one queue: what is said on one stays behind what
 * was said before on the other. How much lies in it is for its owner to bound.
 *
 * Errors   the first one on standard output is kept, and what follows is thrown away; on standard
 *          error they are nobody's trouble
 * Context  one thread; `moved` is called on the sink's own
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/console/line.h"

struct sink;

/* Whoever uses the tool may wait as long as he likes for this many bytes. */
enum { SINK_BACKLOG_MAX = 256 * 1024 };

/* `moved` (may be NULL) is called when something has been written out, or cannot be. Never NULL. */
struct sink *sink_open(void (*moved)(void *context), void *context);

/* Adds bytes for a standard stream; the receipt (may be NULL) comes back when they are written. */
void sink_put(struct sink *sink, int fd, const void *data, size_t bytes,
              const struct line_receipt *receipt);

/* Adds words of the tool: lines, which are folded for what shows them (terminal.h). */
void sink_say(struct sink *sink, int fd, const char *text, size_t bytes);
void sink_print(struct sink *sink, int fd, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The next receipt of what has been written, or thrown away. */
bool sink_take_receipt(struct sink *sink, struct line_receipt *receipt);

/* The errno of standard output, EPIPE when its reader is gone; 0: all is well. What the tool then
 * exits with. */
int sink_error(struct sink *sink);
int sink_status(struct sink *sink);

/* Waits until no more than so many bytes are left, or nothing can be written any more. After
 * deadline_us (of sink_now_us) it goes on waiting only while something is taken: false then. */
bool sink_wait(struct sink *sink, size_t left_max, uint64_t deadline_us);
uint64_t sink_now_us(void);

/* `moved` is not called again. */
void sink_be_still(struct sink *sink);

/* Nobody reads: throws away what is left for standard output, now and later; what is for standard
 * error is written as far as that takes it at once. */
void sink_abandon(struct sink *sink);

/* Waits for the rest as sink_wait does, frees the sink, and returns the status to exit with: that
 * given, or what says that standard output did not take all. */
int sink_close(struct sink *sink, uint64_t deadline_us, int status);
