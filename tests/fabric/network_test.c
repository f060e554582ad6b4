/*
 * network_test.c - rings, meshes and tori of real nodes: they boot and load, a message takes the
 * time of its hops, and what fills every place on wraparound still arrives.
 */
#include <stdio.h>

#include "drivers/status.h"
#include "node/state.h"
#include "router/channel_state.h"
#include "router/clock.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"
#include "wire/message.h"

enum { SHORT = 24, LONG = 20000, ROUNDS = 400, MESSAGES = 4 };

static const struct memory_fault no_fault, rare = {.drop_per_million = 200};
static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const char *const networks[] = {"ring:1",    "ring:2",    "ring:5",      "ring:16",
                                       "mesh:1x7",  "mesh:3x4",  "mesh:5x1x3",  "torus:2x2",
                                       "torus:3x3", "torus:4x4", "torus:3x4x2", "cube:4"};

static struct fabric *started(const char *name, struct memory_fault fault)
{
    struct fabric *fabric = fabric_make_named(name, 1 << 20, 11, fault, ipsc860);

    assert_true(fabric_start(fabric));
    return fabric;
}

static uint64_t send_alone(struct fabric *fabric, uint32_t from, uint32_t to, uint32_t bytes)
{
    uint64_t now = fabric_clock(fabric, from) > fabric_clock(fabric, to)
                       ? fabric_clock(fabric, from)
                       : fabric_clock(fabric, to);
    int32_t receive =
        fabric_message(fabric, to, ECUBE_CALL_RECEIVE, (int32_t)from, 1, FABRIC_DATA + LONG, bytes);
    int32_t send =
        fabric_message(fabric, from, ECUBE_CALL_SEND, (int32_t)to, 1, FABRIC_DATA, bytes);

    assert_true(receive >= 0 && send >= 0);
    struct ecube_abi_result result = fabric_wait(fabric, to, receive);
    assert_int_equal(result.status, E_OK);
    assert_int_equal(fabric_wait(fabric, from, send).status, E_OK);
    return result.done_ns - now;
}

TEST(a_message_alone_takes_the_time_of_its_hops)
{
    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        struct fabric *fabric = started(networks[n], no_fault);
        for (uint32_t to = 1; to < fabric->count; to++) {
            uint32_t hops = network_distance(&fabric->network, 0, to);
            uint32_t bytes = to % 2 ? SHORT : LONG;
            uint64_t alone_ns = ipsc860.xi_ns + (uint64_t)hops * ipsc860.tau_ns +
                                clock_transfer(&ipsc860, hops, bytes);
            uint64_t free_ns = 10000000000 * (to + 1); /* when all links have long been free */
            fabric_advance(fabric, 0, free_ns - fabric_clock(fabric, 0));
            fabric_advance(fabric, to, free_ns - fabric_clock(fabric, to));
            assert_int_equal(send_alone(fabric, 0, to, bytes), alone_ns);
        }
        fabric_free(fabric);
    }
}

/* Where the packets of a node have the longest way, in each dimension half round. */
static uint32_t opposite(const struct fabric *fabric, uint32_t rank)
{
    uint32_t by = 0;

    for (unsigned k = 0; k < fabric->network.dims; k++) {
        by += fabric->network.dim[k].size / 2 * fabric->network.dim[k].stride;
    }
    return network_translate(&fabric->network, rank, by);
}

static uint32_t forwarded(const struct fabric *fabric)
{
    uint32_t count = 0;

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        count += fabric_forwarded(fabric, rank);
    }
    return count;
}

static uint32_t to_forward; /* when all have come as far as the last node's neighbour */

static bool all_arrive(struct fabric *fabric)
{
    return forwarded(fabric) == to_forward;
}

/* How often one of these packets has gone over a cable, all together. */
static uint32_t carried(const struct fabric *fabric, uint8_t kind)
{
    uint32_t count = 0;

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        for (unsigned p = 0; p < fabric->network.ports; p++) {
            count += fabric->nodes[rank].ends[p].said.packets[kind];
        }
    }
    return count;
}

/* Words that mean nothing to who gets them: all nodes send as many as ever find a place. Each goes
 * over all cables of its way; one that is sent again, where bytes are lost, more often. */
static void flood(const char *name, struct memory_fault fault)
{
    struct fabric *fabric = started(name, fault);
    uint8_t word[RTS_REPLY_BYTES] = {0};
    uint32_t sent = 0, full = 0, before = forwarded(fabric);
    uint32_t hops = network_distance(&fabric->network, 0, opposite(fabric, 0));

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned rank = 0; rank < fabric->count; rank++) {
            struct router *router = &fabric->nodes[rank].node->router;
            while (router_send(router, PACKET_QUEUED, opposite(fabric, rank), word, sizeof word) ==
                   E_OK) {
                sent++;
            }
            full += router_slots_free(router) == 0;
        }
        fabric_round(fabric);
    }
    assert_int_equal(full, ROUNDS * fabric->count);
    assert_true(sent > fabric->count * ROUNDS / 8);
    to_forward = before + sent * (hops - 1);
    assert_true(fabric_run(fabric, all_arrive));
    fabric_settle(fabric);
    uint32_t most = fault.drop_per_million ? UINT32_MAX : sent * hops;
    assert_in_range(carried(fabric, PACKET_QUEUED), sent * hops, most);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_state(fabric, rank).counters[COUNTER_PACKETS_DROPPED], 0);
    }
    fabric_free(fabric);
}

TEST(packets_that_fill_every_place_of_a_ring_arrive)
{
    flood("ring:16", no_fault);
    flood("torus:4x4", no_fault);
    flood("torus:6x6", no_fault);
    flood("ring:5", no_fault);
    flood("ring:16", rare);
}

static int32_t requests[64][2 * MESSAGES];

static bool all_ended(struct fabric *fabric)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        for (unsigned i = 0; i < 2 * MESSAGES; i++) {
            if (!fabric_is_done(fabric, rank, requests[rank][i])) {
                return false;
            }
        }
    }
    return true;
}

/* Every node sends long messages to the opposite node of its ring, all at once. */
static uint32_t circuits(const char *name)
{
    struct fabric *fabric = started(name, no_fault);
    uint32_t refused = 0;

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        for (int32_t i = 0; i < MESSAGES; i++) {
            int32_t to = (int32_t)opposite(fabric, rank);
            requests[rank][i] = fabric_message(fabric, rank, ECUBE_CALL_RECEIVE, ECUBE_ANY, i,
                                               FABRIC_DATA + LONG * (uint32_t)(i + 1), LONG);
            requests[rank][MESSAGES + i] =
                fabric_message(fabric, rank, ECUBE_CALL_SEND, to, i, FABRIC_DATA, LONG);
        }
    }
    assert_true(fabric_run(fabric, all_ended));
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        refused += fabric_state(fabric, rank).counters[COUNTER_CIRCUITS_REFUSED];
    }
    fabric_free(fabric);
    return refused;
}

TEST(messages_all_round_a_ring_find_their_links)
{
    uint32_t refused = circuits("ring:4");
    refused += circuits("ring:16");
    refused += circuits("torus:4x4");
    refused += circuits("ring:5");
    assert_true(refused > 0); /* they did meet */
}
