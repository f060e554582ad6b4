/*
 * options.c - the tables of options that verbs share, and what their words mean.
 *
 * Reading is in two steps. What an option can judge alone it judges at once (a number, a time).
 * What needs another option, say a link of --cut its --network, is kept as a word, and judged when
 * all are known: options may come in any order.
 */
#include "host/command/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "host/command/algorithm.h"
#include "host/command/duration.h"
#include "host/machine/link_maker.h"
#include "network/paths.h"
#include "reduction/reduction.h"
#include "router/channel.h"
#include "wire/run.h"

enum { TIMEOUT_DEFAULT_MS = 600 * 1000, HOUR_MS = 3600 * 1000, BOUND_MAX_MS = 7 * 24 * HOUR_MS };

uint32_t options_choose_operation(struct choice *choice)
{
    uint32_t found = OPERATIONS;

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const struct operation *operation = operation_of(i);
        if (operation && operation->planned) {
            bool is_it = choice_offer(choice, operation->name);
            if (strcmp(operation->name, operation->standard) != 0) {
                is_it = choice_offer_alias(choice, operation->standard) || is_it;
            }
            found = is_it ? i : found;
        }
    }
    return found;
}

const char options_parameter_words[] =
    "of a shift the distance (default 1); of a reversal the mask of its dimensions, 1 for the last "
    "number of the network, 2 for the one before, 3 for both (default 0: all); of all_to_some 0 "
    "for "
    "all movements (the default), 1 for all and +1 and -1 once more, 2 + 2 j for +2^j alone, 3 + 2 "
    "j "
    "for -2^j alone";

int options_find_parameter(const struct operation *operation, const struct network *network,
                           const char *text, uint32_t *value, struct message *message)
{
    char *end;

    if (!operation || !operation->parameter) {
        return message_set(message, "--parameter %.40s: %s has none", text,
                           operation ? operation->name : "this");
    }
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno ||
        number >= operation_roots(operation, network)) {
        return message_set(message,
                           "--parameter %.40s: no %s; use, for %s here, a number from 0 to %u",
                           text, operation_root_name(operation), operation->name,
                           (unsigned)operation_roots(operation, network) - 1);
    }
    *value = (uint32_t)number;
    return 0;
}

/* The number from 1 on that a word names; 0: it names none, and the message says so. */
static uint32_t find_named(const char *(*name_of)(uint32_t number), const char *word,
                           const char *what, struct message *message)
{
    struct choice choice;
    const char *name;

    choice_begin(&choice, word);
    for (uint32_t i = 1; (name = name_of(i)) != NULL; i++) {
        if (choice_offer(&choice, name)) {
            return i;
        }
    }
    choice_refuse(&choice, what, message);
    return 0;
}

int options_find_type(const char *text, uint32_t *type, struct message *message)
{
    *type = find_named(reduction_type_name, text, "unknown type", message);
    return *type ? 0 : -1;
}

int options_find_operator(const char *text, uint32_t *operator_, struct message *message)
{
    *operator_ = find_named(reduction_operator_name, text, "unknown operator", message);
    return *operator_ ? 0 : -1;
}

int options_find_network(const char *text, const struct network_limits *limits,
                         struct network *network, struct message *message)
{
    char kind[24];
    struct choice choice;
    const char *name, *colon = strchr(text, ':');

    if (network_parse(network, text, limits, message->text)) {
        return 0;
    }
    snprintf(kind, sizeof kind, "%.*s", colon ? (int)(colon - text) : 0, text);
    choice_begin(&choice, kind);
    for (unsigned i = 0; (name = network_kind_name(i)) != NULL; i++) {
        if (choice_offer(&choice, name)) {
            return -1; /* a kind that there is, of another form */
        }
    }
    return choice.near ? message_set(message, "unknown network '%.40s': did you mean %s%.40s?",
                                     text, choice.near, colon)
                       : -1;
}

