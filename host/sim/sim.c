/*
 * sim.c - ecube sim: thousands of nodes in one process, in model time.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "controller/download.h"
#include "host/command/algorithm.h"
#include "host/computer/available.h"
#include "host/command/options.h"
#include "host/command/output.h"
#include "host/console/report.h"
#include "host/console/terminal.h"
#include "host/job/traffic.h"
#include "host/sim/sim.h"
#include "host/sim/watch.h"
#include "host/command/verbs.h"
#include "host/console/view.h"
#include "network/network.h"
#include "sim/programs/plans.h"

enum {
    CHUNK_EVENTS = 4096,
    THREAD_NODES = 64 /* fewer are not worth a thread */
};

static const double address_room = 3.5e9; /* of a node's 32-bit addresses, for its data */

/* What runs, for the last words of a process whose own code has failed. */
static const struct sim *present;
static uint64_t present_seed;

static void on_abort(int number)
{
    signal(number, SIG_DFL);
    if (present) {
        sim_trace_abandon(present);
        dprintf(STDERR_FILENO,
                "ecube: seed %" PRIu64 ", at event %" PRIu64 ":\n"
                "       --replay with the event before shows what came before\n",
                present_seed, sim_events(present));
    }
    raise(number); /* it may have come from elsewhere than abort() */
}

/* The one of several processes that this is. */
static struct sim_run *joined;

/* A run that is to end does not when a rank is gone: nobody else says what became of it. */
static void look_for_lost(void)
{
    const struct ranks *ranks = joined->arguments.options.ranks;
    unsigned lost = ranks->lost(ranks);

    if (lost < ranks->count) {
        dprintf(STDERR_FILENO, "ecube: rank %u has failed or was killed, so the simulation ends\n",
                lost);
        output_drop(&joined->output);
        _exit(STATUS_MACHINE);
    }
}

/* The run whose files are open and that has not begun: a signal ends it at once. */
static struct sim_run *prepared;

static void on_end(int number)
{
    output_drop(&prepared->trace_output);
    output_drop(&prepared->output);
    signal(number, SIG_DFL);
    raise(number);
}

/* What a signal does before the watch takes it. */
static void handle_ends(void (*handler)(int))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (signal(signals[i], handler) == SIG_IGN) {
            signal(signals[i], SIG_IGN);
        }
    }
}

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t sim_available_bytes(const struct sim_arguments *arguments)
{
    return arguments->available ? arguments->available : available_bytes();
}

/* Chooses what contents there is memory for; -1 when there is too little for any. */
static int choose_contents(struct sim_arguments *arguments, struct message *message)
{
    struct sim_options *options = &arguments->options;
    uint64_t available = sim_available_bytes(arguments);
    uint64_t checked = sim_need(options, SIM_CHECKED), shared = sim_need(options, SIM_SHARED);

    if (options->contents == SIM_AUTO) {
        options->contents = checked <= available / 2 ? SIM_CHECKED : SIM_SHARED;
    }
    uint64_t need = options->contents == SIM_CHECKED ? checked : shared;
    if (need > available - available / 8) {
        return message_set(
            message, "%s needs %.1f GB, and %.1f GB are available: simulate a smaller cube%s",
            arguments->network_name, (double)need / 1e9, (double)available / 1e9,
            options->contents == SIM_CHECKED && shared < need ? ", or use --contents shared" : "");
    }
    return 0;
}

static int check_sizes(const struct sim_arguments *arguments, struct message *message)
{
    const struct sim_options *options = &arguments->options;
    uint32_t size = 0;

    for (unsigned i = 0; i < options->size_count; i++) {
        size = options->sizes[i] > size ? options->sizes[i] : size;
    }
    if ((double)sim_data_bytes(options) > address_room) {
        return message_set(
            message, "--bytes %u: %s on %s has more than a node's 32-bit addresses reach",
            (unsigned)size, sim_scenario_name(options->scenario), arguments->network_name);
    }
    return 0;
}

