/*
 * intruder.c - intruder SOCKET WHAT [NUMBER]: a client of a JTAG chain's socket that OpenOCD would
 * never be.
 *
 *   noise SEED    a megabyte of random bytes, whose answers it reads; ends early when it is hung up
 *   every         all 256 bytes
 *   half          the first half of a scan
 *   deaf          asks for TDO as long as it is taken, and reads nothing
 *   crowd COUNT   so many connections
 *
 * Deaf and crowd print "ready", and stay until their standard input ends.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { NOISE_BYTES = 1 << 20, CHUNK_BYTES = 4096, QUIET_MS = 500, CROWD_MAX = 100 };

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        perror(path);
        exit(2);
    }
    return fd;
}

/* False: it was hung up. */
static int send_all(int fd, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        struct pollfd wait = {.fd = fd, .events = POLLIN | POLLOUT};
        uint8_t answers[CHUNK_BYTES];
        ssize_t sent;

        if (poll(&wait, 1, -1) < 0) {
            return 0;
        }
        if (wait.revents & POLLIN && read(fd, answers, sizeof answers) <= 0) {
            return 0;
        }
        sent = send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN) {
            return 0;
        }
        bytes += sent > 0 ? sent : 0;
        count -= sent > 0 ? (size_t)sent : 0;
    }
    return 1;
}

static void make_noise(int fd, uint32_t seed)
{
    uint8_t bytes[CHUNK_BYTES];
    uint32_t state = seed * 2 + 1;

    for (unsigned sent = 0; sent < NOISE_BYTES; sent += sizeof bytes) {
        for (unsigned i = 0; i < sizeof bytes; i++) {
            state = state * 1664525 + 1013904223;
            bytes[i] = (uint8_t)(state >> 24);
            /* It would hang up; and mostly characters that do something. */
            if (bytes[i] == 'Q' || i % 8 != 0) {
                bytes[i] = (uint8_t)('0' + bytes[i] % 8);
            }
        }
        if (!send_all(fd, bytes, sizeof bytes)) {
            return;
        }
    }
}

static void send_every(int fd)
{
    uint8_t bytes[256];

    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    send_all(fd, bytes, sizeof bytes);
}

static void stay(void)
{
    char byte;

    puts("ready");
    fflush(stdout);
    while (read(0, &byte, 1) > 0) {
    }
}

/* As much as is taken: until nothing is for a while. */
static void ask_and_not_listen(int fd)
{
    uint8_t bytes[CHUNK_BYTES];
    struct pollfd wait = {.fd = fd, .events = POLLOUT};

    memset(bytes, 'R', sizeof bytes);
    while (poll(&wait, 1, QUIET_MS) > 0 &&
           send(fd, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {
    }
    stay();
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";
    unsigned number = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    int fd;

    if (argc < 3) {
        return 2;
    }
    fd = connect_to(argv[1]);
    if (strcmp(what, "noise") == 0) {
        make_noise(fd, number);
    } else if (strcmp(what, "every") == 0) {
        send_every(fd);
    } else if (strcmp(what, "half") == 0) {
        send_all(fd, (const uint8_t *)"0404262604040404260", 19);
    } else if (strcmp(what, "deaf") == 0) {
        ask_and_not_listen(fd);
    } else if (strcmp(what, "crowd") == 0 && number <= CROWD_MAX) {
        while (--number > 0) {
            connect_to(argv[1]);
        }
        stay();
    } else {
        return 2;
    }
    return 0;
}
