#include "bench/raw/raw.h"

#include <string.h>

#include "boot/mmu.h"
#include "boot/platform.h"
#include "boot/trap.h"
#include "drivers/check.h"
#include "drivers/mmio.h"
#include "drivers/shared_memory_link.h"

enum {
    PING_BYTES = 8,
    MESSAGES = 8,
    BLOCK_BYTES = RAW_SEGMENT_BYTES,
    ROOM_BYTES =
        SHARED_RING_BYTES / 2, /* a sender that found no room sleeps until so much is free */
    PAGE_BYTES = 4096
};

static uint8_t segment[RAW_SEGMENT_BYTES];
static uint8_t messages[MESSAGES][RAW_SEGMENT_BYTES]; /* filled in turn, as programs do */

/* What a ring must have before its owner is woken; 0: nothing. */
struct want {
    uint32_t bytes, room;
};

static struct shared_memory_link *ring_at(unsigned port)
{
    return (struct shared_memory_link *)platform_links()[port]; /* its first member */
}

static void publish(struct shared_memory_link *ring)
{
    if (shared_end_publish(&ring->end)) {
        mmio_write32(ring->device->doorbell, ring->bell);
    }
    CHECK(!ring->end.broken);
}

/* Sleeps until the first of so many rings has what it wants. */
static void wait_for(const struct want *wants, unsigned count)
{
    bool missed = false;
    for (unsigned p = 0; p < count; p++) {
        shared_end_sleep(&ring_at(p)->end, wants[p].bytes, wants[p].room);
    }
    mmio_barrier();
    for (unsigned p = 0; p < count; p++) {
        missed |= shared_end_missed(&ring_at(p)->end, wants[p].bytes, wants[p].room);
    }
    if (!missed) {
        platform_sleep();
    }
    for (unsigned p = 0; p < count; p++) {
        shared_end_wake(&ring_at(p)->end);
    }
}

static void wait_for_bytes(unsigned port, uint32_t bytes)
{
    struct want wants[PLATFORM_LINKS_MAX] = {{0}};
    wants[port].bytes = bytes;
    wait_for(wants, port + 1);
}

static void put_all(unsigned port, const void *data, uint32_t bytes)
{
    struct shared_memory_link *ring = ring_at(port);
    uint32_t done = 0;
    for (;;) {
        done += shared_end_put(&ring->end, (const uint8_t *)data + done, bytes - done);
        publish(ring);
        if (done == bytes) {
            return;
        }
        struct want wants[PLATFORM_LINKS_MAX] = {{0}};
        wants[port].room = ROOM_BYTES;
        wait_for(wants, port + 1);
    }
}

static void take_all(unsigned port, void *buffer, uint32_t bytes)
{
    struct shared_memory_link *ring = ring_at(port);
    uint32_t done = 0;
    for (;;) {
        done += shared_end_take(&ring->end, (uint8_t *)buffer + done, bytes - done);
        publish(ring);
        if (done == bytes) {
            return;
        }
        wait_for_bytes(port, bytes - done);
    }
}

void ring_send(void)
{
    for (;;) {
        put_all(0, segment, sizeof segment);
    }
}

void ring_receive(uint32_t bytes)
{
    uint64_t start_us = 0;
    uint32_t received = 0;
    for (uint32_t message = 0; received < bytes; message++) {
        take_all(0, messages[message % MESSAGES], RAW_SEGMENT_BYTES);
        if (message == 0) {
            start_us = platform_now_us();
        } else {
            received += RAW_SEGMENT_BYTES;
        }
    }
    raw_show("receive", received, platform_now_us() - start_us);
}

void ring_relay(void)
{
    for (uint32_t message = 0;; message++) {
        take_all(0, messages[message % MESSAGES], RAW_SEGMENT_BYTES);
        put_all(1, messages[message % MESSAGES], RAW_SEGMENT_BYTES);
    }
}

void ring_ping(uint32_t count)
{
    for (uint32_t i = 0; i <= count; i++) { /* the first finds the other end still starting */
        uint64_t sent_us = platform_now_us();
        put_all(0, segment, PING_BYTES);
        take_all(0, segment, PING_BYTES);
        if (i > 0) {
            raw_sample(i - 1, sent_us);
        }
    }
    raw_show_samples("ping", count);
}

void ring_pong(void)
{
    for (;;) {
        take_all(0, segment, PING_BYTES);
        put_all(0, segment, PING_BYTES);
    }
}

/* ---- exchange ---- */

/* How far one port has come: the steps that use it pass it in order, each way. */
struct passage {
    uint32_t send_step, sent; /* of that step's block, bytes */
    uint32_t take_step, taken;
};

struct exchange {
    unsigned ports;
    uint32_t nodes;
    uint8_t *outgoing, *incoming; /* block s: for, and from, the node that is s away by XOR */
    struct passage passages[PLATFORM_LINKS_MAX];
};

/* The next step after `step` that crosses this port, or the number of nodes. */
static uint32_t next_step(const struct exchange *exchange, uint32_t step, unsigned port)
{
    do {
        step++;
    } while (step < exchange->nodes && (step >> port & 1) == 0);
    return step;
}

/* The dimensions of a step that its block crosses before this one. */
static uint32_t before(uint32_t step, unsigned port)
{
    return step & ((1u << port) - 1);
}

/* Whether the block of a port's current step lies here: our own, or one that has come over the
 * dimension before. */
static bool may_send(const struct exchange *exchange, unsigned port)
{
    uint32_t step = exchange->passages[port].send_step;
    uint32_t crossed = before(step, port);
    return step < exchange->nodes &&
           (crossed == 0 ||
            exchange->passages[31 - (unsigned)__builtin_clz(crossed)].take_step > step);
}

