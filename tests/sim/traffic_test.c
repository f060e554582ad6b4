/*
 * traffic_test.c - messages between programs, and what is repeatable.
 */
#include "tests/testing.h"

#include "tests/sim/simulation.h"

static const enum sim_scenario traffic[] = {SIM_RANDOM, SIM_TRANSPOSE, SIM_BITREVERSAL,
                                            SIM_HOTSPOT};

TEST(messages_arrive_whole_whatever_their_size_and_pattern)
{
    for (unsigned dims = 0; dims <= 6; dims += 2) {
        for (unsigned i = 0; i < 4; i++) {
            struct sim_options options = simulation(dims, traffic[i], 1);
            options.sizes[1] = 1024;
            options.sizes[2] = 1025;
            options.sizes[3] = 9000;
            options.size_count = 4;
            assert_int_equal(simulated_well(&options).line_count, 4);
        }
    }
}

/* A sender with four messages under way begins the next one at the end of the oldest, whatever ends
 * during its start-up; here start-ups take longer than the four on the link. */
TEST(ends_of_others_do_not_put_a_message_off)
{
    enum { MESSAGES = 16, UNDER_WAY = 4 };
    const uint64_t link_ns = ipsc860.tau_ns + 16 * ipsc860.element_ns;
    struct sim_options options = simulation(1, SIM_HOTSPOT, 16);

    options.messages = MESSAGES;
    struct sim_result result = simulated_well(&options);
    assert_int_equal(result.lines[0].model_ns,
                     MESSAGES / UNDER_WAY * (ipsc860.xi_ns + link_ns) + (UNDER_WAY - 1) * link_ns);
}

/* 63 nodes with up to 4 announcements each, to a node that has slots for 13 answers: when each
 * announcement was repeated every 2 ms, those that had to be told RETRY took them all. */
TEST(announcements_behind_others_leave_slots_for_the_first)
{
    struct sim_options options = simulation(6, SIM_HOTSPOT, 1025);

    assert_true(simulated_well(&options).wall_ns < UINT64_C(5) * 1000000000);
}

TEST(messages_arrive_whole_over_links_that_lose_and_damage)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct sim_options options = simulation(4, traffic[seed % 4], 3000);
        options.seed = seed;
        options.faults.drop = options.faults.duplicate = 0.01;
        options.faults.flip = 1e-5;
        options.faults.jitter_ns = 20000;
        assert_true(simulated_well(&options).damaged > 0);
    }
}

TEST(a_checked_message_of_several_frames_arrives_whole)
{
    struct sim_options options = simulation(1, SIM_BROADCAST, 200000);

    options.payload_checked = true;
    simulated_well(&options);
}

/* An announcement takes longer than until it is repeated, so it comes again after its message. With
 * what was said to it then, messages once went to each other's receives, or were refused. */
TEST(announcements_that_come_late_and_often_change_nothing)
{
    for (unsigned i = 0; i < 4; i++) {
        struct sim_options options = simulation(4, traffic[i], 2000);
        options.messages = 16;
        options.faults.delay_ns = UINT64_C(1000000000);
        struct sim_result result = simulated(&options);
        if (result.verdict != SIM_GOOD) {
            print_message("verdict %d: %s\n", result.verdict, result.troubles[0]);
        }
        assert_int_equal(result.verdict, SIM_GOOD);
    }
}

/* A node without credit and with nothing under way hears of credit once. With each of these seeds
 * that word is lost on the way to or from a node that everybody writes to. */
TEST(credit_that_was_lost_is_asked_for_again)
{
    static const uint64_t seeds[] = {1, 7, 10, 27};
    struct sim_options options = simulation(5, SIM_HOTSPOT, 2000);

    options.faults.drop = 0.03;
    for (unsigned i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        options.seed = seeds[i];
        simulated_well(&options);
    }
}

static bool same(const struct sim_result *a, const struct sim_result *b)
{
    return a->digest[0] == b->digest[0] && a->digest[1] == b->digest[1];
}

