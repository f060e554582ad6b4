/*
 * The prover: plans with one thing wrong are rejected, each for its reason, and after 1,000 random
 * changes of one number a plan is rejected or does what it promises.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "tests/networks.h"
#include "tests/planner/plan_machine.h"
#include "wire/circuit.h"

enum { CHANGES = 1000, BYTES = 40, PLACES = 24 };

/* A plan that is laid down, and not proved yet. */
static struct plan *laid(const char *name, uint32_t operation, const char *algorithm, uint32_t root)
{
    struct network network = network_of(name);
    const struct plan_request request = {.operation = operation, .root = root};
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
        if (candidate->possible(&network) && (!algorithm || !strcmp(algorithm, candidate->name))) {
            return candidate->plan(&network, &request);
        }
    }
    fail();
    return NULL;
}

/* An empty plan. */
static struct plan *blank(const char *name, uint32_t operation)
{
    struct network network = network_of(name);
    const struct plan_request request = {.operation = operation};

    return build_begin(&network, &request, false);
}

static void rejected(struct plan *plan, const char *why)
{
    struct plan_fault fault;

    assert_false(plan_prove(plan, &fault));
    if (!strstr(fault.words, why)) {
        assert_string_equal(fault.words, why);
    }
    plan_free(plan);
}

static void proved(struct plan *plan)
{
    struct plan_fault fault;

    if (!plan_prove(plan, &fault)) {
        assert_string_equal(fault.words, "");
    }
    const char *words = machine_tries(plan, BYTES);
    if (words) {
        assert_string_equal(words, "");
    }
    plan_free(plan);
}

/* The first circuit that is no copy, and has these flags. */
static struct plan_circuit *first_with(struct plan *plan, uint8_t flags)
{
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        if (!is_copy(&plan->circuits[i]) && (plan->circuits[i].flags & flags) == flags) {
            return &plan->circuits[i];
        }
    }
    fail();
    return NULL;
}

TEST(circuits_are_between_two_nodes_of_the_network)
{
    struct plan *plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);

    first_with(plan, 0)->to = 6;
    rejected(plan, "no two nodes");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    first_with(plan, 0)->from = first_with(plan, 0)->to;
    rejected(plan, "no two nodes");
    plan = laid("cube:3", ECUBE_EXCHANGE, "AAP", 0);
    first_with(plan, 0)->from = 1;
    rejected(plan, "no two nodes");
}

TEST(flags_are_those_that_there_are)
{
    struct plan *plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);

    first_with(plan, 0)->flags |= ROW_SENDS;
    rejected(plan, "flags");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    plan->circuits[0].flags |= ROW_AHEAD;
    rejected(plan, "flags");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    first_with(plan, 0)->flags |= ROW_COMBINES;
    rejected(plan, "combines nothing");
}

TEST(slots_lie_inside_their_spaces)
{
    struct plan *plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);

    plan->extents[first_with(plan, 0)->send_at].first = 6;
    rejected(plan, "sends slots");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    plan->extents[first_with(plan, 0)->receive_at].space = SPACE_SEND;
    rejected(plan, "receives into slots");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    first_with(plan, 0)->receive_at = plan->extent_count;
    rejected(plan, "receives into slots");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    plan->extents[first_with(plan, 0)->send_at].length--;
    rejected(plan, "slots are sent");
    for (uint32_t stride = 1; stride <= 2; stride++) { /* slots 0 1 1 2, then 0 1 2 3 */
        plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
        struct plan_extent *sent = &plan->extents[first_with(plan, 0)->send_at];
        *sent = (struct plan_extent){.length = 2, .times = 2, .stride = stride};
        rejected(plan, stride == 1 ? "sends slots" : "slots are sent");
    }
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    first_with(plan, 0)->blocks++;
    rejected(plan, "slots are sent");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    plan->scratch[3] = PLAN_SCRATCH_MAX + 1;
    rejected(plan, "slots of scratch");
}

TEST(steps_and_copies_stand_in_order)
{
    struct plan *plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);

    plan->circuits[0].step = PLAN_STEPS_MAX;
    rejected(plan, "cannot count so many steps");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    first_with(plan, 0)->step = 2;
    rejected(plan, "later step");
    plan = laid("mesh:1x3", ECUBE_EXCHANGE, "direct", 0);
    struct plan_circuit copy = plan->circuits[2];
    plan->circuits[2] = plan->circuits[3];
    plan->circuits[3] = copy;
    rejected(plan, "among circuits");
}

