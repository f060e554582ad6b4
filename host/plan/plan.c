/*
 * plan.c - ecube plan: shows the plan of a collective, or exports it; lists the algorithms, or
 * explains which one is chosen.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/operation.h"
#include "host/command/algorithm.h"
#include "host/command/options.h"
#include "host/command/plan_shelf.h"
#include "host/plan/plan.h"
#include "host/command/verbs.h"
#include "host/report/run_report.h"
#include "reduction/reduction.h"

enum { BYTES_DEFAULT = 1000, BYTES_MAX = INT32_MAX };

enum action {
    ACTION_NONE,
    ACTION_SHOW,
    ACTION_EXPORT,
    ACTION_VERIFY,
    ACTION_LIST,
    ACTION_EXPLAIN,
    ACTION_CACHE
};

/* The command line as it stands. */
struct plan_arguments {
    struct machine_arguments machine;
    enum action action;
    const char *operation; /* verify: its file */
    const char *root, *parameter, *type, *algorithm, *json, *svg, *report;
    uint32_t bytes;
    bool has_bytes;
    bool clear;
};

static void take_bytes(const struct option_row *option, char *text, void *target)
{
    struct plan_arguments *arguments = target;

    arguments->bytes = (uint32_t)option_number(option, text);
    arguments->has_bytes = true;
}

static enum action parse_action(const char *text)
{
    static const char *const names[] = {"show", "export", "verify", "list", "explain", "cache"};
    struct choice choice;

    choice_begin(&choice, text);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (choice_offer(&choice, names[i])) {
            return ACTION_SHOW + i;
        }
    }
    if (choice.near) {
        command_line_reject("'%.40s': did you mean ecube plan %s?", text, choice.near);
    }
    command_line_reject(
        "'%.40s': use show, export, verify, list, explain or cache, for example ecube plan show "
        "exchange",
        text);
}

static void take_word(char *text, void *target, struct argp_state *state)
{
    struct plan_arguments *arguments = target;

    (void)state;
    if (arguments->action == ACTION_NONE) {
        arguments->action = parse_action(text);
    } else if (!arguments->operation) {
        arguments->operation = text;
    } else {
        word_too_many(text);
    }
}

