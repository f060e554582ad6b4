#include "host/cluster/key.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int key_make(struct key *key, struct message *message)
{
    uint8_t bytes[KEY_BYTES];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        return message_set(message, "cannot make a key: %s", strerror(errno));
    }
    for (unsigned i = 0; i < KEY_BYTES; i++) {
        snprintf(key->hex + 2 * i, 3, "%02x", bytes[i]);
    }
    return 0;
}

static int refuse(const char *path, struct message *message)
{
    return message_set(message,
                       "--key-file %.300s: it holds no key: use one line of %d to %d hexadecimal "
                       "digits, for example of 'openssl rand -hex 32'",
                       path, 2 * KEY_BYTES_MIN, KEY_HEX_MAX - 1);
}

int key_read(struct key *key, const char *path, struct message *message)
{
    char text[KEY_HEX_MAX + 2] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0) {
        message_set(message, "cannot read --key-file %.300s: %s", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    ssize_t bytes = read(fd, text, sizeof text - 1);
    close(fd);
    if ((status.st_mode & 077) != 0) {
        return message_set(message,
                           "--key-file %.300s: others may read it: chmod 600 it, and use another "
                           "key if they have",
                           path);
    }
    size_t digits = bytes > 0 ? strspn(text, "0123456789abcdefABCDEF") : 0;
    if (digits < 2 * KEY_BYTES_MIN || digits >= KEY_HEX_MAX || digits % 2 != 0 ||
        strspn(text + digits, "\r\n") != strlen(text + digits)) {
        return refuse(path, message);
    }
    memcpy(key->hex, text, digits);
    key->hex[digits] = '\0';
    return 0;
}

static int write_file(const char *directory, const char *name, const char *text,
                      struct message *message)
{
    char path[160];

    snprintf(path, sizeof path, "%.140s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int status = fd < 0 || dprintf(fd, "%s\n", text) < 0
                     ? message_set(message, "cannot write %s: %s", path, strerror(errno))
                     : 0;
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

/* Without this file each QEMU would search for primes of its own, which takes seconds. */
static int write_group(const char *directory, struct message *message)
{
    gnutls_dh_params_t group;
    gnutls_datum_t text = {0};
    int status = -1;

    if (gnutls_dh_params_init(&group) != 0) {
        return message_set(message, "out of memory");
    }
    if (gnutls_dh_params_import_raw3(group, &gnutls_ffdhe_2048_group_prime,
                                     &gnutls_ffdhe_2048_group_q,
                                     &gnutls_ffdhe_2048_group_generator) != 0 ||
        gnutls_dh_params_export2_pkcs3(group, GNUTLS_X509_FMT_PEM, &text) != 0) {
        message_set(message, "cannot write the Diffie-Hellman group: GnuTLS does not know it");
    } else {
        status = write_file(directory, "dh-params.pem", (const char *)text.data, message);
    }
    gnutls_free(text.data);
    gnutls_dh_params_deinit(group);
    return status;
}

int key_write(const struct key *key, const char *directory, struct message *message)
{
    char line[sizeof KEY_USER + KEY_HEX_MAX + 1];

    snprintf(line, sizeof line, "%s:%s", KEY_USER, key->hex);
    return write_file(directory, "keys.psk", line, message) != 0 ? -1
                                                                 : write_group(directory, message);
}
