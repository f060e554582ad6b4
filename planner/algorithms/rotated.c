/*
 * rotated.c - allgather, reduce_scatter and allreduce that keep the links of all dimensions busy:
 * what there is, is cut into parts, and each begins with another dimension.
 *
 * With d dimensions longer than one node, part r goes through them in the order r, r + 1, ...
 * d - 1, 0, ... So in each phase every dimension has one part, and no two share a link. Where a way
 * round a ring is as long as the way back, a part has two halves, which do the same mirrored. What
 * a vector has of a part is a segment for each rank. A block belongs to one part as a whole, by the
 * sum of its rank's coordinates, or is cut: then each part has a segment of it.
 *
 *     torus:4x4, block of 0    part 0    0>1 0>3 0>2, then these to their columns
 *                              part 1    0>4 0>12 0>8, then these to their rows
 *
 * In a line all nodes do one of these:
 *
 *     neighbours    in every step to both neighbours what they do not have yet (bucket)
 *     threes        nodes to the middle one of two or three; these do as neighbours; and back
 *     pairs         Swing and, on lines, recursive doubling, far pairs first (pairs.c)
 *
 * In a step a node gives to another all that it has by then and the other has not.
 *
 * Variants  neighbours, threes, pairs; of blocks also the same, cut
 * Source    Ozveren, LIDS-P-1721 (1987), 2.2.3 (multinode broadcast); Jain & Sabharwal, Optimal
 *           bucket algorithms for large MPI collectives on torus interconnects, ICS 2010; De Sensi
 *           et al., Swing, NSDI 2024 (mirrored parts); on cubes Johnsson & Ho, IEEE TC 38(9), 1989
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/block_sets.h"
#include "planner/algorithms/flow.h"
#include "planner/algorithms/pairs.h"
#include "planner/algorithms/rotated.h"
#include "drivers/check.h"
#include "wire/circuit.h"

enum { SITES_MAX = 1 << 21, NODES_MAX = 1024, THREE = 3 };

static const char *const words_of[ROTATED_WAYS] = {"neighbours", "threes", "pairs"};

/* A block that a node gives to another in a step. */
struct gift {
    uint32_t from, to, block;
};

struct rotation {
    const struct network *network;
    unsigned dims[NETWORK_DIMS_MAX], count; /* those longer than one node */
    struct line lines[NETWORK_DIMS_MAX];
    enum rotated_way way;
    bool vector, cut;                  /* parts are segments: of a vector, or of each block */
    unsigned halves;                   /* of a part */
    struct block_sets *before, *known; /* of each part and half */
    struct gift *gifts;
    uint32_t gift_count;
    struct flow flow;
};

/* Lines -----------------------------------------------------------------------------------------
 */

static void add_move(struct line *line, uint32_t step, uint32_t from, uint32_t to)
{
    line->moves = planner_grow(line->moves, line->count, sizeof *line->moves);
    line->moves[line->count++] = (struct line_move){step, from, to};
    line->steps = step + 1;
}

/* In every step each of some places to both its neighbours, first to those in one direction. */
static void to_neighbours(struct line *line, const uint32_t *places, uint32_t count, bool wraps)
{
    uint32_t first = line->steps, steps = wraps ? count / 2 : count - 1;
    unsigned ways = wraps && count == 2 ? 1 : 2;

    for (uint32_t step = 0; step < steps; step++) {
        for (unsigned way = 0; way < ways; way++) {
            for (uint32_t i = 0; i < count; i++) {
                uint32_t next = (way == 0 ? i + 1 : i + count - 1) % count;
                bool is_next = way == 0 ? next > i : next < i;
                if (wraps || is_next) {
                    add_move(line, first + step, places[i], places[next]);
                }
            }
        }
    }
}

/* The first place of a group of two or three. */
static uint32_t group_begin(uint32_t size, uint32_t groups, uint32_t group)
{
    return size * group / groups;
}

