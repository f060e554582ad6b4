/*
 * clock.h - the model clock: what the papers' machine would show.
 *
 * A circuit of i hops and k elements, issued at t0 by a source whose send port is free at ps, to a
 * receiver ready at r whose receive port is free at pr, over links that are free at f_h:
 *
 *     t := t0 + xi;  for each hop: t := max(t, f_h) + tau
 *     done := max(t, ps, r, pr) + (i + k - 1) * element
 *
 * Here k are elements: as many as the bytes fill, the last maybe in part.
 *
 * Of a download's or a gather's circuit the bytes in front of the data do not count
 * (open_charged, wire/circuit.h). Of a circuit to or from the host xi, and tau of its link, are
 * sigma times as much.
 *
 * A node with p ports has a ps and a pr for each. A plan's circuit names the port that it leaves
 * its source by and comes to its receiver by; what programs send, and downloads, take the first
 * one. Where no port is named, and where links alone count (PORTS_ALL), ps and pr are 0. So they
 * are at a host with a link for each of several ranges.
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

#include <stdbool.h>
#include <stdint.h>

struct profile {
    uint32_t xi_ns;
    uint32_t tau_ns;
    uint32_t element_ns;
    uint16_t sigma_permille; /* start-up of a message to or from the host, against others */
    /* A node sends over so many links at once, and receives over so many; 0 and 1: one. */
    uint8_t ports;
    uint16_t element_bytes; /* 0 and 1: an element is a byte */
};

enum {
    CLOCK_PORTS_MAX = 16,
    PORTS_ALL = 255 /* over all its links, whose times alone count */
};

/* The port of a circuit. */
enum circuit_port {
    PORT_FIRST,        /* where ports count */
    PORT_NAMED,        /* and so on: the first, whether they count or not, the second, ... */
    PORT_UNTIMED = 255 /* none */
};

/* Ports that a node has each way; PORTS_ALL. */
static inline unsigned clock_ports(const struct profile *profile)
{
    return profile->ports ? profile->ports : 1;
}

static inline bool clock_all_ports(const struct profile *profile)
{
    return profile->ports == PORTS_ALL;
}

/* The elements that so many bytes fill, the last maybe in part. */
static inline uint64_t clock_elements(uint16_t element_bytes, uint64_t bytes)
{
    return element_bytes > 1 ? (bytes + element_bytes - 1) / element_bytes : bytes;
}

static inline uint32_t clock_element_bytes(const struct profile *profile)
{
    return profile->element_bytes > 1 ? profile->element_bytes : 1;
}

static inline uint64_t clock_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* t after one hop over a link that is free at free_ns. */
static inline uint64_t clock_hop(uint64_t t_ns, uint64_t free_ns, uint64_t tau_ns)
{
    return clock_max(t_ns, free_ns) + tau_ns;
}

/* The time to move k bytes over i hops once the path stands. */
static inline uint64_t clock_transfer(const struct profile *profile, uint32_t hops, uint32_t bytes)
{
    uint64_t elements = hops + clock_elements(profile->element_bytes, bytes);

    return elements ? (elements - 1) * profile->element_ns : 0;
}

/* When the bytes of a circuit that is done at done_ns began to flow: at both its ends. */
static inline uint64_t clock_begin(const struct profile *profile, uint64_t done_ns, uint32_t hops,
                                   uint32_t bytes)
{
    return done_ns - clock_transfer(profile, hops, bytes);
}