/* What there is no plan for is told before anything begins. */
static int make_plans(struct sim_run *run, struct message *message)
{
    struct sim_options *options = &run->arguments.options;
    char why[SIM_WHY_MAX];

    options->plans = run->plans = sim_plans_make(options, why);
    if (!run->plans) {
        message_set(message, "%s on %s: %s", sim_scenario_name(options->scenario),
                    run->arguments.network_name, why);
        algorithm_suggest((uint32_t)options->scenario, options->algorithm, message);
    }
    return run->plans ? 0 : -1;
}

/* As many as there are processors, if there is work for them. */
static void choose_threads(struct sim_arguments *arguments)
{
    struct sim_options *options = &arguments->options;
    unsigned worth = arguments->network.nodes / THREAD_NODES, all = uv_available_parallelism();

    if (options->threads == 0 && options->ranks) {
        options->threads = 1; /* there are as many processes as the user likes */
    } else if (options->threads == 0) {
        options->threads = worth < all ? worth : all;
    }
}

static int prepare_scenario(struct sim_run *run, struct message *message)
{
    struct sim_arguments *arguments = &run->arguments;
    struct sim_options *options = &arguments->options;

    if (make_plans(run, message) != 0 || check_sizes(arguments, message) != 0) {
        return -1;
    }
    options->download_x = sim_estimate(options, options->image_bytes, arguments->x).x;
    choose_threads(arguments);
    return choose_contents(arguments, message);
}

static int prepare_program(struct sim_run *run, struct message *message)
{
    if (sim_program_make(&run->program, &run->arguments, message) != 0 ||
        make_plans(run, message) != 0) {
        return -1;
    }
    choose_threads(&run->arguments);
    return sim_program_check_memory(&run->program, message);
}

/* What wants the events of all nodes in one order; NULL: nothing does. */
static const char *in_order(const struct sim_arguments *arguments)
{
    const struct sim_options *options = &arguments->options;
    const struct sim_faults *faults = &options->faults;

    return faults->drop > 0        ? "drop"
           : faults->flip > 0      ? "flip"
           : faults->duplicate > 0 ? "duplicate"
           : faults->jitter_ns     ? "jitter"
           : faults->fail_event    ? "fail"
           : faults->count         ? sim_fault_name(faults->list[0].kind)
           : options->shuffle      ? "shuffle"
           : options->history      ? "replay"
           : options->stop_at      ? "stop-at"
           : arguments->report     ? "report"
           : arguments->trace      ? "trace"
                                   : NULL;
}

static int ranks_check(struct sim_arguments *arguments, struct message *message)
{
    const struct ranks *ranks = arguments->options.ranks;
    const char *option = in_order(arguments);

    if (option) {
        return message_set(message,
                           "--%s: the order of all events counts then, which several processes do "
                           "not have: use ecube sim",
                           option);
    }
    if (ranks->count > arguments->network.nodes / 2) {
        unsigned most = arguments->network.nodes > 3 ? arguments->network.nodes / 2 : 1;
        return message_set(
            message, "%u ranks: %s has %u node%s, and a rank has two at least: use mpirun -n %u",
            ranks->count, arguments->network_name, (unsigned)arguments->network.nodes,
            arguments->network.nodes == 1 ? "" : "s", most);
    }
    if (ranks->own != 0) { /* files and standard input are rank 0's */
        arguments->json = NULL;
        arguments->quiet = true;
        arguments->outputs = (struct outputs_request){0};
        arguments->data = (struct data_arguments){.standard_input = "none"};
    }
    return 0;
}

