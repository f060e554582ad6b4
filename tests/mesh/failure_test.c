/*
 * failure_test.c - what goes wrong stays where it is: named errors, no hang, no damage to others.
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "router/channel_state.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/port.h"
#include "router/router.h"
#include "tests/mesh/mesh.h"
#include "tests/unit/testing.h"
#include "wire/crc.h"
#include "wire/frame.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0};
static const struct memory_fault no_fault;

static struct mesh *started(unsigned dims, uint64_t seed)
{
    struct mesh *mesh = mesh_make(dims, 4 << 20, seed, no_fault, ipsc860);

    assert_true(mesh_start(mesh));
    return mesh;
}

static struct ecube_abi_collective exchange_of(unsigned count, uint32_t bytes)
{
    return (struct ecube_abi_collective){.operation = ECUBE_EXCHANGE,
                                         .block_bytes = bytes,
                                         .send = MESH_DATA,
                                         .receive = MESH_DATA + count * bytes};
}

static void nodes_that_disagree_on_a_collective_all_hear_so_and_can_go_on(void **state)
{
    (void)state;
    for (unsigned odd = 0; odd < 8; odd++) {
        struct mesh *mesh = started(3, 1 + odd);
        struct ecube_abi_collective good = exchange_of(8, 100), bad = exchange_of(8, 104);
        int32_t requests[8];
        for (unsigned rank = 0; rank < 8; rank++)
            requests[rank] = mesh_collective(mesh, rank, rank == odd ? &bad : &good);
        for (unsigned rank = 0; rank < 8; rank++)
            assert_int_equal(mesh_wait(mesh, rank, requests[rank]).status, E_MISMATCH);
        mesh_settle(mesh);
        assert_int_equal(mesh_count_events(mesh, PACKET_DISAGREE), 1);
        for (unsigned rank = 0; rank < 8; rank++)
            requests[rank] = mesh_collective(mesh, rank, &good);
        for (unsigned rank = 0; rank < 8; rank++)
            assert_int_equal(mesh_wait(mesh, rank, requests[rank]).status, E_OK);
        mesh_free(mesh);
    }
}

static void end_program(struct mesh *mesh, unsigned rank)
{
    uint32_t arguments[4] = {3};
    int32_t result;

    assert_int_equal(
        node_call(mesh->nodes[rank].node, mesh->now_us, ECUBE_CALL_EXIT, arguments, &result),
        NODE_END);
}

/* More announcements than a router has slots for answers; they were answered with QUEUED before. */
static void a_program_that_ends_fails_the_messages_that_it_has_not_taken(void **state)
{
    enum { LONG = 5000, EACH = 8 };

    (void)state;
    struct mesh *mesh = started(3, 9);
    int32_t sends[8][EACH];
    for (unsigned i = 0; i < EACH; i++) {
        for (unsigned rank = 1; rank < 8; rank++) {
            sends[rank][i] =
                mesh_message(mesh, rank, ECUBE_CALL_SEND, 0, (int32_t)i, MESH_DATA, LONG);
        }
    }
    for (unsigned round = 0; round < 100; round++)
        mesh_round(mesh);
    end_program(mesh, 0);
    for (unsigned rank = 1; rank < 8; rank++)
        for (unsigned i = 0; i < EACH; i++)
            assert_int_equal(mesh_wait(mesh, rank, sends[rank][i]).status, E_PEER_GONE);
    mesh_free(mesh);
}

static void a_program_that_has_ended_fails_the_collectives_of_the_others(void **state)
{
    (void)state;
    for (unsigned early = 0; early < 2; early++) {
        struct mesh *mesh = started(3, 5 + early);
        struct ecube_abi_collective good = exchange_of(8, 100);
        int32_t requests[8];
        if (early)
            end_program(mesh, 6);
        for (unsigned rank = 0; rank < 8; rank++)
            if (rank != 6)
                requests[rank] = mesh_collective(mesh, rank, &good);
        for (unsigned round = 0; round < 100; round++)
            mesh_round(mesh);
        if (!early)
            end_program(mesh, 6);
        for (unsigned rank = 0; rank < 8; rank++)
            if (rank != 6)
                assert_int_equal(mesh_wait(mesh, rank, requests[rank]).status, E_PEER_GONE);
        mesh_free(mesh);
    }
}

