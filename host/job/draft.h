/*
 * draft.h - a file that is written beside its place and takes it when it is whole: so no partial
 * file looks whole.
 *
 * Errors   0, or errno; ECANCELED soon after `stop`, if there is one, is true
 */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct draft {
    int fd;
    bool beside; /* it is to take its place */
    const atomic_bool *stop;
    char path[PATH_MAX], place[PATH_MAX];
};

/* What is no regular file is written where it is, and nobody waits for a reader. */
int draft_open(struct draft *draft, const char *path, const atomic_bool *stop);
int draft_add(struct draft *draft, const uint8_t *data, uint64_t bytes);
/* With no error so far the file takes its place; else nothing of it stays. Returns the error. */
int draft_close(struct draft *draft, int error);
