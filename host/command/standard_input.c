#include "host/command/standard_input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOMENT_MS = 1000, BYTES_FIRST = 64 * 1024 };

/* More does not fit into a node. */
static const size_t bytes_max = (size_t)1 << 30;

/* Whether it is to be read though nobody has asked for it. */
static bool is_meant(void)
{
    struct pollfd wanted = {.fd = STDIN_FILENO, .events = POLLIN};
    struct stat status;

    if (fstat(STDIN_FILENO, &status) != 0) {
        return false;
    }
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
        return poll(&wanted, 1, MOMENT_MS) > 0;
    }
    return S_ISREG(status.st_mode);
}

static int read_all(uint8_t **bytes, size_t *count, struct message *message)
{
    size_t room = BYTES_FIRST;
    ssize_t got = 1;

    *bytes = malloc(room);
    *count = 0;
    while (*bytes && got != 0 && *count <= bytes_max) {
        if (*count == room) {
            uint8_t *more = realloc(*bytes, room *= 2);
            if (!more) {
                free(*bytes);
            }
            *bytes = more;
            continue;
        }
        got = read(STDIN_FILENO, *bytes + *count, room - *count);
        if (got < 0 && errno != EINTR) {
            free(*bytes);
            return message_set(message, "cannot read standard input: %s", strerror(errno));
        }
        *count += got > 0 ? (size_t)got : 0;
    }
    if (!*bytes) {
        return message_set(message, "out of memory");
    }
    if (*count > bytes_max) {
        free(*bytes);
        return message_set(message,
                           "standard input has more than %zu MiB, no node has so much room",
                           bytes_max >> 20);
    }
    return 0;
}

int standard_input_add(struct data_arguments *data, struct message *message)
{
    const char *to = data->standard_input ? data->standard_input : "0";
    uint8_t *bytes;
    size_t count;

    if (strcmp(to, "none") == 0 || (!data->standard_input && !is_meant())) {
        return 0;
    }
    if (strcmp(to, "0") != 0 && strcmp(to, "all") != 0) {
        return message_set(message, "--stdin %.40s: 0 (rank 0), all or none", to);
    }
    if (data->count == JOB_DATA_MAX) {
        return message_set(message, "standard input and %d pieces of data: there is room for %d",
                           JOB_DATA_MAX, JOB_DATA_MAX);
    }
    if (read_all(&bytes, &count, message) != 0) {
        return -1;
    }
    if (count == 0) {
        free(bytes);
        return 0;
    }
    data->list[data->count++] = (struct job_data){
        .kind = BLOCK_STDIN, .path = "-", .name = to, .bytes = bytes, .byte_count = count};
    return 0;
}
