/*
 * threads_test.c - however many threads do the work, a simulation is the same.
 *
 * It is also built with ThreadSanitizer (race_test), which finds what threads share by mistake.
 */
#include "tests/testing.h"

#include "sim/parallel/worker_pool.h"
#include "sim/core/random.h"
#include "sim/programs/scenario.h"
#include "tests/sim/simulation.h"

#ifdef __SANITIZE_THREAD__
static const unsigned threads[] = {3}; /* it is slow, and finds a race whoever wins it */
enum { DIMS = 4, POOL_RUNS = 500, DRAWN_RUNS = 0 };
#else
static const unsigned threads[] = {2, 3, 4, 7, 16};
enum { DIMS = 5, POOL_RUNS = 10000, DRAWN_RUNS = 40 };
#endif

static void expect_same(const struct sim_result *one, const struct sim_result *other)
{
    assert_int_equal(one->digest[0], other->digest[0]);
    assert_int_equal(one->digest[1], other->digest[1]);
    assert_int_equal(one->events, other->events);
    assert_int_equal(one->link_events, other->link_events);
    assert_int_equal(one->steps, other->steps);
    assert_int_equal(one->requests, other->requests);
    assert_int_equal(one->late, other->late);
    assert_int_equal(one->model_ns, other->model_ns);
    assert_int_equal(one->wall_ns, other->wall_ns);
    assert_int_equal(one->line_count, other->line_count);
    assert_memory_equal(one->lines, other->lines, sizeof one->lines);
    assert_int_equal(one->verdict, other->verdict);
    assert_int_equal(one->trouble_count, other->trouble_count);
    assert_int_equal(one->trouble_event, other->trouble_event);
    for (unsigned i = 0; i < one->trouble_count && i < SIM_TROUBLES_MAX; i++) {
        assert_string_equal(one->troubles[i], other->troubles[i]);
    }
}

static void expect_same_on_threads(struct sim_options *options)
{
    options->threads = 1;
    struct sim_result one = simulated(options);

    for (unsigned i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        unsigned most = options->network.nodes / 2; /* two nodes for each */
        options->threads = threads[i];
        struct sim_result other = simulated(options);
        assert_int_equal(other.threads, threads[i] < most ? threads[i] : most);
        expect_same(&one, &other);
    }
}

static void expect_scenarios_same(unsigned dims)
{
    for (unsigned scenario = 0; scenario < SIM_ENDING; scenario++) {
        struct sim_options options = simulation(dims, (enum sim_scenario)scenario, 700);
        options.sizes[1] = 20;
        options.size_count = 2;
        options.scrub = scenario % 2;
        char why[SIM_WHY_MAX];
        if (!sim_scenario_fits(options.scenario, &options.network, why)) {
            continue;
        }
        expect_same_on_threads(&options);
    }
}

TEST(every_scenario_is_the_same_on_any_number_of_threads)
{
    expect_scenarios_same(DIMS);
}

/* More nodes for each thread; with ThreadSanitizer it takes half a minute. */
TEST_LONG(so_it_is_on_64_nodes)
{
    expect_scenarios_same(6);
}

TEST(bytes_that_nobody_keeps_are_the_same_on_any_number_of_threads)
{
    struct sim_options options = simulation(DIMS, SIM_EXCHANGE, 1000);

    options.sizes[1] = 6000; /* frames of more than one chunk, when blocks hold what lay about */
    options.size_count = 2;
    options.contents = SIM_SHARED;
    options.scrub = false;
    expect_same_on_threads(&options);
}

TEST(links_that_take_time_are_the_same_on_any_number_of_threads)
{
    struct sim_options options = simulation(6, SIM_RANDOM, 2000);

    options.faults.delay_ns = 5000;
    options.faults.rate = 1000000;
    expect_same_on_threads(&options);
}

TEST(a_deadlock_is_told_the_same_on_any_number_of_threads)
{
    struct sim_options options = simulation(6, SIM_CIRCLE, 10);

    assert_int_equal(simulated(&options).verdict, SIM_STUCK);
    expect_same_on_threads(&options);
}

