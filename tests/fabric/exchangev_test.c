/*
 * exchangev_test.c - the complete exchange with a size for every pair: data, model time by replay
 * of each circuit's own bytes, and what all nodes hear when two of them differ.
 */
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

enum {
    NODES_MAX = 32,
    BLOCK_MAX = 6000,
    SPACE_BYTES = NODES_MAX * BLOCK_MAX,
    TABLE_BYTES = NODES_MAX * sizeof(struct ecube_block),
    SEND = FABRIC_DATA,
    RECEIVE = SEND + SPACE_BYTES,
    SEND_TABLE = RECEIVE + SPACE_BYTES,
    RECEIVE_TABLE = SEND_TABLE + TABLE_BYTES,
    DATA_BYTES = 2 * (SPACE_BYTES + TABLE_BYTES)
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;
static const struct ecube_abi_collective call = {.operation = ECUBE_EXCHANGEV,
                                                 .block_bytes = ECUBE_EXCHANGEV_BYTES,
                                                 .send = SEND,
                                                 .receive = RECEIVE,
                                                 .send_blocks = SEND_TABLE,
                                                 .receive_blocks = RECEIVE_TABLE};

static uint32_t sizes[NODES_MAX * NODES_MAX]; /* [from * nodes + to] */

static uint32_t *size_of(const struct fabric *fabric, uint32_t from, uint32_t to)
{
    return &sizes[from * fabric->count + to];
}

static uint32_t drawn(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33);
}

/* A third of all blocks is empty, a third rides in its OPEN, the others are long. */
static void draw_sizes(const struct fabric *fabric, uint64_t seed)
{
    for (uint32_t i = 0; i < fabric->count * fabric->count; i++) {
        uint32_t draw = drawn(&seed);
        sizes[i] = draw % 3 == 0 ? 0 : draw / 3 % (draw % 3 == 1 ? 900 : BLOCK_MAX);
    }
}

static uint8_t pattern(uint32_t from, uint32_t to, uint32_t i)
{
    return (uint8_t)(from * 31 + to * 17 + i * 7 + (i >> 8) + 1);
}

/* Blocks lie without gaps: those sent upwards, those received downwards, so no table is the other's
 * picture. */
static void prepare(struct fabric *fabric, uint32_t rank)
{
    struct ecube_block *send = fabric_at(fabric, rank, SEND_TABLE);
    struct ecube_block *receive = fabric_at(fabric, rank, RECEIVE_TABLE);
    uint8_t *data = fabric_at(fabric, rank, SEND);
    uint32_t up = 0, down = 0;

    memset(fabric_at(fabric, rank, RECEIVE), 0, SPACE_BYTES);
    for (uint32_t k = 0; k < fabric->count; k++) {
        uint32_t back = fabric->count - 1 - k;
        send[k] = (struct ecube_block){up, *size_of(fabric, rank, k)};
        for (uint32_t i = 0; i < send[k].bytes; i++) {
            data[up + i] = pattern(rank, k, i);
        }
        up += send[k].bytes;
        receive[back] = (struct ecube_block){down, *size_of(fabric, back, rank)};
        down += receive[back].bytes;
    }
}

static void block_is_right(struct fabric *fabric, uint32_t from, uint32_t to)
{
    const struct ecube_block *receive = fabric_at(fabric, to, RECEIVE_TABLE);
    const uint8_t *data = fabric_at(fabric, to, RECEIVE + receive[from].at);

    for (uint32_t i = 0; i < receive[from].bytes; i++) {
        if (data[i] != pattern(from, to, i)) {
            fail_msg("byte %u of %u from %u to %u", i, receive[from].bytes, from, to);
        }
    }
}

static void all_call(struct fabric *fabric, const struct ecube_abi_collective *what,
                     const int *status)
{
    int32_t requests[NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, what);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status,
                         status ? status[rank] : E_OK);
    }
    fabric_settle(fabric);
}

static uint64_t latest_clock(struct fabric *fabric)
{
    uint64_t latest_ns = 0;

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        latest_ns = clock_max(latest_ns, fabric_clock(fabric, rank));
    }
    return latest_ns;
}

