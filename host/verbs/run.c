/*
 * run.c - ecube run: boot, download, run, end; nothing is left behind.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/machine/describe.h"
#include "host/machine/machine.h"
#include "host/command/options.h"
#include "host/command/output.h"
#include "host/command/standard_input.h"
#include "host/plan/plan_list.h"
#include "host/report/run_report.h"
#include "host/machine/rundir_watch.h"
#include "host/console/sink.h"
#include "host/command/verbs.h"
#include "host/verbs/agent.h"
#include "host/verbs/hosts.h"
#include "host/verbs/run.h"
#include "host/console/view.h"

struct run {
    struct run_arguments arguments;
    const char *hosts; /* NULL: not given */
    struct agent_arguments agents;
    const struct run_place *place; /* NULL: all nodes are on this computer */
    bool plan_used[PLAN_LIST_MAX];

    uv_loop_t loop;
    uv_signal_t signals[3];
    struct rundir_watch rundir_watch;
    struct machine machine;
    struct job_request request;
    struct job job; /* planned: the machine's when it has booted */
    struct view view;
    struct run_report report;
    struct sink *sink;
    uv_async_t written;
    uint64_t end_us; /* when --timeout is over */
    int status;
    json_t *result;
};

static void add_word(const struct option_row *option, char *text, void *target)
{
    struct run_words *list = target;

    if (list->count == INJECTIONS_MAX) {
        command_line_reject("--%s: at most %d times", option->name, INJECTIONS_MAX);
    }
    list->words[list->count++] = text;
}

const struct option_row run_options[] = {
    {"plan", "FILE",
     "use the plan in FILE, which is proved first (doc/plans.md), in place of the planner's for "
     "its operation, root and size; repeatable",
     plan_list_add, OPTION_AT(struct run_arguments, plans)},
    {"cut", "A-B@PHASE",
     "cut a link (A may be 'host') at the beginning of boot, download, run or gather (of outputs), "
     "or later (@run+2s; a number alone is ms), to see what happens",
     add_word, OPTION_AT(struct run_arguments, cuts)},
    {"kill", "N@PHASE", "kill a node likewise", add_word, OPTION_AT(struct run_arguments, kills)},
    {"cross", "A-B,C-D",
     "exchange the far ends of two links before the boot, to see how it is diagnosed", add_word,
     OPTION_AT(struct run_arguments, crossings)},
    {.more = options_machine, OPTION_AT(struct run_arguments, machine), .group = 1},
    {.more = options_load, OPTION_AT(struct run_arguments, load), .group = 2},
    {.more = options_stdin, OPTION_AT(struct run_arguments, load.data), .group = 2},
    {0},
};

static const struct option_row option_rows[] = {
    {"hosts", "FILE",
     "divide the machine among the computers that FILE names, one a line, the first of which is "
     "rank 0's: an agent on each, started by mpirun (doc/cluster.md)",
     option_text, OPTION_AT(struct run, hosts)},
    {.more = agent_options, OPTION_AT(struct run, agents)},
    {.more = run_options, OPTION_AT(struct run, arguments)},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "[--node NODES PROGRAM]... PROGRAM [ARGUMENT...]",
    .text =
        "Boots a machine, downloads PROGRAM into every node, runs it and ends the machine. "
        "Each line that a program prints appears with the node's rank in front, on the stream "
        "that the program chose; a table of what programs report goes to standard error."
        "\vOptions must stand before PROGRAM: the words behind it are passed to the program, and "
        "to all programs if there are several; where each has its --node, they stand behind "
        "'--'.\n\n" OPTIONS_DATA_WORDS "\n\n"
        "Ctrl-C ends the run and says what its programs do, or wait for; a second Ctrl-C does "
        "not wait for that.\n\n"
        "The exit status is the largest of the programs'. One that crashed counts as 132 "
        "(undefined instruction), 133 (breakpoint), 134 (abort), 136 (division by zero) or 139 "
        "(memory), one that an error of a call has ended as 159. 3: a dead node or link; 124: "
        "--timeout, or programs that wait for ever; 2: bad input; 141: the reader of the "
        "output is gone.\n\n"
        "Examples: ecube run --network cube:3 --json result.json hello.elf 10 20\n"
        "          ecube run --network cube:2 --plan plan.json trees.elf 1000\n"
        "          ecube run --input signal.bin --window 4096 --stride 4000 filter.elf\n"
        "          ecube run --node 0 root.elf worker.elf\n"
        "          ecube run --hosts hosts.txt --network cube:8 hello.elf",
    .take_word = options_take_program,
    .words_at = offsetof(struct run, arguments.load),
    .in_order = true,
};

