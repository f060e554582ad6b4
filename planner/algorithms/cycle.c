#include "planner/algorithms/cycle.h"

#include <stdlib.h>

#include "network/hamilton.h"
#include "planner/algorithms/lines.h"

static void fold(struct cycle *cycle, const uint32_t *path)
{
    uint32_t nodes = cycle->nodes;

    for (uint32_t place = 0; place < nodes; place++) {
        uint32_t here = fold_at(nodes, place), next = fold_at(nodes, (place + 1) % nodes);
        cycle->at[place] = path[here];
        if (here + 2 == next || next + 2 == here) {
            cycle->via[place] = path[(here + next) / 2];
        }
    }
}

struct cycle cycle_make(const struct network *network)
{
    struct cycle cycle = {.nodes = network->nodes};
    uint32_t *path = planner_memory(cycle.nodes, sizeof *path);

    cycle.at = planner_memory(cycle.nodes, sizeof *cycle.at);
    cycle.via = planner_memory(cycle.nodes, sizeof *cycle.via);
    for (uint32_t i = 0; i < cycle.nodes; i++) {
        cycle.via[i] = FLOW_DIRECT;
    }
    if (!hamilton_order(network, cycle.at)) {
        hamilton_order(network, path);
        fold(&cycle, path);
    }
    free(path);
    return cycle;
}

void cycle_free(struct cycle *cycle)
{
    free(cycle->at);
    free(cycle->via);
}