/* What the exchange takes with these sizes by one of its algorithms; 0: the network has it not. */
static uint64_t predicted_ns(const struct fabric *fabric, const char *algorithm)
{
    const struct plan_request request = {.operation = ECUBE_EXCHANGEV,
                                         .bytes = ECUBE_EXCHANGEV_BYTES,
                                         .algorithm = algorithm,
                                         .profile = &ipsc860};
    struct plan_fault fault;
    struct plan *plan = plan_make(&fabric->network, &request, &fault);

    if (!plan) {
        return 0;
    }
    struct plan_time time = plan_time_sized(plan, sizes, &ipsc860);
    assert_true(time.bound_ns <= time.model_ns);
    plan_free(plan);
    return time.model_ns;
}

static void exchange(struct fabric *fabric, const char *algorithm)
{
    static const struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
    struct ecube_abi_collective mine = call;
    uint64_t expected_ns = predicted_ns(fabric, algorithm);

    if (algorithm && !expected_ns) {
        return;
    }
    mine.choice = ecube_choice(algorithm);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        prepare(fabric, rank);
    }
    all_call(fabric, &align, NULL);
    uint64_t begin_ns = latest_clock(fabric);
    all_call(fabric, &mine, NULL);
    assert_int_equal(latest_clock(fabric) - begin_ns, expected_ns);
    for (uint32_t from = 0; from < fabric->count; from++) {
        for (uint32_t to = 0; to < fabric->count; to++) {
            block_is_right(fabric, from, to);
        }
    }
}

TEST(blocks_of_all_sizes_arrive_in_the_predicted_time)
{
    static const char *const networks[] = {"ring:1", "ring:2",     "cube:3",   "cube:4",
                                           "ring:5", "mesh:1x7",   "mesh:3x4", "torus:4x4",
                                           "cube:5", "torus:3x3x2"};
    static const char *const algorithms[] = {NULL, "AAP", "AAP ahead", "direct", "rounds"};

    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct fabric *fabric =
            fabric_make_named(networks[i], DATA_BYTES, 7 + i, no_fault, ipsc860);
        assert_true(fabric_start(fabric));
        for (unsigned a = 0; a < sizeof algorithms / sizeof algorithms[0]; a++) {
            draw_sizes(fabric, 100 * i + a);
            exchange(fabric, algorithms[a]);
        }
        fabric_free(fabric);
    }
}

static struct fabric *started(const char *network)
{
    struct fabric *fabric = fabric_make_named(network, DATA_BYTES, 3, no_fault, ipsc860);

    assert_true(fabric_start(fabric));
    draw_sizes(fabric, 5);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        prepare(fabric, rank);
    }
    return fabric;
}

/* Two nodes disagree on a block of this size: all hear that, the host both sizes, all other data is
 * right, nothing is written behind the block, and the next exchange works. */
static void differ(const char *network, uint32_t from, uint32_t to, uint32_t sent, uint32_t wanted)
{
    struct fabric *fabric = started(network);
    int status[NODES_MAX];
    uint64_t begin_ns = latest_clock(fabric);

    *size_of(fabric, from, to) = sent;
    prepare(fabric, from);
    *size_of(fabric, from, to) = wanted;
    prepare(fabric, to);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        status[rank] = E_MISMATCH;
    }
    all_call(fabric, &call, status);
    assert_true(latest_clock(fabric) > begin_ns);
    for (uint32_t a = 0; a < fabric->count; a++) {
        for (uint32_t b = 0; b < fabric->count; b++) {
            if (a != from || b != to) {
                block_is_right(fabric, a, b);
            }
        }
    }
    assert_int_equal(fabric->told[EVENT_DISAGREE], 1);
    const struct controller_event *event = &fabric->last_event;
    assert_int_equal(event->rank, to);
    assert_int_equal(event->peer, from);
    assert_int_equal(event->disagree.first.bytes, wanted);
    assert_int_equal(event->disagree.first.digest, sent);
    *size_of(fabric, from, to) = 77;
    exchange(fabric, NULL);
    fabric_free(fabric);
}

