/*
 * hold_test.c - what a program sends, or its node in its name, waits for what the program sends next;
 * never long, and nothing of others waits with it.
 */
#include "drivers/status.h"
#include "tests/mesh/mesh.h"
#include "tests/unit/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0};
static const struct memory_fault no_fault;

enum {
    BOUND_US = 10000,      /* HOLD_US of router.c */
    RESULT = MESH_PROGRAM, /* where the results of calls go */
    BYTES = 8,
    LONG_BYTES = 2000 /* too long to go without an announcement */
};

static struct mesh *started(unsigned dims)
{
    struct mesh *mesh = mesh_make(dims, 1 << 20, 1, no_fault, ipsc860);

    assert_true(mesh_start(mesh));
    mesh_settle(mesh);
    return mesh;
}

static int32_t begin(struct mesh *mesh, unsigned rank, uint32_t call, int32_t peer, uint32_t bytes)
{
    int32_t request = mesh_message(mesh, rank, call, peer, 1, MESH_DATA, bytes);

    assert_true(request >= 0);
    return request;
}

static bool call(struct mesh *mesh, unsigned rank, uint32_t number, int32_t request)
{
    uint32_t arguments[4] = {(uint32_t)request, RESULT};
    int32_t result;

    return node_call(mesh->nodes[rank].node, mesh->now_us, number, arguments, &result) ==
           NODE_RESUME;
}

/* Whether the call that blocked a node's program is complete by now. */
static bool goes_on(struct mesh *mesh, unsigned rank)
{
    int32_t result;

    return node_resume(mesh->nodes[rank].node, mesh->now_us, &result) == NODE_RESUME;
}

/* A node waits for its message to be taken; node 1, which waited for it, has it and goes on. */
static void message_to_node_1(struct mesh *mesh, unsigned from)
{
    int32_t receive = begin(mesh, 1, ECUBE_CALL_RECEIVE, (int32_t)from, BYTES);

    assert_false(call(mesh, 1, ECUBE_CALL_WAIT, receive));
    int32_t send = begin(mesh, from, ECUBE_CALL_SEND, 1, BYTES);
    assert_false(call(mesh, from, ECUBE_CALL_WAIT, send));
    mesh_settle(mesh);
    assert_true(goes_on(mesh, 1));
}

static void an_answer_goes_with_what_the_program_sends_next(void **state)
{
    (void)state;
    struct mesh *mesh = started(1);
    message_to_node_1(mesh, 0);
    mesh_settle(mesh);
    assert_false(goes_on(mesh, 0));
    int32_t send = begin(mesh, 1, ECUBE_CALL_SEND, 0, BYTES);
    mesh_settle(mesh);
    assert_false(goes_on(mesh, 0));
    assert_false(call(mesh, 1, ECUBE_CALL_WAIT, send));
    mesh_settle(mesh);
    assert_true(goes_on(mesh, 0));
    mesh_free(mesh);
}

static void a_program_that_only_computes_delays_its_peer_by_the_bound_and_only_once(void **state)
{
    (void)state;
    struct mesh *mesh = started(1);
    message_to_node_1(mesh, 0);
    uint64_t deadline_us = node_deadline(mesh->nodes[1].node);
    assert_true(deadline_us > mesh->now_us && deadline_us <= mesh->now_us + BOUND_US);
    mesh->now_us = deadline_us;
    mesh_settle(mesh);
    assert_true(goes_on(mesh, 0));
    message_to_node_1(mesh, 0);
    mesh_settle(mesh);
    assert_true(goes_on(mesh, 0));
    mesh_free(mesh);
}

static void a_program_that_asks_in_vain_is_not_waited_for(void **state)
{
    (void)state;
    struct mesh *mesh = started(1);
    message_to_node_1(mesh, 0);
    int32_t receive = begin(mesh, 1, ECUBE_CALL_RECEIVE, 0, BYTES);
    mesh_settle(mesh);
    assert_false(goes_on(mesh, 0));
    assert_true(call(mesh, 1, ECUBE_CALL_TEST, receive));
    mesh_settle(mesh);
    assert_true(goes_on(mesh, 0));
    mesh_free(mesh);
}

static void a_program_that_has_ended_is_not_waited_for(void **state)
{
    (void)state;
    struct mesh *mesh = started(1);
    message_to_node_1(mesh, 0);
    assert_false(call(mesh, 1, ECUBE_CALL_EXIT, 0));
    mesh_settle(mesh);
    assert_true(goes_on(mesh, 0));
    mesh_free(mesh);
}

/* Node 1 holds back its answer to node 3 when an announcement from 0 to 3 passes. */
static void what_goes_on_for_others_does_not_wait(void **state)
{
    (void)state;
    struct mesh *mesh = started(2);
    message_to_node_1(mesh, 3);
    int32_t send = begin(mesh, 0, ECUBE_CALL_SEND, 3, LONG_BYTES);
    assert_false(call(mesh, 0, ECUBE_CALL_WAIT, send));
    mesh_settle(mesh);
    assert_int_equal(mesh->nodes[3].node->want_count, 1);
    mesh_free(mesh);
}

TEST_MAIN(cmocka_unit_test(an_answer_goes_with_what_the_program_sends_next),
          cmocka_unit_test(a_program_that_only_computes_delays_its_peer_by_the_bound_and_only_once),
          cmocka_unit_test(a_program_that_asks_in_vain_is_not_waited_for),
          cmocka_unit_test(a_program_that_has_ended_is_not_waited_for),
          cmocka_unit_test(what_goes_on_for_others_does_not_wait))
