/*
 * load_test.c - what a load brings: every node has its own of each segment where the list says, and
 * else its free memory is clear, whatever shapes the segments have and however the links are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/words.h"
#include "drivers/status.h"
#include "node/state.h"
#include "router/notice.h"
#include "router/router.h"
#include "tests/fabric/bundle.h"
#include "tests/fabric/fabric.h"
#include "tests/networks.h"
#include "tests/testing.h"

enum { DATA_BYTES = 2 << 20 };

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

static void load_random(const char *network, uint64_t seed, struct memory_fault fault)
{
    struct fabric *fabric = fabric_make_named(network, DATA_BYTES, seed, fault, ipsc860);
    struct bundle *bundle = bundle_draw(fabric->count, &fabric->seed);

    assert_true(fabric_run(fabric, bundle_has_booted));
    assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
    assert_true(fabric_run(fabric, bundle_is_over));
    bundle_expect_all(fabric, bundle);
    fabric_free(fabric);
    bundle_free(bundle);
}

TEST(every_node_gets_its_own_of_every_shape)
{
    static const char *const networks[] = {"cube:0", "cube:1",   "cube:3",   "cube:4",
                                           "ring:5", "mesh:2x3", "mesh:3x4", "torus:4x3"};

    for (uint64_t seed = 1; seed <= 60; seed++) {
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

/* Windows of a node and of those behind it: the front of a piece is its own, and what it passes on
 * begins amid it. */
TEST(windows_go_once_over_each_link)
{
    enum { BYTES = 20000, STEP = 300 };
    struct fabric *fabric = fabric_make(3, DATA_BYTES, 5, no_fault, ipsc860);
    struct bundle *bundle = bundle_make(fabric->count);

    bundle_add(bundle, (struct load_segment){.count = 8, .bytes = BYTES, .step = STEP},
               &fabric->seed);
    bundle_seal(bundle);
    assert_true(fabric_run(fabric, bundle_has_booted));
    assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
    assert_true(fabric_run(fabric, bundle_is_over));
    bundle_expect_all(fabric, bundle);
    const struct load *load = &fabric->nodes[0].node->load;
    assert_int_equal(load->message_bytes, bundle->list_bytes + BYTES + 7 * STEP);
    assert_int_equal(load->passed_on_bytes, 7 * STEP);
    assert_int_equal(fabric->nodes[6].node->load.message_bytes, bundle->list_bytes + BYTES + STEP);
    fabric_free(fabric);
    bundle_free(bundle);
}

/* A point of the paper's figures: 2^d windows of M bytes, each Delta on. */
struct point {
    unsigned dims, x;
    uint32_t set_bytes, delta;
    uint64_t beta_ns;
};

enum { FIGURE_DIMS = 6, TAU_NS = 8000 };

/* Formula (9) as it is printed, with sigma 1.5 and tau_h = tau. */
static uint64_t formula_9_ns(const struct point *p)
{
    uint64_t messages = p->dims - p->x + 1, common = p->set_bytes - p->delta;
    uint64_t bytes = common * (messages + p->x) + p->delta * ((1u << p->dims) + (1u << p->x) - 1);

    return messages * p->beta_ns * 3 / 2 + p->x * p->beta_ns + bytes * TAU_NS;
}

static void choose_x(struct point *p)
{
    struct point other = *p;

    for (other.x = 0; other.x <= p->dims; other.x++) {
        if (other.x == 0 || formula_9_ns(&other) < formula_9_ns(p)) {
            p->x = other.x;
        }
    }
}

/* To the roots of subcubes of dimension d - 1, ..., x and x. */
static struct bundle *point_make(const struct point *p, uint64_t *seed)
{
    struct bundle *bundle = bundle_make(1u << p->dims);

    bundle->message_count = 0;
    for (unsigned dims = p->dims; dims-- > p->x;) {
        bundle->messages[bundle->message_count++] =
            (struct download_message){.root = 1u << dims, .count = 1u << dims};
    }
    bundle->messages[bundle->message_count++] =
        (struct download_message){.root = 0, .count = 1u << p->x};
    bundle_add(
        bundle,
        (struct load_segment){.count = 1u << p->dims, .bytes = p->set_bytes, .step = p->delta},
        seed);
    bundle_seal(bundle);
    return bundle;
}

