/*
 * sim_options.c - the command line of the verb `sim`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/command/duration.h"
#include "host/sim/sim.h"
#include "sim/programs/scenario.h"
#include "wire/frame.h"

enum {
    MESSAGES_MAX = 1 << 20,
    MESSAGES_DEFAULT = 16,
    IMAGE_MIN = 16,
    IMAGE_DEFAULT = 512,
    IMAGE_MAX = 1 << 24,
    SIZE_MAX_BYTES = 1 << 24,
    DELAY_MAX_S = 1,
    AT_MAX_S = 1000000,
    RATE_MIN = 1000,
    FITTING_MAX = 160, /* words on the operators of a type, or the types of an operator */
    THREADS_MAX = 256
};

static const double rate_max = 1e12;

static void take_chance(const struct option_row *option, char *text, void *target)
{
    char *end;
    double value = strtod(text, &end);

    if (*end != '\0' || end == text || !(value >= 0 && value < 1)) {
        command_line_reject("--%s %.40s: a chance is a number from 0 to below 1, for example 1e-4",
                            option->name, text);
    }
    *(double *)target = value;
}

/* Reads a time with its unit; false when it is none. */
static bool read_time(const char *text, uint64_t seconds_max, uint64_t *ns)
{
    return duration_parse(text, DURATION_NEEDS_UNIT, 0, seconds_max * duration_s_ns, ns);
}

static void take_time(const struct option_row *option, char *text, void *target)
{
    if (!read_time(text, DELAY_MAX_S, target)) {
        command_line_reject("--%s %.40s: use a time up to %ds with its unit, for example 5us",
                            option->name, text, DELAY_MAX_S);
    }
}

static void take_rate(const struct option_row *option, char *text, void *target)
{
    char *end;
    double value = strtod(text, &end);
    const char *units = "kMG";
    const char *unit = *end ? strchr(units, *end) : NULL;

    (void)option;
    for (long i = 0; unit && i <= unit - units; i++) {
        value *= 1e3;
    }
    if (end == text || (*end && (!unit || end[1])) || !(value >= RATE_MIN && value <= rate_max)) {
        command_line_reject("--rate %.40s: use bytes per second from %d to 1000G, for example 2.8M",
                            text, RATE_MIN);
    }
    *(uint64_t *)target = (uint64_t)value;
}

static void add_sizes(const struct option_row *option, char *text, void *target)
{
    struct sim_options *options = target;

    for (char *word; (word = strsep(&text, ",")) != NULL;) {
        if (options->size_count == SIM_SIZES_MAX) {
            command_line_reject("--bytes: at most %d sizes", SIM_SIZES_MAX);
        }
        options->sizes[options->size_count++] = (uint32_t)option_number(option, word);
    }
}

static void add_fault(const struct option_row *option, char *text, void *target)
{
    struct sim_arguments *arguments = target;

    if (arguments->fault_count == SIM_FAULTS_MAX) {
        command_line_reject("'%.40s': at most %d faults", text, SIM_FAULTS_MAX);
    }
    arguments->fault_kinds[arguments->fault_count] = (uint8_t)option->kind;
    arguments->faults[arguments->fault_count++] = text;
}

static void take_event(const struct option_row *option, char *text, void *target)
{
    static const char *const names[] = {"drop",      "flip",      "duplicate",    "kill",  "cut",
                                        "host-stop", "host-kill", "host-restart", "cancel"};
    struct sim_faults *faults = target;
    struct choice choice;
    char *end;

    (void)option;
    if (faults->fail_event) {
        command_line_reject("--fail %.40s: one event at a time", text);
    }
    errno = 0;
    faults->fail_event = strtoull(text, &end, 10);
    choice_begin(&choice, *end == ':' ? end + 1 : "");
    for (uint8_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (choice_offer(&choice, names[i])) {
            faults->action = SIM_DROP_FRAME + i;
        }
    }
    if (!faults->action && choice.near) {
        command_line_reject("--fail %.40s: did you mean %.*s%s?", text, (int)(end + 1 - text), text,
                            choice.near);
    }
    if (*text < '0' || *text > '9' || errno || !faults->fail_event || !faults->action) {
        command_line_reject(
            "--fail %.40s: use the number of a link event from 1 on and drop, flip, "
            "duplicate, kill, cut, host-stop, host-kill, host-restart or cancel, for "
            "example 17:drop",
            text);
    }
}

