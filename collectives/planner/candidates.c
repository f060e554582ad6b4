#include "collectives/planner/candidates.h"

#include <stddef.h>

static const char halving[] = "Ozveren, LIDS-P-1721 (1987), 2.2.2 and figure 6";

static const struct candidate candidates[] = {
    {ECUBE_BARRIER, "pair exchange", "one empty exchange per dimension, lowest first", "a cube",
     possible_on_cubes, plan_cube_barrier},
    {ECUBE_BARRIER, "halving tree",
     "accumulation and broadcast without data: Ozveren, LIDS-P-1721 "
     "(1987), 2.2.2",
     NULL, possible_always, plan_tree_barrier},
    {ECUBE_BROADCAST, "halving tree", halving, NULL, possible_always, plan_tree_broadcast},
    {ECUBE_SCATTER, "halving tree", "Sharma & Wagh, Decremental Scattering, section III", NULL,
     possible_always, plan_tree_scatter},
    {ECUBE_GATHER, "halving tree", "the scatter reversed: Ozveren, LIDS-P-1721 (1987), 2.2.4", NULL,
     possible_always, plan_tree_gather},
    {ECUBE_REDUCE, "halving tree", "the broadcast reversed: Ozveren, LIDS-P-1721 (1987), 2.2.2",
     NULL, possible_always, plan_tree_reduce},
    {ECUBE_ALLREDUCE, "reduce and broadcast", halving, NULL, possible_always, plan_tree_allreduce},
    {ECUBE_ALLGATHER, "ring of neighbours",
     "Ozveren, LIDS-P-1721 (1987), 2.2.3, dimension by "
     "dimension",
     "at most 2,097,152 circuits", possible_with_rings, plan_ring_allgather},
    {ECUBE_ALLGATHER, "gather and broadcast", halving, NULL, possible_always, plan_tree_allgather},
    {ECUBE_EXCHANGE, "AAP", "Boppana & Raghavendra, CENG 90-20 (1990), 3.2", "a cube",
     possible_on_cubes, plan_aap},
    {ECUBE_EXCHANGE, "direct", "Thakur, Choudhary & Fox, complete exchange on a mesh, GEN",
     "paths of at most 127 hops, at most 1,024 nodes", possible_directly, plan_direct_exchange},
    {ECUBE_EXCHANGE, "neighbours", "round a ring of all nodes: Ozveren, LIDS-P-1721 (1987), 2.2.5",
     "at most 512 nodes", possible_with_neighbours, plan_neighbour_exchange},
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
