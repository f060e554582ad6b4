/*
 * troubles.c - each event of the controller as a sentence and as JSON.
 *
 * Sentences that the simulator's tests see too come from controller/words.h; what only the tool
 * knows (places in the source, what follows from what) is added here. Everything goes to the
 * teller, so that nothing here knows who listens.
 */
#include "host/job/troubles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "controller/cables.h"
#include "controller/waits.h"
#include "controller/words.h"
#include "drivers/status.h"
#include "host/console/message.h"
#include "host/computer/limits.h"
#include "host/job/doing.h"
#include "host/job/programs.h"
#include "router/channel.h"
#include "wire/frame.h"

enum { CABLES_TOLD_MAX = 24, FAULTS_TOLD_MAX = 16, EXITS_TOLD_MAX = 4, WAITS_TOLD_MAX = 16 };

static unsigned nodes_of(const struct programs *programs)
{
    return programs->network->nodes;
}

/* A cable that is not as it should be, or a node that has told of none. */
static void tell_cable(struct programs *programs, const struct cable_fault *fault)
{
    static const char *const kinds[CABLE_FAULT_KINDS] = {[CABLE_CROSSED] = "link-crossed",
                                                         [CABLE_MISSING] = "link-missing",
                                                         [CABLE_ONE_WAY] = "link-one-way",
                                                         [CABLE_NODE_SILENT] = "node-silent",
                                                         [CABLE_HOST_MISSING] =
                                                             "host-link-missing"};
    json_t *members = tell_node_members(kinds[fault->kind], fault->node);
    char text[WORDS_MAX];

    if (fault->kind != CABLE_NODE_SILENT && fault->kind != CABLE_HOST_MISSING) {
        json_array_append_new(json_object_get(members, "nodes"), json_integer(fault->peer));
        json_object_set_new(members, "dimension", json_integer(fault->dimension));
    }
    words_of_cable(fault, text);
    tell_trouble(programs->teller, members, "%s", text);
}

void troubles_tell_boot(struct programs *programs, const struct controller_event *event,
                        const char *held)
{
    struct cable_fault faults[CABLES_TOLD_MAX];
    unsigned count = cables_find(programs->controller, faults, CABLES_TOLD_MAX);
    json_t *members =
        json_pack("{s:s, s:[], s:i, s:i, s:i}", "kind", "boot-failed", "nodes", "answered",
                  (int)event->peer, "complete", (int)event->done, "crossed", (int)event->status);
    char text[WORDS_MAX];

    for (unsigned i = 0; i < count && i < CABLES_TOLD_MAX; i++) {
        tell_cable(programs, &faults[i]);
    }
    tell_more(programs->teller, "more-links", count > CABLES_TOLD_MAX ? count - CABLES_TOLD_MAX : 0,
              "links that are not as they should be");
    if (!words_of_event(programs->controller, event, text)) {
        snprintf(text, sizeof text, "%s", held);
    }
    tell_trouble(programs->teller, members, "%s", text);
}

/* In the controller's words. */
static void tell_words(struct programs *programs, json_t *members,
                       const struct controller_event *event)
{
    char text[WORDS_MAX] = "";

    words_of_event(programs->controller, event, text);
    tell_trouble(programs->teller, members, "%s", text);
}

static void tell_load_failed(struct programs *programs, const struct controller_event *event)
{
    static const char *const kinds[] = {[LOAD_SILENT] = "download-timeout",
                                        [LOAD_REFUSED] = "download-refused",
                                        [LOAD_ERROR] = "download-failed",
                                        [LOAD_WRONG] = "download-wrong"};
    json_t *members = tell_node_members(kinds[event->reason], event->rank);

    if (event->reason == LOAD_SILENT) {
        json_object_set_new(members, "receipts", json_integer(programs->job->receipts));
    } else if (event->status != 0) {
        json_object_set_new(members, "error", json_integer(event->status));
    }
    tell_words(programs, members, event);
}

