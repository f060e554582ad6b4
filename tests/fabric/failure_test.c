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
#include "tests/fabric/fabric.h"
#include "tests/testing.h"
#include "wire/crc.h"
#include "wire/frame.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

static struct ecube_abi_collective exchange_of(unsigned count, uint32_t bytes)
{
    return (struct ecube_abi_collective){.operation = ECUBE_EXCHANGE,
                                         .block_bytes = bytes,
                                         .send = FABRIC_DATA,
                                         .receive = FABRIC_DATA + count * bytes};
}

TEST(nodes_that_disagree_on_a_collective_all_hear_so_and_can_go_on)
{
    for (unsigned odd = 0; odd < 8; odd++) {
        struct fabric *fabric = fabric_started(3, 4 << 20, 1 + odd);
        struct ecube_abi_collective good = exchange_of(8, 100), bad = exchange_of(8, 104);
        int32_t requests[8];
        for (unsigned rank = 0; rank < 8; rank++) {
            requests[rank] = fabric_collective(fabric, rank, rank == odd ? &bad : &good);
        }
        for (unsigned rank = 0; rank < 8; rank++) {
            assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_MISMATCH);
        }
        fabric_settle(fabric);
        assert_int_equal(fabric_count_events(fabric, PACKET_DISAGREE), 1);
        for (unsigned rank = 0; rank < 8; rank++) {
            requests[rank] = fabric_collective(fabric, rank, &good);
        }
        for (unsigned rank = 0; rank < 8; rank++) {
            assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_OK);
        }
        fabric_free(fabric);
    }
}

static void end_program(struct fabric *fabric, unsigned rank)
{
    uint32_t arguments[4] = {3};
    int32_t result;

    assert_int_equal(
        node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_EXIT, arguments, &result),
        NODE_END);
}

/* More announcements than a router has slots for answers; they were answered with QUEUED before. */
TEST(a_program_that_ends_fails_the_messages_that_it_has_not_taken)
{
    enum { LONG = 5000, EACH = 8 };

    struct fabric *fabric = fabric_started(3, 4 << 20, 9);
    int32_t sends[8][EACH];
    for (unsigned i = 0; i < EACH; i++) {
        for (unsigned rank = 1; rank < 8; rank++) {
            sends[rank][i] =
                fabric_message(fabric, rank, ECUBE_CALL_SEND, 0, (int32_t)i, FABRIC_DATA, LONG);
        }
    }
    for (unsigned round = 0; round < 100; round++) {
        fabric_round(fabric);
    }
    end_program(fabric, 0);
    for (unsigned rank = 1; rank < 8; rank++) {
        for (unsigned i = 0; i < EACH; i++) {
            assert_int_equal(fabric_wait(fabric, rank, sends[rank][i]).status, E_PEER_GONE);
        }
    }
    fabric_free(fabric);
}

TEST(a_program_that_has_ended_fails_the_collectives_of_the_others)
{
    for (unsigned early = 0; early < 2; early++) {
        struct fabric *fabric = fabric_started(3, 4 << 20, 5 + early);
        struct ecube_abi_collective good = exchange_of(8, 100);
        int32_t requests[8];
        if (early) {
            end_program(fabric, 6);
        }
        for (unsigned rank = 0; rank < 8; rank++) {
            if (rank != 6) {
                requests[rank] = fabric_collective(fabric, rank, &good);
            }
        }
        for (unsigned round = 0; round < 100; round++) {
            fabric_round(fabric);
        }
        if (!early) {
            end_program(fabric, 6);
        }
        for (unsigned rank = 0; rank < 8; rank++) {
            if (rank != 6) {
                assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_PEER_GONE);
            }
        }
        fabric_free(fabric);
    }
}