static void take_contents(const struct option_row *option, char *text, void *target)
{
    static const char *const names[] = {"auto", "checked", "shared"};
    struct choice choice;
    struct message message;

    (void)option;
    choice_begin(&choice, text);
    for (uint8_t i = 0; i < 3; i++) {
        if (choice_offer(&choice, names[i])) {
            *(uint8_t *)target = i;
            return;
        }
    }
    choice_refuse(&choice, "unknown --contents", &message);
    command_line_reject("%s", message.text);
}

/* A collective, the download or a pattern of messages. */
static bool find_scenario(struct choice *choice, enum sim_scenario *scenario)
{
    for (unsigned i = SIM_LOAD; i < SIM_SCENARIOS; i++) {
        if (choice_offer(choice, sim_scenario_name((enum sim_scenario)i))) {
            *scenario = (enum sim_scenario)i;
            return true;
        }
    }
    uint32_t operation = options_choose_operation(choice);
    if (operation != OPERATIONS) {
        *scenario = (enum sim_scenario)operation;
    }
    return operation != OPERATIONS;
}

/* By its name, or because there is such a file. */
static bool is_program(const char *word, bool scenario)
{
    size_t length = strlen(word);
    bool named = strchr(word, '/') || (length > 3 && strcmp(word + length - 3, ".so") == 0);

    return named || (!scenario && access(word, F_OK) == 0);
}

static void take_word(char *text, void *target, struct argp_state *state)
{
    struct sim_arguments *arguments = target;
    struct choice choice;
    struct message message;
    enum sim_scenario scenario = SIM_SCENARIOS;

    if (arguments->options.scenario != SIM_SCENARIOS) {
        word_too_many(text);
    }
    choice_begin(&choice, text);
    bool is_scenario = find_scenario(&choice, &scenario);
    if (is_program(text, is_scenario)) {
        arguments->program = text;
        arguments->words = options_take_rest(state, &arguments->word_count);
    } else if (is_scenario) {
        arguments->options.scenario = scenario;
    } else if (choice.near) {
        choice_refuse(&choice, "unknown scenario", &message);
        command_line_reject("%s", message.text);
    } else {
        command_line_reject("'%.200s' is no scenario ('ecube sim --help' lists them), and there is "
                            "no such file",
                            text);
    }
}

static void take_replay(const struct option_row *option, char *text, void *target)
{
    struct sim_options *options = target;

    options->stop_at = option_number(option, text);
    options->history = true;
}

