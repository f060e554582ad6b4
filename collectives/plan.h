/*
 * plan.h - a node's part of a plan: checked once, then read row by row.
 *
 * plan_check looks at all that can be seen cheaply from one part: form, check sum, machine, rank,
 * order of rows, peers, slots inside their spaces, nothing put where the program sends from, paths
 * that lead where they say and come to no node twice. What passes can be executed without harm to
 * anybody but the program that asked for it; whether it does what the operation promises, the
 * planner has proved.
 *
 * Units    ranks, slots, bytes
 * Errors   E_FORMAT: damaged or of another form; E_NETWORK: for another machine or node
 * Context  any; pure
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/operation.h"
#include "network/network.h"
#include "wire/plan.h"

/* The check sum of a part, whatever stands in its place. */
uint32_t plan_sum(const uint8_t *part, uint32_t bytes);

int plan_check(const uint8_t *part, uint32_t bytes, const struct network *network, uint32_t rank);

/* Whether any of its rows puts something into a space. */
bool plan_writes(const uint8_t *part, unsigned space);

/* The first row, and the one behind a row; NULL behind the last. */
const uint8_t *plan_first(const uint8_t *part);
const uint8_t *plan_next(const uint8_t *part, const uint8_t *row);

/* Goes through the slots of a row's extents in their order, as ranges that lie together in
 * memory. */
struct plan_slots {
    const uint8_t *row;
    uint32_t rank; /* 0 unless the plan is invariant */
    uint8_t extent, extent_end;
    uint32_t times, done; /* ranges of the extent, blocks of the range, that are through */
    uint8_t translated;   /* mask of enum space */
};

void plan_slots_begin(struct plan_slots *slots, const uint8_t *part, const uint8_t *row,
                      uint32_t rank, bool received);
bool plan_slots_next(struct plan_slots *slots, const struct network *network,
                     struct slot_range *range);

/* The peer of a row that sends, or that receives. */
uint32_t plan_peer(const uint8_t *part, uint32_t peer, const struct network *network,
                   uint32_t rank);
