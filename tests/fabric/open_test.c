/*
 * open_test.c - several collectives that a node has begun and not waited for: they end one after
 * the other in the order of their calls, messages pass between them, and programs compute
 * meanwhile. The data are right, and each takes its time to the nanosecond.
 */
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "sim/core/random.h"
#include "tests/fabric/collectives.h"
#include "tests/testing.h"

enum {
    NODES_MAX = 12,
    BYTES_MAX = 1200,
    SPACE_BYTES = NODES_MAX * BYTES_MAX,
    SCRATCH_BYTES = 4 * SPACE_BYTES,
    TABLE_BYTES = NODES_MAX * sizeof(struct ecube_block),
    PLACE_BYTES = 2 * SPACE_BYTES + SCRATCH_BYTES + TABLE_BYTES, /* of one collective */
    OPEN = 16,
    PIECES = 5, /* in which a program computes */
    MESSAGE_BYTES = 3000,
    MESSAGES_AT = FABRIC_DATA + OPEN * PLACE_BYTES,
    DATA_BYTES = (OPEN * PLACE_BYTES + 2 * OPEN * MESSAGE_BYTES) / 2 + 1024
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;
static const struct memory_fault losses = {.flip_per_million = 5000, .drop_per_million = 5000};
static const char *const networks[] = {"cube:3", "ring:5", "mesh:3x4", "torus:3x3", "cube:1"};

static struct fabric *started(const char *name, uint64_t seed, struct memory_fault fault)
{
    struct fabric *fabric = fabric_make_named(name, DATA_BYTES, seed, fault, ipsc860);