int options_find_host_links(const struct machine_arguments *arguments, struct network *network,
                            struct message *message)
{
    return arguments->host_links == 0 ||
                   network_parse_host_links(network, arguments->host_links, message->text)
               ? 0
               : -1;
}

char *options_name_operations(int key, const char *text, void *input)
{
    struct choice choice;
    char *whole = NULL;

    (void)input;
    if (key == ARGP_KEY_HELP_PRE_DOC) {
        choice_begin(&choice, "");
        options_choose_operation(&choice);
        if (asprintf(&whole, "%s%s.", text, choice.names) >= 0) {
            return whole; /* which argp frees */
        }
    }
    return (char *)(uintptr_t)text;
}

void options_take_sigma(const struct option_row *option, char *text, void *target)
{
    char *end;
    double sigma = strtod(text, &end);

    (void)option;
    if (*end != '\0' || end == text || !(sigma >= 0 && sigma <= PROFILE_SIGMA_MAX)) {
        command_line_reject("--sigma %.40s: use a number from 0 to %d, for example 1.5", text,
                            PROFILE_SIGMA_MAX);
    }
    *(double *)target = sigma;
}

/* Numbers between commas. */
static void take_ports(const struct option_row *option, char *text, void *target)
{
    struct ports_wanted *ports = target;
    char *rest = text, *end;

    (void)option;
    ports->count = 0;
    do {
        bool all = strncmp(rest, "all", 3) == 0;
        unsigned long number = strtoul(rest, &end, 10);
        bool good = all || (*rest >= '1' && *rest <= '9' && number <= CLOCK_PORTS_MAX);
        end = all ? rest + 3 : end;
        if (!good || (*end && *end != ',') || ports->count == CLOCK_PORTS_MAX) {
            command_line_reject("--ports %.40s: use a number from 1 to %d, or all", text,
                                CLOCK_PORTS_MAX);
        }
        ports->all[ports->count++] = all ? PORTS_ALL : (uint8_t)number;
        rest = end + 1;
    } while (*end);
}

static void take_patience(const struct option_row *option, char *text, void *target)
{
    uint64_t ns;

    (void)option;
    if (!duration_parse(text, DURATION_NEEDS_UNIT, DEAD_AFTER_MS_MIN * duration_ms_ns,
                        BOUND_MAX_MS * duration_ms_ns, &ns)) {
        command_line_reject(
            "--patience %.40s: use a time from %ds to %dh, for example 90s, 10m or 1h", text,
            DEAD_AFTER_MS_MIN / 1000, BOUND_MAX_MS / HOUR_MS);
    }
    *(uint32_t *)target = (uint32_t)(ns / duration_ms_ns);
}

void options_take_timeout(const struct option_row *option, char *text, void *target)
{
    uint64_t ns;

    (void)option;
    if (!duration_parse(text, duration_s_ns, duration_ms_ns, BOUND_MAX_MS * duration_ms_ns, &ns)) {
        command_line_reject("--timeout %.40s: use a time from 1ms to %dh, for example 500ms, 90s "
                            "or 10m; a number alone is seconds",
                            text, BOUND_MAX_MS / HOUR_MS);
    }
    *(uint32_t *)target = (uint32_t)(ns / duration_ms_ns);
}

const struct option_row options_network[] = {
    {"network", "NETWORK",
     "the network: cube:D, ring:N, mesh:AxB[x...] or torus:AxB[x...], for example torus:4x4 (the "
     "default is cube:4)",
     option_text, OPTION_AT(struct machine_arguments, network), .letter = 'm'},
    {"mesh", .help = NULL},
    {"profile", "PROFILE|FILE",
     "the machine whose times are modelled: one that is built in, ipsc860 (default), ipsc2, delta, "
     "t800 or unit, or a file ('ecube profile --help')",
     option_text, OPTION_AT(struct machine_arguments, profile)},
    {"sigma", "FACTOR",
     "start-up time of a host message, as a multiple of a node's (default: the profile's, 1.5 for "
     "ipsc860)",
     options_take_sigma, OPTION_AT(struct machine_arguments, sigma)},
    {"ports", "P|all",
     "over how many links a node sends, and receives, at once: 1, 2, ... or all (default: the "
     "profile's, 1 for ipsc860)",
     take_ports, OPTION_AT(struct machine_arguments, ports)},
    {0},
};

