/*
 * fault_test.c - each fault does what it says, and a run that it breaks ends with a name.
 */
#include <stdio.h>
#include <string.h>

#include "tests/testing.h"

#include "drivers/status.h"
#include "sim/core/link.h"
#include "sim/core/partition.h"
#include "sim/programs/plans.h"
#include "sim/core/state.h"
#include "tests/sim/simulation.h"
#include "wire/frame.h"

static bool said(const struct sim_result *result, const char *text)
{
    for (unsigned i = 0; i < result->trouble_count && i < SIM_TROUBLES_MAX; i++) {
        if (strstr(result->troubles[i], text)) {
            return true;
        }
    }
    for (unsigned i = 0; i < result->trouble_count && i < SIM_TROUBLES_MAX; i++) {
        print_message("%s\n", result->troubles[i]);
    }
    return false;
}

enum { LAST_WORDS = 8 /* frames at the end of a run for which nobody waits */ };

static struct sim_result broken(enum sim_scenario scenario, struct sim_fault fault)
{
    struct sim_options options = simulation(3, scenario, 2000);

    options.faults.list[0] = fault;
    options.faults.count = 1;
    struct sim_result result = simulated(&options);
    assert_int_equal(result.verdict, SIM_ERROR);
    return result;
}

TEST(a_killed_node_is_named_in_every_phase)
{
    for (uint8_t phase = SIM_BOOT; phase <= SIM_RUN; phase++) {
        struct sim_result result = broken(
            SIM_EXCHANGE,
            (struct sim_fault){.kind = SIM_KILL, .phase = phase, .a = 5, .at_ns = phase * 200000});
        assert_true(said(&result, "node 5 was killed"));
        assert_true(said(&result, "carrier lost"));
        assert_int_equal(result.abouts[0].kind, SIM_TROUBLE_NODE_DIED);
        assert_int_equal(result.abouts[0].node_count, 1);
        assert_int_equal(result.abouts[0].nodes[0], 5);
    }
}

TEST(every_trouble_has_a_name_of_its_own)
{
    for (unsigned i = 0; i < SIM_TROUBLE_KINDS; i++) {
        for (unsigned j = 0; j <= i; j++) {
            assert_int_equal(strcmp(sim_trouble_name((enum sim_trouble_kind)i),
                                    sim_trouble_name((enum sim_trouble_kind)j)) == 0,
                             i == j);
        }
    }
}

TEST(a_cut_link_is_named)
{
    struct sim_result result = broken(
        SIM_RANDOM,
        (struct sim_fault){.kind = SIM_CUT, .phase = SIM_RUN, .a = 3, .b = 7, .at_ns = 300000});
    assert_true(said(&result, "link 3-7 (dimension 2) died during run: carrier lost"));
    assert_int_equal(result.abouts[0].kind, SIM_TROUBLE_LINK_DIED);
    assert_int_equal(result.abouts[0].nodes[0] + result.abouts[0].nodes[1], 3 + 7);
}

TEST(a_one_way_link_is_found_at_boot)
{
    struct sim_result result =
        broken(SIM_EXCHANGE, (struct sim_fault){.kind = SIM_ONEWAY, .a = 2, .b = 3});
    assert_true(said(&result, "one-way: link 2-3 (dimension 0): node 2 hears the other end but "
                              "is not heard"));
}

/* Before HELLOs have told who is where, the place of the link says who should be there. */
TEST(a_link_cut_before_its_ends_know_each_other_is_named_in_words)
{
    struct sim_result result =
        broken(SIM_EXCHANGE, (struct sim_fault){.kind = SIM_CUT, .a = 3, .b = 7});
    assert_true(said(&result, "link 3-7 (dimension 2) died during boot: carrier lost"));
    assert_false(said(&result, "4294967294"));
}

TEST(a_link_that_becomes_one_way_dies_for_want_of_answers)
{
    struct sim_result result = broken(
        SIM_EXCHANGE,
        (struct sim_fault){.kind = SIM_ONEWAY, .phase = SIM_RUN, .a = 2, .b = 3, .at_ns = 300000});
    assert_true(said(&result, "no acknowledgement through all retries"));
    assert_true(result.wall_ns < UINT64_C(45) * 1000000000);
}

