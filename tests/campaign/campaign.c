/*
 * campaign.c - divides the runs of a campaign among processes, and watches these.
 *
 * Each process writes into memory that it shares with the first one what it is about to run. So
 * whatever ends or stops it, the command that repeats the run is known; another process then goes
 * on with the run after that.
 */
#include "tests/campaign/campaign.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drivers/check.h"

enum {
    SHARDS_MAX = 16,
    SHOWN_MAX = 5,    /* failures that are printed in full, of each process */
    CRASHES_MAX = 10, /* after which the rest of a shard is given up */
    POLL_MS = 20,
    HANG_MS = 180 * 1000 /* of one run */
};

struct shard {
    uint64_t next;  /* run */
    uint64_t begun; /* runs that it has begun */
    unsigned shown, crashes;
    struct campaign_tally tally;
    char command[CAMPAIGN_TEXT_MAX];
    pid_t pid;
    uint64_t begun_before; /* as the first process last saw it, and for how long that is so */
    unsigned same_ms;
};

struct task {
    const struct campaign *campaign;
    struct campaign_reference reference;
    uint64_t runs;
    unsigned shards;
};

void campaign_add(struct campaign_tally *sum, const struct campaign_tally *tally)
{
    sum->runs += tally->runs;
    sum->right += tally->right;
    sum->named += tally->named;
    sum->given_up += tally->given_up;
    sum->failed += tally->failed;
    if (tally->wall_max_ns > sum->wall_max_ns) {
        sum->wall_max_ns = tally->wall_max_ns;
    }
    if (tally->over_max_ns > sum->over_max_ns) {
        sum->over_max_ns = tally->over_max_ns;
    }
}

static void complain(const struct campaign *campaign, struct shard *shard, const char *why)
{
    if (shard->shown++ < SHOWN_MAX) {
        fprintf(stderr, "%s: %s\n    %s\n", campaign->name, why, shard->command);
    }
}

static void one_run(const struct task *task, struct shard *shard, uint64_t index)
{
    const struct campaign *campaign = task->campaign;
    struct sim_options options = campaign->options;
    struct campaign_reference reference = task->reference;
    uint64_t number = campaign->first + index * campaign->stride;
    char why[CAMPAIGN_TEXT_MAX];
    bool drawn = true;

    if (campaign->action == SIM_NOTHING) {
        snprintf(shard->command, sizeof shard->command,
                 "(the run without faults of seed %" PRIu64 ")", number);
        drawn = campaign_draw(number, &options, &reference);
    } else {
        options.faults.fail_event = number;
        options.faults.action = (uint8_t)campaign->action;
    }
    campaign_command(&options, shard->command);
    if (!drawn) {
        shard->tally.runs++;
        shard->tally.failed++;
        complain(campaign, shard, "does not end well without faults");
    } else if (!campaign_judge(&options, &reference, &shard->tally, why)) {
        complain(campaign, shard, why);
    }
}

static void run_shard(const struct task *task, struct shard *shard)
{
    while (shard->next < task->runs) {
        uint64_t index = shard->next;
        shard->next += task->shards;
        shard->begun++;
        one_run(task, shard, index);
    }
}

static void start(const struct task *task, struct shard *shard)
{
    fflush(NULL);
    shard->same_ms = 0;
    pid_t parent = getpid(), pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) { /* it died before the line above */
            _exit(1);
        }
        run_shard(task, shard);
        fflush(NULL);
        _exit(0);
    }
    shard->pid = pid; /* shared: the child must not write it */
}

/* The process has ended, or is ended because it hangs: true when there is nothing left to do. */
static bool look(const struct task *task, struct shard *shard)
{
    int status;
    bool hangs = false;

    if (waitpid(shard->pid, &status, WNOHANG) == 0) {
        shard->same_ms = shard->begun == shard->begun_before ? shard->same_ms + POLL_MS : 0;
        shard->begun_before = shard->begun;
        if (shard->same_ms < HANG_MS) {
            return false;
        }
        hangs = true;
        kill(shard->pid, SIGKILL);
        waitpid(shard->pid, &status, 0);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    shard->tally.runs++;
    shard->tally.failed++;
    complain(task->campaign, shard, hangs ? "does not end" : "ends its process");
    if (++shard->crashes == CRASHES_MAX) {
        fprintf(stderr, "%s: the rest is given up\n", task->campaign->name);
        return true;
    }
    start(task, shard);
    return false;
}

static void watch(const struct task *task, struct shard *shards)
{
    unsigned left = task->shards;

    for (unsigned i = 0; i < task->shards; i++) {
        start(task, &shards[i]);
    }
    while (left) {
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000}, NULL);
        for (unsigned i = 0; i < task->shards; i++) {
            if (shards[i].pid && look(task, &shards[i])) {
                shards[i].pid = 0;
                left--;
            }
        }
    }
}

struct campaign_tally campaign_run(const struct campaign *campaign, unsigned shards)
{
    struct task task = {.campaign = campaign, .runs = campaign->seeds, .shards = shards};
    struct campaign_tally sum = {0};

    CHECK(shards && shards <= SHARDS_MAX && campaign->stride);
    if (campaign->action != SIM_NOTHING) {
        struct sim_options options = campaign->options;
        options.payload_checked = sim_action_damages((uint8_t)campaign->action);
        if (!campaign_refer(&options, &task.reference)) {
            fprintf(stderr, "%s: does not end well without faults\n", campaign->name);
            return (struct campaign_tally){.runs = 1, .failed = 1};
        }
        uint64_t events = task.reference.link_events;
        task.runs =
            events < campaign->first ? 0 : (events - campaign->first) / campaign->stride + 1;
    }
    struct shard *shared = mmap(NULL, shards * sizeof *shared, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    for (unsigned i = 0; i < shards; i++) {
        shared[i].next = i;
    }
    watch(&task, shared);
    for (unsigned i = 0; i < shards; i++) {
        campaign_add(&sum, &shared[i].tally);
    }
    munmap(shared, shards * sizeof *shared);
    return sum;
}
