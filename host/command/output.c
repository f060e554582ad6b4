/*
 * output.c - opens files of results early and fills them late.
 *
 * A file is opened without O_TRUNC: when a run fails the results of the one before are still there.
 * One that was made for a run that failed is removed.
 */
#include "host/command/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REAL_DIGITS = 15 };

static int cannot_write(const struct output *output, int error, struct message *message)
{
    return message_set(message, "cannot write the %s %.300s: %s", output->what, output->path,
                       strerror(error));
}

static int take_standard_output(struct output *output, struct message *message)
{
    *output = (struct output){.path = "to standard output", .what = "JSON", .taken = true};
    fflush(stdout);
    output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (output->fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        return cannot_write(output, errno, message);
    }
    return 0;
}

int output_open(struct output *output, const char *path, struct message *message)
{
    if (path && strcmp(path, "-") == 0) {
        return take_standard_output(output, message);
    }
    return output_open_as(output, "JSON file", path, message);
}

int output_open_as(struct output *output, const char *what, const char *path,
                   struct message *message)
{
    *output = (struct output){.path = path, .what = what, .fd = -1};
    if (!path) {
        return 0;
    }
    output->made = access(path, F_OK) != 0;
    output->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (output->fd < 0) {
        return cannot_write(output, errno, message);
    }
    return 0;
}

/* A pipe or device cannot be cut short, and standard output may be a file that others add to. */
static bool emptied(const struct output *output)
{
    return output->taken || ftruncate(output->fd, 0) == 0 || errno == EINVAL;
}

int output_begin(struct output *output, struct message *message)
{
    if (output->fd >= 0 && !emptied(output)) {
        return cannot_write(output, errno, message);
    }
    return 0;
}

int output_write(struct output *output, const json_t *object, struct message *message)
{
    if (output->fd < 0) {
        return 0;
    }
    if (!emptied(output) ||
        json_dumpfd(object, output->fd, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS)) != 0 ||
        write(output->fd, "\n", 1) != 1) {
        int error = errno;
        close(output->fd);
        return cannot_write(output, error, message);
    }
    close(output->fd);
    output->fd = -1;
    return 0;
}

void output_drop(struct output *output)
{
    if (output->fd >= 0) {
        close(output->fd);
        if (output->made) {
            unlink(output->path);
        }
    }
}
