/*
 * closed_form.h - what collectives take on a one-port hypercube by the papers: closed forms and
 * lower bounds, to the nanosecond. The planner knows nothing of them; tests hold its plans for
 * cubes against them.
 *
 * All nodes start together on an idle network; the time is that of the node that finishes last. A
 * circuit of i hops and k elements takes xi + i tau + (i + k - 1) element. Every form is the sum of
 * that over the steps, whose circuits run side by side:
 *
 *   barrier          n steps of 1 hop and 0 elements
 *   broadcast        n steps of 1 hop and k elements
 *   scatter, gather  n steps of 1 hop and k, 2k, 4k, ... elements: k(N - 1) together
 *   exchange         C(n,i) steps of i hops and k elements, i = 1..n: N - 1 steps, n N/2 hops
 *                    together
 *
 * Example: n = 3, k = 16 bytes, ipsc860: 7 steps, 12 hops: 7(65425 + 15*425) + 12(9575 + 425) ns =
 * 622.6 us.
 *
 * Units    ns; an element is a byte
 * Errors   none; sums stay exact while N * block_bytes * element_ns < 2^64
 * Context  any; pure
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), section 2, table 1 (bounds), section 3.2
 *          (T_aap)
 * Names    n is dims, N the number of nodes, k block_bytes
 */
#pragma once

#include <stdint.h>

#include "include/ecube/abi.h"
#include "router/clock.h"

/* The number of steps of the schedule on 2^dims nodes. */
static inline uint32_t closed_form_steps(uint32_t operation, uint32_t dims)
{
    return operation == ECUBE_EXCHANGE ? (UINT32_C(1) << dims) - 1 : dims;
}

/* The hops of the steps, added up. */
static inline uint32_t closed_form_hops(uint32_t operation, uint32_t dims)
{
    return operation == ECUBE_EXCHANGE ? dims * (UINT32_C(1) << dims) / 2 : dims;
}

/* The blocks that the steps carry on the longest way, added up. */
static inline uint32_t closed_form_blocks(uint32_t operation, uint32_t dims)
{
    switch (operation) {
    case ECUBE_BROADCAST: return dims;
    case ECUBE_SCATTER:
    case ECUBE_GATHER:
    case ECUBE_EXCHANGE: return (UINT32_C(1) << dims) - 1;
    default: return 0;
    }
}

/* The time of the operation with blocks of block_bytes on 2^dims nodes. */
static inline uint64_t closed_form_ns(uint32_t operation, uint32_t dims, uint64_t block_bytes,
                                      const struct profile *profile)
{
    uint64_t steps = closed_form_steps(operation, dims);
    uint64_t hops = closed_form_hops(operation, dims);
    uint64_t elements = hops - steps + closed_form_blocks(operation, dims) * block_bytes;
    return steps * profile->xi_ns + hops * profile->tau_ns + elements * profile->element_ns;
}

/* The least time any one-port algorithm needs: the elements that one node must send or receive. */
static inline uint64_t closed_form_bound_ns(uint32_t operation, uint32_t dims, uint64_t block_bytes,
                                            const struct profile *profile)
{
    uint64_t others = (UINT64_C(1) << dims) - 1;
    switch (operation) {
    case ECUBE_BROADCAST: return (others > 0) * block_bytes * profile->element_ns;
    case ECUBE_SCATTER:
    case ECUBE_GATHER:
    case ECUBE_EXCHANGE: return others * block_bytes * profile->element_ns;
    default: return 0;
    }
}