uint32_t *line_leaders(uint32_t size, uint32_t *count)
{
    uint32_t groups = (size + THREE - 1) / THREE;
    uint32_t *places = planner_memory(groups, sizeof *places);

    for (uint32_t g = 0; g < groups; g++) {
        uint32_t low = group_begin(size, groups, g);
        places[g] = low + (group_begin(size, groups, g + 1) - low) / 2;
    }
    *count = groups;
    return places;
}

/* Between the leaders and the others of their groups, up or down. */
static void in_groups(struct line *line, uint32_t size, const uint32_t *leaders, uint32_t groups,
                      bool up)
{
    uint32_t step = line->steps;

    for (uint32_t g = 0; g < groups; g++) {
        uint32_t end = group_begin(size, groups, g + 1);
        for (uint32_t at = group_begin(size, groups, g); at < end; at++) {
            if (at != leaders[g]) {
                add_move(line, step, up ? at : leaders[g], up ? leaders[g] : at);
            }
        }
    }
}

static void in_threes(struct line *line, uint32_t size, bool wraps)
{
    uint32_t groups, *leaders = line_leaders(size, &groups);

    in_groups(line, size, leaders, groups, true);
    if (groups > 1) {
        to_neighbours(line, leaders, groups, wraps);
    }
    in_groups(line, size, leaders, groups, false);
    free(leaders);
}

static void in_pairs(struct line *line, uint32_t size, bool wraps)
{
    struct network alone;

    CHECK(network_make(&alone, wraps ? NETWORK_RING : NETWORK_MESH, &size, 1));
    for (unsigned step = pairs_steps(&alone); step-- > 0;) {
        for (uint32_t at = 0, now = line->steps; at < size; at++) {
            add_move(line, now, at, pairs_partner(&alone, step, at));
        }
    }
}

struct line line_of(const struct network_dimension *dim, enum rotated_way way)
{
    uint32_t *places = planner_memory(dim->size, sizeof *places);
    bool wraps = dim->wraps || dim->size == 2;
    struct line line = {0};

    for (uint32_t at = 0; at < dim->size; at++) {
        places[at] = at;
    }
    if (way == ROTATED_THREES && dim->size >= THREE) {
        in_threes(&line, dim->size, wraps);
    } else if (way == ROTATED_PAIRS && dim->size > 2) {
        in_pairs(&line, dim->size, wraps);
    } else {
        to_neighbours(&line, places, dim->size, wraps);
    }
    free(places);
    return line;
}

void line_free(struct line *line)
{
    free(line->moves);
}

/* Parts -----------------------------------------------------------------------------------------
 */

unsigned rotated_dims(const struct network *network, unsigned dims[NETWORK_DIMS_MAX])
{
    unsigned count = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > 1) {
            dims[count++] = k;
        }
    }
    return count;
}

unsigned rotated_halves(const struct network *network, enum rotated_way way)
{
    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        bool turns = dim->size > 2 && dim->wraps;
        if (turns && (way == ROTATED_PAIRS || (way == ROTATED_NEIGHBOURS && dim->size % 2 == 0))) {
            return 2;
        }
    }
    return 1;
}

/* To which part and half a rank's block belongs. */
static unsigned part_of(const struct rotation *r, uint32_t rank)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < r->count; i++) {
        const struct network_dimension *dim = &r->network->dim[r->dims[i]];
        sum += rank / dim->stride % dim->size;
    }
    return sum % (r->count * r->halves);
}

/* The second half is mirrored. Pairs round a ring that go forth from even places do so from odd
 * ones when all are moved by one. */
uint32_t rotated_place(const struct network *network, enum rotated_way way, unsigned dimension,
                       uint32_t node, uint32_t place, unsigned half)
{
    const struct network_dimension *dim = &network->dim[dimension];
    uint32_t at = place;

    if (half) {
        at = way == ROTATED_PAIRS && dim->wraps ? (place + 1) % dim->size : dim->size - 1 - place;
    }
    return node + at * dim->stride - node / dim->stride % dim->size * dim->stride;
}