/* Whether all ranks are good; what the first says that is not, rank 0 knows as well. */
static bool all_good(const struct sim_run *run, bool good, struct message *message)
{
    struct ranks *ranks = run->arguments.options.ranks;
    uint64_t words[RANKS_WORDS] = {[WORD_LEAST] = ~(uint64_t)good};
    struct parcel parcel = {0, message->text, sizeof message->text};
    bool tells;

    if (!ranks) {
        return good;
    }
    tells = !good && ranks->own != 0;
    words[WORD_PARCELS] = tells;
    ranks->exchange(ranks, words, &parcel, tells);
    if (good && ~words[WORD_LEAST] == 0 && ranks->in_count > 0) {
        message_set(message, "rank %u: %s", ranks->in[0].rank, (const char *)ranks->in[0].data);
    }
    return ~words[WORD_LEAST] != 0;
}

static int prepare(struct sim_run *run, struct message *message)
{
    struct sim_arguments *arguments = &run->arguments;
    struct output *output = &run->output;
    struct sim_options *options = &arguments->options;

    if (sim_arguments_finish(arguments, message) != 0 ||
        (options->ranks && ranks_check(arguments, message) != 0) ||
        run_report_open(&run->report, arguments->report, &arguments->trace, arguments->json,
                        message) != 0) {
        return -1;
    }
    if (output_open(output, arguments->json, message) != 0) {
        run_report_drop(&run->report);
        return -1;
    }
    prepared = run;
    handle_ends(on_end);
    if (output_open_as(&run->trace_output, "trace", arguments->trace, message) != 0) {
        output_drop(output);
        run_report_drop(&run->report);
        return -1;
    }
    if ((arguments->program ? prepare_program(run, message) : prepare_scenario(run, message)) !=
        0) {
        output_drop(&run->trace_output);
        output_drop(output);
        run_report_drop(&run->report);
        return -1;
    }
    options->links = arguments->links || arguments->report;
    options->traced = arguments->trace != NULL;
    options->trace_fd = run->trace_output.fd;
    return 0;
}

static void show_progress(struct view *view, const struct sim *sim)
{
    uint32_t done, total;
    const char *phase = sim_progress(sim, &done, &total);
    json_t *event = json_pack("{s:s, s:s, s:i, s:i}", "event", "progress", "phase", phase, "done",
                              (int)done, "total", (int)total);

    view_event(view, event);
    json_decref(event);
}

/* Notes when lines become complete, for their time on this machine. */
static void note_lines(struct sim_run *run, const struct sim *sim, unsigned *complete)
{
    uint64_t now = now_us();

    sim_result(sim, &run->result);
    if (run->result.receipts && !run->run_us) {
        run->run_us = run->begun_us[0] = now;
    }
    while (*complete < run->result.line_count &&
           run->result.lines[*complete].nodes == run->arguments.network.nodes) {
        run->begun_us[++*complete] = now;
    }
}

/* Until it is over, or is ended; a reader who has gone away ends it, too. */
static void advance(struct sim_run *run, struct sim *sim, struct view *view)
{
    unsigned complete = 0;
    uint64_t shown_us = 0;

    while (!watch_over() && !sink_error(view->sink) && sim_advance(sim, CHUNK_EVENTS)) {
        note_lines(run, sim, &complete);
        if (view->redraws && !view->quiet && now_us() - shown_us > 100000) {
            shown_us = now_us();
            show_progress(view, sim);
        }
    }
    if (watch_over() && run->arguments.program) {
        sim_program_time_out(&run->program);
    }
    sim_leave(sim);
    note_lines(run, sim, &complete);
    run->cut = watch_over() && run->result.verdict == SIM_RUNS;
}

static int begin(struct sim_run *run, struct sim **sim, struct message *message)
{
    const struct sim_arguments *arguments = &run->arguments;
    bool program = arguments->program != NULL;

    if (program && native_file_check(&run->program.file, message) != 0) {
        return -1;
    }
    if (output_begin(&run->trace_output, message) != 0) {
        return -1;
    }
    run->start_us = run->begun_us[0] = now_us();
    if (!watch_begin(arguments->timeout_ms, program, joined ? look_for_lost : NULL) ||
        !(*sim = sim_make(&run->arguments.options))) {
        watch_end();
        return message_set(message, "out of memory");
    }
    handle_ends(SIG_DFL);
    present = *sim;
    present_seed = arguments->options.seed;
    signal(SIGABRT, on_abort);
    return 0;
}

