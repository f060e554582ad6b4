/*
 * campaign_test.c - a part of `make campaign`, of that again a share with sanitizers.
 *
 * A cube of 4 nodes is swept completely; of other machines every so manyth event is failed. The
 * long tests sweep 8 nodes completely, which campaign_long_test.sh leaves to them, and take more
 * of the larger ones.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"

#include "host/command/command_line.h"
#include "host/sim/sim.h"
#include "network/paths.h"
#include "tests/campaign/campaign.h"

enum { SEEDS = 100, LONG_SEEDS = 300, COMMANDS = 20, ARGUMENTS_MAX = 80 };

static const enum sim_scenario scenarios[] = {SIM_LOAD, SIM_EXCHANGE, SIM_BROADCAST, SIM_REDUCE,
                                              SIM_RANDOM};

/* Without sanitizers both tiers take all that is said below. */
static unsigned share(void)
{
    return BUILD_SHARE == 1 ? 1 : sweep_share();
}

/* Each scenario with every so manyth action, beginning with another one: each action costs a run
 * without faults. The host has a link for each of so many ranges; 0: its usual ones. */
static void sweep_over(unsigned links, const char *name, unsigned action_stride, uint64_t part)
{
    uint64_t stride = part * share();
    struct network network = network_of(name);
    struct campaign_tally sum = {0};
    char why[SIM_WHY_MAX];

    for (unsigned i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        for (unsigned action = 1 + i % action_stride; action <= CAMPAIGN_ACTIONS;
             action += action_stride) {
            if (!sim_scenario_fits(scenarios[i], &network, why)) {
                continue;
            }
            struct campaign campaign = {.name = sim_scenario_name(scenarios[i]),
                                        .options = campaign_options(name, scenarios[i]),
                                        .action = (enum sim_action)action,
                                        .first = 1 + (action * 7 + i) % stride,
                                        .stride = stride};
            assert_true(network_set_host_links(&campaign.options.network, links));
            struct campaign_tally tally = campaign_run(&campaign, 1);
            campaign_add(&sum, &tally);
        }
    }
    print_message("%u runs: %u right, %u named\n", (unsigned)sum.runs, (unsigned)sum.right,
                  (unsigned)sum.named);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.right && sum.named);
}

static void sweep_some(const char *name, unsigned action_stride, uint64_t stride)
{
    sweep_over(0, name, action_stride, stride);
}

static void sweep(const char *name, uint64_t stride)
{
    sweep_some(name, 1, stride);
}

TEST(any_event_failed_in_any_way_on_4_nodes_is_repaired_or_told)
{
    sweep("cube:2", 1);
}

TEST(events_all_over_runs_of_larger_networks_are_repaired_or_told)
{
    sweep_some("mesh:2x2", 3, 3);
    sweep_some("cube:3", 3, 11);
    sweep_some("ring:6", 3, 29);
    sweep_some("mesh:3x4", 3, 149);
    sweep_some("cube:4", 3, 293);
    sweep_some("torus:3x4x2", 3, 997);
}

TEST(events_of_runs_with_several_host_links_are_repaired_or_told)
{
    sweep_over(2, "cube:2", 3, 3);
    sweep_over(4, "cube:3", 3, 17);
    sweep_over(2, "mesh:3x4", 3, 197);
}

/* Messages over all paths at once: any event fails, in any way, or a node or link dies at it. */
static void sweep_paths(const char *name, uint64_t part)
{
    uint64_t stride = part * share();
    struct campaign_tally sum = {0};

    for (unsigned action = 1; action <= CAMPAIGN_ACTIONS; action++) {
        struct campaign campaign = {.name = "random over paths",
                                    .options = campaign_options(name, SIM_RANDOM),
                                    .action = (enum sim_action)action,
                                    .first = 1 + action % stride,
                                    .stride = stride};
        campaign.options.profile.ports = PORTS_ALL;
        campaign.options.paths = NETWORK_PATHS_MAX;
        struct campaign_tally tally = campaign_run(&campaign, 1);
        campaign_add(&sum, &tally);
    }
    print_message("%u runs: %u right, %u named\n", (unsigned)sum.runs, (unsigned)sum.right,
                  (unsigned)sum.named);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.right && sum.named);
}

TEST(events_of_messages_over_several_paths_are_repaired_or_told)
{
    sweep_paths("cube:2", 2);
    sweep_paths("ring:5", 11);
    sweep_paths("torus:3x3", 151);
}

TEST_LONG(any_event_of_messages_over_several_paths_is_repaired_or_told)
{
    sweep_paths("cube:2", 1);
    sweep_paths("ring:3", 1);
    sweep_paths("cube:3", 5);
}

TEST_LONG(any_event_failed_in_any_way_on_8_nodes_is_repaired_or_told)
{
    sweep("cube:3", 1);
}

TEST_LONG(events_all_over_runs_of_16_to_64_nodes_are_repaired_or_told)
{
    sweep("cube:4", 29);
    sweep("cube:5", 149);
    sweep("cube:6", 997);
}

TEST_LONG(so_are_those_of_rings_meshes_and_tori)
{
    sweep("mesh:2x2", 1);
    sweep("ring:5", 1);
    sweep("ring:6", 5);
    sweep("mesh:3x4", 17);
    sweep("torus:4x4", 29);
    sweep("ring:16", 47);
    sweep("torus:3x4x2", 97);
}

static void draw(uint64_t seeds)
{
    struct campaign campaign = {.name = "seeds", .first = 1, .stride = 1, .seeds = seeds};

    struct campaign_tally tally = campaign_run(&campaign, 1);
    assert_int_equal(tally.failed, 0);
    assert_int_equal(tally.runs, seeds);
}

TEST(random_faults_in_random_runs_are_repaired_or_told)
{
    draw(SEEDS / share());
}

TEST_LONG(more_random_faults_are_repaired_or_told)
{
    draw(LONG_SEEDS);
}

/* The options that the tool makes of a command. */
static struct sim_options read_command(char *text)
{
    struct sim_arguments arguments = {.machine = options_machine_defaults(),
                                      .options = {.scenario = SIM_SCENARIOS, .seed = 1}};
    struct message message;
    char *words[ARGUMENTS_MAX], *rest = NULL;
    int count = 0;

    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(count < ARGUMENTS_MAX - 1);
        words[count++] = word;
    }
    words[count] = NULL;
    command_line_parse(&sim_line, count - 1, words + 1, &arguments);
    assert_int_equal(sim_arguments_finish(&arguments, &message), 0);
    arguments.options.download_x = (unsigned)arguments.x;
    return arguments.options;
}

static struct sim_result result_of(const struct sim_options *options)
{
    struct sim_result result;
    struct sim *sim = sim_make(options);

    while (sim_advance(sim, 100000)) {
        ;
    }
    sim_result(sim, &result);
    sim_free(sim);
    return result;
}

TEST(the_printed_command_repeats_the_run)
{
    for (uint64_t seed = 1; seed <= COMMANDS; seed++) {
        struct sim_options options;
        struct campaign_reference reference;
        char text[CAMPAIGN_TEXT_MAX];
        assert_true(campaign_draw(seed, &options, &reference));
        campaign_command(&options, text);
        struct sim_options again = read_command(text);
        struct sim_result first = result_of(&options), second = result_of(&again);
        assert_int_equal(first.verdict, second.verdict);
        assert_memory_equal(first.digest, second.digest, sizeof first.digest);
    }
}