static const struct option_row option_rows[] = {
    {"bytes", "N[,N...]",
     "bytes per pair, block, message or image; repeatable (default 16,100,1000, of long elements "
     "the next multiple)",
     add_sizes, OPTION_AT(struct sim_arguments, options), .high = SIZE_MAX_BYTES},
    {"messages", "N", "messages of each node in message scenarios (default 16)", option_whole,
     OPTION_AT(struct sim_arguments, options.messages), .low = 1, .high = MESSAGES_MAX},
    {"parameter", "P", options_parameter_words, option_text,
     OPTION_AT(struct sim_arguments, parameter)},
    {"algorithm", "ALGORITHM",
     "the algorithm of the collective, or of those of a program's that have it (default: the "
     "cheapest for each size; 'ecube plan list' has the names)",
     option_text, OPTION_AT(struct sim_arguments, options.algorithm)},
    {"type", "TYPE",
     "of the elements that are reduced: int8 to int64, uint8 to uint64, float, double, or a pair "
     "(int32, int64, float or double)+int32 (default int32)",
     option_text, OPTION_AT(struct sim_arguments, type)},
    {"operator", "OPERATOR",
     "what combines them: sum (default), product, min or max; of integers also logical-and, "
     "logical-or, logical-xor, bitwise-and, bitwise-or, bitwise-xor; of pairs minloc or maxloc",
     option_text, OPTION_AT(struct sim_arguments, operator_)},
    {"seed", "S", "what all chance comes from (default 1)", option_whole,
     OPTION_AT(struct sim_arguments, options.seed), .high = INT64_MAX},
    {"shuffle", "S", "events of one time happen in an order drawn from S", option_whole,
     OPTION_AT(struct sim_arguments, options.shuffle), .low = 1, .high = UINT64_MAX},
    {"contents", "checked|shared|auto",
     "checked: keep and check every byte; shared: nodes share one block, and links do not copy it; "
     "auto (default): checked when memory allows",
     take_contents, OPTION_AT(struct sim_arguments, options.contents)},
    {"image", "N", "bytes of the program that is downloaded first (default 512)", option_whole,
     OPTION_AT(struct sim_arguments, options.image_bytes), .low = IMAGE_MIN, .high = IMAGE_MAX},
    {"x", "N", "dimension of the download's smallest subcube (default: the best)", option_whole,
     OPTION_AT(struct sim_arguments, x), .high = NETWORK_HALVINGS_MAX},
    {.more = options_outputs, OPTION_AT(struct sim_arguments, outputs)},
    {"json", "FILE",
     "write the results to FILE (-: standard output, and all else to standard error) as one JSON "
     "object",
     option_text, OPTION_AT(struct sim_arguments, json)},
    {"trace", "FILE",
     "write a timeline to FILE, as Chrome trace JSON, for ui.perfetto.dev or chrome://tracing: one "
     "track per directed link, circuits as slices in model time",
     option_text, OPTION_AT(struct sim_arguments, trace)},
    {"report", "FILE", "write a page of the run to FILE, for a browser ('ecube report --help')",
     option_text, OPTION_AT(struct sim_arguments, report)},
    {"links", NULL,
     "show what each directed link has carried in the run, the busiest first: columns as in 'ecube "
     "ps --links'",
     option_flag, OPTION_AT(struct sim_arguments, links)},
    {"stop-at", "EVENT", "stop when this event has happened", option_whole,
     OPTION_AT(struct sim_arguments, options.stop_at), .low = 1, .high = UINT64_MAX},
    {"replay", "EVENT",
     "with the options of a run that failed: stop when this event has happened, and say what came "
     "before it",
     take_replay, OPTION_AT(struct sim_arguments, options), .low = 1, .high = UINT64_MAX},
    {"strategy", "STRATEGY",
     "of a program's download: decremental (default), scatter, sequential, sequential-scatter, "
     "pipelined, or auto, the fastest that nodes have memory for",
     option_text, OPTION_AT(struct sim_arguments, strategy)},
    {"explain", NULL, "say what each strategy would take, before a program's download", option_flag,
     OPTION_AT(struct sim_arguments, explain)},
    {"timeout", "TIME",
     "end a simulation that takes longer by the clock (default: none; units are ms, s, m and h, a "
     "number alone is seconds)",
     options_take_timeout, OPTION_AT(struct sim_arguments, timeout_ms)},
    {"quiet", NULL,
     "show only what programs print and what goes wrong: no progress, tables or times", option_flag,
     OPTION_AT(struct sim_arguments, quiet), .letter = 'q'},
    {"verbose", NULL, "show registers of faults", option_flag,
     OPTION_AT(struct sim_arguments, verbose), .letter = 'v'},
    {"check", NULL,
     "run only a program that 'ecube-cc --native --check' has linked, which finds wrong uses of "
     "memory and of transfers (doc/debugging.md)",
     option_flag, OPTION_AT(struct sim_arguments, check)},
    {"memory", "MB",
     "end the run of a program when it has taken so many million bytes (default: seven eighths of "
     "what is available)",
     option_whole, OPTION_AT(struct sim_arguments, memory_mb), .low = 1, .high = UINT32_MAX},
    {"threads", "N", "use up to N processors (default: all); whatever N is, the result is the same",
     option_whole, OPTION_AT(struct sim_arguments, options.threads), .low = 1, .high = THREADS_MAX},
    {"plan", "FILE",
     "use the plan in FILE, which is proved first (doc/plans.md), in place of the planner's; "
     "repeatable, for several sizes",
     plan_list_add, OPTION_AT(struct sim_arguments, written)},
    {"scrub", NULL, "overwrite buffers that are given back", option_flag,
     OPTION_AT(struct sim_arguments, options.scrub)},
    {.more = options_data, OPTION_AT(struct sim_arguments, data)},
    {.more = options_stdin, OPTION_AT(struct sim_arguments, data)},
    {.help = "Faults, all drawn from the seed:", .group = 1},
    {"drop", "P", "chance of each frame to lose all or a run of its bytes", take_chance,
     OPTION_AT(struct sim_arguments, options.faults.drop), .group = 1},
    {"flip", "P", "chance of each byte to have one bit turned", take_chance,
     OPTION_AT(struct sim_arguments, options.faults.flip), .group = 1},
    {"duplicate", "P", "chance of each frame to have its end, or all of it, twice", take_chance,
     OPTION_AT(struct sim_arguments, options.faults.duplicate), .group = 1},
    {"delay", "T", "time that every frame takes, for example 5us", take_time,
     OPTION_AT(struct sim_arguments, options.faults.delay_ns), .group = 1},
    {"jitter", "T", "up to so much more, at random", take_time,
     OPTION_AT(struct sim_arguments, options.faults.jitter_ns), .group = 1},
    {"rate", "N", "bytes per second of a link; k, M, G multiply (default: no limit)", take_rate,
     OPTION_AT(struct sim_arguments, options.faults.rate), .group = 1},
    {"kill", "N[@T]",
     "kill node N, or the host, at model time T after the programs' start; without @T from the "
     "beginning, with @boot+T or @download+T counted from there; repeatable, as the next ones",
     add_fault, .kind = SIM_KILL, .group = 1},
    {"cut", "A-B[@T]", "cut the link of A and B; one may be 'host'", add_fault, .kind = SIM_CUT,
     .group = 1},
    {"oneway", "A-B[@T]", "B hears nothing from A any more, and nobody is told; one may be 'host'",
     add_fault, .kind = SIM_ONEWAY, .group = 1},
    {"fail", "E:ACTION",
     "what happens at link event E: drop, flip or duplicate its frame, kill (its sender) or cut "
     "(its link); or the host: host-stop (for 2s), host-kill, host-restart (its links stay up); "
     "cancel stops the program and loads it again",
     take_event, OPTION_AT(struct sim_arguments, options.faults), .group = 1},
    {"slow", "N@T", "node N looks at what arrives a wall time T later; N may be 'host'", add_fault,
     .kind = SIM_SLOW, .group = 1},
    {"abort", "N[@T]",
     "the program of node N aborts the whole run at model time T after the programs' start, "
     "whatever it waits for; without @T as soon as it starts",
     add_fault, .kind = SIM_ABORT, .group = 1},
    {"host-stop", "D[@T]", "the host does nothing for a wall time D", add_fault, .kind = SIM_STOP,
     .group = 1},
    {.more = options_network, OPTION_AT(struct sim_arguments, machine)},
    {.more = options_host_links, OPTION_AT(struct sim_arguments, machine)},
    {.more = options_map, OPTION_AT(struct sim_arguments, machine.map)},
    {.more = options_paths, OPTION_AT(struct sim_arguments, machine)},
    {0},
};