/* What its links have carried. */
static json_t *take_traffic(const struct sim_run *run, const struct sim *sim)
{
    const struct network *network = &run->arguments.network;
    struct traffic traffic;
    json_t *object = NULL;

    if (traffic_init(&traffic, network)) {
        traffic.base_ns = run->result.clock_base_ns;
        for (uint32_t rank = 0; rank < network->nodes; rank++) {
            traffic.model_ns = clock_max(traffic.model_ns, sim_node_clock_ns(sim, rank));
            for (unsigned port = 0; port < sim_node_ports(sim, rank); port++) {
                struct traffic_port known = sim_traffic(sim, rank, port);
                traffic_put(&traffic, rank, port, &known);
            }
        }
        object = traffic_describe(&traffic);
    }
    traffic_free(&traffic);
    return object;
}

static void note_ranks(struct sim_run *run, const struct sim *sim)
{
    const struct sim_rank *ranks = sim_ranks(sim, &run->rank_count);

    if (run->rank_count > 0) { /* one process alone has none */
        memcpy(run->ranks, ranks, run->rank_count * sizeof *ranks);
    }
}

static int execute(struct sim_run *run, struct message *message)
{
    struct view own, *view = run->arguments.program ? &run->program.view : &own;
    struct sim *sim;

    if (!all_good(run, begin(run, &sim, message) == 0, message)) {
        return -1;
    }
    view_init(view, sink_open(NULL, NULL), run->arguments.network.nodes, run->arguments.quiet);
    view->reports = run->arguments.reports;
    view->kept = run_report_output(&run->report);
    if (run->arguments.program) { /* it may have to tell something before the first event */
        sim_program_begin(&run->program, sim);
    }
    advance(run, sim, view);
    if (run->arguments.program) {
        run->status = sim_program_end(&run->program, &run->result, run->cut);
    } else {
        run->predicted_ns = sim_download_predicted_ns(run);
    }
    note_ranks(run, sim);
    run->history_count = sim_history(sim, run->history, SIM_HISTORY_MAX);
    run->end_us = now_us();
    run->traffic = run->arguments.options.links ? take_traffic(run, sim) : NULL;
    if (run->arguments.options.traced) {
        run->trace = sim_trace_end(sim);
        close(run->trace_output.fd);
    }
    if (!run->arguments.program) {
        view_close(view);
    }
    present = NULL;
    sim_free(sim);
    watch_end();
    return 0;
}

static int status_of(const struct sim_run *run)
{
    if (run->arguments.program) {
        return run->status;
    }
    if (run->cut) {
        return watch_status();
    }
    switch (run->result.verdict) {
    case SIM_GOOD: return 0;
    case SIM_WRONG: return 1;
    case SIM_STUCK: return STATUS_TIMEOUT;
    case SIM_NO_MEMORY: return STATUS_BAD_INPUT;
    case SIM_STOPPED: return run->result.trouble_count ? STATUS_MACHINE : 0;
    default: return STATUS_MACHINE;
    }
}

static void print_trace(const struct sim_run *run, FILE *file)
{
    char digest[65];

    if (!run->arguments.trace || run->report.trace || run->trace.error) {
        return;
    }
    sim_trace_digest_text(&run->trace, digest);
    fprintf(file, "trace     %s, %" PRIu64 " events, %" PRIu64 " bytes, SHA-256\n          %s\n",
            run->arguments.trace, run->trace.events, run->trace.bytes, digest);
}

static int check_trace(const struct sim_run *run, struct message *message)
{
    return run->trace.error ? message_set(message, "cannot write the trace %.300s: %s",
                                          run->arguments.trace, strerror(run->trace.error))
                            : 0;
}

