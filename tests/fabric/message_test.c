/*
 * message_test.c - messages between programs: matching, order, sizes, errors; random traffic from
 * seeds.
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

static struct fabric *started(unsigned dims, uint64_t seed, struct memory_fault fault)
{
    struct fabric *fabric = fabric_make(dims, 4 << 20, seed, fault, ipsc860);

    assert_true(fabric_start(fabric));
    return fabric;
}

static int32_t send(struct fabric *fabric, unsigned from, int32_t to, int32_t tag, uint32_t at,
                    uint32_t bytes)
{
    return fabric_message(fabric, from, ECUBE_CALL_SEND, to, tag, at, bytes);
}

static int32_t receive(struct fabric *fabric, unsigned at_rank, int32_t from, int32_t tag,
                       uint32_t at, uint32_t bytes)
{
    return fabric_message(fabric, at_rank, ECUBE_CALL_RECEIVE, from, tag, at, bytes);
}

static void fill(struct fabric *fabric, unsigned rank, uint32_t at, uint32_t bytes, uint32_t salt)
{
    uint8_t *p = fabric_at(fabric, rank, at);

    for (uint32_t i = 0; i < bytes; i++) {
        p[i] = (uint8_t)(salt * 37 + i * 11 + (i >> 8));
    }
}

static void check(struct fabric *fabric, unsigned rank, uint32_t at, uint32_t bytes, uint32_t salt)
{
    const uint8_t *p = fabric_at(fabric, rank, at);

    for (uint32_t i = 0; i < bytes; i++) {
        assert_int_equal(p[i], (uint8_t)(salt * 37 + i * 11 + (i >> 8)));
    }
}

TEST(a_message_of_any_size_arrives_after_the_formulas_time)
{
    static const uint32_t sizes[] = {0, 1, 8, 1023, 1024, 1025, 4096, 100000, 1000000};

    struct fabric *fabric = started(4, 1, no_fault);
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t before = fabric_clock(fabric, 15); /* both have waited for the last one */
        assert_int_equal(fabric_clock(fabric, 0), before);
        fill(fabric, 0, FABRIC_DATA, sizes[i], i);
        int32_t s = send(fabric, 0, 15, 5, FABRIC_DATA, sizes[i]);
        int32_t r = receive(fabric, 15, 0, 5, FABRIC_DATA, sizes[i]);
        struct ecube_abi_result got = fabric_wait(fabric, 15, r);
        assert_int_equal(fabric_wait(fabric, 0, s).status, E_OK);
        assert_int_equal(got.status, E_OK);
        assert_int_equal(got.bytes, sizes[i]);
        assert_int_equal(got.peer, 0);
        check(fabric, 15, FABRIC_DATA, sizes[i], i);
        assert_int_equal(fabric_clock(fabric, 15) - before,
                         65425 + 4 * 9575 + (uint64_t)(4 + sizes[i] - 1) * 425);
        assert_int_equal(fabric_clock(fabric, 0), fabric_clock(fabric, 15));
    }
    fabric_free(fabric);
}

/* The second follows right behind the first, and the links of its path, which do not know yet when
 * they are free again, are counted all the same. */
TEST(messages_behind_each_other_take_the_time_of_one_after_the_other)
{
    enum { COUNT = 6, BYTES = 20000, HOPS = 3 };

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fabric *fabric = started(3, seed, no_fault);
        uint64_t start = fabric_clock(fabric, 7), expected = start + 65425 + HOPS * 9575;
        int32_t sends[COUNT], receives[COUNT];
        for (unsigned i = 0; i < COUNT; i++) {
            fill(fabric, 0, FABRIC_DATA + i * BYTES, BYTES, i);
            sends[i] = send(fabric, 0, 7, 1, FABRIC_DATA + i * BYTES, BYTES);
            receives[i] = receive(fabric, 7, 0, 1, FABRIC_DATA + i * BYTES, BYTES);
        }
        for (unsigned i = 0; i < COUNT; i++) {
            expected += (HOPS + BYTES - 1) * UINT64_C(425) + (i ? HOPS * UINT64_C(9575) : 0);
            assert_int_equal(fabric_wait(fabric, 7, receives[i]).done_ns, expected);
            assert_int_equal(fabric_wait(fabric, 0, sends[i]).done_ns, expected);
            check(fabric, 7, FABRIC_DATA + i * BYTES, BYTES, i);
        }
        fabric_free(fabric);
    }
}

