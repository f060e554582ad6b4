#include "host/cluster/key.h"

#include <errno.h>
#include <fcntl.h>
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
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0) {
        message_set(message, "cannot read --key-file %.300s: %s", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    if (!S_ISREG(status.st_mode)) {
        close(fd);
        return message_set(message, "cannot read --key-file %.300s: it is no file", path);
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