static void print_summary(const struct sim_run *run, FILE *file)
{
    const struct sim_options *options = &run->arguments.options;
    const struct sim_result *r = &run->result;
    double seconds = (double)(run->end_us - run->start_us) / 1e6;
    unsigned host_links = run->arguments.network.host_links;
    char over[40] = "";
    struct rusage usage;

    if (host_links > 0) {
        snprintf(over, sizeof over, " over %u host link%s", host_links, host_links == 1 ? "" : "s");
    }

    getrusage(RUSAGE_SELF, &usage);
    if (options->scenario != SIM_LOAD && r->receipts && !run->arguments.program) {
        fprintf(file,
                "\ndownload  decremental, x %u, sends %u%s, %" PRIu64
                " bytes, model %.3f us, predicted %.3f us, receipts %u of %u",
                options->download_x, r->download_sends, over, r->download_bytes,
                (double)r->download_ns / 1e3, (double)run->predicted_ns / 1e3, r->receipts,
                (unsigned)run->arguments.network.nodes);
    }
    fprintf(file,
            "\nsim       %s, %u node%s, %" PRIu64 " events, %.2f million a second on %u thread%s\n"
            "          %" PRIu64 " bytes of memory per node, %.0f MB resident at most\n"
            "          seed %" PRIu64 ", digest %016" PRIx64 "%016" PRIx64 "\n",
            run->arguments.network_name, (unsigned)run->arguments.network.nodes,
            run->arguments.network.nodes == 1 ? "" : "s", r->events,
            seconds > 0 ? (double)r->events / seconds / 1e6 : 0, r->threads,
            r->threads == 1 ? "" : "s", r->node_bytes, (double)usage.ru_maxrss / 1e3, options->seed,
            r->digest[0], r->digest[1]);
    if (options->scenario > SIM_LOAD) {
        fprintf(file,
                "          repeatable from the seed; %" PRIu64 " of %" PRIu64
                " requests came to a link after their model time\n",
                r->late, r->requests);
    }
    if (!r->checked && options->scenario != SIM_LOAD) {
        fputs("          contents were not checked: there is no memory for them, or --contents "
              "shared\n",
              file);
    }
}

/* What each process has had to do. */
static void print_ranks(const struct sim_run *run, FILE *file)
{
    if (run->rank_count == 0) {
        return;
    }
    fprintf(file, "ranks     %u, %" PRIu64 " rounds, %.0f events a round\n", run->rank_count,
            run->ranks[0].rounds,
            (double)run->result.events / (double)(run->ranks[0].rounds ? run->ranks[0].rounds : 1));
    for (unsigned i = 0; i < run->rank_count; i++) {
        const struct sim_rank *rank = &run->ranks[i];
        fprintf(file, "          rank %u: nodes %u-%u, %.0f MB resident at most", i,
                (unsigned)rank->first, (unsigned)(rank->first + rank->nodes - 1),
                (double)rank->resident_bytes / 1e6);
        if (rank->host_bytes) {
            fprintf(file, " (the host %.1f)", (double)rank->host_bytes / 1e6);
        }
        fprintf(file, ", %.0f %% of its time in MPI\n",
                100 * (double)rank->waited_ns / (double)(rank->passed_ns ? rank->passed_ns : 1));
    }
}

/* A run that was over before its faults is no proof against them. */
static void print_missed_faults(const struct sim_run *run)
{
    const struct sim_result *r = &run->result;
    const struct sim_faults *faults = &run->arguments.options.faults;

    if (r->verdict == SIM_GOOD && r->faults_happened < faults->count) {
        fprintf(stderr,
                "ecube: %u of %u faults did not happen: the run was over at %.3f us of the "
                "programs' time\n",
                faults->count - r->faults_happened, faults->count,
                (double)(r->model_ns - r->clock_base_ns) / 1e3);
    }
    if (r->verdict == SIM_GOOD && r->link_events < faults->fail_event) {
        fprintf(stderr, "ecube: --fail did not happen: the run had %" PRIu64 " link events\n",
                r->link_events);
    }
}

