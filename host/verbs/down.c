/*
 * down.c - ecube down: ends a machine that is up, and returns when nothing of it is left.
 */
#include <unistd.h>

#include "host/machine/client.h"
#include "host/command/options.h"
#include "host/command/verbs.h"

static error_t parse(int key, char *text, struct argp_state *state)
{
    (void)text;
    if (key != ARGP_KEY_INIT) {
        return ARGP_ERR_UNKNOWN;
    }
    state->child_inputs[0] = state->input;
    return 0;
}

static const struct argp_child children[] = {{&options_name_argp, 0, NULL, 1}, {0}};

static const struct argp parser = {
    NULL,     parse, NULL, "Ends a machine that is up, or boots.\vExample: ecube down --name lab",
    children, NULL,  NULL};

int verb_down(int argc, char **argv)
{
    struct name_arguments arguments = {0};
    struct message message;
    int fd, status;

    options_parse(&parser, argc, argv, 0, &arguments);
    fd = client_connect(arguments.name, &message);
    if (fd < 0) {
        message_print(&message);
        return -fd;
    }
    status = client_end(fd);
    close(fd);
    return status;
}
