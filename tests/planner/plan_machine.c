#include "tests/planner/plan_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/plan.h"
#include "drivers/check.h"
#include "network/text.h"
#include "wire/circuit.h"

enum { GARBAGE = 0x5a }; /* what memory holds that nobody has written */

/* A node's memory, as the numbers in extents have it. */
enum { GIVEN, GOT, SCRATCH, MEMORIES };

struct row {
    unsigned flags;                   /* enum row_flag */
    unsigned from;                    /* if it receives */
    struct course_circuit circuit;    /* its step; the rest if it sends */
    unsigned *places, sent, received; /* in memory: those sent, then those received */
};

struct node {
    struct row *rows;
    unsigned count, at;  /* at == count: at the end */
    bool sent, received; /* of the row */
    unsigned first[MEMORIES], slots[MEMORIES];
    uint64_t *memory;
};

/* Blocks that are still to be moved. */
struct transfer {
    unsigned from, to;
    const struct row *send, *receive;
    bool moved;
};

struct machine {
    struct task task;
    struct course course;
    struct machine_run *run;
    bool invariant;
    struct node *nodes;
    struct transfer *transfers;
    unsigned transfer_count, moved_count; /* moved: so many of the first */
};

/* A number for a block, or for what a node gives to it. */
static uint64_t name(uint64_t giver, uint64_t block)
{
    uint64_t x = (giver + 1) * UINT64_C(0x9e3779b97f4a7c15) + block;

    x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 32) | 1;
}

/* What belongs into a slot that a node gives at first, or gets at last: of what is combined the sum
 * of each giver's, so that one that is missing or there twice shows. */
static uint64_t value(const struct machine *m, unsigned node, bool gets, unsigned slot)
{
    unsigned block = task_block(&m->task, node, gets, slot);
    uint64_t sum = 0;

    if (!m->task.promise->combines || !gets) {
        return name(m->task.promise->combines ? node : 0, block);
    }
    for (unsigned giver = 0; giver < task_givers(&m->task, node); giver++) {
        sum += name(giver, block);
    }
    return sum;
}

/* Reading parts ------------------------------------------------------------------------------- */

/* Slot i of turn t of an extent: where a memory has one for every node it is that of the translated
 * node; on a cube 2^j neighbours stay so. */
static unsigned slot_at(const struct machine *m, unsigned rank, const struct plan_extent *extent,
                        unsigned t, unsigned i)
{
    unsigned base = extent->first + t * extent->stride, length = extent->length;
    enum blocks blocks = extent->space == GOT ? m->task.promise->get : m->task.promise->give;
    bool each = blocks == BLOCKS_EVERY || blocks == BLOCKS_FROM || blocks == BLOCKS_TO;

    if (!m->invariant || !each || extent->space == SCRATCH) {
        return base + i;
    }
    if (m->task.shape.cube && !(length & (length - 1)) && base % length == 0) {
        return ((base ^ rank) & ~(length - 1)) + i;
    }
    return shape_moved(&m->task.shape, base + i, rank);
}

/* The places of the slots of extents [e, end); returns how many. NULL: only that. */
static unsigned read_places(struct machine *m, unsigned rank, const uint8_t *at, unsigned e,
                            unsigned end, unsigned *places)
{
    const struct node *node = &m->nodes[rank];
    unsigned count = 0;

    for (; e < end; e++) {
        struct plan_extent extent = plan_extent_at(at, e);
        for (unsigned k = 0; places && k < extent.length * extent.times; k++) {
            unsigned slot = slot_at(m, rank, &extent, k / extent.length, k % extent.length);
            if (extent.space >= MEMORIES || slot >= node->slots[extent.space]) {
                course_fails(&m->course, "node %u has no slot %u of memory %u", rank, slot,
                             extent.space);
                slot = 0;
            }
            places[count + k] = node->first[extent.space % MEMORIES] + slot;
        }
        count += extent.length * extent.times;
    }
    return count;
}

static uint64_t bytes_sent(const struct machine *m, unsigned rank, const struct row *row)
{
    const struct node *node = &m->nodes[rank];
    uint32_t element = m->task.promise->combines ? 4 : 1;
    uint64_t sum = 0;

    for (unsigned i = 0; i < row->sent; i++) {
        unsigned place = row->places[i], memory = GIVEN;
        while (memory < SCRATCH && place >= node->first[memory] + node->slots[memory]) {
            memory++;
        }
        sum += task_slot_bytes(&m->task, place - node->first[memory], m->run->bytes, element);
    }
    return sum;
}