/* The link 5-7 is in nobody's way to node 0: the others hear of it from the one that needs it. */
TEST(a_program_that_ends_for_a_dead_link_is_no_program_that_has_ended)
{
    for (unsigned early = 0; early < 2; early++) {
        struct fabric *fabric = fabric_started(3, 4 << 20, 15 + early);
        struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
        int32_t requests[8];
        for (unsigned rank = 0; rank < 8 && !early; rank++) {
            if (rank != 5) {
                requests[rank] = fabric_collective(fabric, rank, &align);
            }
        }
        memory_link_cut(&fabric->nodes[5].ends[1]);
        int32_t s = fabric_message(fabric, 5, ECUBE_CALL_SEND, 7, 1, FABRIC_DATA, 100);
        assert_int_equal(fabric_wait(fabric, 5, s).status, E_LINK_DEAD);
        end_program(fabric, 5);
        for (unsigned rank = 0; rank < 8 && early; rank++) {
            if (rank != 5) {
                requests[rank] = fabric_collective(fabric, rank, &align);
            }
        }
        for (unsigned rank = 0; rank < 8; rank++) {
            if (rank != 5) {
                assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_LINK_DEAD);
            }
        }
        fabric_free(fabric);
    }
}

/* Programs that give up as soon as they hear of it. Who waits for an answer over the dead link
 * itself, and hears nothing, is stopped by the host. */
TEST(a_link_that_is_cut_in_a_collective_is_a_dead_link_to_all)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct fabric *fabric = fabric_started(3, 4 << 20, 500 + seed);
        struct ecube_abi_collective good = exchange_of(8, 30000);
        int32_t requests[8];
        bool ended[8] = {false};
        for (unsigned rank = 0; rank < 8; rank++) {
            requests[rank] = fabric_collective(fabric, rank, &good);
        }
        for (unsigned round = 0; round < 20 + seed; round++) {
            fabric_round(fabric);
        }
        memory_link_cut(&fabric->nodes[seed % 8].ends[seed % 3]);
        for (unsigned round = 0; round < 3000; round++) {
            fabric_round(fabric);
            for (unsigned rank = 0; rank < 8; rank++) {
                if (ended[rank] || !fabric_is_done(fabric, rank, requests[rank])) {
                    continue;
                }
                int status = fabric_wait(fabric, rank, requests[rank]).status;
                assert_true(status == E_OK || status == E_LINK_DEAD);
                end_program(fabric, rank);
                ended[rank] = true;
            }
        }
        fabric_free(fabric);
    }
}

TEST(a_message_to_a_program_that_has_ended_fails)
{
    static const uint32_t sizes[] = {10, 5000};

    for (unsigned i = 0; i < 2; i++) {
        struct fabric *fabric = fabric_started(2, 4 << 20, 7 + i);
        end_program(fabric, 3);
        int32_t s = fabric_message(fabric, 0, ECUBE_CALL_SEND, 3, 1, FABRIC_DATA, sizes[i]);
        assert_int_equal(fabric_wait(fabric, 0, s).status, E_PEER_GONE);
        fabric_free(fabric);
    }
}

TEST(a_program_that_has_ended_does_not_disturb_what_passes_its_node)
{
    struct fabric *fabric = fabric_started(3, 4 << 20, 11);
    uint8_t *sent = fabric_at(fabric, 0, FABRIC_DATA), *got = fabric_at(fabric, 7, FABRIC_DATA);
    for (unsigned i = 0; i < 300000; i++) {
        sent[i] = (uint8_t)(i * 13 + (i >> 9));
    }
    int32_t r = fabric_message(fabric, 7, ECUBE_CALL_RECEIVE, 0, 1, FABRIC_DATA, 300000);
    int32_t s = fabric_message(fabric, 0, ECUBE_CALL_SEND, 7, 1, FABRIC_DATA, 300000);
    for (unsigned round = 0; round < 25; round++) {
        fabric_round(fabric);
    }
    struct fault fault = {.kind = FAULT_DATA, .address = 4};
    node_fault(fabric->nodes[1].node, fabric->now_us, &fault); /* 0 -> 1 -> 3 -> 7 */
    end_program(fabric, 3);
    assert_int_equal(fabric_wait(fabric, 7, r).status, E_OK);
    assert_int_equal(fabric_wait(fabric, 0, s).status, E_OK);
    assert_memory_equal(sent, got, 300000);
    fabric_settle(fabric);
    assert_int_equal(fabric_count_events(fabric, PACKET_FAULT), 1);
    assert_int_equal(fabric_count_events(fabric, PACKET_EXIT), 1);
    fabric_free(fabric);
}

