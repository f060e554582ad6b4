/*
 * sim_rate.c - how many events a second the simulator handles: its queue alone, and all of it.
 *
 * The queue is measured by the hold model: an event is taken and comes again at a random later time,
 * with as many under way as there are nodes. The whole is a complete exchange of 1,024 nodes, from
 * making the mesh to its end. Times are of the processor, so that other work does not count.
 *
 * Source  the hold model: Jones, An empirical comparison of priority-queue and event-set
 *         implementations, Communications of the ACM 29(4), 1986
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "sim/mesh.h"
#include "sim/queue.h"
#include "sim/random.h"

enum { HOLDS = 5 * 1000 * 1000, SPREAD_NS = 100 * 1000 };

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void measure_queue(uint32_t nodes)
{
    struct queue queue = {0};
    uint64_t seed = 1, order = 0;

    for (uint32_t i = 0; i < nodes; i++)
        queue_add(&queue, (struct event){random_below(&seed, SPREAD_NS), order++, 0, i});
    double start = seconds();
    for (uint32_t i = 0; i < HOLDS; i++) {
        struct event event = queue_take(&queue);
        event.time_ns += random_below(&seed, SPREAD_NS);
        event.order = order++;
        queue_add(&queue, event);
    }
    printf("queue, %u events under way: %.1f million events a second\n", (unsigned)nodes,
           HOLDS / (seconds() - start) / 1e6);
    queue_free(&queue);
}

static void measure_mesh(unsigned dims, uint32_t bytes)
{
    struct sim_options options = {.dims = dims,
                                  .profile = {65425, 9575, 425, 1500, 0},
                                  .scenario = SIM_EXCHANGE,
                                  .sizes = {bytes},
                                  .size_count = 1,
                                  .seed = 1,
                                  .contents = SIM_CHECKED,
                                  .image_bytes = 512,
                                  .download_x = 3};
    struct sim_result result;
    double start = seconds();
    struct sim *sim = sim_make(&options);

    while (sim && sim_advance(sim, 100000))
        ;
    if (!sim)
        return;
    sim_result(sim, &result);
    double taken = seconds() - start;
    printf("exchange of %u bytes, %u nodes: %" PRIu64 " events in %.1f s: %.2f million a second, "
           "%" PRIu64 " bytes per node\n",
           (unsigned)bytes, 1u << dims, result.events, taken, (double)result.events / taken / 1e6,
           result.node_bytes);
    sim_free(sim);
}

int main(void)
{
    measure_queue(1024);
    measure_queue(65536);
    measure_mesh(6, 100);
    measure_mesh(10, 16);
    return 0;
}
