#include "host/machine/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "controller/waits.h"
#include "host/machine/link_maker.h"
#include "host/machine/machine.h"
#include "host/console/report.h"
#include "host/command/verbs.h"
#include "include/ecube/abi.h"
#include "wire/frame.h"

enum {
    DEAD_TOLD_MAX = 6,
    PLACES_MAX = 16 /* programs whose place is looked up: each reads their debug information */
};

struct fault_code describe_code(const struct machine *machine)
{
    return (struct fault_code){.image = &machine->job.image,
                               .program = machine->job.path,
                               .kernel = machine->target.kernel,
                               .network = &machine->options.network};
}

/* What was measured; null: it was not. */
static json_t *measured_ms(uint64_t us)
{
    return us > 0 ? json_real((double)us / 1e3) : json_null();
}

/* The status of each node's program; null: it has not ended by itself. */
static json_t *describe_exits(const struct machine *machine)
{
    json_t *exits = json_array();

    for (uint32_t rank = 0; rank < machine->options.network.nodes; rank++) {
        const struct machine_node *node = &machine->nodes[rank];

        json_array_append_new(exits, machine->job_held && node->exited
                                         ? json_integer(node->exit_status)
                                         : json_null());
    }
    return exits;
}

/* The plans that nodes have been given since the boot. */
static json_t *describe_plans(const struct machine *machine)
{
    uint32_t count = machine->cache ? plan_cache_given(machine->cache, NULL, 0) : 0;
    struct plan_summary *summaries = count ? calloc(count, sizeof *summaries) : NULL;

    if (summaries) {
        plan_cache_given(machine->cache, summaries, count);
    }
    json_t *list = report_plans(summaries, summaries ? count : 0);
    free(summaries);
    return list;
}

json_t *describe_result(const struct machine *machine, int status)
{
    const struct machine_options *options = &machine->options;
    const struct job *job = &machine->job;
    uint32_t nodes = options->network.nodes;

    return json_pack("{s:s, s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "version",
                     ECUBE_VERSION, "network", options->network_name, "nodes", (int)nodes, "links",
                     link_maker_name(&machine->target), "profile",
                     report_profile(options->profile_name, &options->profile), "boot_ms",
                     measured_ms(machine->boot_us), "download",
                     machine->job_held ? job_describe_download(job, nodes) : json_null(), "run_ms",
                     measured_ms(job->run_us), "status", status, "exits", describe_exits(machine),
                     "reports", report_to_json(&job->reports), "plans", describe_plans(machine),
                     "troubles", json_copy(machine->teller.troubles));
}

json_t *describe_dead(const struct machine *machine)
{
    uint32_t nodes = machine->options.network.nodes;
    json_t *dead = json_array();

    for (uint32_t rank = 0; rank < nodes; rank++) {
        if (machine->nodes[rank].dead) {
            json_array_append_new(dead, json_sprintf("node %u", (unsigned)rank));
        }
    }
    for (unsigned i = 0; i < machine->controller.dead_link_count; i++) {
        const struct controller_dead_link *link = &machine->controller.dead_links[i];
        unsigned low = link->node < link->peer ? link->node : link->peer;

        if (!controller_reports_link(&machine->controller, link)) {
            continue;
        }
        json_array_append_new(
            dead,
            link->peer < nodes
                ? json_sprintf("link %u-%u", low, (unsigned)(link->node ^ link->peer) ^ low)
                : json_sprintf("%s link of node %u", link->peer == ID_HOST ? "host" : "unknown",
                               (unsigned)link->node));
    }
    return dead;
}

void describe_dead_text(const struct machine *machine, char text[DEAD_TEXT_MAX])
{
    json_t *dead = describe_dead(machine), *name;
    size_t i, count = json_array_size(dead), told = count < DEAD_TOLD_MAX ? count : DEAD_TOLD_MAX;
    int bytes = snprintf(text, DEAD_TEXT_MAX, "the machine is broken");

    json_array_foreach(dead, i, name)
    {
        if (i < told) {
            bytes += snprintf(text + bytes, DEAD_TEXT_MAX - (size_t)bytes, "%s%s",
                              i == 0          ? ", dead: "
                              : i + 1 < count ? ", "
                                              : " and ",
                              json_string_value(name));
        }
    }
    if (count > told) {
        snprintf(text + bytes, DEAD_TEXT_MAX - (size_t)bytes, " and %u more",
                 (unsigned)(count - told));
    }
    json_decref(dead);
}

