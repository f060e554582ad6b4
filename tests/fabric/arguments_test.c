/*
 * arguments_test.c - each operation called with what cannot be, by all nodes and by one: every node
 * gets the error that ecube.h promises, and the right call works next.
 */
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "reduction/reduction.h"
#include "tests/fabric/collectives.h"
#include "tests/testing.h"

enum {
    NODES_MAX = 12,
    BYTES = 80,
    SPACE_BYTES = NODES_MAX * BYTES,
    SCRATCH_BYTES = 4 * SPACE_BYTES,
    DATA_BYTES = SCRATCH_BYTES,
    SCRATCH_AT = FABRIC_DATA + 3 * SPACE_BYTES,
    TABLE = SCRATCH_AT + SCRATCH_BYTES,
    BEYOND = FABRIC_DATA + (1 << 20),
    ROOT = 1
};

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};
static const struct memory_fault no_fault;
static const char *const networks[] = {"ring:5", "mesh:3x4", "cube:3"};

/* With every buffer in its place. */
static struct ecube_abi_collective right_call(uint32_t operation)
{
    const struct operation *row = operation_of(operation);

    return (struct ecube_abi_collective){.operation = operation,
                                         .root = row->rooted || row->parameter ? ROOT : 0,
                                         .block_bytes =
                                             row->planned && operation != ECUBE_BARRIER ? BYTES : 0,
                                         .send = FABRIC_DATA,
                                         .receive = FABRIC_DATA + SPACE_BYTES,
                                         .scratch = SCRATCH_AT,
                                         .scratch_bytes = SCRATCH_BYTES,
                                         .type = row->reduces ? ECUBE_INT32 : 0,
                                         .operator_ = row->reduces ? ECUBE_SUM : 0,
                                         .send_blocks = TABLE,
                                         .receive_blocks = TABLE};
}

static uint32_t space_bytes(const struct fabric *fabric, const struct ecube_abi_collective *call,
                            enum space space, uint32_t rank)
{
    return operation_slots(operation_of(call->operation), space, fabric->count, rank, call->root,
                           1) *
           call->block_bytes;
}

/* It works, and its data are right. */
static void is_right(struct fabric *fabric, const struct ecube_abi_collective *call)
{
    struct ecube_abi_collective calls[NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        calls[rank] = *call;
        collective_fill(fabric, rank, call);
    }
    collective_all_end(fabric, calls, E_OK);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        collective_check(fabric, rank, call);
    }
}

static void expect_told(struct fabric *fabric, uint32_t rank, int status)
{
    assert_int_equal(fabric->told[EVENT_DISAGREE], 1);
    assert_int_equal(fabric->last_event.kind, EVENT_DISAGREE);
    assert_int_equal(fabric->last_event.status, status);
    assert_int_equal(fabric->last_event.rank, rank);
    fabric->told[EVENT_DISAGREE] = 0;
}

/* All nodes call what is wrong, then one alone, for which it is. */
static void is_refused(struct fabric *fabric, const struct ecube_abi_collective *wrong,
                       uint32_t rank, int status)
{
    const struct ecube_abi_collective right = right_call(wrong->operation);
    struct ecube_abi_collective calls[NODES_MAX];

    for (uint32_t i = 0; i < fabric->count; i++) {
        collective_fill(fabric, i, &right);
        calls[i] = *wrong;
    }
    collective_fails(fabric, calls, COLLECTIVE_SOME, status);
    assert_int_equal(fabric->told[EVENT_DISAGREE], 1);
    fabric->told[EVENT_DISAGREE] = 0;
    for (uint32_t i = 0; i < fabric->count; i++) {
        calls[i] = i == rank ? *wrong : right;
    }
    collective_fails(fabric, calls, rank, status);
    expect_told(fabric, rank, status);
    is_right(fabric, &right);
}

/* The first node behind node 0 that has such a space, or node 0; NODES_MAX: none has. */
static uint32_t who_has(const struct fabric *fabric, uint32_t operation, enum space space)
{
    const struct ecube_abi_collective call = right_call(operation);

    for (uint32_t rank = 1; rank <= fabric->count; rank++) {
        if (space_bytes(fabric, &call, space, rank % fabric->count) > 0) {
            return rank % fabric->count;
        }
    }
    return NODES_MAX;
}

