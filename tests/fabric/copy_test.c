/*
 * copy_test.c - a node is copied to another address, and goes on there as the original would have.
 *
 * Two machines are stepped in the same random order. In one of them every node moves now and then:
 * its bytes are copied, the original is overwritten and its memory given back, so whoever still
 * points there is found. Working memory and links stay where they are.
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

enum {
    DIMS = 4,
    BLOCK = 3000,
    DATA = 2 * (1 << DIMS) * BLOCK,
    TAG = 5,
    MOVE_NEVER = 0,
    MOVE_WHEN_QUIET = 1,
    MOVE_EACH_ROUND = 2,
    ROUNDS_MAX = 20000,
    QUIET_US = 10000
};

static void move(struct fabric_node *n)
{
    struct node *copy = malloc(node_bytes());

    CHECK(copy);
    memcpy(copy, n->node, node_bytes());
    memset(n->node, 0xa5, node_bytes());
    free(n->node);
    n->node = copy;
}

static void move_all(struct fabric *fabric)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        move(&fabric->nodes[rank]);
    }
}

/* Steps until a collective that each node has asked for is over on all of them. */
static void go_on(struct fabric *fabric, const int32_t *requests, unsigned moves)
{
    unsigned over = 0;

    for (unsigned round = 0; round < ROUNDS_MAX && over < fabric->count; round++) {
        bool more = fabric_round(fabric);
        if (moves == MOVE_EACH_ROUND || (moves == MOVE_WHEN_QUIET && !more)) {
            move_all(fabric);
        }
        if (!more) {
            fabric->now_us += QUIET_US; /* frames that were lost are sent again */
        }
        over = 0;
        for (unsigned rank = 0; rank < fabric->count; rank++) {
            over += fabric_is_done(fabric, rank, requests[rank]);
        }
    }
    assert_int_equal(over, fabric->count);
}

static void ask_exchange(struct fabric *fabric, int32_t *requests)
{
    struct ecube_abi_collective arguments = {.operation = ECUBE_EXCHANGE,
                                             .block_bytes = BLOCK,
                                             .send = FABRIC_DATA,
                                             .receive = FABRIC_DATA + fabric->count * BLOCK};

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        uint8_t *send = fabric_at(fabric, rank, arguments.send);
        for (unsigned i = 0; i < fabric->count * BLOCK; i++) {
            send[i] = (uint8_t)(rank * 31 + i * 7 + (i >> 8));
        }
        requests[rank] = fabric_collective(fabric, rank, &arguments);
    }
}

/* Every node sends to the one that differs in all bits, and receives from it: long messages, which
 * are announced, and short ones, which ride in their OPEN. */
static void ask_messages(struct fabric *fabric, uint32_t bytes, int32_t *requests)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        int32_t peer = (int32_t)(rank ^ (fabric->count - 1));
        assert_true(fabric_message(fabric, rank, ECUBE_CALL_SEND, peer, TAG, FABRIC_DATA, bytes) >=
                    0);
        requests[rank] = fabric_message(fabric, rank, ECUBE_CALL_RECEIVE, peer, TAG,
                                        FABRIC_DATA + fabric->count * BLOCK, bytes);
    }
}

struct run {
    struct fabric *fabric;
    uint64_t done_ns[1 << DIMS];
};

/* An exchange, long messages, short messages, and a quiet machine between them. */
static struct run run(struct memory_fault fault, unsigned moves)
{
    struct run run = {.fabric = fabric_make(DIMS, DATA, 3, fault, ipsc860)};
    int32_t requests[1 << DIMS];

    assert_true(fabric_start(run.fabric));
    for (unsigned part = 0; part < 3; part++) {
        if (part == 0) {
            ask_exchange(run.fabric, requests);
        } else {
            ask_messages(run.fabric, part == 1 ? 20000 : 500, requests);
        }
        go_on(run.fabric, requests, moves);
        fabric_settle(run.fabric);
        if (moves != MOVE_NEVER) {
            move_all(run.fabric);
        }
    }
    for (unsigned rank = 0; rank < run.fabric->count; rank++) {
        run.done_ns[rank] = fabric_wait(run.fabric, rank, requests[rank]).done_ns;
    }
    return run;
}

static void compare(struct memory_fault fault, unsigned moves)
{
    struct run stayed = run(fault, MOVE_NEVER), moved = run(fault, moves);

    assert_true(stayed.fabric->seed == moved.fabric->seed); /* they were stepped alike to the end */
    for (unsigned rank = 0; rank < stayed.fabric->count; rank++) {
        assert_true(stayed.done_ns[rank] == moved.done_ns[rank]);
        assert_memory_equal(fabric_at(stayed.fabric, rank, FABRIC_DATA),
                            fabric_at(moved.fabric, rank, FABRIC_DATA), DATA);
    }
    fabric_free(stayed.fabric);
    fabric_free(moved.fabric);
}

TEST(copies_of_quiet_nodes_go_on_as_the_originals_would)
{
    compare(no_fault, MOVE_WHEN_QUIET);
}

TEST(nodes_may_move_in_the_middle_of_circuits_and_packets)
{
    compare(no_fault, MOVE_EACH_ROUND);
}

TEST(nodes_may_move_while_frames_wait_to_be_sent_again)
{
    compare((struct memory_fault){.flip_per_million = 20000, .drop_per_million = 20000},
            MOVE_EACH_ROUND);
}