TEST(a_link_that_becomes_one_way_in_the_download_is_told)
{
    struct sim_options options = simulation(1, SIM_BROADCAST, 100);
    options.faults.list[0] =
        (struct sim_fault){.kind = SIM_ONEWAY, .phase = SIM_DOWNLOAD, .a = 0, .b = 1};
    options.faults.count = 1;
    struct sim_result result = simulated(&options);
    assert_int_equal(result.verdict, SIM_ERROR);
    assert_true(said(&result, "link 0-1 (dimension 0) died during download: no acknowledgement"));
}

/* Programs that have ended early once answered each other's answers without end. */
TEST(programs_that_end_early_leave_the_links_quiet)
{
    struct sim_options options = simulation(4, SIM_EXCHANGE, 1000);

    options.faults.list[0] =
        (struct sim_fault){.kind = SIM_KILL, .phase = SIM_RUN, .a = 5, .at_ns = 300000};
    options.faults.count = 1;
    options.stop_at = 100000;
    struct sim_result result = simulated(&options);
    assert_int_equal(result.verdict, SIM_ERROR);
}

TEST(a_cut_host_link_is_named)
{
    struct sim_result result =
        broken(SIM_EXCHANGE,
               (struct sim_fault){.kind = SIM_CUT, .phase = SIM_DOWNLOAD, .a = 4, .b = ID_HOST});
    assert_true(said(&result, "the host link of node 4 (rank 4) died during download"));
}

/* The host owes a link nothing that it hears nothing from: it must ask. */
TEST(a_host_link_that_falls_silent_in_the_download_is_named)
{
    struct sim_options options = simulation(3, SIM_SCATTER, 27);

    options.seed = 74;
    options.shuffle = 956919018;
    options.image_bytes = 2066;
    options.download_x = 2;
    options.faults.list[0] = (struct sim_fault){
        .kind = SIM_ONEWAY, .phase = SIM_DOWNLOAD, .a = 4, .b = ID_HOST, .at_ns = 1787401};
    options.faults.count = 1;
    struct sim_result result = simulated(&options);
    assert_int_equal(result.verdict, SIM_ERROR);
    assert_true(said(&result, "the host link of node 4 (rank 4) died during download"));
}

TEST(a_node_that_hears_nothing_from_the_host_is_named_in_every_phase)
{
    static const char *const lines[] = {"missing: node 4 (rank 4) tells nothing",
                                        "the host link of node 4 (rank 4) died during download",
                                        "the host link of node 4 (rank 4) died during run"};

    for (uint8_t phase = SIM_BOOT; phase <= SIM_RUN; phase++) {
        struct sim_result result =
            broken(SIM_EXCHANGE,
                   (struct sim_fault){.kind = SIM_ONEWAY, .phase = phase, .a = ID_HOST, .b = 4});
        assert_true(said(&result, lines[phase]));
    }
}

TEST(a_host_link_that_falls_silent_in_the_boot_names_who_is_not_heard)
{
    struct sim_options options = simulation(3, SIM_BARRIER, 0);

    options.faults.delay_ns = 93563;
    options.faults.list[0] = (struct sim_fault){
        .kind = SIM_ONEWAY, .phase = SIM_BOOT, .a = 4, .b = ID_HOST, .at_ns = 344264};
    options.faults.count = 1;
    struct sim_result result = simulated(&options);
    assert_int_equal(result.verdict, SIM_ERROR);
    assert_true(said(&result, "missing: node 7 (rank 7) tells nothing"));
}

/* Node 3 looks 400 ms after START has come; node 5 is dead by then, and STOP comes after 300 ms. */
TEST(a_stop_that_comes_with_the_start_stops)
{
    struct sim_options options = simulation(3, SIM_EXCHANGE, 444);
    struct sim_fault faults[] = {{.kind = SIM_SLOW, .a = 3, .slow_ns = 400000000},
                                 {.kind = SIM_KILL, .phase = SIM_RUN, .a = 5}};

    memcpy(options.faults.list, faults, sizeof faults);
    options.faults.count = 2;
    struct sim *sim = sim_make(&options);
    while (sim_advance(sim, 1000)) {
        ;
    }
    assert_int_equal(sim_node_status(sim, 3), E_CANCELLED);
    assert_false(sim_node_given_up(sim, 3));
    sim_free(sim);
}

