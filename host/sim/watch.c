#include "host/sim/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "host/console/message.h"
#include "sim/programs/native.h"

enum {
    AGAIN_MS = 20,
    TWICE_MS = 100, /* a signal that comes sooner is the same: timeout(1) sends its own twice */
    HOLD_MS = 2000, /* after which no program goes on any more, however many compute for ever */
    SIGNAL_END = SIGALRM /* the watch itself is over */
};

static struct {
    pthread_t thread;
    sigset_t signals;
    uint32_t limit_ms;
    bool programs, runs;
    void (*look)(void);
    atomic_bool over;
    atomic_int signal;
} watch;

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The next signal; 0: the time is over. */
static int wait_for_signal(uint64_t end_ms)
{
    int number;

    do {
        uint64_t now = now_ms(), left = end_ms > now ? end_ms - now : 0;
        struct timespec time = {.tv_sec = (time_t)(left / 1000),
                                .tv_nsec = (long)(left % 1000) * 1000000};
        number = end_ms == UINT64_MAX ? sigwaitinfo(&watch.signals, NULL)
                                      : sigtimedwait(&watch.signals, NULL, &time);
    } while (number < 0 && errno == EINTR);
    return number < 0 ? 0 : number;
}

static void die_of(int number)
{
    sigset_t only;

    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
}

static void *wait(void *context)
{
    uint64_t end_ms = watch.limit_ms ? now_ms() + watch.limit_ms : UINT64_MAX, over_ms = 0;
    int number;

    (void)context;
    while ((number = wait_for_signal(end_ms)) != SIGNAL_END) {
        if (over_ms == 0) {
            over_ms = now_ms();
            atomic_store(&watch.signal, number);
            atomic_store(&watch.over, true);
        } else if (number && now_ms() - over_ms >= TWICE_MS) {
            die_of(number); /* who asks twice does not wait */
        }
        if (watch.programs) {
            native_interrupt(now_ms() - over_ms >= HOLD_MS);
        }
        if (watch.look) {
            watch.look();
        }
        end_ms = now_ms() + AGAIN_MS;
    }
    return NULL;
}

bool watch_begin(uint32_t limit_ms, bool programs, void (*look)(void))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGNAL_END};

    watch.limit_ms = limit_ms;
    watch.programs = programs;
    watch.look = look;
    sigemptyset(&watch.signals);
    for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        sigaddset(&watch.signals, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &watch.signals, NULL);
    watch.runs = pthread_create(&watch.thread, NULL, wait, NULL) == 0;
    return watch.runs;
}

bool watch_over(void)
{
    return atomic_load_explicit(&watch.over, memory_order_relaxed);
}

const atomic_bool *watch_flag(void)
{
    return &watch.over;
}

int watch_signal(void)
{
    return atomic_load(&watch.signal);
}

int watch_status(void)
{
    return watch_signal() ? 128 + watch_signal() : STATUS_TIMEOUT;
}

void watch_end(void)
{
    if (watch.runs) {
        pthread_kill(watch.thread, SIGNAL_END);
        pthread_join(watch.thread, NULL);
        watch.runs = false;
        pthread_sigmask(SIG_UNBLOCK, &watch.signals, NULL);
    }
}
