/*
 * wire.h - one end of a local socket in the event loop: bytes in, bytes out, nobody held up.
 *
 * What the other end does not take is kept here; the owner looks at wire_pending and stops reading
 * what would make more of it.
 *
 * Errors   whatever goes wrong with the socket is `ended`, once; never from within a call of ours
 * Context  the loop's thread
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

enum { WIRE_BUFFER_BYTES = 16384, WIRE_PENDING_MAX = 65536 };

struct wire_owner {
    void *context;
    void (*opened)(void *context); /* of wire_connect; may be NULL for wire_accept */
    void (*received)(void *context, const char *bytes, size_t count);
    void (*drained)(void *context); /* nothing is kept any more; may be NULL */
    void (*ended)(void *context);   /* the owner closes it then */
};

struct wire;

/* Connects to the socket at `path`: opened or ended follows. A socket that is not there yet, for
 * its process has just been started, is waited for until the owner closes the wire. */
struct wire *wire_connect(uv_loop_t *loop, const char *path, const struct wire_owner *owner);

/* Takes a client of a listening socket; NULL: it has gone already. It is not read from yet. */
struct wire *wire_accept(uv_stream_t *server, const struct wire_owner *owner);

void wire_send(struct wire *wire, const void *bytes, size_t count);

/* Bytes that were sent and that the other end's socket has not taken. */
size_t wire_pending(const struct wire *wire);

/* Reads, or not. */
void wire_listen(struct wire *wire, bool listens);

/* The process at the other end; 0: not known. */
pid_t wire_process(const struct wire *wire);

/* The owner hears nothing any more. What is kept is still sent when `sends`. */
void wire_close(struct wire *wire, bool sends);
