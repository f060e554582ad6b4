#include "host/computer/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITER_MS = 10000 /* for which a pipe may be silent at first */ };

static FILE *refuse(const char *path, const char *what, const char *why, struct message *message)
{
    message_set(message, "cannot read the %s %.300s: %s", what, path, why);
    return NULL;
}

FILE *input_file_open(const char *path, const char *what, struct message *message)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct pollfd writer = {.fd = fd, .events = POLLIN};
    struct stat status;
    const char *why = NULL;

    if (fd < 0 || fstat(fd, &status) != 0) {
        return refuse(path, what, strerror(errno), message);
    }
    if (S_ISDIR(status.st_mode)) {
        why = strerror(EISDIR);
    } else if (!standard && S_ISFIFO(status.st_mode) && poll(&writer, 1, WRITER_MS) == 0) {
        why = "nobody writes to it";
    }
    if (standard) {
        return why ? refuse(path, what, why, message) : stdin;
    }
    FILE *file = why || fcntl(fd, F_SETFL, 0) < 0 ? NULL : fdopen(fd, "r");
    if (!file) {
        refuse(path, what, why ? why : strerror(errno), message);
        close(fd);
    }
    return file;
}

void input_file_close(FILE *file)
{
    if (file != stdin) {
        fclose(file);
    }
}
