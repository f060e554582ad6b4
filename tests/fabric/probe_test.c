/*
 * probe_test.c - programs that look for a message before they receive it: they see what a receive
 * would take, and leave it where it is.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/router.h"
#include "sim/core/random.h"
#include "tests/fabric/fabric.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"

enum {
    PROBE = FABRIC_DATA,
    BUFFERS = PROBE + 4096,
    BUFFER = 4096,
    LONG = 3000,
    DATA_BYTES = 1 << 20,
    TRIALS = 300
};

static void put_probe(struct fabric *fabric, int32_t peer, int32_t tag, uint32_t poll)
{
    struct ecube_abi_probe probe = {.peer = peer, .tag = tag, .poll = poll};

    memcpy(fabric_at(fabric, 0, PROBE), &probe, sizeof probe);
}

static struct ecube_abi_result probed(struct fabric *fabric)
{
    struct ecube_abi_probe probe;

    memcpy(&probe, fabric_at(fabric, 0, PROBE), sizeof probe);
    return probe.result;
}

static int32_t probes(struct fabric *fabric, int32_t peer, int32_t tag, uint32_t poll)
{
    put_probe(fabric, peer, tag, poll);
    return fabric_call(fabric, 0, ECUBE_CALL_PROBE, PROBE, 0);
}

static int32_t sends(struct fabric *fabric, unsigned rank, int32_t tag, uint32_t bytes)
{
    return fabric_message(fabric, rank, ECUBE_CALL_SEND, 0, tag, BUFFERS, bytes);
}

static struct ecube_abi_result receives(struct fabric *fabric, int32_t peer, int32_t tag)
{
    int32_t request =
        fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, peer, tag, BUFFERS + BUFFER, BUFFER);

    return fabric_wait(fabric, 0, request);
}

static void expect_message(struct ecube_abi_result result, int32_t peer, int32_t tag,
                           uint32_t bytes)
{
    assert_int_equal(result.status, E_OK);
    assert_int_equal(result.peer, peer);
    assert_int_equal(result.tag, tag);
    assert_int_equal(result.bytes, bytes);
}

TEST(a_probe_waits_for_a_message_and_leaves_it_to_its_receive)
{
    static const uint32_t sizes[] = {0, 1, 1024, 1025, LONG};

    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int32_t sent = sends(fabric, 1, (int32_t)i, sizes[i]);
        for (unsigned again = 0; again < 2; again++) {
            assert_int_equal(
                probes(fabric, again ? 1 : ECUBE_ANY, again ? (int32_t)i : ECUBE_ANY, 0), 1);
            expect_message(probed(fabric), 1, (int32_t)i, sizes[i]);
        }
        expect_message(receives(fabric, 1, (int32_t)i), 1, (int32_t)i, sizes[i]);
        assert_int_equal(fabric_wait(fabric, 1, sent).status, E_OK);
        assert_int_equal(probes(fabric, ECUBE_ANY, ECUBE_ANY, 1), 0);
    }
    fabric_free(fabric);
}

TEST(a_probe_sees_the_oldest_message_that_fits)
{
    struct fabric *fabric = fabric_started(2, DATA_BYTES, 1);
    assert_int_equal(fabric_wait(fabric, 1, sends(fabric, 1, 5, 10)).status, E_OK);
    assert_int_equal(fabric_wait(fabric, 2, sends(fabric, 2, 6, 20)).status, E_OK);
    assert_int_equal(fabric_wait(fabric, 1, sends(fabric, 1, 6, 30)).status, E_OK);
    assert_true(sends(fabric, 1, 6, LONG) >= 0);
    fabric_settle(fabric);
    assert_int_equal(probes(fabric, ECUBE_ANY, ECUBE_ANY, 0), 1);
    expect_message(probed(fabric), 1, 5, 10);
    assert_int_equal(probes(fabric, ECUBE_ANY, 6, 0), 1);
    expect_message(probed(fabric), 2, 6, 20);
    assert_int_equal(probes(fabric, 1, 6, 0), 1);
    expect_message(probed(fabric), 1, 6, 30);
    expect_message(receives(fabric, 1, 6), 1, 6, 30);
    assert_int_equal(probes(fabric, 1, 6, 0), 1);
    expect_message(probed(fabric), 1, 6, LONG);
    assert_int_equal(probes(fabric, 3, ECUBE_ANY, 1), 0);
    assert_int_equal(probes(fabric, 2, 5, 1), 0);
    fabric_free(fabric);
}

/* A receive that is posted takes its message; it was never there for a probe. */
TEST(a_probe_does_not_see_what_a_posted_receive_takes)
{
    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    int32_t posted =
        fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, 1, ECUBE_ANY, BUFFERS + BUFFER, BUFFER);
    assert_true(sends(fabric, 1, 1, LONG) >= 0);
    assert_true(sends(fabric, 1, 2, 100) >= 0);
    assert_int_equal(probes(fabric, 1, ECUBE_ANY, 0), 1);
    expect_message(probed(fabric), 1, 2, 100);
    expect_message(fabric_wait(fabric, 0, posted), 1, 1, LONG);
    fabric_free(fabric);
}

