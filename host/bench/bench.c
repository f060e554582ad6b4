/*
 * bench.c - ecube bench: messages and collectives over sizes, on nodes or simulated, in one run of
 * one program.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bench/bench.h"
#include "host/command/options.h"
#include "host/command/verbs.h"
#include "host/computer/limits.h"
#include "host/computer/target.h"
#include "host/sim/sim.h"
#include "host/verbs/run.h"

enum {
    SIZE_MAX_BYTES = 1 << 24,
    ITERATIONS_MAX = 1000,
    ITERATIONS_DEFAULT = 3,
    WORD_MAX = 24,
    NAMES_MAX = 512,
    ELEMENT_BYTES = 4, /* of what is combined */
    STATUS_NOT_GOOD = 1
};

static const char default_sizes[] = "16-16K*4";

/* The files that are written. */
struct bench_files {
    struct output json, csv, svg;
};

/* Sizes ---------------------------------------------------------------------------------------- */

_Noreturn static void reject_sizes(const char *text)
{
    command_line_reject("--bytes %.60s: use sizes up to 16M, at most %d, for example 100,1000, or "
                        "1-64K (each twice the one before) or 1-1M*4",
                        text, BENCH_SIZES_MAX);
}

/* A number with K or M behind it, if any; *text goes behind it. False: it is none. */
static bool read_size(const char **text, uint64_t most, uint64_t *value)
{
    char *end;

    errno = 0;
    unsigned long number = strtoul(*text, &end, 10);
    bool good = **text >= '0' && **text <= '9' && errno == 0 && number <= most;
    unsigned shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : 0;

    *value = good ? (uint64_t)number << shift : 0;
    *text = end + (shift > 0);
    return good && *value <= most;
}

/* One size, FROM-TO or FROM-TO*FACTOR. */
static bool add_sizes(struct bench_arguments *arguments, const char *word)
{
    uint64_t first, last, factor = 2;

    if (!read_size(&word, SIZE_MAX_BYTES, &first)) {
        return false;
    }
    last = first;
    if (*word == '-') {
        word++;
        if (!read_size(&word, SIZE_MAX_BYTES, &last) || first == 0 || last < first) {
            return false;
        }
        if (*word == '*') {
            word++;
            if (!read_size(&word, SIZE_MAX_BYTES, &factor) || factor < 2) {
                return false;
            }
        }
    }
    for (uint64_t size = first; size <= last; size *= factor) {
        if (*word || arguments->size_count == BENCH_SIZES_MAX) {
            return false;
        }
        arguments->sizes[arguments->size_count++] = (uint32_t)size;
        if (first == last) {
            break;
        }
    }
    return *word == '\0';
}

static void take_sizes(const struct option_row *option, char *text, void *target)
{
    struct bench_arguments *arguments = target;
    char *rest = strdup(text), *all = rest;
    bool good = rest != NULL;

    (void)option;
    for (char *word; good && (word = strsep(&rest, ",")) != NULL;) {
        good = add_sizes(arguments, word);
    }
    free(all);
    if (!good) {
        reject_sizes(text);
    }
}

/* Subjects ------------------------------------------------------------------------------------- */

static void add_subject(struct bench_arguments *arguments, const struct bench_subject *subject)
{
    for (unsigned i = 0; i < arguments->subject_count; i++) {
        if (arguments->subjects[i].name == subject->name) {
            return;
        }
    }
    arguments->subjects[arguments->subject_count++] = *subject;
}

/* Collectives have the names that all verbs know. */
static void take_word(char *text, void *target, struct argp_state *state)
{
    struct bench_subject subject;
    struct choice choice;
    struct message message;

    (void)state;
    choice_begin(&choice, text);
    for (unsigned i = 0; bench_subject_at(i, &subject) && bench_is_messages(&subject); i++) {
        if (choice_offer(&choice, subject.name)) {
            add_subject(target, &subject);
            return;
        }
    }
    uint32_t operation = options_choose_operation(&choice);
    if (operation == OPERATIONS) {
        choice_refuse(&choice, "unknown operation", &message);
        command_line_reject("%s", message.text);
    }
    add_subject(target, &(struct bench_subject){operation_name(operation), operation, NULL});
}