static void list_scenarios(struct completion *completion)
{
    for (unsigned i = SIM_LOAD; i < SIM_SCENARIOS; i++) {
        completion_offer(completion, sim_scenario_name((enum sim_scenario)i));
    }
    completion_list_operations(completion);
}

static const struct completion_kind kinds[] = {{"SCENARIO", list_scenarios}, {0}};

const struct command_line sim_line = {
    option_rows,
    .words = "SCENARIO|PROGRAM [ARGUMENT...]",
    .text = "Runs the nodes' own code, up to 65536 of them in one process, in model time. PROGRAM "
            "is one of your own, made by 'ecube-cc --native': a copy of it runs on every node, and "
            "what it prints, reports and ends with is shown as 'ecube run' shows it. A word is a "
            "program when it has a '/' in it, ends with '.so', or is a file and no scenario. "
            "SCENARIO is the download; or messages: random, transpose, bitreversal, hotspot; or "
            "circle, in "
            "which every node receives from the next one before it sends, which is a deadlock; or "
            "a collective: "
            "\vOptions must stand before PROGRAM: the words behind it are passed to the "
            "program.\n\n" OPTIONS_DATA_WORDS "\n\n"
            "Examples: ecube sim --network cube:10 exchange --bytes 1000\n"
            "          ecube sim --network cube:6 --drop 1e-3 --kill 17@300us random\n"
            "          ecube sim --network torus:4x4 exchange --algorithm direct\n"
            "          ecube sim --network mesh:3x4 transpose --links\n"
            "          ecube sim --network ring:4 --plan plan.json broadcast\n"
            "          ecube sim --network cube:10 --seed 7 --drop 1e-4 hello.so 10 20\n\n"
            "Exit status: 0 all programs ended well, or were stopped; 3 with a named error; 1 "
            "wrong bytes; 124 no progress, or --timeout; 2 bad input. With PROGRAM it is that of "
            "'ecube run': the largest of the programs', 132 to 139 for one that crashed, 135 for "
            "what the checks have found, 159 for one that an error of a call has ended.",
    .take_word = take_word,
    .in_order = true,
    .filter = options_name_operations,
    .kinds = kinds,
};

