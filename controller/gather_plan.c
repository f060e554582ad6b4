#include "controller/gather_plan.h"

#include <stdbool.h>
#include <string.h>

#include "drivers/check.h"
#include "wire/frame.h"
#include "wire/gather.h"

/* A replay under way. */
struct replay {
    const struct network *network;
    const struct profile *profile;
    struct gather_node *nodes;
    uint64_t *free_ns; /* of each node's links outwards, the host's last */
    uint64_t host_ns;  /* its receive port is free */
};

/* A range that is being collected. */
struct range {
    uint32_t root, count;
    unsigned parts, next;
};

static size_t links_of(const struct network *network)
{
    return network->ports + 1u;
}

size_t gather_scratch_bytes(const struct network *network)
{
    return network->nodes * (sizeof(struct gather_node) + links_of(network) * sizeof(uint64_t));
}

uint32_t gather_range(const struct network *network, const struct gather_plan *plan, uint32_t rank)
{
    uint32_t count, root = network_range(network, network_range_of(network, rank), &count);
    uint32_t first = root;
    unsigned chain = plan->chain > plan->depth ? plan->chain : plan->depth;

    for (unsigned level = 0; count > 1 && level < (first == root ? chain : plan->depth); level++) {
        uint32_t half = network_half(network, count);
        if (rank < first + half) {
            count = half;
        } else {
            first += half;
            count -= half;
        }
    }
    return count;
}

/* Over which link a message to the host goes on, as the router says (packet.c). */
static unsigned hop_to_host(const struct network *network, uint32_t at)
{
    uint32_t root = network_host_root(network, at);

    for (unsigned k = 0; k < network->dims; k++) {
        unsigned port = network_port_toward(network, at, root, k);
        if (port != NETWORK_NO_PORT) {
            return port;
        }
    }
    return network->ports;
}

static unsigned next_hop(const struct network *network, uint32_t at, uint32_t to)
{
    return to == ID_HOST ? hop_to_host(network, at) : network_next_hop(network, at, to);
}

static uint64_t start_up_ns(const struct replay *replay, uint64_t ns, bool host)
{
    return host ? ns * replay->profile->sigma_permille / 1000 : ns;
}

/* A link of the path, and what is behind it. */
static uint64_t *pass(const struct replay *replay, uint32_t *at, uint32_t to)
{
    unsigned port = next_hop(replay->network, *at, to);
    uint64_t *free_ns = &replay->free_ns[*at * links_of(replay->network) + port];

    *at = port == replay->network->ports ? ID_HOST : network_neighbour(replay->network, *at, port);
    return free_ns;
}

/* The message of a range goes to the node that collects it, or to the host. A node sends once, so
 * its send port is free. */
static void send(struct replay *replay, uint32_t from, uint32_t to)
{
    const struct profile *profile = replay->profile;
    const struct gather_node *node = &replay->nodes[from];
    uint64_t *receiver_ns = to == ID_HOST ? &replay->host_ns : &replay->nodes[to].ready_ns;
    uint64_t ns = node->ready_ns + start_up_ns(replay, profile->xi_ns, to == ID_HOST);
    uint32_t hops = 0;

    for (uint32_t at = from; at != to; hops++) {
        const uint64_t *free_ns = pass(replay, &at, to);
        ns = clock_hop(ns, *free_ns, start_up_ns(replay, profile->tau_ns, at == ID_HOST));
    }
    if (!clock_all_ports(profile) && (to != ID_HOST || replay->network->host_links == 0)) {
        ns = clock_max(ns, *receiver_ns);
    }
    ns += clock_transfer(profile, hops, (uint32_t)node->held_bytes);
    for (uint32_t at = from; at != to;) {
        *pass(replay, &at, to) = ns;
    }
    *receiver_ns = clock_max(*receiver_ns, ns);
}

