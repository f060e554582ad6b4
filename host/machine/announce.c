/*
 * announce.c - each event of the controller as a sentence and as JSON.
 *
 * Sentences that the simulator says too come from controller/words.h; what only the tool knows (a
 * debugger's name, QEMU's last line, places in the source) is added here. Everything goes to the
 * machine's teller, so that nothing here knows who listens.
 */
#include "host/machine/announce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "controller/cables.h"
#include "controller/waits.h"
#include "controller/words.h"
#include "drivers/status.h"
#include "host/machine/describe.h"
#include "host/program/fault.h"
#include "host/machine/machine.h"
#include "router/channel.h"
#include "wire/frame.h"

enum { CABLES_TOLD_MAX = 24, DEATHS_TOLD_MAX = 4, EXITS_TOLD_MAX = 4, WAITS_TOLD_MAX = 16 };

static unsigned nodes_of(const struct machine *machine)
{
    return machine->options.network.nodes;
}

static double patience_s(const struct machine *machine)
{
    uint32_t patience_ms = machine->options.patience_ms;

    return (patience_ms ? patience_ms : (uint32_t)DEAD_AFTER_MS) / 1e3;
}

void announce_boot(struct machine *machine)
{
    tell_event(&machine->teller,
               json_pack("{s:s, s:s, s:i, s:f}", "event", "boot", "network",
                         machine->options.network_name, "nodes", (int)nodes_of(machine), "boot_ms",
                         (double)machine->boot_us / 1e3));
}

/* A cable that is not as it should be, or a node that has told of none. */
static void tell_cable(struct machine *machine, const struct cable_fault *fault)
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
    tell_trouble(&machine->teller, members, "%s", text);
}

static void tell_boot_failed(struct machine *machine, const struct controller_event *event)
{
    struct cable_fault faults[CABLES_TOLD_MAX];
    unsigned count = cables_find(&machine->controller, faults, CABLES_TOLD_MAX);
    json_t *members =
        json_pack("{s:s, s:[], s:i, s:i, s:i}", "kind", "boot-failed", "nodes", "answered",
                  (int)event->peer, "complete", (int)event->done, "crossed", (int)event->status);
    char text[WORDS_MAX];

    for (unsigned i = 0; i < count && i < CABLES_TOLD_MAX; i++) {
        tell_cable(machine, &faults[i]);
    }
    tell_more(&machine->teller, "more-links", count > CABLES_TOLD_MAX ? count - CABLES_TOLD_MAX : 0,
              "links that are not as they should be");
    if (!words_of_event(&machine->controller, event, text)) {
        snprintf(text, sizeof text,
                 "boot failed: the server of debuggers (ecube-jtag) is not ready after %.10g s "
                 "(--patience)",
                 patience_s(machine));
    }
    tell_trouble(&machine->teller, members, "%s", text);
}

static void tell_load_waits(struct machine *machine, const struct controller_event *event)
{
    char text[WORDS_MAX];

    if (machine->wait_told || !words_of_event(&machine->controller, event, text)) {
        return;
    }
    machine->wait_told = true;
    tell_trouble(&machine->teller, tell_node_members("download-waits", event->rank), "%s%s", text,
                 machine->target.jtag[0] ? "" : " (is it stopped in a debugger?)");
}

void announce_halted(struct machine *machine)
{
    uint32_t nodes = nodes_of(machine), rank = 0;
    char text[DEBUG_TEXT_MAX];

    while (rank < nodes &&
           (!debuggers_halt(&machine->debuggers, rank) || machine->nodes[rank].receipted)) {
        rank++;
    }
    if (rank < nodes && !machine->wait_told) {
        json_t *members = tell_node_members("download-waits", rank);

        machine->wait_told = true;
        json_object_set_new(members, "holder", json_string(machine->debuggers.nodes[rank].holder));
        tell_trouble(&machine->teller, members, "the download waits: node %u (rank %u) is %s",
                     (unsigned)rank, (unsigned)rank,
                     debuggers_text(&machine->debuggers, rank, text));
    }
}

static void tell_load_failed(struct machine *machine, const struct controller_event *event)
{
    static const char *const kinds[] = {[LOAD_SILENT] = "download-timeout",
                                        [LOAD_REFUSED] = "download-refused",
                                        [LOAD_ERROR] = "download-failed",
                                        [LOAD_WRONG] = "download-wrong"};
    json_t *members = tell_node_members(kinds[event->reason], event->rank);
    char text[WORDS_MAX] = "";

    if (event->reason == LOAD_SILENT) {
        json_object_set_new(members, "receipts", json_integer(machine->job.receipts));
    } else if (event->status != 0) {
        json_object_set_new(members, "error", json_integer(event->status));
    }
    words_of_event(&machine->controller, event, text);
    tell_trouble(&machine->teller, members, "%s", text);
}