/* A collective may begin on some nodes while others still exchange messages whose way it needs. */
TEST(messages_before_a_collective_do_not_deadlock_with_it)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fabric *fabric = fabric_started(4, 4 << 20, seed);
        struct ecube_abi_collective good = exchange_of(16, 3000);
        int32_t requests[16], receive[16], sends[16];
        for (unsigned rank = 0; rank < 16; rank += 2) { /* even nodes are early */
            requests[rank] = fabric_collective(fabric, rank, &good);
        }
        for (unsigned rank = 1; rank < 16; rank += 2) {
            receive[rank] = fabric_message(fabric, rank, ECUBE_CALL_RECEIVE, ECUBE_ANY, 9,
                                           FABRIC_DATA + (2 << 20), 100000);
            for (unsigned round = 0; round < memory_random(&fabric->seed) % 30; round++) {
                fabric_round(fabric);
            }
        }
        for (unsigned rank = 1; rank < 16; rank += 2) {
            sends[rank] = fabric_message(fabric, rank, ECUBE_CALL_SEND, (int32_t)(rank ^ 14), 9,
                                         FABRIC_DATA + (3 << 20), 100000);
        }
        for (unsigned rank = 1; rank < 16; rank += 2) {
            requests[rank] = -1;
            if (rank % 4 == 1) { /* some enter with their messages still under way */
                requests[rank] = fabric_collective(fabric, rank, &good);
            }
        }
        for (unsigned rank = 1; rank < 16; rank += 2) {
            assert_int_equal(fabric_wait(fabric, rank, receive[rank]).status, E_OK);
            assert_int_equal(fabric_wait(fabric, rank, sends[rank]).status, E_OK);
            if (requests[rank] < 0) {
                requests[rank] = fabric_collective(fabric, rank, &good);
            }
        }
        for (unsigned rank = 0; rank < 16; rank++) {
            assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_OK);
        }
        fabric_free(fabric);
    }
}

/* Messages in both directions of every link while the steps of a collective take and release the
 * links. */
TEST(messages_during_a_collective_do_not_deadlock_with_it)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fabric *fabric = fabric_started(4, 4 << 20, 100 + seed);
        struct ecube_abi_collective good = exchange_of(16, 3000);
        int32_t requests[16], receives[16][4], sends[16][4];
        for (unsigned rank = 0; rank < 16; rank++) {
            for (unsigned i = 0; i < 4; i++) {
                receives[rank][i] =
                    fabric_message(fabric, rank, ECUBE_CALL_RECEIVE, ECUBE_ANY, (int32_t)i,
                                   FABRIC_DATA + (2 << 20) + i * 65536, 65536);
            }
            requests[rank] = fabric_collective(fabric, rank, &good);
            for (unsigned i = 0; i < 4; i++) {
                sends[rank][i] =
                    fabric_message(fabric, rank, ECUBE_CALL_SEND, (int32_t)(rank ^ (15u - i * 3)),
                                   (int32_t)i, FABRIC_DATA + (3 << 20), i % 2 ? 900 : 60000);
            }
            if (memory_random(&fabric->seed) % 2) {
                fabric_round(fabric);
            }
        }
        for (unsigned rank = 0; rank < 16; rank++) {
            assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_OK);
            for (unsigned i = 0; i < 4; i++) {
                assert_int_equal(fabric_wait(fabric, rank, receives[rank][i]).status, E_OK);
                assert_int_equal(fabric_wait(fabric, rank, sends[rank][i]).status, E_OK);
            }
        }
        fabric_free(fabric);
    }
}

/* A link is cut at a random moment of an exchange; every node ends with data or a named error, or
 * waits for one that has an error, and the host hears of both ends. */
TEST(a_cut_link_is_reported_by_both_ends)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct fabric *fabric = fabric_started(3, 4 << 20, 1000 + seed);
        struct ecube_abi_collective good = exchange_of(8, 30000);
        unsigned at = memory_random(&fabric->seed) % 8, port = memory_random(&fabric->seed) % 3,
                 failed = 0;
        for (unsigned rank = 0; rank < 8; rank++) {
            fabric_collective(fabric, rank, &good);
        }
        for (unsigned round = 0; round < memory_random(&fabric->seed) % 60; round++) {
            fabric_round(fabric);
        }
        memory_link_cut(&fabric->nodes[at].ends[port]);
        for (unsigned round = 0; round < 3000; round++) {
            fabric_round(fabric);
        }
        for (unsigned i = 0; i < fabric->event_count; i++) {
            const struct fabric_event *event = &fabric->events[i];
            struct link_dead_body dead;
            failed += event->kind == PACKET_LINK_DEAD &&
                      link_dead_unpack(event->body, event->bytes, &dead) && dead.port == port &&
                      dead.reason == DEAD_CARRIER &&
                      (event->src == at || event->src == (at ^ 1u << port));
        }
        assert_int_equal(failed, 2);
        /* The dead link asks for nothing more: what is left to wake for lies ahead. */
        assert_true(fabric->nodes[at].node->router.ports[port].channel.wake_us > fabric->now_us);
        fabric_free(fabric);
    }
}

