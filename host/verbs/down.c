/*
 * down.c - ecube down: ends a machine that is up, and returns when nothing of it is left.
 */
#include <unistd.h>

#include "host/machine/client.h"
#include "host/command/options.h"
#include "host/command/verbs.h"

static const struct command_line command_line = {
    options_name,
    .text = "Ends a machine that is up, or boots.\vExample: ecube down --name lab",
};

int verb_down(int argc, char **argv)
{
    struct name_arguments arguments = {0};
    struct message message;
    int fd, status;

    command_line_parse(&command_line, argc, argv, &arguments);
    fd = client_connect(arguments.name, &message);
    if (fd < 0) {
        message_print(&message);
        return -fd;
    }
    status = client_end(fd);
    close(fd);
    return status;
}
