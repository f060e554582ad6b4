#include "fuzz/pipe.h"

#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "wire/crc.h"
#include "wire/frame.h"

enum { CHUNKS_MAX = 1024 };

static struct pipe *of(struct link *link)
{
    return (struct pipe *)link;
}

/* The length of a whole frame of its kind; 0: no such frame may be sent. */
static uint32_t frame_bytes(const struct frame *frame)
{
    uint32_t check = frame->flags & FLAG_CHECKED ? FRAME_CHECK_BYTES : 0;
    bool possible = false;

    switch (frame->type) {
    case FRAME_PACKET: possible = frame->length >= 16 && frame->length <= FRAME_CONTROL_MAX; break;
    case FRAME_DATA: possible = frame->length > 0 && frame->length <= FRAME_DATA_MAX; break;
    case FRAME_HELLO: possible = frame->length == HELLO_BYTES && check; break;
    case FRAME_ACK:
    case FRAME_NAK: possible = frame->length == 0 && !check; break;
    default: break;
    }
    return possible ? FRAME_HEADER_BYTES + frame->length + check : 0;
}

/* Takes whole frames off the front of what has gone out. */
static void judge(struct pipe *pipe)
{
    while (pipe->out_bytes >= FRAME_HEADER_BYTES) {
        struct frame frame;
        CHECK(frame_unpack(pipe->out, &frame));
        uint32_t bytes = frame_bytes(&frame);
        CHECK(bytes > 0);
        if (pipe->out_bytes < bytes) {
            return;
        }
        const uint8_t *payload = pipe->out + FRAME_HEADER_BYTES;
        CHECK(!(frame.flags & FLAG_CHECKED) ||
              frame_payload_check(payload + frame.length) ==
                  crc32_add(frame_payload_start(frame.seq), payload, frame.length));
        pipe->out_bytes -= bytes;
        memmove(pipe->out, pipe->out + bytes, pipe->out_bytes);
        pipe->frames_out++;
    }
}

static int pipe_send(struct link *link, const void *data, uint32_t bytes)
{
    struct pipe *pipe = of(link);

    CHECK(bytes > 0 && bytes <= PIPE_FRAME_MAX);
    if (pipe->stalled && pipe->queued - pipe->sent >= PIPE_QUEUE_MAX) {
        pipe->torn = true;
        return E_FULL;
    }
    pipe->queued++;
    if (pipe->torn) {
        memcpy(pipe->out, data, bytes); /* only that it can be read */
        return E_OK;
    }
    CHECK(pipe->out_bytes + bytes <= 2 * PIPE_FRAME_MAX);
    memcpy(pipe->out + pipe->out_bytes, data, bytes);
    pipe->out_bytes += bytes;
    judge(pipe);
    return E_OK;
}

static void pipe_kick(struct link *link)
{
    if (!of(link)->stalled) {
        of(link)->sent = of(link)->queued;
    }
}

static uint32_t pipe_sent(struct link *link)
{
    return of(link)->sent;
}

static bool pipe_receive(struct link *link, struct link_chunk *chunk)
{
    struct pipe *pipe = of(link);
    uint32_t bytes = pipe_waiting(pipe);
    uint16_t buffer = 0;

    if (bytes == 0 || link->carrier != CARRIER_UP || pipe->taken_count == pipe->buffer_count) {
        return false;
    }
    while (pipe->taken[buffer]) {
        buffer++;
    }
    /* A long backlog byte by byte would take seconds. */
    uint32_t most = pipe->chunk_bytes > bytes / CHUNKS_MAX ? pipe->chunk_bytes : bytes / CHUNKS_MAX;
    if (bytes > most) {
        bytes = most;
    }
    ASAN_UNPOISON_MEMORY_REGION(pipe->buffers[buffer], sizeof pipe->buffers[buffer]);
    *chunk = (struct link_chunk){pipe->buffers[buffer] + LINK_HEADROOM, bytes, buffer};
    memcpy(chunk->data, pipe->in + pipe->in_first, bytes);
    pipe->in_first += bytes;
    pipe->taken[buffer] = true;
    pipe->taken_count++;
    return true;
}

static void pipe_release(struct link *link, uint16_t buffer)
{
    struct pipe *pipe = of(link);

    CHECK(buffer < pipe->buffer_count && pipe->taken[buffer]);
    ASAN_POISON_MEMORY_REGION(pipe->buffers[buffer], sizeof pipe->buffers[buffer]);
    pipe->taken[buffer] = false;
    pipe->taken_count--;
}

static const struct link_ops ops = {pipe_send, pipe_kick, pipe_sent, pipe_receive, pipe_release};

void pipe_init(struct pipe *pipe)
{
    struct pipe fresh = {.link = {.ops = &ops, .carrier = CARRIER_UP},
                         .in = pipe->in,
                         .buffers = pipe->buffers,
                         .out = pipe->out,
                         .buffer_count = LINK_BUFFERS_MAX,
                         .chunk_bytes = LINK_CHUNK_MAX};

    if (!fresh.in) {
        fresh.in = malloc(PIPE_IN_MAX);
        fresh.out = malloc(2 * PIPE_FRAME_MAX);
        fresh.buffers = malloc(LINK_BUFFERS_MAX * sizeof fresh.buffers[0]);
        CHECK(fresh.in && fresh.out && fresh.buffers);
    }
    ASAN_POISON_MEMORY_REGION(fresh.buffers, LINK_BUFFERS_MAX * sizeof fresh.buffers[0]);
    *pipe = fresh;
}

void pipe_lengthen(struct pipe *pipe)
{
    pipe->link.long_chunks = true;
    pipe->buffer_count = LINK_LONG_BUFFERS;
    pipe->chunk_bytes = LINK_LONG_CHUNK_MAX;
}

void pipe_push(struct pipe *pipe, const void *data, uint32_t bytes)
{
    if (bytes > PIPE_IN_MAX - pipe->in_end) {
        bytes = PIPE_IN_MAX - pipe->in_end;
    }
    if (bytes > 0) {
        memcpy(pipe->in + pipe->in_end, data, bytes);
    }
    pipe->in_end += bytes;
}

void pipe_drain(struct pipe *pipe)
{
    pipe->stalled = false;
    pipe->sent = pipe->queued;
}
