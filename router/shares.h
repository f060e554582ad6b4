/*
 * shares.h - one message over several paths: which bytes go over which, and how long it takes.
 *
 * All shares are issued at one moment, each over a send port and to a receive port of its own, so
 * the message takes as long as the longest of them. A share of e elements over i hops takes
 * (clock.h)
 *
 *     c_i + e * element,   c_i = xi + i * tau + (i - 1) * element
 *
 * The best split is the one whose shares end together. Elements are whole, so it is the least T for
 * which the paths carry all of them:
 *
 *     sum over paths with c_i <= T of  floor((T - c_i) / element)  >=  elements
 *
 * That T is the time. A path that would carry none is left out.
 *
 * Example  iPSC/860, 10,000 bytes over paths of 1, 3, 3 and 3 hops (cube:4): c is 75.0 us and three
 *          times 95.0 us; T = (10,000 * 0.425 + 75 + 3 * 95) / 4 = 1152.5 us, which is 2535 bytes
 *          and three times 2488, 1152.8 us; over one path it is 4325 us
 * Units    bytes; ns of model time
 * Errors   none
 * Context  any; pure, integers alone
 * Source   Ozveren, "Communication aspects of parallel processing" (1987), 2.2.1: there the share
 *          of a path must be the smaller the longer it is, not the larger
 */
#pragma once

#include <stdint.h>

#include "network/paths.h"
#include "router/clock.h"

struct shares {
    unsigned count; /* of the paths that carry any; 1: it goes as any message; 0: to itself */
    uint64_t time_ns;
    struct network_path path[NETWORK_PATHS_MAX];
    uint32_t bytes[NETWORK_PATHS_MAX]; /* they lie one behind the other in the message */
};

/* Splits bytes over the first paths of an ascending list of hops; returns how many carry any, the
 * bytes of each in share[], the time in *time_ns. At least one path; without bytes the first. */
unsigned shares_split(const struct profile *profile, const uint32_t *hops, unsigned count,
                      uint32_t bytes, uint32_t *share, uint64_t *time_ns);

/* The fastest split over at most `most` disjoint paths from one node to another. */
void shares_make(const struct network *network, const struct profile *profile, uint32_t from,
                 uint32_t to, uint32_t bytes, unsigned most, struct shares *shares);