static void describe_with(const struct machine *machine, uint32_t rank, bool with_place,
                          char text[DOING_TEXT_MAX])
{
    const struct machine_node *node = &machine->nodes[rank];
    char what[WORDS_MAX], requests[WORDS_MAX], place[PLACE_TEXT_MAX] = "", halted[DEBUG_TEXT_MAX];

    if (debuggers_halt(&machine->debuggers, rank)) {
        snprintf(text, DOING_TEXT_MAX, "is %s", debuggers_text(&machine->debuggers, rank, halted));
        return;
    }
    words_of_state(&machine->controller, rank, what);
    words_of_requests(&machine->controller, rank, requests);
    if (with_place && node->state.pc != 0 && !node->dead &&
        controller_answered(&machine->controller, rank)) {
        struct fault_code code = describe_code(machine);

        fault_place_text(&code, node->state.pc, node->state.lr, place);
    }
    snprintf(text, DOING_TEXT_MAX, "%s%s%s", what, place, requests);
}

void describe_doing(const struct machine *machine, uint32_t rank, char text[DOING_TEXT_MAX])
{
    describe_with(machine, rank, true, text);
}

static json_t *describe_counters(const uint32_t counts[STATE_COUNTERS])
{
    static const char *const names[STATE_COUNTERS] = {
        [COUNTER_FRAMES_SENT] = "frames_sent",
        [COUNTER_FRAMES_RECEIVED] = "frames_received",
        [COUNTER_FRAMES_RESENT] = "frames_resent",
        [COUNTER_FRAMES_DAMAGED] = "frames_damaged",
        [COUNTER_GAPS] = "gaps",
        [COUNTER_NAKS] = "naks",
        [COUNTER_PACKETS_FORWARDED] = "packets_forwarded",
        [COUNTER_CIRCUITS_FORWARDED] = "circuits_forwarded",
        [COUNTER_PACKETS_DROPPED] = "packets_dropped",
        [COUNTER_CIRCUITS_REFUSED] = "circuits_refused",
        [COUNTER_REQUESTS_DROPPED] = "requests_dropped",
        [COUNTER_COLLECTIVES] = "collectives",
        [COUNTER_PACKED] = "bytes_packed",
        [COUNTER_PROGRESS] = "progress",
    };
    json_t *counters = json_object();

    for (unsigned i = 0; i < STATE_COUNTERS; i++) {
        json_object_set_new(counters, names[i], json_integer(counts[i]));
    }
    return counters;
}

static json_t *number_unless_any(int32_t number)
{
    return number == ECUBE_ANY ? json_null() : json_integer(number);
}

json_t *describe_wait(const struct machine *machine, uint32_t rank)
{
    const struct controller *controller = &machine->controller;
    const struct state_body *state = &machine->nodes[rank].state;
    static const char *const kinds[] = {
        [WAIT_SEND] = "send",       [WAIT_RECEIVE] = "receive", [WAIT_COLLECTIVE] = "collective",
        [WAIT_CONSOLE] = "console", [WAIT_SLEEP] = "sleep",     [WAIT_READER] = "reader",
        [WAIT_PLAN] = "plan",       [WAIT_SEVERAL] = "any",     [WAIT_PROBE] = "probe"};
    static const char *const stages[] = {"open", "known", "moves"};
    json_t *wait;

    if (state->wait == WAIT_NOTHING || state->wait >= WAIT_KINDS) {
        return json_null();
    }
    wait = json_pack("{s:s}", "kind", kinds[state->wait]);
    if (state->wait == WAIT_SEND || state->wait == WAIT_RECEIVE) {
        json_object_set_new(wait, "peer", number_unless_any(state->peer));
        json_object_set_new(wait, "tag", number_unless_any(state->tag));
        json_object_set_new(wait, "bytes", json_integer(state->bytes));
        json_object_set_new(
            wait, "stage",
            json_string(waits_for_room(controller, &controller->nodes[rank].answer)
                            ? "full"
                            : stages[state->transfer <= TRANSFER_MOVES ? state->transfer : 0]));
    }
    if (state->wait == WAIT_PROBE) {
        json_object_set_new(wait, "peer", number_unless_any(state->peer));
        json_object_set_new(wait, "tag", number_unless_any(state->tag));
    }
    if (state->wait == WAIT_SEVERAL) {
        json_object_set_new(wait, "requests", json_integer(state->bytes));
    }
    if (state->flags & STATE_POLLS) {
        json_object_set_new(wait, "polls", json_true());
    }
    if (state->wait == WAIT_SLEEP) {
        json_object_set_new(wait, "left_us", json_real((double)state->left_us));
    }
    return wait;
}