/* Calls this for every operation on every network. */
static void each(void (*try)(struct fabric *fabric, uint32_t operation))
{
    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct fabric *fabric = fabric_make_named(networks[i], DATA_BYTES, 1, no_fault, ipsc860);
        assert_true(fabric_start(fabric));
        for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
            if (operation_of(operation)) {
                try(fabric, operation);
            }
        }
        fabric_free(fabric);
    }
}

/* A root, a distance or a mask of dimensions: the first that there is not, and a negative one. */
static void try_roots(struct fabric *fabric, uint32_t operation)
{
    struct ecube_abi_collective wrong = right_call(operation);

    wrong.root = operation_roots(operation_of(operation), &fabric->network);
    is_refused(fabric, &wrong, 2, E_ARGUMENT);
    wrong.root = UINT32_C(1) << 31;
    is_refused(fabric, &wrong, 0, E_ARGUMENT);
    wrong.root = (uint32_t)-1;
    is_refused(fabric, &wrong, fabric->count - 1, E_ARGUMENT);
}

TEST(a_root_distance_or_mask_that_there_is_not_is_refused)
{
    each(try_roots);
}

static void try_pointers(struct fabric *fabric, uint32_t operation)
{
    static const uint32_t wrong_addresses[] = {0, BEYOND, FABRIC_PROGRAM - 4, UINT32_MAX - 3};

    for (unsigned i = 0; i < sizeof wrong_addresses / sizeof wrong_addresses[0]; i++) {
        for (unsigned space = SPACE_SEND; space <= SPACE_RECEIVE; space++) {
            uint32_t rank = who_has(fabric, operation, (enum space)space);
            struct ecube_abi_collective wrong = right_call(operation);
            if (rank == NODES_MAX) {
                continue;
            }
            *(space == SPACE_SEND ? &wrong.send : &wrong.receive) = wrong_addresses[i];
            is_refused(fabric, &wrong, rank, E_FAULT);
            if (wrong_addresses[i]) {
                continue;
            }
            wrong.block_bytes = 0; /* then nothing lies there */
            is_right(fabric, &wrong);
        }
    }
}

TEST(memory_that_is_not_the_programs_is_refused_null_too)
{
    each(try_pointers);
}

static void try_overlaps(struct fabric *fabric, uint32_t operation)
{
    const struct ecube_abi_collective right = right_call(operation);
    uint32_t rank = who_has(fabric, operation, SPACE_RECEIVE);

    for (uint32_t i = 0; i < fabric->count; i++) { /* both at one node */
        if (space_bytes(fabric, &right, SPACE_SEND, i) > 0 &&
            space_bytes(fabric, &right, SPACE_RECEIVE, i) > 0) {
            rank = i;
        }
    }
    if (rank == NODES_MAX || space_bytes(fabric, &right, SPACE_SEND, rank) == 0) {
        return;
    }
    uint32_t sent = space_bytes(fabric, &right, SPACE_SEND, rank);
    uint32_t received = space_bytes(fabric, &right, SPACE_RECEIVE, rank);
    struct ecube_abi_collective wrong = right;
    wrong.receive = wrong.send;
    is_refused(fabric, &wrong, rank, E_ARGUMENT);
    wrong.receive = wrong.send + sent - 1;
    is_refused(fabric, &wrong, rank, E_ARGUMENT);
    wrong.receive = right.receive;
    wrong.send = wrong.receive + received - 1;
    is_refused(fabric, &wrong, rank, E_ARGUMENT);
    wrong.send = wrong.receive + received; /* they touch */
    is_right(fabric, &wrong);
}

TEST(buffers_that_overlap_are_refused_and_such_that_touch_are_right)
{
    each(try_overlaps);
}

/* At the nodes whose part of the plan works in scratch. */
static void try_scratch(struct fabric *fabric, uint32_t operation)
{
    const struct ecube_abi_collective right = right_call(operation);
    const struct plan_request request = {.operation = operation,
                                         .root = right.root,
                                         .bytes = right.block_bytes,
                                         .type = right.type,
                                         .profile = &ipsc860};
    struct plan_fault fault;

    if (!operation_of(operation)->planned) {
        return;
    }
    struct plan *plan = plan_make(&fabric->network, &request, &fault);
    assert_non_null(plan);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        struct ecube_abi_collective calls[NODES_MAX];
        if (plan->scratch[plan->invariant ? 0 : rank] == 0 || right.block_bytes == 0) {
            continue;
        }
        for (unsigned i = 0; i < 4; i++) {
            enum space space = i % 2 ? SPACE_RECEIVE : SPACE_SEND;
            uint32_t at = space == SPACE_SEND ? right.send : right.receive;
            uint32_t bytes = space_bytes(fabric, &right, space, rank);
            for (uint32_t k = 0; k < fabric->count; k++) {
                calls[k] = right;
            }
            calls[rank].scratch = i < 2 ? at : at + bytes - 1;
            if (bytes == 0) {
                continue;
            }
            collective_fails(fabric, calls, rank, E_ARGUMENT);
            expect_told(fabric, rank, E_ARGUMENT);
        }
    }
    is_right(fabric, &right);
    plan_free(plan);
}

