/*
 * campaign_main.c - `make campaign`: complete sweeps up to 64 nodes, and 10,000 seeds.
 *
 * Up to 16 nodes every link event is failed in every way. From 32 nodes on every event is failed
 * once, by one action after the other; of the exchange of 64 nodes every so manyth, so that all of
 * it takes minutes.
 *
 * Arguments, all optional: first seed, number of seeds, dimensions from and to, stride of the
 * exchange of 64 nodes. From dimension 0 there is no sweep: `build/campaign 3136 1 0` is one seed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/campaign/campaign.h"

enum { SEEDS = 10000, SEEDS_AT_ONCE = 500, SHARDS_MAX = 16, ALL_ACTIONS_NODES = 16, STRIDE = 4 };

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static unsigned processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : count > SHARDS_MAX ? (unsigned)SHARDS_MAX : (unsigned)count;
}

static void print_tally(const char *name, const struct campaign_tally *tally, double took)
{
    printf("%s%-24s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %6" PRIu64
           " %9.3f %9.3f %8.1f\n",
           isatty(STDOUT_FILENO) ? "\r" : "", name, tally->runs, tally->right, tally->named,
           tally->given_up, tally->failed, (double)tally->wall_max_ns / 1e9,
           (double)tally->over_max_ns / 1e9, took);
    fflush(stdout);
}

static void progress(const char *name, unsigned part, unsigned parts)
{
    if (isatty(STDOUT_FILENO)) {
        printf("\r%-24s part %u of %u", name, part, parts);
        fflush(stdout);
    }
}

static struct campaign_tally sweep(enum sim_scenario scenario, const char *network, unsigned stride)
{
    bool once = network_of(network).nodes > ALL_ACTIONS_NODES;
    char name[32];
    struct campaign_tally sum = {0};
    double start = seconds();

    snprintf(name, sizeof name, "%s, %s", sim_scenario_name(scenario), network);
    for (unsigned action = 1; action <= CAMPAIGN_ACTIONS; action++) {
        struct campaign campaign = {.name = name,
                                    .options = campaign_options(network, scenario),
                                    .action = (enum sim_action)action,
                                    .first = once ? 1 + (action - 1) * stride : 1,
                                    .stride = once ? CAMPAIGN_ACTIONS * stride : 1};
        progress(name, action, CAMPAIGN_ACTIONS);
        struct campaign_tally tally = campaign_run(&campaign, processors());
        campaign_add(&sum, &tally);
    }
    print_tally(name, &sum, seconds() - start);
    return sum;
}

static struct campaign_tally draw(uint64_t first, uint64_t count)
{
    char name[32];
    struct campaign_tally sum = {0};
    double start = seconds();

    snprintf(name, sizeof name, "seeds");
    for (uint64_t done = 0; done < count; done += SEEDS_AT_ONCE) {
        struct campaign campaign = {.name = name,
                                    .first = first + done,
                                    .stride = 1,
                                    .seeds = count - done < SEEDS_AT_ONCE ? count - done
                                                                          : SEEDS_AT_ONCE};
        progress(name, (unsigned)(done / SEEDS_AT_ONCE) + 1,
                 (unsigned)((count - 1) / SEEDS_AT_ONCE) + 1);
        struct campaign_tally tally = campaign_run(&campaign, processors());
        campaign_add(&sum, &tally);
    }
    print_tally(name, &sum, seconds() - start);
    return sum;
}

static uint64_t argument(int argc, char **argv, int index, uint64_t usual)
{
    return argc > index ? strtoull(argv[index], NULL, 10) : usual;
}

/* All scenarios on cubes of some dimensions, and on the other networks. */
static struct campaign_tally sweep_all(unsigned dims, unsigned dims_max, unsigned stride)
{
    static const enum sim_scenario scenarios[] = {SIM_LOAD,      SIM_EXCHANGE, SIM_BROADCAST,
                                                  SIM_ALLGATHER, SIM_REDUCE,   SIM_RANDOM};
    static const char *const others[] = {"ring:5",   "ring:6",    "ring:16",    "mesh:3x4",
                                         "mesh:1x7", "torus:4x4", "torus:3x4x2"};
    struct campaign_tally sum = {0}, tally;
    char cube[16], why[SIM_WHY_MAX];

    for (; dims <= dims_max; dims++) {
        for (unsigned i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
            snprintf(cube, sizeof cube, "cube:%u", dims);
            tally =
                sweep(scenarios[i], cube, dims == 6 && scenarios[i] == SIM_EXCHANGE ? stride : 1);
            campaign_add(&sum, &tally);
        }
    }
    for (unsigned n = 0; n < sizeof others / sizeof others[0]; n++) {
        for (unsigned i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
            struct network network = network_of(others[n]);
            if (!sim_scenario_fits(scenarios[i], &network, why)) {
                continue;
            }
            tally = sweep(scenarios[i], others[n], 1);
            campaign_add(&sum, &tally);
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t first = argument(argc, argv, 1, 1), count = argument(argc, argv, 2, SEEDS);
    unsigned dims = (unsigned)argument(argc, argv, 3, 2);
    unsigned dims_max = (unsigned)argument(argc, argv, 4, 6);
    unsigned stride = (unsigned)argument(argc, argv, 5, STRIDE);
    struct campaign_tally sum = {0}, tally;
    double start = seconds();

    printf("%-24s %8s %8s %8s %8s %6s %9s %9s %8s\n%-24s %8s %8s %8s %8s %6s %9s %9s %8s\n", "", "",
           "right", "error", "of these", "", "longest,", "over its", "", "", "runs", "data",
           "named", "cut off", "failed", "s of sim.", "reference", "took, s");
    if (dims) {
        sum = sweep_all(dims, dims_max, stride);
    }
    tally = draw(first, count);
    campaign_add(&sum, &tally);
    print_tally("all", &sum, seconds() - start);
    return sum.failed ? 1 : 0;
}
