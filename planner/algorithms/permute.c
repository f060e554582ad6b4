#include "planner/algorithms/permute.h"

#include <stdlib.h>
#include <string.h>

#include "wire/circuit.h"

enum {
    ROUND_WORDS = 4,
    ROUNDS_MAX = 64 * ROUND_WORDS, /* what finds no earlier round goes into the last */
    CIRCUITS_MAX = 1 << 21
};

/* The rounds of a step: in which each link is in use, as a set of bits. */
struct rounds {
    uint64_t *used; /* of each link: ROUND_WORDS */
    uint32_t *order, *by_length;
    uint16_t *round; /* of each node's circuit */
};

/* A path: the ports that it leaves over; returns the hops, or OPEN_HOPS_MAX + 1. */
static uint32_t path_of(const struct permuter *p, uint32_t node, uint8_t ports[OPEN_HOPS_MAX])
{
    const struct network *network = &p->plan->network;
    uint32_t hops = 0, to = p->to[node];

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t at = coordinate_of(dim, node), end = coordinate_of(dim, to);
        if (at == end) {
            continue;
        }
        uint32_t port = network_port_toward(network, node, to, k);
        uint32_t plus = (end + dim->size - at) % dim->size;
        uint32_t apart = network_port_sign(network, port) > 0 ? plus : dim->size - plus;
        if (p->other_way[node] >> k & 1) {
            port = network_far_port(network, port);
            apart = dim->size - apart;
        }
        if (hops + apart > OPEN_HOPS_MAX) {
            return OPEN_HOPS_MAX + 1;
        }
        memset(ports + hops, (int)port, apart);
        hops += apart;
    }
    return hops;
}

static uint64_t *used_at(const struct permuter *p, uint32_t node, unsigned port)
{
    return p->rounds->used + ((uint64_t)node * p->plan->network.ports + port) * ROUND_WORDS;
}

/* The first round in which no link of a path is in use. */
static unsigned free_round(const struct permuter *p, uint32_t node, const uint8_t *ports,
                           uint32_t hops)
{
    uint64_t used[ROUND_WORDS] = {0};

    for (uint32_t i = 0; i < hops; i++) {
        const uint64_t *there = used_at(p, node, ports[i]);
        for (unsigned w = 0; w < ROUND_WORDS; w++) {
            used[w] |= there[w];
        }
        node = network_neighbour(&p->plan->network, node, ports[i]);
    }
    for (unsigned w = 0; w < ROUND_WORDS; w++) {
        if (~used[w]) {
            return 64 * w + (unsigned)__builtin_ctzll(~used[w]);
        }
    }
    return ROUNDS_MAX - 1;
}

/* Says that the links of a path are in use in a round, or in none. */
static void set_used(const struct permuter *p, uint32_t node, const uint8_t *ports, uint32_t hops,
                     unsigned round, bool used)
{
    for (uint32_t i = 0; i < hops; i++) {
        uint64_t *there = used_at(p, node, ports[i]);
        if (used) {
            there[round / 64] |= UINT64_C(1) << round % 64;
        } else {
            memset(there, 0, ROUND_WORDS * sizeof *there);
        }
        node = network_neighbour(&p->plan->network, node, ports[i]);
    }
}

/* Puts the nodes whose blocks move in the order of their keys, below `keys`, then of their ranks;
 * returns how many there are. */
static uint32_t sorted(const struct permuter *p, uint32_t *into, const uint16_t *key, uint32_t keys)
{
    uint32_t *at = planner_memory(keys + UINT64_C(1), sizeof *at), count = 0;

    for (uint32_t node = 0; node < p->nodes; node++) {
        at[key[node] + 1] += p->to[node] != node;
    }
    for (uint32_t i = 0; i < keys; i++) {
        at[i + 1] += at[i];
    }
    for (uint32_t node = 0; node < p->nodes; node++) {
        if (p->to[node] != node) {
            into[at[key[node]]++] = node;
            count++;
        }
    }
    free(at);
    return count;
}

/* The order of the step's circuits; returns how many there are. False in `fits`: one is too long.
 */
