/*
 * download.c - which messages a strategy sends, and the time that its formula gives.
 *
 * A block of ranks is halved as network.h says: on a cube into subcubes, on a ring into arcs. A
 * message to the root of a block carries the private blocks of its nodes and the common part once;
 * the root keeps the first half and gives the rest on, again with the common part.
 *
 *     cube:3, decremental, x = 1: the host sends (4, four nodes), (2, two nodes), (0, two nodes)
 *
 *         host   4: common + 4 blocks | 2: common + 2 blocks | 0: common + 2 blocks
 *         4                             6: common + 2        | 5, 7: common + 1 each
 *         2                                                  | 3: common + 1
 *         0                                                                         | 1: common + 1
 *
 * The last block is the smallest, so its own scattering, which nothing hides, is the shortest.
 */
#include "controller/download.h"

#include <stdio.h>
#include <string.h>

#include "drivers/check.h"
#include "network/network.h"

static const char *const names[] = {
    [STRATEGY_DECREMENTAL] = "decremental",
    [STRATEGY_SEQUENTIAL] = "sequential",
    [STRATEGY_SCATTER] = "scatter",
    [STRATEGY_SEQUENTIAL_SCATTER] = "sequential-scatter",
};

bool download_parse_strategy(const char *text, enum strategy *strategy,
                             char error[DOWNLOAD_ERROR_MAX])
{
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *strategy = (enum strategy)i;
            return true;
        }
    }
    snprintf(error, DOWNLOAD_ERROR_MAX,
             "unknown strategy '%.40s': use decremental, sequential, scatter or sequential-scatter",
             text);
    return false;
}

const char *download_strategy_name(enum strategy strategy)
{
    return names[strategy];
}

/* What one node holds in the end: M of the paper. */
static uint64_t set_bytes(const struct download_costs *costs)
{
    return costs->common_bytes + costs->block_bytes;
}

/* Formula (6): the host does all, one node after another. Every node gets the common part over the
 * host's own link, which is what the other strategies save. */
uint64_t download_sequential_ns(const struct download_costs *costs, unsigned dims)
{
    return (UINT64_C(1) << dims) * (costs->beta_host_ns + set_bytes(costs) * costs->tau_ns);
}

/* Formula (9) counts on the last block being the last to end. Where the host's start-up is shorter
 * than a node's it sends faster than a root can scatter, and an earlier block may end later. */
const char *download_note(uint64_t model_ns, uint64_t predicted_ns)
{
    return model_ns > predicted_ns ? "; formula (9) is too small below sigma 1" : "";
}

/* Start-ups are left out: whatever a strategy does, the host's port must send each block once, and
 * the common part at least once. */
uint64_t download_bound_ns(const struct download_costs *costs, uint32_t nodes)
{
    return (costs->common_bytes + costs->block_bytes * nodes) * costs->tau_ns;
}

/* Formula (7): one message to node 0, which halves d times. As the paper has it, each block goes
 * with its own copy of the common part, so this is more than our scatter takes. */
uint64_t download_scatter_ns(const struct download_costs *costs, unsigned dims)
{
    uint64_t nodes = UINT64_C(1) << dims;

    return costs->beta_host_ns + set_bytes(costs) * nodes * costs->tau_ns + dims * costs->beta_ns +
           set_bytes(costs) * (nodes - 1) * costs->tau_ns;
}

/* Formula (8): the subcube of node 0 by one message, then the host serves the others one by one.
 * Host and root work at the same time; whoever is later ends it. */
uint64_t download_sequential_scatter_ns(const struct download_costs *costs, unsigned dims,
                                        unsigned x)
{
    uint64_t inside = UINT64_C(1) << x;
    uint64_t outside = (UINT64_C(1) << dims) - inside;
    uint64_t host = outside * (costs->beta_host_ns + set_bytes(costs) * costs->tau_ns);
    uint64_t scatter = x * costs->beta_ns + set_bytes(costs) * (inside - 1) * costs->tau_ns;

    return costs->beta_host_ns + set_bytes(costs) * inside * costs->tau_ns +
           (host > scatter ? host : scatter);
}

/* The time of a message's bytes and of the hops after the first, which is part of the start-up: in
 * the paper every message goes over one link. */
static uint64_t transfer_ns(const struct download_costs *costs, uint32_t count, unsigned hops)
{
    return (costs->common_bytes + costs->block_bytes * count) * costs->tau_ns +
           (hops > 1 ? hops - 1 : 0) * costs->hop_ns;
}

/* From the host to a node: its link to node 0 is none of the network's, those to others stand for
 * the first hop. */
static uint64_t host_message_ns(const struct download_costs *costs, const struct network *network,
                                uint32_t root, uint32_t count)
{
    return costs->beta_host_ns + transfer_ns(costs, count, network_distance(network, 0, root));
}

/* The time that node 0 needs to scatter to its block. Its children scatter on meanwhile, and end no
 * later than it does: what it gives away is never the larger half.
 *
 *     a block of 4: beta + (common + 2 blocks) tau, to node 2; beta + (common + 1 block) tau, to 1
 */
static uint64_t block_scatter_ns(const struct download_costs *costs, const struct network *network,
                                 uint32_t count)
{
    uint64_t ns = 0;

    while (count > 1) {
        uint32_t half = network_half(network, count);

        ns += costs->beta_ns + transfer_ns(costs, count - half, network_distance(network, 0, half));
        count = half;
    }
    return ns;
}

/* The ranks that node 0 keeps when its block has x halvings left: 2^x on a cube. Elsewhere halves
 * may differ in size, so it is counted from the whole machine down. */
