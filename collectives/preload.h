/*
 * preload.h - plans that lie in memory already, for a simulator whose nodes all read them there.
 *
 * The nodes of a machine have none. They ask the host, each for its part (store.h); those of a
 * simulator would all do so at the same moment, over the few links of one host: a broadcast on
 * cube:12 then has 52 % more events and takes 32 % more processor time, a barrier on cube:13 18 and
 * 13 %, an exchange on cube:8 9 and 6 %.
 *
 * Units    bytes
 * Errors   none
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/plan.h"

enum { PRELOAD_MAX = 32 };

/* A plan that lies in memory, for some sizes: the part of rank r begins at data + at[r]; at NULL:
 * one for all. Several may share what lies there. */
struct preloaded_plan {
    const uint8_t *data;
    const uint64_t *at;
    uint32_t bytes_min, bytes_max;
};

struct plan_preload {
    unsigned count;
    struct preloaded_plan plans[PRELOAD_MAX];
};

/* The part of a rank; NULL: there is none, or no preload. */
static inline const uint8_t *preload_find(const struct plan_preload *preload, uint32_t operation,
                                          uint32_t root, uint32_t bytes, uint32_t rank)
{
    for (unsigned i = 0; preload && i < preload->count; i++) {
        const struct preloaded_plan *plan = &preload->plans[i];
        const uint8_t *part = plan->data + (plan->at ? plan->at[rank] : 0);
        if (plan_operation(part) == operation && plan_root(part) == root &&
            bytes >= plan->bytes_min && bytes <= plan->bytes_max) {
            return part;
        }
    }
    return NULL;
}
