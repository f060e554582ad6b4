#include "host/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { REAL_DIGITS = 15 };

int output_open(struct output *output, const char *path, struct message *message)
{
    *output = (struct output){.path = path, .fd = -1};
    if (!path) {
        return 0;
    }
    output->made = access(path, F_OK) != 0;
    output->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (output->fd < 0) {
        return message_set(message, "cannot write the JSON file %.300s: %s", path, strerror(errno));
    }
    return 0;
}

int output_write(struct output *output, const json_t *object, struct message *message)
{
    if (output->fd < 0) {
        return 0;
    }
    if ((ftruncate(output->fd, 0) != 0 &&
         errno != EINVAL) /* a pipe or device cannot be cut short */
        ||
        json_dumpfd(object, output->fd, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS)) != 0 ||
        write(output->fd, "\n", 1) != 1) {
        close(output->fd);
        return message_set(message, "cannot write the JSON file %.300s: %s", output->path,
                           strerror(errno));
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