    assert_true(fabric_start(fabric));
    return fabric;
}

/* A call of an operation with buffers of its own; `root` is made one that it can have. */
static struct ecube_abi_collective call_at(const struct fabric *fabric, unsigned place,
                                           uint32_t operation, uint32_t bytes, uint32_t root)
{
    const struct operation *row = operation_of(operation);
    uint32_t at = FABRIC_DATA + place * PLACE_BYTES;

    return (struct ecube_abi_collective){.operation = operation,
                                         .root = root % operation_roots(row, &fabric->network),
                                         .block_bytes =
                                             row->planned && operation != ECUBE_BARRIER ? bytes : 0,
                                         .send = at,
                                         .receive = at + SPACE_BYTES,
                                         .scratch = at + 2 * SPACE_BYTES,
                                         .scratch_bytes = SCRATCH_BYTES,
                                         .type = row->reduces ? ECUBE_INT32 : 0,
                                         .operator_ = row->reduces ? ECUBE_SUM : 0,
                                         .send_blocks = at + PLACE_BYTES - TABLE_BYTES,
                                         .receive_blocks = at + PLACE_BYTES - TABLE_BYTES};
}

/* What the nodes have begun. */
struct begun {
    struct ecube_abi_collective calls[OPEN];
    int32_t requests[NODES_MAX][OPEN];
    int32_t sends[NODES_MAX][OPEN], receives[NODES_MAX][OPEN]; /* to the next, from the last rank */
};

static void draw_calls(struct fabric *fabric, struct begun *begun, uint64_t *seed)
{
    uint32_t operation;

    for (unsigned i = 0; i < OPEN; i++) {
        do {
            operation = random_below(seed, OPERATIONS);
        } while (!operation_of(operation));
        begun->calls[i] = call_at(fabric, i, operation, 4 * random_below(seed, BYTES_MAX / 4 + 1),
                                  random_below(seed, 1000));
        for (uint32_t rank = 0; rank < fabric->count; rank++) {
            collective_fill(fabric, rank, &begun->calls[i]);
        }
    }
}

static void *message_at(struct fabric *fabric, uint32_t rank, unsigned i, bool received)
{
    return fabric_at(fabric, rank, MESSAGES_AT + (2 * i + received) * MESSAGE_BYTES);
}

static uint32_t message_bytes(unsigned i)
{
    return i % 2 ? MESSAGE_BYTES : 40 * i;
}

/* Between two collectives a message goes round, which is short or long. */
static void begin_message(struct fabric *fabric, struct begun *begun, uint32_t rank, unsigned i)
{
    uint32_t next = (rank + 1) % fabric->count, last = (rank + fabric->count - 1) % fabric->count;
    uint32_t at = MESSAGES_AT + 2 * i * MESSAGE_BYTES;

    memset(message_at(fabric, rank, i, false), (int)(rank * 16 + i), MESSAGE_BYTES);
    begun->receives[rank][i] = fabric_message(fabric, rank, ECUBE_CALL_RECEIVE, (int32_t)last,
                                              (int32_t)i, at + MESSAGE_BYTES, MESSAGE_BYTES);
    begun->sends[rank][i] = fabric_message(fabric, rank, ECUBE_CALL_SEND, (int32_t)next, (int32_t)i,
                                           at, message_bytes(i));
    assert_true(begun->receives[rank][i] >= 0 && begun->sends[rank][i] >= 0);
}

/* Each node goes through its calls as the seed has it; some nodes are far ahead of others. */
static void begin_all(struct fabric *fabric, struct begun *begun, uint64_t *seed, bool messages)
{
    unsigned at[NODES_MAX] = {0}, left = fabric->count * OPEN;

    while (left > 0) {
        uint32_t rank = random_below(seed, fabric->count);
        for (unsigned k = 1 + random_below(seed, 4); k > 0 && at[rank] < OPEN; k--) {
            unsigned i = at[rank]++;
            const struct ecube_abi_collective called = collective_called(&begun->calls[i]);
            begun->requests[rank][i] = fabric_collective_with(fabric, rank, &called);
            assert_true(begun->requests[rank][i] >= 0);
            if (messages) {
                begin_message(fabric, begun, rank, i);
            }
            left--;
        }
        for (unsigned k = random_below(seed, 8); k > 0; k--) {
            fabric_round(fabric);
        }
    }
}

static void messages_are_right(struct fabric *fabric, const struct begun *begun, uint32_t rank)
{
    uint8_t last = (uint8_t)((rank + fabric->count - 1) % fabric->count);

    for (unsigned i = OPEN; i-- > 0;) {
        struct ecube_abi_result result = fabric_wait(fabric, rank, begun->receives[rank][i]);
        const uint8_t *data = message_at(fabric, rank, i, true);
        assert_int_equal(result.status, E_OK);
        assert_int_equal(result.bytes, message_bytes(i));
        for (uint32_t k = 0; k < result.bytes; k++) {
            assert_int_equal(data[k], (uint8_t)(last * 16 + i));
        }
        assert_int_equal(fabric_wait(fabric, rank, begun->sends[rank][i]).status, E_OK);
    }
}

/* The nodes wait for the last call first: when that is over all are. */
static void all_are_right(struct fabric *fabric, const struct begun *begun)
{
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        uint64_t later_ns = UINT64_MAX;
        for (unsigned i = OPEN; i-- > 0;) {
            int32_t request = begun->requests[rank][i];
            assert_true(i == OPEN - 1 || fabric_is_done(fabric, rank, request));
            struct ecube_abi_result result = fabric_wait(fabric, rank, request);
            if (result.status != E_OK) {
                fail_msg("%s, node %u, call %u: %s", operation_name(begun->calls[i].operation),
                         rank, i, status_text(result.status));
            }
            assert_true(result.done_ns <= later_ns);
            later_ns = result.done_ns;
        }
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        for (unsigned i = 0; i < OPEN; i++) {
            collective_check(fabric, rank, &begun->calls[i]);
        }
    }
}

TEST(collectives_that_are_open_at_once_end_in_order_with_messages_between)
{
    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        for (uint64_t trial = 1; trial <= 6; trial++) {
            uint64_t seed = trial + 100 * n;
            bool messages = trial % 3 > 0;
            struct fabric *fabric = started(networks[n], seed, trial % 2 ? no_fault : losses);
            struct begun begun;
            draw_calls(fabric, &begun, &seed);
            begin_all(fabric, &begun, &seed, messages);
            all_are_right(fabric, &begun);
            for (uint32_t rank = 0; messages && rank < fabric->count; rank++) {
                messages_are_right(fabric, &begun, rank);
            }
            for (uint32_t rank = 0; rank < fabric->count; rank++) {
                assert_int_equal(fabric->nodes[rank].node->request_count, 0);
            }
            fabric_free(fabric);
        }
    }
}

