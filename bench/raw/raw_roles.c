#include "bench/raw/raw.h"

#include <string.h>

#include "board/platform.h"
#include "drivers/check.h"
#include "drivers/link/link.h"

enum { PING_BYTES = 8, RELAYED_MAX = LINK_BUFFERS_MAX };

void raw_send(struct link *link)
{
    uint32_t queued = 0;
    for (;;) {
        while (link->ops->send(link, raw_segment, sizeof(raw_segment)) == 0) {
            queued++;
        }
        link->ops->kick(link);
        /* When the other end kept up, the kick has sent everything: nothing is left to wake us. */
        if (link->ops->sent(link) != queued) {
            raw_wait();
        }
    }
}

void raw_receive(struct link *link, uint32_t bytes)
{
    struct link_chunk chunk;
    uint64_t start_us = 0;
    uint32_t received = 0;
    uint32_t place = 0;
    while (received < bytes) {
        while (link->ops->receive(link, &chunk)) {
            if (received == 0) {
                start_us = platform_now_us();
            }
            received += chunk.bytes;
            place = place + chunk.bytes <= sizeof(raw_messages) ? place : 0;
            memcpy(&raw_messages[0][0] + place, chunk.data, chunk.bytes);
            place += chunk.bytes;
            link->ops->release(link, chunk.buffer);
        }
        if (received < bytes) {
            raw_wait();
        }
    }
    raw_show("receive", received, platform_now_us() - start_us);
}

/* Waits for a number of bytes, and drops them. */
static void receive_exactly(struct link *link, uint32_t bytes)
{
    struct link_chunk chunk;
    while (bytes > 0) {
        if (!link->ops->receive(link, &chunk)) {
            raw_wait();
            continue;
        }
        CHECK(chunk.bytes <= bytes);
        bytes -= chunk.bytes;
        link->ops->release(link, chunk.buffer);
    }
}

void raw_ping(struct link *link, uint32_t count)
{
    for (uint32_t i = 0; i <= count; i++) { /* the first finds the other end still starting */
        uint64_t sent_us = platform_now_us();
        CHECK(link->ops->send(link, raw_segment, PING_BYTES) == 0);
        link->ops->kick(link);
        receive_exactly(link, PING_BYTES);
        (void)link->ops->sent(link);
        if (i > 0) {
            raw_sample(i - 1, sent_us);
        }
    }
    raw_show_samples("ping", count);
}

/* Chunks that are on their way out: their buffers go back to `from` in the order they were sent. */
struct relayed {
    uint16_t buffers[RELAYED_MAX];
    uint32_t queued;
    uint32_t released;
};

static void relay_release(struct relayed *relayed, struct link *from, struct link *to)
{
    uint32_t sent = to->ops->sent(to);
    while (relayed->released != sent) {
        from->ops->release(from, relayed->buffers[relayed->released % RELAYED_MAX]);
        relayed->released++;
    }
}

void raw_relay(struct link *from, struct link *to)
{
    static struct relayed relayed;
    struct link_chunk chunk;
    for (;;) {
        while (from->ops->receive(from, &chunk)) {
            CHECK(to->ops->send(to, chunk.data, chunk.bytes) == 0);
            relayed.buffers[relayed.queued % RELAYED_MAX] = chunk.buffer;
            relayed.queued++;
        }
        to->ops->kick(to);
        relay_release(&relayed, from, to);
        raw_wait();
    }
}

void raw_pong(struct link *link)
{
    raw_relay(link, link);
}

/* ---- of the exchange ---- */

/* What of a chunk has not been taken yet. */
static struct link_chunk rest[PLATFORM_LINKS_MAX];
static uint32_t queued[PLATFORM_LINKS_MAX];

void raw_put(unsigned port, const void *data, uint32_t bytes)
{
    struct link *link = platform_links()[port];
    CHECK(link->ops->send(link, data, bytes) == 0);
    queued[port]++;
    link->ops->kick(link);
    while (link->ops->sent(link) != queued[port]) {
        raw_wait();
    }
}

void raw_take(unsigned port, void *buffer, uint32_t bytes)
{
    struct link *link = platform_links()[port];
    struct link_chunk *chunk = &rest[port];
    uint8_t *place = buffer;
    while (bytes > 0) {
        if (chunk->bytes == 0 && !link->ops->receive(link, chunk)) {
            raw_wait();
            continue;
        }
        uint32_t taken = chunk->bytes < bytes ? chunk->bytes : bytes;
        memcpy(place, chunk->data, taken);
        place += taken;
        bytes -= taken;
        chunk->data += taken;
        chunk->bytes -= taken;
        if (chunk->bytes == 0) {
            link->ops->release(link, chunk->buffer);
        }
    }
}
