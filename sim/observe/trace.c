#include "sim/observe/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "node/node.h"
#include "node/state.h"
#include "router/recorder.h"
#include "sim/core/fault.h"
#include "sim/core/state.h"

/* Of a node: what it may note in a step, or in a call of its program. */
enum { ROOM = 512 };

struct trace {
    struct timeline *timeline;
    uint8_t *memory; /* for the records of each node, and of the host */
    struct recorder *host;
    size_t actor_bytes;
    uint64_t phase_ns, phase_wall_ns; /* at which the present phase began */
    uint8_t phase;
};

static const char *const phases[] = {"boot", "download", "run"};

struct trace *trace_make(const struct sim *sim)
{
    struct trace *trace = calloc(1, sizeof *trace);
    char about[160];

    if (!trace) {
        return NULL;
    }
    trace->actor_bytes = (size_t)recorder_bytes(ROOM);
    trace->memory = calloc(sim->count + 1, trace->actor_bytes);
    trace->phase_wall_ns = sim->wall_ns;
    snprintf(about, sizeof about, ",\"scenario\":\"%s\",\"seed\":\"%" PRIu64 "\"",
             sim_scenario_name(sim->options.scenario), sim->options.seed);
    trace->timeline =
        timeline_make(sim->options.trace_fd, sim_network(sim), &sim->options.profile, about);
    if (!trace->memory || !trace->timeline) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}

void trace_free(struct trace *trace)
{
    if (trace) {
        timeline_free(trace->timeline);
        free(trace->memory);
        free(trace);
    }
}

void trace_place(const struct sim *sim, uint32_t rank, struct node_config *config)
{
    if (sim->trace) {
        config->records = sim->trace->memory + rank * sim->trace->actor_bytes;
        config->records_bytes = (uint32_t)sim->trace->actor_bytes;
    }
}

void trace_begin_node(const struct sim *sim, uint32_t rank)
{
    if (sim->trace) {
        node_record(sim_node(sim, rank), ROOM);
    }
}

void trace_begin_host(struct sim *sim)
{
    struct trace *trace = sim->trace;

    if (trace) {
        struct router *router = &sim->host.controller.router;
        trace->host = recorder_begin(trace->memory + sim->count * trace->actor_bytes,
                                     trace->actor_bytes, ROOM, 0, router);
    }
}

/* The ring is empty again, and its first places are used again: many nodes take little memory. */
static void take(const struct sim *sim, uint32_t actor, struct recorder *recorder)
{
    for (uint64_t i = recorder_oldest(recorder); i < recorder->written; i++) {
        timeline_record(sim->trace->timeline, actor, recorder_at(recorder, i));
    }
    recorder->written = 0;
}

void trace_node(const struct sim *sim, uint32_t rank)
{
    struct recorder *recorder = sim->trace ? sim_node(sim, rank)->recording.recorder : NULL;

    if (recorder && recorder->written > 0) {
        take(sim, rank, recorder);
    }
}

void trace_host(struct sim *sim)
{
    struct recorder *recorder = sim->trace ? sim->trace->host : NULL;

    if (recorder && recorder->written > 0) {
        take(sim, sim->count, recorder);
    }
}

/* The phase that has been until now. Boot takes no model time, its clock begins with the download.
 */
static void close_phase(const struct sim *sim, uint64_t end_ns)
{
    struct trace *trace = sim->trace;

    timeline_phase(trace->timeline, phases[trace->phase], trace->phase_ns, end_ns,
                   (sim->wall_ns - trace->phase_wall_ns) / 1000);
    trace->phase_ns = clock_max(end_ns, trace->phase_ns);
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
    timeline_measurement(sim->trace->timeline, name, measured->start_ns,
                         measured->start_ns + measured->model_ns, measured->bytes, measured->steps);
}

static const char *actor_name(const struct sim *sim, uint32_t actor, char text[16])
{
    if (actor >= sim->count) {
        snprintf(text, 16, "host");
    } else {
        snprintf(text, 16, "%" PRIu32, actor);
    }
    return text;
}

void trace_fault(const struct sim *sim, const struct sim_fault *fault)
{
    const char *kind = sim_fault_name((enum sim_fault_kind)fault->kind);
    char name[48], a[16], b[16];

    if (!sim->trace) {
        return;
    }
    actor_name(sim, fault->a, a);
    actor_name(sim, fault->b, b);
    if (fault->kind == SIM_CUT || fault->kind == SIM_ONEWAY) {
        snprintf(name, sizeof name, "%s %s-%s", kind, a, b);
    } else {
        snprintf(name, sizeof name, "%s %s", kind, a);
    }
    timeline_fault(sim->trace->timeline, name, sim->now_ns, "\"event\":%" PRIu64, sim_events(sim));
}

void trace_damage(const struct sim *sim, const char *what)
{
    const struct sim_end *end = sim->partitions[0].filling.end;

    if (sim->trace) {
        timeline_link_fault(sim->trace->timeline, end->actor, end->port, what, sim->now_ns,
                            "\"frame\":%" PRIu64, sim->partitions[0].link_events);
    }
}

/* A dead node waits for nothing. */
void trace_close(const struct sim *sim)
{
    for (uint32_t rank = 0; sim->trace && rank < sim->count; rank++) {
        if (!sim->actors[rank].dead) {
            node_close_records(sim_node(sim, rank));
        }
        trace_node(sim, rank);
    }
}

struct trace_result trace_end(struct sim *sim)
{
    struct trace *trace = sim->trace;

    trace_close(sim);
    if (sim->host.controller.router.recorder) {
        recorder_close(&sim->host.controller.router);
    }
    trace_host(sim);
    close_phase(sim, clock_max(timeline_last_ns(trace->timeline), sim->host.end_ns));
    return timeline_end(trace->timeline);
}

void trace_abandon(const struct trace *trace)
{
    timeline_abandon(trace->timeline);
}