TEST(the_same_seed_gives_the_same_events)
{
    for (unsigned i = 0; i < 4; i++) {
        struct sim_options options = simulation(5, traffic[i], 2000);
        options.faults.jitter_ns = 1000;
        options.faults.drop = 0.001;
        struct sim_result first = simulated_well(&options), second = simulated_well(&options);
        assert_true(same(&first, &second));
        assert_int_equal(first.events, second.events);
        assert_int_equal(first.lines[0].model_ns, second.lines[0].model_ns);
    }
}

/* With `scrub` every frame is copied, without it a relay's control frames are not. */
TEST(frames_that_are_passed_on_without_a_copy_give_the_same_run)
{
    static const enum sim_scenario scenarios[] = {SIM_EXCHANGE, SIM_SCATTER, SIM_RANDOM,
                                                  SIM_HOTSPOT};

    for (unsigned i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        for (uint32_t bytes = 100; bytes <= 10000; bytes *= 10) {
            struct sim_options options = simulation(5, scenarios[i], bytes);
            struct sim_result copied = simulated_well(&options);
            options.scrub = false;
            struct sim_result shared = simulated_well(&options);
            assert_true(same(&copied, &shared));
        }
    }
}

TEST(another_seed_gives_other_faults)
{
    struct sim_options options = simulation(4, SIM_EXCHANGE, 500);

    options.faults.drop = 0.01;
    struct sim_result first = simulated_well(&options);
    options.seed = 2;
    struct sim_result second = simulated_well(&options);
    assert_false(same(&first, &second));
}

TEST(the_order_of_ties_is_part_of_the_digest)
{
    struct sim_options options = simulation(4, SIM_EXCHANGE, 500);

    struct sim_result first = simulated_well(&options);
    options.shuffle = 9;
    struct sim_result second = simulated_well(&options);
    assert_false(same(&first, &second));
    assert_int_equal(first.lines[0].model_ns, second.lines[0].model_ns);
}

TEST(contents_that_are_not_kept_change_no_event_but_the_bytes)
{
    struct sim_options options = simulation(5, SIM_RANDOM, 1500);

    struct sim_result first = simulated_well(&options);
    options.contents = SIM_SHARED;
    struct sim_result second = simulated_well(&options);
    assert_int_equal(first.link_events, second.link_events);
    assert_int_equal(first.lines[0].model_ns, second.lines[0].model_ns);
    assert_true(second.node_bytes < first.node_bytes);
}

/* Node 0 takes 7 x 8 messages of 1 hop or more one after another through one receive port. */
TEST(a_hot_spot_takes_at_least_what_its_port_needs)
{
    struct sim_options options = simulation(3, SIM_HOTSPOT, 1000);

    struct sim_line line = simulated_well(&options).lines[0];
    assert_true(line.model_ns >= 7 * 8 * UINT64_C(1000) * 425);
    assert_true(line.model_ns < 7 * 8 * UINT64_C(1000) * 425 * 2);
}

TEST(a_message_alone_takes_the_papers_time)
{
    struct sim_options options = simulation(2, SIM_TRANSPOSE, 1000);

    options.messages = 1;
    assert_int_equal(simulated_well(&options).lines[0].model_ns, 65425 + 2 * 9575 + 1001 * 425);
}

/*
 * Nodes 1, 2 and 3 send to node 0, 3 by way of 2. 1 and 2 ask at the same time, and one of them is
 * first; 3 asks for the link 2-0 one hop later, and has it after 2, whatever the order of ties.
 */
TEST(requests_are_served_in_the_order_of_model_time)
{
    struct sim_options options = simulation(2, SIM_HOTSPOT, 1000);
    uint64_t second_ns = 65425 + 9575 + 2 * 1000 * 425;

    options.messages = 1;
    for (options.shuffle = 1; options.shuffle <= 40; options.shuffle++) {
        struct sim_result result = simulated_well(&options);
        uint64_t last_ns = result.lines[0].model_ns - second_ns;
        assert_int_equal(result.late, 0);
        assert_true(last_ns == 1001 * 425 || last_ns == 9575 + 1001 * 425);
    }
}
