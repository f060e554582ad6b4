#include "collectives/planner/candidates.h"

#include <stddef.h>

static const char halving[] = "Ozveren, LIDS-P-1721 (1987), 2.2.2 and figure 6";

static const struct candidate candidates[] = {
    {.operation = ECUBE_BARRIER,
     .name = "pair exchange",
     .source = "one empty exchange per dimension, lowest first",
     .restriction = "a cube",
     .closed_form = "d (xi + tau)",
     .possible = possible_on_cubes,
     .plan = plan_cube_barrier},
    {.operation = ECUBE_BARRIER,
     .name = "halving tree",
     .source = "accumulation and broadcast without data: Ozveren, LIDS-P-1721 (1987), 2.2.2",
     .possible = possible_always,
     .plan = plan_tree_barrier},
    {.operation = ECUBE_BROADCAST,
     .name = "halving tree",
     .source = halving,
     .possible = possible_always,
     .plan = plan_tree_broadcast},
    {.operation = ECUBE_SCATTER,
     .name = "halving tree",
     .source = "Sharma & Wagh, Decremental Scattering, section III",
     .possible = possible_always,
     .plan = plan_tree_scatter},
    {.operation = ECUBE_GATHER,
     .name = "halving tree",
     .source = "the scatter reversed: Ozveren, LIDS-P-1721 (1987), 2.2.4",
     .possible = possible_always,
     .plan = plan_tree_gather},
    {.operation = ECUBE_REDUCE,
     .name = "halving tree",
     .source = "the broadcast reversed: Ozveren, LIDS-P-1721 (1987), 2.2.2",
     .possible = possible_always,
     .plan = plan_tree_reduce},
    {.operation = ECUBE_ALLREDUCE,
     .name = "reduce and broadcast",
     .source = halving,
     .possible = possible_always,
     .plan = plan_tree_allreduce},
    {.operation = ECUBE_SCAN,
     .name = "recursive doubling",
     .source = "Hillis & Steele, CACM 29(12), 1986, 1170-1183, by subcubes",
     .restriction = "a cube",
     .closed_form = "n (xi + tau + k element)",
     .possible = possible_on_cubes,
     .plan = plan_cube_scan},
    {.operation = ECUBE_SCAN,
     .name = "halving tree",
     .source = "Ladner & Fischer, JACM 27(4), 1980, 831-838, over the tree of Ozveren, figure 6",
     .possible = possible_always,
     .plan = plan_tree_scan},
    {.operation = ECUBE_SCAN,
     .name = "chain",
     .source = "Sanders & Traeff, EuroPVM/MPI 2006, LNCS 4192, 49-57, 2",
     .restriction = "at most 127 hops from a rank to the next",
     .closed_form = "(N - 2 + m)(xi + tau + k / m element) in m segments, over one hop each",
     .possible = possible_in_chain,
     .plan = plan_chain_scan,
     .variants = chain_variants,
     .variant_words = chain_words},
    {.operation = ECUBE_ALLGATHER,
     .name = "ring of neighbours",
     .source = "Ozveren, LIDS-P-1721 (1987), 2.2.3, dimension by dimension",
     .restriction = "at most 2,097,152 circuits",
     .possible = possible_with_rings,
     .plan = plan_ring_allgather},
    {.operation = ECUBE_ALLGATHER,
     .name = "gather and broadcast",
     .source = halving,
     .possible = possible_always,
     .plan = plan_tree_allgather},
    {.operation = ECUBE_EXCHANGE,
     .name = "AAP",
     .source = "Boppana & Raghavendra, CENG 90-20 (1990), 3.2",
     .restriction = "a cube",
     .closed_form = "(N - 1) xi + n N / 2 tau + ((N - 1)(k - 1) + n N / 2) element",
     .possible = possible_on_cubes,
     .plan = plan_aap},
    {.operation = ECUBE_EXCHANGE,
     .name = "direct",
     .source = "Thakur, Choudhary & Fox, complete exchange on a mesh, GEN",
     .restriction = "paths of at most 127 hops, at most 1,024 nodes",
     .possible = possible_directly,
     .plan = plan_direct_exchange},
    {.operation = ECUBE_EXCHANGE,
     .name = "neighbours",
     .source = "round a ring of all nodes: Ozveren, LIDS-P-1721 (1987), 2.2.5",
     .restriction = "at most 512 nodes",
     .possible = possible_with_neighbours,
     .plan = plan_neighbour_exchange},
};

const struct candidate *candidate_of(uint32_t operation, unsigned number)
{
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i].operation == operation && number-- == 0)
            return &candidates[i];
    return NULL;
}

bool possible_always(const struct network *network)
{
    (void)network;
    return true;
}

bool possible_on_cubes(const struct network *network)
{
    return network->kind == NETWORK_CUBE;
}
