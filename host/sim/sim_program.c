#include "host/sim/sim_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "host/command/algorithm.h"
#include "host/console/sink.h"
#include "host/command/standard_input.h"
#include "host/job/troubles.h"
#include "host/sim/sim.h"
#include "host/sim/watch.h"
#include "planner/planner.h"
#include "wire/gather.h"

enum {
    WINDOWS_MAX = 32000,       /* of 4 GiB, of the 2^15 that a process on x86-64 has */
    MAPS_PER_RANK = 7,         /* with the one that keeps what lies between */
    MAPS_OWN = 1000,           /* that the tool itself may need */
    TOUCHED_BYTES = 64 * 1024, /* of stack, heap and page tables of a rank */
    SETTLE_MS = 500,           /* when time is over, until programs are asked what they do, */
    ANSWER_MS = 10000          /* and until nobody waits for that any more */
};

static const uint64_t window_bytes = UINT64_C(1) << 32;
static const uint64_t quiet_ns = UINT64_C(1000000000); /* after which all are where they wait */

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* What is told ------------------------------------------------------------------------------- */

/* Progress is the simulation's own (sim.c). */
static void emit(void *context, json_t *event)
{
    struct sim_program *program = context;
    const char *kind = json_string_value(json_object_get(event, "event"));

    if (kind && strcmp(kind, "progress") != 0) {
        view_event(&program->view, event);
    }
    json_decref(event);
}

/* Simulated time stands still while a reader takes his. */
static void print(void *context, const struct line *line)
{
    struct sim_program *program = context;
    struct line_receipt receipt;

    view_line(&program->view, line);
    sink_wait(program->view.sink, SINK_BACKLOG_MAX, UINT64_MAX);
    while (sink_take_receipt(program->view.sink, &receipt)) {
    }
    text_lines_written(&program->programs.nodes[line->receipt.node].text, line->receipt.bytes);
}

/* What the simulation knows, and the controller does not tell. */
static bool is_own(enum sim_trouble_kind kind, bool ended)
{
    switch (kind) {
    case SIM_TROUBLE_NODE_DIED:
    case SIM_TROUBLE_NODE_UNREACHABLE:
    case SIM_TROUBLE_HOST_DIED:
    case SIM_TROUBLE_NO_MEMORY: return true;
    case SIM_TROUBLE_NO_PROGRESS:
    case SIM_TROUBLE_WAITS: return !ended; /* else the controller has */
    default: return false;
    }
}

static void tell_own_troubles(struct sim_program *program, const struct sim_result *result)
{
    unsigned count =
        result->trouble_count < SIM_TROUBLES_MAX ? result->trouble_count : SIM_TROUBLES_MAX;

    for (; program->troubles_told < count; program->troubles_told++) {
        unsigned i = program->troubles_told;

        if (is_own(result->abouts[i].kind, program->over)) {
            tell_trouble(&program->teller, sim_describe_about(&result->abouts[i]), "%s",
                         result->troubles[i]);
        }
    }
}

static void tell_deaths(struct sim_program *program)
{
    struct sim_result *result = malloc(sizeof *result);

    if (result) {
        sim_result(program->sim, result);
        tell_own_troubles(program, result);
        free(result);
    }
}

/* Events ------------------------------------------------------------------------------------- */

static void begin_run(struct sim_program *program)
{
    struct job *job = &program->job;

    job->ended = 0;
    job->status = 0;
    job->crashed = job->whole = false;
    programs_begin(&program->programs, 0);
}

/* A job that was stopped is loaded again (--fail E:cancel). */
static void end_run(struct sim_program *program, const struct controller_event *event)
{
    programs_end(&program->programs);
    if (event->kind == EVENT_BROKEN) {
        program->status = STATUS_MACHINE;
        program->over = true;
    } else if (event->reason != ENDED_STOPPED) {
        program->status = programs_status(&program->programs, event, watch_status());
        program->over = true;
    }
}