/* Any that ends. */
static enum sim_scenario any_scenario(unsigned dims, uint64_t *seed)
{
    struct network network = cube(dims);
    enum sim_scenario scenario;
    char why[SIM_WHY_MAX];

    do {
        scenario = (enum sim_scenario)random_below(seed, SIM_ENDING);
    } while (!sim_scenario_fits(scenario, &network, why));
    return scenario;
}

/* Such a one, mostly with messages in several pieces. */
static struct sim_options drawn(uint64_t seed)
{
    unsigned dims = 2 + random_below(&seed, 4);
    enum sim_scenario scenario = any_scenario(dims, &seed);
    struct sim_options options = simulation(dims, scenario, 0);

    options.sizes[0] = scenario_element_bytes(&options) * (1 + random_below(&seed, 6000));
    if (random_below(&seed, 4)) {
        options.profile = unit_profile; /* most things happen at one time with others */
    }
    options.messages = 1 + random_below(&seed, 24);
    options.sizes[options.size_count] =
        scenario_element_bytes(&options) * random_below(&seed, 1500);
    options.size_count += random_below(&seed, 2);
    options.contents = random_below(&seed, 2) ? SIM_CHECKED : SIM_SHARED;
    options.scrub = random_below(&seed, 2);
    options.faults.delay_ns = random_below(&seed, 3) ? 0 : random_below(&seed, 20000);
    options.faults.rate = random_below(&seed, 3) ? 0 : 100000 + random_below(&seed, 10000000);
    options.download_x = random_below(&seed, dims + 1);
    options.seed = seed;
    return options;
}

/* Seeds that have found something: an event showed what was sent in its own round. */
static const uint64_t found[] = {35, 131, 175};

TEST_SWEEP(whatever_is_drawn_is_the_same_on_any_number_of_threads)
{
    for (uint64_t seed = 1; seed <= DRAWN_RUNS; seed += sweep_share() / BUILD_SHARE) {
        struct sim_options options = drawn(seed);
        expect_same_on_threads(&options);
    }
    for (unsigned i = 0; i < sizeof found / sizeof found[0]; i++) {
        struct sim_options options = drawn(found[i]);
        expect_same_on_threads(&options);
    }
}

/* A program that its own event lets send, to a node whose link has an event at the same time. */
TEST(what_is_sent_in_a_round_is_not_shown_in_it)
{
    struct sim_options options = simulation(3, SIM_RANDOM, 5000);

    options.profile = unit_profile;
    options.messages = 16;
    expect_same_on_threads(&options);
}

/* Damage is drawn frame by frame, and a timeline is written so. */
TEST(what_happens_in_an_order_has_one_thread)
{
    struct sim_options options = simulation(6, SIM_EXCHANGE, 100);

    options.threads = 4;
    options.shuffle = 3;
    assert_int_equal(simulated_well(&options).threads, 1);
    options.shuffle = 0;
    options.faults.drop = 1e-3;
    assert_int_equal(simulated_well(&options).threads, 1);
    options.faults.drop = 0;
    options.network = cube(2);
    assert_int_equal(simulated_well(&options).threads, 2); /* two nodes for each at least */
}

enum { MEMBERS = 4 };

struct tally {
    unsigned runs[MEMBERS], sums[MEMBERS];
};

static void count(void *context, unsigned member)
{
    ((struct tally *)context)->runs[member]++;
}

/* Every member sees what all have written in the run before. */
static void add_up(void *context, unsigned member)
{
    struct tally *tally = context;

    tally->sums[member] = 0;
    for (unsigned i = 0; i < MEMBERS; i++) {
        tally->sums[member] += tally->runs[i];
    }
}

TEST(a_crew_does_each_share_once_and_sees_the_others)
{
    struct worker_pool *pool = worker_pool_make(MEMBERS);
    struct tally tally = {0};

    assert_non_null(pool);
    for (unsigned run = 1; run <= POOL_RUNS; run++) {
        worker_pool_run(pool, count, &tally);
        worker_pool_run(pool, add_up, &tally);
        for (unsigned i = 0; i < MEMBERS; i++) {
            assert_int_equal(tally.runs[i], run);
            assert_int_equal(tally.sums[i], MEMBERS * run);
        }
    }
    worker_pool_free(pool);
}