/* What all programs have ended with, and whether the host says who has aborted, first of all.
 * False: the program had ended before. */
static bool aborts(const struct sim_options *options, uint32_t aborter)
{
    struct sim *sim = sim_make(options);
    struct sim_result result;

    while (sim_advance(sim, 1000)) {
        ;
    }
    sim_result(sim, &result);
    if (result.faults_happened == 0) {
        assert_int_equal(result.verdict, SIM_GOOD);
        sim_free(sim);
        return false;
    }
    assert_int_equal(result.verdict, SIM_ERROR);
    assert_int_equal(result.abouts[0].kind, SIM_TROUBLE_ABORTED);
    assert_int_equal(result.abouts[0].nodes[0], aborter);
    assert_int_equal(result.faults_happened, 1);
    assert_int_equal(result.questions, 0);
    for (uint32_t rank = 0; rank < options->network.nodes; rank++) {
        int status = sim_node_status(sim, rank);
        assert_false(sim_node_given_up(sim, rank));
        if (rank == aborter) {
            assert_int_equal(status, SIM_ABORT_STATUS);
        } else {
            assert_true(status == E_OK || status == E_CANCELLED || status == E_PEER_GONE);
        }
    }
    sim_free(sim);
    return true;
}

/* A collective, with and without steps behind it, messages, a deadlock, and each node. */
TEST(a_program_may_abort_at_any_time)
{
    static const enum sim_scenario scenarios[] = {SIM_EXCHANGE, SIM_BARRIER, SIM_BROADCAST,
                                                  SIM_RANDOM,   SIM_HOTSPOT, SIM_CIRCLE};
    enum { MOMENTS = 24 };

    for (unsigned i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        struct sim_options options = simulation(3, scenarios[i], 1500);
        struct sim_result whole = simulated(&options);
        uint64_t length_ns = whole.model_ns - whole.clock_base_ns;
        unsigned count = 0;
        for (unsigned k = 0; k < MOMENTS; k++) {
            options.faults.list[0] = (struct sim_fault){
                .kind = SIM_ABORT, .phase = SIM_RUN, .a = k % 8, .at_ns = length_ns * k / MOMENTS};
            options.faults.count = 1;
            options.shuffle = k % 3;
            count += aborts(&options, k % 8);
        }
        assert_true(count > MOMENTS / 2);
    }
}

/* It is named as on nodes; what the others print then is theirs. */
TEST(an_abort_is_told_in_the_words_of_the_host)
{
    struct sim_result result =
        broken(SIM_EXCHANGE, (struct sim_fault){.kind = SIM_ABORT, .phase = SIM_RUN, .a = 5});
    assert_true(
        said(&result, "node 5 (rank 5) aborted the run with status 1: 0 of 8 programs had ended"));
}

/* Time and events of a run do not depend on an abort that comes when it is over. */
TEST(an_abort_that_comes_too_late_changes_nothing)
{
    struct sim_options options = simulation(3, SIM_EXCHANGE, 500);

    struct sim_result plain = simulated_well(&options);
    options.faults.list[0] = (struct sim_fault){
        .kind = SIM_ABORT, .phase = SIM_RUN, .a = 2, .at_ns = UINT64_C(1000000000)};
    options.faults.count = 1;
    struct sim_result late = simulated_well(&options);
    assert_int_equal(late.faults_happened, 0);
    assert_int_equal(late.lines[0].model_ns, plain.lines[0].model_ns);
    assert_memory_equal(late.digest, plain.digest, sizeof plain.digest);
}

/* The user stops a program that has aborted, or one that is to: that one does, or the next; never
 * both. An abort that the host has not heard of when it stops the program is over with that. */
