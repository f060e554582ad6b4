/*
 * pipeline_test.c - downloads in parcels: every node has its own at the model time that was
 * predicted, however small parcels are, and holds no more than three for others.
 */
#include <string.h>

#include "drivers/status.h"
#include "node/state.h"
#include "router/notice.h"
#include "router/router.h"
#include "tests/fabric/bundle.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

enum { DATA_BYTES = 2 << 20, FILL = 0xa5 };

static const struct memory_fault no_fault;

static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)(memory_random(seed) % limit);
}

/* The blocks of decremental scattering until x halvings are left, each in parcels. */
static void cut_messages(struct bundle *bundle, const struct network *network, unsigned x,
                         uint32_t parcel_bytes)
{
    uint32_t count = network->nodes, half;
    unsigned left = network_halvings(network);

    for (bundle->message_count = 0; left > x; left--, count = half) {
        half = network_half(network, count);
        bundle->messages[bundle->message_count++] =
            (struct download_message){half, count - half, count - half > 1 ? parcel_bytes : 0};
    }
    bundle->messages[bundle->message_count++] =
        (struct download_message){0, count, count > 1 ? parcel_bytes : 0};
}

static struct load_list list_of(const struct bundle *bundle)
{
    return load_list_at(bundle->list);
}

static uint64_t predicted_ns(const struct fabric *fabric, const struct bundle *bundle,
                             const struct profile *profile)
{
    struct load_list list = list_of(bundle);
    uint64_t sigma = profile->sigma_permille;
    struct download_costs costs = {.beta_ns = (uint64_t)profile->xi_ns + profile->tau_ns,
                                   .beta_host_ns = profile->xi_ns * sigma / 1000 +
                                                   profile->tau_ns * sigma / 1000,
                                   .hop_ns = (uint64_t)profile->tau_ns + profile->element_ns,
                                   .tau_ns = profile->element_ns,
                                   .element_bytes = profile->element_bytes,
                                   .list = &list};

    return download_replay_ns(&costs, &fabric->network, bundle->messages, bundle->message_count);
}

/* What must hold in every round: a node has one circuit in and one out, and three parcels at most
 * that have not gone on. */
static void expect_few(const struct fabric *fabric)
{
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        const struct load *load = &fabric->nodes[rank].node->load;
        if (load->state == LOAD_PIPING) {
            uint32_t held = load->pipeline.came - load->pipeline.gone;
            assert_true(held + load->pipeline.coming <= 3);
            assert_true(__builtin_popcount(fabric->nodes[rank].node->router.sources_used) <= 1);
        }
    }
}

static void run_load(struct fabric *fabric, struct bundle *bundle)
{
    unsigned idle = 0;

    assert_true(fabric_run(fabric, bundle_has_booted));
    assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
    for (unsigned round = 0; round < 200 && !bundle_is_over(fabric); round++) {
        idle = fabric_round(fabric) ? 0 : idle + 1;
        expect_few(fabric);
        if (idle > 10) {
            break; /* a time limit is next, which fabric_run brings */
        }
    }
    assert_true(fabric_run(fabric, bundle_is_over));
}

static void expect_time(const struct fabric *fabric, const struct bundle *bundle,
                        const struct profile *profile)
{
    const struct controller *controller = &fabric->controller;

    assert_int_equal(controller->clock_end_ns - controller->clock_base_ns,
                     predicted_ns(fabric, bundle, profile));
}

/* Start-ups, hops and bytes that cost something or nothing; sigma from 0 on. */
static struct profile draw_profile(uint64_t *seed)
{
    return (struct profile){.xi_ns = random_below(seed, 3) ? random_below(seed, 100000) : 0,
                            .tau_ns = random_below(seed, 3) ? random_below(seed, 20000) : 0,
                            .element_ns = random_below(seed, 1000),
                            .sigma_permille = (uint16_t)random_below(seed, 3000),
                            .element_bytes = (uint16_t)random_below(seed, 40)};
}

