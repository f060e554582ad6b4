/*
 * queue_rate.c - takes an event and adds it again, five million times.
 */
#include "bench/queue_rate.h"

#include <time.h>

#include "sim/core/queue.h"
#include "sim/core/random.h"

enum { HOLDS = 5 * 1000 * 1000, SPREAD_NS = 100 * 1000 };

double queue_rate(uint32_t under_way)
{
    struct queue queue = {0};
    uint64_t seed = 1, order = 0;

    for (uint32_t i = 0; i < under_way; i++) {
        queue_add(&queue, (struct event){random_below(&seed, SPREAD_NS), order++, 0, i});
    }
    clock_t start = clock();
    for (uint32_t i = 0; i < HOLDS; i++) {
        struct event event = queue_take(&queue);
        event.time_ns += random_below(&seed, SPREAD_NS);
        event.order = order++;
        queue_add(&queue, event);
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    queue_free(&queue);
    return HOLDS / seconds / 1e6;
}
