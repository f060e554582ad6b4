/*
 * load.c - ecube load: downloads a program into a machine that is up and runs it.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/machine/client.h"
#include "host/command/options.h"
#include "host/command/output.h"
#include "host/console/sink.h"
#include "host/command/verbs.h"
#include "host/job/job_list.h"
#include "host/report/run_report.h"
#include "host/console/view.h"

struct load {
    struct load_arguments load_arguments;
    struct name_arguments name_arguments;
    struct view view;
    struct sink *sink;
    uint64_t end_us; /* when --timeout is over */
};

static const struct option_row option_rows[] = {
    {.more = options_map, OPTION_AT(struct load, load_arguments.map)},
    {.more = options_load, OPTION_AT(struct load, load_arguments), .group = 1},
    {.more = options_name, OPTION_AT(struct load, name_arguments), .group = 2},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "[--node NODES PROGRAM]... PROGRAM [ARGUMENT...]",
    .text = "Downloads PROGRAM into every node of a machine that is up, runs it and shows what it "
            "prints; a table of what programs report goes to standard error."
            "\vOptions must stand before PROGRAM: the words behind it are passed to the program, "
            "and to "
            "all programs if there are several; where each has its --node, they stand behind '--'."
            "\n\n" OPTIONS_DATA_WORDS "\n\n"
            "Examples: ecube load hello.elf 10 20\n"
            "          ecube load --map gray --as torus:4x4 stencil.elf\n"
            "          ecube load --common table.bin --node 0 root.elf worker.elf",
    .take_word = options_take_program,
    .words_at = offsetof(struct load, load_arguments),
    .in_order = true,
};

static void on_event(void *context, const json_t *event)
{
    struct load *load = context;
    const char *kind = json_string_value(json_object_get(event, "event"));

    if (strcmp(kind, "nodes") == 0) {
        view_set_nodes(&load->view, (unsigned)json_integer_value(json_object_get(event, "nodes")));
    } else {
        view_event(&load->view, event);
    }
    /* The next event is read only when this one's text has room: so a slow reader slows the program
     * down, as in `run`, and memory has a bound. */
    if (!sink_wait(load->sink, SINK_BACKLOG_MAX, load->end_us)) {
        sink_abandon(load->sink);
    }
    if (sink_error(load->sink) != 0) { /* to hang up cancels the run */
        exit(sink_close(load->sink, 0, 0));
    }
}

/* Whether the process that holds the machine can open it: it has standard streams of its own. */
static int check_output(const struct outputs_request *outputs, struct message *message)
{
    char *whole = outputs->output ? realpath(outputs->output, NULL) : NULL;
    bool nameless = outputs->output && !whole && access(outputs->output, F_OK) == 0;

    free(whole);
    return nameless ? message_set(message,
                                  "--output %.300s: the machine's process has not got this pipe: "
                                  "name a file, or one made by mkfifo",
                                  outputs->output)
                    : 0;
}

/* What goes to the process that holds the machine is JSON, and what no machine takes stays here.
 * The daemon reads the files itself, so it gets whole paths. */
static int make_request(const struct load_arguments *arguments, const struct job_request *job,
                        json_t **request, struct message *message)
{
    if (check_output(&job->outputs, message) != 0 || job_list_check_arguments(job, message) != 0 ||
        job_request_to_json(job, request, message) != 0) {
        return -1;
    }
    json_object_set_new(*request, "verb", json_string("load"));
    json_object_set_new(*request, "verbose", json_boolean(arguments->verbose));
    return 0;
}

int verb_load(int argc, char **argv)
{
    static struct load load;
    struct job_request job;
    struct output output;
    struct run_report report;
    struct message message;
    json_t *answer, *request;
    int status;

    load.load_arguments = options_load_defaults();
    command_line_parse(&command_line, argc, argv, &load);
    client_take_board(load.name_arguments.name);
    if (run_report_open(&report, load.load_arguments.report, &load.load_arguments.trace,
                        load.load_arguments.json, &message) != 0) {
        return message_print(&message);
    }
    if (options_make_job(&load.load_arguments, &job, &message) != 0 ||
        make_request(&load.load_arguments, &job, &request, &message) != 0) {
        run_report_drop(&report);
        return message_print(&message);
    }
    if (output_open(&output, load.load_arguments.json, &message) != 0) {
        run_report_drop(&report);
        json_decref(request);
        return message_print(&message);
    }
    load.sink = sink_open(NULL, NULL);
    load.end_us = sink_now_us() + job.timeout_ms * UINT64_C(1000);
    view_init(&load.view, load.sink, 1, load.load_arguments.quiet);
    load.view.kept = run_report_output(&report);
    status = client_run(load.name_arguments.name, request, on_event, &load, &answer);
    if (!answer) {
        output_drop(&output);
        run_report_drop(&report);
        return sink_close(load.sink, load.end_us, status);
    }
    run_report_take(&report, json_object_get(answer, "result"));
    view_result(&load.view, json_object_get(answer, "result"));
    options_describe_job(&job, json_object_get(answer, "result"));
    status = sink_close(load.sink, load.end_us, status);
    if (output_write(&output, json_object_get(answer, "result"), &message) != 0) {
        status = message_print(&message);
    }
    if (run_report_write(&report, json_object_get(answer, "result"), &message) != 0) {
        status = message_print(&message);
    }
    json_decref(answer);
    return status;
}
