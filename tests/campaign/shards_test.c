/*
 * shards_test.c - what becomes of a campaign whose processes end amid a run, and of processes whose
 * campaign ends.
 *
 * The result of a run is asked for in the middle of judging it; here this ends the process, or it
 * stops (--wrap in the Makefile).
 */
#include "tests/testing.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/campaign/campaign.h"

enum { SHARDS = 3, STRIDE = 11, ENDS = 2, HALF_A_MINUTE_MS = 30000, A_MINUTE_S = 60 };

/* Shared by all processes. */
struct orders {
    pid_t first;      /* it works out the run without faults, undisturbed */
    unsigned results; /* that others have asked for */
    unsigned ends;    /* how many of these end their process, each second one */
    bool stops;       /* they stop instead */
};

static struct orders *orders;

void __real_sim_result(const struct sim *sim, struct sim_result *result);
void __wrap_sim_result(const struct sim *sim, struct sim_result *result);

void __wrap_sim_result(const struct sim *sim, struct sim_result *result)
{
    if (getpid() != orders->first) {
        unsigned number = __atomic_add_fetch(&orders->results, 1, __ATOMIC_SEQ_CST);
        if (orders->stops) {
            sleep(A_MINUTE_S);
            _exit(1);
        } else if (number % 2 == 0 && number / 2 <= orders->ends) {
            raise(SIGKILL);
        }
    }
    __real_sim_result(sim, result);
}

static int make_orders(void **state __attribute__((unused)))
{
    orders = mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return orders == MAP_FAILED ? -1 : 0;
}

TEST_GROUP(make_orders, NULL);

static struct campaign_tally run(struct orders given)
{
    const struct campaign campaign = {.name = "shards",
                                      .options = campaign_options("cube:2", SIM_EXCHANGE),
                                      .action = SIM_KILL_SENDER,
                                      .first = 1,
                                      .stride = STRIDE};

    *orders = given;
    orders->first = getpid();
    return campaign_run(&campaign, SHARDS);
}

TEST(a_run_that_ends_its_process_is_one_that_failed)
{
    struct campaign_tally well = run((struct orders){0});
    struct campaign_tally ended = run((struct orders){.ends = ENDS});

    assert_int_equal(well.failed, 0);
    assert_int_equal(well.right + well.named, well.runs);
    assert_true(well.runs > 2 * ENDS);
    assert_int_equal(ended.runs, well.runs);
    assert_int_equal(ended.failed, ENDS);
    assert_int_equal(ended.right + ended.named, well.runs - ENDS);
}

/* A pipe is at its end when nobody has its other end any more. */
TEST(no_process_outlives_the_first_one)
{
    int pipe_ends[2];

    assert_int_equal(pipe(pipe_ends), 0);
    *orders = (struct orders){0};
    pid_t first = fork();
    assert_true(first >= 0);
    if (first == 0) {
        close(pipe_ends[0]);
        run((struct orders){.stops = true});
        _exit(0);
    }
    close(pipe_ends[1]);
    for (unsigned ms = 0; __atomic_load_n(&orders->results, __ATOMIC_SEQ_CST) < SHARDS; ms++) {
        assert_true(ms < HALF_A_MINUTE_MS);
        poll(NULL, 0, 1);
    }
    struct pollfd end = {.fd = pipe_ends[0]};
    assert_int_equal(poll(&end, 1, 0), 0);
    kill(first, SIGKILL);
    waitpid(first, NULL, 0);
    assert_int_equal(poll(&end, 1, HALF_A_MINUTE_MS), 1);
    close(pipe_ends[0]);
}