TEST(heads_fit_operation_and_network)
{
    struct plan *plan = laid("mesh:2x3", ECUBE_ALLGATHER, NULL, 0);

    plan->operation = ECUBE_ALIGN;
    rejected(plan, "no such operation");
    plan = laid("mesh:2x3", ECUBE_ALLGATHER, NULL, 0);
    plan->root = 1;
    rejected(plan, "cannot be the root");
    plan = laid("mesh:2x3", ECUBE_EXCHANGE, NULL, 0);
    plan->segments = 2;
    rejected(plan, "segments cannot be");
    plan = laid("ring:5", ECUBE_ALLGATHER, NULL, 0);
    plan->segments = 2;
    plan->invariant = true;
    rejected(plan, "segments cannot be");
    plan = laid("mesh:2x3", ECUBE_ALLGATHER, NULL, 0);
    plan->bytes_min = 1;
    plan->bytes_max = 0;
    rejected(plan, "no size");
    plan = laid("mesh:2x3", ECUBE_ALLGATHER, NULL, 0);
    plan->invariant = true;
    rejected(plan, "nodes that differ");
}

TEST(paths_lead_to_the_receiver)
{
    struct plan *plan = laid("mesh:2x3", ECUBE_EXCHANGE, "neighbours", 0);

    first_with(plan, 0)->hops++;
    rejected(plan, "leads to node");
    plan = laid("mesh:2x3", ECUBE_EXCHANGE, "neighbours", 0);
    first_with(plan, 0)->ports_at = plan->port_count;
    rejected(plan, "outside the plan");
    plan = laid("mesh:2x3", ECUBE_EXCHANGE, "neighbours", 0);
    plan->ports[0] = 2;
    rejected(plan, "leads to node");
    plan = laid("mesh:2x3", ECUBE_EXCHANGE, "neighbours", 0);
    plan->ports[0] = 3;
    rejected(plan, "no link at port 3");
    plan = laid("ring:5", ECUBE_EXCHANGE, "neighbours", 0);
    first_with(plan, 0)->hops = 6; /* once round */
    rejected(plan, "comes to node 0 twice");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    first_with(plan, 0)->hops++;
    rejected(plan, "hops, not");
    plan = laid("mesh:2x3", ECUBE_SCATTER, NULL, 0);
    plan->circuits[0].hops = 1;
    rejected(plan, "a copy has no path");
    plan = blank("mesh:1x200", ECUBE_BARRIER);
    build_circuit(plan, 0, 0, 127, NO_SLOTS, NO_SLOTS, 0);
    assert_null(plan->refused);
    first_with(plan, 0)->to = 128;
    rejected(plan, "more hops than a circuit can list");
}

TEST(what_passes_a_limit_is_refused_by_name)
{
    struct plan *plan = blank("mesh:1x200", ECUBE_BARRIER);

    build_circuit(plan, 0, 0, 128, NO_SLOTS, NO_SLOTS, 0);
    rejected(plan, "more hops");
    plan = blank("mesh:1x3", ECUBE_BARRIER);
    for (uint32_t step = 0; step < UINT16_MAX / 2 + 1; step++) {
        build_circuit(plan, step, 0, 2, NO_SLOTS, NO_SLOTS, 0);
        build_circuit(plan, step, 1, 2, NO_SLOTS, NO_SLOTS, 0);
    }
    rejected(plan, "more circuits than a turn counts");
    plan = blank("mesh:1x3", ECUBE_BARRIER);
    build_circuit(plan, PLAN_STEPS_MAX, 0, 1, NO_SLOTS, NO_SLOTS, 0);
    rejected(plan, "more steps");
    plan = blank("mesh:1x600", ECUBE_EXCHANGE);
    struct slots slots = slots_begin(plan);
    for (uint32_t i = 0; i < 512; i++) {
        slots_add(plan, &slots, SPACE_SEND, i * (i + 3) / 2, 1);
    }
    build_copy(plan, 0, 0, slots, slots, 0);
    rejected(plan, "more pieces");
    plan = blank("mesh:1x2", ECUBE_EXCHANGE);
    assert_false(build_too_many(plan, PLAN_CIRCUITS_MAX));
    assert_true(build_too_many(plan, PLAN_CIRCUITS_MAX + UINT64_C(1)));
    rejected(plan, "more circuits than fit");
}

TEST(the_same_for_all_uses_no_link_twice)
{
    struct network ring = network_of("ring:8");
    const struct plan_request request = {.operation = ECUBE_BARRIER};
    struct plan *plan = build_begin(&ring, &request, true);

    build_circuit(plan, 0, 0, 2, NO_SLOTS, NO_SLOTS, 0);
    rejected(plan, "used twice");
}