static void expect_point(const struct point *p)
{
    const struct profile profile = {(uint32_t)p->beta_ns, 0, TAU_NS, 1500, 0, 1};
    struct fabric *fabric = fabric_make(p->dims, 1 << 16, p->dims, no_fault, profile);
    struct bundle *bundle = point_make(p, &fabric->seed);
    const struct controller *controller = &fabric->controller;

    assert_true(fabric_run(fabric, bundle_has_booted));
    assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
    assert_true(fabric_run(fabric, bundle_is_over));
    bundle_expect_all(fabric, bundle);
    assert_int_equal(controller->clock_end_ns - controller->clock_base_ns, formula_9_ns(p));
    fabric_free(fabric);
    bundle_free(bundle);
}

/* Figures 1 and 2; at d = 6 and without overlap figure 1 has 59.6 ms. */
TEST(decremental_scattering_takes_the_times_of_the_papers_figures)
{
    static const struct point figures[] = {
        {.set_bytes = 100, .delta = 100, .beta_ns = 800000},
        {.set_bytes = 100, .delta = 50, .beta_ns = 800000},
        {.set_bytes = 100, .delta = 1, .beta_ns = 800000},
        {.set_bytes = 500, .delta = 500, .beta_ns = 6500000},
        {.set_bytes = 500, .delta = 250, .beta_ns = 6500000},
        {.set_bytes = 500, .delta = 1, .beta_ns = 6500000},
    };

    for (unsigned i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        for (unsigned dims = 1; dims <= FIGURE_DIMS; dims++) {
            struct point point = figures[i];
            point.dims = dims;
            choose_x(&point);
            expect_point(&point);
            if (i == 0 && dims == FIGURE_DIMS) {
                assert_int_equal(formula_9_ns(&point), 59600000);
            }
        }
    }
}

static struct load_list list_of(struct bundle *bundle)
{
    struct load_list list;

    assert_true(load_list_open(&list, bundle->list, bundle->list_bytes));
    return list;
}

/* What the host's links carry together is what the messages have, and each that of its range. */
static void expect_range_links(const struct fabric *fabric, const struct bundle *bundle,
                               const struct load_list *list)
{
    uint64_t bytes[NETWORK_HOST_LINKS_MAX] = {0};

    for (unsigned i = 0; i < bundle->message_count; i++) {
        const struct download_message *message = &bundle->messages[i];
        bytes[network_range_of(&fabric->network, message->root)] +=
            bundle->list_bytes +
            load_data_bytes(list, 0, bundle->segments, message->root, message->count);
    }
    for (unsigned i = 0; i < network_ranges(&fabric->network); i++) {
        assert_int_equal(fabric->controller.router.ports[i].channel.data_sent, (uint32_t)bytes[i]);
    }
}

/* No link between two ranges carries anything of a download. */
static void expect_ranges_apart(const struct fabric *fabric)
{
    const struct network *network = &fabric->network;

    for (uint32_t rank = 0; rank < network->nodes; rank++) {
        for (unsigned p = 0; p < network->ports; p++) {
            uint32_t peer = network_neighbour(network, rank, p);
            if (peer != NETWORK_NO_NODE &&
                network_range_of(network, peer) != network_range_of(network, rank)) {
                assert_int_equal(fabric->nodes[rank].node->router.ports[p].channel.data_sent, 0);
            }
        }
    }
}

/* By the plan of a strategy, in the time that is predicted for it. */
static void load_over(const char *network, unsigned links, enum strategy strategy,
                      struct profile profile, uint64_t seed)
{
    struct fabric *fabric = fabric_make_linked(network, links, DATA_BYTES, seed, no_fault, profile);
    struct bundle *bundle = bundle_draw(fabric->count, &fabric->seed);
    struct load_list list = list_of(bundle);
    const struct controller *controller = &fabric->controller;
    uint64_t sigma = profile.sigma_permille;
    struct download_costs costs = {.beta_ns = (uint64_t)profile.xi_ns + profile.tau_ns,
                                   .beta_host_ns =
                                       profile.xi_ns * sigma / 1000 + profile.tau_ns * sigma / 1000,
                                   .hop_ns = (uint64_t)profile.tau_ns + profile.element_ns,
                                   .tau_ns = profile.element_ns,
                                   .element_bytes = profile.element_bytes,
                                   .list = &list};
    struct download_plan plan;
    char error[DOWNLOAD_ERROR_MAX];

