/*
 * reduce_test.c - reduce, allreduce and scan by every algorithm, on real nodes, with every type:
 * the bits are those that the plan makes on the host; where brackets do not matter, those in the
 * order of ranks. Vectors pass chunks and slices, and lie at odd addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "drivers/status.h"
#include "reduction/reduction.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

enum {
    NODES_MAX = 16,
    VECTOR_MAX = 9999,
    SPACE_AT = 16 * 1024,
    MEMORY = 12 * SPACE_AT,
    ROOT = 1,
    VARIANT = 3
};

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};
static const struct memory_fault no_fault;
static const struct memory_fault losses = {.flip_per_million = 20000, .drop_per_million = 20000};
static const uint32_t operations[] = {ECUBE_REDUCE, ECUBE_ALLREDUCE, ECUBE_SCAN};

static uint64_t seed = 362436069;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* Of floating ones many sizes, of integers all bits; at times all ones or none. */
static void draw(uint32_t type, uint8_t *vector, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += 8) {
        uint64_t bits = next();
        if (type == ECUBE_DOUBLE || type == ECUBE_DOUBLE_INT32) {
            bits = (bits & ~(UINT64_C(0x7e0) << 52)) | UINT64_C(0x3e0) << 52;
        } else if (type == ECUBE_FLOAT || type == ECUBE_FLOAT_INT32) {
            bits = (bits & ~UINT64_C(0x7800000078000000)) | UINT64_C(0x3800000038000000);
        }
        bits = next() % 16 ? bits : next() % 2 ? 0 : UINT64_MAX;
        memcpy(vector + at, &bits, bytes - at < 8 ? bytes - at : 8);
    }
}

/* What ranks 0 to last have, in this order. */
static void in_order(struct fabric *fabric, const struct ecube_abi_collective *call, uint32_t last,
                     uint8_t *result)
{
    memcpy(result, fabric_at(fabric, 0, call->send), call->block_bytes);
    for (uint32_t rank = 1; rank <= last; rank++) {
        reduction_combine(call->type, call->operator_, result, fabric_at(fabric, rank, call->send),
                          call->block_bytes / reduction_element_bytes(call->type));
    }
}

static bool rounds(const struct ecube_abi_collective *call)
{
    return (call->type == ECUBE_FLOAT || call->type == ECUBE_DOUBLE) &&
           (call->operator_ == ECUBE_SUM || call->operator_ == ECUBE_PRODUCT);
}

static void expect_same(const struct ecube_abi_collective *call, uint32_t rank, const uint8_t *got,
                        const uint8_t *wanted, const char *whose)
{
    for (uint32_t i = 0; i < call->block_bytes; i++) {
        if (got[i] != wanted[i]) {
            fail_msg("%s, %s of %s: node %u, byte %u of %u: not %s",
                     operation_name(call->operation), reduction_operator_name(call->operator_),
                     reduction_type_name(call->type), rank, i, call->block_bytes, whose);
        }
    }
}

static void check(struct fabric *fabric, const struct plan *plan,
                  const struct ecube_abi_collective *call)
{
    static uint8_t results[NODES_MAX][VECTOR_MAX], whole[VECTOR_MAX];
    const uint8_t *send[NODES_MAX];
    uint8_t *receive[NODES_MAX];
    const struct plan_data data = {call->block_bytes, call->type, call->operator_, send, receive};

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        send[rank] = fabric_at(fabric, rank, call->send);
        receive[rank] = results[rank];
    }
    plan_perform(plan, &data);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        const uint8_t *got = fabric_at(fabric, rank, call->receive);
        if (call->operation == ECUBE_REDUCE && rank != ROOT) {
            continue;
        }
        expect_same(call, rank, got, results[rank], "what the plan makes");
        in_order(fabric, call, call->operation == ECUBE_SCAN ? rank : fabric->count - 1, whole);
        if (!rounds(call)) {
            expect_same(call, rank, got, whole, "what the ranks' order makes");
        }
        assert_int_equal(got[call->block_bytes], 0xee);
    }
}