TEST(the_same_for_all_reads_runs_alike)
{
    struct plan *plan = laid("cube:3", ECUBE_ALLGATHER, NULL, 0);

    struct plan_circuit *circuit = &plan->circuits[2];
    assert_int_equal(circuit->blocks, 2);
    struct slots split = slots_of(plan, SPACE_RECEIVE, 1, 1);
    slots_add(plan, &split, SPACE_RECEIVE, 0, 1);
    circuit->receive_at = split.at;
    circuit->receive_count = (uint8_t)split.count;
    rejected(plan, "not read alike");
}

TEST(a_node_sends_and_receives_once_in_a_step)
{
    struct plan *plan = blank("mesh:1x3", ECUBE_BARRIER);

    build_circuit(plan, 0, 1, 0, NO_SLOTS, NO_SLOTS, 0);
    build_circuit(plan, 0, 1, 2, NO_SLOTS, NO_SLOTS, 0);
    rejected(plan, "twice in a step");
    plan = blank("mesh:1x3", ECUBE_BARRIER);
    build_circuit(plan, 0, 0, 1, NO_SLOTS, NO_SLOTS, 0);
    build_circuit(plan, 0, 2, 1, NO_SLOTS, NO_SLOTS, 0);
    rejected(plan, "twice in a step");
    plan = laid("ring:3", ECUBE_ALLGATHER, NULL, 0);
    struct plan *all = plan_expand(plan);
    first_with(all, 0)->flags |= ROW_AHEAD;
    plan_free(plan);
    rejected(all, "some are issued ahead and some are not");
}

TEST(waits_stand_where_data_may_be_under_way)
{
    struct plan *plan = laid("cube:3", ECUBE_SCATTER, NULL, 0);

    first_with(plan, ROW_AFTER_RECEIVED)->flags = 0;
    rejected(plan, "may still be arriving");
    plan = laid("cube:3", ECUBE_REDUCE, NULL, 0);
    first_with(plan, ROW_AFTER_RECEIVED)->flags = ROW_COMBINES;
    rejected(plan, "may still be arriving");
    plan = laid("cube:3", ECUBE_ALLGATHER, "gather and broadcast", 0);
    first_with(plan, ROW_AFTER_SENT)->flags = ROW_AFTER_RECEIVED;
    rejected(plan, "may still be on its way out");
    plan = laid("cube:3", ECUBE_ALLGATHER, NULL, 0);
    plan->circuits[2].flags = 0;
    rejected(plan, "may still be arriving");
}

/* Nobody but its two ends knows the size of a block that has one of its own. */
TEST(blocks_of_their_own_size_go_one_by_one)
{
    const char *words = "go one by one, straight to their place";
    struct plan *plan = laid("cube:3", ECUBE_EXCHANGE, "standard exchange", 0);

    plan->operation = ECUBE_EXCHANGEV;
    rejected(plan, words);
    plan = laid("ring:5", ECUBE_EXCHANGE, "neighbours", 0);
    plan->operation = ECUBE_EXCHANGEV;
    rejected(plan, words);
    plan = laid("mesh:2x3", ECUBE_EXCHANGE, "direct", 0);
    plan->operation = ECUBE_EXCHANGEV;
    proved(plan);
}

TEST(only_what_was_there_before_goes_ahead)
{
    struct plan *plan = laid("cube:3", ECUBE_EXCHANGE, "AAP", 0);

    for (uint32_t i = 2; i < plan->circuit_count; i++) {
        plan->circuits[i].flags |= ROW_AHEAD;
    }
    proved(plan);
    plan = laid("cube:3", ECUBE_BROADCAST, NULL, 0);
    first_with(plan, ROW_AFTER_RECEIVED)->flags |= ROW_AHEAD;
    rejected(plan, "the step that is overlapped");
    plan = laid("ring:5", ECUBE_ALLGATHER, NULL, 0);
    plan->circuits[3].flags |= ROW_AHEAD;
    rejected(plan, "the step that is overlapped");
    plan = laid("ring:5", ECUBE_EXCHANGE, "neighbours", 0);
    first_with(plan, ROW_AFTER_SENT)->flags |= ROW_AHEAD;
    plan->circuits[plan->circuit_count - 1].flags |= ROW_AHEAD;
    rejected(plan, "");
}