/* A wild write crashes a program later, and elsewhere: once in a run it is said what finds it. */
static void advise_checks(struct programs *programs, uint32_t rank, const struct fault_body *fault)
{
    struct job *job = programs->job;
    const struct fault_code code = programs_code(programs, rank);
    int status = fault_status(&code, fault);

    if (!code.image->checked && !job->advised &&
        (status == STATUS_MEMORY || status == STATUS_UNDEFINED)) {
        job->advised = true;
        tell_trouble(programs->teller, json_pack("{s:s, s:[]}", "kind", "advice", "nodes"),
                     "to find wrong uses of memory where they happen, link the program with "
                     "'ecube-cc%s --check'",
                     code.image->processor == &processor_x86_64 ? " --native" : "");
    }
}

/* On few nodes each crash is told. */
static unsigned faults_told_max(const struct programs *programs)
{
    return nodes_of(programs) <= MACHINE_NODES_MAX ? MACHINE_NODES_MAX : FAULTS_TOLD_MAX;
}

static void tell_registers(struct programs *programs, uint32_t rank, const struct fault_body *fault)
{
    const struct fault_code code = programs_code(programs, rank);
    char text[FAULT_TEXT_MAX];

    for (unsigned i = 0; i < FAULT_REGISTER_LINES && fault->kind != FAULT_CHECK; i++) {
        if (fault_registers_text(&code, rank, fault, i, text)) {
            tell_trouble(programs->teller, tell_node_members("registers", rank), "%s", text);
        }
    }
}

static void tell_fault(struct programs *programs, uint32_t rank, const struct fault_body *fault,
                       uint64_t now_us)
{
    const struct fault_code code = programs_code(programs, rank);
    char text[FAULT_TEXT_MAX];

    if (fault->kind == FAULT_FINDING &&
        findings_add(&programs->findings, &code, rank, fault, now_us)) {
        return;
    }
    json_t *members = fault_describe(&code, rank, fault, text);
    if (programs->faults_told++ >= faults_told_max(programs)) {
        tell_quietly(programs->teller, members, "%s", text);
        return;
    }
    tell_trouble(programs->teller, members, "%s", text);
    if (programs->verbose) {
        tell_registers(programs, rank, fault);
    }
    if (fault->kind < FAULT_KERNEL) {
        advise_checks(programs, rank, fault);
    }
}

/* All nodes have the same map, so what is wrong with it is told once. */
static void tell_wrong_map(struct programs *programs, const struct controller_event *event)
{
    json_t *members = tell_node_members("map-wrong", event->rank);
    char text[WORDS_MAX];

    json_object_set_new(members, "status", json_integer(STATUS_BAD_INPUT));
    words_of_event(programs->controller, event, text);
    if (programs->job->map_told) {
        tell_quietly(programs->teller, members, "%s", text);
    } else {
        tell_trouble(programs->teller, members, "%s", text);
    }
    programs->job->map_told = true;
}

/* A program's; of an error of a call it is told later what it follows from. */
static void take_fault(struct programs *programs, const struct controller_event *event,
                       uint64_t now_us)
{
    const struct fault_code code = programs_code(programs, event->rank);
    struct fault_call call;

    if (event->fault.kind == FAULT_ERROR) {
        fault_of_call(&code, event->rank, &event->fault, &call);
        errors_call(&programs->errors, network_rank(programs->network, event->rank), &call,
                    event->fault.collectives, now_us);
    } else {
        if (event->fault.kind == FAULT_MAP) {
            tell_wrong_map(programs, event);
        } else {
            tell_fault(programs, event->rank, &event->fault, now_us);
        }
        errors_ended(&programs->errors, network_rank(programs->network, event->rank), false,
                     event->fault.collectives, now_us);
    }
}

static void tell_kernel_fault(struct programs *programs, const struct controller_event *event,
                              uint64_t now_us)
{
    tell_fault(programs, event->rank, &event->fault, now_us);
    tell_trouble(programs->teller, tell_node_members("kernel-stopped", event->rank),
                 "node %u (rank %u) is out of order: its kernel stopped", (unsigned)event->rank,
                 (unsigned)network_rank(programs->network, event->rank));
}

