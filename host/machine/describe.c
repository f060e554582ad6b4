/*
 * describe.c - what is known of a machine as JSON, and the few sentences that verbs share.
 *
 * A value that was not measured is null, never 0: a reader of results must not take it for a time.
 */
#include "host/machine/describe.h"

#include <stdio.h>
#include <string.h>

#include "host/job/doing.h"
#include "host/machine/link_maker.h"
#include "host/machine/machine.h"
#include "host/console/report.h"
#include "host/console/version.h"
#include "include/ecube/abi.h"
#include "wire/frame.h"

enum {
    DEAD_TOLD_MAX = 6,
    PLACES_MAX = 16 /* programs whose place is looked up: each reads their debug information */
};

/* What was measured; null: it was not. */
static json_t *measured_ms(uint64_t us)
{
    return us > 0 ? json_real((double)us / 1e3) : json_null();
}

json_t *describe_result(const struct machine *machine, int status)
{
    const struct machine_options *options = &machine->options;
    const struct job *job = &machine->job;
    uint32_t nodes = options->network.nodes;
    bool named = machine->job_held || machine->aside.active; /* its outputs, if they are wanted */

    return json_pack("{s:s, s:s, s:o, s:i, s:i, s:s, s:o, s:i, s:o, s:o, s:o, s:i, s:o, s:o, s:o, "
                     "s:o, s:o, s:o, s:O*}",
                     "version", ECUBE_VERSION, "network", options->network_name, "map",
                     map_describe(&options->network), "host_links", options->network.host_links,
                     "nodes", (int)nodes, "links", link_maker_name(&machine->target), "profile",
                     report_profile(options->profile_name, &options->profile), "paths",
                     options->paths, "boot_ms", measured_ms(machine->boot_us), "download",
                     machine->job_held ? job_describe_download(job, nodes) : json_null(), "run_ms",
                     measured_ms(job->run_us), "status", status, "exits",
                     programs_describe_exits(&machine->programs, machine->job_held), "reports",
                     report_to_json(&job->reports), "outputs",
                     named ? outputs_describe(&job->outputs) : json_null(), "trace",
                     named ? job_trace_describe(&job->trace) : json_null(), "plans",
                     programs_describe_plans(machine->controller.config.cache), "troubles",
                     json_copy(machine->teller.troubles), "traffic", named ? job->traffic : NULL);
}

json_t *describe_dead(const struct machine *machine)
{
    uint32_t nodes = machine->options.network.nodes;
    json_t *dead = json_array();

    for (uint32_t rank = 0; rank < nodes; rank++) {
        if (machine->programs.nodes[rank].dead) {
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

/* What a node is said to be: a state of its program when that is known. */
static const char *program_text(const struct machine *machine, uint32_t rank)
{
    static const char *const programs[] = {"empty",   "loading", "loaded",
                                           "running", "exited",  "faulted"};
    const struct debugged_node *debugged = &machine->debuggers.nodes[rank];
    uint8_t program = machine->programs.nodes[rank].state.program;

    return machine->programs.nodes[rank].dead                  ? "dead"
           : debugged->blank                                   ? "blank"
           : debuggers_halt(&machine->debuggers, rank)         ? "halted"
           : debugged->was_reset && machine->controller.broken ? "reset"
           : !controller_answered(&machine->controller, rank)  ? "silent"
           : program > PROGRAM_FAULTED                         ? "unknown"
                                                               : programs[program];
}

static json_t *describe_node(const struct machine *machine, uint32_t rank, unsigned *places)
{
    const struct program_node *node = &machine->programs.nodes[rank];
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
        doing_text(&machine->programs, rank, *places <= PLACES_MAX, doing);
    }
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:i, s:i, s:o, s:f, s:i, s:o}", "node", (int)rank,
                     "program", program_text(machine, rank), "doing", doing, "debugger",
                     debuggers_describe(&machine->debuggers, rank), "wait",
                     runs ? doing_wait(&machine->programs, rank) : json_null(), "requests",
                     runs ? state->requests : 0, "stored", runs ? state->stored : 0, "collective",
                     known ? doing_collective(&machine->programs, rank) : json_null(), "model_us",
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