TEST(messages_between_two_nodes_do_not_overtake)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct fabric *fabric = started(2, seed, no_fault);
        int32_t sends[24], receives[24];
        for (unsigned i = 0; i < 24; i++) {
            uint32_t bytes = i % 3 ? 100 + i : 5000 + i;
            fill(fabric, 0, FABRIC_DATA + i * 8192, bytes, i);
            sends[i] = send(fabric, 0, 3, 1, FABRIC_DATA + i * 8192, bytes);
        }
        for (unsigned round = 0; round < 50; round++) {
            fabric_round(fabric);
        }
        for (unsigned i = 0; i < 24; i++) {
            receives[i] = receive(fabric, 3, i % 2 ? 0 : ECUBE_ANY, i % 5 ? 1 : ECUBE_ANY,
                                  FABRIC_DATA + i * 8192, 8192);
        }
        for (unsigned i = 0; i < 24; i++) {
            uint32_t bytes = i % 3 ? 100 + i : 5000 + i;
            struct ecube_abi_result got = fabric_wait(fabric, 3, receives[i]);
            assert_int_equal(got.status, E_OK);
            assert_int_equal(got.bytes, bytes);
            check(fabric, 3, FABRIC_DATA + i * 8192, bytes, i);
        }
        for (unsigned i = 0; i < 24; i++) {
            assert_int_equal(fabric_wait(fabric, 0, sends[i]).status, E_OK);
        }
        fabric_free(fabric);
    }
}

TEST(a_message_longer_than_its_buffer_is_cut_and_said_to_be)
{
    static const uint32_t sizes[] = {100, 5000};

    struct fabric *fabric = started(1, 3, no_fault);
    for (unsigned i = 0; i < 2; i++) {
        fill(fabric, 0, FABRIC_DATA, sizes[i], 9);
        memset(fabric_at(fabric, 1, FABRIC_DATA), 0xee, 8192);
        int32_t s = send(fabric, 0, 1, 0, FABRIC_DATA, sizes[i]);
        int32_t r = receive(fabric, 1, 0, 0, FABRIC_DATA, 60);
        struct ecube_abi_result got = fabric_wait(fabric, 1, r);
        assert_int_equal(got.status, E_TRUNCATED);
        assert_int_equal(got.bytes, 60);
        assert_int_equal(fabric_wait(fabric, 0, s).status, E_OK);
        check(fabric, 1, FABRIC_DATA, 60, 9);
        assert_int_equal(((uint8_t *)fabric_at(fabric, 1, FABRIC_DATA))[60], 0xee);
    }
    fabric_free(fabric);
}

/* Its own, too: from the pool, or from where it lies. */
TEST(a_message_to_oneself_longer_than_its_buffer_is_cut_and_comes_when_it_was_sent)
{
    static const uint32_t sizes[] = {POOL_BYTES, POOL_BYTES + 1};

    struct fabric *fabric = started(1, 3, no_fault);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t bytes = sizes[i % 2];
        bool receive_first = i >= 2;
        int32_t r = 0;
        memset(fabric_at(fabric, 1, FABRIC_DATA + 4096), 0xee, 4096);
        if (receive_first) {
            r = receive(fabric, 1, 1, 0, FABRIC_DATA + 4096, 60);
        }
        assert_int_equal(fabric_advance(fabric, 1, 1000), E_OK);
        uint64_t issue_ns = fabric_clock(fabric, 1);
        fill(fabric, 1, FABRIC_DATA, bytes, i);
        int32_t s = send(fabric, 1, 1, 0, FABRIC_DATA, bytes);
        assert_int_equal(fabric_is_done(fabric, 1, s), receive_first || bytes <= POOL_BYTES);
        if (!receive_first) {
            r = receive(fabric, 1, 1, 0, FABRIC_DATA + 4096, 60);
        }
        struct ecube_abi_result got = fabric_wait(fabric, 1, r);
        assert_int_equal(got.status, E_TRUNCATED);
        assert_int_equal(got.done_ns, issue_ns);
        assert_int_equal(fabric_wait(fabric, 1, s).status, E_OK);
        check(fabric, 1, FABRIC_DATA + 4096, 60, i);
        assert_int_equal(((uint8_t *)fabric_at(fabric, 1, FABRIC_DATA + 4096))[60], 0xee);
    }
    fabric_free(fabric);
}