const struct option_row options_host_links[] = {
    {"host-links", "N",
     "host links that are used at the same time, a power of two up to 16: one for each of N ranges "
     "of nodes, which halving makes (default: one to node 0 and to each of its neighbours, one "
     "message at a time)",
     option_whole, OPTION_AT(struct machine_arguments, host_links), .low = 1,
     .high = NETWORK_NODES_MAX},
    {0},
};

const struct option_row options_paths[] = {
    {"paths", "N",
     "long messages go over up to N paths at once that share no link, each by ports of its own, "
     "where that is faster; 1: also those of ecube_send_parallel go over one (default: messages "
     "go as the program says)",
     option_whole, OPTION_AT(struct machine_arguments, paths), .low = 1, .high = NETWORK_PATHS_MAX},
    {0},
};

const struct option_row options_machine[] = {
    {.more = options_map, OPTION_AT(struct machine_arguments, map)},
    {"algorithm", "ALGORITHM",
     "the algorithm of collectives, of each operation that has it (default: the cheapest for each "
     "size; 'ecube plan list' has the names)",
     option_text, OPTION_AT(struct machine_arguments, algorithm)},
    {"board", "BOARD", "what the nodes are (default: the board that the tool was made for)",
     option_text, OPTION_AT(struct machine_arguments, board)},
    {"links", "auto|shared|serial",
     "what links between nodes are: shared (memory that two nodes share), serial (virtual serial "
     "lines) or auto, shared if this QEMU and this computer can (default: auto, or what the "
     "environment has in ECUBE_LINKS)",
     option_text, OPTION_AT(struct machine_arguments, links)},
    {"patience", "TIME",
     "link timeout, and stall limit of boot, download and the way of outputs: how long a node may "
     "be silent, halted by a debugger for example, before it counts as dead, and how long a boot "
     "may show nothing new "
     "(default 15s; units are ms, s, m and h). The stall limits grow on a busy computer",
     take_patience, OPTION_AT(struct machine_arguments, patience_ms)},
    {"kernel", "FILE", "kernel image, when it is not beside the tool", option_text,
     OPTION_AT(struct machine_arguments, kernel)},
    {"qemu", "FILE", "QEMU to run, when it is not the board's in PATH", option_text,
     OPTION_AT(struct machine_arguments, qemu)},
    {.more = options_network},
    {.more = options_host_links},
    {.more = options_paths},
    {0},
};

/* The nodes of the program that is named next. */
static void take_nodes(const struct option_row *option, char *text, void *target)
{
    struct load_arguments *arguments = target;

    (void)option;
    if (arguments->nodes) {
        command_line_reject("--node %.60s: name the program for these nodes behind it",
                            arguments->nodes);
    }
    arguments->nodes = text;
}

/* A piece of data. */
static struct job_data *add_data(struct data_arguments *arguments, const char *option,
                                 const struct job_data *data)
{
    if (data->path[0] == '\0') {
        command_line_reject("--%s needs the name of a file", option);
    }
    if (arguments->count == JOB_DATA_MAX) {
        command_line_reject("--%s %.200s: there is room for %d pieces of data", option, data->name,
                            JOB_DATA_MAX);
    }
    struct job_data *added = &arguments->list[arguments->count++];
    *added = *data;
    return added;
}

static void take_data(const struct option_row *option, char *text, void *target)
{
    add_data(target, option->name,
             &(struct job_data){.kind = option->kind, .path = text, .name = text});
}