/* A wild write crashes a program later, and elsewhere: once in a run it is said what finds it. */
static void advise_checks(struct machine *machine, const struct fault_body *fault)
{
    struct job *job = &machine->job;
    int status = fault_status(fault);

    if (!job->image.checked && !job->advised &&
        (status == STATUS_MEMORY || status == STATUS_UNDEFINED)) {
        job->advised = true;
        tell_trouble(&machine->teller, json_pack("{s:s, s:[]}", "kind", "advice", "nodes"),
                     "to find wrong uses of memory where they happen, link the program with "
                     "'ecube-cc --check'");
    }
}

static void tell_fault(struct machine *machine, uint32_t rank, const struct fault_body *fault)
{
    struct fault_code code = describe_code(machine);
    char text[FAULT_TEXT_MAX];
    json_t *members;

    if (fault->kind == FAULT_FINDING &&
        findings_add(&machine->findings, &code, rank, fault, uv_hrtime() / 1000)) {
        return;
    }
    members = fault_describe(&code, rank, fault, text);
    tell_trouble(&machine->teller, members, "%s", text);
    for (unsigned i = 0;
         machine->options.verbose && fault->kind != FAULT_CHECK && i < FAULT_REGISTER_LINES; i++) {
        fault_registers_text(rank, fault, i, text);
        tell_trouble(&machine->teller, tell_node_members("registers", rank), "%s", text);
    }
    if (fault->kind < FAULT_KERNEL) {
        advise_checks(machine, fault);
    }
}

/* A program's; of an error of a call it is told later what it follows from. */
static void take_fault(struct machine *machine, const struct controller_event *event)
{
    struct fault_code code = describe_code(machine);
    uint64_t now_us = uv_hrtime() / 1000;
    struct fault_call call;

    if (event->fault.kind == FAULT_ERROR) {
        fault_of_call(&code, event->rank, &event->fault, &call);
        errors_call(&machine->errors, event->rank, &call, event->fault.collectives, now_us);
    } else {
        tell_fault(machine, event->rank, &event->fault);
        errors_ended(&machine->errors, event->rank, false, event->fault.collectives, now_us);
    }
}

static void tell_kernel_fault(struct machine *machine, const struct controller_event *event)
{
    tell_fault(machine, event->rank, &event->fault);
    tell_trouble(&machine->teller, tell_node_members("kernel-stopped", event->rank),
                 "node %u (rank %u) is out of order: its kernel stopped", (unsigned)event->rank,
                 (unsigned)event->rank);
}

/* Two have entered different collectives, or one could not go on and all failed with it. */
static void tell_disagreement(struct machine *machine, const struct controller_event *event)
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
    words_of_event(&machine->controller, event, text);
    if (differ) {
        tell_trouble(&machine->teller, members, "%s", text);
        errors_disagreed(&machine->errors);
    } else {
        errors_failed(&machine->errors, event->rank, event->status, members, text,
                      uv_hrtime() / 1000);
    }
}

static void tell_no_plan(struct machine *machine, const struct controller_event *event)
{
    json_t *members = tell_node_members("no-plan", event->rank);
    char text[WORDS_MAX] = "";

    json_object_set_new(members, "error", json_integer(event->status));
    json_object_set_new(members, "operation", json_string(operation_name(event->plan.operation)));
    words_of_event(&machine->controller, event, text);
    tell_trouble(&machine->teller, members, "%s", text);
}

/* The k-th report of every node belongs to one line: the first one begins it. */
static void take_report(struct machine *machine, const struct controller_event *event)
{
    struct machine_node *node = &machine->nodes[event->rank];
    struct report_table *reports = &machine->job.reports;
    unsigned before = reports->count;

    if (!report_add(reports, node->report_count, &event->report)) {
        return;
    }
    node->report_count++;
    if (reports->count > before) {
        const struct report *report = &reports->reports[before];

        tell_event(&machine->teller, json_pack("{s:s, s:s, s:o}", "event", "report", "name",
                                               report->name, "bytes", report_count(report->bytes)));
    }
}

void announce_exits(struct machine *machine)
{
    unsigned more = 0;

    for (uint32_t rank = 0; rank < nodes_of(machine) && !machine->controller.broken; rank++) {
        int status = machine->nodes[rank].exit_untold;
        json_t *members;

        machine->nodes[rank].exit_untold = 0;
        if (status != 0 && machine->job.exits_told++ < EXITS_TOLD_MAX) {
            members = tell_node_members("exit-status", rank);
            json_object_set_new(members, "status", json_integer(status));
            tell_trouble(&machine->teller, members,
                         "node %u (rank %u): the program exited with status %d", (unsigned)rank,
                         (unsigned)rank, status);
        } else if (status != 0) {
            more++;
        }
    }
    tell_more(&machine->teller, "more-exits", more, "programs exited with a status other than 0");
}

