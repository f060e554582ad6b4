/*
 * disagree_test.c - collectives that one node calls wrongly: it gets an error that says so and the
 * others one that it was another, or all that they differ; the host hears which node could not go
 * on, or which two differ, and the next collective works.
 */
#include <string.h>

#include "drivers/status.h"
#include "tests/fabric/collectives.h"
#include "tests/testing.h"
#include "wire/report.h"

enum {
    NODES_MAX = 12,
    BYTES = 80,
    SPACE_AT = NODES_MAX * BYTES,
    DATA_BYTES = 6 * SPACE_AT, /* as many behind them are scratch */
    BEYOND = FABRIC_DATA + (1 << 20)
};

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};
static const struct memory_fault no_fault;
static const char *const networks[] = {"ring:5", "mesh:3x4"};

static struct ecube_abi_collective right_call(uint32_t operation)
{
    bool reduces = operation_of(operation)->reduces;

    return (struct ecube_abi_collective){.operation = operation,
                                         .root = operation_of(operation)->rooted ? 1 : 0,
                                         .block_bytes = BYTES,
                                         .send = FABRIC_DATA,
                                         .receive = FABRIC_DATA + SPACE_AT,
                                         .scratch = FABRIC_DATA + DATA_BYTES,
                                         .scratch_bytes = DATA_BYTES,
                                         .type = reduces ? ECUBE_INT32 : 0,
                                         .operator_ = reduces ? ECUBE_SUM : 0};
}

static void exchange_works(struct fabric *fabric)
{
    struct ecube_abi_collective calls[NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        calls[rank] = right_call(ECUBE_EXCHANGE);
        for (uint32_t to = 0; to < fabric->count; to++) {
            memset(fabric_at(fabric, rank, FABRIC_DATA + to * BYTES), (int)(rank * 13 + to), BYTES);
        }
    }
    collective_all_end(fabric, calls, E_OK);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        for (uint32_t from = 0; from < fabric->count; from++) {
            uint8_t expected[BYTES];
            memset(expected, (int)(from * 13 + rank), BYTES);
            assert_memory_equal(fabric_at(fabric, rank, FABRIC_DATA + SPACE_AT + from * BYTES),
                                expected, BYTES);
        }
    }
}

static void host_has_heard(struct fabric *fabric, uint32_t rank, uint32_t peer, int status)
{
    const struct controller_event *event = &fabric->last_event;

    assert_int_equal(fabric->told[EVENT_DISAGREE], 1);
    assert_int_equal(event->kind, EVENT_DISAGREE);
    assert_int_equal(event->status, status);
    assert_int_equal(event->rank, rank);
    assert_int_equal(event->peer, peer);
    fabric->told[EVENT_DISAGREE] = 0;
}

/* One node calls `wrong`, the others what is right. */
static void fails_at(struct fabric *fabric, uint32_t rank, const struct ecube_abi_collective *right,
                     const struct ecube_abi_collective *wrong, int status)
{
    struct ecube_abi_collective calls[NODES_MAX];
    bool differ = status == E_MISMATCH;

    for (uint32_t i = 0; i < fabric->count; i++) {
        calls[i] = i == rank ? *wrong : *right;
    }
    if (differ) {
        collective_all_end(fabric, calls, status);
    } else { /* the call that is wrong is told */
        collective_fails(fabric, calls, rank, status);
        assert_int_equal(fabric->last_event.disagree.first.root, wrong->root);
        assert_int_equal(fabric->last_event.disagree.first.bytes, wrong->block_bytes);
    }
    host_has_heard(fabric, differ ? 0 : rank, !differ ? ID_UNKNOWN : rank ? rank : 1, status);
}

