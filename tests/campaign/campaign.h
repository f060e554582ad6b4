/*
 * campaign.h - fault campaigns: many runs, each with a fault of its own, each held to one rule.
 *
 * A sweep counts the link events of a run without faults, and then fails one of them in each run. A
 * campaign of seeds draws everything: scenario, size, nodes, faults, order of ties, delays. Every
 * run must end within a bound of simulated wall time with right data, or with a report that names a
 * dead node or link and a status for every surviving program (campaign_judge). Runs are divided
 * among processes, so that one that crashes or hangs is a failure like any other; they end with the
 * first one. Refused: a fork at each event, which costs a third more on 8 nodes, with sanitizers
 * three times as much; only from 16 nodes on it gains, 22 %.
 *
 * Example  struct campaign c = {.name = "exchange", .options = options, .action = SIM_DROP_FRAME,
 *                               .first = 1, .stride = 1};
 *          struct campaign_tally tally = campaign_run(&c, 2);
 * Units    ns of simulated wall time
 * Errors   failures are printed, each with the command that repeats it, and counted
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/simulation.h"
#include "tests/networks.h"

enum { CAMPAIGN_TEXT_MAX = 1024, CAMPAIGN_ACTIONS = SIM_ACTIONS - 1 };

struct campaign {
    const char *name;
    struct sim_options options; /* of a sweep */
    enum sim_action action;     /* SIM_NOTHING: a campaign of seeds */
    uint64_t first, stride;     /* the event, or the seed, of the first run, and from run to run */
    uint64_t seeds;             /* runs of a campaign of seeds */
};

struct campaign_tally {
    uint64_t runs;     /* right, named or failed */
    uint64_t right;    /* all programs ended well, with right data */
    uint64_t named;    /* ended with the name of what is dead */
    uint64_t given_up; /* of these, in which the host had lost its way to a surviving node */
    uint64_t failed;
    uint64_t wall_max_ns; /* the longest run */
    uint64_t over_max_ns; /* the longest beyond its own run without faults */
};

/* Runs it in so many processes. */
struct campaign_tally campaign_run(const struct campaign *campaign, unsigned shards);
void campaign_add(struct campaign_tally *sum, const struct campaign_tally *tally);

/* What is swept: one small measurement, every byte checked. */
struct sim_options campaign_options(const char *network, enum sim_scenario scenario);

/* What a run is compared with: the same without what breaks it. */
struct campaign_reference {
    uint64_t wall_ns, events, link_events;
    uint64_t start_ns[SIM_OVER], length_ns[SIM_OVER]; /* model time of each phase */
};

/* Runs the options without faults but slow nodes; false when that does not end well. */
bool campaign_refer(const struct sim_options *options, struct campaign_reference *reference);
/* Draws a run from a seed, and makes its reference; false when that does not end well. */
bool campaign_draw(uint64_t seed, struct sim_options *options,
                   struct campaign_reference *reference);

/* The longest that a run may take: README.md of sim/ says what it consists of. */
uint64_t campaign_bound_ns(const struct sim_options *options,
                           const struct campaign_reference *reference, uint64_t damaged);

/* Runs it, counts it, and returns whether it has kept the rule; if not, `why` says what broke it.
 */
bool campaign_judge(const struct sim_options *options, const struct campaign_reference *reference,
                    struct campaign_tally *tally, char why[CAMPAIGN_TEXT_MAX]);

/* The command that repeats a run: exactly these options. */
void campaign_command(const struct sim_options *options, char text[CAMPAIGN_TEXT_MAX]);
