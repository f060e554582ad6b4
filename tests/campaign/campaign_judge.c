/*
 * campaign_judge.c - how a run with faults may end.
 *
 * Either all programs have ended with E_OK and every byte is right. Or the host has named a node or
 * link, each one that it names is dead or deaf indeed, and every surviving program has ended: with
 * E_OK and right bytes as far as it came, or with E_LINK_DEAD, E_PEER_GONE or E_CANCELLED. Only a
 * node that the dead have cut off from the host may still wait, and is named too. Before the start
 * of the programs the host's word is enough. A frame that is lost, damaged or doubled breaks
 * nothing. A program that was to abort may be what ends the run: the host says so once, and nobody
 * ends with E_LINK_DEAD by that.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "node/state.h"
#include "router/channel.h"
#include "sim/core/state.h"
#include "tests/campaign/campaign.h"

enum {
    HOST_QUIET_MS = 5000,    /* sim/core/host.c: without progress, after which nodes are asked */
    HOST_STOP_MS = 300,      /* from the first word of a dead link until programs are stopped */
    HOST_GIVE_UP_MS = 20000, /* from then until those that cannot be reached are given up */
    NEXT_HOST_MS = 1000,     /* from a host's death until the next one begins, */
    HOST_BOOT_MS = 16300,    /* and until that has seen that no node answers */
    /* what each node adds to the wait after a refusal, which is doubled SPREAD_DOUBLINGS times
     * (node/message.c) */
    SPREAD_US = 1024,
    ADVANCE_EVENTS = 1000
};

struct run {
    const struct sim_options *options;
    struct sim *sim;
    struct sim_result result;
    char *why;
};

