/*
 * What programs have left comes to the host, from real nodes: each rank's bytes and digest, in the
 * model time that the plan predicts.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "node/sha256.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/networks.h"
#include "wire/gather.h"
#include "wire/output.h"

enum {
    DATA_BYTES = 64 * 1024, /* behind FABRIC_DATA, and as much again */
    TABLE = FABRIC_DATA,    /* of pieces */
    PIECES = FABRIC_DATA + 4096,
    PIECES_BYTES = 24 * 1024,
    FAILS_MAX = 400
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct profile slow_host = {65425, 9575, 425, 4000, 0, 1};
static const struct profile fast_host = {65425, 9575, 425, 500, 0, 1};
static const struct profile unit = {1000, 1000, 1000, 1500, 0, 1};
static const struct memory_fault no_fault;

/* A machine whose programs have left something, and the memory for it. */
struct left {
    struct fabric *fabric;
    uint32_t *bytes; /* of each rank */
    uint64_t total;
    uint8_t *table, *data;
    void *scratch;
    bool collects; /* memory is given when it is asked for */
    struct event_gather measured;
    struct controller_event end;
};

static void *must(void *memory)
{
    assert_non_null(memory);
    return memory;
}

/* Byte `at` of what a rank has left. */
static uint8_t byte_of(uint32_t rank, uint32_t at)
{
    return (uint8_t)(rank * 37 + at * 11 + (at >> 8) * 3);
}

/* Names the table of pieces to the kernel. */
static int32_t name_pieces(struct fabric *fabric, uint32_t rank, uint32_t address, uint32_t count)
{
    return fabric_call(fabric, rank, ECUBE_CALL_OUTPUT, address, count);
}

/* A program leaves so many bytes: in two pieces with a hole between them, and one without bytes. */
static void leave(struct fabric *fabric, uint32_t rank, uint32_t bytes)
{
    uint32_t first = bytes / 3;
    struct ecube_abi_piece pieces[] = {
        {PIECES + 5, first}, {0, 0}, {PIECES + PIECES_BYTES / 2, bytes - first}};
    uint8_t *at = fabric_at(fabric, rank, PIECES + 5);

    assert_true(bytes - first <= PIECES_BYTES / 2 && first + 5 <= PIECES_BYTES / 2);
    for (uint32_t i = 0; i < bytes; i++) {
        if (i == first) {
            at = fabric_at(fabric, rank, pieces[2].address);
        }
        *at++ = byte_of(rank, i);
    }
    memcpy(fabric_at(fabric, rank, TABLE), pieces, sizeof pieces);
    assert_int_equal(name_pieces(fabric, rank, TABLE, 3), E_OK);
}

static void end_program(struct fabric *fabric, uint32_t rank, uint32_t number)
{
    uint32_t arguments[4] = {0};
    int32_t result;

    assert_int_equal(
        node_call(fabric->nodes[rank].node, fabric->now_us, number, arguments, &result), NODE_END);
}

static void end_programs(struct fabric *fabric)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        end_program(fabric, rank, ECUBE_CALL_EXIT);
    }
}

static bool run_is_over(struct fabric *fabric)
{
    return fabric->controller.phase == PHASE_READY;
}

/* Programs that run, and are about to leave as many bytes as `bytes_of` says. */
static struct left make_running(struct fabric *fabric, uint32_t (*bytes_of)(uint32_t rank))
{
    struct left left = {.fabric = fabric, .collects = true};

    left.bytes = must(calloc(fabric->count, sizeof *left.bytes));
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        left.bytes[rank] = bytes_of(rank);
        left.total += left.bytes[rank];
    }
    left.table = must(calloc(fabric->count, OUTPUT_ROW_BYTES));
    left.data = must(malloc(left.total + 1));
    left.scratch = must(malloc(gather_scratch_bytes(&fabric->network)));
    return left;
}

static void leave_all(const struct left *left)
{
    for (unsigned rank = 0; rank < left->fabric->count; rank++) {
        leave(left->fabric, rank, left->bytes[rank]);
    }
}

/* Started programs that have left as many bytes as `bytes_of` says, and ended. */
static struct left make_in(struct fabric *fabric, uint32_t (*bytes_of)(uint32_t rank))
{
    struct left left = make_running(fabric, bytes_of);