static void a_message_to_a_program_that_has_ended_fails(void **state)
{
    static const uint32_t sizes[] = {10, 5000};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct mesh *mesh = started(2, 7 + i);
        end_program(mesh, 3);
        int32_t s = mesh_message(mesh, 0, ECUBE_CALL_SEND, 3, 1, MESH_DATA, sizes[i]);
        assert_int_equal(mesh_wait(mesh, 0, s).status, E_PEER_GONE);
        mesh_free(mesh);
    }
}

static void a_program_that_has_ended_does_not_disturb_what_passes_its_node(void **state)
{
    (void)state;
    struct mesh *mesh = started(3, 11);
    uint8_t *sent = mesh_at(mesh, 0, MESH_DATA), *got = mesh_at(mesh, 7, MESH_DATA);
    for (unsigned i = 0; i < 300000; i++)
        sent[i] = (uint8_t)(i * 13 + (i >> 9));
    int32_t r = mesh_message(mesh, 7, ECUBE_CALL_RECEIVE, 0, 1, MESH_DATA, 300000);
    int32_t s = mesh_message(mesh, 0, ECUBE_CALL_SEND, 7, 1, MESH_DATA, 300000);
    for (unsigned round = 0; round < 25; round++)
        mesh_round(mesh);
    struct fault fault = {.kind = FAULT_DATA, .address = 4};
    node_fault(mesh->nodes[1].node, mesh->now_us, &fault); /* 0 -> 1 -> 3 -> 7 */
    end_program(mesh, 3);
    assert_int_equal(mesh_wait(mesh, 7, r).status, E_OK);
    assert_int_equal(mesh_wait(mesh, 0, s).status, E_OK);
    assert_memory_equal(sent, got, 300000);
    mesh_settle(mesh);
    assert_int_equal(mesh_count_events(mesh, PACKET_FAULT), 1);
    assert_int_equal(mesh_count_events(mesh, PACKET_EXIT), 1);
    mesh_free(mesh);
}

/* A collective may begin on some nodes while others still exchange messages whose way it needs. */
static void messages_before_a_collective_do_not_deadlock_with_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct mesh *mesh = started(4, seed);
        struct ecube_abi_collective good = exchange_of(16, 3000);
        int32_t requests[16], receive[16], sends[16];
        for (unsigned rank = 0; rank < 16; rank += 2) /* even nodes are early */
            requests[rank] = mesh_collective(mesh, rank, &good);
        for (unsigned rank = 1; rank < 16; rank += 2) {
            receive[rank] = mesh_message(mesh, rank, ECUBE_CALL_RECEIVE, ECUBE_ANY, 9,
                                         MESH_DATA + (2 << 20), 100000);
            for (unsigned round = 0; round < memory_random(&mesh->seed) % 30; round++)
                mesh_round(mesh);
        }
        for (unsigned rank = 1; rank < 16; rank += 2)
            sends[rank] = mesh_message(mesh, rank, ECUBE_CALL_SEND, (int32_t)(rank ^ 14), 9,
                                       MESH_DATA + (3 << 20), 100000);
        for (unsigned rank = 1; rank < 16; rank += 2) {
            requests[rank] = -1;
            if (rank % 4 == 1) /* some enter with their messages still under way */
                requests[rank] = mesh_collective(mesh, rank, &good);
        }
        for (unsigned rank = 1; rank < 16; rank += 2) {
            assert_int_equal(mesh_wait(mesh, rank, receive[rank]).status, E_OK);
            assert_int_equal(mesh_wait(mesh, rank, sends[rank]).status, E_OK);
            if (requests[rank] < 0)
                requests[rank] = mesh_collective(mesh, rank, &good);
        }
        for (unsigned rank = 0; rank < 16; rank++)
            assert_int_equal(mesh_wait(mesh, rank, requests[rank]).status, E_OK);
        mesh_free(mesh);
    }
}

/* Messages in both directions of every link while the steps of a collective take and release the
 * links. */