/* Says that programs wait for each other: "rank 0 for 1 for 2 for 0". */
static void tell_circle(struct machine *machine)
{
    uint32_t ranks[MACHINE_NODES_MAX];
    uint32_t length = waits_circle(&machine->controller, ranks, MACHINE_NODES_MAX);
    json_t *circle = json_array();
    char text[WORDS_MAX];

    if (length == 0 || length > MACHINE_NODES_MAX) {
        json_decref(circle);
        return;
    }
    for (uint32_t i = 0; i < length; i++) {
        json_array_append_new(circle, json_integer(ranks[i]));
    }
    words_of_circle(ranks, length, text);
    tell_trouble(&machine->teller, json_pack("{s:s, s:o}", "kind", "circle", "nodes", circle), "%s",
                 text);
}

static void tell_wait(struct machine *machine, uint32_t rank)
{
    uint32_t peer = waits_for(&machine->controller, rank);
    json_t *members = tell_node_members("waits", rank);
    char doing[DOING_TEXT_MAX], text[DOING_TEXT_MAX];

    json_object_set_new(members, "for", peer == rank ? json_null() : json_integer(peer));
    json_object_set_new(members, "wait",
                        controller_answered(&machine->controller, rank)
                            ? describe_wait(machine, rank)
                            : json_null());
    describe_doing(machine, rank, doing);
    words_of_wait(rank, doing, text, sizeof text);
    tell_trouble(&machine->teller, members, "%s", text);
}

/* What each program that runs does; when nothing moves (stands), also who waits in a circle. */
static void tell_waits(struct machine *machine, bool stands)
{
    unsigned count = 0;

    for (uint32_t rank = 0; rank < nodes_of(machine); rank++) {
        if (machine->nodes[rank].running && count++ < WAITS_TOLD_MAX) {
            tell_wait(machine, rank);
        }
    }
    tell_more(&machine->teller, "more-waits", count > WAITS_TOLD_MAX ? count - WAITS_TOLD_MAX : 0,
              "nodes that still run");
    if (stands) {
        tell_circle(machine);
    }
}

/* In a boot that links are missing is not said: it may well be on its way. */
void announce_cut_short(struct machine *machine, enum controller_phase phase)
{
    bool boots = phase == PHASE_BOOT, interrupted = machine->cut_status != STATUS_TIMEOUT;
    uint32_t limit_ms = boots ? machine->options.timeout_ms : machine->job.timeout_ms;
    json_t *members =
        json_pack("{s:s, s:[], s:s, s:i}", "kind", interrupted ? "interrupted" : "timeout", "nodes",
                  "phase", words_of_phase(phase), "ended", (int)machine->job.ended);
    char progress[80];

    snprintf(progress, sizeof progress,
             boots                     ? "boot, %u of %u nodes have all links"
             : phase == PHASE_DOWNLOAD ? "download, %u of %u receipts"
                                       : "%u of %u programs have ended",
             boots                     ? machine->nodes_right
             : phase == PHASE_DOWNLOAD ? machine->job.receipts
                                       : machine->job.ended,
             nodes_of(machine));
    if (interrupted) {
        tell_trouble(&machine->teller, members, "interrupted: %s", progress);
    } else {
        json_object_set_new(members, "limit_ms", json_real(limit_ms));
        tell_trouble(&machine->teller, members,
                     "the run did not end within %.10g s: %s (--timeout sets it)",
                     (double)limit_ms / 1e3, progress);
    }
}

static void tell_end(struct machine *machine, const struct controller_event *event)
{
    json_t *members;
    char text[WORDS_MAX];

    switch (event->reason) {
    case ENDED_STANDS:
        members = json_pack("{s:s, s:[], s:i}", "kind", "no-progress", "nodes", "ended",
                            (int)machine->job.ended);
        words_of_event(&machine->controller, event, text);
        tell_trouble(&machine->teller, members, "%s", text);
        tell_waits(machine, true);
        break;
    case ENDED_ABORTED:
        members = tell_node_members("aborted", event->rank);
        json_object_set_new(members, "status", json_integer(event->status));
        words_of_event(&machine->controller, event, text);
        machine->nodes[event->rank].exit_untold = 0;
        tell_trouble(&machine->teller, members, "%s", text);
        break;
    case ENDED_TIMEOUT:
    case ENDED_TIMEOUT_STANDS:
        announce_cut_short(machine, PHASE_RUN);
        tell_waits(machine, event->reason == ENDED_TIMEOUT_STANDS);
        break;
    default: break;
    }
}