static bool wrong(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says what is wrong, once. */
static bool wrong(struct run *run, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(run->why, CAMPAIGN_TEXT_MAX, format, arguments);
    va_end(arguments);
    return false;
}

/* Whether a program of a node is to abort. */
static bool is_to_abort(const struct sim_options *options, uint32_t rank)
{
    const struct sim_faults *faults = &options->faults;

    for (unsigned i = 0; i < faults->count; i++) {
        if (faults->list[i].kind == SIM_ABORT && faults->list[i].a == rank) {
            return true;
        }
    }
    return false;
}

/* Whether faults can break the machine; all others it must survive, and end by itself or by an
 * abort. */
static bool breaks(const struct sim_options *options)
{
    const struct sim_faults *faults = &options->faults;

    for (unsigned i = 0; i < faults->count; i++) {
        if (faults->list[i].kind != SIM_SLOW && faults->list[i].kind != SIM_STOP &&
            faults->list[i].kind != SIM_ABORT) {
            return true;
        }
    }
    return faults->fail_event && faults->action >= SIM_KILL_SENDER &&
           faults->action != SIM_STOP_HOST && faults->action != SIM_CANCEL_PROGRAM;
}

/* For how long the host does nothing, all told. */
static uint64_t stopped_ns(const struct sim_faults *faults)
{
    uint64_t ns =
        faults->fail_event && faults->action == SIM_STOP_HOST ? SIM_STOP_MS * UINT64_C(1000000) : 0;

    for (unsigned i = 0; i < faults->count; i++) {
        ns += faults->list[i].kind == SIM_STOP ? faults->list[i].slow_ns : 0;
    }
    return ns;
}

/* Whether the host has died. */
static bool host_died(const struct run *run)
{
    for (unsigned i = 0; i < run->result.trouble_count && i < SIM_TROUBLES_MAX; i++) {
        if (run->result.abouts[i].kind == SIM_TROUBLE_HOST_DIED) {
            return true;
        }
    }
    return false;
}

uint64_t campaign_bound_ns(const struct sim_options *options,
                           const struct campaign_reference *reference, uint64_t damaged)
{
    /* A frame that has lost bytes takes what comes next in their place: twice the timeout. */
    uint64_t bound_us = 2 * damaged * (RETRY_US + ACK_DELAY_US);

    if (breaks(options)) {
        bound_us += DEAD_AFTER_MS * 1000 + RETRY_US +
                    (HOST_QUIET_MS + HOST_STOP_MS + HOST_GIVE_UP_MS) * UINT64_C(1000);
    }
    if (breaks(options)) {
        bound_us += (NEXT_HOST_MS + HOST_BOOT_MS) * UINT64_C(1000);
    }
    bool again = options->faults.fail_event && options->faults.action == SIM_CANCEL_PROGRAM;
    return (again ? 4 : 2) * reference->wall_ns + bound_us * 1000 + stopped_ns(&options->faults);
}

/* Requests that came to a node without room for an answer: they are repeated. */
static uint64_t requests_dropped(const struct run *run)
{
    uint64_t count = 0;

    for (uint32_t rank = 0; rank < run->options->network.nodes; rank++) {
        count += sim_node(run->sim, rank)->dropped_requests;
    }
    return count;
}

/* How long messages may wait to be tried again, after all circuits that were refused. Each message
 * waits longer each time, so it is longest when one of them has been refused every time. */
static uint64_t refused_us(const struct run *run)
{
    uint64_t count = 0;
    uint64_t us = 0;

    for (uint32_t rank = 0; rank < run->options->network.nodes; rank++) {
        count += sim_node(run->sim, rank)->router.circuits_refused;
    }
    for (uint64_t i = 0; i < count; i++) {
        us += i ? (uint64_t)(ANSWER_RETRY_US / 2 + SPREAD_US)
                      << (i < SPREAD_DOUBLINGS ? i : SPREAD_DOUBLINGS)
                : ANSWER_RETRY_US;
    }
    return us;
}

static bool same_link(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return (a == c && b == d) || (a == d && b == c);
}

/* Whether a link may be called dead: faults have touched it, or a node at one of its ends. */
static bool is_dead(const struct run *run, uint32_t a, uint32_t b)
{
    const struct sim_faults *faults = &run->options->faults;

    if ((a != ID_HOST && sim_node_dead(run->sim, a)) ||
        (b != ID_HOST && sim_node_dead(run->sim, b)) ||
        ((a == ID_HOST || b == ID_HOST) && host_died(run))) {
        return true;
    }
    if (faults->fail_event && run->result.hit_from != run->result.hit_to &&
        (faults->action == SIM_KILL_SENDER || faults->action == SIM_CUT_LINK) &&
        same_link(a, b, run->result.hit_from, run->result.hit_to)) {
        return true;
    }
    for (unsigned i = 0; i < faults->count; i++) {
        if ((faults->list[i].kind == SIM_CUT || faults->list[i].kind == SIM_ONEWAY) &&
            same_link(a, b, faults->list[i].a, faults->list[i].b)) {
            return true;
        }
    }
    return false;
}

/* Whether the e-cube way from one node to another leads over something dead. */
static bool way_is_dead(const struct run *run, uint32_t at, uint32_t to)
{
    while (at != to) {
        const struct network *network = &run->options->network;
        uint32_t next = network_neighbour(network, at, network_next_hop(network, at, to));
        if (is_dead(run, at, next)) {
            return true;
        }
        at = next;
    }
    return false;
}

/* Whether the host cannot reach a node. */
static bool is_cut_off(const struct run *run, uint32_t rank)
{
    uint32_t root = network_host_root(&run->options->network, rank);

    return is_dead(run, ID_HOST, root) || way_is_dead(run, root, rank);
}

/* Whether a node cannot reach the host. */
static bool is_unheard(const struct run *run, uint32_t rank)
{
    uint32_t root = network_host_root(&run->options->network, rank);

    return is_dead(run, ID_HOST, root) || way_is_dead(run, rank, root);
}

/* The link that a line of the host's report is about; false when it is about none. */
static bool names_link(const struct sim_about *about, uint32_t *a, uint32_t *b)
{
    *a = about->nodes[0];
    *b = about->node_count == 2 ? about->nodes[1] : ID_HOST;
    return about->kind == SIM_TROUBLE_LINK_DIED || about->kind == SIM_TROUBLE_LINK_MISSING ||
           about->kind == SIM_TROUBLE_HOST_LINK_DIED;
}

/* The report names at least one dead node or link, or an abort, and none that lives. */
static bool report_is_right(struct run *run, unsigned named)
{
    const struct sim_result *result = &run->result;

    for (unsigned i = 0; i < result->trouble_count && i < SIM_TROUBLES_MAX; i++) {
        const struct sim_about *about = &result->abouts[i];
        uint32_t a, b;
        if (about->kind == SIM_TROUBLE_NODE_SILENT) {
            named += is_unheard(run, about->nodes[0]) || is_cut_off(run, about->nodes[0]);
        }
        if (!names_link(about, &a, &b)) {
            continue;
        }
        if (!is_dead(run, a, b)) {
            return wrong(run, "a good link is called dead: %s", result->troubles[i]);
        }
        named++;
    }
    return named || host_died(run) || wrong(run, "nothing dead is named: %s", result->troubles[0]);
}

/* How many have aborted the run, as the host says: one at most, which was to. */
static bool aborts_are_right(struct run *run, unsigned *aborts)
{
    const struct sim_result *result = &run->result;

    *aborts = 0;
    for (unsigned i = 0; i < result->trouble_count && i < SIM_TROUBLES_MAX; i++) {
        if (result->abouts[i].kind != SIM_TROUBLE_ABORTED) {
            continue;
        }
        uint32_t rank = result->abouts[i].nodes[0];
        if (!is_to_abort(run->options, rank) || ++*aborts > 1 ||
            (sim_node_status(run->sim, rank) != SIM_ABORT_STATUS &&
             !sim_node_dead(run->sim, rank))) {
            return wrong(run, "it has not, or a second time: %s", result->troubles[i]);
        }
    }
    return true;
}

/* The end of a program that an abort, or else a dead link, brings. */
static bool is_right_error(const struct run *run, uint32_t rank, int status)
{
    if (status == SIM_ABORT_STATUS) {
        return is_to_abort(run->options, rank);
    }
    return status == E_PEER_GONE || status == E_CANCELLED ||
           (status == E_LINK_DEAD && breaks(run->options));
}

/* Programs that survive have ended, and well, or with such an error. */
static bool statuses_are_right(struct run *run, bool *all_well, bool *given_up)
{
    *all_well = true;
    for (uint32_t rank = 0; rank < run->options->network.nodes; rank++) {
        int status = sim_node_status(run->sim, rank);
        if (sim_node_dead(run->sim, rank) || status == E_OK) {
            continue;
        }
        *all_well = false;
        if (sim_node_given_up(run->sim, rank)) {
            *given_up = true;
            if (!is_cut_off(run, rank)) {
                return wrong(run, "node %u waits for ever, and the way to it is good", rank);
            }
        } else if (status == E_TIMEOUT && host_died(run)) {
            continue; /* nobody is there to start it, or to stop it */
        } else if (!is_right_error(run, rank, status)) {
            return wrong(run, "node %u ended with '%s'", rank,
                         status == E_TIMEOUT ? "still waits" : status_text(status));
        }
    }
    return true;
}

static bool bytes_are_right(struct run *run, bool complete)
{
    const struct sim_result *result = &run->result;

    for (unsigned i = 0; i < result->line_count; i++) {
        if (result->lines[i].wrong) {
            return wrong(run, "%" PRIu64 " wrong bytes", result->lines[i].wrong);
        }
        if (complete && result->lines[i].nodes != run->options->network.nodes) {
            return wrong(run, "only %u nodes have measured", (unsigned)result->lines[i].nodes);
        }
    }
    if (complete && result->line_count != run->options->size_count) {
        return wrong(run, "only %u measurements", result->line_count);
    }
    return result->checked || wrong(run, "contents were not checked");
}

static bool ended_well(struct run *run)
{
    bool all_well = true, given_up = false;

    if (run->result.trouble_count && !host_died(run)) { /* with its last frame */
        return wrong(run, "ended well, and yet: %s", run->result.troubles[0]);
    }
    if (run->result.receipts != run->options->network.nodes) {
        return wrong(run, "only %u receipts", run->result.receipts);
    }
    if (run->options->scenario != SIM_LOAD && !statuses_are_right(run, &all_well, &given_up)) {
        return false;
    }
    if (!all_well) {
        return wrong(run, "ended well, and yet programs failed");
    }
    return bytes_are_right(run, true);
}

static bool ended_named(struct run *run, bool *given_up)
{
    bool all_well = false;
    unsigned aborts;

    if (!aborts_are_right(run, &aborts)) {
        return false;
    }
    if (!breaks(run->options) && aborts == 0) {
        return wrong(run, "nothing is dead, and yet: %s", run->result.troubles[0]);
    }
    if (!bytes_are_right(run, false)) {
        return false;
    }
    if (sim_phase(run->sim) == SIM_RUN && !statuses_are_right(run, &all_well, given_up)) {
        return false;
    }
    return all_well || report_is_right(run, aborts);
}

static bool judge(struct run *run, bool *given_up)
{
    switch (run->result.verdict) {
    case SIM_GOOD: return ended_well(run);
    case SIM_ERROR: return ended_named(run, given_up);
    case SIM_WRONG:
        return wrong(run, "wrong bytes, and nothing told of it: %s", run->result.troubles[0]);
    case SIM_STUCK:
        return wrong(run, "stuck: %s; %s", run->result.troubles[0], run->result.troubles[1]);
    default:
        return wrong(run, "does not end: stopped after %" PRIu64 " events", run->result.events);
    }
}

/* All at once, when nothing can end the process any more: what does is counted by who sees it. */
static void count(const struct run *run, const struct campaign_reference *reference, bool right,
                  bool given_up, struct campaign_tally *tally)
{
    uint64_t wall_ns = run->result.wall_ns;
    uint64_t over_ns = wall_ns > reference->wall_ns ? wall_ns - reference->wall_ns : 0;

    tally->runs++;
    tally->failed += !right;
    tally->right += right && run->result.verdict == SIM_GOOD;
    tally->named += right && run->result.verdict == SIM_ERROR;
    tally->given_up += right && given_up;
    tally->wall_max_ns = wall_ns > tally->wall_max_ns ? wall_ns : tally->wall_max_ns;
    tally->over_max_ns = over_ns > tally->over_max_ns ? over_ns : tally->over_max_ns;
}

bool campaign_judge(const struct sim_options *options, const struct campaign_reference *reference,
                    struct campaign_tally *tally, char why[CAMPAIGN_TEXT_MAX])
{
    struct sim_options bounded = *options;
    struct run run = {.options = options, .why = why};
    bool given_up = false;

    bounded.stop_at = reference->events * 100 + 1000000;
    run.sim = sim_make(&bounded);
    if (!run.sim) {
        count(&run, reference, false, false, tally);
        return wrong(&run, "out of memory");
    }
    while (sim_advance(run.sim, ADVANCE_EVENTS)) {
        ;
    }
    sim_result(run.sim, &run.result);
    bool right = judge(&run, &given_up);
    if (right && run.result.questions && !breaks(options) && !stopped_ns(&options->faults)) {
        right = wrong(&run, "nothing is dead, and nothing moved until the host asked");
    }
    uint64_t bound_ns = campaign_bound_ns(options, reference, run.result.damaged) +
                        requests_dropped(&run) * ASK_AGAIN_US * UINT64_C(1000) +
                        refused_us(&run) * 1000;
    uint64_t wall_ns = run.result.wall_ns;
    if (right && wall_ns > bound_ns) {
        right = wrong(&run, "took %.3f s, and the bound is %.3f s", (double)wall_ns / 1e9,
                      (double)bound_ns / 1e9);
    }
    sim_free(run.sim);
    count(&run, reference, right, given_up, tally);
    return right;
}