static uint32_t block_of(const struct network *network, unsigned x)
{
    uint32_t count = network->nodes;

    for (unsigned left = network_halvings(network); left > x; left--) {
        count = network_half(network, count);
    }
    return count;
}

/* The host's messages one after another, then what the last root does when it has its own: nothing
 * else is on the critical path. The same walk as add_halves, which makes the messages.
 *
 *     cube:2, x = 1: beta_host + (common + 2 blocks) tau, to node 2 for 2 and 3
 *                  + beta_host + (common + 2 blocks) tau, to node 0 for 0 and 1
 *                  + beta + (common + 1 block) tau,       from 0 to 1; 2 serves 3 meanwhile
 */
uint64_t download_decremental_ns(const struct download_costs *costs, const struct network *network,
                                 unsigned x)
{
    uint32_t count = network->nodes, last = block_of(network, x);
    uint64_t ns = 0;

    while (count > last) {
        uint32_t half = network_half(network, count);

        ns += host_message_ns(costs, network, half, count - half);
        count = half;
    }
    return ns + host_message_ns(costs, network, 0, last) + block_scatter_ns(costs, network, last);
}

unsigned download_best_x(const struct download_costs *costs, const struct network *network)
{
    unsigned best = 0;

    /* All are tried: there are at most as many as halvings, and on networks that are no cubes no
     * closed form says which is best. */
    for (unsigned x = 1; x <= network_halvings(network); x++) {
        if (download_decremental_ns(costs, network, x) <
            download_decremental_ns(costs, network, best)) {
            best = x;
        }
    }
    return best;
}

/* Adds a message, for which the plan has room; returns the host's time for it. */
static uint64_t add_message(struct download_plan *plan, const struct download_costs *costs,
                            const struct network *network, uint32_t root, uint32_t count)
{
    CHECK(plan->count < DOWNLOAD_MESSAGES_MAX);
    plan->messages[plan->count++] = (struct download_message){.root = root, .count = count};
    plan->bytes += costs->block_bytes * count + costs->common_bytes;
    return host_message_ns(costs, network, root, count);
}

/* One message to each node from `first` on; returns the host's time. */
static uint64_t add_single_nodes(struct download_plan *plan, const struct download_costs *costs,
                                 const struct network *network, uint32_t first)
{
    uint64_t ns = 0;

    for (uint32_t node = first; node < network->nodes; node++) {
        ns += add_message(plan, costs, network, node, 1);
    }
    return ns;
}

/* The largest half first: its root works while the host goes on. There are as many messages as
 * halvings and one more, so they have room on every network that there may be. */
static void add_halves(struct download_plan *plan, const struct download_costs *costs,
                       const struct network *network)
{
    uint32_t count = network->nodes, last = block_of(network, plan->x);

    while (count > last) {
        uint32_t half = network_half(network, count);

        add_message(plan, costs, network, half, count - half);
        count = half;
    }
    add_message(plan, costs, network, 0, last);
    plan->predicted_ns = download_decremental_ns(costs, network, plan->x);
}

/* Whether so many messages have room: a strategy that sends one to each node may have more of them
 * than a plan holds, and then it is the user's choice that is refused. */
static bool check_count(uint32_t count, char error[DOWNLOAD_ERROR_MAX])
{
    if (count > DOWNLOAD_MESSAGES_MAX) {
        snprintf(error, DOWNLOAD_ERROR_MAX,
                 "this strategy sends %u messages, more than %d: use decremental or scatter",
                 (unsigned)count, DOWNLOAD_MESSAGES_MAX);
    }
    return count <= DOWNLOAD_MESSAGES_MAX;
}

bool download_make_plan(struct download_plan *plan, enum strategy strategy, int x,
                        const struct network *network, const struct download_costs *costs,
                        char error[DOWNLOAD_ERROR_MAX])
{
    unsigned halvings = network_halvings(network);
    uint64_t host, scatter;
    uint32_t block;

    /* A user's number: a smaller machine has fewer halvings than the one it was chosen for. */
    if (x != DOWNLOAD_X_BEST && (x < 0 || (unsigned)x > halvings)) {
        snprintf(error, DOWNLOAD_ERROR_MAX,
                 "--x %d: %u nodes are halved %u times: x is from 0 to %u", x,
                 (unsigned)network->nodes, halvings, halvings);
        return false;
    }
    *plan = (struct download_plan){.strategy = strategy};
    plan->x = x == DOWNLOAD_X_BEST ? download_best_x(costs, network) : (unsigned)x;
    switch (strategy) {
    case STRATEGY_SCATTER:
        plan->x = halvings; /* decremental scattering with one root */
        __attribute__((fallthrough));
    case STRATEGY_DECREMENTAL: add_halves(plan, costs, network); break;
    case STRATEGY_SEQUENTIAL:
        if (!check_count(network->nodes, error)) {
            return false;
        }
        plan->x = 0;
        plan->predicted_ns = add_single_nodes(plan, costs, network, 0);
        break;
    case STRATEGY_SEQUENTIAL_SCATTER:
        block = block_of(network, plan->x);
        if (!check_count(1 + network->nodes - block, error)) {
            return false;
        }
        /* The root's message goes first, for all that is sent afterwards hides its scattering. */
        scatter = block_scatter_ns(costs, network, block);
        plan->predicted_ns = add_message(plan, costs, network, 0, block);
        host = add_single_nodes(plan, costs, network, block);
        plan->predicted_ns += host > scatter ? host : scatter;
        break;
    }
    return true;
}
