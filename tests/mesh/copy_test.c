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
#include "tests/mesh/mesh.h"
#include "tests/unit/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0};
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

static void move(struct mesh_node *n)
{
    struct node *copy = malloc(node_bytes());

    CHECK(copy);
    memcpy(copy, n->node, node_bytes());
    memset(n->node, 0xa5, node_bytes());
    free(n->node);
    n->node = copy;
}

static void move_all(struct mesh *mesh)
{
    for (unsigned rank = 0; rank < mesh->count; rank++)
        move(&mesh->nodes[rank]);
}

/* Steps until a collective that each node has asked for is over on all of them. */
static void go_on(struct mesh *mesh, const int32_t *requests, unsigned moves)
{
    unsigned over = 0;

    for (unsigned round = 0; round < ROUNDS_MAX && over < mesh->count; round++) {
        bool more = mesh_round(mesh);
        if (moves == MOVE_EACH_ROUND || (moves == MOVE_WHEN_QUIET && !more))
            move_all(mesh);
        if (!more)
            mesh->now_us += QUIET_US; /* frames that were lost are sent again */
        over = 0;
        for (unsigned rank = 0; rank < mesh->count; rank++)
            over += mesh->nodes[rank].node->requests[requests[rank]].state == STATE_DONE;
    }
    assert_int_equal(over, mesh->count);
}

static void ask_exchange(struct mesh *mesh, int32_t *requests)
{
    struct ecube_abi_collective arguments = {.operation = ECUBE_EXCHANGE,
                                             .block_bytes = BLOCK,
                                             .send = MESH_DATA,
                                             .receive = MESH_DATA + mesh->count * BLOCK};

    for (unsigned rank = 0; rank < mesh->count; rank++) {
        uint8_t *send = mesh_at(mesh, rank, arguments.send);
        for (unsigned i = 0; i < mesh->count * BLOCK; i++)
            send[i] = (uint8_t)(rank * 31 + i * 7 + (i >> 8));
        requests[rank] = mesh_collective(mesh, rank, &arguments);
    }
}

/* Every node sends to the one that differs in all bits, and receives from it: long messages, which
 * are announced, and short ones, which ride in their OPEN. */
static void ask_messages(struct mesh *mesh, uint32_t bytes, int32_t *requests)
{
    for (unsigned rank = 0; rank < mesh->count; rank++) {
        int32_t peer = (int32_t)(rank ^ (mesh->count - 1));
        assert_true(mesh_message(mesh, rank, ECUBE_CALL_SEND, peer, TAG, MESH_DATA, bytes) >= 0);
        requests[rank] = mesh_message(mesh, rank, ECUBE_CALL_RECEIVE, peer, TAG,
                                      MESH_DATA + mesh->count * BLOCK, bytes);
    }
}

struct run {
    struct mesh *mesh;
    uint64_t done_ns[1 << DIMS];
};

/* An exchange, long messages, short messages, and a quiet machine between them. */
static struct run run(struct memory_fault fault, unsigned moves)
{
    struct run run = {.mesh = mesh_make(DIMS, DATA, 3, fault, ipsc860)};
    int32_t requests[1 << DIMS];

    assert_true(mesh_start(run.mesh));
    for (unsigned part = 0; part < 3; part++) {
        if (part == 0)
            ask_exchange(run.mesh, requests);
        else
            ask_messages(run.mesh, part == 1 ? 20000 : 500, requests);
        go_on(run.mesh, requests, moves);
        mesh_settle(run.mesh);
        if (moves != MOVE_NEVER)
            move_all(run.mesh);
    }
    for (unsigned rank = 0; rank < run.mesh->count; rank++)
        run.done_ns[rank] = run.mesh->nodes[rank].node->requests[requests[rank]].done_ns;
    return run;
}

static void compare(struct memory_fault fault, unsigned moves)
{
    struct run stayed = run(fault, MOVE_NEVER), moved = run(fault, moves);

    assert_true(stayed.mesh->seed == moved.mesh->seed); /* they were stepped alike to the end */
    for (unsigned rank = 0; rank < stayed.mesh->count; rank++) {
        assert_true(stayed.done_ns[rank] == moved.done_ns[rank]);
        assert_memory_equal(mesh_at(stayed.mesh, rank, MESH_DATA),
                            mesh_at(moved.mesh, rank, MESH_DATA), DATA);
    }
    mesh_free(stayed.mesh);
    mesh_free(moved.mesh);
}

static void copies_of_quiet_nodes_go_on_as_the_originals_would(void **state)
{
    (void)state;
    compare(no_fault, MOVE_WHEN_QUIET);
}

static void nodes_may_move_in_the_middle_of_circuits_and_packets(void **state)
{
    (void)state;
    compare(no_fault, MOVE_EACH_ROUND);
}

static void nodes_may_move_while_frames_wait_to_be_sent_again(void **state)
{
    (void)state;
    compare((struct memory_fault){.flip_per_million = 20000, .drop_per_million = 20000},
            MOVE_EACH_ROUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_quiet_nodes_go_on_as_the_originals_would),
        cmocka_unit_test(nodes_may_move_in_the_middle_of_circuits_and_packets),
        cmocka_unit_test(nodes_may_move_while_frames_wait_to_be_sent_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
