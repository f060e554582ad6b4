#include "host/job/programs.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "host/console/message.h"
#include "host/job/troubles.h"
#include "planner/planner.h"

static uint32_t nodes_of(const struct programs *programs)
{
    return programs->network->nodes;
}

bool programs_init(struct programs *programs)
{
    programs->nodes = calloc(nodes_of(programs), sizeof *programs->nodes);
    programs->symbols = calloc(JOB_PROGRAMS_MAX, sizeof *programs->symbols);
    return programs->nodes && programs->symbols &&
           errors_init(&programs->errors, programs->teller, nodes_of(programs));
}

static void close_symbols(struct programs *programs)
{
    for (unsigned i = 0; programs->symbols && i < JOB_PROGRAMS_MAX; i++) {
        fault_symbols_close(&programs->symbols[i]);
    }
}

void programs_free(struct programs *programs)
{
    for (uint32_t rank = 0; programs->nodes && rank < nodes_of(programs); rank++) {
        text_lines_begin(&programs->nodes[rank].text, 0, rank,
                         network_rank(programs->network, rank));
    }
    findings_forget(&programs->findings);
    errors_free(&programs->errors);
    close_symbols(programs);
    free(programs->symbols);
    free(programs->nodes);
    programs->symbols = NULL;
    programs->nodes = NULL;
}

struct fault_code programs_code(const struct programs *programs, uint32_t rank)
{
    static const struct image none = {0};
    const struct job *job = programs->job;
    struct fault_code code = {.image = &none,
                              .kernel = programs->kernel,
                              .network = programs->network,
                              .calls = programs->owner.calls,
                              .context = programs->owner.context};

    if (job->image_count > 0) { /* else nothing has been loaded */
        unsigned program = job_program_of(job, rank);
        struct load_program memory = job_memory_of(job, rank);

        code.image = &job->images[program].image;
        code.program = job->images[program].path;
        code.symbols = &programs->symbols[program];
        code.data_start = memory.data_start;
        code.data_end = memory.data_end;
    }
    return code;
}

void programs_load(struct programs *programs)
{
    close_symbols(programs);
    for (uint32_t rank = 0; rank < nodes_of(programs); rank++) {
        programs->nodes[rank].receipted = programs->nodes[rank].exited = false;
    }
}

void programs_begin(struct programs *programs, uint32_t job_number)
{
    findings_begin(&programs->findings, programs->teller, nodes_of(programs));
    errors_begin(&programs->errors);
    programs->faults_told = 0;
    for (uint32_t rank = 0; rank < nodes_of(programs); rank++) {
        struct program_node *node = &programs->nodes[rank];

        node->running = true;
        node->exit_untold = 0;
        node->report_count = 0;
        text_lines_begin(&node->text, job_number, rank, network_rank(programs->network, rank));
    }
    tell_progress(programs->teller, "run", 0, nodes_of(programs));
}

void programs_end(struct programs *programs)
{
    for (uint32_t rank = 0; rank < nodes_of(programs); rank++) {
        text_lines_end(&programs->nodes[rank].text, programs->teller);
        programs->nodes[rank].running = false;
    }
    troubles_tell_exits(programs);
}

void programs_forget(struct programs *programs)
{
    for (uint32_t rank = 0; rank < nodes_of(programs); rank++) {
        struct program_node *node = &programs->nodes[rank];

        text_lines_begin(&node->text, 0, rank, network_rank(programs->network, rank));
        *node = (struct program_node){.dead = node->dead};
    }
}

/* An error of a call counts when it is told (errors.h). */
static bool is_error(const struct controller_event *event)
{
    return event->kind == EVENT_FAULT && event->fault.kind == FAULT_ERROR;
}

static void end_program(struct programs *programs, const struct controller_event *event, int status)
{
    struct program_node *node = &programs->nodes[event->rank];
    struct job *job = programs->job;

    text_lines_end(&node->text, programs->teller);
    node->running = false;
    node->exited = true;
    node->exit_status = status;
    job->status = status > job->status && !is_error(event) ? status : job->status;
    job->ended++;
    tell_progress(programs->teller, "run", job->ended, nodes_of(programs));
}

static void take_exit(struct programs *programs, const struct controller_event *event,
                      uint64_t now_us)
{
    int status = event->status & 0xff;

    programs->nodes[event->rank].exit_untold = status;
    errors_ended(&programs->errors, network_rank(programs->network, event->rank),
                 status == 0 && event->reason != ENDED_ABORTED, event->collectives, now_us);
    end_program(programs, event, status);
}