TEST(arbitrary_bytes_on_a_link_never_break_a_node)
{
    enum { BYTES = 20000 };
    uint8_t *junk = malloc(BYTES);

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct fabric *fabric = fabric_make(1, 4096, seed, no_fault, ipsc860);
        for (unsigned round = 0; round < seed % 40; round++) {
            fabric_round(fabric);
        }
        for (unsigned i = 0; i < BYTES; i++) {
            junk[i] = (uint8_t)memory_random(&fabric->seed);
        }
        struct link *link = &fabric->nodes[0].ends[0].link; /* what node 0 sends, node 1 hears */
        for (unsigned i = 0; i + 700 < BYTES; i += 700) {
            link->ops->send(link, junk + i, 1 + memory_random(&fabric->seed) % 700);
            link->ops->kick(link);
            fabric_round(fabric);
        }
        for (unsigned round = 0; round < 200; round++) {
            fabric_round(fabric);
        }
        assert_true(fabric->nodes[1].ends[0].said.frames[FRAME_NAK] > 0); /* it knows of damage */
        fabric_free(fabric);
    }
    free(junk);
}

static bool two_answers(struct fabric *fabric)
{
    return fabric->accepted + fabric->refused == 2;
}

static struct offer_body offer_image(struct fabric *fabric, uint32_t image_bytes)
{
    struct offer_body offered = fabric_offer(fabric, image_bytes, 0);
    uint8_t offer[OFFER_BYTES];

    offer_pack(offer, &offered);
    assert_int_equal(router_send(&fabric->controller.router, PACKET_OFFER, 0, offer, sizeof offer),
                     E_OK);
    return offered;
}

/* The circuit that brings what was offered. */
static struct circuit_source circuit_of(const struct fabric *fabric, const struct offer_body *offer)
{
    return (struct circuit_source){.match = FABRIC_DOWNLOAD,
                                   .flags = OPEN_IMAGE,
                                   .tag = offer->list_bytes,
                                   .data = {fabric_message_of(fabric, offer)},
                                   .bytes = {offer->message_bytes}};
}

/* The second of two circuits for one offer comes while the bytes of the first do. */
TEST(a_download_takes_one_circuit)
{
    enum { IMAGE_BYTES = 400000 }; /* more than a link's window */
    struct fabric *fabric = fabric_make(1, 1 << 20, 21, no_fault, ipsc860);

    fabric_settle(fabric);
    struct offer_body offered = offer_image(fabric, IMAGE_BYTES);
    fabric_settle(fabric);
    struct circuit_source source = circuit_of(fabric, &offered);
    assert_int_equal(router_open(&fabric->controller.router, &source), E_OK);
    while (fabric->accepted == 0) {
        fabric_round(fabric);
    }
    assert_int_equal(router_open(&fabric->controller.router, &source), E_OK);
    assert_true(fabric_run(fabric, two_answers));
    assert_int_equal(fabric->refused, 1);
    fabric_settle(fabric);
    assert_int_equal(fabric_count_events(fabric, PACKET_RECEIPT), 2);
    fabric_free(fabric);
    free((void *)source.data[0]);
}

static unsigned dead_links_reported(const struct fabric *fabric)
{
    unsigned count = 0;

    for (unsigned i = 0; i < fabric->event_count; i++) {
        const struct fabric_event *event = &fabric->events[i];
        struct link_dead_body dead;
        count += event->kind == PACKET_LINK_DEAD && event->src == 0 &&
                 link_dead_unpack(event->body, event->bytes, &dead) && dead.port == 0 &&
                 dead.reason == DEAD_PROTOCOL;
    }
    return count;
}