    assert_true(fabric_start(fabric));
    leave_all(&left);
    end_programs(fabric);
    assert_true(fabric_run(fabric, run_is_over));
    return left;
}

static struct left make_with(const char *network, struct profile profile, uint64_t seed,
                             struct memory_fault faults, uint32_t (*bytes_of)(uint32_t rank))
{
    return make_in(fabric_make_named(network, DATA_BYTES, seed, faults, profile), bytes_of);
}

static struct left make_over(unsigned host_links, const char *network, struct profile profile,
                             uint64_t seed, uint32_t (*bytes_of)(uint32_t rank))
{
    return make_in(fabric_make_linked(network, host_links, DATA_BYTES, seed, no_fault, profile),
                   bytes_of);
}

static struct left make(const char *network, struct profile profile, uint64_t seed,
                        uint32_t (*bytes_of)(uint32_t rank))
{
    return make_with(network, profile, seed, no_fault, bytes_of);
}

static void free_left(struct left *left)
{
    fabric_free(left->fabric);
    free(left->bytes);
    free(left->table);
    free(left->data);
    free(left->scratch);
}

static bool is_measured(struct fabric *fabric)
{
    return fabric->told[EVENT_MEASURED] > 0 || fabric->controller.phase != PHASE_GATHER;
}

static bool is_gathered(struct fabric *fabric)
{
    return fabric->controller.phase == PHASE_READY && fabric->controller.event_count == 0;
}

/* Asks, gives memory, and lets it come to its end. */
static void gather(struct left *left)
{
    struct fabric *fabric = left->fabric;
    struct controller *controller = &fabric->controller;

    fabric->told[EVENT_MEASURED] = 0;
    assert_int_equal(controller_gather(controller, fabric->now_us), CONTROLLER_OK);
    assert_true(fabric_run(fabric, is_measured));
    if (controller->phase != PHASE_GATHER) {
        return;
    }
    left->measured = fabric->last_event.gather;
    if (left->collects) {
        struct controller_outputs outputs = {left->table, left->data, left->scratch};
        controller_collect(controller, &outputs, fabric->now_us);
        fabric_run(fabric, is_gathered);
        left->end = fabric->last_event;
    }
}

/* All ranks' bytes are there, and their digests are those of the bytes. */
static void check_outputs(const struct left *left)
{
    const uint8_t *at = left->data;

    for (uint32_t rank = 0; rank < left->fabric->count; rank++) {
        struct output_row row = output_row_at(left->table, rank);
        uint8_t digest[DIGEST_BYTES];

        assert_int_equal(row.rank, rank);
        assert_int_equal(row.bytes, left->bytes[rank]);
        for (uint32_t i = 0; i < row.bytes; i++) {
            assert_int_equal(at[i], byte_of(rank, i));
        }
        sha256_of(at, row.bytes, digest);
        assert_memory_equal(digest, row.digest, DIGEST_BYTES);
        at += row.bytes;
    }
}

static void check_gathered(const struct left *left)
{
    assert_int_equal(left->end.kind, EVENT_GATHERED);
    assert_int_equal(left->measured.bytes, left->total);
    assert_int_equal(left->end.gather.bytes, left->total);
    assert_int_equal(left->end.model_ns - left->end.base_ns, left->end.gather.predicted_ns);
    check_outputs(left);
}

static uint32_t equal(uint32_t rank)
{
    (void)rank;
    return 1000;
}

static uint32_t small(uint32_t rank)
{
    (void)rank;
    return 7;
}

static uint32_t nothing(uint32_t rank)
{
    (void)rank;
    return 0;
}

static uint32_t unequal(uint32_t rank)
{
    static const uint32_t sizes[] = {0, 3000, 17, 0, 0, 900, 4000, 1};

    return sizes[rank % 8];
}

static const char *const networks[] = {"cube:0",    "cube:1",    "cube:3",   "ring:3",
                                       "ring:5",    "ring:8",    "mesh:2x3", "mesh:4x3",
                                       "torus:3x3", "torus:4x4", "torus:5x2"};

