/*
 * collective_test.c - every operation on every kind of network, on real nodes: right data, and
 * model time equal to the planner's prediction, to the nanosecond.
 */
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "reduction/reduction.h"
#include "tests/fabric/fabric.h"
#include "tests/unit/testing.h"

enum {
    BLOCK_MAX = 5000,
    NODES_MAX = 64,
    SPACE_AT = NODES_MAX * BLOCK_MAX,
    TABLE_AT = 2 * SPACE_AT,
    TABLE_BYTES = NODES_MAX * sizeof(struct ecube_block)
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0};
static const struct memory_fault no_fault;
static const char *const networks[] = {
    "cube:0", "cube:1",  "cube:2",   "cube:3",   "cube:4",    "ring:1",      "ring:2",    "ring:3",
    "ring:5", "ring:16", "mesh:1x7", "mesh:3x4", "torus:3x3", "torus:3x4x2", "mesh:2x3x2"};

static uint8_t pattern(uint32_t from, uint32_t to, uint32_t i)
{
    return (uint8_t)(from * 31 + to * 17 + i * 7 + (i >> 8));
}

/* Where an operation says where each block lies: all are alike, and in the order of ranks. */
static void write_blocks(struct fabric *fabric, uint32_t rank,
                         const struct ecube_abi_collective *call)
{
    struct ecube_block *blocks = fabric_at(fabric, rank, call->send_blocks);

    for (uint32_t i = 0; i < fabric->count; i++)
        blocks[i] = (struct ecube_block){i * call->block_bytes, call->block_bytes};
}

/* What slot `to` of the send space holds at node `from`: of a vector elements that add up exactly.
 */
static void fill(struct fabric *fabric, uint32_t from, const struct ecube_abi_collective *call)
{
    const struct operation *operation = operation_of(call->operation);
    uint32_t slots = operation_slots(operation, SPACE_SEND, fabric->count, from, call->root, 1);
    uint8_t *send = fabric_at(fabric, from, call->send);
    uint8_t *receive = fabric_at(fabric, from, call->receive);

    memset(receive, 0, SPACE_AT);
    if (operation->sized)
        write_blocks(fabric, from, call);
    for (uint32_t to = 0; to < slots; to++)
        for (uint32_t i = 0; i < call->block_bytes; i++)
            send[to * call->block_bytes + i] = pattern(from, to, i);
    if (call->operation == ECUBE_BROADCAST && from == call->root)
        for (uint32_t i = 0; i < call->block_bytes; i++)
            receive[i] = pattern(from, 0, i);
    if (operation->reduces)
        for (uint32_t i = 0; i < slots * call->block_bytes / 4; i++) {
            int32_t value = (int32_t)(from * 1000 + i);
            memcpy(send + 4 * i, &value, sizeof value);
        }
}

/* The node whose coordinates of some dimensions, of all by 0, are read from the other end. */
static uint32_t opposite(const struct fabric *fabric, uint32_t rank, uint32_t dimensions)
{
    uint32_t other = rank, stride = 1;

    for (unsigned k = 0; k < fabric->network.dims; k++) {
        uint32_t size = fabric->network.dim[k].size, at = rank / stride % size;
        if (dimensions == 0 || dimensions >> k & 1)
            other = other - at * stride + (size - 1 - at) * stride;
        stride *= size;
    }
    return other;
}

/* Byte i of slot `slot` of what node `rank` must receive. */
static uint8_t expected(const struct fabric *fabric, uint32_t rank,
                        const struct ecube_abi_collective *call, uint32_t slot, uint32_t i)
{
    if (operation_of(call->operation)->reduces) {
        uint32_t nodes = call->operation == ECUBE_SCAN ? rank + 1 : fabric->count;
        if (call->operation == ECUBE_REDUCE_SCATTER)
            i += rank * call->block_bytes;
        uint32_t sum = 1000 * (nodes * (nodes - 1) / 2) + nodes * (i / 4);
        return (uint8_t)(sum >> 8 * (i % 4));
    }
    switch (call->operation) {
    case ECUBE_BROADCAST: return pattern(call->root, 0, i);
    case ECUBE_SCATTER: return pattern(call->root, rank, i);
    case ECUBE_EXCHANGE:
    case ECUBE_EXCHANGEV: return pattern(slot, rank, i);
    case ECUBE_SHIFT: return pattern((rank + fabric->count - call->root) % fabric->count, 0, i);
    case ECUBE_REVERSE: return pattern(opposite(fabric, rank, call->root), 0, i);
    default: return pattern(slot, 0, i); /* gather, allgather */
    }
}

