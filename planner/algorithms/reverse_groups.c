/*
 * reverse_groups.c - vector reversal of short blocks on long lines: blocks that must cross the
 * middle of a line are gathered first, so that fewer circuits do.
 *
 * In one dimension after the other each half of a line is divided into groups from the middle on.
 * The node of a group that is nearest to the middle gathers the group's blocks by halving, changes
 * bundles with the node opposite, and scatters what came the same way back. A ring is two lines, as
 * in reverse.c.
 *
 *     mesh:1x8, groups of 4    0 1 2 3 | 4 5 6 7    2 gives to 3, 0 to 1; 1 to 3: the bundle 0..3
 *                                                   3 and 4 change bundles
 *                                                   4 gives to 6; 4 to 5, 6 to 7
 *
 * With groups of g a line of n takes 2 log2 g steps and n / (2 g) circuits over its middle link,
 * where there are n / 2 otherwise; each of them moves g blocks.
 *
 * Variants  i: groups of 2^(i + 1)
 * Source    gathering and scattering by halving: Johnsson & Ho, IEEE Trans. Computers 38(9), 1989
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/permute.h"
#include "planner/algorithms/reverse.h"
#include "planner/build.h"

enum { NODES_MAX = 4096, FLAGS = ROW_AFTER_RECEIVED | ROW_AFTER_SENT };

/* One dimension's phase. Scratch of a node: what it gathers, then what comes for it. */
struct phase {
    struct plan *plan;
    const struct network_dimension *dim;
    uint32_t group, step;
};

/* Where a node stands: in which half of its part of the line, how far from the middle. */
struct stand {
    struct stretch stretch;
    bool is_behind; /* the middle */
    uint32_t from_middle, half;
    bool is_middle; /* of an odd number of nodes: its block stays */
};

static struct stand stand_of(const struct phase *phase, uint32_t node)
{
    uint32_t at = coordinate_of(phase->dim, node);
    struct stand stand = {.stretch = stretch_of(phase->dim, at)};
    uint32_t count = stand.stretch.count,
             place = (at + phase->dim->size - stand.stretch.begin) % phase->dim->size;

    stand.half = count / 2;
    stand.is_behind = place >= count - stand.half;
    stand.is_middle = place >= stand.half && !stand.is_behind;
    stand.from_middle = stand.is_behind ? place - (count - stand.half) : stand.half - 1 - place;
    return stand;
}

/* The node so far from the middle, on one side of the line that a node is in. */
static uint32_t node_at(const struct phase *phase, uint32_t node, const struct stand *stand,
                        bool is_behind, uint32_t from_middle)
{
    uint32_t count = stand->stretch.count;
    uint32_t place = is_behind ? count - stand->half + from_middle : stand->half - 1 - from_middle;

    return with_coordinate(phase->dim, node, (stand->stretch.begin + place) % phase->dim->size);
}

/* How many blocks there are from an offset in a group on, of `most`. */
static uint32_t bundle_of(const struct phase *phase, const struct stand *stand, uint32_t most)
{
    uint32_t offset = stand->from_middle % phase->group, left = stand->half - stand->from_middle;

    left = left < phase->group - offset ? left : phase->group - offset;
    return left < most ? left : most;
}

static struct slots gathered(const struct phase *phase, uint32_t first, uint32_t count)
{
    return slots_of(phase->plan, SPACE_SCRATCH, first, count);
}

static struct slots come(const struct phase *phase, uint32_t first, uint32_t count)
{
    return slots_of(phase->plan, SPACE_SCRATCH, phase->group + first, count);
}

