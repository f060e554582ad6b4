/*
 * pipe.h - a maker of links whose other end is the fuzzer.
 *
 * What the fuzzer pushes is handed out in chunks of the size that it chose, from buffers that can
 * be touched only while they are out: a read or write after release is a sanitizer's report. What
 * the code under test sends is read at once and judged: whatever came in, only whole, well-formed
 * frames may go out.
 *
 * Units    bytes
 */
#pragma once

#include "drivers/link/link.h"
#include "wire/frame.h"

enum {
    PIPE_IN_MAX = 512 * 1024, /* of one input */
    PIPE_QUEUE_MAX = 64,      /* segments that a stalled device takes */
    PIPE_FRAME_MAX = FRAME_HEADER_BYTES + FRAME_DATA_MAX + FRAME_CHECK_BYTES
};

struct pipe {
    struct link link;
    uint8_t *in; /* all that was pushed; on the way to the code under test: [in_first, in_end) */
    uint32_t in_first, in_end;
    uint32_t chunk_bytes; /* the longest chunk that is handed out */
    uint8_t (*buffers)[LINK_LONG_BUFFER_BYTES];
    unsigned buffer_count;
    bool taken[LINK_BUFFERS_MAX];
    unsigned taken_count;
    bool stalled;          /* the device takes no more than PIPE_QUEUE_MAX segments */
    bool torn;             /* it has refused a segment: frames may come in parts from now on */
    uint32_t queued, sent; /* segments, modulo 2^32 */
    uint8_t *out;          /* the frame that is going out, as far as it has gone */
    uint32_t out_bytes;
    uint32_t frames_out;
};

/* The memory is made once and used again by every input. */
void pipe_init(struct pipe *pipe);

/* Its chunks may be long, and it has as few buffers as it may. Before it is used. */
void pipe_lengthen(struct pipe *pipe);

/* Puts bytes on the way; what finds no room is lost, as on a cable. */
void pipe_push(struct pipe *pipe, const void *data, uint32_t bytes);

/* Bytes that have not been taken yet. */
static inline uint32_t pipe_waiting(const struct pipe *pipe)
{
    return pipe->in_end - pipe->in_first;
}

/* The device takes everything again. */
void pipe_drain(struct pipe *pipe);
