#include "planner/proof/bound.h"

#include <stdlib.h>

#include "planner/build.h"

/* The nodes that must hear of the farthest one, or it of them: any pair, or the root and any. */
static uint32_t farthest(const struct network *network, bool rooted, uint32_t root)
{
    uint32_t hops = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t at = root / dim->stride % dim->size, end = dim->size - 1;
        uint32_t far = rooted && at > end - at ? at : rooted ? end - at : end;
        hops += dim->wraps ? dim->size / 2 : far;
    }
    return hops;
}

/* Links of the node that has most of them. */
static uint32_t links_most(const struct network *network)
{
    uint32_t most = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        most += network->dim[k].size > 2 ? 2 : network->dim[k].size - 1;
    }
    return most;
}

/* Whether each node's block goes to one other (operation_target). */
static bool permutes(const struct plan *plan)
{
    return operation_of(plan->operation)->parameter;
}

static uint32_t target_of(const struct plan *plan, uint32_t node)
{
    return operation_target(operation_of(plan->operation), &plan->network, plan->root, node);
}

/* The farthest that the block of a node has to go. */
static uint32_t farthest_target(const struct plan *plan)
{
    uint32_t most = 0;

    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        uint32_t hops = network_distance(&plan->network, node, target_of(plan, node));
        most = hops > most ? hops : most;
    }
    return most;
}

/* Bytes that some node must send or receive. */
static uint64_t bytes_of_one(const struct plan *plan, uint64_t bytes)
{
    const struct operation *operation = operation_of(plan->operation);
    bool blocks = operation->span[SPACE_SEND] == SPAN_NODES ||
                  operation->span[SPACE_SEND] == SPAN_NODES_ROOT ||
                  operation->span[SPACE_RECEIVE] == SPAN_NODES ||
                  operation->span[SPACE_RECEIVE] == SPAN_NODES_ROOT;

    if (plan->network.nodes == 1) {
        return 0;
    }
    return blocks                                ? (plan->network.nodes - 1) * bytes
           : operation->vector || permutes(plan) ? bytes
                                                 : 0;
}

/* The bytes that go from one node to one other, or from all to it. */
static uint64_t bytes_between(const struct plan *plan, uint64_t bytes)
{
    return bytes_of_one(plan, bytes) ? bytes : 0;
}

/* Whether something must come from one node to all others. */
static bool spreads(const struct operation *operation)
{
    if (operation->parameter) {
        return false;
    }
    return !operation->rooted || operation->span[SPACE_SEND] != SPAN_ONE;
}

static uint64_t divided(uint64_t bytes, uint32_t ports)
{
    return (bytes + ports - 1) / ports;
}

/* ceil(log of nodes to the base 1 + ports). */
static uint32_t rounds_of(uint64_t nodes, uint32_t ports)
{
    uint32_t rounds = 0;

    for (uint64_t reached = 1; reached < nodes; reached *= 1 + ports) {
        rounds++;
    }
    return rounds;
}

static bool in_table_1(const struct plan *plan)
{
    return plan->network.kind == NETWORK_CUBE && plan->operation != ECUBE_BARRIER &&
           !operation_of(plan->operation)->reduces && !permutes(plan);
}

/* A bound and why. */
struct bound {
    uint64_t ns;
    const char *argument;
};

static struct bound larger(struct bound a, struct bound b)
{
    return b.ns > a.ns ? b : a;
}

static struct bound elements_bound(const struct plan *plan, uint32_t bytes,
                                   const struct profile *profile, uint32_t ports)
{
    uint64_t elements = divided(bytes_of_one(plan, bytes), ports) * profile->element_ns;
    const char *ours = ports > 1
                           ? "the bytes that one node must send or receive, over all its links"
                           : "the bytes that one node must send or receive, through its port";

    if (in_table_1(plan)) {
        return (struct bound){elements, ours};
    }
    return (struct bound){profile->xi_ns + profile->tau_ns + elements, ours};
}

