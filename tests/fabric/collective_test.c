/*
 * collective_test.c - every operation on every kind of network, on real nodes: right data, and
 * model time equal to the planner's prediction, to the nanosecond.
 */
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "reduction/reduction.h"
#include "tests/fabric/collectives.h"
#include "tests/testing.h"

enum {
    BLOCK_MAX = 5000,
    SPACE_AT = COLLECTIVE_NODES_MAX * BLOCK_MAX,
    TABLE_AT = 2 * SPACE_AT,
    TABLE_BYTES = COLLECTIVE_NODES_MAX * sizeof(struct ecube_block)
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;
static const char *const networks[] = {
    "cube:0", "cube:1",  "cube:2",   "cube:3",   "cube:4",    "ring:1",      "ring:2",    "ring:3",
    "ring:5", "ring:16", "mesh:1x7", "mesh:3x4", "torus:3x3", "torus:3x4x2", "mesh:2x3x2"};

/* One operation: all clocks are set to one time, then it is measured. */
static void measure(struct fabric *fabric, const struct ecube_abi_collective *call)
{
    const struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
    const struct ecube_abi_collective called = collective_called(call);

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        collective_fill(fabric, rank, call);
    }
    collective_all_call(fabric, &align);
    uint64_t begin_ns = fabric_clock(fabric, 0);
    assert_true(begin_ns == collective_latest_clock(fabric));
    collective_all_call(fabric, &called);
    struct plan_time time = collective_predicted(fabric, call);
    uint64_t took_ns = collective_latest_clock(fabric) - begin_ns;
    if (took_ns != time.model_ns) {
        fail_msg("%s, root %u, %u bytes: took %lu ns, predicted %lu",
                 operation_name(call->operation), call->root, call->block_bytes,
                 (unsigned long)took_ns, (unsigned long)time.model_ns);
    }
    assert_true(took_ns >= time.bound_ns);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        collective_check(fabric, rank, call);
    }
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
        if (operation != ECUBE_BARRIER || sizes[i] == 0) {
            measure(fabric, &call);
        }
    }
}

TEST(on_every_network_data_is_right_and_time_is_as_predicted)
{
    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct fabric *fabric =
            fabric_make_named(networks[i], TABLE_AT + TABLE_BYTES, 1 + i, no_fault, ipsc860);
        print_message("%s\n", networks[i]);
        assert_true(fabric_start(fabric));
        for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
            const struct operation *row = operation_of(operation);
            if (!row) {
                continue;
            }
            uint32_t most = operation_roots(row, &fabric->network);
            uint32_t roots[] = {0, most / 2, most - 1};
            for (unsigned r = 0; row->planned && r < (most > 1 ? 3 : 1); r++) {
                every_size(fabric, operation, roots[r]);
            }
        }
        fabric_free(fabric);
    }
}