static void load_random(const char *network, uint64_t seed, struct memory_fault fault)
{
    struct profile profile = draw_profile(&seed);
    struct fabric *fabric = fabric_make_named(network, DATA_BYTES, seed, fault, profile);
    struct bundle *bundle = bundle_draw(fabric->count, &fabric->seed);
    struct load_list list = list_of(bundle);
    uint64_t all = load_data_bytes(&list, 0, bundle->segments, 0, fabric->count);
    uint32_t parcels = 1 + random_below(&fabric->seed, random_below(&fabric->seed, 3) ? 8 : 60);

    cut_messages(bundle, &fabric->network,
                 random_below(&fabric->seed, network_halvings(&fabric->network) + 1),
                 (uint32_t)(all / parcels) + 1);
    run_load(fabric, bundle);
    bundle_expect_all(fabric, bundle);
    expect_time(fabric, bundle, &profile);
    fabric_free(fabric);
    bundle_free(bundle);
}

static const char *const networks[] = {"cube:1",    "cube:3",   "cube:4",    "ring:5",
                                       "ring:8",    "mesh:2x3", "mesh:3x4",  "torus:4x3",
                                       "torus:2x5", "cube:5",   "mesh:2x2x3"};

TEST(every_node_gets_its_own_in_parcels_in_the_predicted_time)
{
    for (uint64_t seed = 1; seed <= 88; seed++) {
        load_random(networks[seed % (sizeof networks / sizeof networks[0])], seed, no_fault);
    }
}

TEST_LONG(every_node_gets_its_own_in_parcels_in_the_predicted_time_many_seeds)
{
    for (uint64_t seed = 100; seed <= 1500; seed++) {
        load_random(networks[seed % (sizeof networks / sizeof networks[0])], seed, no_fault);
    }
}

TEST(also_over_links_that_lose_and_damage_bytes)
{
    static const struct memory_fault fault = {.drop_per_million = 3000, .flip_per_million = 3000};

    for (uint64_t seed = 1; seed <= 8; seed++) {
        load_random("cube:3", seed, fault);
    }
}

/* Bytes of a parcel that are one at most, so it is as many circuits as bytes. */
TEST(a_parcel_may_be_one_byte)
{
    static const struct profile profile = {65425, 9575, 425, 1500, 0, 1};
    struct fabric *fabric = fabric_make_named("ring:4", DATA_BYTES, 3, no_fault, profile);
    struct bundle *bundle = bundle_make(fabric->count);

    bundle_add(bundle, (struct load_segment){.count = 4, .bytes = 40}, &fabric->seed);
    bundle_add(bundle, (struct load_segment){.count = 4, .bytes = 7, .step = 3}, &fabric->seed);
    bundle_seal(bundle);
    cut_messages(bundle, &fabric->network, 2, 1);
    run_load(fabric, bundle);
    bundle_expect_all(fabric, bundle);
    expect_time(fabric, bundle, &profile);
    assert_int_equal(fabric->accepted, 40 + 7 + 3 * 3);
    assert_int_equal(fabric->nodes[2].node->load.pipeline.given, 40 + 7);
    fabric_free(fabric);
    bundle_free(bundle);
}

/* Windows, of which node 0 passes on 7 * STEP bytes: far more than three parcels. */
struct narrow {
    struct fabric *fabric;
    struct bundle *bundle;
};

enum { NARROW_BYTES = 20000, NARROW_STEP = 9000, NARROW_PARCEL = 1000 };

static struct narrow narrow_make(uint64_t seed)
{
    static const struct profile profile = {65425, 9575, 425, 1500, 0, 1};
    struct narrow n = {.fabric = fabric_make(3, DATA_BYTES, seed, no_fault, profile),
                       .bundle = bundle_make(8)};