/* Before it begins ----------------------------------------------------------------------------- */

/* All that this network can have, where none was named. */
static int choose_subjects(struct bench_arguments *arguments, const struct bench_plan *plan,
                           struct message *message)
{
    bool alone = plan->network.nodes == 1, all = arguments->subject_count == 0;
    struct bench_subject subject;

    for (unsigned i = 0; all && bench_subject_at(i, &subject); i++) {
        if (!alone || !bench_is_messages(&subject)) {
            add_subject(arguments, &subject);
        }
    }
    for (unsigned i = 0; alone && i < arguments->subject_count; i++) {
        if (bench_is_messages(&arguments->subjects[i])) {
            return message_set(message, "%s wants two nodes, and %s has one",
                               arguments->subjects[i].name, plan->network_name);
        }
    }
    return 0;
}

static int check_sizes(const struct bench_arguments *arguments, struct message *message)
{
    for (unsigned i = 0; i < arguments->subject_count; i++) {
        const struct operation *operation = operation_of(arguments->subjects[i].operation);
        for (unsigned k = 0; operation && operation->reduces && k < arguments->size_count; k++) {
            if (arguments->sizes[k] % ELEMENT_BYTES != 0) {
                return message_set(message,
                                   "--bytes %u: %s combines elements of %d bytes: use multiples",
                                   (unsigned)arguments->sizes[k], operation->name, ELEMENT_BYTES);
            }
        }
    }
    return 0;
}

/* What only machines of nodes have. */
static int check_simulated(const struct bench_arguments *arguments, struct message *message)
{
    const struct machine_arguments *machine = &arguments->machine;
    const char *option = machine->board         ? "board"
                         : machine->links       ? "links"
                         : machine->patience_ms ? "patience"
                         : machine->kernel      ? "kernel"
                         : machine->qemu        ? "qemu"
                                                : NULL;

    return arguments->simulated && option
               ? message_set(message, "--%s is for machines of nodes, not for --sim", option)
               : 0;
}

static unsigned count_rows(const struct bench_arguments *arguments)
{
    unsigned rows = 0;

    for (unsigned i = 0; i < arguments->subject_count; i++) {
        rows += arguments->subjects[i].operation == ECUBE_BARRIER ? 1 : arguments->size_count;
    }
    return rows;
}

static int make_plan(struct bench_arguments *arguments, struct bench_plan *plan,
                     struct message *message)
{
    static const struct network_limits simulated = {.nodes = NETWORK_NODES_MAX,
                                                    .place = "in the simulator"};
    const struct machine_arguments *machine = &arguments->machine;

    *plan = (struct bench_plan){.arguments = arguments};
    if (arguments->size_count == 0) {
        char sizes[sizeof default_sizes];
        memcpy(sizes, default_sizes, sizeof sizes);
        take_sizes(NULL, sizes, arguments);
    }
    if (check_simulated(arguments, message) != 0 ||
        options_find_network(machine->network, arguments->simulated ? &simulated : &computer_limits,
                             &plan->network, message) != 0 ||
        options_find_host_links(machine, &plan->network, message) != 0 ||
        map_apply(&machine->map, &plan->network, message) != 0 ||
        options_find_profile(machine, &plan->network, &plan->profile, plan->profile_name,
                             message) != 0) {
        return -1;
    }
    network_name(&plan->network, plan->network_name);
    if (choose_subjects(arguments, plan, message) != 0 || check_sizes(arguments, message) != 0) {
        return -1;
    }
    plan->rows = count_rows(arguments);
    return arguments->svg ? bench_figure_find(plan, message) : 0;
}

static void drop_files(struct bench_files *files)
{
    output_drop(&files->json);
    output_drop(&files->csv);
    output_drop(&files->svg);
}

