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
#include "host/console/view.h"

struct load {
    struct load_arguments load_arguments;
    struct name_arguments name_arguments;
    struct view view;
    struct sink *sink;
    uint64_t end_us; /* when --timeout is over */
};

static const struct option_row option_rows[] = {
    {.more = options_load, OPTION_AT(struct load, load_arguments), .group = 1},
    {.more = options_name, OPTION_AT(struct load, name_arguments), .group = 2},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "PROGRAM [ARGUMENT...]",
    .text =
        "Downloads PROGRAM into every node of a machine that is up, runs it and shows what it "
        "prints; a table of what programs report goes to standard error."
        "\vOptions must stand before PROGRAM: the words behind it are passed to the program.\n\n"
        "Example: ecube load hello.elf 10 20",
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

/* What goes to the process that holds the machine is JSON, and what no machine takes stays here. */
static int check_text(const struct job_request *job, struct message *message)
{
    json_t *path = json_string(job->path);
    bool good = path != NULL;
    uint32_t block_bytes;

    json_decref(path);
    if (job_check_arguments(job, 1, &block_bytes, message) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < 2 && good; i++) {
        const char *file = i ? job->outputs.files : job->outputs.output;
        json_t *place = file ? json_string(file) : json_null();
        good = place != NULL;
        json_decref(place);
    }
    for (unsigned i = 0; i < job->argument_count && good; i++) {
        json_t *argument = json_string(job->arguments[i]);
        good = argument != NULL;
        json_decref(argument);
    }
    return good ? 0
                : message_set(message, "paths and the program's arguments must be UTF-8 text: "
                                       "'ecube run' takes any bytes");
}

/* Likewise of what the daemon writes; null: nothing. */
static json_t *whole_path(const char *path)
{
    char folder[PATH_MAX];

    if (!path || *path == '/' || !getcwd(folder, sizeof folder)) {
        return path ? json_string(path) : json_null();
    }
    return json_sprintf("%s/%s", folder, path);
}

/* The daemon reads the file itself, so it gets the whole path. */
static json_t *make_request(const struct load_arguments *arguments, const struct job_request *job)
{
    json_t *list = json_array();
    char *path = realpath(job->path, NULL);
    json_t *request;

    for (unsigned i = 0; i < job->argument_count; i++) {
        json_array_append_new(list, json_string(job->arguments[i]));
    }
    request = json_pack("{s:s, s:s, s:o, s:s, s:i, s:i, s:b, s:o, s:o}", "verb", "load", "path",
                        path ? path : job->path, "arguments", list, "strategy", arguments->strategy,
                        "x", job->x, "timeout_ms", (int)job->timeout_ms, "verbose",
                        arguments->verbose, "output", whole_path(job->outputs.output), "files_to",
                        whole_path(job->outputs.files));
    free(path);
    return request;
}

int verb_load(int argc, char **argv)
{
    struct load load = {.load_arguments = options_load_defaults()};
    struct job_request job;
    struct output output;
    struct message message;
    json_t *answer;
    int status;

    command_line_parse(&command_line, argc, argv, &load);
    client_take_board(load.name_arguments.name);
    if (options_make_job(&load.load_arguments, &job, &message) != 0 ||
        check_text(&job, &message) != 0 ||
        output_open(&output, load.load_arguments.json, &message) != 0) {
        return message_print(&message);
    }
    load.sink = sink_open(NULL, NULL);
    load.end_us = sink_now_us() + job.timeout_ms * UINT64_C(1000);
    view_init(&load.view, load.sink, 1, load.load_arguments.quiet);
    status = client_run(load.name_arguments.name, make_request(&load.load_arguments, &job),
                        on_event, &load, &answer);
    if (!answer) {
        output_drop(&output);
        return sink_close(load.sink, load.end_us, status);
    }
    view_result(&load.view, json_object_get(answer, "result"));
    options_describe_job(load.load_arguments.program, load.load_arguments.arguments,
                         load.load_arguments.argument_count, json_object_get(answer, "result"));
    status = sink_close(load.sink, load.end_us, status);
    if (output_write(&output, json_object_get(answer, "result"), &message) != 0) {
        status = message_print(&message);
    }
    json_decref(answer);
    return status;
}
