#include "bench/raw_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drivers/check.h"
#include "host/computer/limits.h"
#include "host/computer/placement.h"
#include "host/links/shared_links.h"
#include "host/computer/target.h"

enum {
    WORDS_MAX = 128,
    CHAIN_MAX = 4,
    PORTS_MAX = MACHINE_PORTS_MAX,
    WAIT_MS = 60000,
    LOOK_MS = 500,
    LOOKS_UNTIL_STILL = 6, /* that many in a row without work: the run stands still */
    WORK_NS_MIN = 1000000, /* of processor time between two looks; QEMU that waits has none */
    LINE_BYTES = 512,
    NODES_MAX = COMPUTER_NODES_MAX
};

/* How a run can fail. */
enum { NO_RESULT = -1, STOOD_STILL = -2 };

struct process {
    pid_t pid;
    int output_fd; /* its stdout and stderr */
};

/* The nodes of a run and what joins them. */
struct machine {
    struct raw_bench *bench;
    unsigned count, port_count; /* nodes; ports of each, of which some lead nowhere */
    struct process processes[NODES_MAX];
    int serial_fds[NODES_MAX][PORTS_MAX]; /* -1: none */
    struct shared_links shared;
};

/* Of a run. */
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

static void inherit(const int *fds, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (fds[i] >= 0) {
            fcntl(fds[i], F_SETFD, 0);
        }
    }
}

