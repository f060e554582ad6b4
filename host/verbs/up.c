/*
 * up.c - ecube up: starts the process that holds a machine, shows its boot, and leaves it running.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/machine/client.h"
#include "host/machine/openocd.h"
#include "host/command/options.h"
#include "host/machine/rundir.h"
#include "host/machine/serve.h"
#include "host/console/sink.h"
#include "host/command/verbs.h"
#include "host/console/view.h"
#include "host/verbs/up.h"

enum { JTAG_PATIENCE_MS = 3600 * 1000 };

struct up {
    struct machine_arguments machine_arguments;
    struct name_arguments name_arguments;
    bool jtag, blank;
    const char *program;
};

static void take_programmer(const struct option_row *option, char *text, void *target)
{
    struct up *up = target;

    (void)option;
    if (strcmp(text, "openocd") != 0) {
        command_line_reject("--program %.40s: use openocd, the only one that is supported", text);
    }
    up->program = text;
    up->jtag = up->blank = true;
}

static const struct option_row option_rows[] = {
    {"jtag", NULL,
     "also serve the nodes as one JTAG chain for OpenOCD ('ecube openocd'); unless --patience is "
     "given, a link to a halted node then lives for an hour",
     option_flag, OPTION_AT(struct up, jtag)},
    {"blank", NULL,
     "with --jtag: start nodes halted and without a kernel; the boot continues when they have been "
     "given one over the chain and run",
     option_flag, OPTION_AT(struct up, blank)},
    {"program", "openocd",
     "start blank nodes and let OpenOCD write the kernel into them over the JTAG chain",
     take_programmer, .at = 0},
    {.more = options_machine, OPTION_AT(struct up, machine_arguments), .group = 1},
    {.more = options_name, OPTION_AT(struct up, name_arguments), .group = 2},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .text = "Boots a machine that stays until 'ecube down'. 'ecube load' runs programs on it, "
            "'ecube debug' opens GDB at its nodes."
            "\vExamples: ecube up --network cube:3 --name lab\n"
            "          ecube load --name lab hello.elf\n"
            "          ecube down --name lab",
};

/* Two forks and a session of its own: the machine outlives the shell that started it. */
static _Noreturn void become_daemon(const struct serve_options *options, int report_fd)
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
    if (chdir("/") != 0) { /* else it would keep a file system from being unmounted */
        _exit(STATUS_BAD_INPUT);
    }
    _exit(serve_machine(options, report_fd));
}

static int number_of(const json_t *event, const char *key)
{
    return (int)json_integer_value(json_object_get(event, key));
}

/* Where debuggers find the machine. */
static void show_sockets(const struct serve_options *options, struct view *view)
{
    char directory[RUNDIR_PATH_MAX];
    uint32_t nodes = options->machine.network.nodes;

    rundir_path(directory, options->name);
    sink_print(view->sink, STDOUT_FILENO, "chain    %s/chain\n", directory);
    sink_print(view->sink, STDOUT_FILENO,
               nodes > 1 ? "GDB      %s/n0.gdb ... n%u.gdb\n" : "GDB      %s/n%u.gdb\n", directory,
               (unsigned)nodes - 1);
    sink_print(view->sink, STDOUT_FILENO, "OpenOCD  ecube openocd --name %s\n", options->name);
}

static void show_boot(const struct serve_options *options, const json_t *event, struct view *view)
{
    view_clear(view);
    sink_print(view->sink, STDOUT_FILENO, "%s is up: %s, %d nodes, boot %.1f ms\n", options->name,
               json_string_value(json_object_get(event, "network")), number_of(event, "nodes"),
               json_number_value(json_object_get(event, "boot_ms")));
    if (options->machine.chain) {
        show_sockets(options, view);
    }
}

static void show_blank(const struct serve_options *options, const json_t *event, struct view *view)
{
    view_clear(view);
    sink_print(view->sink, STDOUT_FILENO,
               "%s is up: %s, %d blank nodes: give them a kernel: ecube openocd --name %s -- -c "
               "'init; program_all %s; shutdown'\n",
               options->name, json_string_value(json_object_get(event, "network")),
               number_of(event, "nodes"), options->name, options->target.kernel);
    show_sockets(options, view);
}