static unsigned peer(const struct machine *m, unsigned written, unsigned rank)
{
    return m->invariant ? shape_moved(&m->task.shape, written, rank) : written;
}

static void read_path(struct machine *m, unsigned rank, const uint8_t *list,
                      struct course_circuit *circuit)
{
    unsigned hops = hop_list_count(list), at = rank;
    unsigned *path = calloc(hops + 1u, sizeof *path);
    uint16_t *turns = calloc(hops + 1u, sizeof *turns);

    path[0] = rank;
    for (unsigned i = 0; i < hops && at != NOWHERE; i++) {
        struct open_hop hop = hop_list_at(list, i);
        at = hop.port != HOP_DIMENSION_ORDER ? shape_next(&m->task.shape, at, hop.port)
             : at == circuit->to             ? NOWHERE
                                             : shape_toward(&m->task.shape, at, circuit->to);
        path[i + 1] = at;
        turns[i] = hop.turn;
    }
    if (at != circuit->to) {
        course_fails(&m->course, "a path of node %u does not lead to %u", rank, circuit->to);
    }
    circuit->hops = hops;
    circuit->path = path;
    circuit->turns = turns;
}

static struct row read_row(struct machine *m, unsigned rank, const uint8_t *at)
{
    struct plan_row words = plan_row_at(at);
    unsigned sent = words.send_extents, all = sent + words.receive_extents;
    bool ahead = words.flags & ROW_AHEAD;
    struct row row = {
        .flags = words.flags,
        .from = peer(m, words.from, rank),
        .sent = read_places(m, rank, at, 0, sent, NULL),
        .received = read_places(m, rank, at, sent, all, NULL),
        .circuit = {.step = words.step, .port = words.port, .from = rank, .ahead_from = ahead}};

    row.places = calloc(row.sent + row.received + 1u, sizeof *row.places);
    read_places(m, rank, at, 0, sent, row.places);
    read_places(m, rank, at, sent, all, row.places + row.sent);
    if (row.flags & ROW_SENDS) {
        row.circuit.to = peer(m, words.to, rank);
        row.circuit.bytes = bytes_sent(m, rank, &row);
        read_path(m, rank, plan_row_hops(at), &row.circuit);
    }
    return row;
}

/* A node with its memory, and the rows of its part. */
static void node_make(struct machine *m, unsigned rank, const uint8_t *part)
{
    struct node *node = &m->nodes[rank];
    bool in_place = m->task.promise->in_place;
    unsigned given = task_slots(&m->task, rank, false);

    node->slots[GIVEN] = in_place ? 0 : given;
    node->slots[GOT] = task_slots(&m->task, rank, true);
    node->slots[SCRATCH] = plan_scratch(part);
    node->first[GOT] = node->slots[GIVEN];
    node->first[SCRATCH] = node->first[GOT] + node->slots[GOT];
    size_t slots = (size_t)node->first[SCRATCH] + node->slots[SCRATCH] + 1;
    node->memory = malloc(slots * sizeof *node->memory);
    memset(node->memory, GARBAGE, slots * sizeof *node->memory);
    for (unsigned slot = 0; slot < given; slot++) {
        node->memory[node->first[in_place ? GOT : GIVEN] + slot] = value(m, rank, false, slot);
    }
    node->count = plan_rows(part);
    node->rows = calloc(node->count + 1u, sizeof *node->rows);
    part += PLAN_HEADER_BYTES;
    for (unsigned i = 0; i < node->count; i++, part += plan_row_bytes(part)) {
        node->rows[i] = read_row(m, rank, part);
    }
}

static void node_free(struct node *node)
{
    for (unsigned i = 0; i < node->count; i++) {
        free((void *)(uintptr_t)node->rows[i].circuit.path);
        free((void *)(uintptr_t)node->rows[i].circuit.turns);
        free(node->rows[i].places);
    }
    free(node->rows);
    free(node->memory);
}

/* Executing them ------------------------------------------------------------------------------ */

static const struct row *row_of(const struct machine *m, unsigned rank)
{
    const struct node *node = &m->nodes[rank];

    return node->at < node->count ? &node->rows[node->at] : NULL;
}