/* Two have entered different collectives, or one could not go on and all failed with it. */
static void tell_disagreement(struct programs *programs, const struct controller_event *event,
                              uint64_t now_us)
{
    bool differ = event->status == E_MISMATCH;
    json_t *members =
        tell_node_members(differ ? "collectives-disagree" : "collective-failed", event->rank);
    char text[WORDS_MAX] = "";

    if (differ) {
        json_array_append_new(json_object_get(members, "nodes"), json_integer(event->peer));
    } else {
        json_object_set_new(members, "error", json_integer(event->status));
    }
    json_object_set_new(members, "operation",
                        json_string(operation_name(event->disagree.first.operation)));
    words_of_event(programs->controller, event, text);
    if (differ) {
        tell_trouble(programs->teller, members, "%s", text);
        errors_disagreed(&programs->errors);
    } else {
        errors_failed(&programs->errors, network_rank(programs->network, event->rank),
                      event->status, members, text, now_us);
    }
}

static void tell_no_plan(struct programs *programs, const struct controller_event *event)
{
    json_t *members = tell_node_members("no-plan", event->rank);

    json_object_set_new(members, "error", json_integer(event->status));
    json_object_set_new(members, "operation", json_string(operation_name(event->plan.operation)));
    tell_words(programs, members, event);
}

/* The k-th report of every node belongs to one line: the first one begins it. */
static void take_report(struct programs *programs, const struct controller_event *event)
{
    struct program_node *node = &programs->nodes[event->rank];
    struct report_table *reports = &programs->job->reports;
    unsigned before = reports->count;

    if (!report_add(reports, node->report_count, &event->report)) {
        return;
    }
    node->report_count++;
    if (reports->count > before) {
        const struct report *report = &reports->reports[before];

        tell_event(programs->teller, json_pack("{s:s, s:s, s:o}", "event", "report", "name",
                                               report->name, "bytes", report_count(report->bytes)));
    }
}

void troubles_tell_exits(struct programs *programs)
{
    unsigned more = 0;

    for (uint32_t rank = 0; rank < nodes_of(programs) && !programs->controller->broken; rank++) {
        int status = programs->nodes[rank].exit_untold;
        json_t *members;

        programs->nodes[rank].exit_untold = 0;
        if (status != 0 && programs->job->exits_told++ < EXITS_TOLD_MAX) {
            members = tell_node_members("exit-status", rank);
            json_object_set_new(members, "status", json_integer(status));
            tell_trouble(programs->teller, members,
                         "node %u (rank %u): the program exited with status %d", (unsigned)rank,
                         (unsigned)network_rank(programs->network, rank), status);
        } else if (status != 0) {
            more++;
        }
    }
    tell_more(programs->teller, "more-exits", more, "programs exited with a status other than 0");
}

/* Says that programs wait for each other: "rank 0 for 1 for 2 for 0". */
static void tell_circle(struct programs *programs)
{
    uint32_t nodes = nodes_of(programs), *ranks = calloc(nodes, sizeof *ranks);
    uint32_t length = ranks ? waits_circle(programs->controller, ranks, nodes) : 0;
    json_t *circle = json_array();
    char text[WORDS_MAX];

    if (length == 0 || length > nodes) {
        json_decref(circle);
        free(ranks);
        return;
    }
    for (uint32_t i = 0; i < length; i++) {
        json_array_append_new(circle, json_integer(ranks[i]));
    }
    words_of_circle(programs->network, ranks, length, text);
    tell_trouble(programs->teller, json_pack("{s:s, s:o}", "kind", "circle", "nodes", circle), "%s",
                 text);
    free(ranks);
}

static void tell_wait(struct programs *programs, uint32_t rank)
{
    uint32_t peer = waits_for(programs->controller, rank);
    json_t *members = tell_node_members("waits", rank);
    char doing[DOING_TEXT_MAX], text[DOING_TEXT_MAX];

    json_object_set_new(members, "for", peer == rank ? json_null() : json_integer(peer));
    json_object_set_new(members, "wait",
                        controller_answered(programs->controller, rank) ? doing_wait(programs, rank)
                                                                        : json_null());
    doing_text(programs, rank, true, doing);
    words_of_wait(programs->network, rank, doing, text, sizeof text);
    tell_trouble(programs->teller, members, "%s", text);
}