/* Each node in turn is the one that is wrong. */
static void fails(const struct ecube_abi_collective *right,
                  const struct ecube_abi_collective *wrong, int status)
{
    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct fabric *fabric = fabric_make_named(networks[i], DATA_BYTES, 1, no_fault, ipsc860);
        assert_true(fabric_start(fabric));
        for (uint32_t rank = 0; rank < fabric->count; rank++) {
            fails_at(fabric, rank, right, wrong, status);
        }
        exchange_works(fabric);
        fabric_free(fabric);
    }
}

TEST(a_root_out_of_range_fails_at_all_nodes)
{
    const struct ecube_abi_collective scatter = right_call(ECUBE_SCATTER);
    const struct ecube_abi_collective exchange = right_call(ECUBE_EXCHANGE);
    const struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
    struct ecube_abi_collective wrong = scatter, rooted = exchange;

    wrong.root = NODES_MAX;
    fails(&scatter, &wrong, E_ARGUMENT);
    wrong.root = UINT32_MAX;
    fails(&scatter, &wrong, E_ARGUMENT);
    rooted.root = 1;
    fails(&exchange, &rooted, E_ARGUMENT);
    rooted.operation = ECUBE_ALIGN;
    fails(&align, &rooted, E_ARGUMENT);
}

TEST(what_is_no_collective_fails_at_all_nodes)
{
    const struct ecube_abi_collective reduce = right_call(ECUBE_REDUCE);
    const struct ecube_abi_collective exchange = right_call(ECUBE_EXCHANGE);
    struct ecube_abi_collective wrong = exchange;

    wrong.operation = OPERATIONS;
    fails(&exchange, &wrong, E_ARGUMENT);
    wrong = exchange;
    wrong.type = ECUBE_INT32;
    fails(&exchange, &wrong, E_ARGUMENT);
    wrong = reduce;
    wrong.type = ECUBE_DOUBLE_INT32 + 1;
    fails(&reduce, &wrong, E_ARGUMENT);
    wrong = reduce;
    wrong.operator_ = ECUBE_MINLOC; /* not of numbers */
    fails(&reduce, &wrong, E_ARGUMENT);
    wrong.operator_ = ECUBE_BITWISE_XOR;
    wrong.type = ECUBE_FLOAT; /* not of floating ones */
    fails(&reduce, &wrong, E_ARGUMENT);
    wrong.operator_ = ECUBE_LOGICAL_OR;
    wrong.type = ECUBE_DOUBLE;
    fails(&reduce, &wrong, E_ARGUMENT);
    wrong.operator_ = ECUBE_SUM;
    wrong.type = ECUBE_INT32_INT32; /* not of pairs */
    fails(&reduce, &wrong, E_ARGUMENT);
    wrong = reduce;
    wrong.operator_ = 0;
    fails(&reduce, &wrong, E_ARGUMENT);
    wrong = reduce;
    wrong.block_bytes = BYTES + 2; /* no whole elements */
    fails(&reduce, &wrong, E_ARGUMENT);
}

TEST(nodes_that_differ_are_named)
{
    const struct ecube_abi_collective scatter = right_call(ECUBE_SCATTER);
    const struct ecube_abi_collective reduce = right_call(ECUBE_REDUCE);
    struct ecube_abi_collective wrong = scatter;

    wrong.block_bytes = BYTES / 2;
    fails(&scatter, &wrong, E_MISMATCH);
    wrong = scatter;
    wrong.root = 0;
    fails(&scatter, &wrong, E_MISMATCH);
    wrong = scatter;
    wrong.operation = ECUBE_GATHER;
    fails(&scatter, &wrong, E_MISMATCH);
    wrong = reduce;
    wrong.type = ECUBE_DOUBLE;
    fails(&reduce, &wrong, E_MISMATCH);
    wrong = reduce;
    wrong.operator_ = ECUBE_MAX;
    fails(&reduce, &wrong, E_MISMATCH);
}

