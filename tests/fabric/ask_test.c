/*
 * ask_test.c - nodes 0, 1 and 3 in a row: every word of credit that node 1 gives node 0, and that
 * no other frame repeats, is lost once, whatever node 0 waits for. It asks, and goes on.
 *
 * Node 3 stands still for a while, so that node 1 gives credit long after it has acknowledged.
 */
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "router/channel.h"
#include "router/channel_state.h"
#include "router/port.h"
#include "router/router.h"
#include "router/state.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"
#include "wire/plan.h"

enum { NODES = 4, QUIET_ROUNDS = 12, JAM_ROUNDS = 60, JAMS = 40 };
enum {
    COUNT = 8,
    LONG = 520000,
    SHORT = 2000,
    SECOND_US = 1000 * 1000,
    DEADLINE_US = 20 * 1000000
};

/* One run: the word of credit to lose, counted from 1 (0: none), and how many there were; when node
 * 3 stands still. */
struct run {
    unsigned lose, words, jam_at;
    uint64_t us;
    uint16_t acknowledged; /* by node 1, as far as node 0 knows */
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};

/* Whether the only thing on its way from node 1 to node 0 says nothing but credit: all was
 * acknowledged by what came before it. */
static bool is_credit(const struct memory_end *end, const struct run *run)
{
    const struct memory_segment *word = &end->segments[end->first % MEMORY_SEGMENTS];

    return end->end - end->first == 1 && end->offset == 0 && word->bytes == FRAME_HEADER_BYTES &&
           frame_type(word->data) == FRAME_ACK && frame_ack(word->data) == run->acknowledged;
}

/* Loses node 1's last word to node 0 when it is one of credit. */
static void lose_credit(struct fabric *fabric, struct run *run)
{
    struct memory_end *end = &fabric->nodes[1].ends[0];

    if (is_credit(end, run) && ++run->words == run->lose) {
        end->first = end->kicked = end->end;
    }
    run->acknowledged = end->said.last.ack;
}

static bool round_of(struct fabric *fabric, struct run *run)
{
    /* Private: no frame says how many circuits a link carries. */
    const struct port *port = &fabric->nodes[0].node->router.ports[0];
    bool more = false;

    fabric->now_us++;
    for (unsigned rank = 0; rank < NODES; rank++) {
        bool waits = node_step(fabric->nodes[rank].node, fabric->now_us);
        while (rank == 3 && waits) { /* a window in one turn, so that node 1 has one word for it */
            waits = node_step(fabric->nodes[rank].node, fabric->now_us);
        }
        more |= waits;
        if (rank == 1) {
            lose_credit(fabric, run);
        }
        for (unsigned p = 0; p < fabric->network.dims; p++) {
            more |= fabric->nodes[rank].ends[p].first != fabric->nodes[rank].ends[p].kicked;
        }
        assert_true(port->order_count + port->draining_count <= CIRCUITS_MAX);
    }
    return more;
}

static uint64_t next_deadline(struct fabric *fabric)
{
    uint64_t deadline = UINT64_MAX;

    for (unsigned rank = 0; rank < NODES; rank++) {
        uint64_t wake = node_deadline(fabric->nodes[rank].node);
        if (wake < deadline) {
            deadline = wake;
        }
    }
    return deadline;
}

/* Steps until `done`, with node 3 jammed for a while; false when that never comes. */
static bool go(struct fabric *fabric, struct run *run, bool (*done)(const struct fabric *))
{
    bool taken[LINK_BUFFERS_MAX], jammed = false;
    uint64_t begin_us = fabric->now_us;

    for (unsigned round = 1, quiet = 0; !done(fabric); round++) {
        if (round == run->jam_at) {
            memory_link_stop(&fabric->nodes[3].ends[1], taken);
        } else if (jammed && round == run->jam_at + JAM_ROUNDS) {
            memory_link_start(&fabric->nodes[3].ends[1], taken);
        }
        jammed = run->jam_at <= round && round < run->jam_at + JAM_ROUNDS;
        quiet = round_of(fabric, run) ? 0 : quiet + 1;
        if (quiet > QUIET_ROUNDS && round > run->jam_at + JAM_ROUNDS) {
            uint64_t deadline = next_deadline(fabric);
            if (deadline > begin_us + DEADLINE_US) {
                return false;
            }
            fabric->now_us = deadline > fabric->now_us ? deadline : fabric->now_us;
            quiet = 0;
        }
    }
    if (jammed) {
        memory_link_start(&fabric->nodes[3].ends[1], taken);
    }
    run->us = fabric->now_us - begin_us;
    return true;
}

/* Links that can lose bytes, and lose none of themselves. */
static struct fabric *lossy(void)
{
    struct fabric *fabric = fabric_make(2, 2 * LONG, 1, (struct memory_fault){1, 0}, ipsc860);

    fabric->fault = (struct memory_fault){0, 0};
    assert_true(fabric_start(fabric));
    fabric_settle(fabric);
    return fabric;
}

static uint32_t forwarded;

static bool packets_have_passed(const struct fabric *fabric)
{
    return fabric_forwarded(fabric, 1) == forwarded + SLOTS_MAX;
}

static void send_packets(struct fabric *fabric)
{
    forwarded = fabric_forwarded(fabric, 1);
    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        assert_int_equal(router_send(&fabric->nodes[0].node->router, PACKET_CONSOLE, 3, "", 0),
                         E_OK);
    }
}