    assert_true(
        download_make_plan(&plan, strategy, DOWNLOAD_X_BEST, &fabric->network, &costs, error));
    memcpy(bundle->messages, plan.messages, sizeof plan.messages);
    bundle->message_count = plan.count;
    assert_true(fabric_run(fabric, bundle_has_booted));
    assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
    assert_true(fabric_run(fabric, bundle_is_over));
    bundle_expect_all(fabric, bundle);
    assert_int_equal(controller->clock_end_ns - controller->clock_base_ns, plan.predicted_ns);
    expect_range_links(fabric, bundle, &list);
    expect_ranges_apart(fabric);
    fabric_free(fabric);
    bundle_free(bundle);
}

TEST(a_download_over_any_number_of_host_links_takes_the_predicted_time)
{
    static const char *const networks[] = {"cube:2",    "cube:3",    "cube:4",   "cube:5",
                                           "ring:7",    "ring:12",   "mesh:3x4", "mesh:5x3",
                                           "torus:4x3", "torus:5x5", "ring:2",   "cube:0"};
    static const struct profile profiles[] = {{65425, 9575, 425, 1500, 0, 1},
                                              {65425, 9575, 425, 100, 0, 7},
                                              {65425, 9575, 425, 1500, 1, 1}};
    uint64_t seed = 100;

    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        struct network network = network_of(networks[n]);
        for (unsigned links = 1; network_set_host_links(&network, links); links *= 2) {
            for (int strategy = 0; strategy < STRATEGIES; strategy++) {
                seed++;
                load_over(networks[n], links, (enum strategy)strategy, profiles[seed % 3], seed);
            }
        }
    }
}

/* Set-up of its link is more than 32 bits of ns. */
TEST(a_download_from_the_slowest_host_takes_the_predicted_time)
{
    static const struct profile slowest = {1000000000, 1000000000, 100000, 60000, 0, 256};

    for (int strategy = 0; strategy < STRATEGIES; strategy++) {
        load_over("mesh:2x3", 1, (enum strategy)strategy, slowest, 1000 + (uint64_t)strategy);
    }
}

TEST(a_string_of_several_segments_goes_once_over_each_link)
{
    enum { BYTES = 5000 };
    struct fabric *fabric = fabric_make(2, DATA_BYTES, 6, no_fault, ipsc860);
    struct bundle *bundle = bundle_make(fabric->count);

    bundle_add(bundle, (struct load_segment){.first = 2, .count = 2, .bytes = BYTES},
               &fabric->seed);
    bundle_add(bundle, (struct load_segment){.count = 4, .bytes = BYTES, .flags = LOAD_SAME},
               &fabric->seed);
    bundle_add(bundle,
               (struct load_segment){.first = 3, .count = 1, .bytes = BYTES, .flags = LOAD_SAME},
               &fabric->seed);
    bundle_seal(bundle);
    assert_true(fabric_run(fabric, bundle_has_booted));
    assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
    assert_true(fabric_run(fabric, bundle_is_over));
    bundle_expect_all(fabric, bundle);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        const struct load *load = &fabric->nodes[rank].node->load;
        assert_int_equal(load->message_bytes, bundle->list_bytes + BYTES);
        assert_int_equal(load->passed_on_bytes, 0);
    }
    fabric_free(fabric);
    bundle_free(bundle);
}

/* What a link carries of a message to the nodes from `first` on, however it goes on from there. */
static uint64_t message_bytes(const struct bundle *bundle, uint32_t first, uint32_t count)
{
    struct load_list list = load_list_at(bundle->list);

    return bundle->list_bytes + load_data_bytes(&list, 0, bundle->segments, first, count);
}

