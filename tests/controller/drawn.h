/*
 * drawn.h - lists of loads that tests draw from a seed.
 */
#pragma once

#include "tests/testing.h"
#include "wire/load.h"

struct drawn {
    uint8_t bytes[8192];
    struct load_list list;
};

static inline uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static inline void open_drawn(struct drawn *drawn, uint32_t programs, uint32_t segments)
{
    uint32_t bytes = load_list_bytes(programs, segments);

    assert_true(bytes <= sizeof drawn->bytes);
    assert_true(load_list_open(&drawn->list, drawn->bytes, bytes));
}

/* Segments of ranges, of up to so many bytes, and ones that are others' once more. The list's head
 * is there. */
static inline void draw_segments(struct drawn *drawn, uint32_t nodes, uint32_t segments,
                                 uint32_t bytes_max, uint32_t *seed)
{
    struct load_segment before = {0};

    for (uint32_t i = 0; i < segments; i++) {
        struct load_segment segment = {.first = next_random(seed) % nodes,
                                       .bytes = 1 + next_random(seed) % bytes_max};
        segment.count = 1 + next_random(seed) % (nodes - segment.first);
        if (i > 0 && before.step == 0 && next_random(seed) % 2) {
            segment.bytes = before.bytes;
            segment.flags = LOAD_SAME;
        } else if (next_random(seed) % 2) {
            segment.step = 1 + next_random(seed) % segment.bytes;
        }
        load_segment_pack(drawn->bytes, i, &segment);
        before = segment;
    }
}
