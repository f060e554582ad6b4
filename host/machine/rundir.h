/*
 * rundir.h - the private directory of one machine: QMP and GDB sockets, control socket, lock.
 *
 * It lies in $XDG_RUNTIME_DIR, else in /tmp, has mode 0700 and is named ecube-UID-NAME. The
 * cleanup process creates the directory itself, so that it knows what to delete even if the tool is
 * killed at once. When the tool is gone, however and whenever it went, it kills what the nodes have
 * started and removes the directory. The tool replaces a cleanup process that was killed. When both
 * were killed at once, the next verb for machines does that work: the tool holds a lock in the
 * directory, which is stale when nobody holds it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "host/console/message.h"
#include "host/machine/offspring.h"

enum { RUNDIR_PATH_MAX = 88, RUNDIR_FILE_MAX = 16, RUNDIR_NAME_MAX = 24 };

struct rundir {
    char path[RUNDIR_PATH_MAX];    /* empty: there is none */
    char run[OFFSPRING_RUN_BYTES]; /* what the nodes' processes are marked with */
    int lock_fd;
    int cleanup_fd;
    pid_t cleanup;
};

/* Removes directories whose tool is gone, then makes one. `name` NULL: a name that nobody else
 * has. */
int rundir_create(struct rundir *rundir, const char *name, struct message *message);

/* Starts another cleanup process when the last one has died. False when the directory is not where
 * it was, so that nobody finds the machine any more. */
bool rundir_keep(struct rundir *rundir);

/* Kills what the nodes have started, removes the directory and ends the cleanup process. */
void rundir_remove(struct rundir *rundir);

/* Does the same for those whose tool and cleanup process are gone. */
void rundir_sweep(void);

/* Path of the directory that a machine of this name has, whether it exists or not. */
void rundir_path(char path[RUNDIR_PATH_MAX], const char *name);

/* Calls visit with the name of every directory that is this user's own. */
void rundir_list(void (*visit)(void *context, const char *name), void *context);

/* Notes that the directory is of a part of a machine that is used on another computer; its name may
 * be empty. */
int rundir_note_elsewhere(const struct rundir *rundir, const char *name, const char *computer,
                          struct message *message);

/* Where the machine of this name (NULL: any) is used, of which there is a part here; its name, too.
 * False: there is none. */
enum { RUNDIR_COMPUTER_MAX = 64 };
bool rundir_find_elsewhere(const char *name, char found[RUNDIR_NAME_MAX + 1],
                           char computer[RUNDIR_COMPUTER_MAX]);

/* Whether text can name a machine, and nothing but a directory of this user's own lies where its
 * directory does; fails when not. */
int rundir_name_check(const char *text, struct message *message);