static uint32_t order_of(struct permuter *p, bool *fits)
{
    struct rounds *r = p->rounds;
    uint8_t ports[OPEN_HOPS_MAX];

    *fits = true;
    for (uint32_t node = 0; node < p->nodes; node++) {
        uint32_t hops = path_of(p, node, ports);
        *fits = *fits && hops <= OPEN_HOPS_MAX;
        r->round[node] = (uint16_t)(OPEN_HOPS_MAX + 1 - hops);
    }
    if (!*fits) {
        return 0;
    }
    uint32_t count = sorted(p, r->by_length, r->round, OPEN_HOPS_MAX + 2);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = r->by_length[i], hops = path_of(p, node, ports);
        unsigned round = free_round(p, node, ports, hops);
        set_used(p, node, ports, hops, round, true);
        r->round[node] = (uint16_t)round;
    }
    for (uint32_t i = 0; i < count; i++) {
        set_used(p, r->by_length[i], ports, path_of(p, r->by_length[i], ports), 0, false);
    }
    return sorted(p, r->order, r->round, ROUNDS_MAX);
}

/* Where the next block goes that a node receives: its last one to RECEIVE. */
static enum space next_place(const struct permuter *p, uint32_t node)
{
    return p->left[node] % 2 ? SPACE_RECEIVE : SPACE_SCRATCH;
}

static void lay_step(struct permuter *p)
{
    uint8_t flags = p->step ? ROW_AFTER_RECEIVED | ROW_AFTER_SENT : 0, ports[OPEN_HOPS_MAX];
    bool fits;
    uint32_t count = order_of(p, &fits);

    if (!fits) {
        p->plan->refused = "a path has more hops than a circuit can list";
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = p->rounds->order[i], to = p->to[node];
        struct slots from = p->places[p->holds[node]], into = p->places[next_place(p, to)];
        if (p->other_way[node]) {
            build_routed(p->plan, p->step, node, to, from, into, flags, ports,
                         path_of(p, node, ports));
        } else {
            build_circuit(p->plan, p->step, node, to, from, into, flags);
        }
    }
}

/* Each block is where it has gone to, and its goal with it. */
static void arrive(struct permuter *p)
{
    for (uint32_t node = 0; node < p->nodes; node++) {
        p->spare[p->to[node]] = p->goals[node];
    }
    for (uint32_t node = 0; node < p->nodes; node++) {
        uint32_t to = p->to[node];
        if (to != node && p->counts) {
            p->left[to]++;
        }
        if (to != node && !p->counts) {
            p->holds[to] = (uint8_t)next_place(p, to);
            p->left[to]--;
        }
    }
    uint32_t *goals = p->goals;
    p->goals = p->spare;
    p->spare = goals;
    p->goal = p->goals;
}

bool permute_step(struct permuter *p)
{
    uint32_t moving = 0;

    for (uint32_t node = 0; node < p->nodes; node++) {
        moving += p->to[node] != node;
    }
    p->circuits += moving;
    if (p->circuits > CIRCUITS_MAX) {
        p->plan->refused = "in so many steps it has more than 2,097,152 circuits";
    }
    if (moving == 0 || p->plan->refused) {
        return false;
    }
    if (!p->counts) {
        lay_step(p);
    }
    arrive(p);
    p->step++;
    memset(p->other_way, 0, p->nodes);
    return !p->plan->refused;
}

static void set_goals(struct permuter *p)
{
    const struct operation *operation = operation_of(p->plan->operation);

    for (uint32_t node = 0; node < p->nodes; node++) {
        p->goals[node] =
            operation_target(operation, &p->plan->network, p->plan->root, node, p->slot);
    }
    p->goal = p->goals;
    p->step = 0;
    p->circuits = 0;
}