/* Node 0 has sent its vector, 1 has had it for long, and sends it back ahead. */
static struct plan *sent_back(bool sends_again)
{
    struct plan *plan = blank("mesh:1x2", ECUBE_BROADCAST);
    struct slots whole = slots_of(plan, SPACE_RECEIVE, 0, 1);
    struct slots spare = slots_of(plan, SPACE_SCRATCH, 0, 1);

    plan->scratch[0] = plan->scratch[1] = 1;
    build_copy(plan, 0, 0, whole, spare, 0);
    build_circuit(plan, 0, 0, 1, whole, whole, 0);
    build_circuit(plan, 1, 0, 1, whole, spare, 0);
    if (sends_again) {
        build_circuit(plan, 2, 0, 1, spare, spare, ROW_AHEAD | ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    }
    build_circuit(plan, sends_again ? 3 : 2, 1, 0, whole, whole,
                  ROW_AHEAD | ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    return plan;
}

/* Of one port: what a node sends next leaves when its last bytes have left, and not before. */
TEST(what_is_still_sent_is_not_written_ahead)
{
    rejected(sent_back(false), "the step that is overlapped");
    proved(sent_back(true));
}

TEST(what_is_read_is_there)
{
    struct plan *plan = blank("mesh:1x3", ECUBE_BROADCAST);

    struct slots whole = slots_of(plan, SPACE_RECEIVE, 0, 1);
    build_circuit(plan, 0, 1, 2, whole, whole, 0);
    build_circuit(plan, 1, 0, 1, whole, whole, 0);
    rejected(plan, "sent before anything is there");
    plan = blank("mesh:1x2", ECUBE_REDUCE);
    struct slots own = slots_of(plan, SPACE_SEND, 0, 1);
    whole = slots_of(plan, SPACE_RECEIVE, 0, 1);
    build_circuit(plan, 0, 1, 0, own, whole, ROW_COMBINES);
    rejected(plan, "nothing that it could be combined with");
}

TEST(the_program_s_own_data_is_not_written)
{
    struct plan *plan = blank("mesh:1x2", ECUBE_EXCHANGE);

    struct slots own = slots_of(plan, SPACE_SEND, 0, 1);
    build_circuit(plan, 0, 0, 1, own, own, 0);
    rejected(plan, "must not be written");
}

/* Two nodes exchange what they have; one of them receives into what it sends. */
static struct plan *crossing(uint32_t who)
{
    struct plan *plan = blank("mesh:1x2", ECUBE_ALLGATHER);
    struct slots own = slots_of(plan, SPACE_SEND, 0, 1), slot[2];

    for (uint32_t i = 0; i < 2; i++) {
        slot[i] = slots_of(plan, SPACE_RECEIVE, i, 1);
        build_copy(plan, 0, i, own, slot[i], 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        build_circuit(plan, 0, i, 1 - i, slot[i], slot[who == 1 - i ? 1 - i : i], 0);
    }
    return plan;
}

TEST(a_step_does_not_send_what_it_receives_into)
{
    rejected(crossing(0), "receives into");
    rejected(crossing(1), "receives into");
    proved(crossing(2));
    struct plan *plan = blank("mesh:1x2", ECUBE_ALLGATHER);
    struct slots own = slots_of(plan, SPACE_SEND, 0, 1);
    struct slots place = slots_of(plan, SPACE_RECEIVE, 0, 1);
    build_copy(plan, 0, 0, own, place, 0);
    build_copy(plan, 0, 0, place, place, 0);
    rejected(plan, "copies into what it reads");
}

TEST(every_promise_is_kept_at_the_end)
{
    struct plan *plan = laid("mesh:2x3", ECUBE_BROADCAST, NULL, 0);

    plan->circuit_count--;
    rejected(plan, "is empty at the end");
    plan = laid("mesh:1x3", ECUBE_EXCHANGE, "direct", 0);
    plan->extents[plan->circuits[3].send_at].first = 0;
    rejected(plan, "holds another block at the end");
    for (unsigned i = 0; i < 2; i++) { /* as a set, and as a sum of names */
        plan = laid(i ? "cube:7" : "cube:4", ECUBE_REDUCE, NULL, 0);
        plan->circuit_count--;
        rejected(plan, "lacks contributions at the end");
    }
}

TEST(a_contribution_comes_once)
{
    for (unsigned i = 0; i < 2; i++) {
        struct plan *plan = laid(i ? "mesh:1x65" : "mesh:1x3", ECUBE_REDUCE, NULL, 0);
        struct plan_circuit last = plan->circuits[plan->circuit_count - 1];
        last.step++;
        last.flags |= ROW_AFTER_RECEIVED;
        plan->circuits = planner_grow(plan->circuits, plan->circuit_count, sizeof last);
        plan->circuits[plan->circuit_count++] = last;
        rejected(plan, i ? "lacks contributions" : "gets a contribution twice");
    }
}

/* Node 1 sends what is combined at 0, while it takes what 2 sends as it is. */
TEST(a_node_combines_what_it_receives_not_what_it_sends)
{
    struct plan *plan = blank("mesh:1x3", ECUBE_REDUCE);
    struct slots own = slots_of(plan, SPACE_SEND, 0, 1);
    struct slots sum = slots_of(plan, SPACE_RECEIVE, 0, 1);
    struct slots other = slots_of(plan, SPACE_SCRATCH, 0, 1);

    plan->scratch[1] = 1;
    build_copy(plan, 0, 0, own, sum, 0);
    build_circuit(plan, 0, 1, 0, own, sum, ROW_COMBINES);
    build_circuit(plan, 0, 2, 1, own, other, 0);
    build_circuit(plan, 1, 1, 0, other, sum, ROW_COMBINES | ROW_AFTER_RECEIVED);
    proved(plan);
}

/* A vector in three segments along a line, one behind the other. */
static struct plan *pipeline(bool crossed)
{
    enum { NODES = 4, SEGMENTS = 3 };
    struct plan *plan = blank("mesh:1x4", ECUBE_BROADCAST);
    struct slots segment[SEGMENTS];

    plan->segments = SEGMENTS;
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        segment[i] = slots_of(plan, SPACE_RECEIVE, i, 1);
    }
    for (uint32_t step = 0; step < NODES - 1 + SEGMENTS - 1; step++) {
        for (uint32_t node = 0; node < NODES - 1; node++) {
            uint32_t i = step - node;
            if (node > step || i >= SEGMENTS) {
                continue;
            }
            uint32_t to = crossed && node == NODES - 2 ? SEGMENTS - 1 - i : i;
            build_circuit(plan, step, node, node + 1, segment[i], segment[to],
                          node ? ROW_AFTER_RECEIVED : 0);
        }
    }
    return plan;
}

TEST(segments_lie_in_slots_of_their_size)
{
    proved(pipeline(false));
    rejected(pipeline(true), "segment's size");
}

/* Two nodes give each other their blocks in two segments, one after the other. */
static struct plan *halves(uint32_t operation, unsigned crossed)
{
    struct plan *plan = blank("mesh:1x2", operation);
    bool gathers = operation == ECUBE_ALLGATHER;

    plan->segments = 2;
    plan->root = operation == ECUBE_SHIFT;
    for (uint32_t node = 0; node < 2 && gathers; node++) {
        build_copy(plan, 0, node, slots_of(plan, SPACE_SEND, 0, 2),
                   slots_of(plan, SPACE_RECEIVE, 2 * node, 2), 0);
    }
    for (uint32_t step = 0; step < 2; step++) {
        for (uint32_t node = 0; node < 2; node++) {
            uint32_t to = (gathers ? 2 * node : 0) + (step + crossed) % 2;
            build_circuit(plan, step, node, 1 - node, slots_of(plan, SPACE_SEND, step, 1),
                          slots_of(plan, SPACE_RECEIVE, to, 1), 0);
        }
    }
    return plan;
}

TEST(segments_of_blocks_lie_in_slots_of_their_size)
{
    static const uint32_t operations[] = {ECUBE_ALLGATHER, ECUBE_SHIFT, ECUBE_REVERSE};

    for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        proved(halves(operations[i], 0));
        rejected(halves(operations[i], 1), "segment's size");
    }
}

TEST(nobody_leaves_a_barrier_before_all_have_entered)
{
    struct plan *plan = laid("cube:3", ECUBE_BARRIER, NULL, 0);

    plan->circuits[2].to = 2;
    rejected(plan, "not all nodes hear");
    plan = laid("mesh:1x5", ECUBE_BARRIER, NULL, 0);
    plan->circuit_count--;
    rejected(plan, "does not hear of all");
    plan = laid("mesh:1x5", ECUBE_BARRIER, NULL, 0);
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        plan->circuits[i].step = 0;
    }
    rejected(plan, "");
    plan = laid("mesh:1x5", ECUBE_BARRIER, NULL, 0);
    first_with(plan, 0)->flags |= ROW_AHEAD;
    rejected(plan, "whole steps");
    plan = blank("mesh:1x600", ECUBE_BARRIER);
    uint32_t step = 0; /* up the line, and down again from 511: all hear of the 512 lowest */
    for (uint32_t i = 1; i < 600; i++) {
        build_circuit(plan, step++, i - 1, i, NO_SLOTS, NO_SLOTS, 0);
    }
    for (uint32_t i = 511; i > 0; i--) {
        build_circuit(plan, step++, i, i - 1, NO_SLOTS, NO_SLOTS, 0);
    }
    rejected(plan, "node 0 does not hear of all");
}

