/*
 * trace_phases.c - what is not on a link: phases, measurements, collectives and their steps,
 * faults; and a timeline's begin and end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "network/text.h"
#include "node/state.h"
#include "sim/core/fault.h"
#include "sim/observe/trace.h"
#include "sim/observe/trace_internal.h"
#include "sim/core/state.h"

static const char *const phases[] = {"boot", "download", "run"};
static const struct trace_track phase_track = {TRACE_PROCESS_MACHINE, TRACE_THREAD_PHASES};
static const struct trace_track measurement_track = {TRACE_PROCESS_MACHINE,
                                                     TRACE_THREAD_MEASUREMENTS};
static const struct trace_track fault_track = {TRACE_PROCESS_MACHINE, TRACE_THREAD_FAULTS};

/* Ends the first step that a node is in; the next one begins where it ends. */
static void close_step(const struct sim *sim, uint32_t rank)
{
    struct trace_node *node = &sim->trace->nodes[rank];
    struct trace_step step = node->open[0];
    char name[32];

    node->open_count--;
    memmove(node->open, node->open + 1, node->open_count * sizeof step);
    snprintf(name, sizeof name, "step %" PRIu32, step.number);
    struct trace_slice slice = {.track = trace_step_track(rank),
                                .name = name,
                                .category = "step",
                                .start_ns = node->step_begin_ns,
                                .end_ns = clock_max(node->step_begin_ns, step.end_ns)};
    trace_name_node(sim, rank);
    trace_file_slice(&sim->trace->file, &slice,
                     "\"step\":%" PRIu32 ",\"peer\":%" PRIu32 ",\"collective\":\"%s\"", step.number,
                     step.peer, operation_name(node->operation));
    node->step_begin_ns = slice.end_ns;
    node->step_next = step.number + 1;
    node->steps++;
}

/* The place of a step among a node's open ones; a new one is put there. */
static struct trace_step *find_step(struct trace_node *node, uint32_t number, uint32_t peer)
{
    unsigned i = 0;

    while (i < node->open_count && node->open[i].number < number) {
        i++;
    }
    struct trace_step *step = &node->open[i];
    if (i == node->open_count || step->number != number) {
        memmove(step + 1, step, (node->open_count - i) * sizeof *step);
        node->open_count++;
        *step = (struct trace_step){number, peer, 0};
    }
    return step;
}

void trace_note_step(const struct sim *sim, uint32_t rank, const struct trace_circuit *circuit,
                     uint64_t done_ns)
{
    struct trace_node *node = &sim->trace->nodes[rank];

    if (!node->active) {
        return; /* its program has ended, and its kernel walks on */
    }
    if (node->open_count == TRACE_STEPS_OPEN) {
        close_step(sim, rank);
    }
    if (circuit->step < node->step_next) {
        return;
    }
    struct trace_step *step =
        find_step(node, circuit->step, circuit->src == rank ? circuit->dst : circuit->src);
    step->end_ns = clock_max(step->end_ns, done_ns);
}

void trace_collective(const struct sim *sim, uint32_t rank, uint32_t operation, uint32_t bytes)
{
    if (!sim->trace) {
        return;
    }
    struct trace_node *node = &sim->trace->nodes[rank];
    node->active = true;
    node->operation = operation;
    node->bytes = bytes;
    node->steps = node->step_next = 0;
    node->open_count = 0;
    node->begin_ns = node->step_begin_ns = sim_node(sim, rank)->clock_ns;
}

static void close_collective(const struct sim *sim, uint32_t rank, uint64_t end_ns,
                             const char *status)
{
    struct trace_node *node = &sim->trace->nodes[rank];
    char name[48];

    if (!node->active) {
        return;
    }
    while (node->open_count) {
        close_step(sim, rank);
    }
    node->active = false;
    end_ns = clock_max(end_ns, clock_max(node->step_begin_ns, node->begin_ns));
    snprintf(name, sizeof name, "%s, %" PRIu32 " bytes", operation_name(node->operation),
             node->bytes);
    struct trace_slice slice = {.track = trace_program_track(rank),
                                .name = name,
                                .category = "collective",
                                .start_ns = node->begin_ns,
                                .end_ns = end_ns};
    trace_name_node(sim, rank);
    trace_file_slice(&sim->trace->file, &slice,
                     "\"bytes\":%" PRIu32 ",\"steps\":%" PRIu32 ",\"status\":\"%s\"", node->bytes,
                     node->steps, status);
    sim->trace->last_ns = clock_max(sim->trace->last_ns, end_ns);
}

void trace_resumed(const struct sim *sim, uint32_t rank, int32_t status)
{
    if (sim->trace) {
        close_collective(sim, rank, sim_node(sim, rank)->clock_ns, status_text(status));
    }
}

/* The phase that has been until now. Boot takes no model time, its clock begins with the download.
 */
