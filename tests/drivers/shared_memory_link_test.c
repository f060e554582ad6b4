/*
 * Links through shared memory, with the PCI device under them, over plain memory: two nodes that
 * have all their links with each other.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/pci/pci.h"
#include "drivers/status.h"
#include "tests/drivers/fake_ivshmem.h"

enum { LONG = 60000 };

struct bench {
    struct shared_memory *memory; /* of link 0; the others follow */
    struct fake_node nodes[2];
};

static struct bench *bench_make(void)
{
    struct bench *bench = calloc(1, sizeof *bench);
    bench->memory = fake_memories();
    fake_node_make(&bench->nodes[0], bench->memory, 0);
    fake_node_make(&bench->nodes[1], bench->memory, 1);
    return bench;
}

static struct bench *bench_open(void)
{
    struct bench *bench = bench_make();
    assert_int_equal(fake_node_start(&bench->nodes[0]), FAKE_LINKS);
    assert_int_equal(fake_node_start(&bench->nodes[1]), FAKE_LINKS);
    return bench;
}

static void bench_free(struct bench *bench)
{
    fake_node_free(&bench->nodes[0]);
    fake_node_free(&bench->nodes[1]);
    free(bench->memory);
    free(bench);
}

static struct link *end(struct bench *bench, int node)
{
    return shared_memory_link(&bench->nodes[node].links, 0);
}

static bool listens(struct bench *bench, int node)
{
    return shared_memory_listen(&bench->nodes[node].links);
}

/* Node 0's words in link 0, where it is also the one that lies. */
static struct shared_side *liar(struct bench *bench)
{
    return &bench->memory->side[0].words;
}

static void send(struct bench *bench, int node, const void *data, uint32_t bytes)
{
    assert_int_equal(end(bench, node)->ops->send(end(bench, node), data, bytes), E_OK);
}

static void kick(struct bench *bench, int node)
{
    end(bench, node)->ops->kick(end(bench, node));
}

static uint32_t sent(struct bench *bench, int node)
{
    return end(bench, node)->ops->sent(end(bench, node));
}

/* Takes one chunk at node 1 and gives it back; its bytes, 0: there is none. */
static uint32_t take(struct bench *bench)
{
    struct link_chunk chunk;
    if (!end(bench, 1)->ops->receive(end(bench, 1), &chunk)) {
        return 0;
    }
    end(bench, 1)->ops->release(end(bench, 1), chunk.buffer);
    return chunk.bytes;
}

static uint32_t take_all(struct bench *bench)
{
    uint32_t all = 0, bytes;
    while ((bytes = take(bench)) > 0) {
        all += bytes;
    }
    return all;
}

/* Fills node 0's ring, and leaves so many segments waiting. */
static void fill(struct bench *bench, uint32_t waiting)
{
    static uint8_t data[LONG];
    uint32_t count = SHARED_RING_BYTES / LONG + waiting;
    for (uint32_t i = 0; i < count; i++) {
        send(bench, 0, data, LONG);
    }
    kick(bench, 0);
    assert_int_equal(sent(bench, 0), count - waiting);
}

/* ---- the device ---- */

TEST(the_device_is_found_placed_and_sends_its_message)
{
    struct bench *bench = bench_open();
    struct fake_node *node = &bench->nodes[0];
    assert_int_equal(node->configuration[1] & 0xffff, 6); /* memory, master */
    assert_int_equal(node->configuration[4], (uint32_t)(uintptr_t)node->window);
    assert_int_equal(node->configuration[6], (uint32_t)(uintptr_t)node->card);
    assert_int_equal(node->message[0], FAKE_MESSAGE_ADDRESS);
    assert_int_equal(node->message[1], 0);
    assert_int_equal(node->message[2], FAKE_MESSAGE_DATA);
    assert_int_equal(node->message[3], 0);
    assert_int_equal(node->configuration[16] >> 31, 1);
    bench_free(bench);
}

