/*
 * rivals.h - the algorithms of Open MPI, MPICH, MVAPICH2 and Intel MPI, laid down as plans, and
 * which library selects which for how many nodes and bytes.
 *
 * Ranks are node numbers of a cube, paths those of the dimension order. What an algorithm sends
 * without waiting for the send before it is set up ahead. Libraries cut a vector into pieces of a
 * fixed size and a rest; here its pieces are alike, and the rest goes with them.
 *
 * Units    bytes: of a block, or of the whole vector, as our operations count them
 * Context  host
 * Source   SimGrid 3.32: each rival and each selection names the file
 * Names    a rival is one of these algorithms
 */
#pragma once

#include "planner/planner.h"

enum { BYTES_LEAST = 16, BYTES_MOST = 100000 };

/* What reductions reduce. */
enum { RIVAL_TYPE = ECUBE_INT32, RIVAL_ELEMENT_BYTES = 4 };

struct rival {
    uint8_t operation;
    const char *name, *source;
    /* The plan, not yet proved, for the bytes of the request. */
    struct plan *(*plan)(const struct network *network, const struct plan_request *request,
                         int how);
    int how; /* for planners that lay down several */
};

enum rival_number {
    ALLTOALL_LINEAR,
    ALLTOALL_BRUCK,
    ALLTOALL_FOUR_AT_A_TIME,
    ALLTOALL_SHIFTS,
    ALLTOALL_PAIRS,
    ALLTOALL_DOUBLING,
    ALLGATHER_DOUBLING,
    ALLGATHER_NEIGHBOURS,
    ALLGATHER_BRUCK,
    ALLGATHER_RING,
    ALLGATHER_LINEAR_BINOMIAL,
    ALLGATHER_LINEAR_CHAIN,
    ALLGATHER_LINEAR_DOUBLING,
    ALLGATHER_LINEAR_RING,
    ALLGATHER_TREE_DOUBLING,
    ALLGATHER_TREE_RING,
    BROADCAST_BINOMIAL,
    BROADCAST_FOURS,
    BROADCAST_BINARY,
    BROADCAST_CHAIN,
    BROADCAST_SCATTER_DOUBLING,
    BROADCAST_SCATTER_RING,
    ALLREDUCE_DOUBLING,
    ALLREDUCE_RABENSEIFNER,
    ALLREDUCE_RING,
    ALLREDUCE_HALVING_DOUBLING,
    ALLREDUCE_HALVING_GATHER,
    ALLREDUCE_TREE_BINOMIAL,
    ALLREDUCE_TREE_FOURS,
    ALLREDUCE_TREE_BINARY,
    ALLREDUCE_TREE_CHAIN,
    REDUCE_SCATTER_HALVING,
    REDUCE_SCATTER_BUTTERFLY,
    REDUCE_SCATTER_DOUBLING,
    REDUCE_SCATTER_PAIRS,
    REDUCE_SCATTER_RING,
    REDUCE_SCATTER_LINEAR,
    RIVALS
};

extern const struct rival rivals[RIVALS];

enum library { OPEN_MPI, MPICH, MVAPICH2, INTEL_MPI, LIBRARIES };

/* A library, as people call it and as SimGrid's option smpi/coll-selector does. */
struct library_name {
    const char *name, *selector;
};
extern const struct library_name libraries[LIBRARIES];

/* Which algorithm a library selects for which blocks, or vectors, one process to a node. */
struct selection {
    enum library library;
    uint16_t nodes;
    enum rival_number rival;
    uint32_t bytes_first, bytes_last;
};

/* Selection `number`; NULL: there are no more. */
const struct selection *selection_of(unsigned number);

/* The planners, by family. */
struct plan *rival_alltoall(const struct network *network, const struct plan_request *request,
                            int how);
struct plan *rival_alltoall_bruck(const struct network *network, const struct plan_request *request,
                                  int how);
struct plan *rival_alltoall_doubling(const struct network *network,
                                     const struct plan_request *request, int how);
struct plan *rival_allgather(const struct network *network, const struct plan_request *request,
                             int how);
struct plan *rival_gather_spread(const struct network *network, const struct plan_request *request,
                                 int how);
struct plan *rival_broadcast(const struct network *network, const struct plan_request *request,
                             int how);
struct plan *rival_allreduce(const struct network *network, const struct plan_request *request,
                             int how);
struct plan *rival_reduce_spread(const struct network *network, const struct plan_request *request,
                                 int how);
struct plan *rival_reduce_scatter(const struct network *network, const struct plan_request *request,
                                  int how);

/* What `how` says to them, beside enum rival_number and enum spreading. */
enum { GATHER_BY_TREE = 0x100 };