static void take(void *context, const struct controller *controller,
                 const struct controller_event *event)
{
    struct sim_program *program = context;
    uint32_t taken;

    program->programs.controller = controller;
    if (event->kind == EVENT_GATHER_FAILED ||
        (program->over && event->kind == EVENT_LINK_DIED)) { /* of what its programs have left */
        troubles_tell_event(&program->programs, event, 0);
    }
    if (program->over) {
        return;
    }
    if (event->kind == EVENT_LINK_DIED || event->kind == EVENT_BROKEN) {
        tell_deaths(program);
    }
    programs_take(&program->programs, event, 0);
    switch (event->kind) {
    case EVENT_BOOT_FAILED: troubles_tell_boot(&program->programs, event, "boot failed"); break;
    case EVENT_LOADED: begin_run(program); break;
    case EVENT_TEXT: text_lines_due(&program->programs.nodes[event->rank].text, &taken); break;
    case EVENT_ENDED:
    case EVENT_BROKEN: end_run(program, event); break;
    default: break;
    }
}

static unsigned find_calls(void *context, uint32_t rank, uint32_t *addresses, unsigned room)
{
    const struct sim_program *program = context;

    return native_calls(program->sim, rank, addresses, room);
}

/* Before it begins --------------------------------------------------------------------------- */

/* How many mappings the system gives a process; as many as one likes when it does not say. */
static uint64_t maps_max(void)
{
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    unsigned long long count = UINT64_MAX;

    if (file) {
        if (fscanf(file, "%llu", &count) != 1) {
            count = UINT64_MAX;
        }
        fclose(file);
    }
    return count;
}

/* Whether the system gives so many ranks their addresses. */
static int check_addresses(const struct sim_arguments *arguments, struct message *message)
{
    unsigned nodes = arguments->network.nodes;
    uint64_t maps = nodes * (uint64_t)MAPS_PER_RANK + MAPS_OWN, most = maps_max();
    struct rlimit limit;

    if (nodes > WINDOWS_MAX) {
        return message_set(message,
                           "%s has %u nodes: a program of your own is simulated on up to %d, for "
                           "each takes 4 GiB of addresses",
                           arguments->network_name, nodes, WINDOWS_MAX);
    }
    if (maps > most) {
        return message_set(message,
                           "%s needs %" PRIu64 " memory mappings, and the system gives %" PRIu64
                           ": 'sysctl vm.max_map_count=%" PRIu64 "' as root changes that",
                           arguments->network_name, maps, most, maps);
    }
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur / window_bytes <= nodes) {
        return message_set(message,
                           "%s needs %u GiB of addresses, and the process may have %" PRIu64
                           ": 'ulimit -v unlimited' changes that",
                           arguments->network_name, 4 * (nodes + 1),
                           (uint64_t)limit.rlim_cur >> 30);
    }
    return 0;
}

static int make_job(struct sim_program *program, const struct sim_arguments *arguments,
                    struct message *message)
{
    const struct sim_options *options = &arguments->options;
    struct job_request *request = &program->request;

    *request = (struct job_request){.programs = {{.path = arguments->program}},
                                    .program_count = 1,
                                    .arguments = arguments->words,
                                    .argument_count = arguments->word_count,
                                    .data_count = arguments->data.count,
                                    .explain = arguments->explain,
                                    .x = arguments->x,
                                    .timeout_ms = arguments->timeout_ms,
                                    .outputs = arguments->outputs};
    memcpy(request->data, arguments->data.list, sizeof request->data);
    if (outputs_check(&request->outputs, message) != 0 ||
        options_find_strategy(arguments->strategy ? arguments->strategy : "decremental",
                              &request->strategy, message) != 0) {
        return -1;
    }
    if (job_plan(&program->job, &program->file.image, request, &options->network, &options->profile,
                 message) != 0) {
        return -1;
    }
    if (job_fill(&program->job, options->network.nodes, NULL, message) != 0) {
        job_free(&program->job);
        return -1;
    }
    return 0;
}