/* In the child: splits the command, adds links, image, number, role and count, and becomes QEMU. */
static _Noreturn void become_qemu(const struct machine *machine, unsigned node, const char *role,
                                  uint64_t count, const struct board_links *links, int output_fd)
{
    static char text[1024], semihosting[128];
    static struct argv command;
    char *words[WORDS_MAX];
    unsigned used = 0;

    const struct raw_bench *bench = machine->bench;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    placement_bind(node, machine->count); /* as nodes are */
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    snprintf(text, sizeof text, "%s", bench->qemu);
    for (char *word = strtok(text, " "); word && used < WORDS_MAX / 4; word = strtok(NULL, " ")) {
        words[used++] = word;
    }
    target_board()->add_links(&command,
                              links); /* the first devices, for the image knows their slot */
    CHECK(used + command.count + 5 <= WORDS_MAX);
    memcpy(words + used, command.words, command.count * sizeof words[0]);
    used += command.count;
    inherit(links->serial_fds, links->port_count);
    inherit(links->memory_fds, links->memory_count);
    inherit(&links->card_fd, 1);
    snprintf(semihosting, sizeof semihosting,
             "enable=on,target=native,arg=raw,arg=%u,arg=%s%s,arg=%llu", node,
             links->memory_count > 0 ? "ring-" : "", role, (unsigned long long)count);
    words[used++] = (char *)"-semihosting-config";
    words[used++] = semihosting;
    words[used++] = (char *)"-kernel";
    words[used++] = (char *)bench->image;
    words[used] = NULL;
    dup2(output_fd, 1);
    dup2(output_fd, 2);
    execvp(words[0], words);
    dprintf(2, "cannot run %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static int start_process(struct machine *machine, unsigned node, const char *role, uint64_t count,
                         const struct board_links *links)
{
    struct process *process = &machine->processes[node];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    process->pid = fork();
    if (process->pid == 0) {
        become_qemu(machine, node, role, count, links, ends[1]);
    }
    close(ends[1]);
    process->output_fd = ends[0];
    return process->pid > 0 ? 0 : -1;
}

static int start(struct machine *machine, unsigned node, const char *role, uint64_t count)
{
    struct message message;
    int memory_fds[PORTS_MAX];
    struct board_links links = {.serial_fds = machine->serial_fds[node],
                                .port_count = machine->port_count,
                                .memory_fds = memory_fds,
                                .card_fd = -1};

    if (machine->bench->shared && machine->port_count > 0) {
        links.memory_count = shared_links_memories(&machine->shared, node, memory_fds);
        if (shared_links_tell(&machine->shared, node, machine->port_count, &links.card_fd,
                              &message) != 0) {
            fprintf(stderr, "bench: %s\n", message.text);
            return -1;
        }
    }
    int status = start_process(machine, node, role, count, &links);
    if (links.card_fd >= 0) {
        close(links.card_fd);
    }
    return status;
}

static void stop(struct process *process)
{
    if (process->pid > 0) {
        kill(process->pid, SIGKILL);
        waitpid(process->pid, NULL, 0);
    }
    if (process->output_fd >= 0) {
        close(process->output_fd);
    }
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

/* A link of 128 nodes has a descriptor, or two; a process is given 1,024 of them at first. */
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* A machine without links; NULL: there is no memory for it. */
static struct machine *machine_new(struct raw_bench *bench, unsigned count, unsigned port_count,
                                   unsigned link_max)
{
    struct message message;
    struct machine *machine = calloc(1, sizeof *machine);

    allow_descriptors();
    if (!machine ||
        (bench->shared && shared_links_init(&machine->shared, count, link_max, &message) != 0)) {
        free(machine);
        return NULL;
    }
    machine->bench = bench;
    machine->count = count;
    machine->port_count = port_count;
    for (unsigned i = 0; i < NODES_MAX; i++) {
        machine->processes[i].output_fd = -1;
        for (unsigned p = 0; p < PORTS_MAX; p++) {
            machine->serial_fds[i][p] = -1;
        }
    }
    return machine;
}

static void machine_end(struct machine *machine)
{
    for (unsigned i = 0; i < machine->count; i++) {
        stop(&machine->processes[i]);
        for (unsigned p = 0; p < PORTS_MAX; p++) {
            if (machine->serial_fds[i][p] >= 0) {
                close(machine->serial_fds[i][p]);
            }
        }
    }
    if (machine->bench->shared) {
        shared_links_free(&machine->shared);
    }
    free(machine);
}

static int join(struct machine *machine, unsigned a, unsigned p, unsigned b, unsigned q)
{
    struct message message;
    int ends[2];

    if (machine->bench->shared) {
        return shared_links_join(&machine->shared, a, p, b, q, &message);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return -1;
    }
    machine->serial_fds[a][p] = ends[0];
    machine->serial_fds[b][q] = ends[1];
    return 0;
}

/* Waits for the result of `told`; the bench counts the run. */
static int machine_result(struct machine *machine, unsigned told, struct result *result)
{
    int status = read_result(machine->processes, machine->count, told, result->numbers);

    result->processor_ns = processor_ns(machine->processes, machine->count);
    machine->bench->runs++;
    machine->bench->stood_still += status == STOOD_STILL;
    return status;
}

/* Runs first ... middle ... last in a chain; the result is that of `told`. */
static int run_chain(struct raw_bench *bench, const char *const *roles, unsigned count,
                     unsigned told, uint64_t amount, struct result *result)
{
    struct machine *machine = machine_new(bench, count, count > 2 ? 2 : 1, count - 1);
    int status = machine ? 0 : -1;

    for (unsigned i = 0; status == 0 && i + 1 < count; i++) {
        status = join(machine, i, i > 0, i + 1, 0); /* the first has no port to the one before */
    }
    for (unsigned i = 0; status == 0 && i < count; i++) {
        status = start(machine, i, roles[i], amount);
    }
    if (status == 0) {
        status = machine_result(machine, told, result);
    }
    if (machine) {
        machine_end(machine);
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

/* The cables of a hypercube. */
static int join_cube(struct machine *machine, unsigned dims)
{
    int status = 0;

    for (unsigned node = 0; node < machine->count; node++) {
        for (unsigned p = 0; status == 0 && p < dims; p++) {
            unsigned other = node ^ 1u << p;
            status = node < other ? join(machine, node, p, other, p) : 0;
        }
    }
    return status;
}

bool raw_run_exchange(struct raw_bench *bench, unsigned dims, unsigned count,
                      struct raw_exchange *exchange)
{
    const unsigned nodes = 1u << dims;
    struct machine *machine = machine_new(bench, nodes, dims, nodes * dims / 2);
    struct result result = {{0}, 0};
    int status = machine ? join_cube(machine, dims) : -1;

    *exchange = (struct raw_exchange){-1, -1};
    for (unsigned i = 0; status == 0 && i < nodes; i++) {
        status = start(machine, i, "exchange", count);
    }
    if (status == 0) {
        status = machine_result(machine, 0, &result);
    }
    if (machine) {
        machine_end(machine);
    }
    if (status == 0) {
        exchange->wall_us = (double)result.numbers[0] / 1e3;
        exchange->processor_us = (double)result.processor_ns / 1e3;
    }
    return status == 0;
}

double raw_run_boot(struct raw_bench *bench, unsigned nodes)
{
    struct machine *machine = machine_new(bench, nodes, 0, 0);
    double begin = now_us(), end = -1;
    unsigned started = 0, told = 0;

    while (machine && started < nodes && start(machine, started, "byte", 0) == 0) {
        started++;
    }
    for (; told < started; told++) {
        struct pollfd wait = {.fd = machine->processes[told].output_fd, .events = POLLIN};
        char byte;
        if (poll(&wait, 1, WAIT_MS) != 1 || read(wait.fd, &byte, 1) != 1) {
            break;
        }
    }
    if (told == nodes) {
        end = now_us();
    }
    if (machine) {
        machine_end(machine);
    }
    return end < 0 ? -1 : end - begin;
}