static void messages_during_a_collective_do_not_deadlock_with_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct mesh *mesh = started(4, 100 + seed);
        struct ecube_abi_collective good = exchange_of(16, 3000);
        int32_t requests[16], receives[16][4], sends[16][4];
        for (unsigned rank = 0; rank < 16; rank++) {
            for (unsigned i = 0; i < 4; i++)
                receives[rank][i] =
                    mesh_message(mesh, rank, ECUBE_CALL_RECEIVE, ECUBE_ANY, (int32_t)i,
                                 MESH_DATA + (2 << 20) + i * 65536, 65536);
            requests[rank] = mesh_collective(mesh, rank, &good);
            for (unsigned i = 0; i < 4; i++)
                sends[rank][i] =
                    mesh_message(mesh, rank, ECUBE_CALL_SEND, (int32_t)(rank ^ (15u - i * 3)),
                                 (int32_t)i, MESH_DATA + (3 << 20), i % 2 ? 900 : 60000);
            if (memory_random(&mesh->seed) % 2)
                mesh_round(mesh);
        }
        for (unsigned rank = 0; rank < 16; rank++) {
            assert_int_equal(mesh_wait(mesh, rank, requests[rank]).status, E_OK);
            for (unsigned i = 0; i < 4; i++) {
                assert_int_equal(mesh_wait(mesh, rank, receives[rank][i]).status, E_OK);
                assert_int_equal(mesh_wait(mesh, rank, sends[rank][i]).status, E_OK);
            }
        }
        mesh_free(mesh);
    }
}

/* A link is cut at a random moment of an exchange; every node ends with data or a named error, or
 * waits for one that has an error, and the host hears of both ends. */
static void a_cut_link_is_reported_by_both_ends(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct mesh *mesh = started(3, 1000 + seed);
        struct ecube_abi_collective good = exchange_of(8, 30000);
        unsigned at = memory_random(&mesh->seed) % 8, port = memory_random(&mesh->seed) % 3,
                 failed = 0;
        for (unsigned rank = 0; rank < 8; rank++)
            mesh_collective(mesh, rank, &good);
        for (unsigned round = 0; round < memory_random(&mesh->seed) % 60; round++)
            mesh_round(mesh);
        memory_link_cut(&mesh->nodes[at].ends[port]);
        for (unsigned round = 0; round < 3000; round++)
            mesh_round(mesh);
        for (unsigned i = 0; i < mesh->event_count; i++) {
            const struct mesh_event *event = &mesh->events[i];
            struct link_dead_body dead;
            failed += event->kind == PACKET_LINK_DEAD &&
                      link_dead_unpack(event->body, event->bytes, &dead) && dead.port == port &&
                      dead.reason == DEAD_CARRIER &&
                      (event->src == at || event->src == (at ^ 1u << port));
        }
        assert_int_equal(failed, 2);
        /* The dead link asks for nothing more: what is left to wake for lies ahead. */
        assert_true(mesh->nodes[at].node->router.ports[port].channel.wake_us > mesh->now_us);
        mesh_free(mesh);
    }
}

static void arbitrary_bytes_on_a_link_never_break_a_node(void **state)
{
    enum { BYTES = 20000 };
    uint8_t *junk = malloc(BYTES);

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct mesh *mesh = mesh_make(1, 4096, seed, no_fault, ipsc860);
        for (unsigned round = 0; round < seed % 40; round++)
            mesh_round(mesh);
        for (unsigned i = 0; i < BYTES; i++)
            junk[i] = (uint8_t)memory_random(&mesh->seed);
        struct link *link = &mesh->nodes[0].ends[0].link; /* what node 0 sends, node 1 hears */
        for (unsigned i = 0; i + 700 < BYTES; i += 700) {
            link->ops->send(link, junk + i, 1 + memory_random(&mesh->seed) % 700);
            link->ops->kick(link);
            mesh_round(mesh);
        }
        for (unsigned round = 0; round < 200; round++)
            mesh_round(mesh);
        assert_true(mesh->nodes[1].ends[0].said.frames[FRAME_NAK] > 0); /* it knows of damage */
        mesh_free(mesh);
    }
    free(junk);
}

static bool two_answers(struct mesh *mesh)
{
    return mesh->accepted + mesh->refused == 2;
}

static void offer_image(struct mesh *mesh, uint32_t image_bytes)
{
    struct offer_body offered = mesh_offer(mesh, image_bytes, 0);
    uint8_t offer[OFFER_BYTES];

    offer_pack(offer, &offered);
    assert_int_equal(router_send(&mesh->controller.router, PACKET_OFFER, 0, offer, sizeof offer),
                     E_OK);
}

