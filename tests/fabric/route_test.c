/*
 * route_test.c - circuits with a given route: a detour is paid for by the hop, the last hops may be
 * left to the network, and a path may be as long as an OPEN can say.
 */
#include <string.h>

#include "drivers/status.h"
#include "node/state.h"
#include "router/channel_state.h"
#include "router/circuit.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"
#include "wire/circuit.h"

enum { ARRIVED_AT = FABRIC_DATA + 4096, TAG = 9 };

/* Faults that are possible, and too rare to come: frames have checks. */
static const struct memory_fault no_fault, checked = {.drop_per_million = 1};
static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};

/* A message of node 0 to `dst` on a route, and the receive for it; the model time that it takes,
 * when all links are free. */
static uint64_t send_by(struct fabric *fabric, uint32_t dst, const struct open_hop *hops,
                        unsigned count, uint32_t bytes)
{
    static uint64_t issue_ns = 1000000000;
    static uint8_t list[HOP_LIST_BYTES_MAX];
    struct node *node = fabric->nodes[0].node;
    uint8_t *data = fabric_at(fabric, 0, FABRIC_DATA);
    struct circuit_source source = {.dst = dst,
                                    .tag = TAG,
                                    .flags = OPEN_ROUTE | OPEN_EAGER | OPEN_INLINE,
                                    .generation = fabric->runs,
                                    .hops = list,
                                    .issue_ns = issue_ns += 1000000000,
                                    .data = {data},
                                    .bytes = {bytes},
                                    .token = token_make(TOKEN_REQUEST, 0, 0)};

    for (uint32_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)(i * 7 + 1);
    }
    hop_list_pack(list, hops, count);
    int32_t request = fabric_message(fabric, dst, ECUBE_CALL_RECEIVE, 0, TAG, ARRIVED_AT, bytes);
    assert_true(request >= 0);
    assert_int_equal(router_open(&node->router, &source), E_OK);
    struct ecube_abi_result result = fabric_wait(fabric, dst, request);
    assert_int_equal(result.status, E_OK);
    assert_int_equal(result.bytes, bytes);
    assert_memory_equal(fabric_at(fabric, dst, ARRIVED_AT), data, bytes);
    fabric_settle(fabric);
    assert_true(router_quiet(&node->router));
    return result.done_ns - source.issue_ns;
}

static uint64_t alone_ns(uint32_t hops, uint32_t bytes)
{
    return ipsc860.xi_ns + (uint64_t)hops * ipsc860.tau_ns + clock_transfer(&ipsc860, hops, bytes);
}

static struct fabric *started(unsigned dims, struct memory_fault fault)
{
    struct fabric *fabric = fabric_make(dims, 1 << 20, 5, fault, ipsc860);

    assert_true(fabric_start(fabric));
    return fabric;
}

/* From 0 to 1 by way of 2 and 3; then the first hop only is given, to 4, whence the lowest
 * dimension comes first. */
TEST(a_message_takes_the_route_that_it_is_given)
{
    static const struct open_hop detour[] = {{1, 0}, {0, 0}, {1, 0}};
    static const struct open_hop over_4[] = {
        {2, 0}, {HOP_DIMENSION_ORDER, 0}, {HOP_DIMENSION_ORDER, 0}};
    uint32_t forwarded[8];

    struct fabric *fabric = started(3, no_fault);
    for (unsigned rank = 0; rank < 8; rank++) {
        forwarded[rank] = fabric_state(fabric, rank).counters[COUNTER_CIRCUITS_FORWARDED];
    }
    assert_int_equal(send_by(fabric, 1, detour, 3, 100), alone_ns(3, 100));
    assert_int_equal(send_by(fabric, 7, over_4, 3, 100), alone_ns(3, 100));
    for (unsigned rank = 0; rank < 8; rank++) {
        assert_int_equal(fabric_state(fabric, rank).counters[COUNTER_CIRCUITS_FORWARDED] -
                             forwarded[rank],
                         rank == 2 || rank == 3 || rank == 4 || rank == 5);
    }
    fabric_free(fabric);
}

/* A walk in the lower half of the cube that takes no link twice and never turns back, then a step
 * into the upper half; returns where it ends. Where it cannot go on it goes back and tries another
 * port. */
static uint32_t wander(struct open_hop hops[OPEN_HOPS_MAX], unsigned dims)
{
    static bool used[64][8];
    unsigned at = 0, depth = 0, port = 0;

    memset(used, 0, sizeof used);
    while (depth + 1 < OPEN_HOPS_MAX) {
        while (port + 1 < dims && (used[at][port] || (depth && hops[depth - 1].port == port))) {
            port++;
        }
        if (port + 1 < dims) {
            used[at][port] = true;
            hops[depth++] = (struct open_hop){(uint8_t)port, 0};
            at ^= 1u << port;
            port = 0;
        } else {
            assert_true(depth > 0);
            port = hops[--depth].port;
            at ^= 1u << port;
            used[at][port++] = false;
        }
    }
    hops[OPEN_HOPS_MAX - 1] = (struct open_hop){(uint8_t)(dims - 1), 0};
    return at ^ 1u << (dims - 1);
}

TEST(a_path_may_have_as_many_hops_as_an_open_can_say)
{
    struct open_hop hops[OPEN_HOPS_MAX];
    uint32_t most = open_inline_max(HOP_LIST_BYTES_MAX);

    for (unsigned i = 0; i < 2; i++) {
        struct fabric *fabric = started(6, i ? checked : no_fault);
        uint32_t dst = wander(hops, 6);
        assert_int_equal(send_by(fabric, dst, hops, OPEN_HOPS_MAX, most),
                         alone_ns(OPEN_HOPS_MAX, most));
        assert_int_equal(send_by(fabric, dst, hops, OPEN_HOPS_MAX, 8), alone_ns(OPEN_HOPS_MAX, 8));
        fabric_free(fabric);
    }
}