/* Moves blocks from a row's slots sent to a row's slots received. */
static void move(struct machine *m, unsigned from, const struct row *send, unsigned to,
                 const struct row *receive)
{
    uint64_t *there = m->nodes[to].memory;

    if (send->sent != receive->received) {
        course_fails(&m->course, "step %u: %u sends %u blocks, %u receives %u", send->circuit.step,
                     from, send->sent, to, receive->received);
        return;
    }
    uint64_t *data = calloc(send->sent + 1u, sizeof *data);
    for (unsigned i = 0; i < send->sent; i++) {
        data[i] = m->nodes[from].memory[send->places[i]];
    }
    for (unsigned i = 0; i < send->sent; i++) {
        unsigned place = receive->places[receive->sent + i];
        there[place] = data[i] + (receive->flags & ROW_COMBINES ? there[place] : 0);
    }
    free(data);
}

/* Moves what a node has been sent, or has sent, or all (rank NOWHERE). */
static void complete(struct machine *m, unsigned rank, bool received)
{
    while (m->moved_count < m->transfer_count && m->transfers[m->moved_count].moved) {
        m->moved_count++;
    }
    for (unsigned i = m->moved_count; i < m->transfer_count; i++) {
        struct transfer *t = &m->transfers[i];
        if (!t->moved && (rank == NOWHERE || (received ? t->to : t->from) == rank)) {
            t->moved = true;
            move(m, t->from, t->send, t->to, t->receive);
        }
    }
}

/* A node has come to a row: what its flags demand is done; a copy is. */
static void arrive(struct machine *m, unsigned rank)
{
    struct node *node = &m->nodes[rank];
    const struct row *row;

    for (; (row = row_of(m, rank)); node->at++) {
        if (row->flags & ROW_AFTER_RECEIVED) {
            complete(m, rank, true);
        }
        if (row->flags & ROW_AFTER_SENT) {
            complete(m, rank, false);
        }
        if (!(row->flags & ROW_COPIES)) {
            break;
        }
        move(m, rank, row, rank, row);
    }
    node->sent = !row || !(row->flags & ROW_SENDS);
    node->received = !row || !(row->flags & ROW_RECEIVES);
}

/* Accepts the circuit that a node sends, if it can be; true when it was. */
static bool try_send(struct machine *m, unsigned rank)
{
    struct node *node = &m->nodes[rank];
    const struct row *row = row_of(m, rank);

    if (!row || node->sent) {
        return false;
    }
    struct course_circuit circuit = row->circuit;
    struct node *other = &m->nodes[circuit.to];
    const struct row *theirs = row_of(m, circuit.to);
    if (!theirs || other->received || theirs->from != rank ||
        theirs->circuit.step != circuit.step || theirs->circuit.port != circuit.port ||
        !course_turn(&m->course, &circuit)) {
        return false;
    }
    circuit.ahead_to = theirs->flags & ROW_AHEAD;
    course_pass(&m->course, &circuit);
    m->transfers[m->transfer_count++] =
        (struct transfer){rank, circuit.to, row, theirs, !m->run->late};
    if (!m->run->late) {
        move(m, rank, row, circuit.to, theirs);
    }
    node->sent = other->received = true;
    return true;
}

/* Goes on to the next row when both circuits of this one have been accepted. */
static bool go_on(struct machine *m, unsigned rank)
{
    struct node *node = &m->nodes[rank];

    if (node->at == node->count || !node->sent || !node->received) {
        return false;
    }
    node->at++;
    arrive(m, rank);
    return true;
}

static void execute(struct machine *m)
{
    unsigned nodes = m->task.shape.nodes;

    for (unsigned i = 0; i < nodes; i++) {
        arrive(m, i);
    }
    for (bool moves = true; moves && !m->course.fault[0];) {
        moves = false;
        for (unsigned i = 0; i < nodes; i++) {
            moves = try_send(m, i) || moves;
        }
        for (unsigned i = 0; i < nodes; i++) {
            moves = go_on(m, i) || moves;
        }
    }
    complete(m, NOWHERE, true);
}

/* Whether a node is through, holds what it was promised, and its links have carried as many
 * circuits as its part says. */
static void check_node(struct machine *m, unsigned rank, const uint8_t *part)
{
    const struct node *node = &m->nodes[rank];

    if (node->at < node->count) {
        course_fails(&m->course, "node %u waits for ever", rank);
    }
    for (unsigned slot = 0; slot < node->slots[GOT]; slot++) {
        if (node->memory[node->first[GOT] + slot] != value(m, rank, true, slot)) {
            course_fails(&m->course, "slot %u of node %u does not hold what is promised", slot,
                         rank);
        }
    }
    for (unsigned port = 0; port < m->task.shape.ports; port++) {
        if (m->course.link_count[rank * SHAPE_PORTS_MAX + port] != plan_carries(part, port)) {
            course_fails(&m->course, "port %u of node %u carries other circuits than its part says",
                         port, rank);
        }
    }
}

