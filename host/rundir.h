/*
 * rundir.h - the private directory of one mesh: QMP and GDB sockets, the control socket, the lock.
 *
 * It lies in $XDG_RUNTIME_DIR, else in /tmp, has mode 0700 and is named ecube-UID-NAME. A guardian
 * process makes it, and removes it when the tool is gone, however and whenever it went; the tool
 * holds a lock in it, so that what a guardian could not remove is stale to the next start.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "host/message.h"

enum { RUNDIR_PATH_MAX = 88, RUNDIR_NAME_MAX = 24 };

struct rundir {
    char path[RUNDIR_PATH_MAX]; /* empty: there is none */
    int lock_fd;
    int guardian_fd;
    pid_t guardian;
};

/* Removes directories whose tool is gone, then makes one. `name` NULL: a name that nobody else
 * has. */
int rundir_create(struct rundir *rundir, const char *name, struct message *message);

/* Removes the directory and ends the guardian. */
void rundir_remove(struct rundir *rundir);

/* Path of the directory that a mesh of this name has, whether it exists or not. */
void rundir_path(char path[RUNDIR_PATH_MAX], const char *name);

/* Calls visit with the name of every directory that is this user's own. */
void rundir_list(void (*visit)(void *context, const char *name), void *context);

/* Whether text can name a mesh; fails when it cannot. */
int rundir_name_check(const char *text, struct message *message);
