/*
 * memory_link.h - a maker of links inside one process: two ends, byte streams cut at random or as
 * a test wants it, faults from a seed.
 *
 * A segment is read only when the other end takes it, so memory that is given back too early shows
 * as damage.
 */
#pragma once

#include "drivers/link/link.h"
#include "wire/frame.h"

enum { MEMORY_SEGMENTS = 128, SAID_KINDS = 64 };

struct memory_fault {
    uint32_t flip_per_million; /* of chunks: one bit changes */
    uint32_t drop_per_million; /* of chunks: some bytes vanish */
};

/* What an analyzer on the cable shows of what an end has said, whether or not it was heard. */
struct memory_said {
    unsigned frames[FRAME_NAK + 1]; /* by enum frame_type */
    unsigned packets[SAID_KINDS];   /* by the packet's kind */
    struct frame last;
    struct hello hello; /* the last */
};

struct memory_end {
    struct link link;
    struct memory_end *peer;
    struct memory_segment {
        const uint8_t *data;
        uint32_t bytes;
    } segments[MEMORY_SEGMENTS]; /* on the way to the peer */
    uint32_t first, end;         /* indices run freely */
    uint32_t kicked;             /* the peer gets no more than up to here */
    uint32_t offset;             /* of the first segment that has been read */
    uint64_t *seed;
    uint32_t cut; /* bytes of each chunk that this end receives; 0: at random */
    const struct memory_fault *fault;
    uint8_t (*buffers)[LINK_LONG_BUFFER_BYTES];
    unsigned buffer_count;
    bool taken[LINK_BUFFERS_MAX];
    uint64_t bytes_moved;
    struct memory_said said;
};

/* A port without a link: nobody ever attaches to it. */
void memory_link_absent(struct memory_end *end);

void memory_link_init(struct memory_end *a, struct memory_end *b, uint64_t *seed,
                      const struct memory_fault *fault);
/* This end receives long chunks, into as few buffers as it may have. */
void memory_link_lengthen(struct memory_end *end);

void memory_link_cut(struct memory_end *end);

/* Takes the buffers that are free, so that nothing is received; and gives them back. */
void memory_link_stop(struct memory_end *end, bool taken[LINK_BUFFERS_MAX]);
void memory_link_start(struct memory_end *end, const bool taken[LINK_BUFFERS_MAX]);

/* Of what an end has said, so many segments go on to its peer; the others when it says more, or the
 * cable is let go. */
void memory_link_hold(struct memory_end *end, uint32_t segments);
void memory_link_let_go(struct memory_end *end);

void memory_link_free(struct memory_end *a, struct memory_end *b);

/* The next number of the sequence that a seed begins (xorshift64*). */
uint32_t memory_random(uint64_t *seed);
