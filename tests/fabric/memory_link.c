#include "tests/fabric/memory_link.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "wire/packet.h"

uint32_t memory_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (uint32_t)((*seed * 0x2545f4914f6cdd1dull) >> 32);
}

static struct memory_end *end_of(struct link *link)
{
    return (struct memory_end *)link;
}

/* A frame begins a segment; behind its header lies, of a packet, at least the packet's own. */
static void note_said(struct memory_said *said, const uint8_t *data, uint32_t bytes)
{
    struct frame frame;

    if (bytes < FRAME_HEADER_BYTES || !frame_begins(data) || !frame_unpack(data, &frame) ||
        frame.type > FRAME_NAK) {
        return;
    }
    said->frames[frame.type]++;
    said->last = frame;
    if (frame.type == FRAME_HELLO) {
        hello_unpack(data + FRAME_HEADER_BYTES, bytes - FRAME_HEADER_BYTES, &said->hello);
    }
    if (frame.type == FRAME_PACKET && bytes >= FRAME_HEADER_BYTES + PACKET_HEADER_BYTES) {
        said->packets[packet_kind(data + FRAME_HEADER_BYTES) % SAID_KINDS]++;
    }
}

static int end_send(struct link *link, const void *data, uint32_t bytes)
{
    struct memory_end *end = end_of(link);

    CHECK(bytes > 0);
    if (end->end - end->first == MEMORY_SEGMENTS) {
        return E_FULL;
    }
    end->segments[end->end++ % MEMORY_SEGMENTS] = (struct memory_segment){data, bytes};
    note_said(&end->said, data, bytes);
    return E_OK;
}

static void end_kick(struct link *link)
{
    struct memory_end *end = end_of(link);

    end->kicked = end->end;
}

static uint32_t end_sent(struct link *link)
{
    return end_of(link)->first;
}

static void damage(struct memory_end *end, struct link_chunk *chunk)
{
    if (!end->fault) {
        return;
    }
    if (memory_random(end->seed) % 1000000 < end->fault->flip_per_million) {
        chunk->data[memory_random(end->seed) % chunk->bytes] ^=
            (uint8_t)(1u << memory_random(end->seed) % 8);
    }
    if (memory_random(end->seed) % 1000000 < end->fault->drop_per_million && chunk->bytes > 1) {
        chunk->bytes = 1 + memory_random(end->seed) % (chunk->bytes - 1);
    }
}

static bool end_receive(struct link *link, struct link_chunk *chunk)
{
    struct memory_end *end = end_of(link), *from = end->peer;
    unsigned buffer = 0;

    if (!from || from->first == from->kicked || end->link.carrier == CARRIER_LOST) {
        return false;
    }
    while (buffer < end->buffer_count && end->taken[buffer]) {
        buffer++;
    }
    if (buffer == end->buffer_count) {
        return false;
    }
    uint32_t most = link_chunk_max(link),
             wanted = memory_random(end->seed) % 4 ? most : 1 + memory_random(end->seed) % most;
    if (end->cut) {
        wanted = end->cut;
    }
    uint32_t filled = 0;
    uint8_t *data = end->buffers[buffer] + LINK_HEADROOM;
    while (filled < wanted && from->first != from->kicked) {
        const struct memory_segment *segment = &from->segments[from->first % MEMORY_SEGMENTS];
        uint32_t bytes = segment->bytes - from->offset;
        if (bytes > wanted - filled) {
            bytes = wanted - filled;
        }
        memcpy(data + filled, segment->data + from->offset, bytes);
        filled += bytes;
        from->offset += bytes;
        if (from->offset == segment->bytes) {
            from->offset = 0;
            from->first++;
        }
    }
    end->bytes_moved += filled;
    end->taken[buffer] = true;
    *chunk = (struct link_chunk){data, filled, (uint16_t)buffer};
    damage(end, chunk);
    return true;
}

static void end_release(struct link *link, uint16_t buffer)
{
    struct memory_end *end = end_of(link);

    CHECK(buffer < end->buffer_count && end->taken[buffer]);
    memset(end->buffers[buffer], 0xdb, LINK_HEADROOM + link_chunk_max(link));
    end->taken[buffer] = false;
}

static const struct link_ops ops = {end_send, end_kick, end_sent, end_receive, end_release};

static void init_end(struct memory_end *end, struct memory_end *peer, uint64_t *seed,
                     const struct memory_fault *fault)
{
    *end = (struct memory_end){.link = {.ops = &ops, .carrier = CARRIER_UP},
                               .peer = peer,
                               .seed = seed,
                               .fault = fault,
                               .buffer_count = LINK_BUFFERS_MAX};
    end->buffers = malloc(LINK_BUFFERS_MAX * sizeof end->buffers[0]);
    CHECK(end->buffers);
}

void memory_link_init(struct memory_end *a, struct memory_end *b, uint64_t *seed,
                      const struct memory_fault *fault)
{
    init_end(a, b, seed, fault);
    init_end(b, a, seed, fault);
}

void memory_link_absent(struct memory_end *end)
{
    *end = (struct memory_end){.link = {.ops = &ops, .carrier = CARRIER_UNKNOWN}};
}

void memory_link_lengthen(struct memory_end *end)
{
    end->link.long_chunks = true;
    end->buffer_count = LINK_LONG_BUFFERS;
}

void memory_link_cut(struct memory_end *end)
{
    end->link.carrier = CARRIER_LOST;
    end->peer->link.carrier = CARRIER_LOST;
}

void memory_link_stop(struct memory_end *end, bool taken[LINK_BUFFERS_MAX])
{
    memcpy(taken, end->taken, sizeof end->taken);
    memset(end->taken, true, sizeof end->taken);
}

void memory_link_start(struct memory_end *end, const bool taken[LINK_BUFFERS_MAX])
{
    for (unsigned i = 0; i < LINK_BUFFERS_MAX; i++) {
        end->taken[i] = end->taken[i] && taken[i];
    }
}

void memory_link_hold(struct memory_end *end, uint32_t segments)
{
    end->kicked = end->first + segments;
}

void memory_link_let_go(struct memory_end *end)
{
    end_kick(&end->link);
}

void memory_link_free(struct memory_end *a, struct memory_end *b)
{
    free(a->buffers);
    free(b->buffers);
}