static void on_emit(void *context, json_t *event)
{
    struct run *run = context;

    view_event(&run->view, event);
    json_decref(event);
}

static void on_print(void *context, const struct line *line)
{
    struct run *run = context;

    view_line(&run->view, line);
}

/* On the sink's thread. */
static void on_moved(void *context)
{
    struct run *run = context;

    uv_async_send(&run->written);
}

/* Programs may print as much more as has been written; without a reader the run is over. */
static void on_written(uv_async_t *written)
{
    struct run *run = written->data;
    struct line_receipt receipt;

    while (sink_take_receipt(run->sink, &receipt)) {
        machine_line_taken(&run->machine, &receipt);
    }
    if (sink_error(run->sink) != 0) {
        run->status = sink_status(run->sink);
        uv_stop(&run->loop);
    }
}

static void on_booted(void *context, int status)
{
    struct run *run = context;
    struct message message;

    if (status == 0 && machine_load(&run->machine, &run->job, &message) == 0) {
        return;
    }
    if (status == 0) {
        view_trouble(&run->view, message.text);
    }
    run->status = status ? status : STATUS_BAD_INPUT;
    uv_stop(&run->loop);
}

static void on_refused(void *context, const char *text)
{
    struct run *run = context;

    view_trouble(&run->view, text);
    run->status = STATUS_BAD_INPUT;
    uv_stop(&run->loop);
}

static void on_ended(void *context, int status, json_t *result)
{
    struct run *run = context;

    run->status = status;
    run->result = result;
    uv_stop(&run->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct run *run = handle->data;

    run->end_us = 0; /* nor does it wait for its reader */
    /* Ctrl-C asks what the programs do; a second one does not wait for their answers. */
    if (number != SIGINT || !machine_interrupt(&run->machine, 128 + number)) {
        run->status = 128 + number;
        uv_stop(&run->loop);
    }
}

static void watch_signals(struct run *run)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    for (unsigned i = 0; i < 3; i++) {
        uv_signal_init(&run->loop, &run->signals[i]);
        run->signals[i].data = run;
        uv_signal_start(&run->signals[i], on_signal, numbers[i]);
    }
}

static int add_faults(const struct run *run, struct machine_options *options,
                      struct message *message)
{
    for (unsigned i = 0; i < run->arguments.cuts.count; i++) {
        if (options_add_injection(options, run->arguments.cuts.words[i], false, message) != 0) {
            return -1;
        }
    }
    for (unsigned i = 0; i < run->arguments.kills.count; i++) {
        if (options_add_injection(options, run->arguments.kills.words[i], true, message) != 0) {
            return -1;
        }
    }
    for (unsigned i = 0; i < run->arguments.crossings.count; i++) {
        if (options_add_crossing(options, run->arguments.crossings.words[i], message) != 0) {
            return -1;
        }
    }
    return 0;
}

static int prepare(struct run *run, struct machine_options *options, struct target *target,
                   struct output *output, struct message *message)
{
    if (options_make_machine(&run->arguments.machine, options, target, message) != 0 ||
        standard_input_add(&run->arguments.load.data, message) != 0 ||
        options_make_job(&run->arguments.load, &run->request, message) != 0) {
        return -1;
    }
    if (plan_list_read(&run->arguments.plans, &options->network, &options->profile, message) != 0) {
        return -1;
    }
    options->plans = run->arguments.plans.plans;
    options->plan_count = run->arguments.plans.count;
    options->verbose = run->arguments.load.verbose;
    options->timeout_ms = run->request.timeout_ms;
    if (add_faults(run, options, message) != 0) {
        return -1;
    }
    if (output_open(output, run->arguments.load.json, message) != 0) {
        return -1;
    }
    if (job_plan(&run->job, NULL, &run->request, &options->network, &options->profile, message) !=
            0 ||
        (run->place && run->place->find(run->place->context, options, target, message) != 0)) {
        output_drop(output);
        return -1;
    }
    return 0;
}

