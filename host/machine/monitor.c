/*
 * monitor.c - lines of JSON to and from a QEMU.
 */
#include "host/machine/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 16 };

static bool say(int fd, const char *line)
{
    size_t bytes = strlen(line);

    return send(fd, line, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

int monitor_open(int *fd, int *qemu_fd, struct message *message)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return message_set(message, "cannot make a line to a node's QEMU (socketpair): %s",
                           strerror(errno));
    }
    *fd = ends[0];
    *qemu_fd = ends[1];
    (void)say(*fd, "{\"execute\":\"qmp_capabilities\"}\n");
    return 0;
}

bool monitor_yank(int fd, unsigned port)
{
    char line[128];

    snprintf(line, sizeof line,
             "{\"execute\":\"yank\",\"arguments\":{\"instances\":[{\"type\":\"chardev\",\"id\":\"c%"
             "u\"}]}}\n",
             port);
    return say(fd, line);
}

bool monitor_ask(int fd)
{
    return say(fd, "{\"execute\":\"query-chardev\",\"id\":\"ask\"}\n");
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* One line; false: none has come in time. A line is longer than what is asked for never is. */
static bool read_line(int fd, int64_t end_ms, char line[LINE_MAX_BYTES])
{
    for (size_t used = 0; used < LINE_MAX_BYTES - 1;) {
        int64_t left_ms = end_ms - now_ms();
        struct pollfd input = {.fd = fd, .events = POLLIN};

        if (poll(&input, 1, left_ms > 0 ? (int)left_ms : 0) <= 0 || read(fd, line + used, 1) != 1) {
            return false;
        }
        if (line[used++] == '\n') {
            line[used] = '\0';
            return true;
        }
    }
    return false;
}

/* The state stands before the address: "disconnected:tcp:10.0.0.2:4000". */
static uint32_t find_disconnected(const json_t *devices)
{
    uint32_t ports = 0;
    const json_t *device;
    size_t i;

    json_array_foreach(devices, i, device)
    {
        const char *label = json_string_value(json_object_get(device, "label"));
        const char *file = json_string_value(json_object_get(device, "filename"));
        unsigned port;
        char rest;

        if (label && file && sscanf(label, "c%u%c", &port, &rest) == 1 && port < 32 &&
            strncmp(file, "disconnected:", strlen("disconnected:")) == 0) {
            ports |= UINT32_C(1) << port;
        }
    }
    return ports;
}

bool monitor_disconnected(int fd, int64_t end_ms, uint32_t *ports)
{
    char line[LINE_MAX_BYTES];

    while (read_line(fd, end_ms, line)) {
        json_t *answer = json_loads(line, 0, NULL);
        const json_t *devices = json_object_get(answer, "return");
        bool is_it = json_is_array(devices) && json_object_get(answer, "id");

        if (is_it) {
            *ports = find_disconnected(devices);
        }
        json_decref(answer);
        if (is_it) {
            return true;
        }
    }
    return false;
}
