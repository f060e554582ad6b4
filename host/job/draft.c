#include "host/job/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_BYTES = 16 << 20, MOMENT_MS = 100 };

int draft_open(struct draft *draft, const char *path, const atomic_bool *stop)
{
    struct stat state;
    mode_t mask = umask(0);
    int length;

    umask(mask);
    draft->stop = stop;
    if (!realpath(path, draft->place)) { /* a link stays one */
        snprintf(draft->place, sizeof draft->place, "%s", path);
    }
    draft->beside = stat(draft->place, &state) != 0 || S_ISREG(state.st_mode);
    length =
        snprintf(draft->path, sizeof draft->path, draft->beside ? "%s.XXXXXX" : "%s", draft->place);
    if (length >= PATH_MAX) {
        return ENAMETOOLONG;
    }
    draft->fd = draft->beside ? mkostemp(draft->path, O_CLOEXEC)
                              : open(draft->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (draft->fd < 0) {
        return errno;
    }
    if (draft->beside) {
        fchmod(draft->fd, 0666 & ~mask);
    }
    return 0;
}

/* For a moment, until a pipe or a device takes more. */
static void draft_wait(const struct draft *draft)
{
    struct pollfd wanted = {.fd = draft->fd, .events = POLLOUT};

    poll(&wanted, 1, MOMENT_MS);
}

/* A pipe without a reader is an error, no signal. */
static ssize_t write_quietly(int fd, const void *data, size_t bytes)
{
    static const struct timespec at_once;
    sigset_t pipe, before;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t done = write(fd, data, bytes);
    int error = errno;
    if (done < 0 && error == EPIPE) {
        sigtimedwait(&pipe, NULL, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

int draft_add(struct draft *draft, const uint8_t *data, uint64_t bytes)
{
    while (bytes > 0) {
        if (draft->stop && atomic_load(draft->stop)) {
            return ECANCELED;
        }
        ssize_t done = write_quietly(draft->fd, data, bytes < SLICE_BYTES ? bytes : SLICE_BYTES);
        if (done < 0 && errno == EAGAIN) {
            draft_wait(draft);
        } else if (done < 0 && errno != EINTR) {
            return errno;
        }
        data += done > 0 ? done : 0;
        bytes -= done > 0 ? (uint64_t)done : 0;
    }
    return 0;
}

int draft_close(struct draft *draft, int error)
{
    if (close(draft->fd) != 0 && !error) { /* a network's disk may be full only now */
        error = errno;
    }
    if (draft->beside && !error && rename(draft->path, draft->place) != 0) {
        error = errno;
    }
    if (draft->beside && error) {
        unlink(draft->path);
    }
    return error;
}
