/*
 * rotated_whole.c - allreduce of short vectors over all dimensions at once: parts of the vector are
 * rotated over dimensions (rotated.c), and whole sums of a part are exchanged.
 *
 *     pairs     nodes exchange their sums in pairs, near ones first; Swing on rings, mirrored for
 *               the second half of a part
 *     threes    to the middle one of two or three nodes; each of these passes on to both neighbours
 *               the sums that come, and adds them to its own; and back
 *
 *     ring:8, threes    0>1 2>3 4>3 5>6 7>6 | 1, 3 and 6 to each other | 1>0 3>2 3>4 6>5 6>7
 *
 * What comes is added up behind its step, for what a node sends may not change meanwhile. Sums of
 * others lie in scratch: one layer for each step and direction from which they come.
 *
 * Variants  pairs, where sides are powers of two; threes, where one is longer than two
 * Source    De Sensi et al., Swing, NSDI 2024 (mirrored parts); Barnett, Littlefield, Payne & van
 *           de Geijn, J. Parallel Distrib. Comput. 24(2), 1995, 191-201 (groups)
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/flow.h"
#include "planner/algorithms/pairs.h"
#include "planner/algorithms/rotated.h"
#include "drivers/check.h"
#include "wire/circuit.h"

enum { NODES_MAX = 4096, CIRCUITS_MAX = 1 << 20 };

/* What a circuit does: adds to what the other has, is kept apart there at first, or is the sum. */
enum act { ACT_ADDS, ACT_KEPT, ACT_SUM };

/* What the nodes of a line do in a step. A layer is 1 + one of scratch; 0: the node's own sum. */
struct line_act {
    uint32_t step, from, to;
    enum act act;
    uint32_t source, target;
};

struct acts {
    struct line_act *all;
    uint32_t count, steps, layers;
};

struct whole {
    const struct network *network;
    struct plan *plan;
    enum rotated_way way;
    unsigned dims[NETWORK_DIMS_MAX], count, halves, parts, ports;
    struct acts acts[NETWORK_DIMS_MAX];
    uint32_t step;
};

/* What a circuit of a step carries. */
struct load {
    uint32_t from, to, part;
    const struct line_act *act;
};

/* Lines -----------------------------------------------------------------------------------------
 */

static void add_act(struct acts *acts, struct line_act act)
{
    acts->all = planner_grow(acts->all, acts->count, sizeof *acts->all);
    acts->all[acts->count++] = act;
    acts->steps = act.step + 1;
    acts->layers = act.target > acts->layers ? act.target : acts->layers;
}

/* Leaders pass on in both directions what comes. */
static void add_passing(struct acts *acts, const uint32_t *leaders, uint32_t count, bool wraps)
{
    uint32_t first = acts->steps, steps = wraps ? count / 2 : count - 1;

    for (uint32_t t = 0; t < steps; t++) {
        for (uint32_t way = 0; way < 2; way++) {
            for (uint32_t i = 0; i < count; i++) {
                uint32_t to = (way ? i + count - 1 : i + 1) % count;
                bool goes = wraps ? way == 0 || 2 * (t + 1) < count /* once to the opposite one */
                                  : (way ? i > 0 && i + t < count : i + 1 < count && i >= t);
                if (goes) {
                    add_act(acts, (struct line_act){first + t, leaders[i], leaders[to], ACT_KEPT,
                                                    t ? 2 * t + way - 1 : 0, 2 * t + way + 1});
                }
            }
        }
    }
}

static struct acts acts_in_threes(const struct network_dimension *dim)
{
    struct line line = line_of(dim, ROTATED_THREES);
    uint32_t count, *leaders = line_leaders(dim->size, &count);
    struct acts acts = {0};

    for (uint32_t i = 0; i < line.count && line.moves[i].step == 0; i++) {
        add_act(&acts, (struct line_act){0, line.moves[i].from, line.moves[i].to, ACT_ADDS, 0, 0});
    }
    add_passing(&acts, leaders, count, dim->wraps);
    for (uint32_t i = 0, down = acts.steps; i < line.count; i++) {
        if (line.moves[i].step == line.steps - 1) {
            add_act(&acts,
                    (struct line_act){down, line.moves[i].from, line.moves[i].to, ACT_SUM, 0, 0});
        }
    }
    free(leaders);
    line_free(&line);
    return acts;
}