/* NAME[=FILE] */
static void take_file(const struct option_row *option, char *text, void *target)
{
    struct data_arguments *arguments = target;
    char *equals = strchr(text, '=');

    if (equals) {
        *equals = '\0';
    }
    if (!block_name_is_good(text)) {
        command_line_reject(
            "--file %.200s: give it the name that programs open it by, a path of up "
            "to %d bytes that does not begin with '/' and has no '.', '..' or '//' "
            "in it: --file NAME=%.200s",
            text, BLOCK_NAME_BYTES - 1, equals ? equals + 1 : text);
    }
    for (unsigned i = 0; i < arguments->count; i++) {
        if (arguments->list[i].kind == BLOCK_FILE && strcmp(arguments->list[i].name, text) == 0) {
            command_line_reject("--file %.200s: there are two files of this name", text);
        }
    }
    add_data(
        arguments, option->name,
        &(struct job_data){.kind = BLOCK_FILE, .path = equals ? equals + 1 : text, .name = text});
}

/* The --input that an option is for: the last one. */
static struct job_data *last_input(const struct option_row *option,
                                   struct data_arguments *arguments)
{
    struct job_data *last = arguments->count ? &arguments->list[arguments->count - 1] : NULL;

    if (!last || last->kind != BLOCK_INPUT) {
        command_line_reject("--%s stands behind the --input that it is for", option->name);
    }
    return last;
}

static void take_window(const struct option_row *option, char *text, void *target)
{
    last_input(option, target)->window = option_number(option, text);
}

static void take_stride(const struct option_row *option, char *text, void *target)
{
    last_input(option, target)->stride = option_number(option, text);
}

static void take_pad(const struct option_row *option, char *text, void *target)
{
    (void)text;
    last_input(option, target)->pad = true;
}

static const struct option_row options_windows[] = {
    {"window", "N", "of the --input before it: bytes of a node (default: an equal part)",
     take_window, .low = 1, .high = INT32_MAX},
    {"stride", "N",
     "of the --input before it: bytes from the beginning of a window to that of the next node's "
     "(default: as many as a window has)",
     take_stride, .low = 1, .high = INT32_MAX},
    {"pad", NULL, "of the --input before it: behind the file's end windows go on with zeros",
     take_pad, .at = 0},
    {0},
};

const struct option_row options_data[] = {
    {"common", "FILE", "data that all nodes get, and may only read; repeatable", take_data,
     .kind = BLOCK_COMMON},
    {"input", "FILE", "data of which each node gets a window, and may only read it; repeatable",
     take_data, .kind = BLOCK_INPUT},
    {.more = options_windows},
    {"private", "PATTERN",
     "data of each node's own, which it may write: a file for each, with %r in its name for the "
     "rank; repeatable",
     take_data, .kind = BLOCK_PRIVATE},
    {"file", "NAME[=FILE]",
     "a file that programs at all nodes can open by this name, to read; repeatable", take_file,
     .at = 0},
    {0},
};

const struct option_row options_parts[] = {
    {"common", "FILE", "all nodes get the whole file", take_data, .kind = BLOCK_COMMON},
    {"input", "FILE", "each node gets a window of the file", take_data, .kind = BLOCK_INPUT},
    {.more = options_windows},
    {"private", "PATTERN", "each node gets a file of its own, with %r in its name for the rank",
     take_data, .kind = BLOCK_PRIVATE},
    {0},
};

const struct option_row options_stdin[] = {
    {"stdin", "0|all|none",
     "which programs read the tool's standard input, to its end: 0 (rank 0, the default of a file "
     "or a pipe), all or none, for example in a loop of the shell that reads a list itself",
     option_text, OPTION_AT(struct data_arguments, standard_input)},
    {0},
};

const struct option_row options_outputs[] = {
    {"output", "FILE",
     "when all programs have ended by themselves write to FILE what they have named with "
     "ecube_output, one rank's behind the other's",
     option_text, OPTION_AT(struct outputs_request, output)},
    {"files-to", "DIR",
     "when the programs have ended, however, write the files that they have left to DIR/RANK/NAME",
     option_text, OPTION_AT(struct outputs_request, files)},
    {0},
};

