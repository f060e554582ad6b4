/*
 * rundir.c - the directory of a machine, the process that cleans it up, and the sweep of old ones.
 *
 * A directory is made under a hidden name, locked, and renamed, so that no sweep takes one that is
 * being made for one that was left. Who removes it: the tool; if the tool is killed, the cleanup
 * process, which wakes when the pipe to the tool closes; if both are, the next verb that sweeps.
 * Nothing is removed before it is known to be ours: is_own_directory, lies_at.
 */
#include "host/machine/rundir.h"

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
#include <time.h>
#include <unistd.h>

#define NAME_FORMAT   "ecube-%u-"
#define HIDDEN_FORMAT ".ecube-%u-"

enum {
    BASE_MAX = 40,
    REMOVE_TRIES = 40,
    REMOVE_PAUSE_US = 50000,
    FDS_KEPT = 5,     /* by the cleanup process: standard ones, the tool's pipe, the directory */
    MAKING_MAX_S = 60 /* a directory without a lock is just being made, or its maker is dead */
};

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
    snprintf(path, RUNDIR_PATH_MAX, "%s/" NAME_FORMAT "%.*s", base_directory(), (unsigned)getuid(),
             RUNDIR_NAME_MAX, name);
}

static bool name_valid(const char *text)
{
    size_t length =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    return length > 0 && length <= RUNDIR_NAME_MAX && text[length] == '\0';
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

/* Whether that file or directory lies at path. */
static bool lies_at(int file, const char *path)
{
    struct stat one, other;

    return fstat(file, &one) == 0 && lstat(path, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* A QEMU that is just being killed may still make a socket: try until the directory stays away. */
static void remove_surely(const char *path, int directory)
{
    for (unsigned i = 0; i < REMOVE_TRIES && lies_at(directory, path); i++) {
        if (i > 0) {
            usleep(REMOVE_PAUSE_US);
        }
        remove_directory(path);
    }
}

static bool is_own_directory(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == getuid();
}

int rundir_name_check(const char *text, struct message *message)
{
    char path[RUNDIR_PATH_MAX];
    struct stat status;

    if (!name_valid(text)) {
        return message_set(
            message, "'%.40s' is no name for a machine: use up to %d letters, digits, '-' and '_'",
            text, RUNDIR_NAME_MAX);
    }
    rundir_path(path, text);
    if (is_own_directory(path) || lstat(path, &status) != 0) {
        return 0;
    }
    return message_set(message, "%s is %s: remove it, or choose another name with --name", path,
                       S_ISLNK(status.st_mode)   ? "a symbolic link, not a machine's directory"
                       : S_ISDIR(status.st_mode) ? "another user's directory"
                                                 : "not a directory");
}

/* Calls visit with path and name of every directory of this user's whose name begins so. */
static void list(const char *format,
                 void (*visit)(void *context, const char *path, const char *name), void *context)
{
    const char *base = base_directory();
    DIR *directory = opendir(base);
    struct dirent *entry;
    char prefix[24], path[RUNDIR_PATH_MAX];
    size_t prefix_bytes = (size_t)snprintf(prefix, sizeof prefix, format, (unsigned)getuid());

    if (!directory) {
        return;
    }
    while ((entry = readdir(directory)) != NULL) {
        const char *name = entry->d_name + prefix_bytes;

        if (strncmp(entry->d_name, prefix, prefix_bytes) == 0 && name_valid(name)) {
            snprintf(path, sizeof path, "%s/%s%.*s", base, prefix, RUNDIR_NAME_MAX, name);
            if (is_own_directory(path)) {
                visit(context, path, name);
            }
        }
    }
    closedir(directory);
}

struct visitor {
    void (*visit)(void *context, const char *name);
    void *context;
};

static void visit_name(void *context, const char *path, const char *name)
{
    const struct visitor *visitor = context;

    (void)path;
    visitor->visit(visitor->context, name);
}

void rundir_list(void (*visit)(void *context, const char *name), void *context)
{
    struct visitor visitor = {visit, context};

    list(NAME_FORMAT, visit_name, &visitor);
}

/* Parts of machines that are used elsewhere ---------------------------------------------------- */

int rundir_note_elsewhere(const struct rundir *rundir, const char *name, const char *computer,
                          struct message *message)
{
    char path[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX];
    FILE *file;

    snprintf(path, sizeof path, "%s/elsewhere", rundir->path);
    file = name[0] ? fopen(path, "we") : NULL;
    if (name[0] && (!file || fprintf(file, "%s %s\n", name, computer) < 0 || fclose(file) != 0)) {
        return message_set(message, "cannot write %s: %s", path, strerror(errno));
    }
    return 0;
}

struct elsewhere {
    const char *wanted;
    char name[RUNDIR_NAME_MAX + 1], computer[RUNDIR_COMPUTER_MAX];
    bool found;
};

static void look_elsewhere(void *context, const char *path, const char *name)
{
    struct elsewhere *elsewhere = context;
    char note[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX], machine[RUNDIR_NAME_MAX + 1],
        computer[RUNDIR_COMPUTER_MAX];
    FILE *file;

    (void)name;
    snprintf(note, sizeof note, "%s/elsewhere", path);
    file = fopen(note, "re");
    if (file && fscanf(file, "%24s %63s", machine, computer) == 2 &&
        (!elsewhere->wanted || strcmp(elsewhere->wanted, machine) == 0)) {
        memcpy(elsewhere->name, machine, sizeof machine);
        memcpy(elsewhere->computer, computer, sizeof computer);
        elsewhere->found = true;
    }
    if (file) {
        fclose(file);
    }
}

bool rundir_find_elsewhere(const char *name, char found[RUNDIR_NAME_MAX + 1],
                           char computer[RUNDIR_COMPUTER_MAX])
{
    struct elsewhere elsewhere = {.wanted = name};

    list(NAME_FORMAT, look_elsewhere, &elsewhere);
    memcpy(found, elsewhere.name, sizeof elsewhere.name);
    memcpy(computer, elsewhere.computer, sizeof elsewhere.computer);
    return elsewhere.found;
}

/* Sweeping ------------------------------------------------------------------------------------- */

/* Whether a directory may be one that is just being made. */
static bool is_young(const char *path)
{
    struct stat status;

    return stat(path, &status) != 0 || time(NULL) - status.st_mtime <= MAKING_MAX_S;
}

/* Removes a directory whose lock nobody holds, and what its tool has left running. */
static void sweep_one(void *context, const char *path, const char *name)
{
    char lock[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX], run[OFFSPRING_RUN_BYTES] = "";
    const bool *hidden = context;
    int fd;

    (void)name;
    snprintf(lock, sizeof lock, "%s/lock", path);
    fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if ((fd < 0 || *hidden) && is_young(path)) {
        close(fd);
        return;
    }
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (fd >= 0 && pread(fd, run, sizeof run - 1, 0) == sizeof run - 1) {
            offspring_end(run);
        }
        remove_directory(path);
    }
    close(fd);
}

void rundir_sweep(void)
{
    bool hidden = false;

    list(NAME_FORMAT, sweep_one, &hidden);
    hidden = true;
    list(HIDDEN_FORMAT, sweep_one, &hidden);
}

/* The startup report of the cleanup process: whether it has the directory. */
struct startup_report {
    char hidden[RUNDIR_PATH_MAX]; /* empty: it was there */
    int error;
};

/* The directory that it will remove; below 0 when there is none. */
static int open_directory(const char *path, bool anew, struct startup_report *report)
{
    if (!anew) {
        return open(path, O_DIRECTORY | O_RDONLY);
    }
    snprintf(report->hidden, sizeof report->hidden, "%s/" HIDDEN_FORMAT "XXXXXX", base_directory(),
             (unsigned)getuid());
    return mkdtemp(report->hidden) ? open(report->hidden, O_DIRECTORY | O_RDONLY) : -1;
}

/* The cleanup process: creates the directory itself, so that it knows what to delete even if the
 * tool is killed at once; sleeps until the tool closes its end of the pipe, by ending in whatever
 * way; then cleans up. */
static _Noreturn void clean_up_later(int fd, int answer, const struct rundir *rundir, bool anew)
{
    struct startup_report report = {.error = 0};
    char byte;
    int null = open("/dev/null", O_RDWR), directory;

    setsid();
    prctl(PR_SET_NAME, "ecube-cleanup");
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    directory = open_directory(rundir->path, anew, &report);
    report.error = directory < 0 ? errno : 0;
    /* A tool that was killed meanwhile does not read it: then the work begins at once. */
    ssize_t told = write(answer, &report, sizeof report);
    (void)told;
    if (directory < 0) {
        rmdir(report.hidden);
        _exit(1);
    }
    fd = fcntl(fd, F_DUPFD, FDS_KEPT);
    directory = fcntl(directory, F_DUPFD, FDS_KEPT);
    for (int i = 0; i < 3; i++) {
        dup2(null, i);
    }
    dup2(fd, 3);
    dup2(directory, 4);
    close_range(FDS_KEPT, ~0U, 0);
    if (chdir("/") != 0) {
        _exit(1);
    }
    while (read(3, &byte, 1) < 0 && errno == EINTR) {
    }
    offspring_end(rundir->run);
    remove_surely(report.hidden, 4);
    remove_surely(rundir->path, 4);
    _exit(0);
}

/* Lets the cleanup process do its work, even a stopped one. False when it has not done it. */
static bool end_cleanup(struct rundir *rundir)
{
    int status = -1;

    if (rundir->cleanup > 0) {
        close(rundir->cleanup_fd);
        kill(rundir->cleanup, SIGCONT);
        while (waitpid(rundir->cleanup, &status, 0) < 0 && errno == EINTR) {
        }
        rundir->cleanup = 0;
    }
    return status == 0;
}

static void close_pair(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* Starts the cleanup process; a directory that it makes lies at `hidden` then. */
static int start_cleanup(struct rundir *rundir, bool anew, char hidden[RUNDIR_PATH_MAX],
                         struct message *message)
{
    struct startup_report report = {.error = EIO};
    int ends[2], answers[2];
    ssize_t bytes;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return message_set(message, "cannot make a pipe: %s", strerror(errno));
    }
    if (pipe2(answers, O_CLOEXEC) != 0) {
        message_set(message, "cannot make a pipe: %s", strerror(errno));
        close_pair(ends);
        return -1;
    }
    rundir->cleanup = fork();
    if (rundir->cleanup < 0) {
        message_set(message, "cannot start a process: %s", strerror(errno));
        close_pair(ends);
        close_pair(answers);
        rundir->cleanup = 0;
        return -1;
    }
    if (rundir->cleanup == 0) {
        close(ends[1]);
        close(answers[0]);
        clean_up_later(ends[0], answers[1], rundir, anew);
    }
    close(ends[0]);
    close(answers[1]);
    rundir->cleanup_fd = ends[1];
    while ((bytes = read(answers[0], &report, sizeof report)) < 0 && errno == EINTR) {
    }
    close(answers[0]);
    if (bytes != sizeof report || report.error) {
        end_cleanup(rundir);
        return message_set(message, "cannot make a directory in %s: %s", base_directory(),
                           strerror(report.error));
    }
    memcpy(hidden, report.hidden, sizeof report.hidden);
    return 0;
}

/* Whether the directory is where it was made, and its lock in it. */
static bool is_in_place(const struct rundir *rundir)
{
    char lock[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX];

    snprintf(lock, sizeof lock, "%s/lock", rundir->path);
    return lies_at(rundir->lock_fd, lock);
}

bool rundir_keep(struct rundir *rundir)
{
    char hidden[RUNDIR_PATH_MAX];
    struct message message;

    if (!is_in_place(rundir)) {
        return false;
    }
    if (rundir->cleanup > 0 && waitpid(rundir->cleanup, NULL, WNOHANG) == rundir->cleanup) {
        close(rundir->cleanup_fd);
        rundir->cleanup = 0;
    }
    if (rundir->cleanup == 0) { /* when that fails it is tried again; the end needs none */
        start_cleanup(rundir, false, hidden, &message);
    }
    return true;
}

/* Why a directory could not get its name. */
static void explain_taken(const struct rundir *rundir, const char *name, struct message *message)
{
    char control[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX];

    snprintf(control, sizeof control, "%s/control", rundir->path);
    if (rundir_name_check(name, message) != 0) {
        return;
    }
    message_set(message,
                access(control, F_OK) == 0
                    ? "a machine named '%s' is up: choose another with --name, or end it with "
                      "'ecube down'"
                    : "a machine named '%s' is just starting or ending: try again, or choose "
                      "another with --name",
                name);
}

/* The directory is made under a hidden name and renamed when its lock is held, so no sweep takes
 * it for stale. */
int rundir_create(struct rundir *rundir, const char *name, struct message *message)
{
    char hidden[RUNDIR_PATH_MAX], lock[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX],
        unique[RUNDIR_NAME_MAX + 1];
    int status = -1;

    *rundir = (struct rundir){.lock_fd = -1, .cleanup_fd = -1};
    rundir_sweep();
    offspring_name_run(rundir->run);
    snprintf(unique, sizeof unique, "run-%d", (int)getpid());
    rundir_path(rundir->path, name ? name : unique);
    if (start_cleanup(rundir, true, hidden, message) != 0) {
        rundir->path[0] = '\0';
        return -1;
    }
    snprintf(lock, sizeof lock, "%s/lock", hidden);
    rundir->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (rundir->lock_fd < 0 || flock(rundir->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        message_set(message, "cannot lock %s: %s", lock, strerror(errno));
    } else if (write(rundir->lock_fd, rundir->run, sizeof rundir->run) != sizeof rundir->run) {
        message_set(message, "cannot write %s: %s", lock, strerror(errno));
    } else if (rename(hidden, rundir->path) != 0) {
        explain_taken(rundir, name ? name : unique, message);
    } else {
        status = 0;
    }
    if (status != 0) {
        rundir_remove(rundir);
    }
    return status;
}

void rundir_remove(struct rundir *rundir)
{
    if (rundir->path[0] == '\0') {
        return;
    }
    if (!end_cleanup(rundir)) {
        offspring_end(rundir->run);
        if (is_in_place(rundir)) {
            remove_directory(rundir->path);
        }
    }
    close(rundir->lock_fd);
    rundir->path[0] = '\0';
}
