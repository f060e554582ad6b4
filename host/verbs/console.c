/*
 * console.c - ecube console: shows what programs print on a machine that is up, until that ends
 * or Ctrl-C.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/machine/client.h"
#include "host/command/options.h"
#include "host/console/sink.h"
#include "host/command/verbs.h"
#include "host/console/view.h"

static const struct command_line command_line = {
    options_name,
    .text = "Shows what programs print on a machine that is up, each line with the node's rank in "
            "front, until the machine ends. It never delays programs: when its output is not read "
            "for long, lines are left out, and it says how many."
            "\vExample: ecube console --name lab",
};

static void on_event(void *context, const json_t *event)
{
    struct view *view = context;

    if (strcmp(json_string_value(json_object_get(event, "event")), "nodes") == 0) {
        view_set_nodes(view, (unsigned)json_integer_value(json_object_get(event, "nodes")));
    } else if (strcmp(json_string_value(json_object_get(event, "event")), "boot") == 0) {
        view_trouble(view, "the machine is up again");
    } else {
        view_event(view, event);
    }
    /* While this waits the machine's process keeps lines for us, and leaves some out at last. */
    sink_wait(view->sink, SINK_BACKLOG_MAX, UINT64_MAX);
    if (sink_error(view->sink) != 0) {
        exit(sink_close(view->sink, UINT64_MAX, 0));
    }
}

int verb_console(int argc, char **argv)
{
    struct name_arguments arguments = {0};
    struct view view;
    struct message message;
    json_t *answer;
    int fd, status;

    command_line_parse(&command_line, argc, argv, &arguments);
    fd = client_connect(arguments.name, &message);
    if (fd < 0) {
        message_print(&message);
        return -fd;
    }
    view_init(&view, sink_open(NULL, NULL), 1, false);
    answer = client_ask(fd, json_pack("{s:s}", "verb", "console"), on_event, &view, &message);
    status = sink_close(view.sink, UINT64_MAX, 0);
    if (answer) {
        status = client_status(answer);
    } else if (!client_ended(fd)) { /* else the machine has ended */
        message_print(&message);
        status = STATUS_MACHINE;
    }
    json_decref(answer);
    close(fd);
    return status;
}