    bundle_add(n.bundle,
               (struct load_segment){.count = 8, .bytes = NARROW_BYTES, .step = NARROW_STEP},
               &n.fabric->seed);
    bundle_seal(n.bundle);
    cut_messages(n.bundle, &n.fabric->network, 3, NARROW_PARCEL);
    assert_true(fabric_run(n.fabric, bundle_has_booted));
    return n;
}

static void narrow_free(struct narrow *n)
{
    fabric_free(n->fabric);
    bundle_free(n->bundle);
}

static uint8_t *above(struct narrow *n, uint32_t rank, uint32_t *bytes)
{
    uint32_t at =
        n->bundle->program[rank < 4 ? 0 : 1].top + n->bundle->list_bytes + 3 * NARROW_PARCEL;

    *bytes = FABRIC_DATA + 2 * n->fabric->data_bytes - at;
    return fabric_at(n->fabric, rank, at);
}

TEST(a_node_holds_three_parcels_for_others_and_no_more)
{
    struct narrow n = narrow_make(11);
    uint32_t bytes;

    for (uint32_t rank = 0; rank < 8; rank++) {
        uint8_t *at = above(&n, rank, &bytes);
        memset(at, FILL, bytes);
    }
    assert_int_equal(bundle_load(n.fabric, n.bundle), CONTROLLER_OK);
    assert_true(fabric_run(n.fabric, bundle_is_over));
    assert_int_equal(n.fabric->told[EVENT_LOADED], 1);
    for (uint32_t rank = 0; rank < 8; rank++) {
        const uint8_t *at = above(&n, rank, &bytes);
        assert_int_equal(n.fabric->nodes[rank].node->load.passed_on_bytes,
                         rank < 7 ? 3 * NARROW_PARCEL : 0);
        for (uint32_t i = 0; i < bytes; i++) {
            assert_int_equal(at[i], FILL);
        }
    }
    narrow_free(&n);
}

/* The memory of all nodes ends behind the list and `held` bytes. */
static void end_memory(struct narrow *n, uint32_t held)
{
    for (uint32_t rank = 0; rank < 8; rank++) {
        struct node_config *config = &n->fabric->nodes[rank].node->config;
        config->program_bytes = n->bundle->program[rank < 4 ? 0 : 1].top + n->bundle->list_bytes +
                                held - config->program_address;
    }
}

TEST(three_parcels_find_room_where_whole_messages_find_none)
{
    struct narrow n = narrow_make(12);

    end_memory(&n, 3 * NARROW_PARCEL);
    assert_int_equal(bundle_load(n.fabric, n.bundle), CONTROLLER_OK);
    assert_true(fabric_run(n.fabric, bundle_is_over));
    bundle_expect_all(n.fabric, n.bundle);
    narrow_free(&n);

    n = narrow_make(12);
    end_memory(&n, 3 * NARROW_PARCEL - 1);
    assert_int_equal(bundle_load(n.fabric, n.bundle), CONTROLLER_OK);
    assert_true(fabric_run(n.fabric, bundle_is_over));
    assert_int_equal(n.fabric->told[EVENT_LOAD_FAILED], 1);
    assert_int_equal(n.fabric->nodes[0].node->load.status, E_NO_ROOM);
    narrow_free(&n);

    n = narrow_make(12);
    end_memory(&n, 3 * NARROW_PARCEL);
    n.bundle->messages[0].parcel_bytes = 0;
    assert_int_equal(bundle_load(n.fabric, n.bundle), CONTROLLER_OK);
    assert_true(fabric_run(n.fabric, bundle_is_over));
    assert_int_equal(n.fabric->told[EVENT_LOAD_FAILED], 1);
    narrow_free(&n);
}