TEST(what_programs_have_left_comes_in_the_time_that_is_predicted)
{
    static const struct profile profiles[] = {{65425, 9575, 425, 1500, 0, 1},
                                              {65425, 9575, 425, 500, 0, 7},
                                              {1000, 1000, 1000, 4000, 1, 3}};
    uint32_t (*const sizes[])(uint32_t) = {equal, small, nothing, unequal};

    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        for (unsigned s = 0; s < 4; s++) {
            struct left left = make(networks[n], profiles[(n + s) % 3], n * 4 + s + 1, sizes[s]);
            gather(&left);
            check_gathered(&left);
            free_left(&left);
        }
    }
}

/* Set-up of the host's link is more than 32 bits of ns. */
TEST(what_programs_have_left_comes_in_the_predicted_time_to_the_slowest_host)
{
    static const struct profile slowest = {1000000000, 1000000000, 100000, 60000, 0, 256};
    struct left left = make("torus:3x2", slowest, 77, unequal);

    gather(&left);
    check_gathered(&left);
    free_left(&left);
}

/* Over host links of their own ranges send at the same time, each its parts one after another. */
TEST(what_comes_over_several_host_links_takes_the_time_that_is_predicted)
{
    static const char *const names[] = {"cube:2", "cube:3",   "cube:4",    "cube:5",
                                        "ring:7", "mesh:3x4", "torus:4x3", "torus:5x5"};
    const struct profile profiles[] = {ipsc860, slow_host, fast_host};
    uint32_t (*const sizes[])(uint32_t) = {equal, small, nothing, unequal};
    uint64_t seed = 1;

    for (unsigned n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct network network = network_of(names[n]);
        uint64_t before_ns = UINT64_MAX;
        for (unsigned links = 1; network_set_host_links(&network, links); links *= 2) {
            struct left left =
                make_over(links, names[n], profiles[n % 3], seed++, sizes[(n + links) % 4]);
            gather(&left);
            check_gathered(&left);
            free_left(&left);
            left = make_over(links, names[n], ipsc860, seed++, equal);
            gather(&left);
            check_gathered(&left);
            assert_true(left.end.gather.predicted_ns < before_ns);
            before_ns = left.end.gather.predicted_ns;
            free_left(&left);
        }
    }
}

/* The plan has the x for which the closed form is least. */
TEST(on_a_cube_with_equal_outputs_the_time_is_that_of_the_closed_form)
{
    const struct profile profiles[] = {ipsc860, slow_host, fast_host, unit};
    uint32_t (*const sizes[])(uint32_t) = {equal, small, nothing};

    for (unsigned p = 0; p < 4; p++) {
        for (unsigned s = 0; s < 3; s++) {
            struct left left = make("cube:3", profiles[p], p + 1, sizes[s]);
            unsigned x;
            gather(&left);
            check_gathered(&left);
            assert_int_equal(left.fabric->controller.gather.plan.depth, 0);
            x = 3 - left.fabric->controller.gather.plan.chain;
            assert_int_equal(left.end.gather.predicted_ns,
                             gather_cube_ns(&profiles[p], 3, x, sizes[s](0)));
            for (x = 0; x <= 3; x++) {
                assert_true(left.end.gather.predicted_ns <=
                            gather_cube_ns(&profiles[p], 3, x, sizes[s](0)));
            }
            free_left(&left);
        }
    }
}

static uint32_t large(uint32_t rank)
{
    (void)rank;
    return PIECES_BYTES / 2;
}

/* None waits for a link that others use. */
TEST(ranges_with_a_host_link_each_send_at_the_same_time)
{
    struct left left = make_over(4, "cube:3", ipsc860, 3, large);
    struct fabric *fabric = left.fabric;
    struct controller_outputs outputs = {left.table, left.data, left.scratch};
    unsigned most = 0;

    left.collects = false;
    gather(&left);
    controller_collect(&fabric->controller, &outputs, fabric->now_us);
    for (unsigned round = 0; round < 100000 && !is_gathered(fabric); round++) {
        unsigned receiving = 0;
        fabric_round(fabric);
        for (unsigned i = 0; i < 4; i++) {
            receiving += fabric->controller.gather.lanes[i].receiving;
        }
        most = receiving > most ? receiving : most;
    }
    left.end = fabric->last_event;
    check_gathered(&left);
    assert_int_equal(most, 4);
    free_left(&left);
}