const struct option_row options_load[] = {
    {"node", "NODES",
     "the program named next is for these nodes, for example 3,8-15; the one without is for all "
     "others; repeatable",
     take_nodes, .at = 0},
    {"strategy", "STRATEGY",
     "download by decremental (default), scatter, sequential, sequential-scatter, pipelined, or "
     "auto, the fastest that nodes have memory for",
     option_text, OPTION_AT(struct load_arguments, strategy)},
    {"explain", NULL, "say what each strategy would take, before the download", option_flag,
     OPTION_AT(struct load_arguments, explain)},
    {"x", "N", "dimension of the smallest subcube (default: the best)", option_whole,
     OPTION_AT(struct load_arguments, x), .high = NETWORK_DIMS_MAX},
    {"timeout", "TIME",
     "end a run that takes longer: boot, download, programs and outputs together (default 10m; "
     "units are ms, s, m and h, a number alone is seconds)",
     options_take_timeout, OPTION_AT(struct load_arguments, timeout_ms)},
    {.more = options_outputs, OPTION_AT(struct load_arguments, outputs)},
    {"trace", "FILE",
     "write a timeline of the run in model time to FILE, as Chrome trace JSON, for "
     "ui.perfetto.dev or chrome://tracing (doc/simulation.md)",
     option_text, OPTION_AT(struct load_arguments, trace)},
    {"report", "FILE", "write a page of the run to FILE, for a browser ('ecube report --help')",
     option_text, OPTION_AT(struct load_arguments, report)},
    {"json", "FILE",
     "write the results to FILE (-: standard output, and all else to standard error) as one JSON "
     "object",
     option_text, OPTION_AT(struct load_arguments, json)},
    {"quiet", NULL,
     "show only what programs print and what goes wrong: no progress, tables or times", option_flag,
     OPTION_AT(struct load_arguments, quiet), .letter = 'q'},
    {"verbose", NULL, "show registers of faults", option_flag,
     OPTION_AT(struct load_arguments, verbose), .letter = 'v'},
    {"check", NULL,
     "run only a program that 'ecube-cc --check' has linked, which finds wrong uses of memory and "
     "of transfers (doc/debugging.md)",
     option_flag, OPTION_AT(struct load_arguments, check)},
    {.more = options_data, OPTION_AT(struct load_arguments, data)},
    {0},
};

const struct option_row options_name[] = {
    {"name", "MACHINE", "which machine, when several are up", option_text,
     OPTION_AT(struct name_arguments, name)},
    {0},
};

/* Whether a word is one of our long options, with or without its value. */
static bool is_option(const struct argp_option *option, const char *word)
{
    size_t length = strcspn(word, "=") - 2;

    while (option->name &&
           (strlen(option->name) != length || strncmp(option->name, word + 2, length) != 0)) {
        option++;
    }
    return option->name != NULL;
}

/* Whoever writes one of our options behind the program may have meant it for us; "--" before it, or
 * before the program, says otherwise. */
static void hint_at_options(const struct argp_state *state)
{
    struct message message;

    for (int i = state->next; i < state->argc && !state->quoted; i++) {
        const char *word = state->argv[i];

        if (strcmp(word, "--") == 0) {
            return;
        }
        if (strncmp(word, "--", 2) == 0 && is_option(state->root_argp->options, word)) {
            message_set(&message,
                        "%.*s after the program's name is the program's argument; put it before",
                        (int)strcspn(word, "="), word);
            message_print(&message);
            return;
        }
    }
}

const char *const *options_take_rest(struct argp_state *state, unsigned *count)
{
    const char *const *words = (const char *const *)&state->argv[state->next];

    *count = (unsigned)(state->argc - state->next);
    hint_at_options(state);
    state->next = state->argc;
    return words;
}

