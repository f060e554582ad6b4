#include "planner/proof/bound.h"

#include "planner/build.h"
#include "planner/proof/link_load.h"
#include "drivers/check.h"

/* What the arguments ask of a plan. */
struct question {
    const struct plan *plan;
    const struct operation *operation;
    const struct network *network;
    const struct profile *profile;
    uint64_t bytes;
};

static struct question question_of(const struct plan *plan, uint32_t bytes,
                                   const struct profile *profile)
{
    return (struct question){plan, operation_of(plan->operation), &plan->network, profile, bytes};
}

static uint64_t set_up_ns(const struct question *q)
{
    return (uint64_t)q->profile->xi_ns + q->profile->tau_ns;
}

/* What so many bytes take, one after the other. */
static uint64_t flow_ns(const struct profile *profile, uint64_t bytes)
{
    return clock_elements(profile->element_bytes, bytes) * profile->element_ns;
}

static struct plan_bound larger(struct plan_bound a, struct plan_bound b)
{
    return b.ns > a.ns ? b : a;
}

static uint64_t divided(uint64_t amount, uint64_t by)
{
    return (amount + by - 1) / by;
}

/* What kind of operation ------------------------------------------------------------------------
 */

/* Whether each of a node's blocks goes to one other (operation_target). */
static bool permutes(const struct question *q)
{
    return q->operation->parameter;
}

/* Whether every node has a block for every other one. */
static bool exchanges(const struct question *q)
{
    return q->operation->span[SPACE_SEND] == SPAN_NODES &&
           q->operation->span[SPACE_RECEIVE] == SPAN_NODES;
}

/* Whether all get what all give, combined. */
static bool combines_for_all(const struct question *q)
{
    return q->operation->reduces && q->operation->vector && !q->operation->rooted &&
           !q->operation->prefix;
}

/* Whether something must come from one node to all others. */
static bool spreads(const struct question *q)
{
    return !permutes(q) && (!q->operation->rooted || q->operation->span[SPACE_SEND] != SPAN_ONE);
}

/* Whether the root alone has a block for, or of, every other node. */
static bool is_all_at_root(const struct question *q)
{
    return q->operation->span[SPACE_SEND] == SPAN_NODES_ROOT ||
           q->operation->span[SPACE_RECEIVE] == SPAN_NODES_ROOT;
}

/* The slots that a node sends from, of an operation that permutes. */
static uint32_t slots_of_one(const struct question *q)
{
    return operation_slots(q->operation, SPACE_SEND, q->network->nodes, 0, q->plan->root, 1);
}

/* Blocks, or vectors, that some node must send or receive; 0: they have none. */
static uint64_t blocks_of_one(const struct question *q)
{
    bool blocks = is_all_at_root(q) || q->operation->span[SPACE_SEND] == SPAN_NODES ||
                  q->operation->span[SPACE_RECEIVE] == SPAN_NODES;

    if (blocks) {
        return q->network->nodes - 1;
    }
    return permutes(q) ? slots_of_one(q) : q->operation->vector;
}

static bool in_table_1(const struct question *q)
{
    return q->network->kind == NETWORK_CUBE && q->plan->operation != ECUBE_BARRIER &&
           !q->operation->reduces && !permutes(q);
}

/* Distances and links ---------------------------------------------------------------------------
 */

static uint32_t target_of(const struct question *q, uint32_t node, uint32_t slot)
{
    return operation_target(q->operation, q->network, q->plan->root, node, slot);
}

/* The farthest that a block of a node has to go. */
static uint32_t farthest_target(const struct question *q)
{
    uint32_t most = 0;

    for (uint32_t slot = 0; slot < slots_of_one(q); slot++) {
        for (uint32_t node = 0; node < q->network->nodes; node++) {
            uint32_t hops = network_distance(q->network, node, target_of(q, node, slot));
            most = hops > most ? hops : most;
        }
    }
    return most;
}

/* The nodes that must hear of the farthest one, or it of them: any pair, or the root and any. */
static uint32_t farthest(const struct question *q)
{
    uint32_t hops = 0;

    for (unsigned k = 0; k < q->network->dims; k++) {
        const struct network_dimension *dim = &q->network->dim[k];
        uint32_t at = q->plan->root / dim->stride % dim->size, end = dim->size - 1;
        uint32_t far = !q->operation->rooted ? end : at > end - at ? at : end - at;
        hops += dim->wraps ? dim->size / 2 : far;
    }
    return hops;
}