/* Who is `apart` from where its bundle goes, or comes from, gives it, or gets it. */
static void halve(struct phase *phase, uint32_t apart, bool gathers)
{
    bool moves = false;

    for (uint32_t node = 0; node < phase->plan->network.nodes; node++) {
        struct stand stand = stand_of(phase, node);
        uint32_t offset = stand.from_middle % phase->group;
        if (stand.is_middle || (offset & (2 * apart - 1)) != apart) {
            continue;
        }
        uint32_t nearer = node_at(phase, node, &stand, stand.is_behind, stand.from_middle - apart);
        uint32_t count = bundle_of(phase, &stand, apart);
        moves = true;
        if (gathers) {
            build_circuit(phase->plan, phase->step, node, nearer, gathered(phase, 0, count),
                          gathered(phase, apart, count), FLAGS);
        } else {
            build_circuit(phase->plan, phase->step, nearer, node, come(phase, apart, count),
                          come(phase, 0, count), FLAGS);
        }
    }
    phase->step += moves;
}

/* Bundles change sides, those first that have the longest way. */
static void cross(struct phase *phase)
{
    uint32_t halves = phase->dim->size / 2, groups = (halves + phase->group - 1) / phase->group;

    for (uint32_t group = groups; group-- > 0;) {
        for (uint32_t node = 0; node < phase->plan->network.nodes; node++) {
            struct stand stand = stand_of(phase, node);
            if (stand.is_middle || stand.from_middle != group * phase->group) {
                continue;
            }
            uint32_t count = bundle_of(phase, &stand, phase->group);
            build_circuit(phase->plan, phase->step, node,
                          node_at(phase, node, &stand, !stand.is_behind, stand.from_middle),
                          gathered(phase, 0, count), come(phase, 0, count), FLAGS);
        }
    }
    phase->step++;
}

/* From where each node's block is to where it gathers. */
static void take(struct phase *phase, bool is_first)
{
    for (uint32_t node = 0; node < phase->plan->network.nodes; node++) {
        struct slots from = is_first ? slots_of(phase->plan, SPACE_SEND, 0, 1) : come(phase, 0, 1);
        build_copy(phase->plan, phase->step, node, from, gathered(phase, 0, 1),
                   is_first ? 0 : FLAGS);
    }
}

static void add_phase(struct phase *phase, bool is_first)
{
    take(phase, is_first);
    for (uint32_t apart = 1; apart < phase->group; apart *= 2) {
        halve(phase, apart, true);
    }
    cross(phase);
    for (uint32_t apart = phase->group / 2; apart > 0; apart /= 2) {
        halve(phase, apart, false);
    }
    for (uint32_t node = 0; node < phase->plan->network.nodes; node++) {
        if (stand_of(phase, node).is_middle) {
            build_copy(phase->plan, phase->step, node, gathered(phase, 0, 1), come(phase, 0, 1),
                       FLAGS);
        }
    }
}

struct plan *plan_reverse_groups(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    struct phase phase = {.plan = plan, .group = UINT32_C(2) << request->variant};
    bool is_first = true;

    for (unsigned k = 0; k < network->dims; k++) {
        phase.dim = &network->dim[k];
        if (is_reversed(request->root, k) && phase.dim->size > 1) {
            add_phase(&phase, is_first);
            is_first = false;
        }
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        struct slots from = is_first ? slots_of(plan, SPACE_SEND, 0, 1) : come(&phase, 0, 1);
        plan->scratch[node] = 2 * phase.group;
        build_copy(plan, phase.step, node, from, slots_of(plan, SPACE_RECEIVE, 0, 1),
                   is_first ? 0 : FLAGS);
    }
    build_ahead(plan);
    return plan;
}

/* The most nodes in a half of a line that a mask reverses. */
static uint32_t longest_half(const struct network *network, uint32_t mask)
{
    uint32_t longest = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        uint32_t half = stretch_of(&network->dim[k], 0).count / 2;
        longest = is_reversed(mask, k) && half > longest ? half : longest;
    }
    return longest;
}

bool possible_in_reversed_groups(const struct network *network)
{
    return network->nodes <= NODES_MAX && longest_half(network, 0) > 1;
}

unsigned reverse_group_variants(const struct network *network, const struct plan_request *request)
{
    uint32_t longest = longest_half(network, request->root);
    unsigned count = 1;

    while (UINT32_C(1) << count < longest) {
        count++;
    }
    return count;
}

void reverse_group_words(const struct network *network, unsigned variant,
                         char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "of %u", 2u << variant);
}