/* Ends a machine that could not be given its kernel. */
static void take_down(const char *name)
{
    int fd = client_open(name, true);

    if (fd >= 0) {
        client_end(fd);
        close(fd);
    }
}

/* Returns 0, or the exit status. */
static int take_blank(const struct serve_options *options, const json_t *event, struct view *view)
{
    struct message message;

    if (!options->programs) {
        show_blank(options, event, view);
        return 0;
    }
    if (openocd_program(json_string_value(json_object_get(event, "directory")),
                        options->machine.network.nodes, options->target.kernel, view,
                        &message) != 0) {
        view_trouble(view, message.text);
        take_down(options->name);
        return STATUS_MACHINE;
    }
    return 0;
}

/* Takes one event of the boot. Returns the exit status when the boot is over, else -1. */
static int take_event(const struct serve_options *options, const json_t *event, struct view *view)
{
    const char *kind = json_string_value(json_object_get(event, "event"));
    int status = 0;

    if (!kind) {
        return -1;
    }
    if (strcmp(kind, "boot") == 0) {
        show_boot(options, event, view);
    } else if (strcmp(kind, "blank") == 0) {
        status = take_blank(options, event, view);
    } else if (strcmp(kind, "error") == 0) {
        view_trouble(view, json_string_value(json_object_get(event, "text")));
    } else {
        view_event(view, event);
    }
    if (strcmp(kind, "end") == 0 || strcmp(kind, "error") == 0) {
        return number_of(event, "status");
    }
    return status ? status : -1;
}

/* Shows events until the boot is over; returns the exit status. */
static int watch_boot(int fd, const struct serve_options *options, struct view *view)
{
    FILE *events = fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    int status = -1;

    while (events && status < 0 && getline(&line, &room, events) > 0) {
        json_t *event = json_loads(line, 0, NULL);

        status = take_event(options, event, view);
        json_decref(event);
    }
    while (events &&
           getline(&line, &room, events) > 0) { /* until the machine that failed is gone */
    }
    free(line);
    if (events) {
        fclose(events);
    }
    if (status < 0) {
        view_trouble(view, "the process of the machine ended before it was up");
        status = STATUS_MACHINE;
    }
    return status;
}

/* What the words on the command line ask of debugging. */
static int add_jtag(const struct up *up, struct serve_options *options, struct message *message)
{
    char path[TARGET_PATH_MAX];

    if (up->blank && !up->jtag) {
        return message_set(message, "--blank needs --jtag: nodes without a kernel get one over the "
                                    "JTAG chain");
    }
    if (up->program && openocd_find(path, message) != 0) {
        return -1;
    }
    if (up->jtag && target_find_openocd_board(path, message) != 0) {
        return -1;
    }
    if (up->jtag && up->machine_arguments.patience_ms == 0) {
        options->machine.link_patience_ms = JTAG_PATIENCE_MS;
    }
    options->machine.chain = up->jtag;
    options->target.blank = up->blank;
    options->programs = up->program;
    return target_find_jtag(&options->target, message);
}

int up_show_boot(int fd, const struct serve_options *options)
{
    struct view view;

    view_init(&view, sink_open(NULL, NULL), options->machine.network.nodes, false);
    return sink_close(view.sink, UINT64_MAX, watch_boot(fd, options, &view));
}

int verb_up(int argc, char **argv)
{
    struct up up = {.machine_arguments = options_machine_defaults(),
                    .name_arguments = {.name = UP_NAME_DEFAULT}};
    static struct serve_options options;
    struct message message;
    int ends[2];
    pid_t child;

    command_line_parse(&command_line, argc, argv, &up);
    options.name = up.name_arguments.name;
    if (rundir_name_check(options.name, &message) != 0 ||
        options_make_machine(&up.machine_arguments, &options.machine, &options.target, &message) !=
            0 ||
        add_jtag(&up, &options, &message) != 0) {
        return message_print(&message);
    }
    /* All that can be refused has been: what the new process finds wrong goes through the pipe. */
    if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0) {
        message_set(&message, "cannot start a process: %s", strerror(errno));
        return message_print(&message);
    }
    if (child == 0) {
        close(ends[0]);
        become_daemon(&options, ends[1]);
    }
    close(ends[1]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return up_show_boot(ends[0], &options);
}
