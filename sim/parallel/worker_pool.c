/*
 * worker_pool.c - shares of a run that members take, their own first.
 *
 * `open` has a bit for each share that nobody has begun: whoever clears it does the share, so each
 * is done once. `undone` counts those that are not done, and the run is over at zero. A run begins
 * when `open` is set, by release; so who sees a bit sees the work and all that was written before.
 */
#include "sim/parallel/worker_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    LINE = 64,
    LOOKS = 8192,          /* for the next run, before sleeping: about 100 us */
    LOOKS_PER_YIELD = 1024 /* another thread of this machine may be what is waited for */
};

struct member {
    struct worker_pool *pool;
    pthread_t thread;
    unsigned number;
    bool bound; /* to the processor that it begins on */
};

struct worker_pool {
    /* the present run: one line of the cache goes from thread to thread and back */
    _Alignas(LINE) _Atomic uint32_t open; /* shares that nobody has begun, a bit for each */
    _Atomic uint32_t undone;              /* shares that are not done */
    worker_pool_work *work;
    void *context;
    _Alignas(LINE) _Atomic uint32_t asleep; /* members */
    _Atomic bool over;
    unsigned count;
    cpu_set_t processors; /* that the members may run on */
    pthread_mutex_t lock;
    pthread_cond_t call;
    struct member members[];
};

/* Lets the processor rest for a moment between two looks. */
static inline void rest(unsigned look)
{
    if (look % LOOKS_PER_YIELD == LOOKS_PER_YIELD - 1) {
        sched_yield();
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Does a share that nobody has begun, its own before others; false: there is none. Whoever has
 * begun a share finds the run it belongs to, for that one does not end before. */
static bool do_share(struct worker_pool *pool, unsigned member)
{
    uint32_t open = atomic_load_explicit(&pool->open, memory_order_acquire), share;

    do {
        if (!open) {
            return false;
        }
        share = open >> member & 1 ? UINT32_C(1) << member : open & -open;
    } while (!atomic_compare_exchange_weak_explicit(&pool->open, &open, open & ~share,
                                                    memory_order_acquire, memory_order_acquire));
    pool->work(pool->context, (unsigned)__builtin_ctz(share));
    atomic_fetch_sub_explicit(&pool->undone, 1, memory_order_release);
    return true;
}

static void sleep_until_called(struct worker_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->asleep, 1);
    while (!atomic_load(&pool->open) && !atomic_load(&pool->over)) {
        pthread_cond_wait(&pool->call, &pool->lock);
    }
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void *serve(void *argument)
{
    struct member *member = argument;
    struct worker_pool *pool = member->pool;

    if (member->bound) {
        pthread_setaffinity_np(pthread_self(), sizeof pool->processors, &pool->processors);
    }
    for (unsigned look = 0; !atomic_load_explicit(&pool->over, memory_order_relaxed); look++) {
        if (do_share(pool, member->number)) {
            look = 0;
        } else if (look < LOOKS) {
            rest(look);
        } else {
            sleep_until_called(pool);
        }
    }
    return NULL;
}

static void wake_all(struct worker_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->call);
    pthread_mutex_unlock(&pool->lock);
}

/* The caller's own share is nobody else's. A member that falls asleep at this moment may miss the
 * call: then its share is done here, and the next call wakes it. */
void worker_pool_run(struct worker_pool *pool, worker_pool_work *work, void *context)
{
    uint32_t others = (uint32_t)((UINT64_C(1) << pool->count) - 1) & ~UINT32_C(1);

    pool->work = work;
    pool->context = context;
    atomic_store_explicit(&pool->undone, pool->count - 1, memory_order_relaxed);
    atomic_store_explicit(&pool->open, others, memory_order_release);
    if (atomic_load_explicit(&pool->asleep, memory_order_relaxed)) {
        wake_all(pool);
    }
    work(context, 0);
    while (do_share(pool, 0)) {
        ;
    }
    for (unsigned look = 0; atomic_load_explicit(&pool->undone, memory_order_acquire); look++) {
        rest(look);
    }
}

/* The processor that a member begins on: so many after the caller's. */
static cpu_set_t first_processor(const struct worker_pool *pool, unsigned number)
{
    unsigned at = (unsigned)sched_getcpu() % CPU_SETSIZE;
    cpu_set_t one;

    CPU_ZERO(&one);
    for (unsigned left = number; left;) {
        at = (at + 1) % CPU_SETSIZE;
        left -= CPU_ISSET(at, &pool->processors) ? 1 : 0;
    }
    CPU_SET(at, &one);
    return one;
}

/* Left to the system, a new thread may wait on the caller's processor until it is moved, a
 * millisecond or more; so it begins on another one, and may go where it likes from then on. */
static bool make_thread(struct member *member)
{
    member->bound = CPU_COUNT(&member->pool->processors) > 1;
    if (member->bound) {
        cpu_set_t one = first_processor(member->pool, member->number);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
        int status = pthread_create(&member->thread, &attributes, serve, member);
        pthread_attr_destroy(&attributes);
        if (status == 0) {
            return true;
        }
        member->bound = false;
    }
    return pthread_create(&member->thread, NULL, serve, member) == 0;
}

/* Signals are for the caller's thread. */
static bool start(struct worker_pool *pool, unsigned members)
{
    sigset_t all, before;
    bool good = true;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (good && pool->count < members) {
        struct member *member = &pool->members[pool->count];
        *member = (struct member){.pool = pool, .number = pool->count};
        good = make_thread(member);
        pool->count += good;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

struct worker_pool *worker_pool_make(unsigned members)
{
    size_t bytes = sizeof(struct worker_pool) + members * sizeof(struct member);
    struct worker_pool *pool = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);

    if (!pool) {
        return NULL;
    }
    *pool = (struct worker_pool){.count = 1};
    if (sched_getaffinity(0, sizeof pool->processors, &pool->processors) != 0) {
        CPU_ZERO(&pool->processors); /* there are more than it has room for */
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->call, NULL);
    if (!start(pool, members)) {
        worker_pool_free(pool);
        return NULL;
    }
    return pool;
}

void worker_pool_free(struct worker_pool *pool)
{
    if (!pool) {
        return;
    }
    atomic_store(&pool->over, true);
    wake_all(pool);
    for (unsigned i = 1; i < pool->count; i++) {
        pthread_join(pool->members[i].thread, NULL);
    }
    pthread_cond_destroy(&pool->call);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