static void set_options(struct sim_program *program, struct sim_options *options)
{
    program->file.program.download = job_load(&program->job);
    options->scenario = SIM_NATIVE;
    options->contents = SIM_CHECKED;
    options->image_bytes = program->job.images[0].image.bytes;
    options->native = &program->file.program;
    options->cache = program->cache;
    options->outputs = outputs_wanted(&program->job.outputs);
    options->listener = (struct sim_listener){.event = take, .context = program};
}

int sim_program_make(struct sim_program *program, struct sim_arguments *arguments,
                     struct message *message)
{
    const char *algorithms[OPERATIONS];

    *program = (struct sim_program){.arguments = arguments, .file = {.program = {.file = -1}}};
    if (check_addresses(arguments, message) != 0 ||
        algorithm_find(&arguments->network, arguments->options.algorithm, algorithms, message) !=
            0 ||
        native_file_read(&program->file, arguments->program, message) != 0) {
        return -1;
    }
    if ((arguments->check && !program->file.image.checked &&
         options_reject_unchecked(&program->file.image, arguments->program, message) != 0) ||
        standard_input_add(&arguments->data, message) != 0 ||
        make_job(program, arguments, message) != 0) {
        native_file_free(&program->file);
        return -1;
    }
    program->cache =
        programs_make_cache(&arguments->network, &arguments->options.profile,
                            arguments->written.plans, arguments->written.count, algorithms);
    program->teller =
        (struct teller){.context = program, .emit = emit, .print = print, .troubles = json_array()};
    program->programs = (struct programs){.owner = {.context = program, .calls = find_calls},
                                          .network = &arguments->network,
                                          .teller = &program->teller,
                                          .job = &program->job,
                                          .verbose = arguments->verbose};
    if (!program->cache || !programs_init(&program->programs)) {
        sim_program_free(program);
        return message_set(message, "out of memory");
    }
    set_options(program, &arguments->options);
    return 0;
}

void sim_program_free(struct sim_program *program)
{
    programs_free(&program->programs);
    plan_cache_free(program->cache);
    job_free(&program->job);
    native_file_free(&program->file);
    json_decref(program->teller.troubles);
    *program = (struct sim_program){.file = {.program = {.file = -1}}};
}

/* Each rank has its data in memory of its own. */
static uint64_t data_need(const struct sim_program *program, uint32_t nodes)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < program->job.file_count; i++) {
        const struct data_file *file = &program->job.files[i];

        bytes += file->starts ? file->bytes : (uint64_t)file->window * nodes;
    }
    return bytes;
}

int sim_program_check_memory(struct sim_program *program, struct message *message)
{
    const struct sim_arguments *arguments = program->arguments;
    uint64_t available = sim_available_bytes(arguments),
             most = arguments->memory_mb * UINT64_C(1000000);
    /* All have the image as it was downloaded, until they start. */
    uint64_t need =
        sim_need(&arguments->options, SIM_CHECKED) +
        arguments->network.nodes * ((uint64_t)program->job.images[0].image.bytes + TOUCHED_BYTES) +
        data_need(program, arguments->network.nodes);

    program->file.program.memory_max = most ? most : available - available / 8;
    return need <= program->file.program.memory_max
               ? 0
               : message_set(message,
                             "%s needs %.2f GB for this program, and %.2f GB %s: simulate fewer "
                             "nodes",
                             arguments->network_name, (double)need / 1e9,
                             (double)(most ? most : available) / 1e9,
                             most ? "is what --memory says" : "are available");
}

/* Begin and end ------------------------------------------------------------------------------ */

void sim_program_begin(struct sim_program *program, struct sim *sim)
{
    program->sim = sim;
    programs_load(&program->programs);
    job_tell(&program->job, &program->teller);
}

