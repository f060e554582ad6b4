/*
 * jtag.c - ecube-jtag as a child process: its start, its notices, its end.
 *
 * Notices come over a socketpair, whose end tells ecube-jtag that the tool has gone. What it prints
 * goes to a file in memory, so that it can never block on a full pipe, and its last line is there
 * when it has died.
 */
#include "host/machine/jtag.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jtag/daemon/notice.h"

/* In the child, between fork and exec. */
static _Noreturn void become_jtag(const struct jtag *jtag, const struct jtag_options *options,
                                  const struct rundir *rundir, pid_t parent, int notices_fd,
                                  struct argv *command)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { /* it died before the line above */
        _exit(127);
    }
    setpgid(0, 0); /* a terminal's Ctrl-C is for the tool */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, 0);
    dup2(null, 1);
    dup2(jtag->words_fd, 2);
    fcntl(notices_fd, F_SETFD, 0);
    offspring_mark(rundir->run, options->nodes); /* the number behind the last node's */
    execv(command->words[0], command->words);
    dprintf(2, "cannot run %s: %s\n", command->words[0], strerror(errno));
    _exit(127);
}

static void take_notice(struct jtag *jtag, const char *line)
{
    static const enum jtag_state states[] = {
        [NOTICE_RUNNING] = JTAG_RUNNING, [NOTICE_HALTED] = JTAG_HALTED, [NOTICE_LOST] = JTAG_LOST};
    const struct jtag_owner *owner = &jtag->owner;
    struct notice notice;

    if (!notice_parse(&notice, line)) {
        return;
    }
    switch (notice.kind) {
    case NOTICE_READY: owner->ready(owner->context); break;
    case NOTICE_RESET: owner->was_reset(owner->context, notice.node); break;
    case NOTICE_NODE:
        owner->changed(owner->context, notice.node, states[notice.state],
                       strcmp(notice.holder, "-") == 0 ? "" : notice.holder);
        break;
    }
}

/* Hands on each line that is complete; what is too long for one is none. */
static void take_bytes(struct jtag *jtag, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n') {
            jtag->line[jtag->line_bytes] = bytes[i];
            jtag->line_bytes += jtag->line_bytes < sizeof jtag->line - 1;
            continue;
        }
        jtag->line[jtag->line_bytes] = '\0';
        jtag->line_bytes = 0;
        take_notice(jtag, jtag->line);
    }
}

/* Takes notices that have come; false when there are no more now. */
static bool take_some(struct jtag *jtag)
{
    char bytes[1024];
    ssize_t count = read(jtag->notices_fd, bytes, sizeof bytes);

    if (count > 0) {
        take_bytes(jtag, bytes, (size_t)count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        uv_poll_stop(&jtag->poll); /* its end is told by jtag_reap */
    }
    return count > 0;
}

static void on_notices(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    take_some(poll->data);
}

static int start(struct jtag *jtag, const struct target *target, const struct jtag_options *options,
                 const struct rundir *rundir, struct message *message)
{
    struct argv command;
    pid_t parent = getpid();
    int ends[2];

    jtag->words_fd = memfd_create("ecube-jtag", MFD_CLOEXEC);
    if (jtag->words_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return message_set(message, "cannot start %s: %s", target->jtag, strerror(errno));
    }
    jtag->notices_fd = ends[0];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    target_make_jtag_command(&command, target, rundir->path, options->nodes, options->chain,
                             ends[1]);
    jtag->pid = fork();
    if (jtag->pid == 0) {
        become_jtag(jtag, options, rundir, parent, ends[1], &command);
    }
    close(ends[1]);
    if (jtag->pid < 0) {
        jtag->pid = 0;
        return message_set(message, "cannot start %s: %s", target->jtag, strerror(errno));
    }
    return 0;
}

int jtag_start(struct jtag *jtag, uv_loop_t *loop, const struct target *target,
               const struct jtag_options *options, const struct rundir *rundir,
               const struct jtag_owner *owner, struct message *message)
{
    *jtag = (struct jtag){.owner = *owner, .words_fd = -1, .notices_fd = -1};
    if (start(jtag, target, options, rundir, message) != 0) {
        return -1;
    }
    uv_poll_init(loop, &jtag->poll, jtag->notices_fd);
    jtag->poll.data = jtag;
    jtag->listening = true;
    uv_poll_start(&jtag->poll, UV_READABLE, on_notices);
    return 0;
}

/* The last line that it has printed. */
static void last_words(const struct jtag *jtag, char words[JTAG_WORDS_MAX])
{
    off_t size = lseek(jtag->words_fd, 0, SEEK_END);
    off_t from = size > JTAG_WORDS_MAX - 1 ? size - (JTAG_WORDS_MAX - 1) : 0;
    ssize_t bytes = size > 0 ? pread(jtag->words_fd, words, JTAG_WORDS_MAX - 1, from) : 0;
    char *end;

    words[bytes > 0 ? bytes : 0] = '\0';
    while (bytes > 0 && (words[bytes - 1] == '\n' || words[bytes - 1] == '\r')) {
        words[--bytes] = '\0';
    }
    end = strrchr(words, '\n');
    if (end) {
        memmove(words, end + 1, strlen(end));
    }
}

void jtag_reap(struct jtag *jtag)
{
    char words[JTAG_WORDS_MAX], text[JTAG_WORDS_MAX + 80];
    int status;

    if (jtag->pid <= 0 || waitpid(jtag->pid, &status, WNOHANG) != jtag->pid) {
        return;
    }
    jtag->pid = 0;
    while (take_some(jtag)) { /* what it has told before */
    }
    last_words(jtag, words);
    if (WIFSIGNALED(status)) {
        snprintf(text, sizeof text, "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        snprintf(text, sizeof text, "ended with code %d%s%s", WEXITSTATUS(status),
                 words[0] ? ": " : "", words);
    }
    jtag->owner.ended(jtag->owner.context, text);
}

static void close_once(int *fd)
{
    if (*fd > 0) { /* 0: never opened */
        close(*fd);
        *fd = -1;
    }
}

void jtag_stop(struct jtag *jtag)
{
    if (jtag->pid > 0) {
        kill(jtag->pid, SIGKILL);
        while (waitpid(jtag->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        jtag->pid = 0;
    }
    if (jtag->listening) {
        uv_poll_stop(&jtag->poll);
        uv_close((uv_handle_t *)&jtag->poll, NULL);
        jtag->listening = false;
    }
    close_once(&jtag->notices_fd);
    close_once(&jtag->words_fd);
}
