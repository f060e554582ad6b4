/*
 * stream.h - joins a connection and a local socket: what comes of one leaves by the other.
 *
 * What one cannot take now is not read from the other, so a slow reader holds up only its own
 * stream. When one ends, so does the other, behind the bytes before.
 *
 * Context  the thread of the loop
 */
#pragma once

#include "host/cluster/connection.h"

/* Takes both over, until they end; the connection may not be open yet, and bytes may wait in it.
 * Without memory both are closed. */
void stream_join(uv_loop_t *loop, struct connection *connection, int fd);