/* Lets who was held up by a program that computed come to where he waits. */
static void settle(struct sim *sim)
{
    uint64_t end_ms = now_ms() + SETTLE_MS;

    while (sim_quiet_ns(sim) < quiet_ns && now_ms() < end_ms && sim_advance(sim, 1)) {
    }
}

void sim_program_time_out(struct sim_program *program)
{
    uint64_t end_ms = now_ms() + ANSWER_MS;
    bool asked;

    program->programs.interrupted = watch_signal() != 0;
    if (sim_phase(program->sim) != SIM_RUN) {
        return;
    }
    settle(program->sim);
    asked = sim_time_out(program->sim);
    while (asked && !program->over && now_ms() < end_ms && sim_advance(program->sim, 1)) {
    }
}

/* Of a run that was cut short and could not say so itself: how far it has come. */
static void tell_cut(struct sim_program *program, const struct sim_result *result)
{
    static const enum controller_phase phases[] = {
        [SIM_BOOT] = PHASE_BOOT, [SIM_DOWNLOAD] = PHASE_DOWNLOAD, [SIM_RUN] = PHASE_RUN};
    struct troubles_cut cut = {.phase = phases[sim_phase(program->sim)],
                               .interrupted = program->programs.interrupted,
                               .limit_ms = program->arguments->timeout_ms,
                               .done = result->receipts};
    uint32_t total;

    if (cut.phase == PHASE_BOOT) {
        sim_progress(program->sim, &cut.done, &total);
    }
    troubles_tell_cut(&program->programs, &cut);
}

static int status_of(const struct sim_program *program, const struct sim_result *result, bool cut)
{
    if (cut) {
        return watch_status();
    }
    if (program->over && (result->verdict != SIM_ERROR || program->status != 0)) {
        return program->status;
    }
    switch (result->verdict) {
    case SIM_GOOD: return program->status;
    case SIM_STUCK: return STATUS_TIMEOUT;
    case SIM_NO_MEMORY: return STATUS_BAD_INPUT;
    case SIM_STOPPED: return result->trouble_count ? STATUS_MACHINE : 0;
    default: return STATUS_MACHINE;
    }
}

/* What they have left, when it was wanted; returns the exit status that it makes. */
static int write_outputs(struct sim_program *program)
{
    struct outputs *outputs = &program->job.outputs;
    bool started = sim_phase(program->sim) == SIM_RUN;
    const atomic_bool *stop = watch_over() ? NULL : watch_flag();
    struct sim_outputs left = sim_outputs(program->sim);

    if (!left.here) {
        return outputs_lost(outputs, &program->teller, started);
    }
    if (!outputs_give(outputs, program->programs.network, left.bytes)) {
        return outputs_lost(outputs, &program->teller, started);
    }
    memcpy(outputs->memory.table, left.table,
           (size_t)program->programs.network->nodes * OUTPUT_ROW_BYTES);
    memcpy(outputs->memory.data, left.data, (size_t)left.bytes);
    outputs_came(outputs, left.model_ns, left.predicted_ns);
    int status = outputs_write(outputs, program->job.whole, stop);
    outputs_tell(outputs, &program->teller);
    return status && stop && watch_over() ? watch_status() : status;
}

int sim_program_end(struct sim_program *program, const struct sim_result *result, bool cut)
{
    int status, written;

    cut = cut && !program->over;
    tell_own_troubles(program, result);
    if (cut) {
        tell_cut(program, result);
    }
    if (!program->over && program->programs.controller) {
        programs_end(&program->programs);
    }
    status = status_of(program, result, cut);
    written = write_outputs(program);
    return status ? status : written;
}

void sim_program_tell_unused(struct sim_program *program)
{
    const struct plan_list *written = &program->arguments->written;
    char words[MESSAGE_MAX];

    for (unsigned i = 0; i < written->count; i++) {
        if (!plan_cache_used(program->cache, written->plans[i])) {
            plan_list_unused_text(written, i, words);
            view_trouble(&program->view, words);
        }
    }
}