/* What each program that runs does; when nothing moves (stands), also who waits in a circle. */
void troubles_tell_waits(struct programs *programs, bool stands)
{
    unsigned count = 0;

    for (uint32_t rank = 0; rank < nodes_of(programs); rank++) {
        if (programs->nodes[rank].running && count++ < WAITS_TOLD_MAX) {
            tell_wait(programs, rank);
        }
    }
    tell_more(programs->teller, "more-waits", count > WAITS_TOLD_MAX ? count - WAITS_TOLD_MAX : 0,
              "nodes that still run");
    if (stands) {
        tell_circle(programs);
    }
}

/* In a boot that links are missing is not said: it may well be on its way. */
void troubles_tell_cut(struct programs *programs, const struct troubles_cut *cut)
{
    unsigned nodes = nodes_of(programs), ended = programs->job->ended;
    json_t *members =
        json_pack("{s:s, s:[], s:s, s:i}", "kind", cut->interrupted ? "interrupted" : "timeout",
                  "nodes", "phase", words_of_phase(cut->phase), "ended", (int)ended);
    char progress[80];

    snprintf(progress, sizeof progress,
             cut->phase == PHASE_BOOT       ? "boot, %u of %u nodes have all links"
             : cut->phase == PHASE_DOWNLOAD ? "download, %u of %u receipts"
             : cut->phase == PHASE_GATHER   ? "%u of %u outputs have come"
                                            : "%u of %u programs have ended",
             cut->phase == PHASE_RUN ? ended : cut->done, nodes);
    if (cut->interrupted) {
        tell_trouble(programs->teller, members, "interrupted: %s", progress);
    } else {
        json_object_set_new(members, "limit_ms", json_real(cut->limit_ms));
        tell_trouble(programs->teller, members,
                     "the run did not end within %.10g s: %s (--timeout sets it)",
                     (double)cut->limit_ms / 1e3, progress);
    }
}

static void tell_end(struct programs *programs, const struct controller_event *event)
{
    json_t *members;

    switch (event->reason) {
    case ENDED_STANDS:
        members = json_pack("{s:s, s:[], s:i}", "kind", "no-progress", "nodes", "ended",
                            (int)programs->job->ended);
        tell_words(programs, members, event);
        troubles_tell_waits(programs, true);
        break;
    case ENDED_ABORTED:
        members = tell_node_members("aborted", event->rank);
        json_object_set_new(members, "status", json_integer(event->status));
        programs->nodes[event->rank].exit_untold = 0;
        tell_words(programs, members, event);
        break;
    case ENDED_TIMEOUT:
    case ENDED_TIMEOUT_STANDS:
        troubles_tell_cut(programs, &(struct troubles_cut){.phase = PHASE_RUN,
                                                           .interrupted = programs->interrupted,
                                                           .limit_ms = programs->job->timeout_ms});
        troubles_tell_waits(programs, event->reason == ENDED_TIMEOUT_STANDS);
        break;
    default: break;
    }
}

/* The ends that are known; a host link has one. */
static json_t *link_members(const struct programs *programs, const struct controller_event *event)
{
    static const char *const reasons[] = {[DEAD_CARRIER] = "carrier",
                                          [DEAD_TIMEOUT] = "timeout",
                                          [DEAD_PROTOCOL] = "protocol",
                                          [DEAD_VERSION] = "version",
                                          [DEAD_RESTARTED] = "restarted"};
    bool known = event->reason < sizeof reasons / sizeof reasons[0] && reasons[event->reason];
    json_t *members =
        tell_node_members(event->peer == ID_HOST ? "host-link-died" : "link-died", event->rank);

    json_object_set_new(members, "phase", json_string(words_of_phase(event->phase)));
    json_object_set_new(members, "reason", json_string(known ? reasons[event->reason] : "unknown"));
    if (event->peer < nodes_of(programs)) {
        json_array_append_new(json_object_get(members, "nodes"), json_integer(event->peer));
    }
    return members;
}