/* A run that was to stop at an event, and has come to it or not. */
static void print_stop(const struct sim_run *run)
{
    const struct sim_result *r = &run->result;
    uint64_t stop_at = run->arguments.options.stop_at;

    if (r->verdict == SIM_STOPPED) {
        fprintf(stderr, "ecube: stopped at event %" PRIu64 ", before the run was over\n",
                r->events);
    } else if (stop_at > r->events) {
        fprintf(stderr, "ecube: event %" PRIu64 " did not happen: the run had %" PRIu64 "\n",
                stop_at, r->events);
    }
}

/* Where a run came to that did not end well, and with which event to look at it again. Nothing came
 * before event 0. */
static void print_end(const struct sim_run *run)
{
    const struct sim_result *r = &run->result;
    uint64_t at = r->trouble_count ? r->trouble_event : r->events;

    if (!run->cut &&
        (r->verdict == SIM_GOOD || r->verdict == SIM_STOPPED || r->verdict == SIM_NO_MEMORY)) {
        return;
    }
    fprintf(stderr, "ecube: seed %" PRIu64 ", %s at event %" PRIu64, run->arguments.options.seed,
            !run->cut        ? "ended"
            : watch_signal() ? "interrupted"
                             : "ended by --timeout",
            r->events);
    if (run->cut && !r->trouble_count) {
        fputc('\n', stderr);
    } else {
        fprintf(stderr,
                ", first trouble at event %" PRIu64 ": --replay %" PRIu64
                " with the same options shows what came %s\n",
                at, at ? at : r->events, at ? "before" : "after");
    }
}

/* Those of a program have been told (sim_program.h). */
static void print_results_troubles(const struct sim_run *run)
{
    const struct sim_result *r = &run->result;

    for (unsigned i = 0; i < r->trouble_count && i < SIM_TROUBLES_MAX; i++) {
        fprintf(stderr, "ecube: %s\n", r->troubles[i]);
    }
    if (r->trouble_count > SIM_TROUBLES_MAX) {
        fprintf(stderr, "ecube: and %u more\n", r->trouble_count - SIM_TROUBLES_MAX);
    }
    if (r->verdict == SIM_WRONG) {
        fputs("ecube: wrong bytes, and nothing told of them\n", stderr);
    }
}

static void print_troubles(const struct sim_run *run)
{

    fflush(stdout);
    print_missed_faults(run);
    if (!run->arguments.program) {
        print_results_troubles(run);
    }
    for (unsigned i = 0; i < run->history_count; i++) {
        fprintf(stderr, "%s\n", run->history[i]);
    }
    print_stop(run);
    print_end(run);
}

/* What was found, in words and as JSON. */
static json_t *show(struct sim_run *run)
{
    struct sim_program *program = run->arguments.program ? &run->program : NULL;
    FILE *file = program ? stderr : stdout;
    json_t *result = sim_describe(run, status_of(run));

    if (program) {
        if (run->arguments.reports) {
            view_clear(&program->view);
        } else {
            view_result(&program->view, result);
        }
        sim_program_tell_unused(program);
        run->status = sink_close(program->view.sink, UINT64_MAX, run->status);
    } else if (!run->arguments.quiet) {
        report_print(stdout, json_object_get(result, "reports"));
    }
    if (run->traffic) {
        json_object_set_new(result, "traffic", run->traffic);
    }
    if (run->arguments.links && run->traffic) {
        struct traffic_view all = {
            .columns = terminal_columns(program ? STDERR_FILENO : STDOUT_FILENO), .rows = SIZE_MAX};
        fputc('\n', file);
        traffic_print(file, run->traffic, &all);
    }
    if (!run->arguments.quiet && !run->arguments.reports) {
        print_summary(run, file);
        print_trace(run, file);
    }
    if (run->arguments.verbose) {
        print_ranks(run, file);
    }
    print_troubles(run);
    return result;
}