TEST(regions_of_ports_and_upper_halves_are_left_out)
{
    uint32_t words[64] = {[4] = 1, [5] = 4, [6] = 0x77, [7] = 0xc};
    struct pci_host host = {.window = 0x1008, .window_end = 0x2000};
    struct pci_device device = {.config = (uintptr_t)words};
    pci_enable(&host, &device);
    assert_int_equal(device.bars[0], 0); /* a port */
    assert_int_equal(device.bars[1], 0x1010);
    assert_int_equal(device.bars[2], 0);
    assert_int_equal(words[6], 0);
    assert_int_equal(device.bars[3], 0x1020);
    assert_int_equal(words[8], 0);
    assert_int_equal(device.bars[5], 0x1030);
    assert_int_equal(host.window, 0x1040);
}

TEST(a_list_of_capabilities_that_has_no_end_is_none)
{
    uint32_t words[64] = {[1] = 1 << 20, [13] = 0x40, [16] = 0x5001, [20] = 0x4002};
    const struct pci_device device = {.config = (uintptr_t)words};
    assert_int_equal(pci_capability(&device, 2), 0x50);
    assert_int_equal(pci_capability(&device, 0x11), 0);
    words[1] = 0;
    assert_int_equal(pci_capability(&device, 2), 0);
}

TEST(without_a_device_there_are_no_links)
{
    struct bench *bench = bench_make();
    bench->nodes[0].configuration[0] = 0xffffffff;
    assert_int_equal(fake_node_start(&bench->nodes[0]), 0);
    assert_false(shared_memory_has(&bench->nodes[0].links, 0));
    assert_false(listens(bench, 0));
    shared_memory_quiet(&bench->nodes[0].links);
    shared_memory_interrupt(&bench->nodes[0].links);
    bench_free(bench);
}

TEST(a_device_that_lacks_something_is_an_error)
{
    for (int what = 0; what < 6; what++) {
        struct bench *bench = bench_make();
        struct fake_node *node = &bench->nodes[0];
        node->card->magic += what == 0;
        node->card->version += what == 1;
        node->card->port_count += what == 2;
        node->configuration[16] += what == 3;         /* another capability than MSI-X */
        node->configuration[17] |= what == 4 ? 6 : 0; /* its table in a region that cannot be */
        if (what == 5) { /* no region for the doorbell; the others lie where it would */
            node->configuration[4] = 1;
            memmove(node->window + 16, node->card, sizeof *node->card);
        }
        assert_int_equal(fake_node_start(node), E_LINK_DEAD);
        assert_false(shared_memory_has(&node->links, 0));
        bench_free(bench);
    }
}

TEST(the_card_says_how_long_to_spin)
{
    struct bench *bench = bench_make();
    assert_int_equal(bench->nodes[0].links.spin_us, 0);
    bench->nodes[0].card->spin_us = 70;
    assert_int_equal(fake_node_start(&bench->nodes[0]), FAKE_LINKS);
    assert_int_equal(bench->nodes[0].links.spin_us, 70);
    bench_free(bench);
}

TEST(a_port_without_a_link_has_no_carrier_and_stays_silent)
{
    struct bench *bench = bench_make();
    struct fake_node *node = &bench->nodes[0];
    node->card->ports[0].memory = SHARED_NO_MEMORY;
    node->card->ports[1].memory = FAKE_LINKS;
    node->card->ports[2].side = 2;
    assert_int_equal(fake_node_start(node), FAKE_LINKS);
    for (uint32_t port = 0; port < FAKE_LINKS; port++) {
        struct link *link = shared_memory_link(&node->links, port);
        assert_false(shared_memory_has(&node->links, port));
        assert_int_equal(link->carrier, CARRIER_UNKNOWN);
        assert_false(link_has_input(link));
    }
    assert_false(listens(bench, 0));
    bench_free(bench);
}

/* ---- bytes ---- */