static struct bound rounds_bound(const struct plan *plan, uint32_t bytes,
                                 const struct profile *profile, uint32_t ports)
{
    uint64_t between = divided(bytes_between(plan, bytes), ports);
    uint64_t rounds = rounds_of(plan->network.nodes, ports);

    if (!spreads(operation_of(plan->operation))) {
        rounds = between = 0;
    }
    return (struct bound){rounds * (profile->xi_ns + profile->tau_ns) +
                              between * profile->element_ns,
                          "who has heard of one node cannot grow faster while circuits are set up"};
}

static struct bound distance_bound(const struct plan *plan, uint32_t bytes,
                                   const struct profile *profile, uint32_t ports)
{
    uint64_t between = divided(bytes_between(plan, bytes), ports);
    uint64_t hops = permutes(plan) ? farthest_target(plan)
                                   : farthest(&plan->network, operation_of(plan->operation)->rooted,
                                              plan->root);

    return (struct bound){profile->xi_ns + hops * profile->tau_ns +
                              (between ? hops + between - 1 : 0) * profile->element_ns,
                          "what goes between the nodes that are farthest from each other"};
}

/* The bytes of so many blocks, shared by so many links. */
static uint64_t shared(uint64_t blocks, uint64_t bytes, uint64_t links)
{
    return (blocks * bytes + links - 1) / links;
}

/* Bytes that must cross some link of a dimension: of rings all hops, shared by its directed links;
 * of lines what crosses a cut one way, shared by the lines side by side. */
static uint64_t bytes_across(const struct plan *plan, const struct network_dimension *dim,
                             uint64_t bytes)
{
    uint32_t nodes = plan->network.nodes, lines = nodes / dim->size;
    uint64_t *up = planner_memory(2 * ((uint64_t)dim->size + 1), sizeof *up);
    uint64_t *down = up + dim->size + 1, hops = 0, most = 0;

    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t at = node / dim->stride % dim->size;
        uint32_t to = target_of(plan, node) / dim->stride % dim->size;
        uint32_t apart = at > to ? at - to : to - at;
        hops += apart < dim->size - apart ? apart : dim->size - apart;
        up[at] += at < to; /* it crosses the links behind `at`, as far as `to` */
        up[to] -= at < to;
        down[to] += to < at;
        down[at] -= to < at;
    }
    for (uint32_t i = 0; i < dim->size && !dim->wraps; i++) {
        most = clock_max(most, clock_max(up[i], down[i]));
        up[i + 1] += up[i];
        down[i + 1] += down[i];
    }
    free(up);
    return dim->wraps ? shared(hops, bytes, 2 * (uint64_t)nodes) : shared(most, bytes, lines);
}

static struct bound links_bound(const struct plan *plan, uint32_t bytes,
                                const struct profile *profile)
{
    uint64_t most = 0;

    for (unsigned k = 0; k < plan->network.dims && permutes(plan); k++) {
        most = clock_max(most, bytes_across(plan, &plan->network.dim[k], bytes));
    }
    return (struct bound){most ? profile->xi_ns + profile->tau_ns + most * profile->element_ns : 0,
                          "the bytes that must cross some link of a dimension"};
}

static struct bound bound_of(const struct plan *plan, uint32_t bytes, const struct profile *profile)
{
    uint32_t ports = profile->all_port ? links_most(&plan->network) : 1;

    if (plan->network.nodes == 1) {
        return (struct bound){0, "one node has nothing to do"};
    }
    if (permutes(plan) && farthest_target(plan) == 0) {
        return (struct bound){0, "every block is where it belongs"};
    }
    struct bound bound = elements_bound(plan, bytes, profile, ports);
    if (in_table_1(plan)) {
        return bound;
    }
    bound = larger(bound, rounds_bound(plan, bytes, profile, ports));
    bound = larger(bound, links_bound(plan, bytes, profile));
    return larger(bound, distance_bound(plan, bytes, profile, ports));
}

uint64_t plan_bound_ns(const struct plan *plan, uint32_t bytes, const struct profile *profile)
{
    return bound_of(plan, bytes, profile).ns;
}

const char *plan_bound_argument(const struct plan *plan, uint32_t bytes,
                                const struct profile *profile)
{
    return bound_of(plan, bytes, profile).argument;
}