/* A cube's host has links to its first node and to that one's neighbours. It sends each of these
 * the half that begins there, and the first node its own; or all to the first node. */
static void halve(struct bundle *bundle)
{
    uint32_t count = bundle->nodes;

    for (bundle->message_count = 0; count > 1; bundle->message_count++) {
        count /= 2;
        bundle->messages[bundle->message_count] =
            (struct download_message){.root = count, .count = count};
    }
    bundle->messages[bundle->message_count++] = (struct download_message){.root = 0, .count = 1};
}

static uint32_t host_link_bytes(const struct fabric *fabric, unsigned index)
{
    return fabric->controller.router.ports[index].channel.data_sent;
}

/* The links of the host, each of which carries a message or none. */
static void expect_host_links(const struct fabric *fabric, const struct bundle *bundle)
{
    unsigned links = network_host_links(&fabric->network), used = bundle->message_count;

    for (unsigned i = 0; i < used; i++) {
        const struct download_message *message = &bundle->messages[i];
        unsigned link = (unsigned)network_host_link_of(&fabric->network, message->root);
        assert_int_equal(host_link_bytes(fabric, link),
                         message_bytes(bundle, message->root, message->count));
    }
    for (unsigned link = 0; used == 1 && link < links; link++) {
        assert_true(link == 0 || host_link_bytes(fabric, link) == 0);
    }
}

/* On a link of dimension k comes what 2^k nodes need, if it leads to the first of them and they do
 * not have it from the host. */
static void expect_links(const struct fabric *fabric, const struct bundle *bundle)
{
    bool halved = bundle->message_count > 1;

    expect_host_links(fabric, bundle);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        for (unsigned k = 0; 1u << k < fabric->count; k++) {
            uint32_t count = 1u << k;
            bool carries = rank % (2 * count) == 0 && (rank > 0 || !halved);
            assert_int_equal(fabric->nodes[rank].node->router.ports[k].channel.data_sent,
                             carries ? message_bytes(bundle, rank + count, count) : 0);
        }
    }
}

TEST(each_link_carries_what_the_nodes_behind_it_need_once)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fabric *fabric =
            fabric_make((unsigned)(seed % 5), DATA_BYTES, seed, no_fault, ipsc860);
        struct bundle *bundle = bundle_draw(fabric->count, &fabric->seed);

        if (seed % 2) {
            halve(bundle);
        }
        assert_true(fabric_run(fabric, bundle_has_booted));
        assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
        assert_true(fabric_run(fabric, bundle_is_over));
        bundle_expect_all(fabric, bundle);
        expect_links(fabric, bundle);
        fabric_free(fabric);
        bundle_free(bundle);
    }
}

/* A byte of a node's own is changed when it has come, before it is hashed. */
static void load_and_change(struct fabric *fabric, struct bundle *bundle, uint32_t address)
{
    struct load *load = &fabric->nodes[0].node->load;

    assert_true(fabric_run(fabric, bundle_has_booted));
    assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
    while (load->state != LOAD_SENDING) {
        fabric_round(fabric);
    }
    assert_true(node_takes_memory(fabric->nodes[0].node));
    ((uint8_t *)fabric_at(fabric, 0, address))[0] ^= 1;
    assert_true(fabric_run(fabric, bundle_is_over));
    assert_false(node_takes_memory(fabric->nodes[0].node)); /* nothing began anew */
}

TEST(what_is_wrong_at_a_node_is_sent_to_it_again)
{
    struct fabric *fabric = fabric_make(3, DATA_BYTES, 7, no_fault, ipsc860);
    struct bundle *bundle = bundle_draw(fabric->count, &fabric->seed);
    unsigned block = bundle->segments - 1;

    load_and_change(fabric, bundle, bundle->segment[block].address);
    bundle_expect_all(fabric, bundle);
    const struct load *load = &fabric->nodes[0].node->load;
    assert_int_equal(load->from_segment, block);
    assert_int_equal(load->held_bytes, bundle->segment[block].bytes);
    fabric_free(fabric);
    bundle_free(bundle);
}

