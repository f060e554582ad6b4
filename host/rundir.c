#include "host/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BASE_MAX = 40, REMOVE_TRIES = 40, REMOVE_PAUSE_US = 50000 };

/* $XDG_RUNTIME_DIR when it is short enough for socket paths, writable and ours. */
static const char *base_directory(void)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    struct stat status;

    if (base && base[0] == '/' && strlen(base) < BASE_MAX && stat(base, &status) == 0 &&
        S_ISDIR(status.st_mode) && status.st_uid == getuid() && access(base, W_OK | X_OK) == 0) {
        return base;
    }
    return "/tmp";
}

void rundir_path(char path[RUNDIR_PATH_MAX], const char *name)
{
    snprintf(path, RUNDIR_PATH_MAX, "%s/ecube-%u-%.*s", base_directory(), (unsigned)getuid(),
             RUNDIR_NAME_MAX, name);
}

static bool name_valid(const char *text)
{
    size_t length =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    return length > 0 && length <= RUNDIR_NAME_MAX && text[length] == '\0';
}

int rundir_name_check(const char *text, struct message *message)
{
    if (name_valid(text)) {
        return 0;
    }
    return message_set(message,
                       "'%.40s' is no name for a mesh: use up to %d letters, digits, '-' and '_'",
                       text, RUNDIR_NAME_MAX);
}

/* Removes the files of a directory, which holds no directories, and then itself. */
static void remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    if (!directory) {
        return;
    }
    while ((entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            unlinkat(dirfd(directory), entry->d_name, 0);
        }
    }
    closedir(directory);
    rmdir(path);
}

/* A QEMU that is just being killed may still make a socket: try until the directory stays away. */
static void remove_surely(const char *path)
{
    for (unsigned i = 0; i < REMOVE_TRIES; i++) {
        remove_directory(path);
        if (access(path, F_OK) != 0) {
            return;
        }
        usleep(REMOVE_PAUSE_US);
    }
}

static bool is_own_directory(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == getuid();
}

void rundir_list(void (*visit)(void *context, const char *name), void *context)
{
    const char *base = base_directory();
    DIR *directory = opendir(base);
    struct dirent *entry;
    char prefix[24], path[RUNDIR_PATH_MAX];
    size_t prefix_bytes = (size_t)snprintf(prefix, sizeof prefix, "ecube-%u-", (unsigned)getuid());

    if (!directory) {
        return;
    }
    while ((entry = readdir(directory)) != NULL) {
        if (strncmp(entry->d_name, prefix, prefix_bytes) == 0 &&
            name_valid(entry->d_name + prefix_bytes)) {
            rundir_path(path, entry->d_name + prefix_bytes);
            if (is_own_directory(path)) {
                visit(context, entry->d_name + prefix_bytes);
            }
        }
    }
    closedir(directory);
}

/* Removes a directory whose lock nobody holds. */
static void sweep_one(void *context, const char *name)
{
    char path[RUNDIR_PATH_MAX], lock[RUNDIR_PATH_MAX + 8];
    int fd;

    (void)context;
    rundir_path(path, name);
    snprintf(lock, sizeof lock, "%s/lock", path);
    fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        remove_directory(path);
    }
    close(fd);
}

/* The guardian: sleeps until the tool closes its end of the pipe, by ending in whatever way,
 * then cleans up. */
static _Noreturn void guard(int fd, const char *path)
{
    char byte;
    int null = open("/dev/null", O_RDWR);

    setsid();
    prctl(PR_SET_NAME, "ecube-guardian");
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    dup2(fd, 3);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    close_range(4, ~0U, 0);
    if (chdir("/") != 0) {
        _exit(1);
    }
    while (read(3, &byte, 1) < 0 && errno == EINTR) {
    }
    remove_surely(path);
    _exit(0);
}

static int start_guardian(struct rundir *rundir, struct message *message)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return message_set(message, "cannot make a pipe: %s", strerror(errno));
    }
    rundir->guardian = fork();
    if (rundir->guardian < 0) {
        close(ends[0]);
        close(ends[1]);
        return message_set(message, "cannot start a process: %s", strerror(errno));
    }
    if (rundir->guardian == 0) {
        close(ends[1]);
        guard(ends[0], rundir->path);
    }
    close(ends[0]);
    rundir->guardian_fd = ends[1];
    return 0;
}

/* The directory is made under a hidden name and renamed when its lock is held, so no sweep takes
 * it for stale. */
int rundir_create(struct rundir *rundir, const char *name, struct message *message)
{
    char hidden[RUNDIR_PATH_MAX], lock[RUNDIR_PATH_MAX + 8], unique[RUNDIR_NAME_MAX + 1];

    *rundir = (struct rundir){.lock_fd = -1, .guardian_fd = -1};
    rundir_list(sweep_one, NULL);
    snprintf(hidden, sizeof hidden, "%s/.ecube-%u-XXXXXX", base_directory(), (unsigned)getuid());
    if (!mkdtemp(hidden)) {
        return message_set(message, "cannot make a directory in %s: %s", base_directory(),
                           strerror(errno));
    }
    snprintf(lock, sizeof lock, "%s/lock", hidden);
    rundir->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (rundir->lock_fd < 0 || flock(rundir->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        remove_directory(hidden);
        return message_set(message, "cannot lock %s: %s", lock, strerror(errno));
    }
    snprintf(unique, sizeof unique, "run-%d", (int)getpid());
    rundir_path(rundir->path, name ? name : unique);
    if (rename(hidden, rundir->path) != 0) {
        remove_directory(hidden);
        close(rundir->lock_fd);
        rundir->path[0] = '\0';
        return message_set(
            message,
            "a mesh named '%s' is up: choose another with --name, or end it with 'ecube down'",
            name ? name : unique);
    }
    if (start_guardian(rundir, message) != 0) {
        remove_directory(rundir->path);
        return -1;
    }
    return 0;
}

void rundir_remove(struct rundir *rundir)
{
    if (rundir->path[0] == '\0') {
        return;
    }
    remove_surely(rundir->path);
    close(rundir->guardian_fd);
    while (waitpid(rundir->guardian, NULL, 0) < 0 && errno == EINTR) {
    }
    close(rundir->lock_fd);
    rundir->path[0] = '\0';
}