/* Of pairs the nearest come first, which line_of has last. */
static struct acts acts_of(const struct network_dimension *dim, enum rotated_way way)
{
    if (way == ROTATED_THREES && dim->size > 2) {
        return acts_in_threes(dim);
    }
    struct line line = line_of(dim, ROTATED_PAIRS);
    struct acts acts = {0};
    for (uint32_t step = 0; step < line.steps; step++) {
        for (uint32_t i = 0; i < line.count; i++) {
            const struct line_move *move = &line.moves[i];
            if (move->step == line.steps - 1 - step) {
                add_act(&acts, (struct line_act){step, move->from, move->to, ACT_KEPT, 0, 1});
            }
        }
    }
    line_free(&line);
    return acts;
}

/* Steps -----------------------------------------------------------------------------------------
 */

static int by_ends(const void *one, const void *other)
{
    const struct load *a = one, *b = other;

    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    if (a->to != b->to) {
        return a->to < b->to ? -1 : 1;
    }
    return a->part < b->part ? -1 : a->part > b->part;
}

/* What all parts do in a step of a phase, ordered by circuits; the caller's to free. */
static struct load *loads_of(const struct whole *w, unsigned phase, uint32_t step, uint32_t *count)
{
    struct load *loads = NULL;

    *count = 0;
    for (unsigned part = 0; part < w->parts; part++) {
        unsigned k = w->dims[(part / w->halves + phase) % w->count];
        const struct network_dimension *dim = &w->network->dim[k];
        for (uint32_t i = 0; i < w->acts[k].count; i++) {
            const struct line_act *act = &w->acts[k].all[i];
            for (uint32_t node = 0; act->step == step && node < w->network->nodes; node++) {
                if (node / dim->stride % dim->size == 0) {
                    unsigned half = part % w->halves;
                    loads = planner_grow(loads, *count, sizeof *loads);
                    loads[(*count)++] = (struct load){
                        rotated_place(w->network, w->way, k, node, act->from, half),
                        rotated_place(w->network, w->way, k, node, act->to, half), part, act};
                }
            }
        }
    }
    if (*count > 0) {
        qsort(loads, *count, sizeof *loads, by_ends);
    }
    return loads;
}

static void add_slot(const struct whole *w, struct slots *slots, uint32_t layer, uint32_t part)
{
    slots_add(w->plan, slots, layer ? SPACE_SCRATCH : SPACE_RECEIVE,
              layer ? (layer - 1) * w->parts + part : part, 1);
}

/* A circuit of the loads that a move names by their places. */
static void lay_move(const struct whole *w, const struct flow *flow, const struct flow_move *move,
                     const struct load *loads)
{
    const struct flow_range *range = &flow->ranges[move->range_at];
    const struct load *first = &loads[range->first];
    uint8_t flags = ROW_AFTER_RECEIVED | ROW_AFTER_SENT;
    struct slots send = slots_begin(w->plan);

    CHECK(move->range_count == 1);
    for (uint32_t i = 0; i < range->count; i++) {
        CHECK(first[i].act->act == first->act->act);
        add_slot(w, &send, first[i].act->source, first[i].part);
    }
    struct slots receive = slots_begin(w->plan);
    for (uint32_t i = 0; i < range->count; i++) {
        add_slot(w, &receive, first[i].act->target, first[i].part);
    }
    w->plan->port = move->port;
    build_circuit(w->plan, w->step + move->step, move->from, move->to, send, receive,
                  first->act->act == ACT_ADDS ? flags | ROW_COMBINES : flags);
}

