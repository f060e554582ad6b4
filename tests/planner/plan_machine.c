#include "tests/planner/plan_machine.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/plan.h"
#include "drivers/check.h"
#include "wire/circuit.h"

enum { GARBAGE = 0x5a }; /* what memory holds that nobody has written */

/* A node: where it stands, its memory and its clock. */
struct node {
    const uint8_t *part, *row; /* row NULL: at the end */
    bool sent, received;       /* of the row */
    uint64_t *space[SPACES];
    uint32_t slots[SPACES];
    uint64_t begun, ended, begun_now, ended_now, send_free, receive_free;
};

/* Blocks that are still to be moved. */
struct transfer {
    uint32_t from, to;
    const uint8_t *send, *receive; /* rows */
    bool moved;
};

struct machine {
    const struct network *network;
    const struct operation *operation;
    struct machine_run *run;
    struct node *nodes;
    uint64_t *link_free;
    uint32_t *link_count;
    struct transfer *transfers;
    uint32_t transfer_count, moved_count; /* moved: so many of the first */
    uint64_t *heard;                      /* who has heard of whom */
    const char *fault;
};

/* A number for what a node gives to another; of a reduction, for what it gives. */
static uint64_t name(uint64_t source, uint64_t destination)
{
    uint64_t x = (source + 1) * UINT64_C(0x9e3779b97f4a7c15) + destination;

    x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 32) | 1;
}

/* The node whose coordinates of some dimensions, of all by 0, are read from the other end. */
static uint32_t backwards(const struct network *network, uint32_t dimensions, uint32_t node)
{
    uint32_t other = 0, stride = 1;

    for (unsigned k = 0; k < network->dims; k++) {
        uint32_t size = network->dim[k].size, at = node % size;
        bool read = dimensions == 0 || (dimensions & 1u << k);
        other += stride * (read ? size - 1 - at : at);
        stride *= size;
        node /= size;
    }
    return other;
}

/* What belongs into a slot of SEND at first, of RECEIVE at last. */
static uint64_t promised(const struct machine *m, uint32_t operation, unsigned space, uint32_t node,
                         uint32_t slot, uint32_t root)
{
    uint64_t sum = 0;

    switch (operation) {
    case ECUBE_BROADCAST: return name(root, slot);
    case ECUBE_SCATTER: return name(root, space == SPACE_SEND ? slot : node);
    case ECUBE_GATHER:
    case ECUBE_ALLGATHER: return name(space == SPACE_SEND ? node : slot, 0);
    case ECUBE_SHIFT:
        return name(
            space == SPACE_SEND ? node : (node + m->network->nodes - root) % m->network->nodes, 0);
    case ECUBE_REVERSE:
        return name(space == SPACE_SEND ? node : backwards(m->network, root, node), 0);
    case ECUBE_EXCHANGE:
    case ECUBE_EXCHANGEV: return space == SPACE_SEND ? name(node, slot) : name(slot, node);
    case ECUBE_REDUCE_SCATTER:
        for (uint32_t i = 0; i < m->network->nodes; i++) {
            sum += name(i, node);
        }
        return space == SPACE_SEND ? name(node, slot) : sum;
    default:
        for (uint32_t i = 0; i < (operation == ECUBE_SCAN ? node + 1 : m->network->nodes); i++) {
            sum += name(i, slot);
        }
        return space == SPACE_SEND ? name(node, slot) : sum;
    }
}

static struct machine *machine_make(const struct network *network, uint8_t *const *parts,
                                    struct machine_run *run)
{
    struct machine *m = calloc(1, sizeof *m);
    struct plan_header header;
    uint64_t rows = 0;

    m->network = network;
    m->run = run;
    m->nodes = calloc(network->nodes, sizeof *m->nodes);
    m->link_free = calloc((size_t)network->nodes * NETWORK_PORTS_MAX, sizeof *m->link_free);
    m->link_count = calloc((size_t)network->nodes * NETWORK_PORTS_MAX, sizeof *m->link_count);
    m->heard = calloc((size_t)network->nodes * network->nodes, sizeof *m->heard);
    for (uint32_t i = 0; i < network->nodes; i++) {
        struct node *node = &m->nodes[i];
        node->part = plan_is_invariant(parts[0]) ? parts[0] : parts[i];
        node->row = plan_first(node->part);
        CHECK(plan_header_unpack(node->part, plan_bytes(node->part), &header));
        m->operation = operation_of(header.operation);
        rows += header.rows;
        for (unsigned space = 0; space < SPACES; space++) {
            node->slots[space] =
                space == SPACE_SCRATCH
                    ? header.scratch
                    : operation_slots(m->operation, (enum space)space, network->nodes, i,
                                      header.root, header.segments);
            node->space[space] = malloc((node->slots[space] + 1u) * sizeof **node->space);
            memset(node->space[space], GARBAGE, (node->slots[space] + 1u) * sizeof **node->space);
        }
        bool one_buffer = m->operation->span[SPACE_SEND] == SPAN_NONE && i == header.root;
        unsigned first = one_buffer ? SPACE_RECEIVE : SPACE_SEND;
        for (uint32_t slot = 0; slot < node->slots[first]; slot++) {
            node->space[first][slot] =
                promised(m, header.operation, SPACE_SEND, i, slot, header.root);
        }
        m->heard[(size_t)i * network->nodes + i] = 1;
    }
    m->transfers = calloc(rows + 1, sizeof *m->transfers);
    return m;
}

