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
 *           round the cycle, and in several dimensions by lines, both ways or one way
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

/* Rings are long: their pieces must be worth the steps. */
enum { NODES_MAX = 256, PIECE_BYTES_MIN = 8 };

enum how { DOUBLING, CYCLE_BOTH_WAYS, CYCLE_ONE_WAY, LINES_BOTH_WAYS, LINES_ONE_WAY, HOWS };

static const char *const words_of[HOWS] = {"by doubling", "round a cycle both ways",
                                           "round a cycle one way", "by lines both ways",
                                           "by lines one way"};

bool possible_in_pieces(const struct network *network)
{
    return network->nodes > 1 && network->nodes <= NODES_MAX;
}

unsigned pieces_variants(const struct network *network, const struct plan_request *request)
{
    unsigned lines = 0;

    if (request && request->bytes / PIECE_BYTES_MIN < network->nodes) {
        return 1;
    }
    for (unsigned k = 0; k < network->dims; k++) {
        lines += network->dim[k].size > 1;
    }
    return network->kind == NETWORK_CUBE ? CYCLE_BOTH_WAYS : lines > 1 ? HOWS : LINES_BOTH_WAYS;
}

void pieces_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%s", words_of[variant]);
}

static struct flow allgather_of(const struct network *network, unsigned how)
{
    bool by_turns = how == CYCLE_BOTH_WAYS || how == LINES_BOTH_WAYS;

    if (how == DOUBLING) {
        return possible_in_pairs(network) ? pairs_flow(network, false) : bruck_flow(network);
    }
    return how < LINES_BOTH_WAYS ? cycle_flow(network, by_turns) : lines_flow(network, by_turns);
}

struct plan *plan_pieces(const struct network *network, const struct plan_request *request)
{
    bool on_cycle = request->variant == CYCLE_BOTH_WAYS || request->variant == CYCLE_ONE_WAY;
    struct flow flow = spread_flow(network, request->root, on_cycle);
    struct flow more = allgather_of(network, request->variant);

    block_sets_append(&flow, &more, request->root, network->nodes);
    return flow_plan(network, request, &flow, network->nodes);
}