TEST(memory_that_is_not_there_fails_at_all_nodes)
{
    const struct ecube_abi_collective exchange = right_call(ECUBE_EXCHANGE);
    struct ecube_abi_collective wrong = exchange;

    wrong.send = BEYOND;
    fails(&exchange, &wrong, E_FAULT);
    wrong = exchange;
    wrong.receive = FABRIC_DATA + 2 * DATA_BYTES - BYTES; /* its end lies outside */
    fails(&exchange, &wrong, E_FAULT);
    wrong = exchange;
    wrong.receive = FABRIC_PROGRAM - 4;
    fails(&exchange, &wrong, E_FAULT);
    wrong = exchange;
    wrong.block_bytes = UINT32_MAX;
    fails(&exchange, &wrong, E_FAULT);
}

TEST(overlapping_buffers_are_all_nodes_error)
{
    const struct ecube_abi_collective exchange = right_call(ECUBE_EXCHANGE);
    struct ecube_abi_collective wrong = exchange;

    wrong.receive = wrong.send;
    fails(&exchange, &wrong, E_ARGUMENT);
    wrong.receive = wrong.send + 5 * BYTES - 1;
    fails(&exchange, &wrong, E_ARGUMENT);
}

/* Each node that needs scratch in turn is wrong; how many they are. */
static unsigned scratch_fails(const char *name, struct ecube_abi_collective wrong, int status)
{
    struct fabric *fabric = fabric_make_named(name, DATA_BYTES, 1, no_fault, ipsc860);
    const struct ecube_abi_collective right = right_call(wrong.operation);
    const struct plan_request request = {.operation = wrong.operation,
                                         .root = wrong.root,
                                         .bytes = wrong.block_bytes,
                                         .type = wrong.type};
    struct plan_fault fault;
    struct plan *plan = plan_make(&fabric->network, &request, &fault);
    unsigned nodes = 0;

    assert_non_null(plan);
    assert_true(fabric_start(fabric));
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        if (plan->scratch[rank] > 0) {
            fails_at(fabric, rank, &right, &wrong, status);
            nodes++;
        }
    }
    exchange_works(fabric);
    plan_free(plan);
    fabric_free(fabric);
    return nodes;
}

TEST(scratch_that_is_not_there_fails_at_all_nodes)
{
    struct ecube_abi_collective none = right_call(ECUBE_GATHER), small = none, shared = none;

    none.choice = ecube_choice("halving tree"); /* which works in scratch */
    small.choice = shared.choice = none.choice;
    none.scratch = none.scratch_bytes = 0;
    small.scratch_bytes = BYTES - 1;
    shared.scratch = shared.send;
    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        assert_true(scratch_fails(networks[i], none, E_FULL) > 0);
        assert_true(scratch_fails(networks[i], small, E_FULL) > 0);
        assert_true(scratch_fails(networks[i], shared, E_ARGUMENT) > 0);
    }
}

TEST(the_lowest_rank_s_error_is_told_and_each_gets_its_own)
{
    const int own[NODES_MAX] = {[7] = E_FAULT, [10] = E_ARGUMENT};
    int32_t requests[NODES_MAX];
    struct fabric *fabric = fabric_make_named("mesh:3x4", DATA_BYTES, 1, no_fault, ipsc860);
    struct ecube_abi_collective calls[NODES_MAX];

    assert_true(fabric_start(fabric));
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        calls[rank] = right_call(ECUBE_EXCHANGE);
    }
    calls[1].block_bytes = BYTES / 2; /* differs, which an error prevails over */
    calls[10].root = 5;
    calls[7].send = BEYOND;
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective_with(fabric, rank, &calls[rank]);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status,
                         own[rank] ? own[rank] : E_ELSEWHERE);
    }
    fabric_settle(fabric);
    host_has_heard(fabric, 7, ID_UNKNOWN, E_FAULT);
    calls[7] = calls[10] = calls[0];
    calls[4].operation = ECUBE_ALLGATHER;
    collective_all_end(fabric, calls, E_MISMATCH);
    host_has_heard(fabric, 0, 1, E_MISMATCH);
    exchange_works(fabric);
    fabric_free(fabric);
}
