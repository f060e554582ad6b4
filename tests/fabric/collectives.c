/* Blocks that know from whom and for whom they are. */
#include "tests/fabric/collectives.h"

#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "network/text.h"
#include "tests/judge/promise.h"
#include "tests/testing.h"

static struct task task_of(const struct fabric *fabric, const struct ecube_abi_collective *call)
{
    struct task task = {
        .promise = promise_numbered(call->operation), .root = call->root, .segments = 1};
    char name[NETWORK_NAME_MAX];

    network_name(&fabric->network, name);
    assert_true(task.promise && shape_read(&task.shape, name));
    return task;
}

/* Byte i of a block; of what is combined: of what these ranks give, elements that add up exactly.
 */
static uint8_t byte_of(const struct task *task, const struct ecube_abi_collective *call,
                       uint32_t block, uint32_t first_rank, uint32_t end_rank, uint32_t i)
{
    if (!task->promise->combines) {
        return (uint8_t)((block * UINT32_C(2654435761) >> 13) + i * 7 + (i >> 8));
    }
    uint32_t element = (block * call->block_bytes + i) / 4, sum = 0;
    for (uint32_t rank = first_rank; rank < end_rank; rank++) {
        sum += rank * 1000 + element;
    }
    return (uint8_t)(sum >> 8 * (i % 4));
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

void collective_fill(struct fabric *fabric, uint32_t rank, const struct ecube_abi_collective *call)
{
    struct task task = task_of(fabric, call);
    uint32_t gives = task_slots(&task, rank, false), gets = task_slots(&task, rank, true);
    uint32_t at = task.promise->in_place ? call->receive : call->send;
    uint8_t *given = gives ? fabric_at(fabric, rank, at) : NULL;

    if (gets) {
        memset(fabric_at(fabric, rank, call->receive), 0, (size_t)gets * call->block_bytes);
    }
    if (call->operation == ECUBE_EXCHANGEV) {
        write_blocks(fabric, rank, call);
    }
    for (uint32_t slot = 0; slot < gives; slot++) {
        uint32_t block = task_block(&task, rank, false, slot);
        for (uint32_t i = 0; i < call->block_bytes; i++) {
            *given++ = byte_of(&task, call, block, rank, rank + 1, i);
        }
    }
}

void collective_check(struct fabric *fabric, uint32_t rank, const struct ecube_abi_collective *call)
{
    struct task task = task_of(fabric, call);
    uint32_t gets = task_slots(&task, rank, true);
    const uint8_t *got = gets ? fabric_at(fabric, rank, call->receive) : NULL;

    for (uint32_t slot = 0; slot < gets; slot++) {
        uint32_t block = task_block(&task, rank, true, slot);
        for (uint32_t i = 0; i < call->block_bytes; i++) {
            if (*got++ != byte_of(&task, call, block, 0, task_givers(&task, rank), i)) {
                fail_msg("%s, root %u, %u bytes: node %u, slot %u, byte %u", task.promise->name,
                         call->root, call->block_bytes, rank, slot, i);
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

struct ecube_abi_collective collective_called(const struct ecube_abi_collective *call)
{
    struct ecube_abi_collective called = *call;

    if (call->operation == ECUBE_EXCHANGEV) {
        called.block_bytes = ECUBE_EXCHANGEV_BYTES;
    }
    return called;
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