/* Whether a node has room for what the others of its range have, and it is one message. */
static bool has_room(const struct replay *replay, const struct range *range)
{
    const struct gather_node *node = &replay->nodes[range->root];
    uint64_t table = (uint64_t)range->count * OUTPUT_ROW_BYTES;

    return node->held_bytes - node->bytes + table - OUTPUT_ROW_BYTES <= node->room &&
           node->held_bytes + table < UINT32_MAX;
}

static struct range range_of(const struct replay *replay, uint32_t root, uint32_t count)
{
    return (struct range){
        .root = root, .count = count, .parts = network_parts(replay->network, count)};
}

/* Each part is collected before its root sends it on, the nearest first. */
static bool collect(struct replay *replay, uint32_t root, uint32_t count)
{
    struct range ranges[NETWORK_HALVINGS_MAX + 1];
    unsigned deep = 1;

    ranges[0] = range_of(replay, root, count);
    for (;;) {
        struct range *range = &ranges[deep - 1];
        if (range->next < range->parts) {
            uint32_t part,
                offset = network_part(replay->network, range->count, range->next++, &part);
            CHECK(deep <= NETWORK_HALVINGS_MAX);
            ranges[deep++] = range_of(replay, range->root + offset, part);
            continue;
        }
        if (!has_room(replay, range)) {
            return false;
        }
        if (--deep == 0) {
            return true;
        }
        send(replay, range->root, ranges[deep - 1].root);
        replay->nodes[ranges[deep - 1].root].held_bytes += replay->nodes[range->root].held_bytes;
    }
}

uint64_t gather_replay(const struct network *network, const struct profile *profile,
                       const struct gather_plan *plan, struct gather_node *nodes)
{
    struct replay replay = {.network = network,
                            .profile = profile,
                            .nodes = nodes,
                            .free_ns = (uint64_t *)(void *)(nodes + network->nodes)};
    uint32_t count;

    memset(replay.free_ns, 0, network->nodes * links_of(network) * sizeof *replay.free_ns);
    for (uint32_t rank = 0; rank < network->nodes; rank++) {
        nodes[rank].held_bytes = nodes[rank].bytes;
        nodes[rank].ready_ns = 0;
    }
    for (uint32_t rank = 0; rank < network->nodes; rank += count) {
        count = gather_range(network, plan, rank);
        if (!collect(&replay, rank, count)) {
            return UINT64_MAX;
        }
        send(&replay, rank, ID_HOST);
    }
    return replay.host_ns;
}

/* Each node by itself needs no room, so the deepest halvings always do. */
struct gather_plan gather_plan_make(const struct network *network, const struct profile *profile,
                                    struct gather_node *nodes)
{
    unsigned halvings = network_halvings(network);
    struct gather_plan best = {.predicted_ns = UINT64_MAX};

    for (unsigned depth = 0; depth <= halvings && best.predicted_ns == UINT64_MAX; depth++) {
        for (unsigned chain = depth; chain <= halvings; chain++) {
            struct gather_plan plan = {.chain = chain, .depth = depth};
            plan.predicted_ns = gather_replay(network, profile, &plan, nodes);
            best = plan.predicted_ns < best.predicted_ns ? plan : best;
        }
    }
    CHECK(best.predicted_ns != UINT64_MAX);
    return best;
}

uint64_t gather_cube_ns(const struct profile *profile, unsigned dims, unsigned x, uint32_t bytes)
{
    uint64_t beta_ns = (uint64_t)profile->xi_ns + profile->tau_ns;
    uint64_t beta_host_ns = (uint64_t)profile->xi_ns * profile->sigma_permille / 1000 +
                            (uint64_t)profile->tau_ns * profile->sigma_permille / 1000;
    uint64_t output_ns = clock_elements(profile->element_bytes, bytes) * profile->element_ns;
    uint64_t first_ns = x * beta_ns + (output_ns << x);
    uint64_t last_ns = dims > 0 ? (dims - 1) * beta_ns : 0;

    return beta_host_ns + ((UINT64_C(1) << dims) - 1) * output_ns + clock_max(first_ns, last_ns);
}