TEST(bytes_come_in_order_in_chunks_behind_headroom)
{
    struct bench *bench = bench_open();
    struct link *to = end(bench, 1);
    struct link_chunk chunk;
    uint8_t data[2 * LINK_LONG_CHUNK_MAX];
    for (uint32_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 7 + i / 256);
    }
    assert_false(to->ops->receive(to, &chunk));
    assert_false(link_has_input(to));
    for (uint32_t round = 0; round < 3 * SHARED_RING_BYTES / sizeof data; round++) {
        send(bench, 0, data, 5);
        send(bench, 0, data + 5, sizeof data - 7);
        assert_false(link_has_input(to)); /* not before the kick */
        kick(bench, 0);
        assert_true(link_has_input(to));
        for (uint32_t got = 0; got < sizeof data - 2; got += chunk.bytes) {
            assert_true(to->ops->receive(to, &chunk));
            assert_ptr_equal(chunk.data, bench->nodes[1].config.buffers +
                                             chunk.buffer * LINK_LONG_BUFFER_BYTES + LINK_HEADROOM);
            assert_memory_equal(chunk.data, data + got, chunk.bytes);
            to->ops->release(to, chunk.buffer);
        }
        assert_false(to->ops->receive(to, &chunk));
        assert_false(link_has_input(to));
    }
    bench_free(bench);
}

TEST(a_segment_is_counted_when_it_has_found_room)
{
    struct bench *bench = bench_open();
    fill(bench, 3);
    const uint32_t first = SHARED_RING_BYTES / LONG;
    assert_int_equal(take(bench), LINK_LONG_CHUNK_MAX);
    shared_memory_flush(&bench->nodes[1].links);
    assert_int_equal(sent(bench, 0), first); /* not all of it */
    for (uint32_t i = 1; i <= LONG / LINK_LONG_CHUNK_MAX; i++) {
        assert_int_equal(take(bench), LINK_LONG_CHUNK_MAX);
    }
    shared_memory_flush(&bench->nodes[1].links);
    assert_int_equal(sent(bench, 0), first + 1);
    kick(bench, 0);
    uint32_t all = (LONG / LINK_LONG_CHUNK_MAX + 1) * LINK_LONG_CHUNK_MAX;
    for (uint32_t round = 0; round < 2; round++) {
        all += take_all(bench);
        shared_memory_flush(&bench->nodes[0].links);
    }
    assert_int_equal(all + take_all(bench), (first + 3) * LONG);
    assert_int_equal(sent(bench, 0), first + 3);
    bench_free(bench);
}

TEST(so_many_segments_may_wait_and_no_more)
{
    struct bench *bench = bench_open();
    struct link *from = end(bench, 0);
    fill(bench, SHARED_SEGMENTS);
    uint32_t before = sent(bench, 0);
    assert_int_equal(from->ops->send(from, "x", 1), E_FULL);
    assert_true(take_all(bench) > 0);
    assert_int_equal(from->ops->send(from, "x", 1), E_OK);
    assert_true(sent(bench, 0) > before);
    bench_free(bench);
}

TEST(who_has_no_buffer_takes_when_one_comes_back)
{
    struct bench *bench = bench_open();
    struct link *to = end(bench, 1);
    struct link_chunk chunks[FAKE_BUFFERS], more;
    fill(bench, 0);
    for (int i = 0; i < FAKE_BUFFERS; i++) {
        assert_true(to->ops->receive(to, &chunks[i]));
        for (int j = 0; j < i; j++) {
            assert_int_not_equal(chunks[i].buffer, chunks[j].buffer);
        }
    }
    assert_true(link_has_input(to));
    assert_false(to->ops->receive(to, &more));
    assert_false(link_has_input(to));
    assert_false(listens(bench, 1)); /* what lies there is no news to who cannot take it */
    assert_int_equal(bench->memory->side[1].words.sleep & SHARED_WANTS_BYTES, 0);
    to->ops->release(to, chunks[2].buffer);
    assert_true(link_has_input(to));
    assert_true(to->ops->receive(to, &more));
    assert_int_equal(more.buffer, chunks[2].buffer);
    bench_free(bench);
}

