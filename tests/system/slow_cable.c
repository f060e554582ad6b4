/*
 * slow_cable.c - slow_cable PID PID DELAY_MS KBIT_S: a slow line between the network namespaces of
 * two processes, for kernels without netem, too.
 *
 * Makes a network device `cable` in each (TAP), prints "ready", and carries frames from one to the
 * other until one of the two processes has ended. Each direction is a line of its own:
 *
 *     frame --> queue, at most 128 KiB --> sent at KBIT_S, one by one --> DELAY_MS --> out
 *               (who finds it full is lost)
 *
 * On a busy computer it is slower than it says, never faster.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE_BYTES = 128 << 10, FRAMES_MAX = 1 << 13, FRAME_BYTES_MAX = 1600, NS_PER_MS = 1000000 };

struct frame {
    int64_t due_ns;
    size_t bytes;
    char data[FRAME_BYTES_MAX];
};

/* One direction. */
struct line {
    int from, to;
    int64_t free_ns; /* when the last frame has been sent */
    unsigned first, count;
    struct frame frames[FRAMES_MAX];
};

static int64_t delay_ns, kbit_s;

static void give_up(const char *what)
{
    perror(what);
    exit(2);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

static int64_t sending_ns(size_t bytes)
{
    return (int64_t)bytes * 8 * NS_PER_MS / kbit_s;
}

static int open_device(const char *pid)
{
    struct ifreq request = {.ifr_name = "cable", .ifr_flags = IFF_TAP | IFF_NO_PI};
    char path[64];
    int names, device;

    snprintf(path, sizeof path, "/proc/%.20s/ns/net", pid);
    names = open(path, O_RDONLY | O_CLOEXEC);
    if (names < 0 || setns(names, CLONE_NEWNET) != 0) {
        give_up(path);
    }
    close(names);
    device = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) {
        give_up("/dev/net/tun");
    }
    return device;
}

/* All that has come; what finds no room is read, and lost. */
static void take(struct line *line)
{
    char data[FRAME_BYTES_MAX];
    ssize_t bytes;

    while ((bytes = read(line->from, data, sizeof data)) > 0) {
        int64_t now = now_ns(), begins_ns = line->free_ns > now ? line->free_ns : now;
        struct frame *frame = &line->frames[(line->first + line->count) % FRAMES_MAX];

        if (line->count == FRAMES_MAX || begins_ns - now > sending_ns(QUEUE_BYTES)) {
            continue;
        }
        line->free_ns = begins_ns + sending_ns((size_t)bytes);
        frame->due_ns = line->free_ns + delay_ns;
        frame->bytes = (size_t)bytes;
        memcpy(frame->data, data, frame->bytes);
        line->count++;
    }
}

/* All that is due; a device that is down takes nothing. */
static void give(struct line *line)
{
    while (line->count > 0 && line->frames[line->first].due_ns <= now_ns()) {
        struct frame *frame = &line->frames[line->first];

        if (write(line->to, frame->data, frame->bytes) < 0 && errno != EIO) {
            give_up("cable");
        }
        line->first = (line->first + 1) % FRAMES_MAX;
        line->count--;
    }
}

static int64_t soonest(const struct line *line, int64_t other_ns)
{
    int64_t due_ns = line->count > 0 ? line->frames[line->first].due_ns : INT64_MAX;

    return due_ns < other_ns ? due_ns : other_ns;
}

static void carry(struct line *there, struct line *back, struct pollfd *wanted, unsigned count)
{
    int64_t due_ns = soonest(there, soonest(back, INT64_MAX)), left_ns = due_ns - now_ns();
    struct timespec left = {0};

    if (left_ns > 0) {
        left.tv_sec = left_ns / 1000 / NS_PER_MS;
        left.tv_nsec = left_ns % (1000 * (int64_t)NS_PER_MS);
    }
    if (ppoll(wanted, count, due_ns == INT64_MAX ? NULL : &left, NULL) < 0 && errno != EINTR) {
        give_up("poll");
    }
    take(there);
    take(back);
    give(there);
    give(back);
}

int main(int argc, char **argv)
{
    static struct line there, back;
    struct pollfd wanted[4] = {{0}};

    if (argc != 5 || atoi(argv[4]) <= 0) {
        fputs("slow_cable PID PID DELAY_MS KBIT_S\n", stderr);
        return 2;
    }
    delay_ns = (int64_t)atoi(argv[3]) * NS_PER_MS;
    kbit_s = atoi(argv[4]);
    for (int i = 0; i < 2; i++) {
        wanted[i].fd = pidfd_open(atoi(argv[i + 1]), 0);
        if (wanted[i].fd < 0) {
            give_up("a process of the two");
        }
        wanted[i + 2].fd = open_device(argv[i + 1]);
    }
    for (int i = 0; i < 4; i++) {
        wanted[i].events = POLLIN;
    }
    there.from = back.to = wanted[2].fd;
    there.to = back.from = wanted[3].fd;
    puts("ready");
    fflush(stdout);
    while (wanted[0].revents == 0 && wanted[1].revents == 0) {
        carry(&there, &back, wanted, 4);
    }
    return 0;
}