/* What has come in a step and is kept apart is added up. */
static void add_up(const struct whole *w, const struct load *loads, uint32_t count, uint32_t step)
{
    for (uint32_t i = 0; i < count; i++) {
        if (loads[i].act->act == ACT_KEPT) {
            struct slots came = slots_begin(w->plan);
            add_slot(w, &came, loads[i].act->target, loads[i].part);
            build_copy(w->plan, step, loads[i].to, came,
                       slots_of(w->plan, SPACE_RECEIVE, loads[i].part, 1),
                       ROW_COMBINES | ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
        }
    }
}

static void lay_step(struct whole *w, unsigned phase, uint32_t step)
{
    struct flow flow = {0};
    uint32_t count;
    struct load *loads = loads_of(w, phase, step, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || loads[i].from != loads[i - 1].from || loads[i].to != loads[i - 1].to) {
            flow_move(&flow, 0, loads[i].from, loads[i].to, FLOW_DIRECT);
        }
        flow_add(&flow, i, 1);
    }
    flow_ports(&flow, w->network->nodes, w->ports);
    for (uint32_t i = 0; i < flow.count; i++) {
        lay_move(w, &flow, &flow.moves[i], loads);
    }
    if (flow.steps > 0) {
        add_up(w, loads, count, w->step + flow.steps - 1);
    }
    w->step += flow.steps;
    flow_free(&flow);
    free(loads);
}

static void lay_phase(struct whole *w, unsigned phase)
{
    uint32_t steps = 0;

    for (unsigned i = 0; i < w->count; i++) {
        uint32_t own = w->acts[w->dims[i]].steps;
        steps = own > steps ? own : steps;
    }
    for (uint32_t step = 0; step < steps && !w->plan->refused; step++) {
        lay_step(w, phase, step);
    }
}

/* Candidates ------------------------------------------------------------------------------------
 */

static bool is_long(const struct network *network)
{
    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > 2) {
            return true;
        }
    }
    return false;
}

bool possible_rotated_whole(const struct network *network)
{
    uint64_t steps = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > OPEN_HOPS_MAX) {
            return false;
        }
        steps += network->dim[k].size;
    }
    return network->nodes > 1 && network->nodes <= NODES_MAX &&
           steps * network->nodes * network->ports <= CIRCUITS_MAX &&
           (is_long(network) || pairs_everywhere(network));
}

unsigned rotated_whole_variants(const struct network *network, const struct plan_request *request)
{
    (void)request;
    return (unsigned)pairs_everywhere(network) + is_long(network);
}

static enum rotated_way way_of(const struct network *network, unsigned variant)
{
    return variant == 0 && pairs_everywhere(network) ? ROTATED_PAIRS : ROTATED_THREES;
}

void rotated_whole_words(const struct network *network, unsigned variant,
                         char words[VARIANT_WORDS_MAX])
{
    snprintf(words, VARIANT_WORDS_MAX, "%s",
             way_of(network, variant) == ROTATED_PAIRS ? "pairs" : "threes");
}

struct plan *plan_rotated_whole(const struct network *network, const struct plan_request *request)
{
    struct whole w = {.network = network,
                      .plan = build_begin(network, request, false),
                      .way = way_of(network, request->variant),
                      .ports = request->ports};
    uint32_t layers = 0;

    w.count = rotated_dims(network, w.dims);
    w.halves = rotated_halves(network, w.way);
    w.parts = w.count * w.halves;
    w.plan->segments = w.parts;
    w.plan->sums_apart = w.way == ROTATED_THREES || w.ports < w.parts;
    for (unsigned i = 0; i < w.count; i++) {
        struct acts *acts = &w.acts[w.dims[i]];
        *acts = acts_of(&network->dim[w.dims[i]], w.way);
        layers = acts->layers > layers ? acts->layers : layers;
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        w.plan->scratch[node] = layers * w.parts;
        build_copy(w.plan, 0, node, slots_of(w.plan, SPACE_SEND, 0, w.parts),
                   slots_of(w.plan, SPACE_RECEIVE, 0, w.parts), 0);
    }
    for (unsigned phase = 0; phase < w.count; phase++) {
        lay_phase(&w, phase);
    }
    for (unsigned i = 0; i < w.count; i++) {
        free(w.acts[w.dims[i]].all);
    }
    return w.plan;
}
