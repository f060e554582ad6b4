/*
 * region.c - ecube scatter and ecube gather: fill and fetch memory of programs that wait for it, on
 * a machine that is up.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/command/options.h"
#include "host/command/output.h"
#include "host/command/verbs.h"
#include "host/console/sink.h"
#include "host/console/view.h"
#include "host/job/region_job.h"
#include "host/machine/client.h"

enum { TIMEOUT_MS = 600 * 1000 };

struct region_arguments {
    struct name_arguments name_arguments;
    const char *region;
    struct data_arguments data;
    struct outputs_request outputs;
    uint32_t timeout_ms;
    const char *json;
    bool quiet;
    struct view view;
};

static const struct option_row common_rows[] = {
    {"timeout", "TIME",
     "give up when programs have not come, or bytes have not moved, in this time (default 10m; "
     "units are ms, s, m and h, a number alone is seconds)",
     options_take_timeout, OPTION_AT(struct region_arguments, timeout_ms)},
    {"json", "FILE",
     "write bytes and times to FILE (-: standard output, and all else to standard error) as one "
     "JSON object",
     option_text, OPTION_AT(struct region_arguments, json)},
    {"quiet", NULL, "show only what goes wrong: no progress and no times", option_flag,
     OPTION_AT(struct region_arguments, quiet), .letter = 'q'},
    {.more = options_name, OPTION_AT(struct region_arguments, name_arguments), .group = 1},
    {0},
};

static const struct option_row scatter_rows[] = {
    {.more = options_parts, OPTION_AT(struct region_arguments, data)},
    {.more = common_rows, .bytes = sizeof(struct region_arguments)},
    {0},
};

static const struct option_row gather_rows[] = {
    {"output", "FILE",
     "write to FILE what lies in the regions, one rank's behind the other's (needed)", option_text,
     OPTION_AT(struct region_arguments, outputs.output)},
    {.more = common_rows, .bytes = sizeof(struct region_arguments)},
    {0},
};

static const struct command_line scatter_line = {
    scatter_rows,
    .words = "REGION",
    .text = "Waits until the programs of all nodes wait at REGION (ecube_region_wait), fills it at "
            "each node, and lets them go on."
            "\vWhat nodes get: one of --input, with a window for each or an equal part, --common "
            "or --private. It may be less than the region has.\n\n"
            "Bytes go to one node after the other. When they are wrong, or it is interrupted, no "
            "program goes on: all wait as before.\n\n"
            "Example: ecube scatter block --input samples.bin --window 4096 --stride 4000",
    .take_word = word_only,
    .words_at = offsetof(struct region_arguments, region),
    .missing = "name the region, as in 'ecube scatter block --input samples.bin'",
};

static const struct command_line gather_line = {
    gather_rows,
    .words = "REGION",
    .text = "Waits until the programs of all nodes wait at REGION (ecube_region_wait), writes what "
            "lies there to a file, and lets them go on."
            "\vThe file is written beside its place and renamed when it is whole. Until then no "
            "program goes on.\n\n"
            "Example: ecube gather block --output result.bin",
    .take_word = word_only,
    .words_at = offsetof(struct region_arguments, region),
    .missing = "name the region, as in 'ecube gather block --output result.bin'",
};

static void on_event(void *context, const json_t *event)
{
    struct region_arguments *arguments = context;

    view_event(&arguments->view, event);
}

/* What is wrong with the words is told before any machine is asked. */
static int make_request(const struct region_arguments *arguments, enum ecube_region_way way,
                        json_t **json, struct message *message)
{
    struct region_request request = {.way = way,
                                     .region = arguments->region,
                                     .output = arguments->outputs.output,
                                     .timeout_ms = arguments->timeout_ms};

    if (region_name_check(request.region, message) != 0) {
        return -1;
    }
    if (way == ECUBE_SCATTERED && arguments->data.count != 1) {
        return message_set(message,
                           "scatter %s: name what nodes get, by one of --input, --common "
                           "and --private",
                           request.region);
    }
    if (way == ECUBE_GATHERED && !request.output) {
        return message_set(message, "gather %s: name the file to write: --output FILE",
                           request.region);
    }
    request.data = arguments->data.list[0];
    if (outputs_check(&arguments->outputs, message) != 0) {
        return -1;
    }
    *json = region_request_to_json(&request);
    return *json ? 0 : message_set(message, "names and paths must be UTF-8 text");
}

static double number_of(const json_t *result, const char *key)
{
    return json_number_value(json_object_get(result, key));
}

static void show_result(struct region_arguments *arguments, const json_t *result)
{
    struct sink *sink = arguments->view.sink;
    double nodes = number_of(result, "nodes");

    view_clear(&arguments->view);
    if (arguments->quiet) {
        return;
    }
    sink_print(sink, STDERR_FILENO,
               "%s %s: %.0f node%s, %.0f bytes, model %.3f us, predicted %.3f us, wall %.1f ms\n",
               json_string_value(json_object_get(result, "way")), arguments->region, nodes,
               nodes == 1 ? "" : "s", number_of(result, "bytes"), number_of(result, "model_us"),
               number_of(result, "predicted_us"), number_of(result, "wall_ms"));
    if (number_of(result, "repaired") > 0) {
        sink_print(sink, STDERR_FILENO, "repaired: %.0f parts came damaged and were moved again\n",
                   number_of(result, "repaired"));
    }
}

static int meet(const struct command_line *line, enum ecube_region_way way, int argc, char **argv)
{
    static struct region_arguments arguments;
    struct output output;
    struct message message;
    json_t *request, *answer;
    int status;

    arguments.timeout_ms = TIMEOUT_MS;
    command_line_parse(line, argc, argv, &arguments);
    if (make_request(&arguments, way, &request, &message) != 0) {
        return message_print(&message);
    }
    if (output_open(&output, arguments.json, &message) != 0) {
        json_decref(request);
        return message_print(&message);
    }
    view_init(&arguments.view, sink_open(NULL, NULL), 1, arguments.quiet);
    status = client_run(arguments.name_arguments.name, request, on_event, &arguments, &answer);
    if (!answer) {
        output_drop(&output);
        view_clear(&arguments.view);
        return sink_close(arguments.view.sink, UINT64_MAX, status);
    }
    show_result(&arguments, json_object_get(answer, "result"));
    status = sink_close(arguments.view.sink, UINT64_MAX, status);
    if (output_write(&output, json_object_get(answer, "result"), &message) != 0) {
        status = message_print(&message);
    }
    json_decref(answer);
    return status;
}

int verb_scatter(int argc, char **argv)
{
    return meet(&scatter_line, ECUBE_SCATTERED, argc, argv);
}

int verb_gather(int argc, char **argv)
{
    return meet(&gather_line, ECUBE_GATHERED, argc, argv);
}