TEST(a_neighbour_that_changes_its_name_is_dead)
{
    for (unsigned busy = 0; busy < 2; busy++) {
        struct fabric *fabric = fabric_started(2, 4 << 20, 31 + busy);
        const struct memory_said *said = &fabric->nodes[0].ends[0].said;
        fabric_settle(fabric);
        if (!busy) {
            fabric_misname(fabric, 1, 0, 3);
            fabric_settle(fabric);
        }
        unsigned opened = said->packets[PACKET_OPEN];
        fabric_message(fabric, 1, ECUBE_CALL_RECEIVE, 0, 1, FABRIC_DATA, 400000);
        int32_t s = fabric_message(fabric, 0, ECUBE_CALL_SEND, 1, 1, FABRIC_DATA, 400000);
        while (busy && said->packets[PACKET_OPEN] == opened) {
            fabric_round(fabric);
        }
        if (busy) {
            fabric_misname(fabric, 1, 0, 3);
        }
        if (busy) {
            assert_int_equal(fabric_wait(fabric, 0, s).status, E_LINK_DEAD);
        }
        fabric_settle(fabric);
        assert_int_equal(dead_links_reported(fabric), 1);
        fabric_free(fabric);
    }
}

/* A node counts its downloads in one byte. */
TEST(it_is_dead_however_many_downloads_came_before)
{
    struct fabric *fabric = fabric_make(2, 4096, 33, no_fault, ipsc860);

    fabric->nodes[0].node->load.number = UINT8_MAX;
    assert_true(fabric_start(fabric));
    fabric_settle(fabric);
    fabric_misname(fabric, 1, 0, 3);
    fabric_settle(fabric);
    assert_int_equal(dead_links_reported(fabric), 1);
    fabric_free(fabric);
}

static bool two_receipts(struct fabric *fabric)
{
    return fabric_count_events(fabric, PACKET_RECEIPT) == 2;
}

/* The host has stopped both programs, and offers the next; by way of node 0 the offer is at node 1
 * before STOP is. */
TEST(a_download_waits_for_a_program_that_is_being_stopped)
{
    struct fabric *fabric = fabric_started(1, 4 << 20, 23);

    end_program(fabric, 0);
    fabric_settle(fabric);
    fabric->event_count = 0;
    struct offer_body offered = offer_image(fabric, FABRIC_IMAGE_BYTES);
    struct circuit_source source = circuit_of(fabric, &offered);
    fabric_settle(fabric);
    assert_int_equal(router_open(&fabric->controller.router, &source), E_OK);
    fabric_settle(fabric);
    assert_int_equal(fabric_count_events(fabric, PACKET_RECEIPT), 0);
    assert_int_equal(router_send(&fabric->controller.router, PACKET_STOP, 1, NULL, 0), E_OK);
    assert_true(fabric_run(fabric, two_receipts));
    fabric_free(fabric);
    free((void *)source.data[0]);
}

/* What is late here passes through the node within one step: it is handed to load.c, and what that
 * makes of it is read there. An offer is taken when the bytes of the download before it have gone;
 * the word of that may still be on its way through the node. The host's names for the two have the
 * same low byte. */
TEST(word_of_an_earlier_download_is_not_taken_for_the_present_one)
{
    struct fabric *fabric = fabric_started(1, 4 << 20, 22);
    struct node *node = fabric->nodes[0].node;
    uint32_t earlier = token_make(TOKEN_IMAGE, node->load.number, 1);
    struct offer_body offered = fabric_offer(fabric, FABRIC_IMAGE_BYTES, 0);
    uint8_t body[OFFER_BYTES];
    struct notice offer = {.kind = NOTICE_PACKET,
                           .packet_kind = PACKET_OFFER,
                           .src = ID_HOST,
                           .body = body,
                           .bytes = sizeof body};
    struct notice sent = {.kind = NOTICE_SENT, .token = earlier};

    end_program(fabric, 0);
    fabric_settle(fabric);
    offered.name = FABRIC_DOWNLOAD + 256;
    offer_pack(body, &offered);
    load_offer(node, &offer);
    assert_int_equal(node->load.state, LOAD_RECEIVING);
    load_notice(node, &sent);
    assert_int_equal(node->load.feeds_used, 0);
    fabric_free(fabric);
}