/* When each range is one message, it is that of the smaller cube with all in one. */
TEST(each_range_takes_the_closed_time_of_a_smaller_cube)
{
    const struct profile profiles[] = {ipsc860, slow_host, fast_host, unit};

    for (unsigned dims = 0; dims <= 8; dims++) {
        for (unsigned log2 = 0; log2 <= dims && log2 <= 4; log2++) {
            struct network network;
            assert_true(network_make(&network, NETWORK_CUBE, NULL, dims));
            assert_true(network_set_host_links(&network, 1u << log2));
            struct gather_node *nodes = must(malloc(gather_scratch_bytes(&network)));
            for (uint32_t rank = 0; rank < network.nodes; rank++) {
                nodes[rank] = (struct gather_node){.bytes = 1000, .room = UINT32_MAX};
            }
            for (unsigned p = 0; p < 4; p++) {
                assert_int_equal(
                    gather_replay(&network, &profiles[p], &(struct gather_plan){0}, nodes),
                    gather_cube_ns(&profiles[p], dims - log2, dims - log2, 1000));
            }
            free(nodes);
        }
    }
}

/* The replay knows no formula, and the formula no links. */
TEST(replay_and_closed_form_agree_for_each_x)
{
    const struct profile profiles[] = {ipsc860, slow_host, fast_host, unit};
    static const uint32_t sizes[] = {0, 1, 7, 176, 177, 1000, 100000};

    for (unsigned dims = 0; dims <= 8; dims++) {
        struct network network;
        assert_true(network_make(&network, NETWORK_CUBE, NULL, dims));
        struct gather_node *nodes = must(malloc(gather_scratch_bytes(&network)));
        for (unsigned i = 0; i < 4 * 7 * (dims + 1); i++) {
            const struct profile *profile = &profiles[i % 4];
            uint32_t bytes = sizes[i / 4 % 7];
            unsigned x = i / 28;
            for (uint32_t rank = 0; rank < network.nodes; rank++) {
                nodes[rank] = (struct gather_node){.bytes = bytes, .room = UINT32_MAX};
            }
            assert_int_equal(
                gather_replay(&network, profile, &(struct gather_plan){.chain = dims - x}, nodes),
                gather_cube_ns(profile, dims, x, bytes));
        }
        free(nodes);
    }
}

TEST(a_second_gather_of_the_same_programs_brings_the_same)
{
    struct left left = make("mesh:2x3", ipsc860, 5, unequal);

    gather(&left);
    check_gathered(&left);
    uint64_t first_ns = left.end.model_ns - left.end.base_ns;
    memset(left.data, 0, left.total);
    gather(&left);
    check_gathered(&left);
    assert_int_equal(left.end.model_ns - left.end.base_ns, first_ns);
    free_left(&left);
}

/* Takes memory away from all nodes: the program's pieces end just below the end of memory. */
static void leave_at_end(const struct left *left, uint32_t free_bytes)
{
    struct fabric *fabric = left->fabric;
    uint32_t end = FABRIC_DATA + 2 * DATA_BYTES;

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        struct ecube_abi_piece piece = {end - free_bytes - left->bytes[rank], left->bytes[rank]};
        uint8_t *at = fabric_at(fabric, rank, piece.address);

        for (uint32_t i = 0; i < piece.bytes; i++) {
            at[i] = byte_of(rank, i);
        }
        memcpy(fabric_at(fabric, rank, TABLE), &piece, sizeof piece);
        assert_int_equal(name_pieces(fabric, rank, TABLE, 1), E_OK);
    }
}

/* The same as make, but the pieces lie at the end of memory. */
static struct left make_tight(const char *network, uint64_t seed, uint32_t free_bytes)
{
    struct fabric *fabric = fabric_make_named(network, DATA_BYTES, seed, no_fault, ipsc860);
    struct left left = make_running(fabric, equal);

    assert_true(fabric_start(fabric));
    leave_at_end(&left, free_bytes);
    end_programs(fabric);
    assert_true(fabric_run(fabric, run_is_over));
    return left;
}