TEST(scratch_that_overlaps_a_buffer_is_refused)
{
    each(try_scratch);
}

/* What does not reduce has no type. */
static void try_types(struct fabric *fabric, uint32_t operation)
{
    struct ecube_abi_collective wrong = right_call(operation);

    if (!operation_of(operation)->reduces) {
        wrong.type = ECUBE_INT32;
        is_refused(fabric, &wrong, 2, E_ARGUMENT);
        wrong.type = 0;
        wrong.operator_ = ECUBE_SUM;
        is_refused(fabric, &wrong, 2, E_ARGUMENT);
        return;
    }
    for (uint32_t type = 0; type <= ECUBE_DOUBLE_INT32 + 1; type++) {
        for (uint32_t operator_ = 0; operator_ <= ECUBE_MAXLOC + 1; operator_++) {
            wrong.type = (uint8_t)type;
            wrong.operator_ = (uint8_t)operator_;
            if (!reduction_possible(type, operator_)) {
                is_refused(fabric, &wrong, (type + operator_) % fabric->count, E_ARGUMENT);
            }
        }
    }
    wrong.type = wrong.operator_ = UINT8_MAX;
    is_refused(fabric, &wrong, 1, E_ARGUMENT);
    for (uint32_t type = 1; type <= ECUBE_DOUBLE_INT32; type++) {
        wrong = right_call(operation);
        wrong.type = (uint8_t)type;
        wrong.operator_ = type >= ECUBE_INT32_INT32 ? ECUBE_MINLOC : ECUBE_SUM;
        wrong.block_bytes += reduction_element_bytes(type) / 2;
        if (reduction_element_bytes(type) > 1) {
            is_refused(fabric, &wrong, 0, E_ARGUMENT); /* no whole elements */
        }
    }
}

TEST(types_and_operators_that_do_not_go_together_are_refused)
{
    each(try_types);
}

/* A count that is made a size which no memory has, as the library does with one that overflows. */
static void try_sizes(struct fabric *fabric, uint32_t operation)
{
    struct ecube_abi_collective wrong = right_call(operation);

    if (wrong.block_bytes == 0 || operation_of(operation)->sized) {
        return;
    }
    wrong.block_bytes = UINT32_MAX - 3;
    is_refused(fabric, &wrong, ROOT, E_FAULT);
    wrong.block_bytes = UINT32_C(1) << 31;
    is_refused(fabric, &wrong, ROOT, E_FAULT);
}

TEST(sizes_that_no_memory_has_are_refused)
{
    each(try_sizes);
}

/* Of one node alone; the others are not asked. */
TEST(what_is_asked_for_beforehand_is_refused_alike)
{
    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct fabric *fabric = fabric_make_named(networks[i], DATA_BYTES, 1, no_fault, ipsc860);
        assert_true(fabric_start(fabric));
        for (uint32_t operation = 0; operation <= OPERATIONS; operation++) {
            for (unsigned k = 0; k < 4; k++) {
                const struct operation *row = operation_of(operation);
                bool asks_type = row && row->reduces;
                struct ecube_abi_plan plan = {
                    .operation = operation, .block_bytes = BYTES, .type = asks_type};
                if (k == 1) {
                    plan.root = row ? operation_roots(row, &fabric->network) : 0;
                }
                if (k == 2) {
                    plan.root = (uint32_t)-1;
                }
                if (k == 3) {
                    plan.type = asks_type ? ECUBE_DOUBLE_INT32 + 1 : ECUBE_INT32;
                }
                if (row && k == 0) {
                    continue;
                }
                for (uint32_t call = ECUBE_CALL_PLAN; call <= ECUBE_CALL_PREDICT; call++) {
                    memcpy(fabric_at(fabric, 2, FABRIC_DATA), &plan, sizeof plan);
                    assert_int_equal(fabric_call(fabric, 2, call, FABRIC_DATA, 0), E_ARGUMENT);
                }
            }
        }
        fabric_free(fabric);
    }
}