const struct command_line sim_ranks_line = {
    option_rows,
    .words = "SCENARIO|PROGRAM [ARGUMENT...]",
    .text = "Simulates as 'ecube sim' does, over the processes of an MPI job, each of which has a "
            "range of the nodes: same times, output and digest. 'ecube sim --help' tells what "
            "SCENARIO and PROGRAM are, which every computer of the job must have; standard input "
            "and all files that are written are those of rank 0. Up to 32 processes, each with two "
            "nodes at least, and with --threads 64 ranges of nodes in all. What wants the events "
            "of all "
            "nodes in one order is refused: chance (--drop, --flip, --duplicate, --jitter), faults "
            "of nodes, links and the host, --shuffle, --trace, --report, --stop-at and --replay. A "
            "collective is: "
            "\vOptions must stand before PROGRAM: the words behind it are passed to the "
            "program. --verbose tells what each process has had to do.\n\n"
            "Examples: mpirun -n 4 ecube-sim-mpi --network cube:16 download\n"
            "          mpirun -n 2 ecube-sim-mpi --network cube:10 -v exchange --bytes 1000\n"
            "          mpirun --quiet -n 4 ecube-sim-mpi --network torus:16x16 prog.so\n\n"
            "mpirun adds lines of its own when the status is not 0; its option --quiet leaves them "
            "out. As root it wants --allow-run-as-root, and for more processes than processors "
            "--oversubscribe.\n\n"
            "Exit status: that of 'ecube sim'.",
    .take_word = take_word,
    .in_order = true,
    .filter = options_name_operations,
    .kinds = kinds,
};

/* Reads what follows the @: T, or a phase and T. */
static int finish_time(struct sim_fault *fault, const char *at, const char *text,
                       struct message *message)
{
    static const char *const phases[] = {"boot", "download", "run"};

    fault->phase = SIM_BOOT;
    if (!at) {
        return 0;
    }
    fault->phase = SIM_RUN;
    for (uint8_t i = 0; i < 3; i++) {
        size_t length = strlen(phases[i]);
        if (strncmp(at, phases[i], length) == 0 && (at[length] == '\0' || at[length] == '+')) {
            fault->phase = i;
            if (at[length] == '\0') {
                return 0;
            }
            at += length + 1;
            break;
        }
    }
    if (!read_time(at, AT_MAX_S, &fault->at_ns)) {
        return message_set(
            message, "'%.40s': say when as a time with its unit, for example @300us or @boot+1ms",
            text);
    }
    return 0;
}

static int finish_nodes(const struct sim_arguments *arguments, struct sim_fault *fault,
                        const char *what, struct message *message)
{
    const struct network *network = &arguments->network;
    uint32_t ends[2];

    if (fault->kind == SIM_STOP) {
        fault->a = ID_HOST;
        return read_time(what, AT_MAX_S, &fault->slow_ns)
                   ? 0
                   : message_set(message, "--host-stop %.40s: say for how long, for example 2s@run",
                                 what);
    }
    if ((fault->kind == SIM_KILL || fault->kind == SIM_SLOW) && strcmp(what, "host") == 0) {
        fault->a = ID_HOST;
        return 0;
    }
    if (fault->kind == SIM_KILL || fault->kind == SIM_SLOW || fault->kind == SIM_ABORT) {
        return network_parse_node(network, what, &fault->a, message->text) ? 0 : -1;
    }
    if (!network_parse_cable(network, what, ends, message->text)) {
        return -1;
    }
    fault->a = ends[0]; /* NETWORK_NO_NODE is ID_HOST */
    fault->b = ends[1];
    return 0;
}