static const struct option_row option_rows[] = {
    {"bytes", "K",
     "bytes of a block: for each pair, or of each node; of the whole vector in a broadcast or a "
     "reduction (default 1000)",
     take_bytes, .high = BYTES_MAX},
    {"root", "R", "the rank from which, or to which, all goes (default 0)", option_text,
     OPTION_AT(struct plan_arguments, root)},
    {"parameter", "P", options_parameter_words, option_text,
     OPTION_AT(struct plan_arguments, parameter)},
    {"type", "TYPE",
     "elements that a reduction combines: int32 (default), double, uint8, float+int32, ...",
     option_text, OPTION_AT(struct plan_arguments, type)},
    {"algorithm", "ALGORITHM", "the algorithm that makes the plan (default: the planner's choice)",
     option_text, OPTION_AT(struct plan_arguments, algorithm)},
    {"json", "FILE",
     "export: where to (-, the default: standard output); doc/json.md describes the format",
     option_text, OPTION_AT(struct plan_arguments, json)},
    {"svg", "FILE", "explain: draw time over size to FILE, with gnuplot", option_text,
     OPTION_AT(struct plan_arguments, svg)},
    {"report", "FILE",
     "show: draw the plan to FILE, one page for a browser: the circuits of each step, the load of "
     "each link, who sends how much to whom",
     option_text, OPTION_AT(struct plan_arguments, report)},
    {.more = options_map, OPTION_AT(struct plan_arguments, machine.map)},
    {"clear", NULL, "cache: remove what searches for plans have left there", option_flag,
     OPTION_AT(struct plan_arguments, clear)},
    {.more = options_network, OPTION_AT(struct plan_arguments, machine)},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "show OPERATION\nexport OPERATION\nverify FILE\nlist [OPERATION]\nexplain "
             "OPERATION\ncache --clear",
    .text =
        "Makes and proves the plan of a collective for a network of up to 65536 nodes: the same "
        "plan that a machine's nodes get. `show` prints its algorithm, its rows, what it takes, "
        "and what no plan can take less than, and draws it (--report). `export` writes every "
        "circuit, with its path and its blocks, as JSON. `verify` reads such a file, whoever wrote "
        "it, and proves that it does "
        "what its operation promises, or says where it does not: doc/plans.md. `list` prints the "
        "algorithms that there are, what each wants and where it is from. `explain` compares them "
        "for one size on one machine, and says which is chosen. `cache --clear` removes what "
        "searches have found and kept: ECUBE_CACHE is its directory, or off; else it is "
        "XDG_CACHE_HOME/ecube or ~/.cache/ecube.\n\n"
        "OPERATION is one of "
        "\vExamples: ecube plan show exchange --network cube:3 --bytes 16\n"
        "          ecube plan show reduce --network torus:3x4 --root 5 --type double\n"
        "          ecube plan show exchange --network torus:4x4 --report exchange.html\n"
        "          ecube plan show scatter --network cube:4 --map gray --as torus:4x4\n"
        "          ecube plan export allgather --network ring:5 --json plan.json\n"
        "          ecube plan export gather --network mesh:3x4 --json - | jq .bound_us\n"
        "          ecube plan verify plan.json\n"
        "          ecube plan list allreduce\n"
        "          ecube plan explain allreduce --network cube:7 --bytes 100\n"
        "          ecube plan explain scatter --network cube:4 --ports 1,2,all\n"
        "          ecube plan explain allgather --network torus:4x4 --svg allgather.svg\n"
        "          ecube plan cache --clear\n\n"
        "Exit status: 0, or 2 for bad input.",
    .take_word = take_word,
    .filter = options_name_operations,
};

static int find_operation(const char *name, uint32_t *operation, struct message *message)
{
    struct choice choice;

    choice_begin(&choice, name ? name : "");
    *operation = options_choose_operation(&choice);
    if (*operation < OPERATIONS) {
        return 0;
    }
    return name ? choice_refuse(&choice, "unknown operation", message)
                : message_set(message, "name an operation: %s", choice.names);
}

static int find_root(const char *text, struct plan_command *command, struct message *message)
{
    const struct operation *operation = operation_of(command->request.operation);

    if (!text) {
        command->request.root = operation->rooted ? network_node(&command->network, 0) : 0;
        return 0;
    }
    if (!network_parse_node(&command->network, text, &command->request.root, message->text)) {
        return -1;
    }
    if (!operation->rooted && command->request.root != 0) {
        return message_set(message, "--root %.40s: %s has no root", text, operation->name);
    }
    if (operation->rooted) {
        command->request.root = network_node(&command->network, command->request.root);
    }
    return 0;
}

static int find_parameter(const char *text, struct plan_command *command, struct message *message)
{
    const struct operation *operation = operation_of(command->request.operation);

    if (!text) {
        if (operation->parameter) {
            command->request.root = operation_root_usual(operation, &command->network);
        }
        return 0;
    }
    return options_find_parameter(operation, &command->network, text, &command->request.root,
                                  message);
}

static int find_type(const char *text, struct plan_command *command, struct message *message)
{
    const struct operation *operation = operation_of(command->request.operation);

    if (!operation->reduces) {
        command->element_bytes = 1;
        return text ? message_set(message, "--type %.40s: %s combines nothing", text,
                                  operation->name)
                    : 0;
    }
    command->request.type = ECUBE_INT32;
    if (text && options_find_type(text, &command->request.type, message) != 0) {
        return -1;
    }
    command->element_bytes = reduction_element_bytes(command->request.type);
    return command->request.bytes % command->element_bytes == 0
               ? 0
               : message_set(message, "--bytes %u: an element of %s has %u bytes",
                             (unsigned)command->request.bytes,
                             reduction_type_name(command->request.type),
                             (unsigned)command->element_bytes);
}