TEST(an_abort_and_a_user_who_stops_the_program_go_together)
{
    struct sim_options options = simulation(3, SIM_RANDOM, 1500);
    uint64_t events = simulated_well(&options).link_events;
    unsigned aborted = 0, good = 0;

    options.faults.action = SIM_CANCEL_PROGRAM;
    options.faults.list[0] =
        (struct sim_fault){.kind = SIM_ABORT, .phase = SIM_RUN, .a = 3, .at_ns = 300000};
    options.faults.count = 1;
    for (uint64_t event = 1; event <= events; event += 2) {
        options.faults.fail_event = event;
        struct sim_result result = simulated(&options);
        bool told = result.trouble_count && result.abouts[0].kind == SIM_TROUBLE_ABORTED;
        assert_int_equal(result.verdict, told ? SIM_ERROR : SIM_GOOD);
        assert_in_range(result.faults_happened, told, 1);
        for (unsigned i = 0; i < result.trouble_count && i < SIM_TROUBLES_MAX; i++) {
            assert_int_not_equal(result.abouts[i].kind, SIM_TROUBLE_DOWNLOAD_FAILED);
        }
        aborted += told;
        good += !told;
    }
    assert_true(aborted > 0 && good > 0);
}

TEST(a_slow_node_only_takes_longer)
{
    struct sim_options options = simulation(3, SIM_EXCHANGE, 500);

    struct sim_result quick = simulated_well(&options);
    options.faults.list[0] = (struct sim_fault){.kind = SIM_SLOW, .a = 5, .slow_ns = 100000};
    options.faults.count = 1;
    struct sim_result slow = simulated_well(&options);
    assert_true(slow.wall_ns > quick.wall_ns);
    assert_int_equal(slow.lines[0].model_ns, quick.lines[0].model_ns);
}

TEST(delay_and_rate_take_wall_time)
{
    struct sim_options options = simulation(2, SIM_BROADCAST, 10000);

    uint64_t plain_ns = simulated_well(&options).wall_ns;
    options.faults.delay_ns = 1000000;
    uint64_t delayed_ns = simulated_well(&options).wall_ns;
    assert_true(delayed_ns > plain_ns + 10 * UINT64_C(1000000)); /* boot, download, run */
    options.faults.delay_ns = 0;
    options.faults.rate = 100000; /* 100 ms for each of two steps */
    assert_true(simulated_well(&options).wall_ns > plain_ns + UINT64_C(180000000));
}

/* On a ring what the stopped programs still have under way holds links: the host's own circuit is
 * refused there, and tried again. */
TEST(a_program_that_is_stopped_at_any_event_is_loaded_again)
{
    struct sim_options options = simulation(3, SIM_RANDOM, 3000);

    options.network = network_of("ring:6");
    options.messages = 3;
    uint64_t events = simulated_well(&options).link_events;
    options.faults.action = SIM_CANCEL_PROGRAM;
    for (uint64_t event = 1; event <= events; event += 3) {
        options.faults.fail_event = event;
        struct sim_result result = simulated(&options);
        assert_int_equal(result.verdict, SIM_GOOD);
        assert_int_equal(result.trouble_count, 0);
        assert_int_equal(result.lines[0].nodes, 6);
        assert_int_equal(result.lines[0].wrong, 0);
    }
}

/* Its nodes have lost their links to it, or know that it has started anew: no host boots them again
 * unless they are reset. */
TEST(a_host_that_dies_is_named_and_the_next_one_finds_no_nodes)
{
    struct sim_options options = simulation(3, SIM_EXCHANGE, 500);
    uint64_t events = simulated_well(&options).link_events;

    for (uint8_t action = SIM_KILL_HOST; action <= SIM_RESTART_HOST; action++) {
        options.faults.action = action;
        options.faults.fail_event = events / 2;
        struct sim_result result = simulated(&options);
        assert_int_equal(result.verdict, SIM_ERROR);
        assert_int_equal(result.abouts[0].kind, SIM_TROUBLE_HOST_DIED);
        assert_true(said(&result, "boot failed: 0 of 8 nodes answered"));
        assert_true(result.wall_ns < UINT64_C(20) * 1000000000);
    }
}

TEST(a_host_that_is_stopped_only_makes_a_run_longer)
{
    struct sim_options options = simulation(3, SIM_EXCHANGE, 500);

    struct sim_result quick = simulated_well(&options);
    for (uint8_t phase = SIM_BOOT; phase <= SIM_RUN; phase++) {
        options.faults.list[0] = (struct sim_fault){
            .kind = SIM_STOP, .phase = phase, .a = ID_HOST, .slow_ns = UINT64_C(30000000000)};
        options.faults.count = 1;
        struct sim_result result = simulated(&options);
        assert_int_equal(result.verdict, SIM_GOOD);
        assert_true(result.wall_ns >= UINT64_C(30000000000));
        assert_int_equal(result.lines[0].model_ns, quick.lines[0].model_ns);
    }
}

