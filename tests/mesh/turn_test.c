/*
 * turn_test.c - a message that waits for its first link does not keep its node out of a collective.
 *
 * The order of events is one that the model in models/ has found. The link from 6 to 4 is slow, so
 * node 4 is late to enter; node 3's circuit of step 0 holds the link from 0 to 4 meanwhile, and
 * node 1's of step 2 waits for it at node 0. Then node 0, which has not heard from node 4 either,
 * sends it a message. Node 1's circuit goes first, and node 4 takes it after step 1 only, for which
 * node 7 is not ready before node 0 has opened its circuit of step 0.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/port.h"
#include "tests/mesh/mesh.h"
#include "tests/unit/testing.h"
#include "wire/circuit.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0};
static const struct memory_fault no_fault;

enum { BLOCK = 2000, RECEIVED_AT = MESH_DATA + 8 * BLOCK, MESSAGE_AT = MESH_DATA + 32 * BLOCK };

/* The circuit from 1 to 4 of step 2. */
static bool node_1_waits_at_0(const struct mesh *mesh)
{
    const struct port *port = &mesh->nodes[0].node->router.ports[0];
    const struct circuit *newest =
        &port->circuits[(port->circuit_first + port->circuit_count + CIRCUITS_MAX - 1) %
                        CIRCUITS_MAX];
    const uint8_t *packet = port->opens_held ? newest->open.packet : NULL;

    return packet && packet_dst(packet) == 4 && open_match(packet) == 2;
}

static void a_message_at_its_first_link_does_not_stop_a_collective(void **state)
{
    struct ecube_abi_collective exchange = {.operation = ECUBE_EXCHANGE,
                                            .block_bytes = BLOCK,
                                            .send = MESH_DATA,
                                            .receive = RECEIVED_AT};
    int32_t exchanges[8];

    (void)state;
    struct mesh *mesh = mesh_make(3, 1 << 20, 1, no_fault, ipsc860);
    assert_true(mesh_start(mesh));
    mesh_settle(mesh);
    struct memory_end *slow = &mesh->nodes[4].ends[1];
    bool taken[LINK_BUFFERS_MAX];
    memory_link_stop(slow, taken);
    for (unsigned rank = 0; rank < 8; rank++)
        exchanges[rank] = mesh_collective(mesh, rank, &exchange);
    for (unsigned i = 0; i < 1000 && !node_1_waits_at_0(mesh); i++)
        mesh_round(mesh);
    assert_true(node_1_waits_at_0(mesh));
    int32_t send = mesh_message(mesh, 0, ECUBE_CALL_SEND, 4, 1, MESSAGE_AT, 8);
    int32_t receive = mesh_message(mesh, 4, ECUBE_CALL_RECEIVE, 0, 1, MESSAGE_AT, 8);
    for (unsigned i = 0; i < 20; i++)
        mesh_round(mesh);
    memory_link_start(slow, taken);
    for (unsigned rank = 0; rank < 8; rank++)
        assert_int_equal(mesh_wait(mesh, rank, exchanges[rank]).status, E_OK);
    assert_int_equal(mesh_wait(mesh, 0, send).status, E_OK);
    assert_int_equal(mesh_wait(mesh, 4, receive).status, E_OK);
    mesh_free(mesh);
}

TEST_MAIN(cmocka_unit_test(a_message_at_its_first_link_does_not_stop_a_collective))
