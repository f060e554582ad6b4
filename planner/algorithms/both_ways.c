/*
 * both_ways.c - the complete exchange between neighbours, both ways round each dimension, one
 * dimension after the other (superblocks.h).
 *
 * A line is folded: the next node is two hops on at most, and each way round uses every directed
 * link once. Parcels take the shorter way, over half of an even ring that of +. In step t of a way
 * a node sends on what came from t places behind and goes further; the first superblock of it is
 * for the next node. The two ways take turns, so that the set-up of one hides behind the other's
 * superblocks.
 *
 *     ring:5, node 0    + 1 2   - 4 3   + of node 4: 1   - of node 1: 4
 *
 * Under way superblocks lie in halves of scratch by turns, two for each way, by how far they have
 * to go.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 2.2.5 (multinode scatter on a ring and a torus), with one
 *          port
 */
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/superblocks.h"

enum { NODES_MAX = 2048, WAYS = 2 };

/* The phase of one dimension. */
struct phase {
    struct superblocks superblocks;
    uint32_t superblock;   /* blocks of a superblock */
    uint32_t most[WAYS];   /* places that superblocks go at most */
    uint32_t halves[WAYS]; /* where in scratch the halves of each way begin */
};

bool possible_both_ways(const struct network *network)
{
    return network->nodes > 1 && network->nodes <= NODES_MAX;
}

/* The node that is `steps` places on: way 0 goes up, way 1 down. */
static uint32_t further(const struct phase *phase, unsigned way, uint32_t node, uint32_t steps)
{
    return superblocks_further(&phase->superblocks, node,
                               way == 0 ? steps : phase->superblocks.dim->size - steps);
}

/* Where in scratch superblocks of a way are that are sent in a step. */
static uint32_t half_of(const struct phase *phase, unsigned way, uint32_t step)
{
    return phase->halves[way] + step % 2 * (phase->most[way] - 1) * phase->superblock;
}

/* Step t of a way at one node. */
static void pass_on(struct phase *phase, uint32_t step, unsigned way, uint32_t t, uint32_t node)
{
    struct plan *plan = phase->superblocks.plan;
    uint32_t count = phase->most[way] - t, next = further(phase, way, node, 1);

    struct slots send = slots_begin(plan);
    for (uint32_t i = 1; t == 0 && i <= count; i++) {
        superblocks_before(&phase->superblocks, &send, further(phase, way, node, i));
    }
    if (t > 0) {
        slots_add(plan, &send, SPACE_SCRATCH, half_of(phase, way, t), count * phase->superblock);
    }
    struct slots receive = slots_begin(plan);
    superblocks_behind(&phase->superblocks, &receive, further(phase, 1 - way, node, t));
    slots_add(plan, &receive, SPACE_SCRATCH, half_of(phase, way, t + 1),
              (count - 1) * phase->superblock);
    build_circuit(plan, step, node, next, send, receive,
                  phase->superblocks.first && t == 0 ? 0 : ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
}

/* All steps of a phase from a step on; returns the step behind it. */
static uint32_t add_phase(struct phase *phase, uint32_t step)
{
    superblocks_stay(&phase->superblocks, step);
    for (uint32_t t = 0; t < phase->most[0]; t++) {
        for (unsigned way = 0; way < WAYS; way++) {
            if (t < phase->most[way]) {
                for (uint32_t node = 0; node < phase->superblocks.plan->network.nodes; node++) {
                    pass_on(phase, step, way, t, node);
                }
                step++;
            }
        }
    }
    return step;
}

/* Gives halves their places in scratch, from `at` on; returns what is needed altogether. */
static uint32_t lay_out(struct phase *phase, uint32_t at)
{
    phase->superblock = superblocks_blocks(&phase->superblocks);
    for (unsigned way = 0; way < WAYS; way++) {
        phase->most[way] = (phase->superblocks.dim->size - way) / 2;
        phase->halves[way] = at;
        at += phase->most[way] ? 2 * (phase->most[way] - 1) * phase->superblock : 0;
    }
    return at;
}

struct plan *plan_both_ways(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    unsigned dims[NETWORK_DIMS_MAX], count = superblocks_dimensions(network, dims);
    uint32_t step = 0, scratch = 0;

    for (unsigned i = 0; i < count; i++) {
        struct phase phase = {.superblocks = superblocks_of(plan, dims, count, i)};
        uint32_t needs = lay_out(&phase, superblocks_buffers(plan, count));
        scratch = needs > scratch ? needs : scratch;
        step = add_phase(&phase, step);
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        plan->scratch[node] = scratch;
    }
    build_ahead(plan);
    return plan;
}
