/*
 * copy_test.c - memcpy, memmove and memset, whose kernel versions have a path for each range of
 * lengths: every length and alignment up to several turns of the longest path, on the target the
 * kernel's own.
 */
#include "tests/testing.h"

#include <stdint.h>
#include <string.h>

enum { LENGTH_MAX = 700, LENGTH_STEP_FROM = 300, ALIGNMENTS = 4, SPACE = 2 * LENGTH_MAX };

static uint8_t source[SPACE], copied[SPACE], expected[SPACE];

/* Volatile, or the compiler would make calls of what is tested here out of the loops that say what
 * is expected. */
static volatile uint8_t *const slowly = expected;

static size_t next_length(size_t length)
{
    return length + (length < LENGTH_STEP_FROM ? 1 : 13);
}

static void fill(uint8_t *bytes, unsigned factor)
{
    for (unsigned i = 0; i < SPACE; i++) {
        bytes[i] = (uint8_t)(i * factor + i / 256);
    }
}

/* Fills both with the same bytes, and moves those of `expected` one by one. */
static void move_expected(size_t to, size_t from, size_t length)
{
    fill(source, 7);
    fill(copied, 7);
    fill(expected, 7);
    for (size_t i = 0; i < length; i++) {
        slowly[to + i] = source[from + i];
    }
}

TEST(copies_are_exact_at_every_length_and_alignment)
{
    fill(source, 7);
    for (size_t length = 0; length <= LENGTH_MAX; length = next_length(length)) {
        for (unsigned at = 0; at < ALIGNMENTS * ALIGNMENTS; at++) {
            uint8_t *to = copied + 4 + at / ALIGNMENTS;
            const uint8_t *from = source + at % ALIGNMENTS;
            fill(copied, 13);
            fill(expected, 13);
            for (size_t i = 0; i < length; i++) {
                slowly[4 + at / ALIGNMENTS + i] = from[i];
            }
            assert_true(memcpy(to, from, length) == to);
            assert_memory_equal(copied, expected, SPACE);
        }
    }
}

TEST(moves_may_overlap_in_both_directions)
{
    for (size_t length = 0; length <= LENGTH_MAX; length = next_length(length)) {
        for (unsigned distance = 0; distance < 80; distance = distance * 3 + 1) {
            move_expected(1, 1 + distance, length);
            memmove(copied + 1, copied + 1 + distance, length);
            assert_memory_equal(copied, expected, SPACE);
            move_expected(1 + distance, 1, length);
            memmove(copied + 1 + distance, copied + 1, length);
            assert_memory_equal(copied, expected, SPACE);
        }
    }
}

TEST(fills_are_exact_at_every_length_and_alignment)
{
    for (size_t length = 0; length <= LENGTH_MAX; length = next_length(length)) {
        for (unsigned at = 0; at < ALIGNMENTS; at++) {
            fill(copied, 13);
            fill(expected, 13);
            for (size_t i = 0; i < length; i++) {
                slowly[4 + at + i] = 0xa5;
            }
            memset(copied + 4 + at, 0x1a5, length);
            assert_memory_equal(copied, expected, SPACE);
        }
    }
}