TEST(a_message_waits_in_model_time_for_its_receive)
{
    enum { BYTES = 2000, LATE_NS = 1000000 };

    struct fabric *fabric = started(1, 5, no_fault);
    int32_t s = send(fabric, 0, 1, 0, FABRIC_DATA, BYTES);
    fabric_settle(fabric);
    assert_int_equal(fabric_advance(fabric, 1, LATE_NS), E_OK);
    uint64_t ready_ns = fabric_clock(fabric, 1);
    int32_t r = receive(fabric, 1, 0, 0, FABRIC_DATA, BYTES);
    assert_int_equal(fabric_wait(fabric, 1, r).done_ns, ready_ns + UINT64_C(425) * BYTES);
    assert_int_equal(fabric_wait(fabric, 0, s).done_ns, ready_ns + UINT64_C(425) * BYTES);
    fabric_free(fabric);
}

TEST(a_node_can_send_to_itself)
{
    struct fabric *fabric = started(1, 4, no_fault);
    fill(fabric, 1, FABRIC_DATA, 3000, 2);
    int32_t s = send(fabric, 1, 1, 7, FABRIC_DATA, 3000);
    int32_t r = receive(fabric, 1, ECUBE_ANY, 7, FABRIC_DATA + 4096, 3000);
    assert_int_equal(fabric_wait(fabric, 1, r).status, E_OK);
    assert_int_equal(fabric_wait(fabric, 1, s).status, E_OK);
    check(fabric, 1, FABRIC_DATA + 4096, 3000, 2);
    fabric_free(fabric);
}

/* A short one is kept whatever the others have sent, so a blocking send returns; the next ones wait
 * for room, in order. */
TEST(a_node_full_of_messages_of_others_can_send_to_itself)
{
    enum { OTHERS = ECUBE_REQUESTS_MAX, OWN = 4 };
    static const uint32_t sizes[OWN] = {8, 12, 3000, 16};
    struct fabric *fabric = started(1, 7, no_fault);
    int32_t others[OTHERS], own[OWN], received = 0;

    for (int32_t i = 0; i < OTHERS; i++) {
        others[i] = send(fabric, 1, 0, i, FABRIC_DATA, 16);
    }
    for (unsigned round = 0; round < 2000; round++) {
        fabric_round(fabric);
    }
    for (unsigned i = 0; i < OWN; i++) {
        if (i == OWN - 1) { /* which makes room, and the last must not take it */
            received = receive(fabric, 0, 1, 0, FABRIC_DATA + 0x10000, 16);
        }
        fill(fabric, 0, FABRIC_DATA + i * 4096, sizes[i], i);
        own[i] = send(fabric, 0, 0, 99, FABRIC_DATA + i * 4096, sizes[i]);
        assert_true(own[i] >= 0);
    }
    assert_int_equal(fabric_wait(fabric, 0, own[0]).status, E_OK);
    for (int32_t i = 0; i < OTHERS; i++) {
        int32_t r = i ? receive(fabric, 0, 1, i, FABRIC_DATA + 0x10000, 16) : received;
        assert_int_equal(fabric_wait(fabric, 0, r).status, E_OK);
        assert_int_equal(fabric_wait(fabric, 1, others[i]).status, E_OK);
    }
    for (unsigned i = 0; i < OWN; i++) {
        int32_t r = receive(fabric, 0, 0, 99, FABRIC_DATA + 0x10000, 4096);
        assert_int_equal(fabric_wait(fabric, 0, r).bytes, sizes[i]);
        check(fabric, 0, FABRIC_DATA + 0x10000, sizes[i], i);
        assert_int_equal(i ? fabric_wait(fabric, 0, own[i]).status : E_OK, E_OK);
    }
    fabric_free(fabric);
}