/* Links of the node that has most of them, and of the one that has fewest. */
static uint32_t links_most(const struct network *network)
{
    uint32_t most = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        most += network->dim[k].size > 2 ? 2 : network->dim[k].size - 1;
    }
    return most;
}

static uint32_t links_fewest(const struct network *network)
{
    uint32_t fewest = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        fewest += network->dim[k].wraps ? 2 : network->dim[k].size > 1;
    }
    return fewest;
}

static uint32_t links_of(const struct network *network, uint32_t node)
{
    uint32_t links = 0;

    for (unsigned port = 0; port < network->ports; port++) {
        links += network_neighbour(network, node, port) != NETWORK_NO_NODE;
    }
    return links;
}

/* Of so many links as many as there are ports can be used at once. */
static uint32_t at_once(const struct profile *profile, uint32_t links)
{
    uint32_t ports = clock_ports(profile);

    return links == 0 ? 1 : links < ports ? links : ports;
}

/* Of an argument, the words for the ports that it counts. */
static const char *by_ports(const struct profile *profile, const char *one, const char *some,
                            const char *all)
{
    return clock_all_ports(profile) ? all : clock_ports(profile) > 1 ? some : one;
}

/* The arguments ---------------------------------------------------------------------------------
 */

/* Bytes over the ports of the node that has most to do. */
static uint64_t port_bytes(const struct question *q)
{
    uint64_t blocks = blocks_of_one(q);

    uint32_t links =
        is_all_at_root(q) ? links_of(q->network, q->plan->root) : links_fewest(q->network);
    uint32_t ports = at_once(q->profile, links);
    bool whole = !operation_has_segments(q->operation) && !in_table_1(q);
    return whole ? divided(blocks, ports) * q->bytes : divided(blocks * q->bytes, ports);
}

static struct plan_bound ports_bound(const struct question *q)
{
    return (struct plan_bound){
        set_up_ns(q) + flow_ns(q->profile, port_bytes(q)),
        by_ports(q->profile, "the bytes that one node must send or receive, through its port",
                 "the bytes that one node must send or receive, through its ports",
                 "the bytes that one node must send or receive, over all its links")};
}

static struct plan_bound passes_bound(const struct question *q)
{
    uint64_t nodes = q->network->nodes, passes = 2 * (nodes - 1) * q->bytes;
    uint64_t links = 2 * (uint64_t)network_link_count(q->network);
    uint64_t ports = nodes * clock_ports(q->profile), by = links < ports ? links : ports;

    if (!combines_for_all(q)) {
        return (struct plan_bound){0, ""};
    }
    return (struct plan_bound){
        set_up_ns(q) + flow_ns(q->profile, divided(passes, by)),
        by_ports(q->profile,
                 "each element is passed on 2 (N - 1) times before all N nodes have its sum: a "
                 "node's share of that, through its port",
                 "each element is passed on 2 (N - 1) times before all N nodes have its sum: a "
                 "node's share of that, through its ports",
                 "each element is passed on 2 (N - 1) times before all N nodes have its sum, over "
                 "all links")};
}