static void begin(struct permuter *p, struct rounds *rounds)
{
    uint64_t links = (uint64_t)p->nodes * p->plan->network.ports;

    p->to = planner_memory(p->nodes, sizeof *p->to);
    p->goals = planner_memory(p->nodes, sizeof *p->goals);
    p->spare = planner_memory(p->nodes, sizeof *p->spare);
    p->left = planner_memory(p->nodes, sizeof *p->left);
    p->other_way = planner_memory(p->nodes, 1);
    p->holds = planner_memory(p->nodes, 1); /* SPACE_SEND */
    rounds->used = planner_memory(links * ROUND_WORDS + 1, sizeof *rounds->used);
    rounds->order = planner_memory(p->nodes, sizeof *rounds->order);
    rounds->by_length = planner_memory(p->nodes, sizeof *rounds->by_length);
    rounds->round = planner_memory(p->nodes, sizeof *rounds->round);
    p->rounds = rounds;
}

static void end(struct permuter *p)
{
    free(p->to);
    free(p->goals);
    free(p->spare);
    free(p->left);
    free(p->other_way);
    free(p->holds);
    free(p->rounds->used);
    free(p->rounds->order);
    free(p->rounds->by_length);
    free(p->rounds->round);
}

struct plan *permute_plan(const struct network *network, const struct plan_request *request,
                          void (*lay)(struct permuter *permuter))
{
    struct plan *plan = build_begin(network, request, false);
    struct permuter p = {.plan = plan, .nodes = network->nodes, .variant = request->variant};
    struct rounds rounds;

    begin(&p, &rounds);
    for (unsigned space = 0; space < SPACES; space++) {
        p.places[space] = slots_of(plan, (enum space)space, 0, 1);
    }
    set_goals(&p);
    p.counts = true;
    lay(&p);
    for (uint32_t node = 0; node < p.nodes; node++) {
        plan->scratch[node] = p.left[node] > 1;
        if (p.left[node] == 0) {
            build_copy(plan, 0, node, p.places[SPACE_SEND], p.places[SPACE_RECEIVE], 0);
        }
    }
    set_goals(&p);
    p.counts = false;
    if (!plan->refused) {
        lay(&p);
    }
    end(&p);
    return plan;
}

/* Whether the block of a slot goes where that of another one does. */
static bool goes_along(const struct plan *plan, uint32_t slot, uint32_t other)
{
    const struct operation *operation = operation_of(plan->operation);

    return operation_target(operation, &plan->network, plan->root, 0, slot) ==
           operation_target(operation, &plan->network, plan->root, 0, other);
}

bool permute_repeats(const struct plan *plan, uint32_t slot)
{
    uint32_t other = 0;

    while (other < slot && !goes_along(plan, slot, other)) {
        other++;
    }
    return other < slot;
}

/* The slots from one on that go to the same nodes. */
static struct slots slots_along(struct plan *plan, enum space space, uint32_t slot)
{
    struct slots slots = slots_begin(plan);
    uint32_t count = plan_slots_at(plan, SPACE_SEND, 0);

    for (uint32_t other = slot; other < count; other++) {
        if (goes_along(plan, slot, other)) {
            slots_add(plan, &slots, space, other, 1);
        }
    }
    return slots;
}

struct plan *permute_slots(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    struct permuter p = {.plan = plan, .nodes = network->nodes};
    uint32_t slots = plan_slots_at(plan, SPACE_SEND, 0), turn = 0;
    uint32_t ports = request->ports == 0 ? 1 : request->ports, at_once = CLOCK_PORTS_MAX;
    struct rounds rounds;

    at_once = ports < at_once ? ports : at_once;
    if (build_too_many(plan, (uint64_t)slots * p.nodes)) {
        return plan;
    }
    begin(&p, &rounds);
    for (; p.slot < slots && !plan->refused; p.slot++) {
        if (permute_repeats(plan, p.slot)) {
            continue;
        }
        p.places[SPACE_SEND] = slots_along(plan, SPACE_SEND, p.slot);
        p.places[SPACE_RECEIVE] = slots_along(plan, SPACE_RECEIVE, p.slot);
        set_goals(&p);
        for (uint32_t node = 0; node < p.nodes; node++) {
            p.to[node] = p.goal[node];
            p.left[node] = 1;
        }
        p.step = turn / at_once;
        plan->port = (uint8_t)(turn++ % at_once);
        lay_step(&p);
    }
    plan->port = 0;
    end(&p);
    if (!plan->refused) {
        build_ahead(plan);
    }
    return plan;
}