TEST(nodes_without_room_send_what_they_have_by_themselves)
{
    static const uint32_t rooms[] = {0, 8, 1040, 1048, 3 * 1040 + 8, 7 * 1040 + 8};
    static const unsigned depths[] = {3, 3, 2, 2, 0, 0};

    for (unsigned i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        struct left left = make_tight("cube:3", i + 1, rooms[i]);
        gather(&left);
        check_gathered(&left);
        assert_int_equal(left.fabric->controller.gather.plan.depth, depths[i]);
        free_left(&left);
    }
}

TEST(a_piece_outside_of_the_programs_memory_counts_nothing)
{
    struct left left = make("cube:1", ipsc860, 3, small);
    struct ecube_abi_piece piece = {FABRIC_DATA + 2 * DATA_BYTES - 4, 5};

    /* the program has ended, and its memory is as it was: the third piece of rank 1 is changed */
    memcpy((uint8_t *)fabric_at(left.fabric, 1, TABLE) + 2 * sizeof piece, &piece, sizeof piece);
    left.bytes[1] = 7 / 3;
    left.total = 7 + 7 / 3;
    gather(&left);
    check_gathered(&left);
    free_left(&left);
}

TEST(the_call_refuses_a_table_that_is_not_all_the_programs)
{
    struct fabric *fabric = fabric_started(0, DATA_BYTES, 1);
    uint32_t end = FABRIC_DATA + 2 * DATA_BYTES;

    assert_int_equal(name_pieces(fabric, 0, TABLE, ECUBE_PIECES_MAX), E_OK);
    assert_int_equal(name_pieces(fabric, 0, TABLE, ECUBE_PIECES_MAX + 1), E_ARGUMENT);
    assert_int_equal(name_pieces(fabric, 0, end - 8, 1), E_OK);
    assert_int_equal(name_pieces(fabric, 0, end - 8, 2), E_FAULT);
    assert_int_equal(name_pieces(fabric, 0, TABLE + 2, 1), E_FAULT);
    assert_int_equal(name_pieces(fabric, 0, 0, 1), E_FAULT);
    assert_int_equal(name_pieces(fabric, 0, 0, 0), E_OK);
    fabric_free(fabric);
}

static bool has_ended(struct fabric *fabric)
{
    return fabric->told[EVENT_ENDED] > 0;
}

TEST(programs_that_were_stopped_or_have_failed_have_left_something_too)
{
    struct fabric *fabric = fabric_started(2, DATA_BYTES, 9);
    struct left left = make_running(fabric, unequal);
    struct fault fault = {.kind = FAULT_DATA};

    leave_all(&left);
    node_fault(fabric->nodes[1].node, fabric->now_us, &fault);
    end_program(fabric, 2, ECUBE_CALL_ABORT); /* the others are stopped */
    assert_true(fabric_run(fabric, has_ended));
    gather(&left);
    check_gathered(&left);
    free_left(&left);
}

TEST(a_download_forgets_what_the_program_before_has_left)
{
    struct left left = make("cube:1", ipsc860, 4, small);

    assert_true(fabric_load(left.fabric));
    end_programs(left.fabric);
    assert_true(fabric_run(left.fabric, run_is_over));
    left.bytes[0] = left.bytes[1] = 0;
    left.total = 0;
    gather(&left);
    check_gathered(&left);
    free_left(&left);
}

static bool some_came(struct fabric *fabric)
{
    return fabric->controller.gather.lanes[0].receiving || fabric->controller.phase != PHASE_GATHER;
}

static bool is_quiet(struct fabric *fabric)
{
    return controller_quiet(&fabric->controller);
}

TEST(one_that_is_given_up_leaves_a_machine_that_takes_the_next_program)
{
    for (unsigned moment = 0; moment < 3; moment++) {
        struct left left = make("ring:5", ipsc860, 20 + moment, equal);
        struct fabric *fabric = left.fabric;

        left.collects = false;
        if (moment == 0) {
            assert_int_equal(controller_gather(&fabric->controller, fabric->now_us), CONTROLLER_OK);
        } else {
            gather(&left);
        }
        if (moment == 2) {
            struct controller_outputs outputs = {left.table, left.data, left.scratch};
            controller_collect(&fabric->controller, &outputs, fabric->now_us);
            assert_true(fabric_run(fabric, some_came));
        }
        controller_stop(&fabric->controller, fabric->now_us);
        assert_int_equal(fabric->controller.phase, PHASE_READY);
        fabric_settle(fabric);
        assert_true(fabric_run(fabric, is_quiet));
        assert_int_equal(fabric->told[EVENT_GATHER_FAILED], 1);
        assert_true(fabric_load(fabric));
        leave_all(&left);
        end_programs(fabric);
        assert_true(fabric_run(fabric, run_is_over));
        left.collects = true;
        gather(&left);
        check_gathered(&left);
        free_left(&left);
    }
}