static int finish_fault(struct sim_arguments *arguments, unsigned index, struct message *message)
{
    struct sim_faults *faults = &arguments->options.faults;
    struct sim_fault *fault = &faults->list[faults->count++];
    const char *text = arguments->faults[index];
    const char *from = strncmp(text, "node:", 5) == 0 ? text + 5 : text;
    const char *at = strchr(from, '@');
    char what[32];

    *fault = (struct sim_fault){.kind = arguments->fault_kinds[index]};
    snprintf(what, sizeof what, "%.*s", at ? (int)(at - from) : (int)strlen(from), from);
    if (finish_nodes(arguments, fault, what, message) != 0) {
        return -1;
    }
    if (fault->kind == SIM_SLOW) {
        if (!at || !read_time(at + 1, DELAY_MAX_S, &fault->slow_ns)) {
            return message_set(message, "--slow %.40s: say how slow, for example 5@20us", text);
        }
        return 0;
    }
    if (fault->kind == SIM_ABORT && !at) {
        fault->phase = SIM_RUN;
        return 0;
    }
    if (finish_time(fault, at ? at + 1 : NULL, text, message) != 0) {
        return -1;
    }
    return fault->kind != SIM_ABORT || fault->phase == SIM_RUN
               ? 0
               : message_set(message, "--abort %.40s: no program runs in that phase", text);
}

/* A plan must be of the scenario, for one of its sizes; without --bytes those are the plans'. */
static int finish_plan(struct sim_options *options, const struct plan *plan, const char *path,
                       bool sizes_given, struct message *message)
{
    char purpose[PLAN_PURPOSE_MAX];
    bool sized = plan->bytes_min == plan->bytes_max, wanted = false;

    plan_purpose(plan, purpose);
    if (plan->operation != (uint32_t)options->scenario ||
        plan->root != scenario_plan_root(options)) {
        return message_set(message, "%.60s is a plan of %s, and the scenario is %s", path, purpose,
                           sim_scenario_name(options->scenario));
    }
    if (!sizes_given && sized) {
        if (options->size_count == SIM_SIZES_MAX) {
            return message_set(message, "%.60s: at most %d sizes", path, SIM_SIZES_MAX);
        }
        options->sizes[options->size_count++] = plan->bytes_min;
    }
    for (unsigned i = 0; i < options->size_count; i++) {
        wanted = wanted ||
                 (options->sizes[i] >= plan->bytes_min && options->sizes[i] <= plan->bytes_max);
    }
    return wanted || !sized ? 0
                            : message_set(message, "%.60s is a plan of %s: add --bytes %u", path,
                                          purpose, (unsigned)plan->bytes_min);
}

/* What stands in the place of a root. */
static int finish_parameter(struct sim_arguments *arguments, struct message *message)
{
    struct sim_options *options = &arguments->options;
    const struct operation *operation = scenario_is_collective(options->scenario)
                                            ? operation_of((uint32_t)options->scenario)
                                            : NULL;

    if (arguments->program || options->scenario == SIM_SCENARIOS || !arguments->parameter) {
        return 0;
    }
    options->asked = true;
    return options_find_parameter(operation, &options->network, arguments->parameter,
                                  &options->root, message);
}

static int finish_plans(struct sim_arguments *arguments, struct message *message)
{
    struct sim_options *options = &arguments->options;
    bool sizes_given = options->size_count > 0;

    if (plan_list_read(&arguments->written, &arguments->network, &options->profile, message) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < arguments->written.count; i++) {
        if (!arguments->program &&
            finish_plan(options, arguments->written.plans[i], arguments->written.paths[i],
                        sizes_given, message) != 0) {
            return -1;
        }
    }
    options->written = arguments->written.plans;
    options->written_count = arguments->written.count;
    return 0;
}