bool machine_run(const char *network, uint8_t *const *parts, struct machine_run *run)
{
    struct machine m = {.run = run, .invariant = plan_is_invariant(parts[0])};
    unsigned rows = 0;

    m.task.promise = promise_numbered(plan_operation(parts[0]));
    m.task.root = plan_root(parts[0]);
    m.task.segments = plan_segments(parts[0]);
    CHECK(m.task.promise && shape_read(&m.task.shape, network));
    unsigned nodes = m.task.shape.nodes;
    course_begin(&m.course, &m.task, &run->rule);
    m.nodes = calloc(nodes, sizeof *m.nodes);
    for (unsigned i = 0; i < nodes; i++) {
        node_make(&m, i, parts[i]);
        rows += m.nodes[i].count;
    }
    m.transfers = calloc(rows + 1u, sizeof *m.transfers);
    execute(&m);
    for (unsigned i = 0; i < nodes; i++) {
        check_node(&m, i, parts[i]);
        node_free(&m.nodes[i]);
    }
    course_end(&m.course);
    run->model_ns = m.course.model_ns;
    run->hops = m.course.hops;
    memcpy(run->fault, m.course.fault, sizeof run->fault);
    course_free(&m.course);
    free(m.nodes);
    free(m.transfers);
    return !run->fault[0];
}

/* What the planner says of it ----------------------------------------------------------------- */

uint8_t **machine_parts(const struct plan *plan)
{
    uint8_t **parts = calloc(plan->network.nodes, sizeof *parts);

    for (uint32_t i = 0; i < plan->network.nodes; i++) {
        if (plan->invariant && i > 0) {
            parts[i] = parts[0];
            continue;
        }
        uint32_t bytes = plan_part(plan, i, NULL);
        parts[i] = malloc(bytes);
        CHECK(plan_part(plan, i, parts[i]) == bytes && plan_bytes(parts[i]) == bytes);
    }
    return parts;
}

void machine_parts_free(const struct plan *plan, uint8_t **parts)
{
    for (uint32_t i = 0; i < (plan->invariant ? 1 : plan->network.nodes); i++) {
        free(parts[i]);
    }
    free(parts);
}

static bool try_way(const struct plan *plan, uint8_t *const *parts, struct machine_run *run)
{
    const struct profile profile = {
        65425, 9575, 425, 1000, plan->node_ports, (uint16_t)run->rule.element_bytes};
    uint64_t wanted_ns = plan_time(plan, run->bytes, 4, &profile).model_ns;
    uint64_t wanted_hops = plan->hops * (plan->invariant ? plan->network.nodes : 1);
    char network[NETWORK_NAME_MAX];

    run->rule.xi = profile.xi_ns;
    run->rule.tau = profile.tau_ns;
    run->rule.element = profile.element_ns;
    network_name(&plan->network, network);
    if (machine_run(network, parts, run) && run->model_ns != wanted_ns) {
        snprintf(run->fault, sizeof run->fault, "it does not take the time that the planner says");
    } else if (!run->fault[0] && run->hops != wanted_hops) {
        snprintf(run->fault, sizeof run->fault, "it does not have the hops that the planner says");
    }
    return !run->fault[0];
}

const char *machine_tries(const struct plan *plan, uint32_t bytes)
{
    static struct machine_run run;
    uint8_t **parts = machine_parts(plan);
    bool right = true;

    for (uint32_t i = 0; i < plan->network.nodes && right; i++) {
        right = plan_check(parts[i], plan_bytes(parts[i]), &plan->network, i) == 0;
    }
    snprintf(run.fault, sizeof run.fault, "%s", right ? "" : "a node refuses its part");
    machine_parts_free(plan, parts);
    for (unsigned way = 0; way < 2 && right; way++) {
        struct plan one = *plan;
        one.node_ports = way == 1 && !plan->one_port ? PORTS_ALL : plan->node_ports;
        parts = machine_parts(&one);
        run = (struct machine_run){
            .bytes = bytes,
            .late = way == 0,
            .rule = {.all_port = one.node_ports == PORTS_ALL, .element_bytes = 1 + 4 * way}};
        right = try_way(&one, parts, &run);
        machine_parts_free(&one, parts);
    }
    return right ? NULL : run.fault;
}