/* Said over all links, also where it was only passed on. */
static unsigned packets_said(const struct fabric *fabric, uint8_t kind)
{
    unsigned count = 0;

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        for (unsigned port = 0; port < PORTS_MAX; port++) {
            count += fabric->nodes[rank].ends[port].said.packets[kind];
        }
    }
    return count;
}

/* The answer to an OFFER is the download's; a message of that name there never was. */
TEST(a_child_that_takes_its_offer_is_told_nothing_more_of_it)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct fabric *fabric = fabric_started(3, 4 << 20, seed);
        assert_true(packets_said(fabric, PACKET_CTS) >= fabric->count);
        assert_int_equal(packets_said(fabric, PACKET_CANCEL), 0);
        fabric_free(fabric);
    }
}

static unsigned links_told_by(const struct fabric *fabric, unsigned rank)
{
    unsigned count = 0;

    for (unsigned i = 0; i < fabric->event_count; i++) {
        count += fabric->events[i].kind == PACKET_LINKS && fabric->events[i].src == rank;
    }
    return count;
}

/* The cables 0-1 and 2-3 lead from 0 to 3 and from 2 to 1. Node 0 would make a 1 of node 3, which
 * has no host link. A crossed cable stays so: nobody waits. */
TEST(a_crossed_cable_gives_nobody_the_number_of_a_node_with_a_host_link)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fabric *fabric = fabric_make(3, 4096, seed, no_fault, ipsc860);
        struct memory_end *ends[4];
        for (unsigned rank = 0; rank < 4; rank++) {
            ends[rank] = &fabric->nodes[rank].ends[0];
        }
        for (unsigned rank = 0; rank < 4; rank++) {
            ends[rank]->peer = ends[3 - rank];
        }
        fabric_settle(fabric);
        for (unsigned rank = 0; rank < fabric->count; rank++) {
            assert_int_equal(node_id(fabric->nodes[rank].node), rank);
        }
        for (unsigned rank = 0; rank < 3; rank++) {
            assert_int_equal(links_told_by(fabric, rank), 1);
        }
        fabric_free(fabric);
    }
}

/* Only these nodes go on, with the host or without it. */
static void step_some(struct fabric *fabric, const unsigned *ranks, unsigned count, bool host)
{
    for (unsigned i = 0; i < 1000; i++) {
        fabric->now_us++;
        if (host) {
            fabric_step_host(fabric);
        }
        for (unsigned k = 0; k < count; k++) {
            node_step(fabric->nodes[ranks[k]].node, fabric->now_us);
        }
    }
}

/* The same with the host, until long after a node that misses links has said so. */
static void others_are_late(struct fabric *fabric, const unsigned *ranks, unsigned count)
{
    step_some(fabric, ranks, count, true);
    fabric->now_us += 4000000;
    step_some(fabric, ranks, count, true);
}

/* Cables as before. Nodes 1 and 2 are slow, and node 3, to which node 0's link leads, has its
 * number from them: node 0 has reported a link that is up by then. */
TEST(a_cable_that_shows_late_where_it_leads_is_crossed_and_not_dead)
{
    struct fabric *fabric = fabric_make(2, 4096, 1, no_fault, ipsc860);
    struct links_body links;
    struct memory_end *ends[4];
    uint32_t peer;
    uint8_t peer_port;

    for (unsigned rank = 0; rank < 4; rank++) {
        ends[rank] = &fabric->nodes[rank].ends[0];
    }
    for (unsigned rank = 0; rank < 4; rank++) {
        ends[rank]->peer = ends[3 - rank];
    }
    others_are_late(fabric, (const unsigned[]){0, 3}, 2);
    assert_int_equal(router_port_state(&fabric->nodes[0].node->router, 0, &peer, &peer_port),
                     LINK_UP);
    assert_int_equal(peer, ID_UNKNOWN);
    fabric_settle(fabric);
    assert_int_equal(router_port_state(&fabric->nodes[0].node->router, 0, &peer, &peer_port),
                     LINK_CROSSED);
    assert_int_equal(peer, 3);
    for (unsigned i = 0; i < fabric->event_count; i++) {
        if (fabric->events[i].kind == PACKET_LINKS && fabric->events[i].src == 0) {
            assert_true(links_unpack(fabric->events[i].body, fabric->events[i].bytes, &links));
        }
    }
    assert_int_equal(links.ports[0].state, LINK_CROSSED); /* in the last one */
    fabric_free(fabric);
}