/* ---- sleep and bells ---- */

TEST(who_is_awake_is_not_rung_and_who_sleeps_once)
{
    struct bench *bench = bench_open();
    send(bench, 0, "a", 1);
    kick(bench, 0);
    assert_false(fake_node_rang(&bench->nodes[0], 0));
    assert_int_equal(take_all(bench), 1);
    assert_false(listens(bench, 1));
    send(bench, 0, "b", 1);
    assert_false(fake_node_rang(&bench->nodes[0], 0)); /* it goes with the kick */
    kick(bench, 0);
    assert_true(fake_node_rang(&bench->nodes[0], 0));
    send(bench, 0, "c", 1);
    kick(bench, 0);
    assert_false(fake_node_rang(&bench->nodes[0], 0));
    assert_int_equal(bench->nodes[0].links.bells, 1);
    shared_memory_quiet(&bench->nodes[1].links);
    assert_int_equal(take_all(bench), 2);
    assert_false(listens(bench, 1));
    shared_memory_quiet(&bench->nodes[1].links);
    send(bench, 0, "d", 1);
    kick(bench, 0);
    assert_int_equal(bench->nodes[0].links.bells, 1);
    bench_free(bench);
}

TEST(bytes_that_lie_there_are_told_of_once)
{
    struct bench *bench = bench_open();
    send(bench, 0, "ab", 2);
    kick(bench, 0);
    assert_true(listens(bench, 1));
    assert_true(link_has_input(end(bench, 1)));
    assert_false(listens(bench, 1));
    send(bench, 0, "c", 1);
    kick(bench, 0);
    assert_true(fake_node_rang(&bench->nodes[0], 0)); /* more has come */
    assert_true(listens(bench, 1));
    assert_false(listens(bench, 1));
    bench_free(bench);
}

/* As a node does whose router has given the link up, and reads it no more. */
TEST(bytes_that_nobody_takes_are_told_of_once_though_segments_wait)
{
    struct bench *bench = bench_open();
    fill(bench, 1);
    send(bench, 1, "unread", 6);
    kick(bench, 1);
    assert_true(listens(bench, 0));
    assert_false(listens(bench, 0));
    bench_free(bench);
}

TEST(who_waits_for_room_is_woken_by_half_a_ring)
{
    struct bench *bench = bench_open();
    fill(bench, 8);
    assert_false(listens(bench, 0));
    uint32_t taken = 0;
    do {
        taken += take(bench);
        shared_memory_flush(&bench->nodes[1].links);
    } while (!fake_node_rang(&bench->nodes[1], 0));
    assert_in_range(taken, SHARED_RING_BYTES / 2 - LINK_LONG_CHUNK_MAX,
                    SHARED_RING_BYTES / 2 + LINK_LONG_CHUNK_MAX);
    assert_int_equal(sent(bench, 0) - SHARED_RING_BYTES / LONG, 2);
    bench_free(bench);
}

TEST(who_waits_for_less_room_is_woken_by_less)
{
    struct bench *bench = bench_open();
    fill(bench, 1);
    assert_false(listens(bench, 0));
    uint32_t taken = 0;
    do {
        taken += take(bench);
        shared_memory_flush(&bench->nodes[1].links);
    } while (!fake_node_rang(&bench->nodes[1], 0));
    assert_in_range(taken, LONG - SHARED_RING_BYTES % LONG, LONG);
    assert_int_equal(sent(bench, 0), SHARED_RING_BYTES / LONG + 1);
    bench_free(bench);
}

TEST(room_that_came_before_the_sleep_is_news)
{
    struct bench *bench = bench_open();
    fill(bench, 8);
    (void)sent(bench, 0);
    assert_true(take_all(bench) > SHARED_RING_BYTES / 2);
    shared_memory_flush(&bench->nodes[1].links);
    assert_true(listens(bench, 0)); /* who asked what is sent is told */
    assert_false(listens(bench, 0));
    bench_free(bench);
}

