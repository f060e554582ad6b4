/*
 * time_test.c - model time in the simulator: what the planner predicts, whatever the links do.
 */
#include "tests/testing.h"

#include "planner/closed_form.h"
#include "controller/download.h"
#include "network/network.h"
#include "sim/programs/scenario.h"
#include "tests/sim/simulation.h"

static void expect_right(const struct sim_options *options)
{
    struct sim_result result = simulated_well(options);

    assert_int_equal(result.line_count, options->size_count);
    for (unsigned i = 0; i < result.line_count; i++) {
        assert_int_equal(result.lines[i].model_ns, result.lines[i].predicted_ns);
        assert_true(result.lines[i].bound_ns <= result.lines[i].predicted_ns);
        assert_int_equal(result.lines[i].wrong, 0);
        assert_true(options->network.nodes == 1 || result.lines[i].predicted_ns > 0);
    }
}

/* What the planner predicts for a cube is the closed form, whatever both are of. */
static void expect_published_form(const struct sim_options *options)
{
    uint32_t operation = (uint32_t)options->scenario, dims = options->network.dims;
    struct sim_result result = simulated_well(options);

    for (unsigned i = 0; i < result.line_count; i++) {
        const struct sim_line *line = &result.lines[i];
        assert_int_equal(line->model_ns, line->predicted_ns);
        assert_int_equal(line->model_ns,
                         closed_form_ns(operation, dims, line->bytes, &options->profile));
        assert_int_equal(line->steps, closed_form_steps(operation, dims));
    }
}

TEST(the_exchange_of_16_nodes_takes_the_published_times)
{
    static const uint32_t bytes[] = {16, 100, 1000, 10000, 65536};
    static const uint64_t ns[] = {1397000, 1932500, 7670000, 65045000, 419087000};
    struct sim_options options = simulation(4, SIM_EXCHANGE, 0);

    options.algorithm = "AAP";
    for (unsigned i = 0; i < 5; i++) {
        options.sizes[i] = bytes[i];
    }
    options.size_count = 5;
    struct sim_result result = simulated_well(&options);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(result.lines[i].model_ns, ns[i]);
    }
}

TEST(the_exchange_of_128_nodes_has_eta_3_359)
{
    struct sim_options options = simulation(7, SIM_EXCHANGE, 100);

    options.algorithm = "AAP";
    struct sim_line line = simulated_well(&options).lines[0];
    assert_int_equal(line.model_ns, 18132500);
    assert_int_equal((line.model_ns * 1000 + line.bound_ns / 2) / line.bound_ns, 3359);
}

TEST_SWEEP(collectives_take_their_closed_forms_on_2_to_256_nodes)
{
    static const enum sim_scenario scenarios[] = {SIM_EXCHANGE, SIM_BROADCAST, SIM_SCATTER,
                                                  SIM_GATHER, SIM_BARRIER};
    static const char *const algorithms[] = {"AAP", "halving tree", "halving tree", "halving tree",
                                             "pair exchange"};

    for (unsigned dims = 1; dims <= 8; dims++) {
        for (unsigned i = dims % sweep_share(); i < 5; i += sweep_share()) {
            struct sim_options options = simulation(dims, scenarios[i], 24);
            options.algorithm = algorithms[i];
            if (scenarios[i] != SIM_EXCHANGE || dims < 8) {
                options.sizes[1] = 1500;
                options.size_count = 2;
            }
            expect_published_form(&options);
            if (scenarios[i] == SIM_EXCHANGE && dims >= 7) {
                continue; /* once is enough: these are long */
            }
            options.profile = unit_profile;
            expect_published_form(&options);
        }
    }
}

/* All of one network, with sizes that are no multiples of anything, and none at all. */
static void collectives_on(const char *name)
{
    struct network network = network_of(name);

    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        struct sim_options options = simulation(0, (enum sim_scenario)operation, 24);
        if (!operation_of(operation) || !operation_of(operation)->planned) {
            continue;
        }
        options.network = network;
        options.sizes[1] = scenario_type(&options) ? 1036 : 1037;
        options.sizes[2] = 0;
        options.size_count = 3;
        expect_right(&options);
        options.profile = unit_profile;
        expect_right(&options);
    }
}

/* With a few elements, fewer than nodes, and with many. */
TEST(reductions_of_every_type_and_operator_are_right)
{
    static const enum sim_scenario scenarios[] = {SIM_REDUCE, (enum sim_scenario)ECUBE_ALLREDUCE,
                                                  (enum sim_scenario)ECUBE_REDUCE_SCATTER,
                                                  (enum sim_scenario)ECUBE_SCAN};
    static const char *const names[] = {"cube:3", "ring:5", "mesh:3x4", "torus:3x3"};
    unsigned pairs = 0;

    for (uint8_t type = 1; reduction_type_name(type); type++) {
        for (uint8_t operator_ = 1; reduction_operator_name(operator_); operator_++) {
            if (!reduction_possible(type, operator_)) {
                continue;
            }
            struct sim_options options = simulation(0, scenarios[(type + operator_) % 4], 64);
            options.network = network_of(names[pairs++ % 4]);
            options.type = type;
            options.operator_ = operator_;
            options.sizes[1] = 1024;
            options.size_count = 2;
            expect_right(&options);
        }
    }
    assert_int_equal(pairs, 8 * 10 + 2 * 4 + 4 * 2);
}