static void take_fault(struct programs *programs, const struct controller_event *event)
{
    const struct fault_code code = programs_code(programs, event->rank);

    end_program(programs, event, fault_status(&code, &event->fault));
}

/* What a node could not do its programs hear, and may have meant. */
static void take_disagreement(struct programs *programs, const struct controller_event *event)
{
    if (event->status == E_MISMATCH && programs->job->status <= 1) {
        programs->job->status = 1;
    }
}

/* Before its end is told: what follows from that is not told besides. */
static void end_errors(struct programs *programs, const struct controller_event *event)
{
    bool by_itself = event->kind == EVENT_ENDED && event->reason != ENDED_ABORTED &&
                     event->reason != ENDED_STOPPED;
    bool broken = event->kind == EVENT_BROKEN; /* which is the status, and is told */
    int status =
        errors_end(&programs->errors, !by_itself, broken ? STATUS_MACHINE : programs->job->status);

    if (by_itself) {
        programs->job->status = status;
    }
}

void programs_take(struct programs *programs, const struct controller_event *event, uint64_t now_us)
{
    struct program_node *node = &programs->nodes[event->rank];
    struct job *job = programs->job;

    if (event->kind == EVENT_ENDED || event->kind == EVENT_BROKEN) {
        findings_tell(&programs->findings);
        end_errors(programs, event);
    }
    troubles_tell_event(programs, event, now_us);
    switch (event->kind) {
    case EVENT_RECEIPT:
        node->receipted = true;
        job->receipts = event->done;
        break;
    case EVENT_LOADED:
        job->model_ns = event->model_ns > event->base_ns ? event->model_ns - event->base_ns : 0;
        job->repair_ns = event->repair_ns;
        job->repaired = event->repaired;
        break;
    case EVENT_TEXT:
        text_lines_add(&node->text, programs->teller, (uint8_t)event->status, event->body,
                       event->bytes);
        break;
    case EVENT_EXIT: take_exit(programs, event, now_us); break;
    case EVENT_FAULT:
        job->crashed = true;
        take_fault(programs, event);
        break;
    case EVENT_ENDED: job->whole = event->reason == ENDED_BY_ITSELF && !job->crashed; break;
    case EVENT_DISAGREE: take_disagreement(programs, event); break;
    case EVENT_STATE: node->state = event->state; break;
    default: break;
    }
}

void programs_pass(struct programs *programs, uint64_t now_us)
{
    findings_pass(&programs->findings, now_us);
    errors_pass(&programs->errors, now_us);
}

int programs_status(const struct programs *programs, const struct controller_event *event, int cut)
{
    int status = programs->job->status;

    switch (event->reason) {
    case ENDED_STANDS: return status ? status : STATUS_TIMEOUT;
    case ENDED_TIMEOUT:
    case ENDED_TIMEOUT_STANDS: return cut;
    case ENDED_ABORTED: return controller_abort_status(event->status);
    default: return status;
    }
}

json_t *programs_describe_exits(const struct programs *programs, bool held)
{
    json_t *exits = json_array();

    for (uint32_t rank = 0; rank < nodes_of(programs); rank++) {
        const struct program_node *node = &programs->nodes[rank];

        json_array_append_new(exits,
                              held && node->exited ? json_integer(node->exit_status) : json_null());
    }
    return exits;
}

json_t *programs_describe_plans(struct plan_cache *cache)
{
    uint32_t count = cache ? plan_cache_given(cache, NULL, 0) : 0;
    struct plan_summary *summaries = count ? calloc(count, sizeof *summaries) : NULL;

    if (summaries) {
        plan_cache_given(cache, summaries, count);
    }
    json_t *list = report_plans(summaries, summaries ? count : 0);
    free(summaries);
    return list;
}

struct plan_cache *programs_make_cache(const struct network *network, const struct profile *profile,
                                       struct plan *const *plans, unsigned plan_count,
                                       const char *const algorithms[OPERATIONS])
{
    struct plan_cache *cache = plan_cache_make(network, profile);

    for (unsigned i = 0; cache && i < plan_count; i++) {
        plan_cache_put(cache, plans[i]);
    }
    for (uint32_t i = 0; cache && i < OPERATIONS; i++) {
        plan_cache_force(cache, i, algorithms[i]);
    }
    return cache;
}