/* Any one frame lost, damaged or doubled is repaired; any node lost is told, and any link: but when
 * one is cut among the last words of a run, which is over by then, the run may also be right. */
TEST(one_fault_at_any_event_is_repaired_or_told)
{
    struct sim_options options = simulation(2, SIM_EXCHANGE, 1500);

    options.payload_checked = true;
    uint64_t events = simulated_well(&options).link_events;
    for (uint8_t action = SIM_DROP_FRAME; action <= SIM_CUT_LINK; action++) {
        options.faults.action = action;
        for (uint64_t event = 1; event <= events; event++) {
            options.faults.fail_event = event;
            struct sim_result result = simulated(&options);
            bool late = action == SIM_CUT_LINK && event + LAST_WORDS > events;
            bool right = result.verdict == SIM_GOOD && result.trouble_count == 0;
            bool told = result.verdict == SIM_ERROR && result.trouble_count > 0;
            bool breaks = action >= SIM_KILL_SENDER;
            if (!(breaks ? told || (late && right) : right)) {
                print_message("action %u at event %u of %u: verdict %d, %s\n", action,
                              (unsigned)event, (unsigned)events, result.verdict,
                              result.troubles[0]);
            }
            assert_true(breaks ? told || (late && right) : right);
            assert_int_equal(result.damaged, 1);
        }
    }
}

TEST(a_run_can_be_stopped_and_told_at_an_event)
{
    struct sim_options options = simulation(3, SIM_EXCHANGE, 100);
    static char text[SIM_HISTORY_MAX][SIM_TEXT_MAX];

    options.algorithm = "AAP";
    options.stop_at = 305;
    options.history = true;
    struct sim *sim = sim_make(&options);
    while (sim_advance(sim, 1000)) {
        ;
    }
    struct sim_result result;
    sim_result(sim, &result);
    assert_int_equal(result.verdict, SIM_STOPPED);
    assert_in_range(result.events, 305, 400); /* its round is brought to an end */
    assert_int_equal(sim_history(sim, text, SIM_HISTORY_MAX), SIM_HISTORY_MAX);
    assert_non_null(strstr(text[SIM_HISTORY_MAX - 1], "event 305,"));
    assert_int_equal(sim_node_status(sim, 0), E_TIMEOUT);
    sim_free(sim);
}

/* What was sent in the round in which its link is cut is lost too, in another partition and in
 * this. */
TEST(a_frame_under_way_is_lost_when_its_link_is_cut)
{
    static const uint8_t frame[FRAME_HEADER_BYTES];
    struct sim_options options = simulation(2, SIM_EXCHANGE, 100);

    for (unsigned port = 1; port <= options.network.ports;
         port++) { /* the last one leads to the host */
        for (unsigned cut = 0; cut < 2; cut++) {
            struct sim *sim = sim_make(&options);
            struct sim_end *end = sim_end_at(sim, 0, port);
            end->link.ops->send(&end->link, frame, sizeof frame);
            if (cut) {
                sim_end_cut(end);
            }
            partition_act(sim->partitions);
            partition_meet(sim->partitions);
            assert_int_equal(end->peer->arrived, cut ? 0 : 1);
            sim_free(sim);
        }
    }
}

TEST(too_much_memory_is_known_before_it_is_asked_for)
{
    struct sim_options options = simulation(10, SIM_EXCHANGE, 100000);
    char why[SIM_WHY_MAX];

    options.algorithm = "AAP";
    struct sim_plans *plans = sim_plans_make(&options, why);
    assert_non_null(plans);
    options.plans = plans;
    assert_true(sim_need(&options, SIM_CHECKED) > UINT64_C(2) * 1024 * 1024 * 100000);
    assert_true(sim_need(&options, SIM_SHARED) < UINT64_C(1) << 30);
    sim_plans_free(plans);
}