/* The root of a range is told again to collect, or to send though it is not its turn; or any node
 * hears of the gather of another program. */
static void repeat(struct fabric *fabric, uint64_t *seed)
{
    const struct controller_gather *present = &fabric->controller.gather;
    uint32_t rank = memory_random(seed) % fabric->count, at = 0, count = 0;
    bool old = memory_random(seed) % 4 == 0;
    struct collect_body collect = {.name = present->name,
                                   .stage = memory_random(seed) % 2 ? COLLECT_GRANT : COLLECT_BEGIN,
                                   .generation = (uint8_t)(fabric->controller.generation - old),
                                   .base_ns = present->base_ns};
    uint8_t body[COLLECT_BYTES];

    while (at <= rank) {
        count = gather_range(&fabric->network, &present->plan, at);
        at += count;
    }
    collect.count = count;
    collect_pack(body, &collect);
    assert_in_range(-router_send(&fabric->controller.router, PACKET_COLLECT,
                                 old ? rank : at - count, body, sizeof body),
                    0, -E_FULL);
}

TEST(packets_that_come_twice_or_late_change_nothing)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct left left = make("cube:3", ipsc860, seed, unequal);
        struct fabric *fabric = left.fabric;
        struct controller_outputs outputs = {left.table, left.data, left.scratch};
        uint64_t random = seed * 77;

        left.collects = false;
        gather(&left);
        controller_collect(&fabric->controller, &outputs, fabric->now_us);
        for (unsigned i = 0; i < 3000 && !is_gathered(fabric); i++) {
            if (i % 8 == 0) {
                repeat(fabric, &random);
            }
            fabric_round(fabric);
            left.end = fabric->last_event;
        }
        assert_true(fabric_run(fabric, is_gathered));
        left.end = fabric->last_event;
        check_gathered(&left);
        assert_true(fabric_load(fabric));
        free_left(&left);
    }
}

static bool is_told(struct fabric *fabric)
{
    return fabric->told[EVENT_BROKEN] > 0;
}

TEST(a_link_that_dies_in_a_gather_ends_it_with_the_names_of_its_ends)
{
    unsigned ended = 0;

    for (unsigned round = 0; round < 60; round++) {
        struct left left = make("cube:2", ipsc860, 50 + round, equal);
        struct fabric *fabric = left.fabric;
        struct controller_outputs outputs = {left.table, left.data, left.scratch};
        uint32_t peer = 3 ^ 1u << round % 2;

        left.collects = false;
        gather(&left);
        controller_collect(&fabric->controller, &outputs, fabric->now_us);
        for (unsigned i = 0; i < round && fabric->controller.phase == PHASE_GATHER; i++) {
            fabric_round(fabric);
        }
        memory_link_cut(&fabric->nodes[3].ends[round % 2]);
        fabric_run(fabric, is_gathered);
        fabric_settle(fabric);
        if (fabric->told[EVENT_GATHERED] > 0) {
            check_outputs(&left);
        } else {
            ended++;
        }
        assert_true(fabric_run(fabric, is_told));
        assert_int_equal(fabric->told[EVENT_LINK_DIED], 1);
        assert_true(controller_link_is_dead(&fabric->controller, 3, peer));
        assert_int_equal(fabric->controller.dead_link_count, 1);
        free_left(&left);
    }
    assert_true(ended >= 10);
}

TEST(bytes_that_are_lost_or_damaged_are_sent_again)
{
    static const struct memory_fault faults = {.flip_per_million = 300, .drop_per_million = 300};

    for (unsigned round = 0; round < 8; round++) {
        struct left left = make_with("torus:3x3", ipsc860, 90 + round, faults, unequal);

        gather(&left);
        check_gathered(&left);
        free_left(&left);
    }
}