static int open_files(const struct bench_arguments *arguments, struct bench_files *files,
                      struct message *message)
{
    files->csv.fd = files->svg.fd = files->json.fd = -1;
    if (output_open_as(&files->csv, "CSV file", arguments->csv, message) == 0 &&
        output_open_as(&files->svg, "SVG file", arguments->svg, message) == 0 &&
        output_open(&files->json, arguments->json, message) == 0) {
        return 0;
    }
    drop_files(files);
    return -1;
}

/* The run -------------------------------------------------------------------------------------- */

/* The program's words: how often, what, and at which sizes. */
struct words {
    char iterations[WORD_MAX], names[NAMES_MAX], sizes[BENCH_SIZES_MAX][WORD_MAX];
    const char *list[3 + BENCH_SIZES_MAX];
    unsigned count;
};

static void make_words(const struct bench_arguments *arguments, struct words *words)
{
    size_t used = 0;

    snprintf(words->iterations, WORD_MAX, "%u", (unsigned)arguments->iterations);
    for (unsigned i = 0; i < arguments->subject_count; i++) {
        used += (size_t)snprintf(words->names + used, NAMES_MAX - used, "%s%s", i ? "," : "",
                                 arguments->subjects[i].name);
    }
    words->list[0] = "--iterations";
    words->list[1] = words->iterations;
    words->list[2] = words->names;
    words->count = 3;
    for (unsigned i = 0; i < arguments->size_count; i++) {
        snprintf(words->sizes[i], WORD_MAX, "%u", (unsigned)arguments->sizes[i]);
        words->list[words->count++] = words->sizes[i];
    }
}

/* Returns the exit status of the run; *run is NULL after bad input, which has been told. */
static int measure(const struct bench_plan *plan, json_t **run)
{
    static const char *const on_nodes[] = {"examples/collectives.elf",
                                           "../lib/ecube/examples/collectives.elf", NULL};
    static const char *const simulated[] = {"examples/collectives.so",
                                            "../lib/ecube/examples/collectives.so", NULL};
    const struct bench_arguments *arguments = plan->arguments;
    char program[TARGET_PATH_MAX];
    struct message message;
    struct words words;

    make_words(arguments, &words);
    if (target_find_part(program, "the program that measures",
                         arguments->simulated ? simulated : on_nodes, &message) != 0) {
        return message_print(&message);
    }
    if (arguments->simulated) {
        return sim_run_own(&(struct sim_arguments){.machine = arguments->machine,
                                                   .program = program,
                                                   .words = words.list,
                                                   .word_count = words.count,
                                                   .timeout_ms = arguments->timeout_ms,
                                                   .quiet = arguments->quiet,
                                                   .reports = plan->rows},
                           run);
    }
    struct load_arguments load = options_load_defaults();
    load.programs[0] = (struct job_program){.path = program};
    load.program_count = 1;
    load.arguments = words.list;
    load.argument_count = words.count;
    load.quiet = arguments->quiet;
    load.reports = plan->rows;
    load.timeout_ms = arguments->timeout_ms ? arguments->timeout_ms : load.timeout_ms;
    return run_own(&arguments->machine, &load, run);
}

/* What has come, on every way that was asked for. Returns the exit status. */
static int show(const struct bench_plan *plan, json_t *run, const json_t *before,
                struct bench_files *files, int status)
{
    struct bench_result result;
    struct message message;
    unsigned good = 0;

    bench_take_rows(plan, run, &result);
    for (unsigned i = 0; i < result.count; i++) {
        good += bench_row_is_good(&result.rows[i]);
    }
    printf("%s, %u node%s, %s", plan->network_name, (unsigned)plan->network.nodes,
           plan->network.nodes == 1 ? "" : "s", plan->profile_name);
    printf(plan->arguments->simulated ? ", simulated\n" : ", on QEMU nodes\n");
    bench_print(&result);
    printf("\n%u of %u rows are good%s\n", good, plan->rows,
           good == plan->rows ? "" : ": see the column check, and the messages above");
    if (before) {
        bench_compare_print(plan, &result, before);
    }
    status = status == 0 && good < plan->rows ? STATUS_NOT_GOOD : status;
    json_object_set_new(run, "status", json_integer(status));
    bool drawn = bench_figure_draw(plan, &result, &files->svg, &message) == 0;
    if (!drawn) {
        status = message_print(&message);
    }
    if (bench_write_csv(&result, &files->csv, &message) != 0 ||
        output_write(&files->json, run, &message) != 0) {
        status = message_print(&message);
    }
    bench_free_rows(&result);
    return status;
}