static int make_command(struct plan_arguments *arguments, struct plan_command *command,
                        struct message *message)
{
    static const struct network_limits limits = {.nodes = NETWORK_NODES_MAX, .place = "in a plan"};

    arguments->machine.ports.many = arguments->action == ACTION_EXPLAIN;
    *command = (struct plan_command){
        .request = {.bytes = arguments->bytes, .algorithm = arguments->algorithm}};
    if (arguments->action == ACTION_NONE) {
        return message_set(message, "say what to do: ecube plan show OPERATION, export "
                                    "OPERATION, verify FILE, list, explain OPERATION, or "
                                    "cache --clear");
    }
    if (arguments->action != ACTION_EXPORT && arguments->json) {
        return message_set(message, "--json %.40s: that is for ecube plan export", arguments->json);
    }
    if (arguments->svg && (arguments->action != ACTION_EXPLAIN || arguments->algorithm)) {
        return message_set(message,
                           "--svg %.200s: that is for ecube plan explain, of all algorithms",
                           arguments->svg);
    }
    if (arguments->report && arguments->action != ACTION_SHOW) {
        return message_set(message, "--report %.200s: that is for ecube plan show",
                           arguments->report);
    }
    if (arguments->machine.map.map && arguments->action != ACTION_SHOW) {
        return message_set(message, "--map %.200s: that is for ecube plan show",
                           arguments->machine.map.map);
    }
    if (find_operation(arguments->operation, &command->request.operation, message) != 0) {
        return -1;
    }
    if (options_find_network(arguments->machine.network, &limits, &command->network, message) !=
            0 ||
        map_apply(&arguments->machine.map, &command->network, message) != 0) {
        return -1;
    }
    network_name(&command->network, command->network_name);
    if (options_find_profile(&arguments->machine, &command->network, &command->profile,
                             command->profile_name, message) != 0 ||
        find_root(arguments->root, command, message) != 0 ||
        find_parameter(arguments->parameter, command, message) != 0) {
        return -1;
    }
    command->request.profile = &command->profile;
    return find_type(arguments->type, command, message);
}

_Static_assert(MESSAGE_MAX > PLAN_WORDS_MAX + NETWORK_NAME_MAX + sizeof "no plan for : ",
               "no limit that is named is cut off");

static struct plan *make_plan(const struct plan_command *command, struct message *message)
{
    struct plan_fault fault;
    struct plan *plan = plan_make(&command->network, &command->request, &fault);

    if (!plan) {
        message_set(message, "no plan for %s: %s", command->network_name, fault.words);
        algorithm_suggest(command->request.operation, command->request.algorithm, message);
    }
    return plan;
}

/* The file is opened first: one that cannot be written is told before the plan is made. */
static int export(const struct plan_arguments *arguments, const struct plan_command *command,
                  struct message *message)
{
    struct output output;

    if (output_open(&output, arguments->json ? arguments->json : "-", message) != 0) {
        return -1;
    }
    struct plan *plan = make_plan(command, message);
    int status = -1;
    if (plan && plan_export_check(plan, message) == 0) {
        status = plan_export(plan, command, &output, message);
    }
    plan_free(plan);
    if (status != 0) {
        output_drop(&output);
    }
    return status;
}

/* In words, and as a page where one is wanted: opened first, as an export is. */
static int show(const struct plan_arguments *arguments, const struct plan_command *command,
                struct message *message)
{
    struct output output;

    if (run_report_open_page(&output, "--report", arguments->report, message) != 0) {
        return -1;
    }
    struct plan *plan = make_plan(command, message);
    int status = plan ? 0 : -1;
    if (plan && arguments->report) {
        status =
            plan_page_check(plan, message) == 0 ? plan_page(plan, command, &output, message) : -1;
    }
    if (status == 0) {
        plan_show(plan, command);
    }
    plan_free(plan);
    if (status != 0) {
        output_drop(&output);
    }
    return status;
}