/* On a ring each circuit of the line takes the one link between two nodes. */
TEST(each_link_carries_what_the_nodes_behind_it_need_once)
{
    static const struct profile profile = {65425, 9575, 425, 1500, 0, 1};

    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct fabric *fabric = fabric_make_named("ring:6", DATA_BYTES, seed, no_fault, profile);
        struct bundle *bundle = bundle_draw(fabric->count, &fabric->seed);
        struct load_list list = list_of(bundle);

        cut_messages(bundle, &fabric->network, network_halvings(&fabric->network),
                     500 + random_below(&fabric->seed, 5000));
        run_load(fabric, bundle);
        bundle_expect_all(fabric, bundle);
        for (uint32_t rank = 0; rank + 1 < fabric->count; rank++) {
            assert_int_equal(fabric->nodes[rank].node->router.ports[0].channel.data_sent,
                             bundle->list_bytes + load_data_bytes(&list, 0, bundle->segments,
                                                                  rank + 1,
                                                                  fabric->count - rank - 1));
        }
        fabric_free(fabric);
        bundle_free(bundle);
    }
}

static bool amid(struct fabric *fabric)
{
    const struct load *load = &fabric->nodes[3].node->load;

    return load->state == LOAD_PIPING && load->pipeline.came == 5;
}

/* The last byte of the last node's window comes with its first parcel. */
static bool last_has_some(struct fabric *fabric)
{
    const struct load *load = &fabric->nodes[7].node->load;

    return load->state == LOAD_PIPING && load->pipeline.came == 3;
}

/* An offer that comes twice is answered, and nothing begins anew. */
TEST(an_offer_that_comes_again_amid_parcels_changes_nothing)
{
    struct narrow n = narrow_make(13);
    uint8_t body[OFFER_BYTES];

    assert_int_equal(bundle_load(n.fabric, n.bundle), CONTROLLER_OK);
    assert_true(fabric_run(n.fabric, amid));
    struct node *node = n.fabric->nodes[3].node;
    offer_pack(body, &(struct offer_body){.name = node->load.name,
                                          .count = node->load.count,
                                          .list_bytes = node->load.list_bytes,
                                          .message_bytes = node->load.message_bytes,
                                          .to_segment = node->load.to_segment,
                                          .top = node->load.top,
                                          .generation = node->load.generation,
                                          .parcel_bytes = NARROW_PARCEL,
                                          .digest = node->load.list_digest});
    load_offer(node, &(struct notice){.kind = NOTICE_PACKET,
                                      .packet_kind = PACKET_OFFER,
                                      .src = 2,
                                      .body = body,
                                      .bytes = sizeof body});
    assert_int_equal(node->load.pipeline.came, 5);
    assert_true(fabric_run(n.fabric, bundle_is_over));
    bundle_expect_all(n.fabric, n.bundle);
    narrow_free(&n);
}

TEST(what_is_wrong_at_a_node_is_sent_to_it_again)
{
    struct narrow n = narrow_make(14);

    assert_int_equal(bundle_load(n.fabric, n.bundle), CONTROLLER_OK);
    assert_true(fabric_run(n.fabric, last_has_some));
    uint8_t *at = fabric_at(n.fabric, 7, n.bundle->segment[0].address);
    at[NARROW_BYTES - 1] ^= 1;
    assert_true(fabric_run(n.fabric, bundle_is_over));
    bundle_expect_all(n.fabric, n.bundle);
    assert_int_equal(n.fabric->nodes[7].node->load.parcel_bytes, 0);
    narrow_free(&n);
}

/* A second download, another one, by nodes that have had one in parcels. */
TEST(a_download_in_parcels_is_followed_by_any_other)
{
    struct narrow n = narrow_make(15);
    const struct profile profile = {65425, 9575, 425, 1500, 0, 1};

    for (unsigned i = 0; i < 3; i++) {
        n.bundle->messages[0].parcel_bytes = i == 1 ? 0 : NARROW_PARCEL * (1 + i);
        n.fabric->told[EVENT_LOADED] = 0;
        assert_int_equal(bundle_load(n.fabric, n.bundle), CONTROLLER_OK);
        assert_true(fabric_run(n.fabric, bundle_is_over));
        bundle_expect_all(n.fabric, n.bundle);
        expect_time(n.fabric, n.bundle, &profile);
    }
    narrow_free(&n);
}
