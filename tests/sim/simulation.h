/*
 * simulation.h - what the tests of the simulator share: options with sensible values, and a run
 * that must end.
 */
#pragma once

#include "sim/simulation.h"
#include "tests/networks.h"
#include "tests/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct profile unit_profile = {1000, 1000, 1000, 1500, 0, 1};

static inline struct network cube(unsigned dims)
{
    struct network network;

    assert_true(network_make(&network, NETWORK_CUBE, NULL, dims));
    return network;
}

/* One scenario with one size, all bytes checked. */
static inline struct sim_options simulation(unsigned dims, enum sim_scenario scenario,
                                            uint32_t bytes)
{
    return (struct sim_options){.network = cube(dims),
                                .profile = ipsc860,
                                .scenario = scenario,
                                .sizes = {bytes},
                                .size_count = 1,
                                .messages = 8,
                                .seed = 1,
                                .contents = SIM_CHECKED,
                                .scrub = true,
                                .image_bytes = 200,
                                .download_x = dims ? 1 : 0};
}

/* Runs it to its end. */
static inline struct sim_result simulated(const struct sim_options *options)
{
    struct sim *sim = sim_make(options);
    struct sim_result result;

    assert_non_null(sim);
    while (sim_advance(sim, 100000)) {
        ;
    }
    sim_result(sim, &result);
    sim_free(sim);
    return result;
}

/* ... well, and without the host having to ask why nothing moves. */
static inline struct sim_result simulated_well(const struct sim_options *options)
{
    struct sim_result result = simulated(options);

    if (result.verdict != SIM_GOOD) {
        print_message("verdict %d: %s\n", result.verdict, result.troubles[0]);
    }
    assert_int_equal(result.verdict, SIM_GOOD);
    assert_int_equal(result.trouble_count, 0);
    assert_int_equal(result.questions, 0);
    for (unsigned i = 0; i < result.line_count; i++) {
        assert_int_equal(result.lines[i].wrong, 0);
    }
    return result;
}