/* Boots and runs; everything is closed and removed on return. */
static int execute(struct run *run, const struct machine_options *options,
                   const struct target *target, struct message *message)
{
    struct machine_owner owner = {.context = run,
                                  .emit = on_emit,
                                  .print = on_print,
                                  .booted = on_booted,
                                  .refused = on_refused,
                                  .ended = on_ended};
    struct rundir rundir;
    int started;

    if (rundir_create(&rundir, NULL, message) != 0) {
        return -1;
    }
    started = uv_loop_init(&run->loop);
    if (started != 0) {
        rundir_remove(&rundir);
        return message_set(message, "cannot make an event loop: %s", uv_strerror(started));
    }
    watch_signals(run); /* before the first QEMU: a Ctrl-C from here on leaves nothing behind */
    rundir_watch_start(&run->rundir_watch, &run->loop, &rundir, NULL, NULL, NULL);
    uv_async_init(&run->loop, &run->written, on_written);
    run->written.data = run;
    run->sink = sink_open(on_moved, run);
    run->end_us = sink_now_us() + run->request.timeout_ms * UINT64_C(1000);
    view_init(&run->view, run->sink, options->network.nodes, run->arguments.load.quiet);
    run->view.reports = run->arguments.load.reports;
    run->view.kept = run_report_output(&run->report);
    started = machine_start(&run->machine, &run->loop, options, target, &rundir, &owner, message);
    if (started == 0) {
        uv_run(&run->loop, UV_RUN_DEFAULT);
    }
    if (!run->result && started == 0) {
        run->result = describe_result(&run->machine, run->status);
    }
    for (unsigned i = 0; i < run->arguments.plans.count && started == 0; i++) {
        run->plan_used[i] = plan_cache_used(run->machine.cache, run->arguments.plans.plans[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        uv_close((uv_handle_t *)&run->signals[i], NULL);
    }
    rundir_watch_close(&run->rundir_watch);
    /* Closing turns the loop once more, and the sink's thread must not wake what is closed. */
    sink_be_still(run->sink);
    uv_close((uv_handle_t *)&run->written, NULL);
    machine_close(&run->machine);
    uv_run(&run->loop, UV_RUN_DEFAULT);
    uv_loop_close(&run->loop);
    machine_free(&run->machine);
    job_free(&run->job);
    rundir_remove(&rundir);
    return started;
}

/* A run that did not need a plan says nothing about it. */
static void tell_unused_plans(struct run *run)
{
    char words[MESSAGE_MAX];

    for (unsigned i = 0; i < run->arguments.plans.count; i++) {
        if (!run->plan_used[i]) {
            plan_list_unused_text(&run->arguments.plans, i, words);
            view_trouble(&run->view, words);
        }
    }
}

/* Runs what the arguments say; returns the exit status. */
static int perform(struct run *run)
{
    struct machine_options options;
    struct target target;
    struct output output;
    struct message message;

    if (run_report_open(&run->report, run->arguments.load.report, &run->arguments.load.trace,
                        run->arguments.load.json, &message) != 0) {
        return message_print(&message);
    }
    if (prepare(run, &options, &target, &output, &message) != 0) {
        run_report_drop(&run->report);
        return message_print(&message);
    }
    if (execute(run, &options, &target, &message) != 0) {
        output_drop(&output);
        run_report_drop(&run->report);
        return message_print(&message);
    }
    run_report_take(&run->report, run->result);
    options_describe_job(&run->request, run->result);
    if (run->view.reports) {
        view_clear(&run->view);
    } else if (sink_error(run->sink) == 0) {
        view_result(&run->view, run->result);
        tell_unused_plans(run);
    }
    run->status = sink_close(run->sink, run->end_us, run->status);
    if (output_write(&output, run->result, &message) != 0) {
        run->status = message_print(&message);
    }
    if (run_report_write(&run->report, run->result, &message) != 0) {
        run->status = message_print(&message);
    }
    plan_list_free(&run->arguments.plans);
    return run->status;
}

int run_placed(const struct run_arguments *arguments, const struct run_place *place)
{
    static struct run run;

    run.arguments = *arguments;
    run.place = place;
    int status = perform(&run);
    json_decref(run.result);
    return status;
}

int run_own(const struct machine_arguments *machine, const struct load_arguments *load,
            json_t **result)
{
    static struct run run;

    run.arguments.machine = *machine;
    run.arguments.load = *load;
    run.arguments.load.data.standard_input = "none";
    int status = perform(&run);
    *result = run.result;
    return status;
}

int verb_run(int argc, char **argv)
{
    static struct run run;

    run.arguments.machine = options_machine_defaults();
    run.arguments.load = options_load_defaults();
    command_line_parse(&command_line, argc, argv, &run);
    if (run.hosts) {
        return hosts_run(run.hosts, &run.arguments.load.data, argc, argv);
    }
    if (run.agents.key_file || run.agents.dry_run) {
        command_line_reject("--key-file and --dry-run are of a run with --hosts");
    }
    int status = perform(&run);
    json_decref(run.result);
    return status;
}
