/*
 * up.c - ecube up: starts the process that holds a mesh, shows its boot, and leaves it running.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/client.h"
#include "host/options.h"
#include "host/rundir.h"
#include "host/serve.h"
#include "host/sink.h"
#include "host/verbs.h"
#include "host/view.h"

#define NAME_DEFAULT "mesh"

struct up {
    struct mesh_arguments mesh_arguments;
    struct name_arguments name_arguments;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct up *up = state->input;

    (void)text;
    if (key != ARGP_KEY_INIT) {
        return ARGP_ERR_UNKNOWN;
    }
    state->child_inputs[0] = &up->mesh_arguments;
    state->child_inputs[1] = &up->name_arguments;
    return 0;
}

static const struct argp_child children[] = {
    {&options_mesh_argp, 0, NULL, 1}, {&options_name_argp, 0, NULL, 2}, {0}};

static const struct argp parser = {
    NULL,
    parse,
    NULL,
    "Boots a mesh that stays until 'ecube down'. 'ecube load' runs programs on it."
    "\vExample: ecube up --mesh cube:3 --name lab && ecube load --name lab hello.elf && ecube down "
    "--name lab",
    children,
    NULL,
    NULL};

/* Two forks and a session of its own: the mesh outlives the shell that started it. */
static _Noreturn void become_daemon(const char *name, const struct mesh_options *options,
                                    const struct target *target, int report_fd)
{
    int null = open("/dev/null", O_RDWR);
    pid_t child;

    setsid();
    child = fork();
    if (child != 0) {
        _exit(child < 0 ? STATUS_BAD_INPUT : 0);
    }
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    if (chdir("/") != 0) {
        _exit(STATUS_BAD_INPUT);
    }
    _exit(serve_mesh(name, options, target, report_fd));
}

/* Shows events until the boot is over; returns the exit status. */
static int watch_boot(int fd, const char *name, struct view *view)
{
    FILE *events = fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    int status = -1;

    while (events && getline(&line, &room, events) > 0) {
        json_t *event = json_loads(line, 0, NULL);
        const char *kind = json_string_value(json_object_get(event, "event"));

        if (kind && strcmp(kind, "boot") == 0) {
            view_clear(view);
            sink_print(view->sink, STDOUT_FILENO, "%s is up: %s, %lld nodes, boot %.1f ms\n", name,
                       json_string_value(json_object_get(event, "mesh")),
                       json_integer_value(json_object_get(event, "nodes")),
                       json_number_value(json_object_get(event, "boot_ms")));
        } else if (kind && strcmp(kind, "error") == 0) {
            view_trouble(view, json_string_value(json_object_get(event, "text")));
        } else if (kind) {
            view_event(view, event);
        }
        if (kind && (strcmp(kind, "end") == 0 || strcmp(kind, "error") == 0)) {
            status = (int)json_integer_value(json_object_get(event, "status"));
        }
        json_decref(event);
    }
    free(line);
    if (events) {
        fclose(events);
    }
    if (status < 0) {
        view_trouble(view, "the process of the mesh ended before it was up");
        status = STATUS_MESH;
    }
    return status;
}

int verb_up(int argc, char **argv)
{
    struct up up = {.mesh_arguments = options_mesh_defaults(),
                    .name_arguments = {.name = NAME_DEFAULT}};
    struct mesh_options options;
    struct target target;
    struct message message;
    struct view view;
    int ends[2], status;
    pid_t child;

    options_parse(&parser, argc, argv, 0, &up);
    if (rundir_name_check(up.name_arguments.name, &message) != 0) {
        return message_print(&message);
    }
    if (options_make_mesh(&up.mesh_arguments, &options, &target, &message) != 0) {
        return message_print(&message);
    }
    if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0) {
        message_set(&message, "cannot start a process: %s", strerror(errno));
        return message_print(&message);
    }
    if (child == 0) {
        close(ends[0]);
        become_daemon(up.name_arguments.name, &options, &target, ends[1]);
    }
    close(ends[1]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    view_init(&view, sink_open(NULL, NULL), options.topology.nodes, false);
    status = watch_boot(ends[0], up.name_arguments.name, &view);
    return sink_close(view.sink, UINT64_MAX, status);
}