void options_take_program(char *word, void *target, struct argp_state *state)
{
    struct load_arguments *arguments = target;
    bool behind = state->quoted > 0 && state->next > state->quoted;

    if (behind && !arguments->nodes && arguments->program_count > 0) {
        state->next--; /* "--": it is an argument already */
    } else if (arguments->program_count == JOB_PROGRAMS_MAX) {
        command_line_reject("%.200s: there is room for %d programs", word, JOB_PROGRAMS_MAX);
    } else {
        arguments->programs[arguments->program_count++] =
            (struct job_program){word, arguments->nodes};
        if (arguments->nodes) {
            arguments->nodes = NULL;
            return; /* the next word is a program, too */
        }
    }
    arguments->arguments = options_take_rest(state, &arguments->argument_count);
}

struct machine_arguments options_machine_defaults(void)
{
    return (struct machine_arguments){
        .network = "cube:4", .profile = profile_default, .sigma = SIGMA_NOT_GIVEN};
}

struct load_arguments options_load_defaults(void)
{
    return (struct load_arguments){
        .strategy = "decremental", .x = DOWNLOAD_X_BEST, .timeout_ms = TIMEOUT_DEFAULT_MS};
}

/* A node has a link for each of its ports. */
static int check_ports(const struct machine_arguments *arguments, const struct network *network,
                       unsigned ports, struct message *message)
{
    char name[NETWORK_NAME_MAX];

    if (ports == PORTS_ALL || ports == 1 || ports <= network->ports) {
        return 0;
    }
    network_name(network, name);
    if (arguments->ports.count == 0) {
        return message_set(message,
                           "--profile %.60s: nodes have %u ports there, and %u links in %s: use "
                           "--ports with 1 to %u, or all",
                           arguments->profile, ports, (unsigned)network->ports, name,
                           (unsigned)network->ports);
    }
    return message_set(message, "--ports %u: nodes of %s have %u links: use 1 to %u, or all", ports,
                       name, (unsigned)network->ports, (unsigned)network->ports);
}

int options_find_profile(const struct machine_arguments *arguments, const struct network *network,
                         struct profile *profile, char name[PROFILE_NAME_MAX],
                         struct message *message)
{
    struct machine_profile found;

    if (profile_find(arguments->profile, &found, message) != 0) {
        return -1;
    }
    *profile = found.profile;
    if (arguments->sigma >= 0) {
        profile->sigma_permille = (uint16_t)(arguments->sigma * 1000 + 0.5);
    }
    if (arguments->ports.count > 1 && !arguments->ports.many) {
        return message_set(message, "--ports: one number of ports; ecube plan explain compares "
                                    "several");
    }
    if (arguments->ports.count) {
        profile->ports = arguments->ports.all[0];
    }
    memcpy(name, found.name, PROFILE_NAME_MAX);
    if (network && check_ports(arguments, network, clock_ports(profile), message) != 0) {
        return -1;
    }
    for (unsigned i = 1; network && i < arguments->ports.count; i++) {
        if (check_ports(arguments, network, arguments->ports.all[i], message) != 0) {
            return -1;
        }
    }
    return 0;
}

int options_find_paths(const struct machine_arguments *arguments, const struct profile *profile,
                       const char *profile_name, uint8_t *paths, struct message *message)
{
    *paths = (uint8_t)arguments->paths;
    if (arguments->paths < 2 || clock_ports(profile) > 1) {
        return 0;
    }
    return message_set(message,
                       "--paths %u: %s has one port, and each path leaves by a port of its own: "
                       "--ports says how many there are",
                       (unsigned)arguments->paths, profile_name);
}