static void give(struct rotation *r, unsigned part, uint32_t from, uint32_t to)
{
    uint32_t nodes = r->network->nodes;

    for (uint32_t rank = 0; rank < nodes; rank++) {
        if ((r->vector || r->cut || part_of(r, rank) == part) &&
            block_sets_has(&r->before[part], from, rank) &&
            block_sets_take(&r->known[part], to, rank)) {
            r->gifts = planner_grow(r->gifts, r->gift_count, sizeof *r->gifts);
            r->gifts[r->gift_count++] = (struct gift){from, to,
                                                      r->vector ? part * nodes + rank
                                                      : r->cut  ? rank * r->count * r->halves + part
                                                                : rank};
        }
    }
}

/* A step of a part's dimension, in all lines. */
static void step_of(struct rotation *r, unsigned part, unsigned k, uint32_t step)
{
    const struct network_dimension *dim = &r->network->dim[k];
    const struct line *line = &r->lines[k];

    for (uint32_t i = 0; i < line->count; i++) {
        if (line->moves[i].step != step) {
            continue;
        }
        for (uint32_t node = 0; node < r->network->nodes; node++) {
            if (node / dim->stride % dim->size == 0) {
                give(r, part,
                     rotated_place(r->network, r->way, k, node, line->moves[i].from,
                                   part % r->halves),
                     rotated_place(r->network, r->way, k, node, line->moves[i].to,
                                   part % r->halves));
            }
        }
    }
}

static int by_ends(const void *one, const void *other)
{
    const struct gift *a = one, *b = other;

    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    if (a->to != b->to) {
        return a->to < b->to ? -1 : 1;
    }
    return a->block < b->block ? -1 : a->block > b->block;
}

/* The step's gifts, as one move for each two nodes. */
static void lay_gifts(struct rotation *r, uint32_t step)
{
    const struct gift *last = NULL;

    if (r->gift_count > 0) {
        qsort(r->gifts, r->gift_count, sizeof *r->gifts, by_ends);
    }
    for (uint32_t i = 0; i < r->gift_count; i++) {
        const struct gift *gift = &r->gifts[i];
        if (!last || last->from != gift->from || last->to != gift->to) {
            flow_move(&r->flow, step, gift->from, gift->to, FLOW_DIRECT);
        }
        flow_add(&r->flow, gift->block, 1);
        last = gift;
    }
    r->gift_count = 0;
}

static void lay_phase(struct rotation *r, unsigned phase)
{
    unsigned parts = r->count * r->halves;
    uint32_t steps = 0, first = r->flow.steps;

    for (unsigned i = 0; i < r->count; i++) {
        uint32_t own = r->lines[r->dims[i]].steps;
        steps = own > steps ? own : steps;
    }
    for (uint32_t step = 0; step < steps; step++) {
        for (unsigned part = 0; part < parts; part++) {
            block_sets_copy(&r->before[part], &r->known[part]);
        }
        for (unsigned part = 0; part < parts; part++) {
            step_of(r, part, r->dims[(part / r->halves + phase) % r->count], step);
        }
        lay_gifts(r, first + step);
    }
}

static struct flow flow_of(const struct network *network, enum rotated_way way, bool vector,
                           bool cut)
{
    struct rotation r = {.network = network,
                         .way = way,
                         .vector = vector,
                         .cut = cut,
                         .halves = rotated_halves(network, way)};

    r.count = rotated_dims(network, r.dims);
    unsigned parts = r.count * r.halves;
    r.before = planner_memory(parts, sizeof *r.before);
    r.known = planner_memory(parts, sizeof *r.known);
    for (unsigned part = 0; part < parts; part++) {
        r.before[part] = block_sets_make(network->nodes);
        r.known[part] = block_sets_make(network->nodes);
    }
    for (unsigned i = 0; i < r.count; i++) {
        r.lines[r.dims[i]] = line_of(&network->dim[r.dims[i]], way);
    }
    for (unsigned phase = 0; phase < r.count; phase++) {
        lay_phase(&r, phase);
    }
    for (unsigned part = 0; part < parts; part++) {
        block_sets_free(&r.before[part]);
        block_sets_free(&r.known[part]);
    }
    for (unsigned i = 0; i < r.count; i++) {
        line_free(&r.lines[r.dims[i]]);
    }
    free(r.before);
    free(r.known);
    free(r.gifts);
    return r.flow;
}