static void free_run(struct sim_run *run)
{
    sim_plans_free(run->plans);
    if (run->arguments.program) {
        sim_program_free(&run->program);
    }
    plan_list_free(&run->arguments.written);
}

/* Simulates what the arguments say; returns the exit status. */
static int simulate(struct sim_run *run, json_t **result)
{
    struct output *output = &run->output;
    struct message message;

    *result = NULL;
    bool good = prepare(run, &message) == 0;
    if (!all_good(run, good, &message)) {
        if (good) {
            output_drop(output);
            output_drop(&run->trace_output);
            run_report_drop(&run->report);
        }
        return message_print(&message);
    }
    if (execute(run, &message) != 0) {
        output_drop(output);
        output_drop(&run->trace_output);
        run_report_drop(&run->report);
        return message_print(&message);
    }
    *result = show(run);
    run_report_take(&run->report, *result);
    int status = status_of(run);
    if (check_trace(run, &message) != 0) {
        status = message_print(&message);
    }
    if (output_write(output, *result, &message) != 0) {
        status = message_print(&message);
    }
    if (run_report_write(&run->report, *result, &message) != 0) {
        status = message_print(&message);
    }
    free_run(run);
    return status;
}

static struct sim_arguments defaults(void)
{
    return (struct sim_arguments){.machine = options_machine_defaults(),
                                  .x = DOWNLOAD_X_BEST,
                                  .options = {.scenario = SIM_SCENARIOS, .seed = 1}};
}

int sim_run_own(const struct sim_arguments *arguments, json_t **result)
{
    static struct sim_run run;

    run.arguments = defaults();
    run.arguments.machine = arguments->machine;
    run.arguments.options.algorithm = arguments->machine.algorithm;
    run.arguments.program = arguments->program;
    run.arguments.words = arguments->words;
    run.arguments.word_count = arguments->word_count;
    run.arguments.data.standard_input = "none";
    run.arguments.timeout_ms = arguments->timeout_ms;
    run.arguments.reports = arguments->reports;
    run.arguments.quiet = arguments->quiet;
    return simulate(&run, result);
}

static int simulate_alone(struct sim_run *run)
{
    json_t *result;
    int status = simulate(run, &result);

    json_decref(result);
    return status;
}

int verb_sim(int argc, char **argv)
{
    static struct sim_run run;

    run.arguments = defaults();
    command_line_parse(&sim_line, argc, argv, &run.arguments);
    return simulate_alone(&run);
}

/* A rank other than 0: does its share, until rank 0 says that it is over. Nothing is told but that
 * it could not. */
static int follow(struct sim_run *run, int error)
{
    struct message message;
    struct sim *sim = NULL;

    if (!all_good(run, prepare(run, &message) == 0, &message)) {
        return 0;
    }
    dup2(error, STDERR_FILENO); /* for the last words of a process whose own code has failed */
    if (!all_good(run, begin(run, &sim, &message) == 0, &message)) {
        return 0;
    }
    while (sim_advance(sim, UINT64_MAX / 2)) {
    }
    sim_leave(sim);
    present = NULL;
    sim_free(sim);
    watch_end();
    free_run(run);
    return 0;
}

int sim_run_ranks(int argc, char **argv, struct ranks *ranks, int error)
{
    static struct sim_run run;

    run.arguments = defaults();
    command_line_parse(&sim_ranks_line, argc, argv, &run.arguments);
    if (ranks->count == 1) {
        return simulate_alone(&run);
    }
    run.arguments.options.ranks = ranks;
    joined = &run;
    run.arguments.available = ranks_least(ranks, available_bytes() / ranks->here) * ranks->count;
    if (ranks->own != 0) {
        return follow(&run, error);
    }
    return simulate_alone(&run);
}