/* The second of two circuits for one offer comes while the bytes of the first do. */
static void a_download_takes_one_circuit(void **state)
{
    enum { IMAGE_BYTES = 400000 }; /* more than a link's window */
    struct mesh *mesh = mesh_make(1, 1 << 20, 21, no_fault, ipsc860);
    uint8_t *image = calloc(1, IMAGE_BYTES);
    uint8_t blocks[2 * MESH_BLOCK_BYTES] = {0};

    (void)state;
    assert_non_null(image);
    mesh_settle(mesh);
    offer_image(mesh, IMAGE_BYTES);
    mesh_settle(mesh);
    struct circuit_source source = {.match = MESH_DOWNLOAD,
                                    .flags = OPEN_IMAGE,
                                    .data = {blocks, image},
                                    .bytes = {sizeof blocks, IMAGE_BYTES}};
    assert_int_equal(router_open(&mesh->controller.router, &source), E_OK);
    while (mesh->accepted == 0)
        mesh_round(mesh);
    assert_int_equal(router_open(&mesh->controller.router, &source), E_OK);
    assert_true(mesh_run(mesh, two_answers));
    assert_int_equal(mesh->refused, 1);
    mesh_settle(mesh);
    assert_int_equal(mesh_count_events(mesh, PACKET_RECEIPT), 2);
    mesh_free(mesh);
    free(image);
}

/* Node 1 tells node 0 over their link that it is node 3. */
static void change_name(struct mesh *mesh)
{
    static uint8_t bytes[FRAME_HEADER_BYTES + HELLO_BYTES + FRAME_CHECK_BYTES];
    const struct memory_said *said = &mesh->nodes[1].ends[0].said;
    struct hello hello = said->hello;
    struct frame frame = {
        .type = FRAME_HELLO, .flags = FLAG_CHECKED, .length = HELLO_BYTES, .ack = said->last.ack};
    struct link *link = &mesh->nodes[1].ends[0].link;

    hello.id = 3;
    frame_pack(bytes, &frame);
    hello_pack(bytes + FRAME_HEADER_BYTES, &hello);
    frame_put_check(bytes + FRAME_HEADER_BYTES + HELLO_BYTES,
                    crc32_add(0, bytes + FRAME_HEADER_BYTES, HELLO_BYTES));
    assert_int_equal(link->ops->send(link, bytes, sizeof bytes), E_OK);
}

static unsigned dead_links_told(const struct mesh *mesh)
{
    unsigned count = 0;

    for (unsigned i = 0; i < mesh->event_count; i++) {
        const struct mesh_event *event = &mesh->events[i];
        struct link_dead_body dead;
        count += event->kind == PACKET_LINK_DEAD && event->src == 0 &&
                 link_dead_unpack(event->body, event->bytes, &dead) && dead.port == 0 &&
                 dead.reason == DEAD_PROTOCOL;
    }
    return count;
}

static void a_neighbour_that_changes_its_name_is_dead(void **state)
{
    (void)state;
    for (unsigned busy = 0; busy < 2; busy++) {
        struct mesh *mesh = started(2, 31 + busy);
        const struct memory_said *said = &mesh->nodes[0].ends[0].said;
        mesh_settle(mesh);
        if (!busy) {
            change_name(mesh);
            mesh_settle(mesh);
        }
        unsigned opened = said->packets[PACKET_OPEN];
        mesh_message(mesh, 1, ECUBE_CALL_RECEIVE, 0, 1, MESH_DATA, 400000);
        int32_t s = mesh_message(mesh, 0, ECUBE_CALL_SEND, 1, 1, MESH_DATA, 400000);
        while (busy && said->packets[PACKET_OPEN] == opened)
            mesh_round(mesh);
        if (busy)
            change_name(mesh);
        if (busy)
            assert_int_equal(mesh_wait(mesh, 0, s).status, E_LINK_DEAD);
        mesh_settle(mesh);
        assert_int_equal(dead_links_told(mesh), 1);
        mesh_free(mesh);
    }
}

static bool two_receipts(struct mesh *mesh)
{
    return mesh_count_events(mesh, PACKET_RECEIPT) == 2;
}

/* The host has stopped both programs, and offers the next; by way of node 0 the offer is at node 1
 * before STOP is. */
static void a_download_waits_for_a_program_that_is_being_stopped(void **state)
{
    static uint8_t blocks[2 * MESH_BLOCK_BYTES];
    struct mesh *mesh = started(1, 23);
    struct circuit_source source = {.match = MESH_DOWNLOAD,
                                    .flags = OPEN_IMAGE,
                                    .data = {blocks, mesh->image},
                                    .bytes = {sizeof blocks, MESH_IMAGE_BYTES}};

    (void)state;
    end_program(mesh, 0);
    mesh_settle(mesh);
    mesh->event_count = 0;
    offer_image(mesh, MESH_IMAGE_BYTES);
    mesh_settle(mesh);
    assert_int_equal(router_open(&mesh->controller.router, &source), E_OK);
    mesh_settle(mesh);
    assert_int_equal(mesh_count_events(mesh, PACKET_RECEIPT), 0);
    assert_int_equal(router_send(&mesh->controller.router, PACKET_STOP, 1, NULL, 0), E_OK);
    assert_true(mesh_run(mesh, two_receipts));
    mesh_free(mesh);
}