TEST(impossible_requests_are_refused)
{
    struct fabric *fabric = started(1, 5, no_fault);
    assert_int_equal(send(fabric, 0, 2, 0, FABRIC_DATA, 4), E_ARGUMENT);
    assert_int_equal(send(fabric, 0, -1, 0, FABRIC_DATA, 4), E_ARGUMENT);
    assert_int_equal(send(fabric, 0, 1, -1, FABRIC_DATA, 4), E_ARGUMENT);
    assert_int_equal(send(fabric, 0, 1, 0, 0, 4), E_FAULT);
    assert_int_equal(send(fabric, 0, 1, 0, FABRIC_DATA, 0xfffffff0), E_FAULT);
    assert_int_equal(fabric_wait(fabric, 0, 63).status, E_ARGUMENT);
    assert_int_equal(fabric_wait(fabric, 0, 6400).status, E_ARGUMENT);
    for (unsigned i = 0; i < ECUBE_REQUESTS_MAX; i++) {
        assert_int_equal(receive(fabric, 0, 1, (int32_t)i, FABRIC_DATA, 4), i);
    }
    assert_int_equal(receive(fabric, 0, 1, 1000, FABRIC_DATA, 4), E_FULL);
    fabric_free(fabric);
}

/* The node's word of what its program does, when the host asks. */
static uint8_t doing(struct fabric *fabric, unsigned rank)
{
    fabric->event_count = 0;
    assert_int_equal(router_send(&fabric->controller.router, PACKET_QUERY, rank, NULL, 0), E_OK);
    fabric_settle(fabric);
    return fabric_heard_state(fabric).wait;
}

/* Sends that block return without a receive, and the last message is taken first. */
static void fill_and_empty(struct fabric *fabric)
{
    uint32_t *data = fabric_at(fabric, 0, FABRIC_DATA), *got = fabric_at(fabric, 1, FABRIC_DATA);

    for (uint32_t i = 0; i < UNEXPECTED_MAX; i++) {
        data[i * POOL_BYTES / 4] = i;
        int32_t request = send(fabric, 0, 1, (int32_t)i, FABRIC_DATA + i * POOL_BYTES, POOL_BYTES);
        assert_int_equal(fabric_wait(fabric, 0, request).status, E_OK);
    }
    for (uint32_t i = UNEXPECTED_MAX; i-- > 0;) {
        int32_t request = receive(fabric, 1, 0, (int32_t)i, FABRIC_DATA, POOL_BYTES);
        assert_int_equal(fabric_wait(fabric, 1, request).status, E_OK);
        assert_int_equal(*got, i);
    }
}

/* Again and again: each leaves its place to another. */
TEST(as_many_short_messages_as_are_stored_are_received_in_any_order)
{
    struct fabric *fabric = started(1, 1, no_fault);
    for (unsigned i = 0; i < 3; i++) {
        fill_and_empty(fabric);
    }
    fabric_free(fabric);
}

/* A node that has the next program already: neither a short nor a long one is kept for that. */
TEST(a_message_of_the_program_before_is_not_for_the_next)
{
    enum { TAG = UNEXPECTED_MAX }; /* none of those of fill_and_empty */
    static const uint32_t sizes[] = {8, POOL_BYTES, POOL_BYTES + 1, 5000};

    struct fabric *fabric = started(1, 1, no_fault);
    /* Written: the host loads no node while another one's program runs. */
    uint8_t *generation = &fabric->nodes[1].node->load.generation;
    ++*generation;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int32_t request = send(fabric, 0, 1, TAG, FABRIC_DATA, sizes[i]);
        assert_int_equal(fabric_wait(fabric, 0, request).status, E_PEER_GONE);
    }
    int32_t early = receive(fabric, 1, 0, TAG, FABRIC_DATA, 5000);
    fabric_settle(fabric);
    assert_false(fabric_is_done(fabric, 1, early));
    --*generation;
    fill_and_empty(fabric); /* all places are free */
    fabric_free(fabric);
}

