/*
 * sleep.c - waiting for a time, and the wall clock as POSIX reads it.
 *
 * All times are wall time: the model clock does not move while a program sleeps. Nothing interrupts
 * a sleep, and the node goes on routing for others.
 *
 * Source   POSIX.1-2017: sleep, nanosleep, clock_gettime, clock_getres; usleep from POSIX.1-2001
 */
#define _DEFAULT_SOURCE 1
/* newlib's time.h declares these functions only where this is defined; so does ecube-cc. */
#define _POSIX_TIMERS          1
#define _POSIX_MONOTONIC_CLOCK 200112L

#include <errno.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "include/ecube/ecube.h"
#include "lib/portable/call.h"

enum {
    NS_PER_SECOND = 1000000000,
    NS_PER_US = 1000,
    US_PER_SECOND = 1000000,
    RESOLUTION_NS = NS_PER_US /* the kernel counts us */
};

static int refuse(int error)
{
    errno = error;
    return -1;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left; /* is set only when a sleep is interrupted */
    if (wanted->tv_sec < 0 || wanted->tv_nsec < 0 || wanted->tv_nsec >= NS_PER_SECOND) {
        return refuse(EINVAL);
    }
    uint64_t now_ns = ecube_wall_ns();
    uint64_t most_s = (UINT64_MAX - now_ns) / NS_PER_SECOND - 1;
    uint64_t seconds = (uint64_t)wanted->tv_sec < most_s ? (uint64_t)wanted->tv_sec : most_s;
    uint64_t end_ns = now_ns + seconds * NS_PER_SECOND + (uint64_t)wanted->tv_nsec;
    int32_t status = ecube_call(ECUBE_CALL_SLEEP, (uint32_t)end_ns, (uint32_t)(end_ns >> 32));
    return status < 0 ? refuse(ENOSYS) : 0;
}

unsigned sleep(unsigned seconds)
{
    struct timespec wanted = {.tv_sec = (time_t)seconds};
    return nanosleep(&wanted, NULL) < 0 ? seconds : 0;
}

int usleep(useconds_t us)
{
    struct timespec wanted = {.tv_sec = (time_t)(us / US_PER_SECOND),
                              .tv_nsec = (long)(us % US_PER_SECOND) * NS_PER_US};
    return nanosleep(&wanted, NULL);
}

static int is_clock(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!is_clock(clock)) {
        return refuse(EINVAL);
    }
    uint64_t ns = ecube_wall_ns();
    *now = (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SECOND),
                             .tv_nsec = (long)(ns % NS_PER_SECOND)};
    return 0;
}

int clock_getres(clockid_t clock, struct timespec *resolution)
{
    if (!is_clock(clock)) {
        return refuse(EINVAL);
    }
    if (resolution) {
        *resolution = (struct timespec){.tv_nsec = RESOLUTION_NS};
    }
    return 0;
}
