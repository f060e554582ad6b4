/*
 * order_test.c - a message that is sent right after a collective comes behind it in model time,
 * whoever leaves the collective first in wall time.
 *
 * One link stands still for a while, so that some nodes leave the collective long before others.
 * Model times must be what they are when no link does.
 */

#include <string.h>

#include "drivers/status.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

enum {
    NODES = 32, /* at most */
    DELAYS = 60,
    DATA_BYTES = 2 * NODES * 16,
    COLLECTIVE_ROUNDS = 300, /* of stepping all nodes; a collective takes some 50 */
    MESSAGE_ROUNDS = 40,
    BLOCK_BYTES = 16,
    BYTES = 8,
    LONG_BYTES = 4000
};

/* One link into a node that stands still. */
struct jam {
    bool wanted;
    unsigned rank, port;
    unsigned delay; /* rounds of stepping, from the begin of the schedule on */
    struct memory_end *end;
    bool taken[LINK_BUFFERS_MAX];
};

/* Model times since the collective's begin, when all that follows is over. */
struct outcome {
    uint64_t clock_ns[NODES];
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

static void end_jam(struct jam *jam)
{
    if (jam->end) {
        memory_link_start(jam->end, jam->taken);
    }
    jam->end = NULL;
}

/* Private fields: a question to the node would step all others too. */
static bool in_collective(const struct fabric *fabric, unsigned rank)
{
    return fabric->nodes[rank].node->engine.stage != ENGINE_IDLE;
}

static bool walks(const struct fabric *fabric, unsigned rank)
{
    return fabric->nodes[rank].node->engine.stage == ENGINE_STEPS;
}

/* Node `src` sends as soon as it has left the collective; the others go on when they have. */
static struct outcome send_after(struct fabric *fabric, uint32_t operation, unsigned src,
                                 unsigned dst, struct jam jam)
{
    struct ecube_abi_collective arguments = {.operation = operation,
                                             .block_bytes =
                                                 operation == ECUBE_BARRIER ? 0 : BLOCK_BYTES,
                                             .send = FABRIC_DATA,
                                             .receive = FABRIC_DATA + NODES * BLOCK_BYTES};
    uint64_t begin_ns = fabric_clock(fabric, src);
    struct outcome outcome = {0};
    int32_t requests[NODES];

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, &arguments);
    }
    for (unsigned rounds = 0; rounds < COLLECTIVE_ROUNDS && !walks(fabric, jam.rank); rounds++) {
        fabric_round(fabric); /* before, nobody would begin */
    }
    if (jam.wanted) {
        for (unsigned rounds = 0; rounds < jam.delay; rounds++) {
            fabric_round(fabric);
        }
        jam.end = &fabric->nodes[jam.rank].ends[jam.port];
        memory_link_stop(jam.end, jam.taken);
    }
    for (unsigned rounds = 0; rounds < COLLECTIVE_ROUNDS && in_collective(fabric, src); rounds++) {
        fabric_round(fabric);
    }
    if (in_collective(fabric, src)) {
        end_jam(&jam); /* it needs that link itself */
    }
    assert_int_equal(fabric_wait(fabric, src, requests[src]).status, E_OK);
    int32_t sent =
        fabric_message(fabric, src, ECUBE_CALL_SEND, (int32_t)dst, 0, FABRIC_DATA, BYTES);
    for (unsigned rounds = 0; rounds < MESSAGE_ROUNDS; rounds++) {
        fabric_round(fabric);
    }
    end_jam(&jam);
    assert_int_equal(fabric_wait(fabric, src, sent).status, E_OK);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        if (rank != src) {
            assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_OK);
        }
    }
    int32_t received =
        fabric_message(fabric, dst, ECUBE_CALL_RECEIVE, (int32_t)src, 0, FABRIC_DATA, BYTES);
    assert_int_equal(fabric_wait(fabric, dst, received).status, E_OK);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        outcome.clock_ns[rank] = fabric_clock(fabric, rank) - begin_ns;
    }
    return outcome;
}

/* Node 0 has announced two long messages to 7, by way of 1 and 3. 7 takes the first one while they
 * are in a barrier and the second one when 0 has left it. Node 3 is not heard by 1: neither is a
 * circuit of 1's barrier nor the first one's ACCEPT. What 1 says to the second one must not be
 * taken for the first one's answer. */