TEST(a_program_sleeps_until_its_time_and_its_node_does_not)
{
    struct fabric *fabric = started(2, 1, no_fault);
    struct node *sleeper = fabric->nodes[1].node;
    uint64_t end_ns = (fabric->now_us + 5000000) * 1000 + 1;
    uint32_t arguments[4] = {(uint32_t)end_ns, (uint32_t)(end_ns >> 32)};
    int32_t result = E_TIMEOUT;
    assert_true(node_wake_us(sleeper) == UINT64_MAX);
    assert_int_equal(node_call(sleeper, fabric->now_us, ECUBE_CALL_SLEEP, arguments, &result),
                     NODE_BLOCK);
    assert_int_equal(node_wake_us(sleeper), end_ns / 1000 + 1);
    assert_int_equal(doing(fabric, 1), WAIT_SLEEP);
    int32_t request = send(fabric, 0, 3, 3, FABRIC_DATA, 5000); /* by way of node 1 */
    assert_int_equal(fabric_wait(fabric, 3, receive(fabric, 3, 0, 3, FABRIC_DATA, 5000)).status,
                     E_OK);
    assert_int_equal(fabric_wait(fabric, 0, request).status, E_OK);
    assert_int_equal(node_resume(sleeper, end_ns / 1000, &result), NODE_BLOCK);
    assert_int_equal(node_resume(sleeper, end_ns / 1000 + 1, &result), NODE_RESUME);
    assert_int_equal(result, E_OK);
    assert_true(node_wake_us(sleeper) == UINT64_MAX);
    assert_int_equal(doing(fabric, 1), WAIT_NOTHING);
    fabric_free(fabric);
}

TEST(computing_never_wraps_the_model_clock)
{
    struct fabric *fabric = started(1, 1, no_fault);
    uint64_t before = fabric_clock(fabric, 0);
    assert_int_equal(fabric_advance(fabric, 0, UINT64_MAX), E_ARGUMENT);
    assert_int_equal(fabric_advance(fabric, 0, INT64_MAX - before + 1), E_ARGUMENT);
    assert_int_equal(fabric_clock(fabric, 0), before);
    assert_int_equal(fabric_advance(fabric, 0, INT64_MAX - before), E_OK);
    assert_int_equal(fabric_clock(fabric, 0), INT64_MAX);
    int32_t request = send(fabric, 0, 1, 3, FABRIC_DATA, 8);
    assert_int_equal(fabric_wait(fabric, 1, receive(fabric, 1, 0, 3, FABRIC_DATA, 8)).status, E_OK);
    assert_int_equal(fabric_wait(fabric, 0, request).status, E_OK);
    assert_int_equal(fabric_clock(fabric, 1), (uint64_t)INT64_MAX + 65425 + 9575 + 8 * 425);
    assert_int_equal(fabric_advance(fabric, 1, 0), E_ARGUMENT);
    fabric_free(fabric);
}

/* Every node sends to every other, more than pools and queues hold, before anyone receives. */
TEST(a_flood_of_unexpected_messages_loses_nothing)
{
    struct fabric *fabric = started(4, 6, no_fault);
    int32_t sends[16][3];
    for (unsigned rank = 1; rank < 16; rank++) {
        for (unsigned i = 0; i < 3; i++) {
            fill(fabric, rank, FABRIC_DATA + i * 4096, 500 + 1000 * i, rank * 3 + i);
            sends[rank][i] =
                send(fabric, rank, 0, (int32_t)i, FABRIC_DATA + i * 4096, 500 + 1000 * i);
        }
    }
    for (unsigned round = 0; round < 2000; round++) {
        fabric_round(fabric);
    }
    for (unsigned rank = 15; rank >= 1; rank--) {
        for (unsigned i = 0; i < 3; i++) {
            int32_t r = receive(fabric, 0, (int32_t)rank, (int32_t)i, FABRIC_DATA, 4096);
            struct ecube_abi_result got = fabric_wait(fabric, 0, r);
            assert_int_equal(got.status, E_OK);
            assert_int_equal(got.bytes, 500 + 1000 * i);
            check(fabric, 0, FABRIC_DATA, 500 + 1000 * i, rank * 3 + i);
        }
    }
    for (unsigned rank = 1; rank < 16; rank++) {
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(fabric_wait(fabric, rank, sends[rank][i]).status, E_OK);
        }
    }
    fabric_free(fabric);
}