TEST(what_is_wrong_at_many_is_sent_to_each_again)
{
    struct fabric *fabric = fabric_make(3, DATA_BYTES, 8, no_fault, ipsc860);
    struct bundle *bundle = bundle_make(fabric->count);

    bundle_add(bundle, (struct load_segment){.count = 8, .bytes = 30000}, &fabric->seed);
    bundle_add(bundle, (struct load_segment){.count = 8, .bytes = 30000, .step = 10},
               &fabric->seed);
    bundle_seal(bundle);
    load_and_change(fabric, bundle, bundle->segment[0].address);
    bundle_expect_all(fabric, bundle);
    assert_int_equal(fabric->nodes[7].node->load.to_segment, 1); /* it had all of the other */
    fabric_free(fabric);
    bundle_free(bundle);
}

/* The status with which a node without a network of others answers a list and an offer. */
static int status_of(const struct bundle *bundle, struct offer_body offer)
{
    struct fabric *fabric = fabric_make(0, 4096, 1, no_fault, ipsc860);
    struct node *node = fabric->nodes[0].node;
    uint8_t body[OFFER_BYTES];
    struct notice notice = {.kind = NOTICE_PACKET,
                            .packet_kind = PACKET_OFFER,
                            .src = ID_HOST,
                            .body = body,
                            .bytes = sizeof body};

    fabric_settle(fabric);
    offer_pack(body, &offer);
    load_offer(node, &notice);
    int status = node->load.status;
    if (node->load.state == LOAD_RECEIVING) {
        memcpy(fabric_at(fabric, 0, offer.top), bundle->list, offer.list_bytes);
        sha256_add(&node->load.sha, bundle->list, offer.list_bytes);
        status = load_take_list(node);
    }
    fabric_free(fabric);
    return status;
}

static struct offer_body offer_of(const struct bundle *bundle)
{
    uint32_t bytes = 0;

    for (unsigned i = 0; i < bundle->segments; i++) {
        bytes += bundle->segment[i].flags & LOAD_SAME ? 0 : bundle->segment[i].bytes;
    }
    return (struct offer_body){.name = FABRIC_DOWNLOAD,
                               .count = 1,
                               .list_bytes = bundle->list_bytes,
                               .message_bytes = bundle->list_bytes + bytes,
                               .to_segment = (uint16_t)bundle->segments,
                               .top = bundle->program[0].top,
                               .digest = bundle->list_digest};
}

static struct bundle *small(void)
{
    struct bundle *bundle = bundle_make(1);
    uint64_t seed = 1;

    bundle_add(bundle, (struct load_segment){.count = 1, .bytes = 5000}, &seed);
    bundle_add(bundle, (struct load_segment){.count = 1, .bytes = 5000, .flags = LOAD_SAME}, &seed);
    bundle_add(bundle, (struct load_segment){.count = 1, .bytes = 100, .flags = LOAD_BLOCK}, &seed);
    bundle_seal(bundle);
    return bundle;
}

TEST(an_offer_that_cannot_be_is_refused)
{
    struct bundle *bundle = small();
    struct offer_body right = offer_of(bundle), wrong[10];
    uint32_t end = FABRIC_DATA + 2 * 4096;

    assert_int_equal(status_of(bundle, right), E_OK);
    for (unsigned i = 0; i < 10; i++) {
        wrong[i] = right;
    }
    wrong[0].count = 2;
    wrong[1].top += 4;
    wrong[2].top = FABRIC_IMAGE - PAGE;
    wrong[3].top = 0u - PAGE;
    wrong[4].list_bytes = LOAD_LIST_BYTES_MAX + 1;
    wrong[5].list_bytes = end - right.top + 1;
    wrong[6].list_bytes = 0;
    wrong[7].message_bytes = right.list_bytes - 1;
    wrong[8].message_bytes = UINT32_MAX;
    wrong[9].from_segment = right.to_segment;
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(status_of(bundle, wrong[i]), E_NO_ROOM);
    }
    bundle_free(bundle);
}

