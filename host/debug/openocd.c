/*
 * openocd.c - ecube openocd: OpenOCD at the JTAG chain of a machine that is up.
 *
 * OpenOCD takes the place of this process, so it has the terminal, and its exit status is ours.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/command/options.h"
#include "host/command/verbs.h"
#include "host/machine/client.h"
#include "host/machine/openocd.h"
#include "host/machine/rundir.h"

struct openocd {
    struct name_arguments name_arguments;
    struct foreign_words own; /* OpenOCD's */
};

static void take_word(char *text, void *target, struct argp_state *state)
{
    if (!foreign_words_take(target, state)) {
        command_line_reject("'%.40s': options for OpenOCD must stand behind --", text);
    }
}

static const struct option_row option_rows[] = {
    {.more = options_name, OPTION_AT(struct openocd, name_arguments), .group = 1},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "[-- OPENOCD'S OWN ARGUMENTS]",
    .text =
        "Runs OpenOCD at the JTAG chain of a machine that is up with --jtag: every node K is a "
        "target nK. OpenOCD takes free ports of this computer for GDB and telnet, and prints them."
        "\vThe words behind -- are passed to OpenOCD: -c COMMAND, -f FILE, -d. Two commands are "
        "added to OpenOCD's own: program_all FILE writes a kernel into all nodes and starts them, "
        "and all COMMAND has every node do it: all halt, all resume.\n\n"
        "Example: ecube openocd --name lab -- -c 'init; targets; shutdown'",
    .take_word = take_word,
    .words_at = offsetof(struct openocd, own),
    .in_order = true,
};

/* The directory of a machine that has a chain; 0, or the exit status. */
static int find_chain(const char *name, char directory[RUNDIR_PATH_MAX], struct message *message)
{
    int status;
    json_t *answer = client_info(name, &status, message);
    const char *text = json_string_value(json_object_get(answer, "directory"));
    const char *chain = json_string_value(json_object_get(answer, "chain"));

    if (!answer) {
        return status;
    }
    if (text && chain) {
        snprintf(directory, RUNDIR_PATH_MAX, "%s", text);
    } else {
        message_set(message, "the machine has no JTAG chain: start one with 'ecube up --jtag'");
    }
    json_decref(answer);
    return text && chain ? 0 : status;
}

int verb_openocd(int argc, char **argv)
{
    struct openocd openocd = {.own = {0}};
    char path[OPENOCD_PATH_MAX], directory[RUNDIR_PATH_MAX],
        config[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX];
    char program[] = "openocd", option[] = "-f";
    struct message message;
    char **arguments;
    int status;

    command_line_parse(&command_line, argc, argv, &openocd);
    if (openocd_find(path, &message) != 0) {
        return message_print(&message);
    }
    status = find_chain(openocd.name_arguments.name, directory, &message);
    if (status != 0) {
        message_print(&message);
        return status;
    }
    snprintf(config, sizeof config, "%s/" OPENOCD_FILE, directory);
    arguments = calloc(openocd.own.count + 4, sizeof *arguments);
    if (!arguments) {
        message_set(&message, "out of memory");
        return message_print(&message);
    }
    arguments[0] = program;
    arguments[1] = option;
    arguments[2] = config;
    for (unsigned i = 0; i < openocd.own.count; i++) {
        arguments[3 + i] = openocd.own.words[i];
    }
    execv(path, arguments);
    message_set(&message, "cannot run %.300s: %s", path, strerror(errno));
    return message_print(&message);
}