static void check(struct fabric *fabric, uint32_t rank, const struct ecube_abi_collective *call)
{
    uint32_t slots = operation_slots(operation_of(call->operation), SPACE_RECEIVE, fabric->count,
                                     rank, call->root, 1);
    const uint8_t *received = fabric_at(fabric, rank, call->receive);

    for (uint32_t slot = 0; slot < slots; slot++)
        for (uint32_t i = 0; i < call->block_bytes; i++)
            if (received[slot * call->block_bytes + i] != expected(fabric, rank, call, slot, i))
                fail_msg("%s, root %u, %u bytes: node %u, slot %u, byte %u",
                         operation_name(call->operation), call->root, call->block_bytes, rank, slot,
                         i);
}

static void all_call(struct fabric *fabric, const struct ecube_abi_collective *call)
{
    int32_t requests[NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++)
        requests[rank] = fabric_collective(fabric, rank, call);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        struct ecube_abi_result result = fabric_wait(fabric, rank, requests[rank]);
        if (result.status != E_OK)
            fail_msg("%s, root %u, %u bytes: node %u: %s", operation_name(call->operation),
                     call->root, call->block_bytes, rank, status_text(result.status));
    }
}

static uint64_t latest_clock(struct fabric *fabric)
{
    uint64_t latest_ns = 0;

    for (uint32_t rank = 0; rank < fabric->count; rank++)
        if (fabric_clock(fabric, rank) > latest_ns)
            latest_ns = fabric_clock(fabric, rank);
    return latest_ns;
}

/* One operation: all clocks are set to one time, then it is measured. */
static void measure(struct fabric *fabric, const struct ecube_abi_collective *call)
{
    struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
    struct plan_wish wish = {.operation = call->operation,
                             .root = call->root,
                             .bytes = call->block_bytes,
                             .type = call->type};
    struct plan_time time;
    uint32_t steps;
    int status;

    for (uint32_t rank = 0; rank < fabric->count; rank++)
        fill(fabric, rank, call);
    all_call(fabric, &align);
    uint64_t begin_ns = fabric_clock(fabric, 0);
    assert_true(begin_ns == latest_clock(fabric));
    all_call(fabric, call);
    assert_true(plan_desk_predict(fabric->desk, &wish, &time, &steps, &status));
    uint64_t took_ns = latest_clock(fabric) - begin_ns;
    if (took_ns != time.model_ns)
        fail_msg("%s, root %u, %u bytes: took %lu ns, predicted %lu",
                 operation_name(call->operation), call->root, call->block_bytes,
                 (unsigned long)took_ns, (unsigned long)time.model_ns);
    assert_true(took_ns >= time.bound_ns);
    for (uint32_t rank = 0; rank < fabric->count; rank++)
        check(fabric, rank, call);
}

static void every_size(struct fabric *fabric, uint32_t operation, uint32_t root)
{
    static const uint32_t sizes[] = {0, 4, 100, 1024, 1028, BLOCK_MAX};
    bool reduces = operation_of(operation)->reduces;

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ecube_abi_collective call = {.operation = operation,
                                            .root = root,
                                            .block_bytes = sizes[i],
                                            .send = FABRIC_DATA,
                                            .receive = FABRIC_DATA + SPACE_AT,
                                            .type = reduces ? ECUBE_INT32 : 0,
                                            .operator_ = reduces ? ECUBE_SUM : 0,
                                            .send_blocks = FABRIC_DATA + TABLE_AT,
                                            .receive_blocks = FABRIC_DATA + TABLE_AT};
        if (operation != ECUBE_BARRIER || sizes[i] == 0)
            measure(fabric, &call);
    }
}

static void on_every_network_data_is_right_and_time_is_as_predicted(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct fabric *fabric =
            fabric_make_named(networks[i], TABLE_AT + TABLE_BYTES, 1 + i, no_fault, ipsc860);
        print_message("%s\n", networks[i]);
        assert_true(fabric_start(fabric));
        for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
            const struct operation *row = operation_of(operation);
            if (!row)
                continue;
            uint32_t most = operation_roots(row, &fabric->network);
            uint32_t roots[] = {0, most / 2, most - 1};
            for (unsigned r = 0; row->planned && r < (most > 1 ? 3 : 1); r++)
                every_size(fabric, operation, roots[r]);
        }
        fabric_free(fabric);
    }
}

TEST_MAIN(cmocka_unit_test(on_every_network_data_is_right_and_time_is_as_predicted))