/* "minloc, maxloc": the operators that go with a type, or the types that go with an operator. */
static void list_fitting(uint32_t type, uint32_t operator_, char text[FITTING_MAX])
{
    const char *name;
    size_t used = 0;

    for (uint32_t i = 1;
         (name = type ? reduction_operator_name(i) : reduction_type_name(i)) && used < FITTING_MAX;
         i++) {
        if (reduction_possible(type ? type : i, operator_ ? operator_ : i)) {
            used +=
                (size_t)snprintf(text + used, FITTING_MAX - used, "%s%s", used ? ", " : "", name);
        }
    }
}

/* Of a pair that does not go together the one is named that was asked for, with what fits it. */
static int finish_reduction(struct sim_arguments *arguments, struct message *message)
{
    struct sim_options *options = &arguments->options;
    uint32_t type = ECUBE_INT32, operator_ = ECUBE_SUM;
    char fitting[FITTING_MAX];

    if (!scenario_reduces(options->scenario)) {
        const char *text = arguments->type ? arguments->type : arguments->operator_;
        return text ? message_set(message, "--%s %.40s: %s combines nothing",
                                  arguments->type ? "type" : "operator", text,
                                  sim_scenario_name(options->scenario))
                    : 0;
    }
    if ((arguments->type && options_find_type(arguments->type, &type, message) != 0) ||
        (arguments->operator_ &&
         options_find_operator(arguments->operator_, &operator_, message) != 0)) {
        return -1;
    }
    options->type = (uint8_t)type;
    options->operator_ = (uint8_t)operator_;
    if (reduction_possible(type, operator_)) {
        return 0;
    }
    list_fitting(arguments->type ? type : 0, arguments->type ? 0 : operator_, fitting);
    return arguments->type
               ? message_set(message, "--type %s: %s is not for it: use --operator %s",
                             reduction_type_name(type), reduction_operator_name(operator_), fitting)
               : message_set(message, "--operator %s: it is not for %s: use --type %s",
                             reduction_operator_name(operator_), reduction_type_name(type),
                             fitting);
}

/* The usual sizes, in whole elements. */
static void default_sizes(struct sim_options *options)
{
    static const uint32_t sizes[] = {16, 100, 1000};
    uint32_t element = scenario_element_bytes(options);

    options->size_count = sizeof sizes / sizeof sizes[0];
    for (unsigned i = 0; i < options->size_count; i++) {
        options->sizes[i] = (sizes[i] + element - 1) / element * element;
    }
}

/* What only scenarios have; NULL: nothing of it was given. */
static const char *of_scenarios(const struct sim_arguments *arguments)
{
    const struct sim_options *options = &arguments->options;

    return options->size_count             ? "bytes"
           : options->messages             ? "messages"
           : arguments->parameter          ? "parameter"
           : arguments->type               ? "type"
           : arguments->operator_          ? "operator"
           : options->contents != SIM_AUTO ? "contents"
           : options->image_bytes          ? "image"
                                           : NULL;
}

static int finish_program(const struct sim_arguments *arguments, struct message *message)
{
    const char *option = of_scenarios(arguments);

    return option ? message_set(message,
                                "--%s is for scenarios: %.200s is a program, which has sizes and "
                                "collectives of its own",
                                option, arguments->program)
                  : 0;
}