/* What comes from one node to one other, through a node's ports. */
static uint64_t between_bytes(const struct question *q)
{
    uint64_t bytes = blocks_of_one(q) ? q->bytes : 0;

    return operation_has_segments(q->operation)
               ? divided(bytes, at_once(q->profile, links_most(q->network)))
               : bytes;
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

static struct plan_bound rounds_bound(const struct question *q)
{
    uint32_t ports = at_once(q->profile, links_most(q->network));

    if (!spreads(q)) {
        return (struct plan_bound){0, ""};
    }
    return (struct plan_bound){
        rounds_of(q->network->nodes, ports) * set_up_ns(q) + flow_ns(q->profile, between_bytes(q)),
        "who has heard of one node cannot grow faster while circuits are set up"};
}

static struct plan_bound distance_bound(const struct question *q)
{
    uint64_t between = clock_elements(q->profile->element_bytes, between_bytes(q));
    uint64_t hops = permutes(q) ? farthest_target(q) : farthest(q);

    return (struct plan_bound){q->profile->xi_ns + hops * q->profile->tau_ns +
                                   (between ? hops + between - 1 : 0) * q->profile->element_ns,
                               "what goes between the nodes that are farthest from each other"};
}

/* Links that cut the lines of ranks that follow each other in two: one, or two of rings. */
static uint32_t links_of_lines(const struct network *network)
{
    const struct network_dimension *dim = network->dim;

    while (dim->stride > 1 || dim->size == 1) {
        dim++;
    }
    return dim->wraps && dim->size > 2 ? 2 : 1;
}

/* Bytes that some link must carry: of whole blocks, or of such as may be cut. */
static uint64_t link_bytes(const struct question *q)
{
    if (exchanges(q)) {
        return link_load_of_exchange(q->network) * q->bytes;
    }
    if (q->operation->prefix) {
        return divided(q->bytes, links_of_lines(q->network));
    }
    struct link_load load = link_load_begin(q->network);
    for (uint32_t slot = 0; permutes(q) && slot < slots_of_one(q); slot++) {
        for (uint32_t node = 0; node < q->network->nodes; node++) {
            link_load_add(&load, node, target_of(q, node, slot), q->bytes);
        }
    }
    return link_load_end(&load);
}

static struct plan_bound links_bound(const struct question *q)
{
    bool prefix = q->operation->prefix && !q->network->map;

    if (!permutes(q) && !exchanges(q) && !prefix) {
        return (struct plan_bound){0, ""};
    }
    return (struct plan_bound){
        set_up_ns(q) + flow_ns(q->profile, link_bytes(q)),
        prefix ? "the sums that some link of a line must carry, whatever ways they take"
               : "the blocks that some link of a dimension must carry, whatever ways they take"};
}

/* The bound -------------------------------------------------------------------------------------
 */

/* Whether there is nothing to do. */
static bool is_idle(const struct question *q, struct plan_bound *bound)
{
    if (q->network->nodes == 1) {
        *bound = (struct plan_bound){0, "one node has nothing to do"};
        return true;
    }
    if (permutes(q) && farthest_target(q) == 0) {
        *bound = (struct plan_bound){0, "every block is where it belongs"};
        return true;
    }
    return false;
}

struct plan_bound plan_bound_full(const struct plan *plan, uint32_t bytes,
                                  const struct profile *profile)
{
    struct question q = question_of(plan, bytes, profile);
    struct plan_bound bound;

    if (is_idle(&q, &bound)) {
        return bound;
    }
    bound = larger(ports_bound(&q), passes_bound(&q));
    bound = larger(bound, rounds_bound(&q));
    bound = larger(bound, links_bound(&q));
    return larger(bound, distance_bound(&q));
}

struct plan_bound plan_bound(const struct plan *plan, uint32_t bytes, const struct profile *profile)
{
    struct question q = question_of(plan, bytes, profile);
    struct plan_bound bound;

    if (is_idle(&q, &bound) || !in_table_1(&q)) {
        return plan_bound_full(plan, bytes, profile);
    }
    bound = larger(ports_bound(&q), links_bound(&q));
    bound.ns -= set_up_ns(&q);
    return bound;
}

/* The elements that some port of a node must send, or receive, one after the other. */
static uint64_t sized_port_bytes(const struct plan *plan, const uint32_t *bytes, uint32_t ports)
{
    uint32_t nodes = plan->network.nodes;
    uint64_t most = 0;

    for (uint32_t node = 0; node < nodes; node++) {
        uint64_t sent = 0, received = 0, longest = 0;
        for (uint32_t other = 0; other < nodes; other++) {
            uint64_t out = bytes[(size_t)node * nodes + other];
            uint64_t in = bytes[(size_t)other * nodes + node];
            if (other == node) {
                continue;
            }
            sent += out;
            received += in;
            longest = clock_max(longest, clock_max(out, in));
        }
        most = clock_max(most, clock_max(longest, divided(clock_max(sent, received), ports)));
    }
    return most;
}

static uint64_t sized_link_bytes(const struct plan *plan, const uint32_t *bytes)
{
    uint32_t nodes = plan->network.nodes;
    struct link_load load = link_load_begin(&plan->network);

    for (uint32_t from = 0; from < nodes; from++) {
        for (uint32_t to = 0; to < nodes; to++) {
            link_load_add(&load, from, to, bytes[(size_t)from * nodes + to]);
        }
    }
    return link_load_end(&load);
}

uint64_t plan_bound_sized_ns(const struct plan *plan, const uint32_t *bytes,
                             const struct profile *profile)
{
    uint32_t ports = at_once(profile, links_fewest(&plan->network));
    uint64_t most = clock_max(sized_port_bytes(plan, bytes, ports), sized_link_bytes(plan, bytes));

    CHECK(exchanges(&(struct question){.operation = operation_of(plan->operation)}));
    return plan->network.kind == NETWORK_CUBE || most == 0
               ? flow_ns(profile, most)
               : (uint64_t)profile->xi_ns + profile->tau_ns + flow_ns(profile, most);
}
