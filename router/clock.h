/*
 * clock.h - the model clock: what the papers' machine would show.
 *
 * A circuit of i hops and k bytes, issued at t0 by a source whose send port is free at ps, to a
 * receiver ready at r whose receive port is free at pr, over links that are free at f_h:
 *
 *     t := t0 + xi;  for each hop: t := max(t, f_h) + tau
 *     done := max(t, ps, r, pr) + (i + k - 1) * element
 *
 * Of a download's or a gather's circuit k does not count what stands in front of the data
 * (open_charged, wire/circuit.h). Of a circuit to or from the host xi, and tau of its link, are
 * sigma times as much.
 *
 * At a host with a link for each of several ranges ps and pr do not count: each link is a port.
 *
 * Then done is the new f_h of every link, and ps and pr. Alone on the machine it costs xi + i*tau +
 * (i+k-1)*element.
 *
 * Example  iPSC/860, 100 bytes over 3 hops: 65425 + 3*9575 + 102*425 = 137500 ns = 65 + 0.425*100
 *          + 10*3 us
 * Units    ns of model time
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), section 2; the iPSC/860 figures: section 3.2
 * Names    xi, tau as the paper's; element is the paper's unit of time; sigma: Sharma & Wagh,
 *          equation (1)
 */
#pragma once

#include <stdint.h>

struct profile {
    uint32_t xi_ns;
    uint32_t tau_ns;
    uint32_t element_ns;
    uint16_t sigma_permille; /* start-up of a message to or from the host, against others */
    uint8_t all_port;        /* 1: a node may use all its links at once: ps and pr do not count */
};

static inline uint64_t clock_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* t after one hop over a link that is free at free_ns. */
static inline uint64_t clock_hop(uint64_t t_ns, uint64_t free_ns, uint32_t tau_ns)
{
    return clock_max(t_ns, free_ns) + tau_ns;
}

/* The time to move k bytes over i hops once the path stands. */
static inline uint64_t clock_transfer(const struct profile *profile, uint32_t hops, uint32_t bytes)
{
    uint64_t elements = (uint64_t)hops + bytes;
    return elements ? (elements - 1) * profile->element_ns : 0;
}

/* When the bytes of a circuit that is done at done_ns began to flow: at both its ends. */
static inline uint64_t clock_begin(const struct profile *profile, uint64_t done_ns, uint32_t hops,
                                   uint32_t bytes)
{
    return done_ns - clock_transfer(profile, hops, bytes);
}