TEST(a_patient_link_is_woken_when_enough_lies_there)
{
    struct bench *bench = bench_open();
    static const uint8_t data[LINK_CHUNK_MAX];
    end(bench, 1)->coalesce = 3;
    assert_false(listens(bench, 1));
    for (int i = 0; i < 2; i++) {
        send(bench, 0, data, sizeof data);
        kick(bench, 0);
        assert_false(fake_node_rang(&bench->nodes[0], 0));
        assert_false(listens(bench, 1));
    }
    send(bench, 0, data, 1); /* the third chunk begins */
    kick(bench, 0);
    assert_true(fake_node_rang(&bench->nodes[0], 0));
    assert_true(listens(bench, 1));
    assert_int_equal(take_all(bench), 2 * LINK_CHUNK_MAX + 1);
    end(bench, 1)->coalesce = UINT16_MAX; /* more than a ring holds */
    assert_false(listens(bench, 1));
    for (int i = 0; i < SHARED_RING_BYTES / 2 / LINK_CHUNK_MAX; i++) {
        assert_false(fake_node_rang(&bench->nodes[0], 0));
        send(bench, 0, data, sizeof data);
        kick(bench, 0);
    }
    assert_true(fake_node_rang(&bench->nodes[0], 0));
    bench_free(bench);
}

/* ---- carrier ---- */

TEST(a_link_that_is_lost_at_the_start_is_told_as_lost)
{
    struct bench *bench = bench_make();
    bench->memory->carrier = SHARED_CARRIER_LOST;
    assert_int_equal(fake_node_start(&bench->nodes[0]), FAKE_LINKS);
    assert_true(shared_memory_has(&bench->nodes[0].links, 0));
    assert_int_equal(end(bench, 0)->carrier, CARRIER_LOST);
    assert_int_equal(bench->nodes[0].link[1].link.carrier, CARRIER_UP);
    assert_false(listens(bench, 0));
    bench_free(bench);
}

TEST(a_link_that_is_lost_in_sleep_is_news_once)
{
    struct bench *bench = bench_open();
    assert_false(listens(bench, 0));
    bench->memory->carrier = SHARED_CARRIER_LOST;
    assert_true(listens(bench, 0));
    assert_int_equal(end(bench, 0)->carrier, CARRIER_LOST);
    assert_false(listens(bench, 0));
    shared_memory_interrupt(&bench->nodes[1].links);
    assert_int_equal(end(bench, 1)->carrier, CARRIER_LOST);
    bench->memory->carrier = SHARED_CARRIER_UP; /* it is for good */
    shared_memory_interrupt(&bench->nodes[1].links);
    assert_int_equal(end(bench, 1)->carrier, CARRIER_LOST);
    bench_free(bench);
}

TEST(what_waits_at_a_lost_link_is_done_with)
{
    struct bench *bench = bench_open();
    struct link_chunk chunk;
    fill(bench, 5);
    send(bench, 1, "last", 4);
    kick(bench, 1);
    bench->memory->carrier = SHARED_CARRIER_LOST;
    shared_memory_interrupt(&bench->nodes[0].links);
    bench->memory->side[1].words.sleep += SHARED_SLEEP_ONE + SHARED_WANTS_BYTES;
    assert_int_equal(sent(bench, 0), SHARED_RING_BYTES / LONG + 5);
    send(bench, 0, "x", 1);
    assert_int_equal(sent(bench, 0), SHARED_RING_BYTES / LONG + 6);
    assert_true(end(bench, 0)->ops->receive(end(bench, 0), &chunk));
    kick(bench, 0); /* it has taken something, and the neighbour sleeps */
    assert_int_equal(take_all(bench), SHARED_RING_BYTES);
    assert_int_equal(end(bench, 1)->carrier, CARRIER_LOST); /* seen when there is no more */
    assert_false(listens(bench, 1));
    assert_int_equal(bench->nodes[0].links.bells + bench->nodes[1].links.bells, 0);
    bench_free(bench);
}

