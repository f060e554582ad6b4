/*
 * openocd.c - runs OpenOCD as a child that programs nodes, and writes what its configuration reads.
 */
#include "host/machine/openocd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/machine/rundir.h"
#include "host/computer/target.h"

enum { LINE_ROOM = 300 };

void openocd_quote(char *quoted, size_t room, const char *word)
{
    size_t used = 0;

    for (const char *p = word; *p && used + 3 < room; p++) {
        if (strchr(" \t\n\\\"{}[]$;#", *p)) {
            quoted[used++] = '\\';
        }
        quoted[used++] = *p;
    }
    quoted[used] = '\0';
}

static int cannot_write(const char *path, struct message *message)
{
    return message_set(message, "cannot write %s: %s", path, strerror(errno));
}

int openocd_write_config(const char *directory, uint32_t nodes, const char *kernel,
                         struct message *message)
{
    char path[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX], board[TARGET_PATH_MAX];
    char quoted[3][2 * TARGET_PATH_MAX];
    FILE *file;

    if (target_find_openocd_board(board, message) != 0) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/chain", directory);
    openocd_quote(quoted[0], sizeof quoted[0], path);
    openocd_quote(quoted[1], sizeof quoted[1], kernel);
    openocd_quote(quoted[2], sizeof quoted[2], board);
    snprintf(path, sizeof path, "%s/" OPENOCD_FILE, directory);
    file = fopen(path, "we");
    if (!file) {
        return cannot_write(path, message);
    }
    fprintf(file,
            "# openocd.cfg - the JTAG chain of this machine; made by 'ecube up --jtag'.\n"
            "set ECUBE_CHAIN %s\nset ECUBE_NODES %u\nset ECUBE_KERNEL %s\nsource %s\n",
            quoted[0], (unsigned)nodes, quoted[1], quoted[2]);
    return fclose(file) == 0 ? 0 : cannot_write(path, message);
}

int openocd_find(char path[OPENOCD_PATH_MAX], struct message *message)
{
    return target_find_program(path, "openocd")
               ? 0
               : message_set(message, "openocd is not in PATH: install Debian's package openocd "
                                      "(make packages does)");
}

/* In the child, between fork and exec. */
static _Noreturn void become_programmer(const char *openocd, const char *directory,
                                        const char *kernel, pid_t parent, int output_fd)
{
    char config[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX], quoted[2 * TARGET_PATH_MAX],
        command[2 * TARGET_PATH_MAX + 64];
    int null = open("/dev/null", O_RDONLY);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { /* it died before the line above */
        _exit(127);
    }
    dup2(null, 0);
    dup2(output_fd, 1);
    dup2(output_fd, 2);
    openocd_quote(quoted, sizeof quoted, kernel);
    snprintf(config, sizeof config, "%s/" OPENOCD_FILE, directory);
    snprintf(command, sizeof command, "init; program_all %s; shutdown", quoted);
    execl(openocd, "openocd", "-f", config, "-c", "gdb_port disabled", "-c", command, (char *)NULL);
    dprintf(2, "Error: cannot run %s: %s\n", openocd, strerror(errno));
    _exit(127);
}

/* Reads what OpenOCD says: each "** n5: programmed kernel.elf **" is one node more. Keeps its last
 * error. */
static void watch(int fd, uint32_t nodes, struct view *view, char error[LINE_ROOM])
{
    FILE *lines = fdopen(fd, "r");
    char line[LINE_ROOM];
    unsigned done = 0;

    error[0] = '\0';
    while (lines && fgets(line, sizeof line, lines)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (strncmp(line, "Error: ", 7) == 0) {
            snprintf(error, LINE_ROOM, "%s", line + 7);
        } else if (strstr(line, ": programmed ")) {
            json_t *event = json_pack("{s:s, s:s, s:i, s:i}", "event", "progress", "phase",
                                      "program", "done", (int)++done, "total", (int)nodes);

            view_event(view, event);
            json_decref(event);
        }
    }
    if (lines) {
        fclose(lines);
    }
}

int openocd_program(const char *directory, uint32_t nodes, const char *kernel, struct view *view,
                    struct message *message)
{
    char openocd[OPENOCD_PATH_MAX], error[LINE_ROOM];
    pid_t parent = getpid(), child;
    int ends[2], status = -1;

    if (openocd_find(openocd, message) != 0) {
        return -1;
    }
    if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0) {
        return message_set(message, "cannot start OpenOCD: %s", strerror(errno));
    }
    if (child == 0) {
        become_programmer(openocd, directory, kernel, parent, ends[1]);
    }
    close(ends[1]);
    watch(ends[0], nodes, view, error);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return 0;
    }
    return WIFSIGNALED(status)
               ? message_set(message, "programming failed: OpenOCD was killed by signal %d",
                             WTERMSIG(status))
               : message_set(message, "programming failed: OpenOCD ended with code %d%s%s",
                             WEXITSTATUS(status), error[0] ? ": " : "", error);
}
