/*
 * draft.h - a file that is written beside its place and takes it when it is whole: so no partial
 * file looks whole.
 *
 * Errors   0, or errno
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct draft {
    int fd;
    bool beside; /* it is to take its place */
    char path[PATH_MAX], place[PATH_MAX];
};

/* What is no regular file is written where it is. */
int draft_open(struct draft *draft, const char *path);
int draft_add(struct draft *draft, const uint8_t *data, uint64_t bytes);
/* With no error so far the file takes its place; else nothing of it stays. Returns the error. */
int draft_close(struct draft *draft, int error);
