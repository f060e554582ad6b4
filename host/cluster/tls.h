/*
 * tls.h - TLS with a shared key over a socket that does not block.
 *
 * Both ends prove that they hold the key (key.h), by an exchange of fresh secrets: who records a
 * connection cannot read it later with the key. There are no certificates.
 *
 * Errors   below 0: the connection is over; tls_why says why
 * Source   RFC 8446, 2.2 (pre-shared keys); GnuTLS manual, gnutls_record_send
 */
#pragma once

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <sys/types.h>

#include "host/cluster/key.h"

struct tls_keys {
    gnutls_psk_server_credentials_t server;
    gnutls_psk_client_credentials_t client;
    gnutls_datum_t key;
};

struct tls {
    gnutls_session_t session;
    bool open; /* the key of the other end is the same */
    bool held; /* what was to be written last is with GnuTLS, which wants to be called again */
    int error;
};

int tls_keys_init(struct tls_keys *keys, const struct key *key, struct message *message);
void tls_keys_free(struct tls_keys *keys);

/* Begins on a connected socket; the end that was connected to is the server. */
int tls_begin(struct tls *tls, int fd, bool server, const struct tls_keys *keys);
void tls_end(struct tls *tls);

/* Goes on with the handshake: 1 when it is over, 0 to be called again. */
int tls_shake(struct tls *tls);

/* Bytes that were read or written; 0: none now. What is to be written begins with the same bytes
 * until they have been. */
ssize_t tls_read(struct tls *tls, void *bytes, size_t count);
ssize_t tls_write(struct tls *tls, const void *bytes, size_t count);

/* Whether bytes wait for tls_read though the socket has none. */
bool tls_holds(const struct tls *tls);

/* Whether it waits to write, in a handshake. */
bool tls_wants_write(const struct tls *tls);

/* Whether it is over because the other end has closed it, or is gone. */
bool tls_was_closed(const struct tls *tls);
const char *tls_why(const struct tls *tls);