/* Whether the place of the block that a port receives is free: what it replaces has been sent. */
static bool may_take(const struct exchange *exchange, unsigned port)
{
    const struct passage *passage = &exchange->passages[port];
    return passage->take_step < exchange->nodes &&
           (before(passage->take_step, port) == 0 || passage->send_step > passage->take_step);
}

static bool send_some(struct exchange *exchange, unsigned port)
{
    struct passage *passage = &exchange->passages[port];
    uint32_t step = passage->send_step;
    const uint8_t *block =
        (before(step, port) == 0 ? exchange->outgoing : exchange->incoming) + step * BLOCK_BYTES;
    uint32_t bytes =
        shared_end_put(&ring_at(port)->end, block + passage->sent, BLOCK_BYTES - passage->sent);
    passage->sent += bytes;
    if (passage->sent == BLOCK_BYTES) {
        passage->send_step = next_step(exchange, step, port);
        passage->sent = 0;
    }
    return bytes > 0;
}

static bool take_some(struct exchange *exchange, unsigned port)
{
    struct passage *passage = &exchange->passages[port];
    uint8_t *block = exchange->incoming + passage->take_step * BLOCK_BYTES;
    uint32_t bytes =
        shared_end_take(&ring_at(port)->end, block + passage->taken, BLOCK_BYTES - passage->taken);
    passage->taken += bytes;
    if (passage->taken == BLOCK_BYTES) {
        passage->take_step = next_step(exchange, passage->take_step, port);
        passage->taken = 0;
    }
    return bytes > 0;
}

/* Moves what can be moved at once; true: something was. */
static bool move_some(struct exchange *exchange)
{
    bool any = false;
    for (unsigned p = 0; p < exchange->ports; p++) {
        bool moved = false;
        while (may_take(exchange, p) && take_some(exchange, p)) {
            moved = true;
        }
        while (may_send(exchange, p) && send_some(exchange, p)) {
            moved = true;
        }
        if (moved) {
            publish(ring_at(p));
        }
        any |= moved;
    }
    return any;
}

/* What must happen before anything can be moved; false: all is done. */
static bool wants_of(const struct exchange *exchange, struct want wants[PLATFORM_LINKS_MAX])
{
    bool any = false;
    for (unsigned p = 0; p < exchange->ports; p++) {
        const struct passage *passage = &exchange->passages[p];
        wants[p] = (struct want){
            .bytes = may_take(exchange, p) ? BLOCK_BYTES - passage->taken : 0,
            .room = may_send(exchange, p) ? BLOCK_BYTES - passage->sent : 0,
        };
        any |= passage->take_step < exchange->nodes || passage->send_step < exchange->nodes;
    }
    return any;
}

static void run_exchange(struct exchange *exchange)
{
    struct want wants[PLATFORM_LINKS_MAX];
    for (unsigned p = 0; p < exchange->ports; p++) {
        uint32_t first = 1u << p;
        exchange->passages[p] = (struct passage){.send_step = first, .take_step = first};
    }
    while (wants_of(exchange, wants)) {
        if (!move_some(exchange)) {
            wait_for(wants, exchange->ports);
        }
    }
}

/* The largest value of all nodes; no node gets it before all have come here. */
static uint32_t largest(unsigned ports, uint32_t value)
{
    for (unsigned p = 0; p < ports; p++) {
        uint32_t theirs;
        put_all(p, &value, sizeof value);
        take_all(p, &theirs, sizeof theirs);
        value = theirs > value ? theirs : value;
    }
    return value;
}

/* What is in a block's first word. */
static uint32_t label(uint32_t from, uint32_t to)
{
    return 0x80000000 | from << 16 | to;
}

static uint32_t *first_word(uint8_t *blocks, uint32_t step)
{
    return (uint32_t *)(void *)(blocks + step * BLOCK_BYTES);
}

/* Gives the exchange its memory, and each block for another node its label. */
static void prepare(struct exchange *exchange, uint32_t node)
{
    uint8_t *start = (uint8_t *)platform_program.image;
    uint8_t *end = start + 2 * (uintptr_t)exchange->nodes * BLOCK_BYTES;
    CHECK((uintptr_t)end <= platform_program.end);
    for (uint8_t *page = start; page != end; page += PAGE_BYTES) {
        CHECK(mmu_touch((uintptr_t)page));
    }
    exchange->outgoing = start;
    exchange->incoming = start + (uintptr_t)exchange->nodes * BLOCK_BYTES;
    for (uint32_t step = 1; step < exchange->nodes; step++) {
        *first_word(exchange->outgoing, step) = label(node, node ^ step);
    }
}

static void check(const struct exchange *exchange, uint32_t node)
{
    for (uint32_t step = 1; step < exchange->nodes; step++) {
        uint32_t *word = first_word(exchange->incoming, step);
        CHECK(*word == label(node ^ step, node));
        *word = 0;
    }
}

_Noreturn void ring_exchange(unsigned ports, uint32_t node, uint32_t count)
{
    static struct exchange exchange;
    exchange.ports = ports;
    exchange.nodes = 1u << ports;
    prepare(&exchange, node);
    (void)largest(ports, 0);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t start_us = platform_now_us();
        run_exchange(&exchange);
        uint32_t us = (uint32_t)(platform_now_us() - start_us);
        check(&exchange, node);
        raw_sample_us(i, largest(ports, us));
    }
    if (node == 0) {
        raw_show_samples("exchange", count);
    }
    trap_halt();
}
