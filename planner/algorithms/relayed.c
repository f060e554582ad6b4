/*
 * relayed.c - the complete exchange over all links of small meshes and lines: from neighbour to
 * neighbour, in as few steps as the busiest cut has blocks a link, or nearly.
 *
 * In a step every link brings one block a hop nearer to its end. Links choose in a drawn order,
 * each the block with the most hops to go, and sooner one that has no other way left; what is
 * equal is drawn. That is done again and again, until it takes no more steps than it must, or the
 * work is done; the shortest is laid down. On lines and on meshes of two dimensions, of up
 * to 12 nodes, that is the bound of cuts (tests/planner/steps_test.c); mesh:2x3x2 takes 9, not 8.
 *
 *     mesh:3x2    4 steps: 2 nodes send a block to each of 4 over 2 links; 7 links carry 50 hops
 *
 * Draws are of a fixed seed, and work is counted, so the plan is the same on every machine. Where
 * nodes have fewer ports than links, a step becomes several (flow_ports.c).
 *
 * Names    hop: from a node to its neighbour; packet: one node's block for one other
 */
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/flow.h"
#include "planner/build.h"

enum {
    NODES_MAX = 16,
    PACKETS_MAX = NODES_MAX * (NODES_MAX - 1),
    LINKS_MAX = NODES_MAX * 4,
    HOPS_MAX = PACKETS_MAX * (NODES_MAX - 1),
    WORK = 40 * 1000 * 1000, /* packets that are looked at */
    /* What counts in the choice of a packet: a hop to go, no other way, a draw. */
    PER_HOP = 16,
    ONE_WAY = 21,
    DRAWN = 4
};

struct hop {
    uint32_t step;
    uint16_t packet;
    uint8_t from, to;
};

struct packet {
    uint8_t source, end, at;
    uint8_t next;     /* where it is when the step is over */
    uint32_t scratch; /* its slot there, when it is laid down */
};

struct relay {
    const struct network *network;
    struct packet packets[PACKETS_MAX];
    uint32_t packet_count, link_count;
    uint8_t link_from[LINKS_MAX], link_to[LINKS_MAX];
    uint8_t distance[NODES_MAX][NODES_MAX];
    bool one_way[NODES_MAX][NODES_MAX]; /* all shortest ways begin with the same hop */
    struct hop hops[HOPS_MAX], best[HOPS_MAX];
    uint32_t count, best_count, best_steps;
    uint64_t hops_all; /* of all packets */
    uint64_t draw, work;
};

static uint32_t drawn(struct relay *r, uint32_t below)
{
    r->draw ^= r->draw << 13;
    r->draw ^= r->draw >> 7;
    r->draw ^= r->draw << 17;
    return (uint32_t)(r->draw >> 11) % below;
}

static void look_round(struct relay *r)
{
    uint32_t nodes = r->network->nodes;

    for (uint32_t from = 0; from < nodes; from++) {
        for (uint32_t to = 0; to < nodes; to++) {
            r->distance[from][to] = (uint8_t)network_distance(r->network, from, to);
            r->hops_all += r->distance[from][to];
        }
    }
    for (uint32_t from = 0; from < nodes; from++) {
        for (uint32_t to = 0; to < nodes; to++) {
            unsigned ways = 0;
            for (uint32_t next = 0; next < nodes; next++) {
                ways +=
                    r->distance[from][next] == 1 && r->distance[next][to] < r->distance[from][to];
            }
            r->one_way[from][to] = ways == 1;
            if (r->distance[from][to] == 1) {
                r->link_from[r->link_count] = (uint8_t)from;
                r->link_to[r->link_count++] = (uint8_t)to;
            }
            if (from != to) {
                r->packets[r->packet_count++] =
                    (struct packet){.source = (uint8_t)from, .end = (uint8_t)to};
            }
        }
    }
}

/* Blocks a link that the busiest cut across a dimension must carry, one way; and what the node with
 * the fewest links must receive over each. */
static uint32_t steps_needed(const struct relay *r)
{
    const struct network *network = r->network;
    uint32_t needed = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        uint32_t size = network->dim[k].size, across = network->nodes / size;
        uint32_t busiest = size / 2 * (size - size / 2) * across;
        needed = busiest > needed ? busiest : needed;
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        uint32_t links = 0;
        for (uint32_t i = 0; i < r->link_count; i++) {
            links += r->link_to[i] == node;
        }
        uint32_t least = (network->nodes - 1 + links - 1) / links;
        needed = least > needed ? least : needed;
    }
    return needed;
}