/* One size as a table, and all in a figure where one is wanted: opened first, as an export is. */
static int explain(const struct plan_arguments *arguments, const struct plan_command *command,
                   struct message *message)
{
    struct output output;

    if (!arguments->svg) {
        return plan_explain(command, message);
    }
    if (plan_figure_find(command, arguments->svg, message) != 0 ||
        output_open_as(&output, "SVG file", arguments->svg, message) != 0) {
        return -1;
    }
    if (plan_explain(command, message) == 0 && plan_figure(command, &output, message) == 0) {
        return 0;
    }
    output_drop(&output);
    return -1;
}

/* The words that go with it are those that say for what the file is looked at. */
static int verify(const struct plan_arguments *arguments, struct message *message)
{
    const struct plan_verify_request request = {.machine = &arguments->machine,
                                                .has_bytes = arguments->has_bytes,
                                                .bytes = arguments->bytes};
    const char *other = arguments->root              ? "--root"
                        : arguments->type            ? "--type"
                        : arguments->algorithm       ? "--algorithm"
                        : arguments->json            ? "--json"
                        : arguments->report          ? "--report"
                        : arguments->machine.map.map ? "--map"
                                                     : NULL;

    if (other) {
        return message_set(message, "%s is not for ecube plan verify: the file says it", other);
    }
    return arguments->operation ? plan_verify(arguments->operation, &request, message)
                                : message_set(message, "name a file: ecube plan verify FILE");
}

static int list(const struct plan_arguments *arguments, struct message *message)
{
    uint32_t operation = OPERATIONS;

    if (arguments->operation && find_operation(arguments->operation, &operation, message) != 0) {
        return -1;
    }
    plan_list(operation);
    return 0;
}

/* It takes no other word. */
static int cache(const struct plan_arguments *arguments, struct message *message)
{
    if (arguments->operation) {
        return message_set(message, "'%.40s' is one word too many: ecube plan cache --clear",
                           arguments->operation);
    }
    return arguments->clear ? plan_shelf_clear(message)
                            : message_set(message, "say what to do: ecube plan cache --clear");
}

int verb_plan(int argc, char **argv)
{
    struct plan_arguments arguments = {.machine = options_machine_defaults(),
                                       .bytes = BYTES_DEFAULT};
    struct plan_command command;
    struct message message;

    command_line_parse(&command_line, argc, argv, &arguments);
    if (arguments.action == ACTION_CACHE) {
        return cache(&arguments, &message) == 0 ? 0 : message_print(&message);
    }
    if (arguments.clear) {
        message_set(&message, "--clear is for ecube plan cache");
        return message_print(&message);
    }
    if (arguments.action == ACTION_VERIFY) {
        return verify(&arguments, &message) == 0 ? 0 : message_print(&message);
    }
    if (arguments.action == ACTION_LIST) {
        return list(&arguments, &message) == 0 ? 0 : message_print(&message);
    }
    if (make_command(&arguments, &command, &message) != 0) {
        return message_print(&message);
    }
    if (arguments.action == ACTION_EXPORT) {
        return export(&arguments, &command, &message) == 0 ? 0 : message_print(&message);
    }
    if (arguments.machine.ports.count > 1) {
        if (arguments.svg) {
            message_set(&message, "--svg %.200s: it is for one number of ports", arguments.svg);
            return message_print(&message);
        }
        return plan_explain_ports(&command, &arguments.machine.ports, &message) == 0
                   ? 0
                   : message_print(&message);
    }
    if (arguments.action == ACTION_EXPLAIN) {
        return explain(&arguments, &command, &message) == 0 ? 0 : message_print(&message);
    }
    return show(&arguments, &command, &message) == 0 ? 0 : message_print(&message);
}