static int finish_scenario(struct sim_arguments *arguments, struct message *message)
{
    struct sim_options *options = &arguments->options;
    char why[SIM_WHY_MAX];

    if (arguments->memory_mb) {
        return message_set(message,
                           "--memory is for programs: a scenario's memory is known before");
    }
    if (arguments->strategy) {
        return message_set(message,
                           "--strategy %.40s: that of a scenario's download is "
                           "decremental",
                           arguments->strategy);
    }
    if (arguments->data.standard_input) {
        return message_set(message, "--stdin is for programs: a scenario reads nothing");
    }
    if (arguments->explain || arguments->data.count > 0) {
        return message_set(message, "--%s is for programs: a scenario loads no data",
                           arguments->explain ? "explain" : "common, --input, --private or --file");
    }
    if (arguments->check && options->scenario != SIM_SCENARIOS) {
        return message_set(message, "--check is for programs: %s is a scenario",
                           sim_scenario_name(options->scenario));
    }
    if (arguments->outputs.output || arguments->outputs.files) {
        return message_set(message, "--%s is for programs: scenarios leave nothing",
                           arguments->outputs.output ? "output" : "files-to");
    }
    if (options->messages == 0) {
        options->messages = MESSAGES_DEFAULT;
    }

    if (options->scenario == SIM_SCENARIOS) {
        return message_set(message, "name a scenario, for example exchange ('ecube sim --help' "
                                    "lists them), or a program made by ecube-cc --native");
    }
    if (finish_reduction(arguments, message) != 0) {
        return -1;
    }
    if (!sim_scenario_fits(options->scenario, &arguments->network, why)) {
        return message_set(message, "%s on %s: %s", sim_scenario_name(options->scenario),
                           arguments->network_name, why);
    }
    if (options->algorithm && !scenario_is_collective(options->scenario)) {
        return message_set(message, "--algorithm %.40s: %s is no collective", options->algorithm,
                           sim_scenario_name(options->scenario));
    }
    if (options->image_bytes == 0) {
        options->image_bytes = IMAGE_DEFAULT;
    } else if (options->scenario == SIM_LOAD) {
        return message_set(message, "--image %u: the sizes of the download are those of --bytes",
                           (unsigned)options->image_bytes);
    }
    if (options->size_count == 0 && options->scenario == SIM_BARRIER) {
        options->size_count = 1;
    } else if (options->size_count == 0) {
        default_sizes(options);
    }
    for (unsigned i = 0; i < options->size_count; i++) {
        if (options->scenario == SIM_LOAD && options->sizes[i] < IMAGE_MIN) {
            return message_set(message, "--bytes %u: an image has at least %d bytes",
                               (unsigned)options->sizes[i], IMAGE_MIN);
        }
        if (options->sizes[i] % scenario_element_bytes(options) != 0) {
            return message_set(message,
                               "--bytes %u: %s of %s combines elements of %u bytes: use a multiple",
                               (unsigned)options->sizes[i], sim_scenario_name(options->scenario),
                               reduction_type_name(scenario_type(options)),
                               (unsigned)scenario_element_bytes(options));
        }
    }
    return 0;
}

int sim_arguments_finish(struct sim_arguments *arguments, struct message *message)
{
    struct sim_options *options = &arguments->options;

    static const struct network_limits limits = {.nodes = NETWORK_NODES_MAX,
                                                 .place = "in the simulator"};

    if (options_find_network(arguments->machine.network, &limits, &arguments->network, message) !=
            0 ||
        options_find_host_links(&arguments->machine, &arguments->network, message) != 0 ||
        map_apply(&arguments->machine.map, &arguments->network, message) != 0) {
        return -1;
    }
    options->network = arguments->network;
    network_name(&arguments->network, arguments->network_name);
    if (options_find_profile(&arguments->machine, &arguments->network, &options->profile,
                             arguments->profile_name, message) != 0 ||
        options_find_paths(&arguments->machine, &options->profile, arguments->profile_name,
                           &options->paths, message) != 0 ||
        finish_parameter(arguments, message) != 0 || finish_plans(arguments, message) != 0 ||
        (arguments->program ? finish_program(arguments, message)
                            : finish_scenario(arguments, message)) != 0) {
        return -1;
    }
    unsigned halvings = network_halvings(&arguments->network);
    if (arguments->x > (int)halvings) {
        return message_set(message, "--x %d: %s%s is halved %u times: x is from 0 to %u",
                           arguments->x, arguments->network.host_links > 1 ? "a range of " : "",
                           arguments->network_name, halvings, halvings);
    }
    if (arguments->json && arguments->trace && strcmp(arguments->json, arguments->trace) == 0) {
        return message_set(message, "--json and --trace %.300s: use a file for each",
                           arguments->trace);
    }
    for (unsigned i = 0; i < arguments->fault_count; i++) {
        if (finish_fault(arguments, i, message) != 0) {
            return -1;
        }
    }
    return 0;
}