/* Candidates ------------------------------------------------------------------------------------
 */

bool possible_rotated(const struct network *network)
{
    unsigned dims[NETWORK_DIMS_MAX], parts = 2 * rotated_dims(network, dims);

    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > OPEN_HOPS_MAX) {
            return false;
        }
    }
    return network->nodes > 1 && network->nodes <= NODES_MAX &&
           (uint64_t)network->nodes * network->nodes * parts <= SITES_MAX;
}

/* Those that are not the same as the first. */
static unsigned ways_of(const struct network *network, enum rotated_way ways[ROTATED_WAYS])
{
    unsigned count = 0;
    bool is_long = false;

    for (unsigned k = 0; k < network->dims; k++) {
        is_long = is_long || network->dim[k].size > 2;
    }
    ways[count++] = ROTATED_NEIGHBOURS;
    if (is_long) {
        ways[count++] = ROTATED_THREES;
    }
    if (is_long && pairs_everywhere(network)) {
        ways[count++] = ROTATED_PAIRS;
    }
    return count;
}

/* In how many parts all is. */
static unsigned parts_of(const struct network *network, enum rotated_way way)
{
    unsigned dims[NETWORK_DIMS_MAX];

    return rotated_dims(network, dims) * rotated_halves(network, way);
}

/* What a variant does: the ways, then those in several parts again, with blocks cut. */
struct kind {
    enum rotated_way way;
    bool cut;
};

static unsigned kinds_of(const struct network *network, uint32_t operation,
                         struct kind kinds[2 * ROTATED_WAYS])
{
    enum rotated_way ways[ROTATED_WAYS];
    unsigned all = ways_of(network, ways), count = 0;

    for (unsigned i = 0; i < all; i++) {
        kinds[count++] = (struct kind){ways[i], false};
    }
    for (unsigned i = 0; i < all && !operation_of(operation)->vector; i++) {
        if (parts_of(network, ways[i]) > 1) {
            kinds[count++] = (struct kind){ways[i], true};
        }
    }
    return count;
}

unsigned rotated_variants(const struct network *network, const struct plan_request *request)
{
    struct kind kinds[2 * ROTATED_WAYS];

    return kinds_of(network, request->operation, kinds);
}

void rotated_words(const struct network *network, uint32_t operation, unsigned variant,
                   char words[VARIANT_WORDS_MAX])
{
    struct kind kinds[2 * ROTATED_WAYS];

    (void)kinds_of(network, operation, kinds);
    snprintf(words, VARIANT_WORDS_MAX, "%s%s", words_of[kinds[variant].way],
             kinds[variant].cut ? ", blocks cut" : "");
}

struct plan *plan_rotated(const struct network *network, const struct plan_request *request)
{
    bool vector = operation_of(request->operation)->vector;
    struct kind kinds[2 * ROTATED_WAYS];

    (void)kinds_of(network, request->operation, kinds);
    struct kind kind = kinds[request->variant];
    unsigned parts = parts_of(network, kind.way);
    struct flow flow = flow_of(network, kind.way, vector, kind.cut);
    flow_ports(&flow, network->nodes, request->ports);
    return flow_plan_cut(network, request, &flow, vector ? parts * network->nodes : network->nodes,
                         kind.cut ? parts : 1);
}