/* The same events; and the operator changes no time. */
TEST(a_reduction_is_of_int32_by_sum_unless_another_is_asked_for)
{
    struct sim_options options = simulation(3, SIM_REDUCE, 400);

    assert_int_equal(scenario_type(&options), ECUBE_INT32);
    assert_int_equal(scenario_operator(&options), ECUBE_SUM);
    struct sim_result usual = simulated_well(&options);
    options.type = ECUBE_INT32;
    options.operator_ = ECUBE_SUM;
    struct sim_result named = simulated_well(&options);
    options.operator_ = ECUBE_MAX;
    struct sim_result other = simulated_well(&options);
    assert_memory_equal(usual.digest, named.digest, sizeof usual.digest);
    assert_int_equal(usual.lines[0].model_ns, other.lines[0].model_ns);
}

TEST_SWEEP(collectives_take_the_predicted_time_on_every_network)
{
    static const char *const names[] = {
        "ring:1",    "ring:2",    "ring:3",      "ring:4",      "ring:5",      "ring:16",
        "mesh:1x7",  "mesh:2x2",  "mesh:3x4",    "mesh:5x1x3",  "mesh:7x1",    "torus:2x2",
        "torus:3x3", "torus:4x4", "torus:3x4x2", "torus:5x3x2", "mesh:2x2x2x3"};

    for (unsigned i = sweep_share() / 2; i < sizeof names / sizeof names[0]; i += sweep_share()) {
        collectives_on(names[i]);
    }
}

/* Messages, too, begin anew for every size: an align knows no network. */
TEST(several_sizes_of_messages_follow_each_other_on_every_network)
{
    static const char *const names[] = {"ring:5", "mesh:3x4", "torus:3x4x2", "cube:3"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct sim_options options = simulation(0, SIM_RANDOM, 100);
        options.network = network_of(names[i]);
        options.sizes[1] = 5000;
        options.size_count = 2;
        struct sim_result result = simulated_well(&options);
        assert_int_equal(result.line_count, 2);
        assert_true(result.lines[1].model_ns > result.lines[0].model_ns);
    }
}

TEST(delay_jitter_rate_and_loss_do_not_change_a_schedules_time)
{
    struct sim_options options = simulation(4, SIM_EXCHANGE, 1000);

    for (unsigned kind = 0; kind < 6; kind++) {
        options.faults = (struct sim_faults){0};
        options.seed = kind + 1;
        switch (kind) {
        case 0: options.faults.delay_ns = 5000; break;
        case 1: options.faults.jitter_ns = 300000; break;
        case 2: options.faults.rate = 2000000; break;
        case 3: options.faults.drop = 0.01; break;
        case 4: options.faults.flip = 1e-4; break;
        default: options.faults.duplicate = 0.02; break;
        }
        expect_right(&options);
    }
}

TEST(the_order_of_ties_does_not_change_a_schedules_time)
{
    struct sim_options options = simulation(4, SIM_SCATTER, 2000);

    for (options.shuffle = 1; options.shuffle <= 5; options.shuffle++) {
        expect_right(&options);
    }
}

/* A circuit of the scatter lasts 49 s of model time: more than a link without an answer lives. */
TEST(a_circuit_may_last_longer_than_a_silent_link_lives)
{
    struct sim_options options = simulation(5, SIM_SCATTER, 1 << 23);

    options.contents = SIM_SHARED;
    expect_right(&options);
}

/* What the list of a scenario's download comes to. */
static void list_of(struct load_list *list, uint8_t bytes[256], uint32_t nodes, uint32_t image)
{
    load_list_pack(bytes, nodes, 1, 2);
    load_program_pack(bytes, 0, &(struct load_program){.count = nodes});
    load_segment_pack(bytes, 0, &(struct load_segment){.count = nodes, .bytes = image});
    load_segment_pack(bytes, 1, &(struct load_segment){.count = nodes, .bytes = 16, .step = 16});
    assert_true(load_list_open(list, bytes, load_list_bytes(1, 2)));
}

/* On a network with every x, also where the last block is not the last to end. */
static void download_on(const char *name, unsigned links, uint16_t sigma_permille)
{
    struct network network = network_of(name);
    uint8_t bytes[256];
    struct load_list list;

    if (!network_set_host_links(&network, links)) {
        return; /* there are not so many ranges */
    }
    list_of(&list, bytes, network.nodes, 5000);
    for (unsigned x = 0; x <= network_halvings(&network); x += 2) {
        struct sim_options options = simulation(0, SIM_LOAD, 5000);
        options.network = network;
        options.download_x = x;
        options.profile.sigma_permille = sigma_permille;
        struct download_costs costs = {.beta_ns = 75000,
                                       .beta_host_ns = UINT64_C(65425) * sigma_permille / 1000 +
                                                       UINT64_C(9575) * sigma_permille / 1000,
                                       .hop_ns = 10000,
                                       .tau_ns = 425,
                                       .list = &list};
        struct download_plan plan;
        char error[DOWNLOAD_ERROR_MAX];
        struct sim_result result = simulated_well(&options);
        assert_true(
            download_make_plan(&plan, STRATEGY_DECREMENTAL, (int)x, &network, &costs, error));
        assert_int_equal(result.lines[0].model_ns, plan.predicted_ns);
    }
}

TEST_SWEEP(the_download_takes_the_time_of_its_replay)
{
    static const char *const names[] = {
        "cube:1",   "cube:2",     "cube:3",    "cube:4",      "cube:5",    "cube:6",
        "cube:7",   "cube:8",     "ring:1",    "ring:2",      "ring:3",    "ring:5",
        "ring:16",  "ring:128",   "mesh:3x4",  "mesh:1x7",    "mesh:7x1",  "mesh:5x1x3",
        "mesh:9x9", "mesh:2x2x2", "torus:4x4", "torus:3x4x2", "torus:2x2", "torus:7x5x3"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (unsigned links = 0; links <= NETWORK_HOST_LINKS_MAX; links = links ? 2 * links : 1) {
            if ((i + links) % sweep_share() == 0) {
                download_on(names[i], links, 2000);
                download_on(names[i], links, 100);
            }
        }
    }
}