static void tell_death(struct machine *machine, const struct controller_event *event)
{
    const char *phase = words_of_phase(event->phase);
    char note[LAUNCHER_NOTE_MAX];

    if (machine->deaths_told == DEATHS_TOLD_MAX) {
        machine->deaths_untold++;
        return;
    }
    machine->deaths_told++;
    launcher_describe(&machine->launcher, event->rank, note);
    json_t *members = tell_node_members("node-died", event->rank);
    json_object_set_new(members, "phase", json_string(phase));
    tell_trouble(&machine->teller, members, "node %u (rank %u) died during %s: its QEMU %s",
                 (unsigned)event->rank, (unsigned)event->rank, phase, note);
}

/* The ends that are known; a host link has one. */
static json_t *link_members(const struct machine *machine, const struct controller_event *event)
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
    if (event->peer < nodes_of(machine)) {
        json_array_append_new(json_object_get(members, "nodes"), json_integer(event->peer));
    }
    return members;
}

/* Why a link has died: a node at one of its ends may have been halted for longer than the other end
 * waits. */
static const char *why_dead(const struct machine *machine, const struct controller_event *event,
                            char text[WORDS_MAX])
{
    uint32_t ends[2] = {event->rank, event->peer};
    char words[DEBUG_TEXT_MAX];

    for (unsigned i = 0; i < 2 && event->reason == DEAD_TIMEOUT; i++) {
        if (ends[i] < nodes_of(machine) && debuggers_halt(&machine->debuggers, ends[i])) {
            snprintf(text, WORDS_MAX, "node %u is %s, for longer than --patience",
                     (unsigned)ends[i], debuggers_text(&machine->debuggers, ends[i], words));
            return text;
        }
    }
    return words_of_dead(event->reason);
}

static void tell_dead_link(struct machine *machine, const struct controller_event *event)
{
    char text[WORDS_MAX], why[WORDS_MAX];

    words_of_dead_link(&machine->controller, event, why_dead(machine, event, why), text);
    tell_trouble(&machine->teller, link_members(machine, event), "%s", text);
}

static void tell_reset(struct machine *machine, const struct controller_event *event,
                       const char *outlook)
{
    const char *phase = words_of_phase(event->phase);
    char text[RESET_TEXT_MAX];

    if (debuggers_reset_text(&machine->debuggers, text)) {
        tell_trouble(&machine->teller,
                     json_pack("{s:s, s:o, s:s}", "kind", "node-reset", "nodes",
                               debuggers_reset_nodes(&machine->debuggers), "phase", phase),
                     "%s during %s: %s", text, phase, outlook);
    }
}

void announce_debugging_gone(struct machine *machine, const char *words)
{
    json_t *members = json_pack("{s:s, s:[]}", "kind", "debugging-gone", "nodes");

    if (machine->debug_ready) {
        tell_trouble(&machine->teller, members,
                     "no node can be debugged any more, and a halted one stays halted: the server "
                     "of debuggers (ecube-jtag) %s; the machine lives on",
                     words);
    } else {
        tell_trouble(&machine->teller, members,
                     "boot failed: the server of debuggers (ecube-jtag) %s", words);
    }
}

void announce_event(struct machine *machine, const struct controller_event *event)
{
    struct teller *teller = &machine->teller;

    switch (event->kind) {
    case EVENT_BOOT_PROGRESS: tell_progress(teller, "boot", event->done, nodes_of(machine)); break;
    case EVENT_BOOT_FAILED: tell_boot_failed(machine, event); break;
    case EVENT_RECEIPT: tell_progress(teller, "download", event->done, nodes_of(machine)); break;
    case EVENT_LOAD_WAITS: tell_load_waits(machine, event); break;
    case EVENT_LOAD_FAILED: tell_load_failed(machine, event); break;
    case EVENT_REPORT: take_report(machine, event); break;
    case EVENT_FAULT: take_fault(machine, event); break;
    case EVENT_KERNEL_FAULT: tell_kernel_fault(machine, event); break;
    case EVENT_DISAGREE: tell_disagreement(machine, event); break;
    case EVENT_NO_PLAN: tell_no_plan(machine, event); break;
    case EVENT_ENDED: tell_end(machine, event); break;
    case EVENT_NODE_DIED: tell_death(machine, event); break;
    case EVENT_LINK_DIED: tell_dead_link(machine, event); break;
    case EVENT_RESET:
        tell_reset(machine, event,
                   controller_reset_mends(&machine->controller)
                       ? "reset all ('reset run' in OpenOCD), and the machine boots anew"
                       : "the machine is broken");
        break;
    case EVENT_BROKEN:
        tell_more(teller, "more-nodes-died", machine->deaths_untold, "nodes died");
        machine->deaths_untold = 0;
        break;
    case EVENT_RESTART: tell_reset(machine, event, "the machine boots anew"); break;
    default: break;
    }
}
