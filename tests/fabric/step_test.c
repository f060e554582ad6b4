/*
 * step_test.c - steps of a collective whose circuits fail: the collective ends, with the reason,
 * and the next one is not disturbed.
 *
 * Node 0 of four; a broadcast of its goes to 2, then to 1.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"

enum { TO_1 = 0, TO_2 = 1, TO_0 = 0 /* from 1 */, BYTES = 2000, SHORT = 40, ROUNDS = 40 };

/* Node 0 and its neighbours begin a collective of node 0. */
static int32_t begin(struct neighbours *all, uint32_t operation)
{
    struct ecube_abi_collective arguments = {.operation = operation,
                                             .block_bytes = operation ? BYTES : 0,
                                             .send = FABRIC_DATA,
                                             .receive = FABRIC_DATA,
                                             .choice =
                                                 operation ? ecube_choice("halving tree") : 0};
    int32_t request = node_enters(all, &arguments);

    neighbours_enter(all);
    return request;
}

TEST_WITH(a_broadcast_whose_bytes_did_not_all_go_has_failed, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    unsigned accepted = all->fabric->nodes[1].ends[TO_0].said.packets[PACKET_ACCEPT];
    hold_bytes(all, 0, TO_1, true);
    int32_t request = begin(all, ECUBE_BROADCAST);
    neighbours_turn(all);
    assert_int_equal(all->received, 1);
    /* The last one's circuit is accepted: its bytes alone are missing. */
    assert_int_equal(all->fabric->nodes[1].ends[TO_0].said.packets[PACKET_ACCEPT], accepted + 1);
    struct state_body says = node_state(all);
    assert_int_equal(says.stage, COLLECTIVE_STEPS);
    assert_int_equal(says.step, says.steps);
    memory_link_cut(&all->fabric->nodes[0].ends[TO_1]);
    neighbours_turn(all);
    node_is_done_with(all, request, E_LINK_DEAD);
}

/* Its own part comes no more. */
TEST_WITH(a_step_whose_circuit_is_refused_waits_for_nothing_else, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    all->refusal = E_LINK_DEAD;
    int32_t request = begin(all, ECUBE_BARRIER);
    neighbours_turn(all);
    node_is_done_with(all, request, E_LINK_DEAD);
}

/* A neighbour's circuit of node 0's present step, and so many bytes in its OPEN. */
static void step_gets(struct neighbours *all, unsigned rank, uint32_t bytes)
{
    struct state_body says = node_state(all);
    struct circuit_source source = {.dst = 0,
                                    .flags = OPEN_SCHEDULE | OPEN_INLINE,
                                    .hops = one_hop,
                                    .match = says.step - 1u,
                                    .epoch = (uint16_t)says.counters[COUNTER_COLLECTIVES],
                                    .data = {fabric_at(all->fabric, rank, FABRIC_DATA)},
                                    .bytes = {bytes}};

    assert_int_equal(says.partner, rank);
    assert_int_equal(router_open(&all->fabric->nodes[rank].node->router, &source), E_OK);
    neighbours_turn(all);
}

/* Bytes to 2 are on their way when the circuit to 1 is refused, and until the next one has begun.
 */
TEST_WITH(word_of_a_collective_that_failed_is_not_taken_for_the_next, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;

    hold_bytes(all, 0, TO_2, true);
    int32_t first = begin(all, ECUBE_BROADCAST);
    neighbours_step(all, 1);
    for (unsigned round = 0; round < ROUNDS; round++) { /* 1 does not look */
        neighbours_step(all, 0);
        neighbours_step(all, 2);
    }
    all->refusal = E_LINK_DEAD;
    neighbours_turn(all);
    node_is_done_with(all, first, E_LINK_DEAD);
    int32_t second = begin(all, ECUBE_BARRIER);
    neighbours_turn(all);
    assert_int_equal(all->received, 0);
    hold_bytes(all, 0, TO_2, false);
    neighbours_turn(all);
    assert_int_equal(all->received, 1);
    for (unsigned rank = 1; rank <= 2; rank++) {
        step_gets(all, rank, 0);
    }
    node_is_done_with(all, second, E_OK);
}

static void fill(uint8_t *at, uint32_t bytes, uint32_t number)
{
    for (uint32_t i = 0; i < bytes; i += sizeof number) {
        memcpy(at + i, &number, sizeof number);
    }
}

/* A short sum of node 0's, to which the neighbour of its present step gives so many bytes. */
static void sum_gets(struct neighbours *all, uint32_t bytes, int status, uint32_t sum)
{
    const struct ecube_abi_collective arguments = {.operation = ECUBE_REDUCE,
                                                   .block_bytes = SHORT,
                                                   .send = FABRIC_DATA,
                                                   .receive = FABRIC_DATA + SHORT,
                                                   .type = ECUBE_INT32,
                                                   .operator_ = ECUBE_SUM,
                                                   .choice = ecube_choice("halving tree")};
    uint8_t *own = fabric_at(all->fabric, 0, FABRIC_DATA);

    fill(own, SHORT, 1000);
    int32_t request = node_enters(all, &arguments);
    neighbours_enter(all);
    neighbours_turn(all);
    struct state_body says = node_state(all);
    uint8_t *others = fabric_at(all->fabric, says.partner, FABRIC_DATA);
    fill(others, 2 * SHORT, 1);
    step_gets(all, says.partner, bytes);
    if (status == E_OK) {
        assert_int_not_equal(node_request(all, request)->state, STATE_DONE);
    } else {
        node_is_done_with(all, request, status);
    }
    uint8_t wanted[SHORT];
    fill(wanted, SHORT, sum);
    assert_memory_equal(own + SHORT, wanted, SHORT);
}

/* What rides in an OPEN is put into memory whole, as the plan says it, or not at all. */
TEST_WITH(short_data_of_another_size_is_not_combined, neighbours_begin, neighbours_end)
{
    static const struct {
        uint32_t bytes, sum;
        int status;
    } cases[] = {{SHORT, 1001, E_OK},
                 {SHORT - 4, 1000, E_MISMATCH},
                 {SHORT + 4, 1000, E_MISMATCH},
                 {0, 1000, E_MISMATCH}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sum_gets(*state, cases[i].bytes, cases[i].status, cases[i].sum);
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}