/* ---- neighbours that lie ---- */

/* What node 1 knows after a lie of node 0: its link is lost, the others go on. */
static void expect_lost(struct bench *bench)
{
    static const uint8_t data[16];
    struct link *other = shared_memory_link(&bench->nodes[0].links, 1);
    struct link_chunk chunk;
    assert_int_equal(end(bench, 1)->carrier, CARRIER_LOST);
    assert_int_equal(take(bench), 0);
    send(bench, 1, data, sizeof data);
    assert_int_equal(sent(bench, 1), bench->nodes[1].link[0].queued);
    assert_int_equal(other->ops->send(other, data, sizeof data), E_OK);
    other->ops->kick(other);
    other = shared_memory_link(&bench->nodes[1].links, 1);
    assert_true(other->ops->receive(other, &chunk));
    assert_int_equal(chunk.bytes, sizeof data);
    assert_int_equal(other->carrier, CARRIER_UP);
    bench_free(bench);
}

TEST(a_count_that_cannot_be_is_a_lost_link)
{
    struct bench *bench = bench_open();
    liar(bench)->put = SHARED_RING_BYTES + 1;
    assert_int_equal(take(bench), 0);
    expect_lost(bench);

    bench = bench_open();
    liar(bench)->put = UINT32_MAX;
    assert_true(listens(bench, 1)); /* it is told */
    expect_lost(bench);

    bench = bench_open();
    static uint8_t data[SHARED_RING_BYTES + 1];
    liar(bench)->taken = 1;
    send(bench, 1, data, sizeof data);
    kick(bench, 1);
    shared_memory_interrupt(&bench->nodes[1].links);
    expect_lost(bench);

    bench = bench_make();
    liar(bench)->put = SHARED_RING_BYTES + 1;
    assert_int_equal(fake_node_start(&bench->nodes[0]), FAKE_LINKS);
    assert_int_equal(fake_node_start(&bench->nodes[1]), FAKE_LINKS);
    expect_lost(bench);
}

TEST(a_hint_that_lies_costs_a_look)
{
    struct bench *bench = bench_open();
    for (uint16_t hint = 0; hint < 3; hint++) {
        liar(bench)->published = hint * 0x5555;
        assert_int_equal(take(bench), 0);
        assert_false(link_has_input(end(bench, 1)));
        assert_false(listens(bench, 1));
    }
    assert_int_equal(end(bench, 1)->carrier, CARRIER_UP);
    bench_free(bench);
}

TEST(a_node_that_starts_again_goes_on_where_it_was)
{
    struct bench *bench = bench_open();
    struct link_chunk chunk;
    send(bench, 0, "abc", 3);
    kick(bench, 0);
    assert_true(end(bench, 1)->ops->receive(end(bench, 1), &chunk));
    assert_false(listens(bench, 1)); /* publishes what it has taken */
    send(bench, 0, "def", 3);
    kick(bench, 0);
    send(bench, 0, "lost", 4); /* not published */
    assert_false(fake_node_rang(&bench->nodes[0], 1));
    assert_int_equal(fake_node_start(&bench->nodes[0]), FAKE_LINKS);
    assert_true(fake_node_rang(&bench->nodes[0], 0)); /* whom it rang it does not know */
    send(bench, 0, "ghi", 3);
    kick(bench, 0);
    assert_int_equal(fake_node_start(&bench->nodes[1]), FAKE_LINKS);
    assert_true(link_has_input(end(bench, 1)));
    assert_true(end(bench, 1)->ops->receive(end(bench, 1), &chunk));
    assert_int_equal(chunk.bytes, 6);
    assert_memory_equal(chunk.data, "defghi", 6);
    bench_free(bench);
}
