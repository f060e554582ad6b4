#include "host/job/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int draft_open(struct draft *draft, const char *path)
{
    struct stat state;
    mode_t mask = umask(0);
    int length;

    umask(mask);
    if (!realpath(path, draft->place)) { /* a link stays one */
        snprintf(draft->place, sizeof draft->place, "%s", path);
    }
    draft->beside = stat(draft->place, &state) != 0 || S_ISREG(state.st_mode);
    length =
        snprintf(draft->path, sizeof draft->path, draft->beside ? "%s.XXXXXX" : "%s", draft->place);
    if (length >= PATH_MAX) {
        return ENAMETOOLONG;
    }
    draft->fd =
        draft->beside ? mkostemp(draft->path, O_CLOEXEC) : open(draft->path, O_WRONLY | O_CLOEXEC);
    if (draft->fd < 0) {
        return errno;
    }
    if (draft->beside) {
        fchmod(draft->fd, 0666 & ~mask);
    }
    return 0;
}

int draft_add(struct draft *draft, const uint8_t *data, uint64_t bytes)
{
    while (bytes > 0) {
        ssize_t done = write(draft->fd, data, bytes < SSIZE_MAX ? bytes : SSIZE_MAX);
        if (done < 0 && errno != EINTR) {
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