static void machine_free(struct machine *m)
{
    for (uint32_t i = 0; i < m->network->nodes; i++) {
        for (unsigned space = 0; space < SPACES; space++) {
            free(m->nodes[i].space[space]);
        }
    }
    free(m->nodes);
    free(m->link_free);
    free(m->link_count);
    free(m->heard);
    free(m->transfers);
    free(m);
}

static void fails(struct machine *m, const char *words)
{
    m->fault = m->fault ? m->fault : words;
}

/* The slots of one side of a row, one by one: their places in memory; returns how many. */
static uint32_t row_slots(const struct machine *m, uint32_t rank, const uint8_t *row, bool received,
                          uint64_t **places)
{
    struct node *node = &m->nodes[rank];
    struct plan_slots slots;
    struct slot_range range;
    uint32_t count = 0;

    plan_slots_begin(&slots, node->part, row, plan_is_invariant(node->part) ? rank : 0, received);
    while (plan_slots_next(&slots, m->network, &range)) {
        CHECK(range.first + range.count <= node->slots[range.space]);
        for (uint32_t i = 0; i < range.count; i++, count++) {
            if (places) {
                places[count] = &node->space[range.space][range.first + i];
            }
        }
    }
    return count;
}

/* Moves blocks from a row's slots sent to a row's slots received. */
static void move(struct machine *m, uint32_t from, const uint8_t *send, uint32_t to,
                 const uint8_t *receive)
{
    uint32_t count = row_slots(m, from, send, false, NULL);

    if (count != row_slots(m, to, receive, true, NULL)) {
        fails(m, "more is sent than received, or less");
        return;
    }
    uint64_t **source = calloc(count + 1u, sizeof *source);
    uint64_t **target = calloc(count + 1u, sizeof *target);
    uint64_t *data = calloc(count + 1u, sizeof *data);
    row_slots(m, from, send, false, source);
    row_slots(m, to, receive, true, target);
    for (uint32_t i = 0; i < count; i++) {
        data[i] = *source[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        *target[i] = data[i] + (plan_row_at(receive).flags & ROW_COMBINES ? *target[i] : 0);
    }
    free(source);
    free(target);
    free(data);
}

/* Moves what a node has been sent, or has sent, or all (rank NETWORK_NO_NODE). */
static void complete(struct machine *m, uint32_t rank, bool received)
{
    while (m->moved_count < m->transfer_count && m->transfers[m->moved_count].moved) {
        m->moved_count++;
    }
    for (uint32_t i = m->moved_count; i < m->transfer_count; i++) {
        struct transfer *t = &m->transfers[i];
        if (t->moved || (rank != NETWORK_NO_NODE && (received ? t->to : t->from) != rank)) {
            continue;
        }
        t->moved = true;
        move(m, t->from, t->send, t->to, t->receive);
    }
}

/* A node has come to a row: what its flags demand is done; a copy is. */
static void arrive(struct machine *m, uint32_t rank)
{
    struct node *node = &m->nodes[rank];

    node->begun = node->begun_now;
    node->ended = node->ended_now;
    while (node->row) {
        struct plan_row row = plan_row_at(node->row);
        if (row.flags & ROW_AFTER_RECEIVED) {
            complete(m, rank, true);
        }
        if (row.flags & ROW_AFTER_SENT) {
            complete(m, rank, false);
        }
        if (!(row.flags & ROW_COPIES)) {
            break;
        }
        move(m, rank, node->row, rank, node->row);
        node->row = plan_next(node->part, node->row);
    }
    node->sent = !node->row || !(plan_row_at(node->row).flags & ROW_SENDS);
    node->received = !node->row || !(plan_row_at(node->row).flags & ROW_RECEIVES);
}

/* The path of a circuit, as numbers of links; false when it is not its turn on one of them. */
static unsigned path(const struct machine *m, uint32_t rank, uint32_t to, const uint8_t *list,
                     uint32_t links[OPEN_HOPS_MAX], bool *turn)
{
    uint32_t at = rank;

    *turn = true;
    for (unsigned i = 0; i < hop_list_count(list); i++) {
        struct open_hop hop = hop_list_at(list, i);
        unsigned port =
            hop.port == HOP_DIMENSION_ORDER ? network_next_hop(m->network, at, to) : hop.port;
        links[i] = at * NETWORK_PORTS_MAX + port;
        *turn = *turn && m->link_count[links[i]] == hop.turn;
        at = network_neighbour(m->network, at, port);
        CHECK(at != NETWORK_NO_NODE);
    }
    CHECK(at == to);
    return hop_list_count(list);
}

static uint64_t bytes_of(const struct machine *m, uint32_t rank, const uint8_t *row)
{
    const struct node *node = &m->nodes[rank];
    struct plan_slots slots;
    struct slot_range range;
    uint64_t sum = 0;
    uint32_t segments = plan_segments(node->part);

    plan_slots_begin(&slots, node->part, row, plan_is_invariant(node->part) ? rank : 0, false);
    while (plan_slots_next(&slots, m->network, &range)) {
        for (uint32_t i = range.first; i < range.first + range.count; i++) {
            sum +=
                operation_slot_at(m->operation, i + 1u, m->run->bytes, m->run->element_bytes,
                                  segments) -
                operation_slot_at(m->operation, i, m->run->bytes, m->run->element_bytes, segments);
        }
    }
    return sum;
}

/* The rule of the clock, written once more. */
static void take_time(struct machine *m, struct node *from, struct node *to, const uint32_t *links,
                      unsigned hops, uint64_t bytes)
{
    const struct profile *p = m->run->profile;
    bool from_ahead = plan_row_at(from->row).flags & ROW_AHEAD;
    bool to_ahead = plan_row_at(to->row).flags & ROW_AHEAD;
    uint64_t t = (from_ahead ? from->begun : from->ended) + p->xi_ns;
    uint64_t ready = to_ahead ? to->begun : to->ended;

    for (unsigned i = 0; i < hops; i++) {
        t = (t > m->link_free[links[i]] ? t : m->link_free[links[i]]) + p->tau_ns;
    }
    t = t > ready ? t : ready;
    if (!p->all_port) {
        t = t > from->send_free ? t : from->send_free;
        t = t > to->receive_free ? t : to->receive_free;
    }
    uint64_t done = t + (hops + bytes - 1) * p->element_ns;
    for (unsigned i = 0; i < hops; i++) {
        m->link_free[links[i]] = done;
        m->link_count[links[i]]++;
    }
    from->send_free = to->receive_free = done;
    struct node *ends[] = {from, to};
    for (unsigned i = 0; i < 2; i++) {
        ends[i]->begun_now = ends[i]->begun_now > t ? ends[i]->begun_now : t;
        ends[i]->ended_now = ends[i]->ended_now > done ? ends[i]->ended_now : done;
    }
    m->run->model_ns = m->run->model_ns > done ? m->run->model_ns : done;
}

/* Who has heard of whom before the step tells it; what is told in a step is not passed on in it. */
static void tell(struct machine *m, uint32_t from, uint32_t to, uint16_t step)
{
    uint32_t nodes = m->network->nodes;

    for (uint32_t i = 0; i < nodes; i++) {
        uint64_t known = m->heard[(size_t)from * nodes + i];
        uint64_t *there = &m->heard[(size_t)to * nodes + i];
        if (known && known <= step + 1u && *there == 0) {
            *there = step + 2u;
        }
    }
}

/* Accepts the circuit that a node sends, if it can be; true when it was. */
static bool try_send(struct machine *m, uint32_t rank)
{
    struct node *node = &m->nodes[rank];
    uint32_t links[OPEN_HOPS_MAX];
    bool turn;

    if (!node->row || node->sent) {
        return false;
    }
    struct plan_row row = plan_row_at(node->row);
    uint32_t to = plan_peer(node->part, row.to, m->network, rank);
    struct node *peer = &m->nodes[to];
    if (!peer->row || peer->received) {
        return false;
    }
    struct plan_row theirs = plan_row_at(peer->row);
    if (plan_peer(peer->part, theirs.from, m->network, to) != rank || theirs.step != row.step) {
        return false;
    }
    unsigned hops = path(m, rank, to, plan_row_hops(node->row), links, &turn);
    if (!turn) {
        return false;
    }
    take_time(m, node, peer, links, hops, bytes_of(m, rank, node->row));
    tell(m, rank, to, row.step);
    m->transfers[m->transfer_count++] =
        (struct transfer){rank, to, node->row, peer->row, !m->run->late};
    if (!m->run->late) {
        move(m, rank, node->row, to, peer->row);
    }
    node->sent = peer->received = true;
    m->run->circuits++;
    m->run->hops += hops;
    return true;
}

/* Goes on to the next row when both circuits of this one have been accepted. */
static bool go_on(struct machine *m, uint32_t rank)
{
    struct node *node = &m->nodes[rank];

    if (!node->row || !node->sent || !node->received) {
        return false;
    }
    node->row = plan_next(node->part, node->row);
    arrive(m, rank);
    return true;
}

static void judge(struct machine *m)
{
    uint32_t nodes = m->network->nodes;

    for (uint32_t i = 0; i < nodes; i++) {
        const struct node *node = &m->nodes[i];
        if (node->row) {
            fails(m, "a node waits for ever");
        }
        for (uint32_t slot = 0; slot < node->slots[SPACE_RECEIVE]; slot++) {
            if (node->space[SPACE_RECEIVE][slot] != promised(m, plan_operation(node->part),
                                                             SPACE_RECEIVE, i, slot,
                                                             plan_root(node->part))) {
                fails(m, "a slot does not hold what the operation promises");
            }
        }
        for (unsigned port = 0; port < m->network->ports; port++) {
            if (m->link_count[i * NETWORK_PORTS_MAX + port] != plan_carries(node->part, port)) {
                fails(m, "a link carries more or fewer circuits than the part says");
            }
        }
        for (uint32_t j = 0; j < nodes; j++) {
            if (plan_operation(node->part) == ECUBE_BARRIER && !m->heard[(size_t)i * nodes + j]) {
                fails(m, "a node leaves the barrier before all have entered");
            }
        }
    }
}

const char *machine_run(const struct network *network, uint8_t *const *parts,
                        const uint32_t *part_bytes, struct machine_run *run)
{
    run->model_ns = run->circuits = run->hops = 0;
    for (uint32_t i = 0; i < network->nodes; i++) {
        uint32_t at = plan_is_invariant(parts[0]) ? 0 : i;
        if (plan_check(parts[at], part_bytes[at], network, i) != 0) {
            return "a node refuses its part";
        }
    }
    struct machine *m = machine_make(network, parts, run);
    for (uint32_t i = 0; i < network->nodes; i++) {
        arrive(m, i);
    }
    for (bool moves = true; moves && !m->fault;) {
        moves = false;
        for (uint32_t i = 0; i < network->nodes; i++) {
            moves = try_send(m, i) || moves;
        }
        for (uint32_t i = 0; i < network->nodes; i++) {
            moves = go_on(m, i) || moves;
        }
    }
    complete(m, NETWORK_NO_NODE, true);
    judge(m);
    const char *fault = m->fault;
    machine_free(m);
    return fault;
}

const char *machine_tries(const struct plan *plan, uint32_t bytes)
{
    struct profile profile = {65425, 9575, 425, 1000, 0};
    uint32_t nodes = plan->network.nodes, count = plan->invariant ? 1 : nodes;
    uint8_t **parts = calloc(count, sizeof *parts);
    uint32_t *part_bytes = calloc(count, sizeof *part_bytes);
    const char *fault = NULL;

    for (uint32_t i = 0; i < count; i++) {
        part_bytes[i] = plan_part(plan, i, NULL);
        parts[i] = malloc(part_bytes[i]);
        CHECK(plan_part(plan, i, parts[i]) == part_bytes[i]);
    }
    for (unsigned way = 0; way < 2 && !fault; way++) {
        struct machine_run run = {.bytes = bytes, .profile = &profile};
        run.element_bytes = operation_of(plan->operation)->reduces ? 4 : 1;
        run.late = way == 0;
        profile.all_port = way == 1;
        fault = machine_run(&plan->network, parts, part_bytes, &run);
        uint64_t times = plan->invariant ? nodes : 1;
        if (!fault && run.model_ns != plan_time(plan, bytes, 4, &profile).model_ns) {
            fault = "it does not take the time that the planner says";
        }
        if (!fault && (run.hops != plan->hops * times)) {
            fault = "it does not have the hops that the planner says";
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        free(parts[i]);
    }
    free(parts);
    free(part_bytes);
    return fault;
}
