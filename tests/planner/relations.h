/*
 * relations.h - what must hold between the times of plans: no operation takes longer than one that
 * contains it, than others that do the same one after the other, or than the same operation on a
 * network that is the same but for names.
 *
 *     reduce ring:20, 4000 bytes <= allreduce ring:20, 4000 bytes
 *     scan cube:5, 8192 bytes    <= exchange cube:5, 256 bytes, twice
 *
 * Units    bytes; ns of model time; ratios in thousandths
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "network/text.h"

enum { RELATION_NETWORKS = 64 };

/* One relation, drawn from a seed, with what it has come to. */
struct relation {
    const char *name; /* of the kind: "part of an allreduce" */
    uint32_t operation, root, bytes;
    char network[NETWORK_NAME_MAX], other[NETWORK_NAME_MAX];
    uint64_t takes_ns, limit_ns;
    const char *algorithm; /* of the plan that takes so long */
    uint32_t permille;     /* takes_ns of limit_ns */
};

/* The relation of a seed: a kind, a network, a size and, where there is one, a root. */
struct relation relation_draw(uint64_t seed);
