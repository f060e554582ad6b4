/*
 * limit.h - how long a simulation goes on while no program gets on, whatever keeps it busy.
 *
 * A program gets on when it starts, when a call of it ends, and when it ends; in the boot and the
 * download the host's progress counts. That happens a bounded number of times: with a bound on the
 * time between two of them every simulation ends. Data on links is no such sign, for who lies can
 * send for ever.
 *
 * Units    ns of wall time
 * Context  the loop
 */
#pragma once

#include <stdint.h>

struct sim;

/* What the longest step of its programs may take: the download, a collective or a message. */
struct limit {
    uint64_t ns;     /* but for what damage adds */
    uint64_t frames; /* that it needs, at most */
    uint64_t rounds; /* at one time */
};

/* Of options with plans; doc/simulation.md says what it consists of. */
struct limit limit_of(const struct sim *sim);

/* With the frames that have been damaged so far, up to those that a step needs. */
uint64_t limit_ns(const struct limit *limit, uint64_t damaged);
