/*
 * sim_rate.c - how many events a second the simulator handles: its queue alone, and all of it.
 *
 * The whole is an exchange of 64 and one of 1,024 nodes, from start to end. Times are of the
 * processor, so that other work does not count.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "bench/queue_rate.h"
#include "drivers/check.h"
#include "network/network.h"
#include "sim/simulation.h"

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void print_queue(uint32_t nodes)
{
    printf("queue, %u events under way: %.1f million events a second\n", (unsigned)nodes,
           queue_rate(nodes));
}

static void measure_machine(unsigned dims, uint32_t bytes)
{
    struct sim_options options = {.profile = {65425, 9575, 425, 1500, 0},
                                  .scenario = SIM_EXCHANGE,
                                  .sizes = {bytes},
                                  .size_count = 1,
                                  .seed = 1,
                                  .contents = SIM_CHECKED,
                                  .image_bytes = 512,
                                  .download_x = 3};
    struct sim_result result;
    CHECK(network_make(&options.network, NETWORK_CUBE, NULL, dims));
    double start = seconds();
    struct sim *sim = sim_make(&options);

    while (sim && sim_advance(sim, 100000)) {
        ;
    }
    if (!sim) {
        return;
    }
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
    print_queue(1024);
    print_queue(65536);
    measure_machine(6, 100);
    measure_machine(10, 16);
    return 0;
}