/* The CTS for the first message has found no slot: it is the posted receive's all the same. */
TEST_WITH(a_message_whose_receive_waits_for_a_slot_is_not_seen, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    neighbour_is_queued(all, 1, 11);
    node_fills_slots(all);
    put_probe(all->fabric, ECUBE_ANY, ECUBE_ANY, 1);
    assert_int_equal(fabric_call(all->fabric, 0, ECUBE_CALL_PROBE, PROBE, 0), 1);
    int32_t posted = node_receives(all, ECUBE_ANY, BUFFERS);
    assert_int_equal(node_request(all, posted)->state, STATE_QUEUED);
    assert_int_equal(all->node->unexpected_count, 1);
    put_probe(all->fabric, ECUBE_ANY, ECUBE_ANY, 1);
    assert_null(match_probe(all->node, ECUBE_ANY, ECUBE_ANY));
    /* given up, it leaves the message to the next one */
    assert_int_equal(fabric_call(all->fabric, 0, ECUBE_CALL_CANCEL, (uint32_t)posted, 0), E_OK);
    assert_non_null(match_probe(all->node, 1, NEIGHBOUR_TAG));
}

TEST(what_a_probe_has_seen_the_same_receive_gets)
{
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        uint64_t random = seed;
        static struct fabric *fabric;
        if (!fabric) {
            fabric = fabric_started(2, DATA_BYTES, seed);
        }
        unsigned count = 1 + random_below(&random, 6);
        for (unsigned i = 0; i < count; i++) {
            assert_true(sends(fabric, 1 + random_below(&random, 3),
                              (int32_t)random_below(&random, 3),
                              random_below(&random, 2) ? LONG + i : i) >= 0);
        }
        for (unsigned rounds = random_below(&random, 40); rounds > 0; rounds--) {
            fabric_round(fabric);
        }
        for (unsigned i = 0; i < count; i++) {
            bool any_peer = random_below(&random, 2), any_tag = random_below(&random, 2);
            assert_int_equal(probes(fabric, ECUBE_ANY, ECUBE_ANY, 0), 1);
            struct ecube_abi_result seen = probed(fabric);
            if (random_below(&random, 2)) {
                fabric_round(fabric); /* what comes meanwhile is younger */
            }
            expect_message(
                receives(fabric, any_peer ? ECUBE_ANY : seen.peer, any_tag ? ECUBE_ANY : seen.tag),
                seen.peer, seen.tag, seen.bytes);
        }
        for (unsigned rank = 1; rank <= 3; rank++) {
            for (int32_t i = 0; i < ECUBE_REQUESTS_MAX; i++) {
                if (fabric->nodes[rank].node->requests[i].kind != REQUEST_FREE) {
                    assert_int_equal(fabric_wait(fabric, rank, i).status, E_OK);
                }
            }
        }
        assert_int_equal(probes(fabric, ECUBE_ANY, ECUBE_ANY, 1), 0);
        if (seed == TRIALS) {
            fabric_free(fabric);
        }
    }
}

