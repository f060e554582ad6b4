#include "host/command/standard_input.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOMENT_MS = 1000 };

/* Whether it is to be read though nobody has asked for it. */
static bool is_meant(void)
{
    struct pollfd wanted = {.fd = STDIN_FILENO, .events = POLLIN};
    struct stat status;

    if (fstat(STDIN_FILENO, &status) != 0) {
        return false;
    }
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
        return poll(&wanted, 1, MOMENT_MS) > 0;
    }
    return S_ISREG(status.st_mode);
}

int standard_input_add(struct data_arguments *data, struct message *message)
{
    const char *to = data->standard_input ? data->standard_input : "0";

    if (strcmp(to, "none") == 0 || (!data->standard_input && !is_meant())) {
        return 0;
    }
    if (strcmp(to, "0") != 0 && strcmp(to, "all") != 0) {
        return message_set(message, "--stdin %.40s: 0 (rank 0), all or none", to);
    }
    if (data->count == JOB_DATA_MAX) {
        return message_set(message, "standard input and %d pieces of data: there is room for %d",
                           JOB_DATA_MAX, JOB_DATA_MAX);
    }
    data->list[data->count++] = (struct job_data){.kind = BLOCK_STDIN, .path = "-", .name = to};
    return 0;
}
