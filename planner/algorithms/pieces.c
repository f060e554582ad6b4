/*
 * pieces.c - broadcast of long vectors: the root scatters the vector in as many pieces as there are
 * nodes, and all nodes gather the pieces of all. Backwards reduce: the pieces are reduced by all
 * nodes side by side, and gathered at the root.
 *
 * The scatter goes over a halving tree, the allgather as the operation of that name by itself. Who
 * has passed on pieces of others has them already and is not given them again.
 *
 *     ring:4 from 0    0>2:23 | 0>1:1 2>3:3 | 0>1:0 1>2:1 ... round the cycle
 *
 * Variants  by pairs, or, where sides are no powers of two, by Bruck's doubling; but on cubes also
 *           round the cycle, and in several dimensions by lines, both ways or one way, or both
 *           ways behind a scatter over the uneven tree of 5/16 (spread.c)
 * Source    Barnett, Shuler, van de Geijn, Gupta, Payne & Watts, Interprocessor collective
 *           communication library, SHPCC 1994; backwards: Rabenseifner, LNCS 3036 (2004)
 */
#include <stdio.h>

#include "planner/algorithms/bruck.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/block_sets.h"
#include "planner/algorithms/pairs.h"
#include "planner/algorithms/rings.h"
#include "planner/algorithms/spread.h"
#include "wire/circuit.h"

/* Rings are long: their pieces must be worth the steps. */
enum {
    NODES_MAX = 4096,
    SWING_NODES_MAX = 1024,
    LINES_CIRCUITS_MAX = 1 << 20,
    PIECE_BYTES_MIN = 2
};

enum how {
    DOUBLING,
    CYCLE_BOTH_WAYS,
    CYCLE_ONE_WAY,
    CYCLE_UNEVEN,
    LINES_BOTH_WAYS,
    LINES_ONE_WAY,
    LINES_UNEVEN,
    HOWS
};

static const char *const words_of[HOWS] = {
    "by doubling",        "round a cycle both ways", "round a cycle one way", "round a cycle 5/16",
    "by lines both ways", "by lines one way",        "by lines 5/16"};

/* Doubling goes half round a ring, and as far along a line as it is long. */
bool possible_in_pieces(const struct network *network)
{
    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        if ((dim->wraps ? dim->size / 2 : dim->size - 1) > OPEN_HOPS_MAX) {
            return false;
        }
    }
    return network->nodes > 1 && network->nodes <= NODES_MAX;
}

/* Steps round one ring in each line, and the circuits of all. */
static bool has_lines(const struct network *network)
{
    uint64_t lines = 0, steps = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        lines += network->dim[k].size > 1;
        steps += network->dim[k].size - 1;
    }
    return lines > 1 && steps * network->nodes <= LINES_CIRCUITS_MAX;
}

/* The ways of gathering that a network has, by variant; returns how many. */
static unsigned hows_of(const struct network *network, enum how hows[HOWS])
{
    unsigned count = 0;

    hows[count++] = DOUBLING;
    for (unsigned how = CYCLE_BOTH_WAYS; how < HOWS && network->kind != NETWORK_CUBE; how++) {
        if (how < LINES_BOTH_WAYS ? possible_in_cycle(network) : has_lines(network)) {
            hows[count++] = (enum how)how;
        }
    }
    return count;
}

unsigned pieces_variants(const struct network *network, const struct plan_request *request)
{
    enum how hows[HOWS];

    if (request && request->bytes / PIECE_BYTES_MIN < network->nodes) {
        return 1;
    }
    return hows_of(network, hows);
}

static enum how how_of(const struct network *network, unsigned variant)
{
    enum how hows[HOWS];

    (void)hows_of(network, hows);
    return hows[variant];
}

void pieces_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    snprintf(words, VARIANT_WORDS_MAX, "%s", words_of[how_of(network, variant)]);
}

/* Blocks of rings on which pairs swing lie apart, in many pieces on large ones. */
static bool swings_far(const struct network *network)
{
    return network->nodes > SWING_NODES_MAX && network->kind != NETWORK_CUBE &&
           network->dim[0].wraps;
}

static struct flow allgather_of(const struct network *network, enum how how)
{
    bool by_turns = how != CYCLE_ONE_WAY && how != LINES_ONE_WAY;

    if (how == DOUBLING) {
        return pairs_everywhere(network) && !swings_far(network) ? pairs_flow(network, false)
                                                                 : bruck_flow(network);
    }
    return how < LINES_BOTH_WAYS ? cycle_flow(network, by_turns) : lines_flow(network, by_turns);
}

struct plan *plan_pieces(const struct network *network, const struct plan_request *request)
{
    enum how how = how_of(network, request->variant);
    bool on_cycle = how >= CYCLE_BOTH_WAYS && how < LINES_BOTH_WAYS;
    bool uneven = how == CYCLE_UNEVEN || how == LINES_UNEVEN;
    struct flow flow = spread_flow(network, request->root, on_cycle, uneven);
    struct flow more = allgather_of(network, how);

    block_sets_append(&flow, &more, request->root, network->nodes);
    return flow_plan(network, request, &flow, network->nodes);
}