TEST(a_list_that_is_not_what_was_offered_is_refused)
{
    struct bundle *bundle = small();
    struct offer_body offer = offer_of(bundle);

    bundle->list[bundle->list_bytes - 1] ^= 1; /* a spare byte, but the digest says so */
    assert_int_equal(status_of(bundle, offer), E_FORMAT);
    bundle_seal(bundle);
    offer.message_bytes++;
    assert_int_equal(status_of(bundle, offer), E_FORMAT);
    offer.message_bytes--;
    offer.to_segment++;
    assert_int_equal(status_of(bundle, offer), E_FORMAT);
    offer.to_segment--;
    offer.from_segment = 1; /* amid segments of one string */
    offer.message_bytes -= 5000;
    assert_int_equal(status_of(bundle, offer), E_FORMAT);
    bundle_free(bundle);
}

TEST(a_list_with_segments_outside_is_refused)
{
    struct bundle *bundle = small();
    static const uint32_t addresses[] = {FABRIC_IMAGE - 1, 0, UINT32_MAX, 0u - 5000};
    uint32_t top = bundle->program[0].top;

    for (unsigned i = 0; i < 5; i++) {
        bundle->segment[1].address = i < 4 ? addresses[i] : top - 4999;
        bundle_seal(bundle);
        assert_int_equal(status_of(bundle, offer_of(bundle)), E_NO_ROOM);
    }
    bundle->segment[1].address = top - 5000;
    bundle_seal(bundle);
    assert_int_equal(status_of(bundle, offer_of(bundle)), E_OK);
    bundle->list[0] = 2; /* nodes that this network has not */
    sha256_of(bundle->list, bundle->list_bytes, bundle->list_digest);
    assert_int_equal(status_of(bundle, offer_of(bundle)), E_FORMAT);
    bundle_free(bundle);
}

/* Node 0 has room for its own, and not for what it would pass on to the others. */
TEST(what_finds_no_room_to_be_passed_on_is_told)
{
    struct fabric *fabric = fabric_make(2, 4096, 9, no_fault, ipsc860);
    struct bundle *bundle = bundle_make(fabric->count);

    bundle_add(bundle, (struct load_segment){.count = 4, .bytes = 15000, .step = 15000},
               &fabric->seed);
    bundle->end = FABRIC_IMAGE + 0x10000; /* the message is no longer than all memory */
    bundle_seal(bundle);
    assert_true(fabric_run(fabric, bundle_has_booted));
    assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
    assert_true(fabric_run(fabric, bundle_is_over));
    assert_int_equal(fabric->told[EVENT_LOAD_FAILED], 1);
    assert_true(fabric->nodes[0].node->load.opened); /* it was the list that said so */
    assert_int_equal(fabric->nodes[0].node->load.status, E_NO_ROOM);
    assert_int_equal(fabric->nodes[0].node->program, PROGRAM_NONE);
    fabric_free(fabric);
    bundle_free(bundle);
}

/* Maps ----------------------------------------------------------------------------------------- */

enum { MAPPED = 4 };

/* Each program has begun, or the host has heard of its end. */
static bool all_have_begun(struct fabric *fabric)
{
    unsigned begun = 0;

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        struct fabric_node *node = &fabric->nodes[rank];
        struct node_start start;
        node->started = node->started || node_take_start(node->node, &start);
        begun += node->started;
    }
    return begun + fabric->told[EVENT_FAULT] == fabric->count;
}

static struct load_map good_map(uint8_t table[LOAD_MAP_HEADER_BYTES + 4 * MAPPED])
{
    struct load_map fields = {.nodes = MAPPED, .kind = NETWORK_RING, .dims = 1, .sizes = {MAPPED}};

    load_map_pack(table, &fields);
    for (uint32_t rank = 0; rank < MAPPED; rank++) {
        load_map_put(table, MAPPED, rank, rank ^ rank / 2);
    }
    return fields;
}

/* A load with this map, so many bytes of it, on cube:2, until its programs run or have ended. */
static struct fabric *load_map(const uint8_t *table, uint32_t bytes)
{
    struct fabric *fabric = fabric_make(2, 4096, 11, no_fault, ipsc860);
    struct bundle *bundle = bundle_make(fabric->count);

