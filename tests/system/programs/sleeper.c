/*
 * sleeper.c - sleeper [RANK]: every sleep lasts at least as long as asked, on every node. With RANK
 * that node sleeps for an hour, while its opposites exchange messages, some through it, and end;
 * the node before it ends with status 1, so that the host soon asks what the others wait for.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <ecube.h>

enum { BYTES = 50000, HOUR = 3600 };

static char blocks[2][BYTES];
static int failures;

static void expect(int truth, const char *what)
{
    if (!truth) {
        printf("did not hold: %s\n", what);
        failures++;
    }
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    expect(clock_gettime(clock, &now) == 0, "there is a clock");
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int sleep_a_little(void)
{
    const struct timespec some = {.tv_nsec = 20000001}, none = {0}, odd = {.tv_nsec = 1000000000};
    uint64_t model_ns = ecube_model_ns();
    int64_t start = now_ns(CLOCK_MONOTONIC);
    expect(nanosleep(&some, NULL) == 0 && now_ns(CLOCK_MONOTONIC) - start >= 20000001, "nanosleep");
    expect(nanosleep(&none, NULL) == 0, "no time");
    errno = 0;
    expect(nanosleep(&odd, NULL) == -1 && errno == EINVAL, "no such time");
    start = now_ns(CLOCK_REALTIME);
    expect(usleep(30000) == 0 && now_ns(CLOCK_REALTIME) - start >= 30000000, "usleep");
    start = now_ns(CLOCK_REALTIME);
    expect(sleep(1) == 0 && now_ns(CLOCK_REALTIME) - start >= 1000000000, "sleep");
    expect(ecube_model_ns() == model_ns, "the model clock stands");
    return failures > 0;
}

static int sleep_long(int rank)
{
    int own = ecube_rank(), opposite = ecube_size() - 1 - own;
    if (own == rank || opposite == rank) {
        return own == rank ? (int)sleep(HOUR) : 0;
    }
    int came =
        ecube_send_receive(blocks[0], BYTES, opposite, 1, blocks[1], BYTES, opposite, 1, NULL);
    expect(came == BYTES, "messages pass");
    return failures > 0 || own == rank - 1;
}

int main(int argc, char **argv)
{
    return argc > 1 ? sleep_long(atoi(argv[1])) : sleep_a_little();
}