/* Each node sends `count` messages of random size to random nodes, in rounds; all are checked. */
static void random_traffic(unsigned dims, uint64_t seed, struct memory_fault fault)
{
    enum { COUNT = 10, ROOM = 20000 };
    struct fabric *fabric = started(dims, seed, fault);
    struct plan {
        unsigned from, to;
        uint32_t bytes;
        int32_t send, receive;
    } plans[32 * COUNT];
    unsigned used[32] = {0}, total = 0;

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        for (unsigned i = 0; i < COUNT; i++) {
            struct plan *plan = &plans[total];
            plan->from = rank;
            plan->to = memory_random(&fabric->seed) % fabric->count;
            plan->bytes = memory_random(&fabric->seed) % (i % 2 ? 600 : ROOM);
            if (used[plan->to] >= 40) {
                continue;
            }
            used[plan->to]++;
            total++;
        }
    }
    for (unsigned i = 0; i < total; i++) {
        struct plan *plan = &plans[i];
        uint32_t at = FABRIC_DATA + i % 60 * ROOM;
        fill(fabric, plan->from, at, plan->bytes, i);
        plan->send = send(fabric, plan->from, (int32_t)plan->to, (int32_t)i, at, plan->bytes);
        assert_true(plan->send >= 0);
        if (memory_random(&fabric->seed) % 2) {
            fabric_round(fabric);
        }
    }
    unsigned slot[32] = {0};
    for (unsigned i = 0; i < total; i++) {
        struct plan *plan = &plans[total - 1 - i];
        uint32_t at = FABRIC_DATA + (60 + slot[plan->to]++) * ROOM;
        plan->receive =
            receive(fabric, plan->to, (int32_t)plan->from, (int32_t)(total - 1 - i), at, ROOM);
        assert_true(plan->receive >= 0);
    }
    memset(slot, 0, sizeof slot);
    for (unsigned i = 0; i < total; i++) {
        struct plan *plan = &plans[total - 1 - i];
        struct ecube_abi_result got = fabric_wait(fabric, plan->to, plan->receive);
        assert_int_equal(got.status, E_OK);
        assert_int_equal(got.bytes, plan->bytes);
        check(fabric, plan->to, FABRIC_DATA + (60 + slot[plan->to]++) * ROOM, plan->bytes,
              total - 1 - i);
        assert_int_equal(fabric_wait(fabric, plan->from, plan->send).status, E_OK);
    }
    fabric_free(fabric);
}

TEST(random_traffic_arrives_whole_for_many_seeds)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        random_traffic(3 + (unsigned)(seed % 3), seed, no_fault);
    }
}

TEST(random_traffic_survives_damage_and_loss)
{
    struct memory_fault fault = {.flip_per_million = 10000, .drop_per_million = 10000};

    for (uint64_t seed = 1; seed <= 8; seed++) {
        random_traffic(3, seed, fault);
    }
}

/* STOP has no body; copying nothing from nowhere is undefined. */
TEST(a_packet_without_a_body_is_sent)
{
    struct fabric *fabric = started(1, 1, no_fault);
    assert_int_equal(router_send(&fabric->controller.router, PACKET_STOP, 1, NULL, 0), E_OK);
    fabric_settle(fabric);
    assert_false(node_program_runs(fabric->nodes[1].node));
    assert_int_equal(fabric_count_events(fabric, PACKET_EXIT), 1);
    fabric_free(fabric);
}