static bool is_rooted(uint32_t operation)
{
    const struct operation *row = operation_of(operation);

    return row && row->rooted;
}

/* The collective that is under way at a node; null when none is. */
static json_t *describe_collective(const struct machine *machine, uint32_t rank)
{
    const struct state_body *state = &machine->nodes[rank].state;
    bool entry = state->stage == COLLECTIVE_ENTRY;

    if (state->stage == COLLECTIVE_NONE) {
        return json_null();
    }
    return json_pack(
        "{s:s, s:I, s:o, s:s, s:o, s:i, s:i}", "operation", operation_name(state->operation),
        "bytes", (json_int_t)state->collective_bytes, "root",
        is_rooted(state->operation) ? json_integer(state->root) : json_null(), "stage",
        entry ? "entry" : "steps", "peer",
        entry && state->partner == ID_HOST
            ? json_null()
            : json_integer(entry ? waits_missing(&machine->controller, rank) : state->partner),
        "step", (int)state->step, "steps", (int)state->steps);
}

/* What a node is said to be: a state of its program when that is known. */
static const char *program_text(const struct machine *machine, uint32_t rank)
{
    static const char *const programs[] = {"empty",   "loading", "loaded",
                                           "running", "exited",  "faulted"};
    const struct debugged_node *debugged = &machine->debuggers.nodes[rank];
    uint8_t program = machine->nodes[rank].state.program;

    return machine->nodes[rank].dead                           ? "dead"
           : debugged->blank                                   ? "blank"
           : debuggers_halt(&machine->debuggers, rank)         ? "halted"
           : debugged->was_reset && machine->controller.broken ? "reset"
           : !controller_answered(&machine->controller, rank)  ? "silent"
           : program > PROGRAM_FAULTED                         ? "unknown"
                                                               : programs[program];
}

static json_t *describe_node(const struct machine *machine, uint32_t rank, unsigned *places)
{
    const struct machine_node *node = &machine->nodes[rank];
    const struct state_body *state = &node->state;
    bool halted = debuggers_halt(&machine->debuggers, rank);
    bool was_reset = machine->debuggers.nodes[rank].was_reset && machine->controller.broken;
    bool known =
        !node->dead && !halted && !was_reset && controller_answered(&machine->controller, rank);
    bool runs = known && state->program == PROGRAM_RUNNING;
    char doing[DOING_TEXT_MAX] = "-";

    if (halted) {
        debuggers_text(&machine->debuggers, rank, doing);
    } else if (was_reset && !node->dead) {
        snprintf(doing, sizeof doing, "was reset through a debugger, the others were not");
    } else if (runs) {
        *places += state->pc != 0;
        describe_with(machine, rank, *places <= PLACES_MAX, doing);
    }
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:i, s:i, s:o, s:f, s:i, s:o}", "node", (int)rank,
                     "program", program_text(machine, rank), "doing", doing, "debugger",
                     debuggers_describe(&machine->debuggers, rank), "wait",
                     runs ? describe_wait(machine, rank) : json_null(), "requests",
                     runs ? state->requests : 0, "stored", runs ? state->stored : 0, "collective",
                     known ? describe_collective(machine, rank) : json_null(), "model_us",
                     (double)state->model_ns / 1e3, "status", state->status, "counters",
                     describe_counters(state->counters));
}

json_t *describe_nodes(const struct machine *machine)
{
    json_t *list = json_array();
    unsigned places = 0;

    for (uint32_t rank = 0; rank < machine->options.network.nodes; rank++) {
        json_array_append_new(list, describe_node(machine, rank, &places));
    }
    return list;
}