static void reduce_one(struct fabric *fabric, const struct plan *plan, uint32_t type,
                       uint32_t operator_)
{
    uint32_t element_bytes = reduction_element_bytes(type);
    struct ecube_abi_collective call = {.operation = plan->operation,
                                        .root = plan->root,
                                        .block_bytes = VECTOR_MAX / element_bytes * element_bytes,
                                        .send = FABRIC_DATA + (uint32_t)(next() % 8),
                                        .receive = FABRIC_DATA + SPACE_AT + (uint32_t)(next() % 8),
                                        .type = (uint8_t)type,
                                        .operator_ = (uint8_t)operator_};
    int32_t requests[NODES_MAX];

    if (next() % 4 == 0) {
        call.block_bytes = (uint32_t)(next() % 80) * element_bytes;
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        draw(type, fabric_at(fabric, rank, call.send), call.block_bytes);
        memset(fabric_at(fabric, rank, call.receive), 0xee, call.block_bytes + 1);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, &call);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        int status = fabric_wait(fabric, rank, requests[rank]).status;
        if (status != E_OK) {
            fail_msg("%s by %s %u: status %d", operation_name(plan->operation),
                     plan_algorithm(plan), plan->variant, status);
        }
    }
    check(fabric, plan, &call);
}

/* Every type with two of its operators, other ones for the next plan. */
static void reduce_all(struct fabric *fabric, const struct plan *plan, uint32_t first)
{
    for (uint32_t type = 1; reduction_type_name(type); type++) {
        for (uint32_t i = 0, tried = 0; tried < 2; i++) {
            uint32_t operator_ = 1 + (first + 5 * i) % ECUBE_MAXLOC;
            if (reduction_possible(type, operator_)) {
                reduce_one(fabric, plan, type, operator_);
                tried++;
            }
        }
    }
}

static struct plan *laid(const struct network *network, const struct candidate *candidate)
{
    struct plan_request request = {
        .operation = candidate->operation, .bytes = VECTOR_MAX, .type = ECUBE_INT8};
    struct plan_fault fault = {.words = ""};

    if (operation_of(request.operation)->rooted) {
        request.root = ROOT;
    }
    if (candidate->variants) {
        uint32_t variants = candidate->variants(network, &request);
        request.variant = variants > VARIANT ? VARIANT : variants - 1;
    }
    struct plan *plan = candidate->plan(network, &request);
    if (!plan_prove(plan, &fault)) {
        assert_string_equal(fault.words, "");
    }
    return plan;
}

static void on_network(const char *name, struct memory_fault fault)
{
    const struct candidate *candidate;
    static uint32_t plans;

    for (unsigned o = 0; o < sizeof operations / sizeof operations[0]; o++) {
        for (unsigned i = 0; (candidate = candidate_of(operations[o], i)); i++) {
            struct fabric *fabric = fabric_make_named(name, MEMORY, 1 + plans, fault, ipsc860);
            if (candidate->possible(&fabric->network)) {
                struct plan *plan = laid(&fabric->network, candidate);
                assert_true(fabric_start(fabric));
                fabric_preload(fabric, plan);
                reduce_all(fabric, plan, plans++);
                plan_free(plan);
            }
            fabric_free(fabric);
        }
    }
}

TEST(every_type_is_reduced_by_every_algorithm)
{
    static const char *const names[] = {"cube:1", "cube:3",   "ring:5",
                                        "ring:6", "mesh:3x4", "torus:3x3"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        on_network(names[i], no_fault);
    }
}

/* What is repeated on a link must not be combined twice, and no link is taken for a dead one. */
TEST(lost_and_damaged_frames_change_no_bit)
{
    enum { ROUNDS = 2 };

    for (unsigned round = 0; round < ROUNDS; round++) {
        on_network("cube:3", losses);
    }
    on_network("mesh:2x3", losses);
}