/* Every other one is an align, from which the next begins at all nodes at the same time. */
TEST(between_aligns_each_takes_what_is_predicted)
{
    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        uint64_t seed = n;
        struct fabric *fabric = started(networks[n], 1 + n, no_fault);
        struct begun begun;
        uint64_t done_ns[OPEN] = {0};
        draw_calls(fabric, &begun, &seed);
        for (unsigned i = 0; i < OPEN; i += 2) {
            begun.calls[i] = call_at(fabric, i, ECUBE_ALIGN, 0, 0);
        }
        begin_all(fabric, &begun, &seed, false);
        for (unsigned i = 0; i < OPEN; i++) {
            for (uint32_t rank = 0; rank < fabric->count; rank++) {
                struct ecube_abi_result result = fabric_wait(fabric, rank, begun.requests[rank][i]);
                assert_int_equal(result.status, E_OK);
                assert_true(i % 2 || rank == 0 || result.done_ns == done_ns[i]);
                done_ns[i] = result.done_ns > done_ns[i] ? result.done_ns : done_ns[i];
            }
        }
        for (unsigned i = 1; i < OPEN; i += 2) {
            if (begun.calls[i].operation != ECUBE_ALIGN) {
                assert_int_equal(done_ns[i] - done_ns[i - 1],
                                 collective_predicted(fabric, &begun.calls[i]).model_ns);
            }
        }
        fabric_free(fabric);
    }
}

/* The kernel holds so many open; the next one is refused, and the others are as they were. */
TEST(one_more_than_there_is_room_for_is_refused)
{
    struct fabric *fabric = started("cube:1", 1, no_fault);
    const struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};

    for (uint32_t rank = 0; rank < 2; rank++) {
        for (int32_t i = 0; i < ECUBE_REQUESTS_MAX; i++) {
            assert_int_equal(fabric_collective_with(fabric, rank, &barrier), i);
        }
        assert_int_equal(fabric_collective_with(fabric, rank, &barrier), E_FULL);
    }
    for (uint32_t rank = 0; rank < 2; rank++) {
        for (int32_t i = 0; i < ECUBE_REQUESTS_MAX; i++) {
            assert_int_equal(fabric_wait(fabric, rank, i).status, E_OK);
        }
    }
    collective_all_call(fabric, &barrier);
    fabric_free(fabric);
}

/* A program computes for `ns`, in pieces between which others go on, and waits: how it ended. The
 * clock shows what takes longer. */
static struct ecube_abi_result computes_and_waits(struct fabric *fabric, uint32_t rank,
                                                  int32_t request, uint64_t ns)
{
    uint64_t ready_ns = fabric_clock(fabric, rank) + ns;

    for (unsigned i = 0; i < PIECES; i++) {
        assert_int_equal(fabric_advance(fabric, rank, ns / PIECES), E_OK);
        fabric_round(fabric);
    }
    struct ecube_abi_result result = fabric_wait(fabric, rank, request);
    assert_true(fabric_clock(fabric, rank) ==
                (result.done_ns > ready_ns ? result.done_ns : ready_ns));
    return result;
}

/* Nodes compute while it is under way, some for less than it takes and some for more. Nobody's
 * computing delays it, and its time does not add to theirs. */
static void overlaps(struct fabric *fabric, const struct ecube_abi_collective *call)
{
    const struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
    const struct ecube_abi_collective called = collective_called(call);
    uint64_t predicted_ns = collective_predicted(fabric, call).model_ns, latest_ns = 0;
    int32_t requests[NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        collective_fill(fabric, rank, call);
    }
    collective_all_call(fabric, &align);
    uint64_t begin_ns = fabric_clock(fabric, 0);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective_with(fabric, rank, &called);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        uint64_t work_ns = predicted_ns * (rank % 4) / 2 / PIECES * PIECES;
        struct ecube_abi_result result = computes_and_waits(fabric, rank, requests[rank], work_ns);
        assert_int_equal(result.status, E_OK);
        latest_ns = result.done_ns > latest_ns ? result.done_ns : latest_ns;
    }
    if (latest_ns - begin_ns != predicted_ns) {
        fail_msg("%s, root %u: took %lu ns, predicted %lu", operation_name(call->operation),
                 call->root, (unsigned long)(latest_ns - begin_ns), (unsigned long)predicted_ns);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        collective_check(fabric, rank, call);
    }
}

TEST(programs_compute_while_any_collective_is_under_way)
{
    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        struct fabric *fabric = started(networks[n], 1 + n, no_fault);
        for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
            if (operation_of(operation) && operation_of(operation)->planned) {
                for (uint32_t bytes = 100; bytes <= BYTES_MAX; bytes += 1000) {
                    struct ecube_abi_collective call = call_at(fabric, 0, operation, bytes, n);
                    overlaps(fabric, &call);
                }
            }
        }
        fabric_free(fabric);
    }
}