/* The packet that a link takes; packet_count: none. */
static uint32_t choose(struct relay *r, uint8_t from, uint8_t to)
{
    uint32_t best = r->packet_count, most = 0;

    for (uint32_t i = 0; i < r->packet_count; i++) {
        const struct packet *packet = &r->packets[i];
        if (packet->at != from || packet->next != from ||
            r->distance[to][packet->end] >= r->distance[from][packet->end]) {
            continue;
        }
        uint32_t worth = 1 + r->distance[from][packet->end] * (uint32_t)PER_HOP + drawn(r, DRAWN);
        worth += r->one_way[from][packet->end] ? drawn(r, ONE_WAY) : 0;
        if (worth > most) {
            most = worth;
            best = i;
        }
    }
    r->work += r->packet_count;
    return best;
}

/* Returns the packets that came to their ends in a step. */
static uint32_t move_once(struct relay *r, uint32_t step)
{
    uint8_t order[LINKS_MAX];
    uint32_t ended = 0;

    for (uint32_t i = 0; i < r->link_count; i++) {
        uint32_t at = drawn(r, i + 1);
        order[i] = order[at];
        order[at] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < r->link_count; i++) {
        uint8_t from = r->link_from[order[i]], to = r->link_to[order[i]];
        uint32_t packet = choose(r, from, to);
        if (packet < r->packet_count) {
            r->packets[packet].next = to;
            r->hops[r->count++] = (struct hop){step, (uint16_t)packet, from, to};
        }
    }
    for (uint32_t i = 0; i < r->packet_count; i++) {
        struct packet *packet = &r->packets[i];
        ended += packet->next == packet->end && packet->at != packet->end;
        packet->at = packet->next;
    }
    return ended;
}

/* One draw, which is kept if it takes less than `best_steps`; given up where the links have not the
 * time for all hops that are left. */
static void try_once(struct relay *r)
{
    uint32_t left = r->packet_count, step = 0;
    uint64_t hops = r->hops_all;

    r->count = 0;
    for (uint32_t i = 0; i < r->packet_count; i++) {
        r->packets[i].at = r->packets[i].next = r->packets[i].source;
    }
    while (left > 0 && hops <= (uint64_t)r->link_count * (r->best_steps - 1 - step)) {
        uint32_t before = r->count;
        left -= move_once(r, step++);
        hops -= r->count - before;
    }
    if (left == 0) {
        r->best_steps = step;
        r->best_count = r->count;
        for (uint32_t i = 0; i < r->count; i++) {
            r->best[i] = r->hops[i];
        }
    }
}

static void search(struct relay *r)
{
    uint32_t needed = steps_needed(r);

    r->draw = UINT64_C(88172645463325252);
    r->best_steps = UINT32_MAX;
    while (r->best_steps > needed && (r->best_count == 0 || r->work < WORK)) {
        try_once(r);
    }
}

static struct slots place_of(struct plan *plan, const struct packet *packet, uint32_t node)
{
    if (node == packet->source) {
        return slots_of(plan, SPACE_SEND, packet->end, 1);
    }
    return node == packet->end ? slots_of(plan, SPACE_RECEIVE, packet->source, 1)
                               : slots_of(plan, SPACE_SCRATCH, packet->scratch, 1);
}

/* The hops with steps and ports, on machines of so many ports. */
static struct flow flow_of(const struct relay *r, unsigned ports)
{
    struct flow flow = {0};

    for (uint32_t i = 0; i < r->best_count; i++) {
        const struct hop *hop = &r->best[i];
        flow_move(&flow, hop->step, hop->from, hop->to, FLOW_DIRECT);
        flow_add(&flow, hop->packet, 1);
    }
    flow_ports(&flow, r->network->nodes, ports);
    return flow;
}

static void lay_hop(struct relay *r, struct plan *plan, const struct flow *flow,
                    const struct flow_move *move)
{
    struct packet *packet = &r->packets[flow->ranges[move->range_at].first];
    struct slots from = place_of(plan, packet, move->from);

    if (move->to != packet->end) {
        packet->scratch = plan->scratch[move->to]++;
    }
    plan->port = move->port;
    build_circuit(plan, move->step, move->from, move->to, from, place_of(plan, packet, move->to),
                  move->step ? ROW_AFTER_RECEIVED | ROW_AFTER_SENT : 0);
}

bool possible_relayed(const struct network *network)
{
    return network->nodes > 2 && network->nodes <= NODES_MAX && !network_is_symmetric(network);
}

struct plan *plan_relayed(const struct network *network, const struct plan_request *request)
{
    struct relay *r = planner_memory(1, sizeof *r);
    struct plan *plan = build_begin(network, request, false);

    r->network = network;
    look_round(r);
    search(r);
    for (uint32_t node = 0; node < network->nodes; node++) {
        build_copy(plan, 0, node, slots_of(plan, SPACE_SEND, node, 1),
                   slots_of(plan, SPACE_RECEIVE, node, 1), 0);
    }
    struct flow flow = flow_of(r, request->ports);
    for (uint32_t i = 0; i < flow.count; i++) {
        lay_hop(r, plan, &flow, &flow.moves[i]);
    }
    flow_free(&flow);
    free(r);
    return plan;
}