/* What is late here passes through the node within one step: it is handed to load.c, and what that
 * makes of it is read there. An offer is taken when the bytes of the download before it have gone;
 * the word of that may still be on its way through the node. The host's names for the two have the
 * same low byte. */
static void word_of_an_earlier_download_is_not_taken_for_the_present_one(void **state)
{
    struct mesh *mesh = started(1, 22);
    struct node *node = mesh->nodes[0].node;
    uint32_t earlier = token_make(TOKEN_IMAGE, node->load.number, 1);
    struct offer_body offered = mesh_offer(mesh, MESH_IMAGE_BYTES, 0);
    uint8_t body[OFFER_BYTES];
    struct notice offer = {.kind = NOTICE_PACKET,
                           .packet_kind = PACKET_OFFER,
                           .src = ID_HOST,
                           .body = body,
                           .bytes = sizeof body};
    struct notice sent = {.kind = NOTICE_SENT, .token = earlier};

    (void)state;
    end_program(mesh, 0);
    mesh_settle(mesh);
    offered.name = MESH_DOWNLOAD + 256;
    offer_pack(body, &offered);
    load_offer(node, &offer);
    assert_int_equal(node->load.state, LOAD_RECEIVING);
    load_notice(node, &sent);
    assert_int_equal(node->load.sends_pending, 0);
    mesh_free(mesh);
}

static unsigned links_told_by(const struct mesh *mesh, unsigned rank)
{
    unsigned count = 0;

    for (unsigned i = 0; i < mesh->event_count; i++)
        count += mesh->events[i].kind == PACKET_LINKS && mesh->events[i].src == rank;
    return count;
}

/* The cables 0-1 and 2-3 lead from 0 to 3 and from 2 to 1. Node 0 would make a 1 of node 3, which
 * has no host link. A crossed cable stays so: nobody waits. */
static void a_crossed_cable_gives_nobody_the_number_of_a_node_with_a_host_link(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct mesh *mesh = mesh_make(3, 4096, seed, no_fault, ipsc860);
        struct memory_end *ends[4];
        for (unsigned rank = 0; rank < 4; rank++)
            ends[rank] = &mesh->nodes[rank].ends[0];
        for (unsigned rank = 0; rank < 4; rank++)
            ends[rank]->peer = ends[3 - rank];
        mesh_settle(mesh);
        for (unsigned rank = 0; rank < mesh->count; rank++)
            assert_int_equal(node_id(mesh->nodes[rank].node), rank);
        for (unsigned rank = 0; rank < 3; rank++)
            assert_int_equal(links_told_by(mesh, rank), 1);
        mesh_free(mesh);
    }
}

TEST_MAIN(cmocka_unit_test(nodes_that_disagree_on_a_collective_all_hear_so_and_can_go_on),
          cmocka_unit_test(a_program_that_ends_fails_the_messages_that_it_has_not_taken),
          cmocka_unit_test(a_program_that_has_ended_fails_the_collectives_of_the_others),
          cmocka_unit_test(a_message_to_a_program_that_has_ended_fails),
          cmocka_unit_test(a_program_that_has_ended_does_not_disturb_what_passes_its_node),
          cmocka_unit_test(messages_before_a_collective_do_not_deadlock_with_it),
          cmocka_unit_test(messages_during_a_collective_do_not_deadlock_with_it),
          cmocka_unit_test(a_neighbour_that_changes_its_name_is_dead),
          cmocka_unit_test(a_download_takes_one_circuit),
          cmocka_unit_test(a_download_waits_for_a_program_that_is_being_stopped),
          cmocka_unit_test(word_of_an_earlier_download_is_not_taken_for_the_present_one),
          cmocka_unit_test(a_crossed_cable_gives_nobody_the_number_of_a_node_with_a_host_link),
          cmocka_unit_test(a_cut_link_is_reported_by_both_ends),
          cmocka_unit_test(arbitrary_bytes_on_a_link_never_break_a_node))