TEST(a_message_to_oneself_is_seen)
{
    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    assert_int_equal(probes(fabric, 0, 3, 1), 0);
    assert_true(sends(fabric, 0, 3, 40) >= 0);
    assert_int_equal(probes(fabric, 0, 3, 0), 1);
    expect_message(probed(fabric), 0, 3, 40);
    assert_true(sends(fabric, 0, 4, LONG) >= 0);
    assert_int_equal(probes(fabric, 0, 4, 1), 1);
    expect_message(probed(fabric), 0, 4, LONG);
    fabric_free(fabric);
}

/* Of a short message, which has been received by the node; the question of a long one takes none.
 */
TEST(the_model_clock_waits_for_the_message_that_is_seen)
{
    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    uint64_t before_ns = fabric_clock(fabric, 0);
    assert_int_equal(fabric_advance(fabric, 1, 5000000), E_OK);
    assert_true(sends(fabric, 1, 1, LONG) >= 0);
    assert_int_equal(probes(fabric, 1, 1, 0), 1);
    assert_true(fabric_clock(fabric, 0) == before_ns);
    expect_message(receives(fabric, 1, 1), 1, 1, LONG);
    assert_true(fabric_clock(fabric, 0) > before_ns + 5000000);
    before_ns = fabric_clock(fabric, 0);
    assert_int_equal(fabric_advance(fabric, 1, 9000000), E_OK);
    assert_true(sends(fabric, 1, 2, 100) >= 0);
    assert_int_equal(probes(fabric, 1, 2, 0), 1);
    uint64_t seen_ns = fabric_clock(fabric, 0);
    assert_true(seen_ns > before_ns && seen_ns == probed(fabric).done_ns);
    assert_true(receives(fabric, 1, 2).done_ns == seen_ns);
    fabric_free(fabric);
}

static enum node_verdict poll_at(struct fabric *fabric, uint64_t now_us, int32_t *result)
{
    uint32_t arguments[4] = {PROBE};

    put_probe(fabric, 1, ECUBE_ANY, 1);
    *result = E_TIMEOUT;
    return node_call(fabric->nodes[0].node, now_us, ECUBE_CALL_PROBE, arguments, result);
}

TEST(a_probe_that_is_repeated_in_vain_rests_until_a_message_comes)
{
    int32_t result;

    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    struct node *node = fabric->nodes[0].node;
    uint64_t now_us = fabric->now_us + 1000000;
    uint32_t before = node->progress;
    assert_int_equal(poll_at(fabric, now_us, &result), NODE_RESUME);
    assert_int_equal(result, 0);
    assert_int_equal(poll_at(fabric, ++now_us, &result), NODE_BLOCK);
    assert_int_equal(node_wake_us(node), now_us + REST_US);
    struct state_body told = fabric_state(fabric, 0);
    assert_int_equal(told.wait, WAIT_PROBE);
    assert_int_equal(told.peer, 1);
    assert_int_equal(told.tag, ECUBE_ANY);
    assert_true(told.flags & STATE_POLLS);
    assert_int_equal(node_resume(node, now_us + REST_US, &result), NODE_RESUME);
    assert_int_equal(result, 0);
    assert_int_equal(node->progress, before);
    now_us += REST_US;
    assert_int_equal(poll_at(fabric, now_us, &result), NODE_BLOCK);
    node_program_moves(node);
    assert_true(sends(fabric, 1, 9, 10) >= 0);
    fabric_settle(fabric);
    assert_true(node_program_moves(node));
    assert_int_equal(node_resume(node, now_us + 1, &result), NODE_RESUME);
    assert_int_equal(result, 1);
    assert_int_equal(poll_at(fabric, now_us + 2, &result), NODE_RESUME); /* it finds one again */
    assert_int_equal(result, 1);
    fabric_free(fabric);
}

TEST(a_probe_for_what_cannot_be_is_refused)
{
    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    assert_int_equal(probes(fabric, 2, 0, 0), E_ARGUMENT);
    assert_int_equal(probes(fabric, -2, 0, 1), E_ARGUMENT);
    assert_int_equal(probes(fabric, 1, -2, 0), E_ARGUMENT);
    assert_int_equal(fabric_call(fabric, 0, ECUBE_CALL_PROBE, PROBE + 1, 0), E_FAULT);
    assert_int_equal(fabric_call(fabric, 0, ECUBE_CALL_PROBE, 16, 0), E_FAULT);
    fabric_free(fabric);
}
