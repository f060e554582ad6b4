/*
 * both_ways.c - the complete exchange between neighbours, both ways round each dimension, one
 * dimension after the other.
 *
 * A dimension that is a line is a ring as well, folded (lines.h): the next node is two hops on at
 * most, and each way round uses every directed link once. In the phase of a dimension of n nodes a
 * node has n parcels, one for each place of the ring: all blocks that go there. They take the
 * shorter way, over half of an even ring that of +. In step t of a way a node sends on what came
 * from t places behind and goes further; the first parcel of it is for the next node. The two ways
 * take turns, so that the set-up of one hides behind the other's parcels.
 *
 *     ring:5, node 0    + 1 2   - 4 3   + of node 4: 1   - of node 1: 4
 *
 * Where parcels are: in a whole buffer slot v holds the block whose destination has v's
 * coordinates, in the dimensions that are done the source. Under way they lie in halves of scratch
 * by turns, two for each way, by how far they have to go.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 2.2.5 (multinode scatter on a ring and a torus), with one
 *          port
 */
#include "collectives/planner/build.h"
#include "collectives/planner/candidates.h"
#include "collectives/planner/lines.h"

enum { NODES_MAX = 512, WAYS = 2 };

/* The phase of one dimension. */
struct phase {
    struct plan *plan;
    const struct network_dimension *dim;
    uint32_t parcel;       /* blocks of a parcel */
    uint32_t most[WAYS];   /* places that parcels go at most */
    uint32_t halves[WAYS]; /* where in scratch the halves of each way begin */
    bool first, last;
    uint32_t buffer; /* of scratch, where what comes is put if it is not the last */
};

bool possible_both_ways(const struct network *network)
{
    return network->nodes > 1 && network->nodes <= NODES_MAX;
}

static uint32_t coordinate_of(const struct phase *phase, uint32_t node)
{
    return node / phase->dim->stride % phase->dim->size;
}

/* The coordinate that is `steps` places on: way 0 goes up, way 1 down. */
static uint32_t further(const struct phase *phase, unsigned way, uint32_t at, uint32_t steps)
{
    uint32_t size = phase->dim->size, on = way == 0 ? steps : size - steps;

    if (phase->dim->wraps)
        return (at + on) % size;
    return fold_at(size, (fold_place(size, at) + on) % size);
}

/* Adds the slots of a parcel: those with a coordinate in the dimension. */
static void add_parcel(struct phase *phase, struct slots *slots, enum space space, uint32_t base,
                       uint32_t at)
{
    uint32_t run = phase->dim->stride, all = run * phase->dim->size;

    for (uint32_t high = 0; high < phase->plan->network.nodes; high += all)
        slots_add(phase->plan, slots, space, base + high + at * run, run);
}

static void add_before(struct phase *phase, struct slots *slots, uint32_t at)
{
    uint32_t base = (1 - phase->buffer) * phase->plan->network.nodes;

    add_parcel(phase, slots, phase->first ? SPACE_SEND : SPACE_SCRATCH, phase->first ? 0 : base,
               at);
}

static void add_behind(struct phase *phase, struct slots *slots, uint32_t at)
{
    uint32_t base = phase->buffer * phase->plan->network.nodes;

    add_parcel(phase, slots, phase->last ? SPACE_RECEIVE : SPACE_SCRATCH, phase->last ? 0 : base,
               at);
}

/* Where in scratch parcels of a way are that are sent in a step. */
static uint32_t half_of(const struct phase *phase, unsigned way, uint32_t step)
{
    return phase->halves[way] + step % 2 * (phase->most[way] - 1) * phase->parcel;
}

/* Step t of a way at one node. */
static void pass_on(struct phase *phase, uint32_t step, unsigned way, uint32_t t, uint32_t node)
{
    struct plan *plan = phase->plan;
    uint32_t at = coordinate_of(phase, node), count = phase->most[way] - t;
    uint32_t next = further(phase, way, at, 1);

    struct slots send = slots_begin(plan);
    for (uint32_t i = 1; t == 0 && i <= count; i++)
        add_before(phase, &send, further(phase, way, at, i));
    if (t > 0)
        slots_add(plan, &send, SPACE_SCRATCH, half_of(phase, way, t), count * phase->parcel);
    struct slots receive = slots_begin(plan);
    add_behind(phase, &receive, further(phase, 1 - way, at, t));
    slots_add(plan, &receive, SPACE_SCRATCH, half_of(phase, way, t + 1),
              (count - 1) * phase->parcel);
    build_circuit(plan, step, node, node + (next - at) * phase->dim->stride, send, receive,
                  phase->first && t == 0 ? 0 : ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
}

/* All steps of a phase from a step on; returns the step behind it. */
static uint32_t add_phase(struct phase *phase, uint32_t step)
{
    struct plan *plan = phase->plan;

    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        struct slots stay = slots_begin(plan), kept;
        add_before(phase, &stay, coordinate_of(phase, node));
        kept = slots_begin(plan);
        add_behind(phase, &kept, coordinate_of(phase, node));
        build_copy(plan, step, node, stay, kept,
                   phase->first ? 0 : ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    }
    for (uint32_t t = 0; t < phase->most[0]; t++)
        for (unsigned way = 0; way < WAYS; way++)
            if (t < phase->most[way]) {
                for (uint32_t node = 0; node < plan->network.nodes; node++)
                    pass_on(phase, step, way, t, node);
                step++;
            }
    return step;
}

/* Gives halves their places in scratch, behind the buffers; returns what it needs altogether. */
static uint32_t lay_out(struct phase *phase, uint32_t buffers)
{
    const struct network_dimension *dim = phase->dim;
    uint32_t nodes = phase->plan->network.nodes, at = buffers * nodes;

    phase->parcel = nodes / dim->size;
    for (unsigned way = 0; way < WAYS; way++) {
        phase->most[way] = (dim->size - way) / 2;
        phase->halves[way] = at;
        at += phase->most[way] ? 2 * (phase->most[way] - 1) * phase->parcel : 0;
    }
    return at;
}

/* The dimensions that have links, in order; returns how many. */
static unsigned long_dimensions(const struct network *network, unsigned dims[NETWORK_DIMS_MAX])
{
    unsigned count = 0;

    for (unsigned k = 0; k < network->dims; k++)
        if (network->dim[k].size > 1)
            dims[count++] = k;
    return count;
}

struct plan *plan_both_ways(const struct network *network, const struct plan_wish *wish)
{
    struct plan *plan = build_begin(network, wish, false);
    unsigned dims[NETWORK_DIMS_MAX], count = long_dimensions(network, dims);
    uint32_t step = 0, scratch = 0;

    for (unsigned i = 0; i < count; i++) {
        struct phase phase = {.plan = plan,
                              .dim = &network->dim[dims[i]],
                              .first = i == 0,
                              .last = i + 1 == count,
                              .buffer = i % 2};
        uint32_t needs = lay_out(&phase, count < 3 ? count - 1 : 2);
        scratch = needs > scratch ? needs : scratch;
        step = add_phase(&phase, step);
    }
    for (uint32_t node = 0; node < network->nodes; node++)
        plan->scratch[node] = scratch;
    build_ahead(plan);
    return plan;
}