TEST(sizes_that_differ_are_heard_of_by_all)
{
    differ("cube:3", 2, 5, 100, 101);
    differ("cube:3", 5, 2, 101, 100);
    differ("cube:3", 0, 7, 0, 1);
    differ("cube:3", 7, 0, 5000, 0);
    differ("ring:5", 4, 1, 3000, 5999);
    differ("mesh:3x4", 0, 1, 5999, 3000);
    differ("ring:2", 0, 1, 2000, 1999);
}

TEST(a_block_of_its_own_must_fit_too)
{
    struct fabric *fabric = started("ring:5");
    struct ecube_block *receive = fabric_at(fabric, 3, RECEIVE_TABLE);
    const int status[] = {E_MISMATCH, E_MISMATCH, E_MISMATCH, E_MISMATCH, E_MISMATCH};

    receive[3].bytes++;
    all_call(fabric, &call, status);
    assert_int_equal(fabric->last_event.rank, 3);
    assert_int_equal(fabric->last_event.peer, 3);
    fabric_free(fabric);
}

/* Several pairs differ: the host hears of the one whose receiver is the lowest. */
TEST(of_several_pairs_that_differ_one_is_told)
{
    struct fabric *fabric = started("cube:3");
    const int status[] = {E_MISMATCH, E_MISMATCH, E_MISMATCH, E_MISMATCH,
                          E_MISMATCH, E_MISMATCH, E_MISMATCH, E_MISMATCH};
    const uint32_t pairs[][2] = {{1, 6}, {6, 2}, {4, 5}};

    for (unsigned i = 0; i < 3; i++) {
        struct ecube_block *send = fabric_at(fabric, pairs[i][0], SEND_TABLE);
        send[pairs[i][1]].bytes ^= 1;
    }
    all_call(fabric, &call, status);
    assert_int_equal(fabric->last_event.rank, 2);
    assert_int_equal(fabric->last_event.peer, 6);
    fabric_free(fabric);
}

/* What one node cannot do fails at all, before anything moves. */
static void fails_at_all(uint32_t field, uint32_t index, struct ecube_block wrong, int status)
{
    struct fabric *fabric = started("mesh:3x4");
    struct ecube_block *blocks = fabric_at(fabric, 6, field);
    struct ecube_block was = blocks[index];
    int all[NODES_MAX];
    uint64_t begin_ns = latest_clock(fabric);

    blocks[index] = wrong;
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        all[rank] = rank == 6 ? status : E_ELSEWHERE;
    }
    all_call(fabric, &call, all);
    assert_int_equal(latest_clock(fabric), begin_ns);
    assert_int_equal(fabric->last_event.rank, 6);
    assert_int_equal(fabric->last_event.status, status);
    blocks[index] = was;
    exchange(fabric, NULL);
    fabric_free(fabric);
}

TEST(a_block_outside_memory_fails_at_all_nodes)
{
    fails_at_all(SEND_TABLE, 2, (struct ecube_block){1 << 30, 1}, E_FAULT);
    fails_at_all(SEND_TABLE, 2, (struct ecube_block){UINT32_MAX, UINT32_MAX}, E_FAULT);
    fails_at_all(RECEIVE_TABLE, 0, (struct ecube_block){0, UINT32_MAX}, E_FAULT);
    fails_at_all(SEND_TABLE, 0, (struct ecube_block){SPACE_BYTES - 10, 20}, E_ARGUMENT);
    fails_at_all(RECEIVE_TABLE, 11, (struct ecube_block){-(uint32_t)SPACE_BYTES, 1}, E_FAULT);
}

TEST(a_table_outside_memory_fails_at_all_nodes)
{
    struct fabric *fabric = started("cube:3");
    struct ecube_abi_collective wrong = call;
    int32_t requests[NODES_MAX];

    wrong.receive_blocks = 0;
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, rank == 5 ? &wrong : &call);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status,
                         rank == 5 ? E_FAULT : E_ELSEWHERE);
    }
    fabric_free(fabric);
}

/* The program writes into its tables while the exchange is under way: nothing outside its memory is
 * read or written, and all nodes hear of an error. */
