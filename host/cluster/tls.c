#include "host/cluster/tls.h"

#include <stdint.h>
#include <string.h>

#define PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK:+DHE-PSK"

static int give_key(gnutls_session_t session, const char *user, gnutls_datum_t *key)
{
    const struct tls_keys *keys = gnutls_session_get_ptr(session);

    if (strcmp(user, KEY_USER) != 0) {
        return -1;
    }
    key->data = gnutls_malloc(keys->key.size);
    if (!key->data) {
        return -1;
    }
    key->size = keys->key.size;
    memcpy(key->data, keys->key.data, key->size);
    return 0;
}

int tls_keys_init(struct tls_keys *keys, const struct key *key, struct message *message)
{
    gnutls_datum_t hex = {(unsigned char *)(uintptr_t)key->hex, (unsigned)strlen(key->hex)};

    *keys = (struct tls_keys){0};
    if (gnutls_hex_decode2(&hex, &keys->key) != 0 ||
        gnutls_psk_allocate_server_credentials(&keys->server) != 0 ||
        gnutls_psk_allocate_client_credentials(&keys->client) != 0 ||
        gnutls_psk_set_client_credentials(keys->client, KEY_USER, &hex, GNUTLS_PSK_KEY_HEX) != 0) {
        tls_keys_free(keys);
        return message_set(message, "cannot use the key: GnuTLS does not take it");
    }
    gnutls_psk_set_server_credentials_function(keys->server, give_key);
    return 0;
}

void tls_keys_free(struct tls_keys *keys)
{
    if (keys->server) {
        gnutls_psk_free_server_credentials(keys->server);
    }
    if (keys->client) {
        gnutls_psk_free_client_credentials(keys->client);
    }
    gnutls_free(keys->key.data);
    *keys = (struct tls_keys){0};
}

int tls_begin(struct tls *tls, int fd, bool server, const struct tls_keys *keys)
{
    unsigned flags = (server ? GNUTLS_SERVER : GNUTLS_CLIENT) | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL |
                     GNUTLS_NO_TICKETS;

    *tls = (struct tls){0};
    tls->error = gnutls_init(&tls->session, flags);
    if (tls->error != 0) {
        tls->session = NULL;
        return -1;
    }
    gnutls_session_set_ptr(tls->session, (void *)(uintptr_t)keys);
    tls->error = gnutls_priority_set_direct(tls->session, PRIORITIES, NULL);
    if (tls->error == 0) {
        tls->error = gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK,
                                            server ? (void *)keys->server : (void *)keys->client);
    }
    gnutls_transport_set_int(tls->session, fd);
    return tls->error == 0 ? 0 : -1;
}

void tls_end(struct tls *tls)
{
    if (tls->session) {
        gnutls_deinit(tls->session);
        tls->session = NULL;
    }
}

static bool is_over(struct tls *tls, ssize_t result)
{
    if (result >= 0 || !gnutls_error_is_fatal((int)result)) {
        return false;
    }
    tls->error = (int)result;
    return true;
}

int tls_shake(struct tls *tls)
{
    int result = gnutls_handshake(tls->session);

    if (result == 0) {
        tls->open = true;
        return 1;
    }
    return is_over(tls, result) ? -1 : 0;
}

ssize_t tls_read(struct tls *tls, void *bytes, size_t count)
{
    ssize_t result = gnutls_record_recv(tls->session, bytes, count);

    if (result > 0) {
        return result;
    }
    if (result == 0) {
        tls->error = GNUTLS_E_PREMATURE_TERMINATION;
        return -1;
    }
    return is_over(tls, result) ? -1 : 0;
}

ssize_t tls_write(struct tls *tls, const void *bytes, size_t count)
{
    ssize_t result = tls->held ? gnutls_record_send(tls->session, NULL, 0)
                               : gnutls_record_send(tls->session, bytes, count);

    tls->held = result < 0 && !gnutls_error_is_fatal((int)result);
    return is_over(tls, result) ? -1 : result > 0 ? result : 0;
}

bool tls_holds(const struct tls *tls)
{
    return gnutls_record_check_pending(tls->session) > 0;
}

bool tls_wants_write(const struct tls *tls)
{
    return gnutls_record_get_direction(tls->session) == 1;
}

bool tls_was_closed(const struct tls *tls)
{
    return tls->error == GNUTLS_E_PREMATURE_TERMINATION || tls->error == GNUTLS_E_PULL_ERROR ||
           tls->error == GNUTLS_E_PUSH_ERROR;
}

const char *tls_why(const struct tls *tls)
{
    return tls_was_closed(tls) ? "the connection was closed" : gnutls_strerror(tls->error);
}