    bundle_add(bundle, (struct load_segment){.count = MAPPED, .bytes = 64}, &fabric->seed);
    bundle_add(bundle, (struct load_segment){.count = MAPPED, .bytes = bytes, .flags = LOAD_MAP},
               &fabric->seed);
    memcpy(bundle->strings[1], table, bytes);
    sha256_of(bundle->strings[1], bytes, bundle->digests[1][0]);
    bundle_seal(bundle);
    assert_true(fabric_run(fabric, bundle_has_booted));
    assert_int_equal(bundle_load(fabric, bundle), CONTROLLER_OK);
    assert_true(fabric_run(fabric, bundle_is_over));
    controller_run(&fabric->controller, fabric->now_us);
    assert_true(fabric_run(fabric, all_have_begun));
    bundle_free(bundle);
    return fabric;
}

/* No program begins, and each node says why; the next load without a map runs. */
static void map_is_refused(const uint8_t *table, uint32_t bytes, const char *why)
{
    struct fabric *fabric = load_map(table, bytes);
    char text[WORDS_MAX], words[WORDS_MAX];

    assert_int_equal(fabric->told[EVENT_FAULT], MAPPED);
    assert_int_equal(fabric->told[EVENT_EXIT], 0);
    snprintf(words, sizeof words, "node %u does not begin its program: the load's map is wrong: %s",
             (unsigned)fabric->last_fault.rank, why);
    assert_true(words_of_event(&fabric->controller, &fabric->last_fault, text));
    assert_string_equal(text, words);
    for (unsigned rank = 0; rank < MAPPED; rank++) {
        assert_int_equal(fabric->nodes[rank].node->exit_status, E_FORMAT);
        assert_false(fabric->nodes[rank].started);
        assert_null(fabric->nodes[rank].node->router.network.map);
    }
    assert_true(fabric_load(fabric));
    fabric_free(fabric);
}

TEST(a_map_that_is_a_permutation_of_this_network_is_taken)
{
    uint8_t table[LOAD_MAP_HEADER_BYTES + 4 * MAPPED];

    good_map(table);
    struct fabric *fabric = load_map(table, sizeof table);
    for (unsigned rank = 0; rank < MAPPED; rank++) {
        assert_true(fabric->nodes[rank].started);
        assert_int_equal(map_rank(fabric->nodes[rank].node, rank), rank ^ rank / 2);
    }
    fabric_free(fabric);
}

TEST(a_map_that_is_none_of_this_network_is_told_and_no_program_begins)
{
    uint8_t table[LOAD_MAP_HEADER_BYTES + 4 * MAPPED];
    struct load_map fields = good_map(table);

    load_map_put(table, MAPPED, 3, 3); /* where rank 2 is */
    map_is_refused(table, sizeof table, "ranks 2 and 3 are both at node 3");
    good_map(table);
    table[LOAD_MAP_HEADER_BYTES + 2 * 3] = MAPPED;
    map_is_refused(table, sizeof table, "rank 3 is at node 4, and there are nodes 0 to 3");
    good_map(table);
    table[LOAD_MAP_HEADER_BYTES + 2 * (MAPPED + 3)] = 1;
    map_is_refused(table, sizeof table, "rank 2 is at node 3, and node 3 has rank 1");
    good_map(table);
    map_is_refused(table, sizeof table - 1, "it has 87 bytes, and that of 4 nodes has 88");
    map_is_refused(table, 2, "it has 2 bytes, and that of 4 nodes has 88");
    fields.nodes = MAPPED / 2;
    load_map_pack(table, &fields);
    map_is_refused(table, sizeof table, "it is for 2 nodes, and this machine has 4");
    fields = good_map(table);
    fields.sizes[0] = MAPPED + 1; /* ranks that form a larger one */
    load_map_pack(table, &fields);
    map_is_refused(table, sizeof table, "its ranks form no network of 4 nodes");
    fields.kind = 77; /* or nothing that there is */
    load_map_pack(table, &fields);
    map_is_refused(table, sizeof table, "its ranks form no network of 4 nodes");
    fields = good_map(table);
    fields.dims = LOAD_MAP_DIMS_MAX + 1;
    load_map_pack(table, &fields);
    map_is_refused(table, sizeof table, "its ranks form no network of 4 nodes");
}