TEST(a_table_that_changes_is_looked_at_again)
{
    struct fabric *fabric = started("ring:5");
    int32_t requests[NODES_MAX];
    struct ecube_block *send = fabric_at(fabric, 2, SEND_TABLE);

    for (uint32_t rank = 1; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, &call);
    }
    fabric_settle(fabric);
    for (uint32_t to = 0; to < fabric->count; to++) {
        send[to] = (struct ecube_block){1u << 31, BLOCK_MAX};
    }
    requests[0] = fabric_collective(fabric, 0, &call);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        int status = fabric_wait(fabric, rank, requests[rank]).status;
        if (rank == 2) {
            assert_int_equal(status, E_FAULT);
        } else { /* an empty block came where another was expected */
            assert_true(status == E_ELSEWHERE || status == E_MISMATCH);
        }
    }
    fabric_free(fabric);
}

/* Another collective behind it, and messages, come after both of its entries. */
TEST(what_comes_behind_it_waits_for_it)
{
    static const struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
    struct fabric *fabric = started("torus:3x3x2");
    int32_t first[NODES_MAX], second[NODES_MAX], third[NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        first[rank] = fabric_collective(fabric, rank, &call);
        second[rank] = fabric_collective(fabric, rank, &barrier);
        third[rank] = fabric_collective(fabric, rank, &call);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        uint64_t done_ns = fabric_wait(fabric, rank, first[rank]).done_ns;
        struct ecube_abi_result next = fabric_wait(fabric, rank, second[rank]);
        assert_int_equal(next.status, E_OK);
        assert_true(next.done_ns > done_ns);
        assert_int_equal(fabric_wait(fabric, rank, third[rank]).status, E_OK);
    }
    fabric_free(fabric);
}

/* A program ends while its exchange is under way, at any moment: the node goes through both
 * entries, and who enters another collective hears that it is gone. */
TEST(a_program_may_end_meanwhile)
{
    static const struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};

    for (unsigned rounds = 0; rounds < 120; rounds += 3) {
        struct fabric *fabric = started("ring:5");
        int32_t first[NODES_MAX], second[NODES_MAX], result;
        for (uint32_t rank = 0; rank < fabric->count; rank++) {
            first[rank] = fabric_collective(fabric, rank, &call);
        }
        for (unsigned i = 0; i < rounds; i++) {
            fabric_round(fabric);
        }
        uint32_t arguments[4] = {0};
        node_call(fabric->nodes[3].node, fabric->now_us, ECUBE_CALL_EXIT, arguments, &result);
        for (uint32_t rank = 0; rank < fabric->count; rank++) {
            if (rank != 3) {
                second[rank] = fabric_collective(fabric, rank, &barrier);
            }
        }
        for (uint32_t rank = 0; rank < fabric->count; rank++) {
            if (rank == 3) {
                continue;
            }
            assert_int_equal(fabric_wait(fabric, rank, first[rank]).status, E_OK);
            assert_int_equal(fabric_wait(fabric, rank, second[rank]).status, E_PEER_GONE);
            block_is_right(fabric, 3, rank);
        }
        fabric_settle(fabric);
        fabric_free(fabric);
    }
}

/* The first entry fails, and a program has ended before: the closure is of the epoch behind that
 * entry, not of the second one that never was. */
TEST(a_program_may_end_before_an_entry_that_fails)
{
    static const struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
    struct fabric *fabric = started("ring:5");
    int32_t first[NODES_MAX], second[NODES_MAX], result;
    uint32_t arguments[4] = {0};

    for (uint32_t rank = 1; rank < fabric->count; rank++) {
        first[rank] = fabric_collective(fabric, rank, &call);
    }
    fabric_settle(fabric);
    node_call(fabric->nodes[3].node, fabric->now_us, ECUBE_CALL_EXIT, arguments, &result);
    fabric_settle(fabric);
    first[0] = fabric_collective(fabric, 0, &barrier);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        if (rank != 3) {
            assert_int_equal(fabric_wait(fabric, rank, first[rank]).status, E_MISMATCH);
            second[rank] = fabric_collective(fabric, rank, &barrier);
        }
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        if (rank != 3) {
            assert_int_equal(fabric_wait(fabric, rank, second[rank]).status, E_PEER_GONE);
        }
    }
    fabric_free(fabric);
}