/* Command line --------------------------------------------------------------------------------- */

static const struct option_row option_rows[] = {
    {"sim", NULL, "in the simulator, of up to thousands of nodes, in place of QEMU", option_flag,
     OPTION_AT(struct bench_arguments, simulated)},
    {"bytes", "LIST",
     "sizes, for example 100,1000; FROM-TO is each twice the one before, FROM-TO*F F times it; K "
     "and M are 1,024 and its square (default 16-16K*4); repeatable",
     take_sizes, .at = 0},
    {"iterations", "N",
     "measure each size N times, after one that does not count; the wall time is the median "
     "(default 3)",
     option_whole, OPTION_AT(struct bench_arguments, iterations), .low = 1, .high = ITERATIONS_MAX},
    {"timeout", "TIME",
     "end a run that takes longer (default: 10m on nodes, none with --sim; units are ms, s, m and "
     "h, a number alone is seconds)",
     options_take_timeout, OPTION_AT(struct bench_arguments, timeout_ms)},
    {"json", "FILE",
     "write the results to FILE (-: standard output, and all else to standard error) as one JSON "
     "object",
     option_text, OPTION_AT(struct bench_arguments, json)},
    {"csv", "FILE", "write the rows to FILE, for a spreadsheet", option_text,
     OPTION_AT(struct bench_arguments, csv)},
    {"svg", "FILE", "draw time over size to FILE, with gnuplot", option_text,
     OPTION_AT(struct bench_arguments, svg)},
    {"compare", "FILE",
     "say what has changed since FILE was written with --json, on the same network and profile",
     option_text, OPTION_AT(struct bench_arguments, compare)},
    {"quiet", NULL, "no progress", option_flag, OPTION_AT(struct bench_arguments, quiet),
     .letter = 'q'},
    {.more = options_machine, OPTION_AT(struct bench_arguments, machine), .group = 1},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "[OPERATION...]",
    .text =
        "Measures messages and collectives over sizes, checks every byte, and prints each "
        "time beside the one that was predicted and the least that any schedule needs. All run "
        "after each other on one machine, which is booted for them and ends with them. OPERATION "
        "(default: all) is latency, bandwidth, both_ways, message_rate or incast; or a collective: "
        "\vLatency and bandwidth are between rank 0 and the last one, a message rate between "
        "neighbours, 16 messages one behind the other. Model time does not depend on this "
        "computer; wall time does.\n\n"
        "Examples: ecube bench --network cube:4 latency exchange --bytes 1-64K*4\n"
        "          ecube bench --sim --network torus:8x8 --ports all --json before.json\n"
        "          ecube bench --sim --network torus:8x8 --ports all --compare before.json\n\n"
        "Exit status: 0; 1: a byte was wrong, or a time not as predicted; 2 bad input; else that "
        "of 'ecube run'.",
    .take_word = take_word,
    .filter = options_name_operations,
};

int verb_bench(int argc, char **argv)
{
    static struct bench_arguments arguments;
    struct bench_plan plan;
    struct bench_files files;
    struct message message;
    json_t *before, *run = NULL;

    arguments.machine = options_machine_defaults();
    arguments.iterations = ITERATIONS_DEFAULT;
    command_line_parse(&command_line, argc, argv, &arguments);
    if (make_plan(&arguments, &plan, &message) != 0 ||
        bench_compare_open(&plan, &before, &message) != 0) {
        return message_print(&message);
    }
    if (open_files(&arguments, &files, &message) != 0) {
        json_decref(before);
        return message_print(&message);
    }
    int status = measure(&plan, &run);
    if (run) {
        status = show(&plan, run, before, &files, status);
    } else {
        drop_files(&files);
    }
    json_decref(run);
    json_decref(before);
    return status;
}
