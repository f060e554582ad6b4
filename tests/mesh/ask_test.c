/*
 * ask_test.c - nodes 0, 1 and 3 in a row: every word of credit that node 1 gives node 0, and that
 * no other frame repeats, is lost once, whatever node 0 waits for. It asks, and goes on.
 *
 * Node 3 stands still for a while, so that node 1 gives credit long after it has acknowledged.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/channel.h"
#include "router/channel_state.h"
#include "router/port.h"
#include "router/router.h"
#include "router/state.h"
#include "tests/mesh/mesh.h"
#include "tests/unit/testing.h"

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
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0};

/* Loses node 1's last word to node 0 when it says nothing but credit: all is acknowledged. */
static void lose_credit(struct mesh *mesh, struct run *run)
{
    struct memory_end *end = &mesh->nodes[1].ends[0];
    const struct channel *hearer = &mesh->nodes[0].node->router.ports[0].channel;

    if (end->end - end->first != 1 || end->offset != 0)
        return;
    const struct memory_segment *word = &end->segments[end->first % MEMORY_SEGMENTS];
    if (word->bytes == FRAME_HEADER_BYTES && frame_type(word->data) == FRAME_ACK &&
        frame_ack(word->data) == hearer->seq_acknowledged && ++run->words == run->lose)
        end->first = end->kicked = end->end;
}

static bool round_of(struct mesh *mesh, struct run *run)
{
    const struct port *port = &mesh->nodes[0].node->router.ports[0];
    bool more = false;

    mesh->now_us++;
    for (unsigned rank = 0; rank < NODES; rank++) {
        bool waits = node_step(mesh->nodes[rank].node, mesh->now_us);
        while (rank == 3 && waits) /* a window in one turn, so that node 1 has one word for it */
            waits = node_step(mesh->nodes[rank].node, mesh->now_us);
        more |= waits;
        if (rank == 1)
            lose_credit(mesh, run);
        for (unsigned p = 0; p < mesh->network.dims; p++)
            more |= mesh->nodes[rank].ends[p].first != mesh->nodes[rank].ends[p].kicked;
        assert_true(port->order_count + port->draining_count <= CIRCUITS_MAX);
    }
    return more;
}

static uint64_t next_deadline(struct mesh *mesh)
{
    uint64_t deadline = UINT64_MAX;

    for (unsigned rank = 0; rank < NODES; rank++) {
        uint64_t wake = node_deadline(mesh->nodes[rank].node);
        if (wake < deadline)
            deadline = wake;
    }
    return deadline;
}

/* Steps until `done`, with node 3 jammed for a while; false when that never comes. */
static bool go(struct mesh *mesh, struct run *run, bool (*done)(const struct mesh *))
{
    bool taken[LINK_BUFFERS_MAX], jammed = false;
    uint64_t begin_us = mesh->now_us;

    for (unsigned round = 1, quiet = 0; !done(mesh); round++) {
        if (round == run->jam_at)
            memory_link_stop(&mesh->nodes[3].ends[1], taken);
        else if (jammed && round == run->jam_at + JAM_ROUNDS)
            memory_link_start(&mesh->nodes[3].ends[1], taken);
        jammed = run->jam_at <= round && round < run->jam_at + JAM_ROUNDS;
        quiet = round_of(mesh, run) ? 0 : quiet + 1;
        if (quiet > QUIET_ROUNDS && round > run->jam_at + JAM_ROUNDS) {
            uint64_t deadline = next_deadline(mesh);
            if (deadline > begin_us + DEADLINE_US)
                return false;
            mesh->now_us = deadline > mesh->now_us ? deadline : mesh->now_us;
            quiet = 0;
        }
    }
    if (jammed)
        memory_link_start(&mesh->nodes[3].ends[1], taken);
    run->us = mesh->now_us - begin_us;
    return true;
}

/* Links that can lose bytes, and lose none of themselves. */
static struct mesh *lossy(void)
{
    struct mesh *mesh = mesh_make(2, 2 * LONG, 1, (struct memory_fault){1, 0}, ipsc860);

