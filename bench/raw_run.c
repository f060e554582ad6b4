#include "bench/raw_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WORDS_MAX = 64,
    LINKS_MAX = 2,
    CHAIN_MAX = 4,
    PORTS = 13,
    WAIT_MS = 60000,
    LOOK_MS = 500,
    LOOKS_UNTIL_STILL = 6, /* that many in a row without work: the run stands still */
    WORK_NS_MIN = 1000000, /* of processor time between two looks; QEMU that waits has none */
    LINE_BYTES = 512,
    NODES_MAX = 128
};

/* How a run can fail. */
enum { NO_RESULT = -1, STOOD_STILL = -2 };

struct process {
    pid_t pid;
    int output_fd; /* its stdout and stderr */
};

/* Of a chain. */
struct result {
    uint64_t numbers[2];
    uint64_t processor_ns; /* of all its processes, until the result came */
};

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* In the child: splits the command, adds image, links, role and count, and becomes QEMU. */
static _Noreturn void become_qemu(const struct raw_bench *bench, const char *role, uint64_t count,
                                  const int *links, unsigned link_count, int output_fd)
{
    static char text[1024], strings[3 * LINKS_MAX + 4][128];
    char *words[WORDS_MAX];
    unsigned used = 0, string = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    snprintf(text, sizeof text, "%s", bench->qemu);
    for (char *word = strtok(text, " "); word && used < WORDS_MAX / 2; word = strtok(NULL, " ")) {
        words[used++] = word;
    }
    snprintf(strings[string], sizeof strings[0], "enable=on,target=native,arg=raw,arg=%s,arg=%llu",
             role, (unsigned long long)count);
    words[used++] = (char *)"-semihosting-config";
    words[used++] = strings[string++];
    words[used++] = (char *)"-kernel";
    words[used++] = (char *)bench->image;
    if (link_count > 0) {
        snprintf(strings[string], sizeof strings[0], "virtio-serial-device,max_ports=%d", PORTS);
        words[used++] = (char *)"-device";
        words[used++] = strings[string++];
    }
    for (unsigned i = 0; i < link_count; i++) {
        fcntl(links[i], F_SETFD, 0);
        snprintf(strings[string], sizeof strings[0], "socket,id=c%u,fd=%d", i, links[i]);
        words[used++] = (char *)"-chardev";
        words[used++] = strings[string++];
        snprintf(strings[string], sizeof strings[0], "virtserialport,chardev=c%u,nr=%u", i, i + 1);
        words[used++] = (char *)"-device";
        words[used++] = strings[string++];
    }
    words[used] = NULL;
    dup2(output_fd, 1);
    dup2(output_fd, 2);
    execvp(words[0], words);
    dprintf(2, "cannot run %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static int start(struct process *process, const struct raw_bench *bench, const char *role,
                 uint64_t count, const int *links, unsigned link_count)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    process->pid = fork();
    if (process->pid == 0) {
        become_qemu(bench, role, count, links, link_count, ends[1]);
    }
    close(ends[1]);
    process->output_fd = ends[0];
    return process->pid > 0 ? 0 : -1;
}

static void stop(struct process *process)
{
    if (process->pid > 0) {
        kill(process->pid, SIGKILL);
        waitpid(process->pid, NULL, 0);
    }
    close(process->output_fd);
    *process = (struct process){0, -1};
}

/* Processor time of all threads of all processes. */
static uint64_t processor_ns(const struct process *processes, unsigned count)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++) {
        clockid_t clock;
        struct timespec time;
        if (clock_getcpuclockid(processes[i].pid, &clock) == 0 &&
            clock_gettime(clock, &time) == 0) {
            sum += (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
        }
    }
    return sum;
}

/* Waits until `told` has something to read: 0; STOOD_STILL: nobody works any more. */
static int wait_for(const struct process *processes, unsigned count, unsigned told)
{
    struct pollfd wait = {.fd = processes[told].output_fd, .events = POLLIN};
    uint64_t before_ns = processor_ns(processes, count);
    int still = 0;

    for (int waited_ms = 0; waited_ms < WAIT_MS; waited_ms += LOOK_MS) {
        if (poll(&wait, 1, LOOK_MS) == 1) {
            return 0;
        }
        uint64_t now_ns = processor_ns(processes, count);
        still = now_ns - before_ns < WORK_NS_MIN ? still + 1 : 0;
        before_ns = now_ns;
        if (still == LOOKS_UNTIL_STILL) {
            return STOOD_STILL;
        }
    }
    return NO_RESULT;
}