int options_make_machine(const struct machine_arguments *arguments, struct machine_options *options,
                         struct target *target, struct message *message)
{
    *options = (struct machine_options){
        .patience_ms = arguments->patience_ms ? arguments->patience_ms : (uint32_t)DEAD_AFTER_MS};
    if (options_find_network(arguments->network,
                             arguments->divided ? &machine_limits : &computer_limits,
                             &options->network, message) != 0 ||
        options_find_host_links(arguments, &options->network, message) != 0 ||
        map_apply(&arguments->map, &options->network, message) != 0) {
        return -1;
    }
    network_name(&options->network, options->network_name);
    if ((arguments->board && target_choose(arguments->board, message) != 0) ||
        options_find_profile(arguments, &options->network, &options->profile, options->profile_name,
                             message) != 0 ||
        options_find_paths(arguments, &options->profile, options->profile_name, &options->paths,
                           message) != 0 ||
        algorithm_find(&options->network, arguments->algorithm, options->algorithms, message) !=
            0 ||
        target_find(target, arguments->kernel, arguments->qemu, message) != 0) {
        return -1;
    }
    return arguments->divided
               ? 0
               : link_maker_choose(arguments->links, &options->network, NULL, target, message);
}

int options_reject_unchecked(const struct image *image, const char *path, struct message *message)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    bool native = image->processor == &processor_x86_64;
    int length = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));

    return message_set(
        message, "%.200s has no checks, link it with them: ecube-cc %s--check %.*s.c -o %.200s",
        path, native ? "--native " : "", length < 100 ? length : 100, name, path);
}

int options_find_strategy(const char *text, enum strategy *strategy, struct message *message)
{
    struct choice choice;

    choice_begin(&choice, text);
    for (unsigned i = 0; i < STRATEGY_NAMES; i++) {
        if (choice_offer(&choice, download_strategy_name((enum strategy)i))) {
            *strategy = (enum strategy)i;
            return 0;
        }
    }
    return choice_refuse(&choice, "unknown strategy", message);
}

static int check_program(const struct load_arguments *arguments, const char *path,
                         struct message *message)
{
    struct image image;

    if (image_read(&image, path, message) != 0) {
        return -1;
    }
    image_free(&image);
    return arguments->check && !image.checked ? options_reject_unchecked(&image, path, message) : 0;
}

int options_make_job(const struct load_arguments *arguments, struct job_request *request,
                     struct message *message)
{
    if (arguments->nodes) {
        return message_set(message, "--node %.60s: name the program for these nodes behind it",
                           arguments->nodes);
    }
    if (arguments->program_count == 0) {
        return message_set(message, "name the program to run, an ELF file made by ecube-cc");
    }
    *request = (struct job_request){.program_count = arguments->program_count,
                                    .arguments = arguments->arguments,
                                    .argument_count = arguments->argument_count,
                                    .data_count = arguments->data.count,
                                    .x = arguments->x,
                                    .explain = arguments->explain,
                                    .timeout_ms = arguments->timeout_ms,
                                    .outputs = arguments->outputs,
                                    .trace = arguments->trace,
                                    .counts = arguments->report != NULL,
                                    .map = arguments->map};
    memcpy(request->programs, arguments->programs, sizeof request->programs);
    memcpy(request->data, arguments->data.list, sizeof request->data);
    if (request->trace && arguments->json && strcmp(request->trace, arguments->json) == 0) {
        return message_set(message, "--json and --trace %.300s: use a file for each",
                           request->trace);
    }
    if (outputs_check(&request->outputs, message) != 0 ||
        job_trace_check(request->trace, message) != 0 || map_check(&request->map, message) != 0 ||
        options_find_strategy(arguments->strategy, &request->strategy, message) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < request->program_count; i++) {
        if (check_program(arguments, request->programs[i].path, message) != 0) {
            return -1;
        }
    }
    return 0;
}

/* "+TIME" after the name of a phase, or nothing. */
static int parse_delay(const char *text, unsigned *delay_ms, struct message *message)
{
    uint64_t ns = 0;

    if (*text && !duration_parse(text + 1, duration_ms_ns, 0, BOUND_MAX_MS * duration_ms_ns, &ns)) {
        return message_set(message,
                           "'%.40s': a fault's delay is a time up to %dh, for example +100ms or "
                           "+2s; a number alone is ms",
                           text, BOUND_MAX_MS / HOUR_MS);
    }
    *delay_ms = (unsigned)(ns / duration_ms_ns);
    return 0;
}

