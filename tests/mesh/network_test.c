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
#include "tests/mesh/mesh.h"
#include "tests/unit/testing.h"
#include "wire/message.h"

enum { SHORT = 24, LONG = 20000, ROUNDS = 400, MESSAGES = 4 };

static const struct memory_fault no_fault, rare = {.drop_per_million = 200};
static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0};
static const char *const networks[] = {"ring:1",    "ring:2",    "ring:5",      "ring:16",
                                       "mesh:1x7",  "mesh:3x4",  "mesh:5x1x3",  "torus:2x2",
                                       "torus:3x3", "torus:4x4", "torus:3x4x2", "cube:4"};

static struct mesh *started(const char *name, struct memory_fault fault)
{
    struct mesh *mesh = mesh_make_named(name, 1 << 20, 11, fault, ipsc860);

    assert_true(mesh_start(mesh));
    return mesh;
}

static uint64_t send_alone(struct mesh *mesh, uint32_t from, uint32_t to, uint32_t bytes)
{
    uint64_t now = mesh_clock(mesh, from) > mesh_clock(mesh, to) ? mesh_clock(mesh, from)
                                                                 : mesh_clock(mesh, to);
    int32_t receive =
        mesh_message(mesh, to, ECUBE_CALL_RECEIVE, (int32_t)from, 1, MESH_DATA + LONG, bytes);
    int32_t send = mesh_message(mesh, from, ECUBE_CALL_SEND, (int32_t)to, 1, MESH_DATA, bytes);

    assert_true(receive >= 0 && send >= 0);
    struct ecube_abi_result result = mesh_wait(mesh, to, receive);
    assert_int_equal(result.status, E_OK);
    assert_int_equal(mesh_wait(mesh, from, send).status, E_OK);
    return result.done_ns - now;
}

static void a_message_alone_takes_the_time_of_its_hops(void **state)
{
    (void)state;
    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        struct mesh *mesh = started(networks[n], no_fault);
        for (uint32_t to = 1; to < mesh->count; to++) {
            uint32_t hops = network_distance(&mesh->network, 0, to);
            uint32_t bytes = to % 2 ? SHORT : LONG;
            uint64_t alone_ns = ipsc860.xi_ns + (uint64_t)hops * ipsc860.tau_ns +
                                clock_transfer(&ipsc860, hops, bytes);
            mesh->nodes[0].node->clock_ns = mesh->nodes[to].node->clock_ns =
                10000000000 * (to + 1); /* when all links have long been free */
            assert_int_equal(send_alone(mesh, 0, to, bytes), alone_ns);
        }
        mesh_free(mesh);
    }
}

static void collectives_have_no_schedule_but_on_cubes(void **state)
{
    (void)state;
    for (unsigned n = 0; n + 1 < sizeof networks / sizeof networks[0]; n++) {
        struct mesh *mesh = started(networks[n], no_fault);
        struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
        for (unsigned rank = 0; rank < mesh->count; rank++)
            assert_int_equal(mesh_collective(mesh, rank, &barrier), E_NETWORK);
        mesh_free(mesh);
    }
}

/* Where the packets of a node have the longest way, in each dimension half round. */
static uint32_t opposite(const struct mesh *mesh, uint32_t rank)
{
    uint32_t by = 0;

    for (unsigned k = 0; k < mesh->network.dims; k++)
        by += mesh->network.dim[k].size / 2 * mesh->network.dim[k].stride;
    return network_translate(&mesh->network, rank, by);
}

static bool all_arrived(struct mesh *mesh)
{
    for (unsigned rank = 0; rank < mesh->count; rank++) {
        const struct router *router = &mesh->nodes[rank].node->router;
        if (router_slots_free(router) < SLOTS_MAX || router->routed_due)
            return false;
    }
    return true;
}

/* Words that mean nothing to who gets them: all nodes send as many as ever find a place. */
static void flood(const char *name, struct memory_fault fault)
{
    struct mesh *mesh = started(name, fault);
    uint8_t word[RTS_REPLY_BYTES] = {0};
    unsigned sent = 0, full = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned rank = 0; rank < mesh->count; rank++) {
            struct router *router = &mesh->nodes[rank].node->router;
            while (router_send(router, PACKET_QUEUED, opposite(mesh, rank), word, sizeof word) ==
                   E_OK)
                sent++;
            full += router_slots_free(router) == 0;
        }
        mesh_round(mesh);
    }
    assert_int_equal(full, ROUNDS * mesh->count);
    assert_true(sent > mesh->count * ROUNDS / 8);
    assert_true(mesh_run(mesh, all_arrived));
    for (unsigned rank = 0; rank < mesh->count; rank++)
        assert_int_equal(mesh_state(mesh, rank).counters[COUNTER_PACKETS_DROPPED], 0);
    mesh_free(mesh);
}

static void packets_that_fill_every_place_of_a_ring_arrive(void **state)
{
    (void)state;
    flood("ring:16", no_fault);
    flood("torus:4x4", no_fault);
    flood("torus:6x6", no_fault);
    flood("ring:5", no_fault);
    flood("ring:16", rare);
}

static int32_t requests[64][2 * MESSAGES];

static bool all_ended(struct mesh *mesh)
{
    for (unsigned rank = 0; rank < mesh->count; rank++)
        for (unsigned i = 0; i < 2 * MESSAGES; i++)
            if (mesh->nodes[rank].node->requests[requests[rank][i]].state != STATE_DONE)
                return false;
    return true;
}

/* Every node sends long messages to the opposite node of its ring, all at once. */
static uint32_t circuits(const char *name)
{
    struct mesh *mesh = started(name, no_fault);
    uint32_t refused = 0;

    for (unsigned rank = 0; rank < mesh->count; rank++)
        for (int32_t i = 0; i < MESSAGES; i++) {
            int32_t to = (int32_t)opposite(mesh, rank);
            requests[rank][i] = mesh_message(mesh, rank, ECUBE_CALL_RECEIVE, ECUBE_ANY, i,
                                             MESH_DATA + LONG * (uint32_t)(i + 1), LONG);
            requests[rank][MESSAGES + i] =
                mesh_message(mesh, rank, ECUBE_CALL_SEND, to, i, MESH_DATA, LONG);
        }
    assert_true(mesh_run(mesh, all_ended));
    for (unsigned rank = 0; rank < mesh->count; rank++)
        refused += mesh_state(mesh, rank).counters[COUNTER_CIRCUITS_REFUSED];
    mesh_free(mesh);
    return refused;
}

static void messages_all_round_a_ring_find_their_links(void **state)
{
    (void)state;
    uint32_t refused = circuits("ring:4");
    refused += circuits("ring:16");
    refused += circuits("torus:4x4");
    refused += circuits("ring:5");
    assert_true(refused > 0); /* they did meet */
}

TEST_MAIN(cmocka_unit_test(a_message_alone_takes_the_time_of_its_hops),
          cmocka_unit_test(collectives_have_no_schedule_but_on_cubes),
          cmocka_unit_test(packets_that_fill_every_place_of_a_ring_arrive),
          cmocka_unit_test(messages_all_round_a_ring_find_their_links))
