#include "bench/raw/raw.h"

#include <string.h>

#include "board/platform.h"
#include "drivers/check.h"
#include "drivers/mmio.h"
#include "drivers/link/shared_memory_link.h"

enum {
    PING_BYTES = 8,
    ROOM_BYTES =
        SHARED_RING_BYTES / 2, /* a sender that found no room sleeps until so much is free */
    PAGE_BYTES = 4096
};

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

void ring_put(unsigned port, const void *data, uint32_t bytes)
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

void ring_take(unsigned port, void *buffer, uint32_t bytes)
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
        ring_put(0, raw_segment, sizeof raw_segment);
    }
}

void ring_receive(uint32_t bytes)
{
    uint64_t start_us = 0;
    uint32_t received = 0;
    for (uint32_t message = 0; received < bytes; message++) {
        ring_take(0, raw_messages[message % RAW_MESSAGES], RAW_SEGMENT_BYTES);
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
        ring_take(0, raw_messages[message % RAW_MESSAGES], RAW_SEGMENT_BYTES);
        ring_put(1, raw_messages[message % RAW_MESSAGES], RAW_SEGMENT_BYTES);
    }
}

void ring_ping(uint32_t count)
{
    for (uint32_t i = 0; i <= count; i++) { /* the first finds the other end still starting */
        uint64_t sent_us = platform_now_us();
        ring_put(0, raw_segment, PING_BYTES);
        ring_take(0, raw_segment, PING_BYTES);
        if (i > 0) {
            raw_sample(i - 1, sent_us);
        }
    }
    raw_show_samples("ping", count);
}

void ring_pong(void)
{
    for (;;) {
        ring_take(0, raw_segment, PING_BYTES);
        ring_put(0, raw_segment, PING_BYTES);
    }
}
