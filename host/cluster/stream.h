/*
 * stream.h - joins a connection and a local socket: what comes of one leaves by the other.
 *
 * What one cannot take now is not read from the other, so a slow reader holds up only its own
 * stream. When one ends, so does the other.
 *
 * Context  the thread of the loop
 */
#pragma once

#include "host/cluster/connection.h"

struct stream;

/* Takes both over; the connection may not be open yet, and bytes may wait in it. `ended` is told
 * once, when the stream is over and has been freed; NULL: nobody is told. Fails with NULL, and
 * closes both. */
struct stream *stream_join(uv_loop_t *loop, struct connection *connection, int fd,
                           void (*ended)(void *context, struct stream *stream), void *context);

void stream_end(struct stream *stream);