/* Why a link has died: a node at one of its ends may have been halted for longer than the other end
 * waits. */
static const char *why_dead(const struct programs *programs, const struct controller_event *event,
                            char text[WORDS_MAX])
{
    const struct programs_owner *owner = &programs->owner;
    uint32_t ends[2] = {event->rank, event->peer};
    char words[HALTED_TEXT_MAX];

    for (unsigned i = 0; i < 2 && event->reason == DEAD_TIMEOUT && owner->halted; i++) {
        if (ends[i] < nodes_of(programs) && owner->halted(owner->context, ends[i], words)) {
            snprintf(text, WORDS_MAX, "node %u is %s, for longer than --patience",
                     (unsigned)ends[i], words);
            return text;
        }
    }
    return words_of_dead(event->reason);
}

static void tell_dead_link(struct programs *programs, const struct controller_event *event)
{
    char text[WORDS_MAX], why[WORDS_MAX];

    words_of_dead_link(programs->controller, event, why_dead(programs, event, why), text);
    tell_trouble(programs->teller, link_members(programs, event), "%s", text);
}

/* Bytes that the host has given to its circuits: what is left is what it takes longest for. */
void troubles_tell_download(struct programs *programs)
{
    const struct job *job = programs->job;

    tell_event(programs->teller,
               json_pack("{s:s, s:s, s:i, s:i, s:I, s:I}", "event", "progress", "phase", "download",
                         "done", (int)programs->controller->receipts, "total",
                         (int)nodes_of(programs), "bytes",
                         (json_int_t)programs->controller->given_bytes, "total_bytes",
                         (json_int_t)job->plan.bytes));
}

/* What was not told one by one. */
static void tell_more_faults(struct programs *programs)
{
    unsigned told = programs->faults_told, most = faults_told_max(programs);

    tell_more(programs->teller, "more-faults", told > most ? told - most : 0, "programs crashed");
    programs->faults_told = 0;
}

/* Whoever has given it up has said so. */
static void tell_gather_failed(struct programs *programs, const struct controller_event *event)
{
    json_t *members = tell_node_members("outputs-failed", event->rank);

    if (event->reason == GATHER_STOPPED) {
        json_decref(members);
        return;
    }
    json_object_set_new(members, "error",
                        event->status ? json_integer(event->status) : json_null());
    tell_words(programs, members, event);
}

/* A person may not know that it is his turn. */
static void tell_region_waits(struct programs *programs, const struct controller_event *event)
{
    json_t *name = json_string((const char *)event->body);
    char text[WORDS_MAX];

    words_of_event(programs->controller, event, text);
    tell_trouble(programs->teller,
                 json_pack("{s:s, s:[], s:o}", "kind", "region-waits", "nodes", "region",
                           name ? name : json_null()),
                 "%s", text);
}

void troubles_tell_event(struct programs *programs, const struct controller_event *event,
                         uint64_t now_us)
{
    switch (event->kind) {
    case EVENT_RECEIPT: troubles_tell_download(programs); break;
    case EVENT_LOAD_FAILED: tell_load_failed(programs, event); break;
    case EVENT_REPORT: take_report(programs, event); break;
    case EVENT_FAULT: take_fault(programs, event, now_us); break;
    case EVENT_KERNEL_FAULT: tell_kernel_fault(programs, event, now_us); break;
    case EVENT_DISAGREE: tell_disagreement(programs, event, now_us); break;
    case EVENT_NO_PLAN: tell_no_plan(programs, event); break;
    case EVENT_ENDED:
        tell_more_faults(programs);
        tell_end(programs, event);
        break;
    case EVENT_GATHER_PROGRESS:
        tell_progress(programs->teller, "gather", event->done, nodes_of(programs));
        break;
    case EVENT_REGION_WAITS: tell_region_waits(programs, event); break;
    case EVENT_GATHER_FAILED: tell_gather_failed(programs, event); break;
    case EVENT_BROKEN: tell_more_faults(programs); break;
    case EVENT_LINK_DIED: tell_dead_link(programs, event); break;
    default: break;
    }
}