/* Reads until the line "raw WORD NUMBER NUMBER" of `told` has come. */
static int read_result(const struct process *processes, unsigned count, unsigned told,
                       uint64_t numbers[2])
{
    char line[LINE_BYTES];
    size_t used = 0;
    int ready = 0;

    while (used < sizeof line - 1 && (ready = wait_for(processes, count, told)) == 0) {
        ssize_t bytes = read(processes[told].output_fd, line + used, sizeof line - 1 - used);
        if (bytes <= 0) {
            break;
        }
        used += (size_t)bytes;
        line[used] = '\0';
        unsigned long long first, second;
        char *result = strstr(line, "raw ");
        if (result && strchr(result, '\n') &&
            sscanf(result, "raw %*s %llu %llu", &first, &second) == 2) {
            numbers[0] = first;
            numbers[1] = second;
            return 0;
        }
    }
    if (ready == STOOD_STILL) {
        fprintf(stderr, "bench: a raw run stood still\n");
        return STOOD_STILL;
    }
    line[used] = '\0';
    fprintf(stderr, "bench: the raw image gave no result: %s\n", line);
    return NO_RESULT;
}

/* Runs first ... middle ... last in a chain; the result is that of `told`. */
static int run_chain(struct raw_bench *bench, const char *const *roles, unsigned count,
                     unsigned told, uint64_t amount, struct result *result)
{
    struct process processes[CHAIN_MAX];
    int cables[CHAIN_MAX][2];
    int status = 0;

    for (unsigned i = 0; i + 1 < count; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, cables[i]) != 0) {
            return -1;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        int links[LINKS_MAX];
        unsigned link_count = 0;
        if (i > 0) {
            links[link_count++] = cables[i - 1][1];
        }
        if (i + 1 < count) {
            links[link_count++] = cables[i][0];
        }
        status |= start(&processes[i], bench, roles[i], amount, links, link_count);
    }
    if (status == 0) {
        status = read_result(processes, count, told, result->numbers);
        result->processor_ns = processor_ns(processes, count);
    }
    bench->runs++;
    bench->stood_still += status == STOOD_STILL;
    for (unsigned i = 0; i < count; i++) {
        stop(&processes[i]);
    }
    for (unsigned i = 0; i + 1 < count; i++) {
        close(cables[i][0]);
        close(cables[i][1]);
    }
    return status;
}

bool raw_run_stream(struct raw_bench *bench, unsigned relays, uint64_t bytes,
                    struct raw_stream *stream)
{
    const char *roles[CHAIN_MAX] = {"send", "relay", "relay", "relay"};
    struct result result;

    *stream = (struct raw_stream){-1, -1};
    roles[relays + 1] = "receive";
    if (run_chain(bench, roles, relays + 2, relays + 1, bytes, &result) != 0 ||
        result.numbers[1] == 0) {
        return false;
    }
    stream->bytes_per_us = (double)result.numbers[0] / (double)result.numbers[1];
    stream->processor_us = (double)result.processor_ns / 1e3;
    return true;
}

double raw_run_ping(struct raw_bench *bench, uint32_t count)
{
    const char *roles[] = {"ping", "pong"};
    struct result result;
    return run_chain(bench, roles, 2, 0, count, &result) == 0 ? (double)result.numbers[0] : -1;
}

double raw_run_boot(const struct raw_bench *bench, unsigned nodes)
{
    static struct process processes[NODES_MAX];
    double begin = now_us(), end = -1;
    unsigned started = 0, told = 0;

    while (started < nodes && start(&processes[started], bench, "byte", 0, NULL, 0) == 0) {
        started++;
    }
    for (; told < started; told++) {
        struct pollfd wait = {.fd = processes[told].output_fd, .events = POLLIN};
        char byte;
        if (poll(&wait, 1, WAIT_MS) != 1 || read(processes[told].output_fd, &byte, 1) != 1) {
            break;
        }
    }
    if (told == nodes) {
        end = now_us();
    }
    for (unsigned i = 0; i < started; i++) {
        stop(&processes[i]);
    }
    return end < 0 ? -1 : end - begin;
}