    mesh->fault = (struct memory_fault){0, 0};
    assert_true(mesh_start(mesh));
    mesh_settle(mesh);
    return mesh;
}

static uint32_t forwarded;

static bool packets_have_passed(const struct mesh *mesh)
{
    return mesh->nodes[1].node->router.packets_forwarded == forwarded + SLOTS_MAX;
}

static void send_packets(struct mesh *mesh)
{
    forwarded = mesh->nodes[1].node->router.packets_forwarded;
    for (unsigned i = 0; i < SLOTS_MAX; i++)
        assert_int_equal(router_send(&mesh->nodes[0].node->router, PACKET_CONSOLE, 3, "", 0), E_OK);
}

static bool messages_are_there(const struct mesh *mesh)
{
    for (unsigned rank = 0; rank < NODES; rank += 3)
        for (unsigned i = 0; i < mesh->nodes[rank].node->request_count; i++)
            if (request_at(mesh->nodes[rank].node, i)->state != STATE_DONE)
                return false;
    return true;
}

static void send_messages(struct mesh *mesh, unsigned count, uint32_t bytes)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t at = MESH_DATA + i * bytes;
        memset(mesh_at(mesh, 0, at), (int)(1 + i), bytes);
        memset(mesh_at(mesh, 3, at), 0, bytes);
        assert_int_equal(mesh_message(mesh, 3, ECUBE_CALL_RECEIVE, 0, (int32_t)i, at, bytes), i);
        assert_int_equal(mesh_message(mesh, 0, ECUBE_CALL_SEND, 3, (int32_t)i, at, bytes), i);
    }
}

static void check_messages(struct mesh *mesh, unsigned count, uint32_t bytes)
{
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(mesh_wait(mesh, 0, (int32_t)i).status, E_OK);
        assert_int_equal(mesh_wait(mesh, 3, (int32_t)i).status, E_OK);
    }
    assert_memory_equal(mesh_at(mesh, 0, MESH_DATA), mesh_at(mesh, 3, MESH_DATA), count * bytes);
}

/* Loses each word of credit in a run of its own; how many runs stood until node 0 asked. */
static unsigned sweep(unsigned jam_at, unsigned count, uint32_t bytes)
{
    struct mesh *mesh = lossy();
    struct run run = {.jam_at = jam_at};
    unsigned stood = 0;

    do {
        run.words = 0;
        if (count)
            send_messages(mesh, count, bytes);
        else
            send_packets(mesh);
        assert_true(go(mesh, &run, count ? messages_are_there : packets_have_passed));
        if (count)
            check_messages(mesh, count, bytes);
        assert_true(run.us < 2 * RETRY_US);
        stood += run.us >= RETRY_US;
        for (unsigned round = 0; round < 2 * JAM_ROUNDS; round++)
            mesh_round(mesh);
        mesh->now_us += SECOND_US;
        mesh_settle(mesh);
    } while (run.lose++ < run.words);
    mesh_free(mesh);
    return stood;
}

static void packets_go_on_when_a_word_of_credit_is_lost(void **state)
{
    unsigned stood = 0;

    (void)state;
    for (unsigned jam = 1; jam <= JAMS; jam++)
        stood += sweep(jam, 0, 0);
    assert_true(stood > 0);
}

static void a_long_message_goes_on_when_a_word_of_credit_is_lost(void **state)
{
    unsigned stood = 0;

    (void)state;
    for (unsigned jam = 1; jam <= JAMS; jam++)
        stood += sweep(jam, 1, LONG);
    assert_true(stood > 0);
}

static void circuits_go_on_when_the_word_that_others_have_drained_is_lost(void **state)
{
    unsigned stood = 0;

    (void)state;
    for (unsigned jam = 1; jam <= JAMS; jam++)
        stood += sweep(jam, COUNT, SHORT);
    assert_true(stood > 0);
}

TEST_MAIN(cmocka_unit_test(packets_go_on_when_a_word_of_credit_is_lost),
          cmocka_unit_test(a_long_message_goes_on_when_a_word_of_credit_is_lost),
          cmocka_unit_test(circuits_go_on_when_the_word_that_others_have_drained_is_lost))
