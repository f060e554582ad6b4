/*
 * abort_test.c - a program ends the whole run: at every moment of what the others do, all programs
 * end, the host hears of one abort, and the machine runs the next program.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

enum { NODES = 8, DATA_BYTES = 1 << 18, BYTES = 1500, TEXT = FABRIC_DATA + 200000, ROUNDS = 60 };

static void abort_run(struct fabric *fabric, unsigned rank, int32_t status)
{
    uint32_t arguments[4] = {(uint32_t)status};
    int32_t result;

    assert_int_equal(
        node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_ABORT, arguments, &result),
        NODE_END);
}

static bool all_over(struct fabric *fabric)
{
    if (fabric->controller.phase != PHASE_READY) {
        return false;
    }
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        if (node_program_runs(fabric->nodes[rank].node) ||
            fabric->nodes[rank].node->due & REPORT_DUE_EXIT) {
            return false;
        }
    }
    return true;
}

/* The run has ended by the abort of one of these, and so have all programs. */
static void expect_abort(struct fabric *fabric, uint32_t ranks, int32_t status)
{
    assert_true(fabric_run(fabric, all_over));
    fabric_settle(fabric);
    assert_int_equal(fabric->told[EVENT_ENDED], fabric->runs); /* each run ends once */
    assert_int_equal(fabric->last_event.kind, EVENT_ENDED);
    assert_int_equal(fabric->last_event.reason, ENDED_ABORTED);
    assert_true(ranks >> fabric->last_event.rank & 1);
    assert_int_equal(fabric->last_event.status, status);
}

/* What the programs are at when one aborts. */
enum doing { IN_A_COLLECTIVE, RECEIVING, PRINTING, SENDING, DOINGS };

static void begin(struct fabric *fabric, unsigned rank, enum doing doing)
{
    struct ecube_abi_collective exchange = {.operation = ECUBE_EXCHANGE,
                                            .block_bytes = BYTES,
                                            .send = FABRIC_DATA,
                                            .receive = FABRIC_DATA + NODES * BYTES};
    uint32_t text[4] = {TEXT, 20000, ECUBE_STREAM_OUTPUT}, wait[4] = {0, FABRIC_DATA};
    struct node *node = fabric->nodes[rank].node;
    int32_t request = E_OK, result;

    switch (doing) {
    case IN_A_COLLECTIVE: request = fabric_collective(fabric, rank, &exchange); break;
    case RECEIVING:
        request = fabric_message(fabric, rank, ECUBE_CALL_RECEIVE, ECUBE_ANY, 1, FABRIC_DATA, 100);
        break;
    case PRINTING: node_call(node, fabric->now_us, ECUBE_CALL_WRITE, text, &result); return;
    default:
        request = fabric_message(fabric, rank, ECUBE_CALL_SEND, (int32_t)(rank + 1) % NODES, 7,
                                 FABRIC_DATA, 30000);
        break;
    }
    assert_true(request >= 0);
    wait[0] = (uint32_t)request;
    assert_int_equal(node_call(node, fabric->now_us, ECUBE_CALL_WAIT, wait, &result), NODE_BLOCK);
}

TEST(all_end_whatever_they_do_and_the_next_program_runs)
{
    for (unsigned doing = 0; doing <= DOINGS; doing++) { /* DOINGS: each something else */
        struct fabric *fabric = fabric_started(3, DATA_BYTES, doing + 1);
        for (unsigned round = 0; round < ROUNDS; round += 1 + round / 8) {
            unsigned victim = round % NODES;
            for (unsigned rank = 0; rank < NODES; rank++) {
                if (rank != victim || doing == IN_A_COLLECTIVE) {
                    enum doing what = doing < DOINGS ? doing : (rank + round) % DOINGS;
                    begin(fabric, rank, what);
                }
            }
            for (unsigned i = 0; i < round; i++) {
                fabric_round(fabric);
            }
            abort_run(fabric, victim, (int32_t)round);
            expect_abort(fabric, 1u << victim, (int32_t)round);
            assert_true(fabric_load(fabric));
        }
        for (unsigned rank = 0; rank < NODES; rank++) {
            begin(fabric, rank, IN_A_COLLECTIVE);
        }
        for (unsigned rank = 0; rank < NODES; rank++) {
            assert_int_equal(fabric_wait(fabric, rank, 0).status, E_OK);
        }
        fabric_free(fabric);
    }
}

TEST(of_several_that_abort_one_is_heard)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fabric *fabric = fabric_started(3, DATA_BYTES, seed);
        abort_run(fabric, 5, 9);
        for (uint64_t i = 0; i < seed; i++) {
            fabric_round(fabric);
        }
        if (node_program_runs(fabric->nodes[2].node)) {
            abort_run(fabric, 2, 9);
        }
        if (node_program_runs(fabric->nodes[6].node)) {
            abort_run(fabric, 6, 9);
        }
        expect_abort(fabric, 1 << 2 | 1 << 5 | 1 << 6, 9);
        assert_true(fabric_load(fabric));
        fabric_free(fabric);
    }
}

/* Its text and what others have printed before is told first, for both go the same way. */
TEST(the_last_program_may_abort_and_what_it_printed_comes_first)
{
    uint32_t text[4] = {TEXT, 10, ECUBE_STREAM_OUTPUT}, zero[4] = {0};
    int32_t result;

    struct fabric *fabric = fabric_started(3, DATA_BYTES, 1);
    for (unsigned rank = 1; rank < NODES; rank++) {
        node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_EXIT, zero, &result);
    }
    fabric_settle(fabric);
    node_call(fabric->nodes[0].node, fabric->now_us, ECUBE_CALL_WRITE, text, &result);
    abort_run(fabric, 0, -1);
    expect_abort(fabric, 1, -1);
    assert_int_equal(fabric->told[EVENT_TEXT], 1);
    assert_int_equal(fabric->last_event.done, NODES);
    assert_int_equal(controller_abort_status(-1), 255);
    assert_int_equal(controller_abort_status(0), 1);
    assert_int_equal(controller_abort_status(256), 1);
    assert_int_equal(controller_abort_status(7), 7);
    fabric_free(fabric);
}

/* The host goes on starting programs when one that it has started aborts: those behind it do not
 * begin. */
TEST(one_may_abort_before_all_have_been_started)
{
    unsigned early = 0;

    for (unsigned rounds = 0; rounds < 12; rounds++) {
        struct fabric *fabric = fabric_started(3, DATA_BYTES, rounds + 1);
        abort_run(fabric, 3, 1);
        expect_abort(fabric, 1 << 3, 1);
        assert_true(fabric_download(fabric));
        while (fabric->controller.phase != PHASE_LOADED) {
            fabric_round(fabric);
        }
        controller_run(&fabric->controller, fabric->now_us);
        unsigned running = 0;
        while (running == 0) {
            for (unsigned rank = 0; rank < NODES && !running; rank++) {
                struct node_start start;
                if (node_take_start(fabric->nodes[rank].node, &start)) {
                    running = rank + 1;
                    abort_run(fabric, rank, 4);
                } else {
                    early++;
                    fabric_round(fabric);
                    running = node_program_runs(fabric->nodes[rank].node) ? rank + 1 : 0;
                    if (running) {
                        abort_run(fabric, rank, 4);
                    }
                }
            }
        }
        expect_abort(fabric, 1u << (running - 1), 4);
        assert_true(fabric_load(fabric));
        fabric_free(fabric);
    }
    assert_true(early > 0);
}