static unsigned message_count;

static bool messages_are_there(const struct fabric *fabric)
{
    for (unsigned rank = 0; rank < NODES; rank += 3) {
        for (unsigned i = 0; i < message_count; i++) {
            if (!fabric_is_done(fabric, rank, (int32_t)i)) {
                return false;
            }
        }
    }
    return true;
}

static void send_messages(struct fabric *fabric, unsigned count, uint32_t bytes)
{
    message_count = count;
    for (unsigned i = 0; i < count; i++) {
        uint32_t at = FABRIC_DATA + i * bytes;
        memset(fabric_at(fabric, 0, at), (int)(1 + i), bytes);
        memset(fabric_at(fabric, 3, at), 0, bytes);
        assert_int_equal(fabric_message(fabric, 3, ECUBE_CALL_RECEIVE, 0, (int32_t)i, at, bytes),
                         i);
        assert_int_equal(fabric_message(fabric, 0, ECUBE_CALL_SEND, 3, (int32_t)i, at, bytes), i);
    }
}

static void check_messages(struct fabric *fabric, unsigned count, uint32_t bytes)
{
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(fabric_wait(fabric, 0, (int32_t)i).status, E_OK);
        assert_int_equal(fabric_wait(fabric, 3, (int32_t)i).status, E_OK);
    }
    assert_memory_equal(fabric_at(fabric, 0, FABRIC_DATA), fabric_at(fabric, 3, FABRIC_DATA),
                        count * bytes);
}

/* Loses each word of credit in a run of its own; how many runs stood until node 0 asked. */
static unsigned sweep(unsigned jam_at, unsigned count, uint32_t bytes)
{
    struct fabric *fabric = lossy();
    struct run run = {.jam_at = jam_at};
    unsigned stood = 0;

    do {
        run.words = 0;
        if (count) {
            send_messages(fabric, count, bytes);
        } else {
            send_packets(fabric);
        }
        assert_true(go(fabric, &run, count ? messages_are_there : packets_have_passed));
        if (count) {
            check_messages(fabric, count, bytes);
        }
        assert_true(run.us < 2 * RETRY_US);
        stood += run.us >= RETRY_US;
        for (unsigned round = 0; round < 2 * JAM_ROUNDS; round++) {
            fabric_round(fabric);
        }
        fabric->now_us += SECOND_US;
        fabric_settle(fabric);
    } while (run.lose++ < run.words);
    fabric_free(fabric);
    return stood;
}

TEST(packets_go_on_when_a_word_of_credit_is_lost)
{
    unsigned stood = 0;

    for (unsigned jam = 1; jam <= JAMS; jam++) {
        stood += sweep(jam, 0, 0);
    }
    assert_true(stood > 0);
}

TEST(a_long_message_goes_on_when_a_word_of_credit_is_lost)
{
    unsigned stood = 0;

    for (unsigned jam = 1; jam <= JAMS; jam++) {
        stood += sweep(jam, 1, LONG);
    }
    assert_true(stood > 0);
}

TEST(circuits_go_on_when_the_word_that_others_have_drained_is_lost)
{
    unsigned stood = 0;

    for (unsigned jam = 1; jam <= JAMS; jam++) {
        stood += sweep(jam, COUNT, SHORT);
    }
    assert_true(stood > 0);
}

/* STOP to node `rank`, where no program runs: nothing comes back that would carry an
 * acknowledgement. */
static int stop(struct fabric *fabric, uint32_t rank)
{
    return router_send(&fabric->controller.router, PACKET_STOP, rank, NULL, 0);
}

/* The host has a link to node 0 and to each of its six neighbours. Three frames on each are as many
 * as need not be acknowledged at once. */
TEST(packets_over_all_links_leave_slots_without_a_delay)
{
    static const struct memory_fault no_fault;
    struct fabric *fabric = fabric_make(6, 4096, 1, no_fault, ipsc860);

    fabric_settle(fabric);
    fabric->now_us += SECOND_US;
    fabric_settle(fabric);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(stop(fabric, 0), E_OK);
        for (unsigned port = 0; port < fabric->network.ports; port++) {
            assert_int_equal(stop(fabric, network_neighbour(&fabric->network, 0, port)), E_OK);
        }
    }
    fabric_settle(fabric);
    for (unsigned i = 0; i < SLOTS_LOW; i++) {
        assert_int_equal(stop(fabric, 0), E_OK);
    }
    fabric_free(fabric);
}

/* A part of a plan takes one of two large slots, and nothing comes back that would carry an
 * acknowledgement. */
TEST(large_packets_follow_each_other_without_a_delay)
{
    static const struct memory_fault no_fault;
    static const uint8_t part[PLAN_PART_BYTES + PLAN_PART_MAX];
    struct fabric *fabric = fabric_make(2, 4096, 1, no_fault, ipsc860);

    fabric_settle(fabric);
    fabric->now_us += SECOND_US;
    fabric_settle(fabric);
    for (unsigned i = 0; i < 10 * LARGE_SLOTS_MAX; i++) {
        assert_int_equal(
            router_send(&fabric->controller.router, PACKET_PLAN_PART, i & 3, part, sizeof part),
            E_OK);
        if (i % LARGE_SLOTS_MAX == LARGE_SLOTS_MAX - 1) {
            fabric_settle(fabric);
        }
    }
    fabric_free(fabric);
}
