/*
 * plain_tls.c - tls.h without a key: what one end writes the other reads, as it is.
 */
#include "host/cluster/tls.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>

static int socket_of(const struct tls *tls)
{
    return (int)(intptr_t)tls->session;
}

int tls_keys_init(struct tls_keys *keys, const struct key *key, struct message *message)
{
    (void)key;
    (void)message;
    *keys = (struct tls_keys){0};
    return 0;
}

int tls_begin(struct tls *tls, int fd, bool server, const struct tls_keys *keys)
{
    (void)server;
    (void)keys;
    *tls = (struct tls){.session = (gnutls_session_t)(intptr_t)fd};
    return 0;
}

void tls_end(struct tls *tls)
{
    (void)tls;
}

int tls_shake(struct tls *tls)
{
    tls->open = true;
    return 1;
}

static ssize_t result_of(struct tls *tls, ssize_t bytes)
{
    if (bytes > 0 || (bytes < 0 && errno == EAGAIN)) {
        return bytes > 0 ? bytes : 0;
    }
    tls->error = bytes == 0 ? GNUTLS_E_PREMATURE_TERMINATION : GNUTLS_E_PULL_ERROR;
    return -1;
}

ssize_t tls_read(struct tls *tls, void *bytes, size_t count)
{
    return result_of(tls, recv(socket_of(tls), bytes, count, MSG_DONTWAIT));
}

ssize_t tls_write(struct tls *tls, const void *bytes, size_t count)
{
    return result_of(tls, send(socket_of(tls), bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL));
}

bool tls_holds(const struct tls *tls)
{
    (void)tls;
    return false;
}

bool tls_wants_write(const struct tls *tls)
{
    (void)tls;
    return false;
}

bool tls_was_closed(const struct tls *tls)
{
    return tls->error != 0;
}

const char *tls_why(const struct tls *tls)
{
    (void)tls;
    return "the connection was closed";
}