static int parse_phase(const char *text, struct injection *injection, struct message *message)
{
    static const struct {
        const char *name;
        enum controller_phase phase;
    } phases[] = {{"boot", PHASE_BOOT},
                  {"download", PHASE_DOWNLOAD},
                  {"run", PHASE_RUN},
                  {"gather", PHASE_GATHER}};
    size_t length = strcspn(text, "+");
    char word[24];
    struct choice choice;

    snprintf(word, sizeof word, "%.*s", (int)length, text);
    choice_begin(&choice, word);
    for (unsigned i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        if (choice_offer(&choice, phases[i].name)) {
            injection->phase = phases[i].phase;
            return parse_delay(text + length, &injection->delay_ms, message);
        }
    }
    return choice.near
               ? choice_refuse(&choice, "unknown phase", message)
               : message_set(message,
                             "'%.40s': a fault happens at boot, download, run or gather, for "
                             "example 0-1@run+100ms",
                             text);
}

int options_add_injection(struct machine_options *options, const char *text, bool kill,
                          struct message *message)
{
    struct injection *injection = &options->injections[options->injection_count];
    const char *at = strchr(text, '@');
    char what[24];
    uint32_t ends[2] = {0, 0};

    if (!at || options->injection_count == INJECTIONS_MAX) {
        return message_set(message, "'%.40s': say when, as %s@run, at most %d times", text,
                           kill ? "3" : "0-1", INJECTIONS_MAX);
    }
    snprintf(what, sizeof what, "%.*s", (int)(at - text), text);
    *injection = (struct injection){.kill = kill};
    if (parse_phase(at + 1, injection, message) != 0) {
        return -1;
    }
    if (!(kill ? network_parse_node(&options->network, what, &ends[0], message->text)
               : network_parse_cable(&options->network, what, ends, message->text))) {
        return -1;
    }
    injection->a = ends[0];
    injection->b = ends[1];
    options->injection_count++;
    return 0;
}

int options_add_crossing(struct machine_options *options, const char *text, struct message *message)
{
    const char *comma = strchr(text, ',');
    char first[24];
    uint32_t one[2], other[2];

    if (!comma || options->crossing_count == INJECTIONS_MAX) {
        return message_set(message, "'%.40s': name two links, as 0-1,2-3, at most %d times", text,
                           INJECTIONS_MAX);
    }
    snprintf(first, sizeof first, "%.*s", (int)(comma - text), text);
    if (!network_parse_link(&options->network, first, one, message->text) ||
        !network_parse_link(&options->network, comma + 1, other, message->text)) {
        return -1;
    }
    if ((one[0] == other[0] && one[1] == other[1]) || (one[0] == other[1] && one[1] == other[0])) {
        return message_set(message, "'%.40s': that is one link twice: name two, as 0-1,2-3", text);
    }
    options->crossings[options->crossing_count++] =
        (struct launcher_crossing){one[0], one[1], other[0], other[1]};
    return 0;
}

/* Null: it is no UTF-8. */
static json_t *word(const char *text)
{
    json_t *string = json_string(text);

    return string ? string : json_null();
}

/* "program" is the one that stands for all; "programs" has each, where there are several. */
static json_t *describe_programs(const struct job_request *request)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < request->program_count && request->program_count > 1; i++) {
        const struct job_program *program = &request->programs[i];
        json_array_append_new(list, json_pack("{s:o, s:o}", "program", word(program->path), "nodes",
                                              program->nodes ? word(program->nodes) : json_null()));
    }
    return list;
}

void options_describe_job(const struct job_request *request, json_t *result)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < request->argument_count; i++) {
        json_array_append_new(list, word(request->arguments[i]));
    }
    json_object_set_new(result, "program", word(job_request_path(request)));
    json_object_set_new(result, "programs", describe_programs(request));
    json_object_set_new(result, "arguments", list);
    json_object_set_new(result, "data", job_request_describe_data(request));
}