/* Several ports ------------------------------------------------------------------------------- */

/* The circuits of all nodes of a plan that wants several ports, for long blocks. */
static struct plan *laid_for_ports(const char *name, uint32_t operation)
{
    struct network network = network_of(name);
    const struct plan_request request = {
        .operation = operation, .bytes = 4000, .type = ECUBE_INT32, .ports = PORTS_ALL};
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
        if (candidate->wants_ports && candidate_variants(candidate, &network, &request) > 0) {
            struct plan *plan = candidate->plan(&network, &request);
            struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
            if (all) {
                plan_free(plan);
            }
            return all ? all : plan;
        }
    }
    fail();
    return NULL;
}

enum end { SENDS, RECEIVES };

static bool are_together(const struct plan_circuit *one, const struct plan_circuit *other,
                         enum end end)
{
    return one->step == other->step && one->port != other->port && !is_copy(one) &&
           !is_copy(other) && (end == SENDS ? one->from == other->from : one->to == other->to);
}

/* Two circuits of a node by two ports, in one step, of as many blocks: the k-th such pair. */
static bool find_pair(struct plan *plan, enum end end, uint32_t k, struct plan_circuit *pair[2])
{
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        for (uint32_t j = i + 1;
             j < plan->circuit_count && plan->circuits[j].step == plan->circuits[i].step; j++) {
            pair[0] = &plan->circuits[i];
            pair[1] = &plan->circuits[j];
            if (are_together(pair[0], pair[1], end) && pair[0]->blocks == pair[1]->blocks &&
                k-- == 0) {
                return true;
            }
        }
    }
    return false;
}