static void follow(unsigned delay, uint64_t seed)
{
    struct fabric *fabric = fabric_make(3, 2 * LONG_BYTES, seed, no_fault, ipsc860);
    struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
    struct jam jam = {.rank = 1, .port = 1};
    int32_t requests[8], sent[2], received[2];

    assert_true(fabric_start(fabric));
    for (unsigned i = 0; i < 2; i++) {
        memset(fabric_at(fabric, 0, FABRIC_DATA + i * LONG_BYTES), (int)(1 + i), LONG_BYTES);
        sent[i] = fabric_message(fabric, 0, ECUBE_CALL_SEND, 7, (int32_t)i,
                                 FABRIC_DATA + i * LONG_BYTES, LONG_BYTES);
    }
    fabric_settle(fabric);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, &barrier);
    }
    for (unsigned rounds = 0; rounds < COLLECTIVE_ROUNDS && !walks(fabric, jam.rank); rounds++) {
        fabric_round(fabric);
    }
    jam.end = &fabric->nodes[jam.rank].ends[jam.port];
    memory_link_stop(jam.end, jam.taken);
    for (unsigned rounds = 0; rounds < delay; rounds++) {
        fabric_round(fabric);
    }
    for (unsigned i = 0; i < 2; i++) {
        received[i] = fabric_message(fabric, 7, ECUBE_CALL_RECEIVE, 0, (int32_t)i,
                                     FABRIC_DATA + i * LONG_BYTES, LONG_BYTES);
        for (unsigned rounds = 0; rounds < MESSAGE_ROUNDS && (i || in_collective(fabric, 0));
             rounds++) {
            fabric_round(fabric);
        }
    }
    end_jam(&jam);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_OK);
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(fabric_wait(fabric, 0, sent[i]).status, E_OK);
        assert_int_equal(fabric_wait(fabric, 7, received[i]).status, E_OK);
        assert_memory_equal(fabric_at(fabric, 7, FABRIC_DATA + i * LONG_BYTES),
                            fabric_at(fabric, 0, FABRIC_DATA + i * LONG_BYTES), LONG_BYTES);
    }
    fabric_free(fabric);
}

TEST(a_message_behind_a_barrier_does_not_take_the_answer_of_one_from_before)
{
    for (unsigned delay = 0; delay < 12; delay++) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            follow(delay, seed);
        }
    }
}

/* The clocks of all nodes are the same afterwards. */
static void meet(struct fabric *fabric)
{
    struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
    int32_t requests[NODES];

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, &barrier);
    }
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_OK);
    }
}

/* Every pair, beside every link that may stand still; first none does. */
/* Everything once without a jam, then with one that begins later and later. */
static void sweep(unsigned dims, uint32_t operation, unsigned src, unsigned dst, struct jam jam)
{
    struct fabric *fabric = fabric_make(dims, DATA_BYTES, operation + 1, no_fault, ipsc860);
    struct outcome expected, outcome;

    assert_true(fabric_start(fabric));
    meet(fabric);
    expected = send_after(fabric, operation, src, dst, (struct jam){.wanted = false});
    for (jam.delay = 0; jam.delay < DELAYS; jam.delay++) {
        meet(fabric);
        outcome = send_after(fabric, operation, src, dst, jam);
        assert_memory_equal(&outcome, &expected, sizeof outcome);
    }
    fabric_free(fabric);
}

TEST(a_message_after_a_barrier_comes_behind_it)
{
    for (unsigned pair = 0; pair < 64; pair++) {
        for (unsigned port = 0; port < 3 && pair / 8 != pair % 8; port++) {
            sweep(3, ECUBE_BARRIER, pair / 8, pair % 8,
                  (struct jam){.wanted = true, .rank = pair % 8, .port = port});
        }
    }
}

/* The message goes 5, 4, 0, 8, 24. Node 4's circuit to 0 comes late, for it waits for that of 6;
 * nobody else here does. */
TEST(a_message_after_a_gather_comes_behind_it)
{
    sweep(5, ECUBE_GATHER, 5, 24, (struct jam){.wanted = true, .rank = 4, .port = 1});
}

/* The last step's circuit from 3 to 12 goes by 2, 0, 4. It comes late, for the circuit from 3 to 13
 * of the step before waits for the link from 1 to 5; nodes 0 and 4 do not. */
TEST(a_message_after_an_exchange_comes_behind_it)
{
    sweep(4, ECUBE_EXCHANGE, 0, 4, (struct jam){.wanted = true, .rank = 5, .port = 2});
}
