/*
 * actor.h - who is stepped: a node, or the host, as the loop sees it.
 *
 * Actor number i is node i; the last one is the host.
 *
 * Units    wall time in ns
 * Context  the thread of the actor's partition
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct actor {
    uint64_t armed_ns; /* the timer that stands for it; UINT64_MAX: none */
    uint64_t wanted_ns;
    uint64_t slow_ns;
    uint32_t links_due; /* links with news */
    bool queued, dead;
    bool polls;        /* its program is to be looked at in each step */
    bool given_up;     /* STOP did not reach it */
    bool aborts;       /* its program does so when it starts */
    bool receipted;    /* the host knows that it has its image */
    uint8_t partition; /* its number */
};