static void close_phase(const struct sim *sim, uint64_t end_ns)
{
    struct trace *trace = sim->trace;
    struct trace_slice slice = {.track = phase_track,
                                .name = phases[trace->phase],
                                .category = "phase",
                                .start_ns = trace->phase_ns,
                                .end_ns = clock_max(end_ns, trace->phase_ns)};

    trace_file_slice(&trace->file, &slice, "\"wall_us\":%" PRIu64,
                     (sim->wall_ns - trace->phase_wall_ns) / 1000);
    trace->phase_ns = slice.end_ns;
    trace->phase_wall_ns = sim->wall_ns;
    trace->phase = sim->phase;
}

void trace_phase(const struct sim *sim)
{
    if (sim->trace) {
        close_phase(sim, sim->host.end_ns);
    }
}

void trace_measured(const struct sim *sim, unsigned line)
{
    const struct sim_line *measured = &sim->result.lines[line];
    char name[64];

    if (!sim->trace) {
        return;
    }
    snprintf(name, sizeof name, "%s, %" PRIu32 " bytes", sim_scenario_title(sim->options.scenario),
             measured->bytes);
    struct trace_slice slice = {.track = measurement_track,
                                .name = name,
                                .category = "measurement",
                                .start_ns = measured->start_ns,
                                .end_ns = measured->start_ns + measured->model_ns};
    trace_file_slice(&sim->trace->file, &slice, "\"bytes\":%" PRIu32 ",\"steps\":%" PRIu32,
                     measured->bytes, measured->steps);
}

void trace_fault(const struct sim *sim, const struct sim_fault *fault)
{
    const char *kind = sim_fault_name((enum sim_fault_kind)fault->kind);
    char name[48], a[16], b[16];

    if (!sim->trace) {
        return;
    }
    trace_actor_name(sim, fault->a, a);
    trace_actor_name(sim, fault->b, b);
    if (fault->kind == SIM_CUT || fault->kind == SIM_ONEWAY) {
        snprintf(name, sizeof name, "%s %s-%s", kind, a, b);
    } else {
        snprintf(name, sizeof name, "%s %s", kind, a);
    }
    struct trace_slice at = {
        .track = fault_track, .name = name, .category = "fault", .start_ns = sim->now_ns};
    trace_file_instant(&sim->trace->file, &at, 'g', "\"event\":%" PRIu64, sim_events(sim));
}

struct trace *trace_make(const struct sim *sim)
{
    const struct network *network = sim_network(sim);
    size_t ends = sim->count * (size_t)network->ports + 2 * network_host_links(network);
    struct trace *trace = calloc(1, sizeof *trace);
    char about[160 + NETWORK_NAME_MAX], name[NETWORK_NAME_MAX];

    if (!trace) {
        return NULL;
    }
    trace->link_count = ends;
    trace->links = calloc(ends, sizeof *trace->links);
    trace->nodes = calloc(sim->count, sizeof *trace->nodes);
    trace->named = calloc(sim->count + 1, sizeof *trace->named);
    if (!trace->links || !trace->nodes || !trace->named) {
        trace_free(trace);
        return NULL;
    }
    trace->phase_wall_ns = sim->wall_ns;
    network_name(network, name);
    snprintf(about, sizeof about,
             "{\"clock\":\"model time\",\"network\":\"%s\",\"scenario\":\"%s\","
             "\"seed\":\"%" PRIu64 "\"}",
             name, sim_scenario_name(sim->options.scenario), sim->options.seed);
    trace_file_begin(&trace->file, sim->options.trace_fd, about);
    trace_file_name_process(&trace->file, phase_track, "machine", 0);
    trace_file_name_thread(&trace->file, phase_track, "phases", 0);
    trace_file_name_thread(&trace->file, measurement_track, "measurements", 1);
    trace_file_name_thread(&trace->file, fault_track, "faults", 2);
    return trace;
}

static void free_circuits(struct trace_circuit *circuit)
{
    while (circuit) {
        struct trace_circuit *next = circuit->next;
        free(circuit);
        circuit = next;
    }
}

void trace_free(struct trace *trace)
{
    if (!trace) {
        return;
    }
    free_circuits(trace->free);
    for (size_t i = 0; trace->links && i < trace->link_count; i++) {
        free_circuits(trace->links[i].first);
    }
    free(trace->links);
    free(trace->nodes);
    free(trace->named);
    free(trace);
}

struct trace_result trace_end(const struct sim *sim)
{
    struct trace *trace = sim->trace;
    struct trace_result result = {0};

    for (uint32_t rank = 0; rank < sim->count; rank++) {
        close_collective(sim, rank, sim_node(sim, rank)->clock_ns, "not ended");
    }
    trace_note_unanswered(sim);
    close_phase(sim, clock_max(trace->last_ns, sim->host.end_ns));
    trace_file_end(&trace->file, result.digest);
    result.events = trace->file.events;
    result.bytes = trace->file.bytes;
    result.error = trace->file.error;
    return result;
}

void trace_abandon(const struct trace *trace)
{
    trace_file_abandon(&trace->file);
}