static void exchange_ports(struct plan_circuit *pair[2])
{
    uint8_t port = pair[0]->port;

    pair[0]->port = pair[1]->port;
    pair[1]->port = port;
}

static void send_the_same(struct plan_circuit *to, const struct plan_circuit *from)
{
    to->send_at = from->send_at;
    to->send_count = from->send_count;
}

static void receive_the_same(struct plan_circuit *to, const struct plan_circuit *from)
{
    to->receive_at = from->receive_at;
    to->receive_count = from->receive_count;
}

/* It leaves over the other link of its dimension. */
static bool turn_round(struct plan *plan, struct plan_circuit *circuit)
{
    unsigned first = circuit_port(plan, circuit, circuit->from, 0);
    uint32_t place = (uint32_t)(circuit - plan->circuits);

    for (unsigned port = 0; port < plan->network.ports && circuit->hops == 1; port++) {
        uint8_t ports[] = {(uint8_t)port};
        if (port == first || network_port_dimension(&plan->network, port) !=
                                 network_port_dimension(&plan->network, first)) {
            continue;
        }
        build_routed(plan, circuit->step, circuit->from, circuit->to, sent_slots(circuit),
                     received_slots(circuit), circuit->flags, ports, 1);
        plan->circuits[place].ports_at = plan->circuits[--plan->circuit_count].ports_at;
        return true;
    }
    return false;
}

static void leave_out(struct plan *plan, const struct plan_circuit *circuit)
{
    uint32_t place = (uint32_t)(circuit - plan->circuits);

    memmove(&plan->circuits[place], &plan->circuits[place + 1],
            (--plan->circuit_count - place) * sizeof *circuit);
}

enum broken {
    TWO_SENT_BY_ONE_PORT,
    TWO_RECEIVED_BY_ONE_PORT,
    PORT_THAT_THERE_IS_NOT,
    PORTS_OUT_OF_ORDER,
    DIRECTIONS_OF_A_LINK_CONFUSED,
    PART_GIVEN_TWICE,
    PART_LEFT_OUT,
    PARTS_EXCHANGED,
    TWO_PORTS_INTO_ONE_PLACE,
    SENT_ON_IN_THE_STEP_THAT_BRINGS_IT,
    AHEAD_BY_ONE_PORT_ALONE,
    BROKEN_KINDS
};

