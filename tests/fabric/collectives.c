/* Blocks that know from whom and for whom they are. */
#include "tests/fabric/collectives.h"

#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "tests/testing.h"

static uint8_t pattern(uint32_t from, uint32_t to, uint32_t i)
{
    return (uint8_t)(from * 31 + to * 17 + i * 7 + (i >> 8));
}

/* Where an operation says where each block lies: all are alike, and in the order of ranks. */
static void write_blocks(struct fabric *fabric, uint32_t rank,
                         const struct ecube_abi_collective *call)
{
    struct ecube_block *blocks = fabric_at(fabric, rank, call->send_blocks);

    for (uint32_t i = 0; i < fabric->count; i++) {
        blocks[i] = (struct ecube_block){i * call->block_bytes, call->block_bytes};
    }
}

/* What slot `to` of the send space holds at node `from`: of a vector elements that add up exactly.
 */
void collective_fill(struct fabric *fabric, uint32_t from, const struct ecube_abi_collective *call)
{
    const struct operation *operation = operation_of(call->operation);
    uint32_t slots = operation_slots(operation, SPACE_SEND, fabric->count, from, call->root, 1);
    uint32_t received =
        operation_slots(operation, SPACE_RECEIVE, fabric->count, from, call->root, 1);
    uint8_t *send = slots ? fabric_at(fabric, from, call->send) : NULL;
    uint8_t *receive = received ? fabric_at(fabric, from, call->receive) : NULL;

    if (received) {
        memset(receive, 0, (size_t)received * call->block_bytes);
    }
    if (operation->sized) {
        write_blocks(fabric, from, call);
    }
    for (uint32_t to = 0; to < slots; to++) {
        for (uint32_t i = 0; i < call->block_bytes; i++) {
            send[to * call->block_bytes + i] = pattern(from, to, i);
        }
    }
    if (call->operation == ECUBE_BROADCAST && from == call->root) {
        for (uint32_t i = 0; i < call->block_bytes; i++) {
            receive[i] = pattern(from, 0, i);
        }
    }
    if (operation->reduces) {
        for (uint32_t i = 0; i < slots * call->block_bytes / 4; i++) {
            int32_t value = (int32_t)(from * 1000 + i);
            memcpy(send + 4 * i, &value, sizeof value);
        }
    }
}

/* The node whose coordinates of some dimensions, of all by 0, are read from the other end. */
static uint32_t opposite(const struct fabric *fabric, uint32_t rank, uint32_t dimensions)
{
    uint32_t other = rank, stride = 1;

    for (unsigned k = 0; k < fabric->network.dims; k++) {
        uint32_t size = fabric->network.dim[k].size, at = rank / stride % size;
        if (dimensions == 0 || dimensions >> k & 1) {
            other = other - at * stride + (size - 1 - at) * stride;
        }
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
        if (call->operation == ECUBE_REDUCE_SCATTER) {
            i += rank * call->block_bytes;
        }
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

void collective_check(struct fabric *fabric, uint32_t rank, const struct ecube_abi_collective *call)
{
    uint32_t slots = operation_slots(operation_of(call->operation), SPACE_RECEIVE, fabric->count,
                                     rank, call->root, 1);
    const uint8_t *received = slots ? fabric_at(fabric, rank, call->receive) : NULL;

    for (uint32_t slot = 0; slot < slots; slot++) {
        for (uint32_t i = 0; i < call->block_bytes; i++) {
            if (received[slot * call->block_bytes + i] != expected(fabric, rank, call, slot, i)) {
                fail_msg("%s, root %u, %u bytes: node %u, slot %u, byte %u",
                         operation_name(call->operation), call->root, call->block_bytes, rank, slot,
                         i);
            }
        }
    }
}

void collective_all_call(struct fabric *fabric, const struct ecube_abi_collective *call)
{
    int32_t requests[COLLECTIVE_NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, call);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        struct ecube_abi_result result = fabric_wait(fabric, rank, requests[rank]);
        if (result.status != E_OK) {
            fail_msg("%s, root %u, %u bytes: node %u: %s", operation_name(call->operation),
                     call->root, call->block_bytes, rank, status_text(result.status));
        }
    }
}

/* With what each node's call ends. */
static void call_all(struct fabric *fabric, const struct ecube_abi_collective *calls, int *statuses)
{
    int32_t requests[COLLECTIVE_NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective_with(fabric, rank, &calls[rank]);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        statuses[rank] = fabric_wait(fabric, rank, requests[rank]).status;
    }
    fabric_settle(fabric);
}

void collective_all_end(struct fabric *fabric, const struct ecube_abi_collective *calls, int status)
{
    int statuses[COLLECTIVE_NODES_MAX];

    call_all(fabric, calls, statuses);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(statuses[rank], status);
    }
}

void collective_fails(struct fabric *fabric, const struct ecube_abi_collective *calls,
                      uint32_t wrong, int status)
{
    int statuses[COLLECTIVE_NODES_MAX];
    uint32_t count = 0;

    call_all(fabric, calls, statuses);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        bool cannot = wrong == COLLECTIVE_SOME ? statuses[rank] == status : rank == wrong;
        assert_int_equal(statuses[rank], cannot ? status : E_ELSEWHERE);
        count += cannot;
    }
    assert_true(count > 0);
}

struct plan_time collective_predicted(struct fabric *fabric,
                                      const struct ecube_abi_collective *call)
{
    const struct plan_request request = {.operation = call->operation,
                                         .root = call->root,
                                         .bytes = call->block_bytes,
                                         .type = call->type};
    struct plan_time time;
    uint32_t steps;
    int status;

    assert_true(plan_cache_predict(fabric->cache, &request, &time, &steps, &status));
    return time;
}

uint64_t collective_latest_clock(struct fabric *fabric)
{
    uint64_t latest_ns = 0;

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        if (fabric_clock(fabric, rank) > latest_ns) {
            latest_ns = fabric_clock(fabric, rank);
        }
    }
    return latest_ns;
}