/* One thing made wrong at the k-th place where it can be; false: there are no more. */
static bool break_plan(struct plan *plan, enum broken kind, uint32_t k)
{
    static const uint8_t receives[BROKEN_KINDS] = {
        [TWO_RECEIVED_BY_ONE_PORT] = true, [TWO_PORTS_INTO_ONE_PLACE] = true};
    struct plan_circuit *pair[2];

    if (!find_pair(plan, receives[kind] ? RECEIVES : SENDS, k, pair)) {
        return false;
    }
    switch (kind) {
    case TWO_SENT_BY_ONE_PORT:
    case TWO_RECEIVED_BY_ONE_PORT: pair[1]->port = pair[0]->port; return true;
    case PORT_THAT_THERE_IS_NOT: pair[1]->port = CLOCK_PORTS_MAX; return true;
    case PORTS_OUT_OF_ORDER: exchange_ports(pair); return true;
    case DIRECTIONS_OF_A_LINK_CONFUSED: return turn_round(plan, pair[1]);
    case PART_GIVEN_TWICE: send_the_same(pair[1], pair[0]); return true;
    case PART_LEFT_OUT: leave_out(plan, pair[1]); return true;
    case PARTS_EXCHANGED: {
        struct plan_circuit first = *pair[0];
        send_the_same(pair[0], pair[1]);
        send_the_same(pair[1], &first);
        return true;
    }
    case TWO_PORTS_INTO_ONE_PLACE: receive_the_same(pair[1], pair[0]); return true;
    case SENT_ON_IN_THE_STEP_THAT_BRINGS_IT:
        for (uint32_t i = 0; i < plan->circuit_count; i++) {
            struct plan_circuit *other = &plan->circuits[i];
            if (other->step == pair[1]->step && other->to == pair[1]->from &&
                other->blocks == pair[1]->blocks && !is_copy(other)) {
                pair[1]->send_at = other->receive_at;
                pair[1]->send_count = other->receive_count;
                return true;
            }
        }
        return true; /* nothing comes to it in this step: the plan is as it was */
    default: pair[1]->flags ^= ROW_AHEAD; return true;
    }
}

/* Each of these at every place of some plans: the prover finds it, or what is left does what it
 * promises (a part that was of no use where it came from). */
TEST(each_kind_of_broken_plan_for_several_ports_is_found)
{
    static const char *const words[BROKEN_KINDS] = {
        [TWO_SENT_BY_ONE_PORT] = "twice in a step by one port",
        [TWO_RECEIVED_BY_ONE_PORT] = "twice in a step by one port",
        [PORT_THAT_THERE_IS_NOT] = "there is no port",
        [PORTS_OUT_OF_ORDER] = "by a later port before it",
        [DIRECTIONS_OF_A_LINK_CONFUSED] = "its path leads to node",
        [PART_GIVEN_TWICE] = "holds another block",
        [PART_LEFT_OUT] = "at the end",
        [PARTS_EXCHANGED] = "holds another block",
        [TWO_PORTS_INTO_ONE_PLACE] = "is received in this step by another port",
        [SENT_ON_IN_THE_STEP_THAT_BRINGS_IT] = "is received in this step by another port",
        [AHEAD_BY_ONE_PORT_ALONE] = "some are issued ahead and some are not"};
    static const struct {
        const char *network;
        uint32_t operation;
    } cases[] = {{"ring:6", ECUBE_ALLGATHER},
                 {"torus:3x3", ECUBE_REDUCE_SCATTER},
                 {"cube:3", ECUBE_BROADCAST},
                 {"cube:3", ECUBE_SCATTER},
                 {"torus:3x3", ECUBE_ALLREDUCE}};

    for (enum broken kind = 0; kind < BROKEN_KINDS; kind++) {
        uint32_t named = 0;
        for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            bool more = true;
            for (uint32_t k = 0; more && k < PLACES; k++) {
                struct plan *plan = laid_for_ports(cases[i].network, cases[i].operation);
                struct plan_fault fault = {.words = ""};
                more = break_plan(plan, kind, k);
                if (more && !plan_prove(plan, &fault)) {
                    named += strstr(fault.words, words[kind]) != NULL;
                } else if (more) {
                    const char *wrong = machine_tries(plan, BYTES);
                    assert_string_equal(wrong ? wrong : "", "");
                }
                plan_free(plan);
            }
        }
        assert_true(named > 0);
    }
}

/* Random changes ------------------------------------------------------------------------------ */

static uint64_t seed = 17;

static uint32_t drawn(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return below ? (uint32_t)((seed >> 11) % below) : 0;
}

/* Another value for a number: near it, or any. */
static uint32_t changed(uint32_t value, uint32_t below)
{
    uint32_t other = drawn(3) ? value + drawn(2) * 2 - 1 : drawn(below);

    return other == value ? value + 1 : other;
}

static void change_circuit(struct plan *plan)
{
    struct plan_circuit *c = &plan->circuits[drawn(plan->circuit_count)];
    uint32_t nodes = plan->network.nodes;

    switch (drawn(12)) {
    case 0: c->step = changed(c->step, plan->circuit_count); break;
    case 1: c->from = changed(c->from, nodes); break;
    case 2: c->to = changed(c->to, nodes); break;
    case 3: c->send_at = changed(c->send_at, plan->extent_count); break;
    case 4: c->receive_at = changed(c->receive_at, plan->extent_count); break;
    case 5: c->send_count = (uint8_t)changed(c->send_count, 4); break;
    case 6: c->receive_count = (uint8_t)changed(c->receive_count, 4); break;
    case 7: c->hops = (uint8_t)changed(c->hops, 8); break;
    case 8: c->ports_at = changed(c->ports_at, plan->port_count + 1); break;
    case 9: c->blocks = changed(c->blocks, nodes); break;
    default: c->flags ^= (uint8_t)(1u << drawn(8)); break;
    }
}

static void change_extent(struct plan *plan)
{
    struct plan_extent *e = &plan->extents[drawn(plan->extent_count)];

    switch (drawn(5)) {
    case 0: e->space = (uint8_t)changed(e->space, SPACES); break;
    case 1: e->first = changed(e->first, plan->network.nodes); break;
    case 2: e->length = changed(e->length, plan->network.nodes); break;
    case 3: e->stride = changed(e->stride, plan->network.nodes); break;
    default: e->times = changed(e->times, 4); break;
    }
}

static void change_head(struct plan *plan)
{
    switch (drawn(6)) {
    case 0: plan->root = changed(plan->root, plan->network.nodes); break;
    case 1: plan->segments = changed(plan->segments, 4); break;
    case 2: plan->circuit_count--; break;
    case 3: plan->operation = changed(plan->operation, OPERATIONS); break;
    default: plan->scratch[0] = changed(plan->scratch[0], plan->network.nodes); break;
    }
}

/* Changes one number of a plan; false when it has none of the kind drawn. */
static bool change(struct plan *plan)
{
    uint32_t kind = drawn(10);

    if (kind < 5 && plan->circuit_count) {
        change_circuit(plan);
    } else if (kind < 8 && plan->extent_count) {
        change_extent(plan);
    } else if (kind == 8 && plan->port_count) {
        plan->ports[drawn(plan->port_count)] ^= (uint8_t)(1 + drawn(3));
    } else if (kind == 9 && plan->circuit_count) {
        change_head(plan);
    } else {
        return false;
    }
    return true;
}

static struct plan *drawn_plan(void)
{
    static const char *const names[] = {"cube:3",   "cube:4",     "ring:5",    "ring:6",
                                        "mesh:1x7", "mesh:3x4",   "torus:3x3", "torus:4x3",
                                        "ring:2",   "torus:3x2x2"};
    struct network network = network_of(names[drawn(sizeof names / sizeof names[0])]);
    const struct candidate *candidate = NULL;
    uint32_t operation, count = 0;

    do {
        operation = drawn(OPERATIONS);
    } while (!operation_of(operation) || !operation_of(operation)->planned);
    while (candidate_of(operation, count)) {
        count++;
    }
    while (!candidate || !candidate->possible(&network)) {
        candidate = candidate_of(operation, drawn(count));
    }
    const struct plan_request request = {
        .operation = operation, .root = drawn(operation_roots(operation_of(operation), &network))};
    return candidate->plan(&network, &request);
}

TEST(a_changed_plan_is_rejected_or_does_what_it_says)
{
    uint32_t changes = 0, accepted = 0;

    while (changes < CHANGES) {
        struct plan *plan = drawn_plan();
        struct plan_fault fault = {.words = ""};
        if (change(plan)) {
            changes++;
            if (plan_prove(plan, &fault)) {
                const char *words = machine_tries(plan, BYTES);
                accepted++;
                if (words) {
                    print_error("change %u, %s by %s\n", changes, operation_name(plan->operation),
                                candidate_of(plan->operation, plan->algorithm)->name);
                    assert_string_equal(words, "");
                }
            } else {
                assert_true(fault.words[0]);
            }
        }
        plan_free(plan);
    }
    print_message("%u of %u changed plans are as good\n", accepted, changes);
    assert_in_range(accepted, CHANGES / 50, CHANGES / 2);
}
