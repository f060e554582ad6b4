/*
 * The checked heap of lib/check: it gives and takes back memory as malloc does, and finds what a
 * program does to blocks that it does not have.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "lib/check/blocks.h"

enum { MEMORY_BYTES = 4 << 20, GOT = 11, FREED = 22 };

static struct blocks blocks;
static struct finding found;
static void *memory;

static void begin(void)
{
    free(memory);
    memory = aligned_alloc(BLOCKS_ALIGNMENT, MEMORY_BYTES);
    assert_non_null(memory);
    ecube_blocks_init(&blocks, memory, MEMORY_BYTES);
}

static uint8_t *take(uint32_t bytes)
{
    uint8_t *block = ecube_blocks_take(&blocks, bytes, BLOCKS_ALIGNMENT, GOT, &found);

    assert_int_equal(found.kind, FINDING_NONE);
    return block;
}

static void release(void *block)
{
    if (!ecube_blocks_release(&blocks, block, FREED, &found)) {
        fail_msg("found %d at %u", found.kind, found.offset);
    }
}

/* Of this block. */
static void assert_found(enum finding_kind kind, const void *block, uint32_t bytes, uint32_t offset)
{
    assert_int_equal(found.kind, kind);
    assert_int_equal(found.address, (uint32_t)(uintptr_t)block);
    assert_int_equal(found.bytes, bytes);
    assert_int_equal(found.offset, offset);
    assert_int_equal(found.place, GOT);
}

static void assert_all_whole(void)
{
    assert_int_equal(ecube_blocks_look_at_all(&blocks, &found, 1), 0);
    for (int i = 0; i < 100; i++) {
        assert_true(ecube_blocks_look(&blocks, &found));
    }
}

/* What a block holds is nobody else's: each byte says whose it is. */
TEST(blocks_lie_apart)
{
    enum { COUNT = 300, ROUNDS = 20000, BYTES_MAX = 5000 };
    static struct {
        uint8_t *at;
        uint32_t bytes;
        uint8_t mark;
    } had[COUNT];
    uint32_t seed = 1;

    begin();
    memset(had, 0, sizeof had);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t i = seed >> 8 & 0xffff, power = seed >> 24 & 7;
        i %= COUNT;
        for (uint32_t k = 0; had[i].at && k < had[i].bytes; k++) {
            assert_int_equal(had[i].at[k], had[i].mark);
        }
        if (had[i].at) {
            release(had[i].at);
            had[i].at = NULL;
            continue;
        }
        uint32_t alignment = 1U << (seed >> 4 & 15) % 13;
        had[i].bytes = seed % (BYTES_MAX >> power);
        had[i].mark = (uint8_t)seed;
        had[i].at = ecube_blocks_take(&blocks, had[i].bytes, alignment, GOT, &found);
        assert_int_equal(found.kind, FINDING_NONE);
        assert_non_null(had[i].at);
        assert_int_equal((uintptr_t)had[i].at % alignment, 0);
        assert_int_equal((uintptr_t)had[i].at % BLOCKS_ALIGNMENT, 0);
        memset(had[i].at, had[i].mark, had[i].bytes);
    }
    assert_all_whole();
}

/* All of the memory but for guards and table can be had, again and again. */
TEST(what_is_freed_can_be_had_again)
{
    enum { PIECE = 64 << 10, PIECES = 70 };
    uint8_t *pieces[PIECES];
    unsigned first = 0;

    begin();
    for (unsigned round = 0; round < 5; round++) {
        unsigned count = 0;
        while (count < PIECES && (pieces[count] = take(PIECE))) {
            count++;
        }
        assert_in_range(count, 62, 63);
        first = round ? first : count;
        assert_int_equal(count, first);
        while (count > 0) {
            count--;
            release(pieces[round % 2 ? count : first - 1 - count]);
        }
    }
    uint8_t *whole = take(MEMORY_BYTES - 4096);
    assert_non_null(whole);
    assert_null(take(MEMORY_BYTES));
    assert_null(take(UINT32_MAX));
    release(whole);
    assert_non_null(take(0));
    assert_all_whole();
}

TEST(a_block_of_the_least_size_can_be_had_until_memory_ends)
{
    unsigned count = 0;

    begin();
    while (take(1)) {
        count++;
    }
    assert_in_range(count, MEMORY_BYTES / 120, MEMORY_BYTES / 48);
    assert_all_whole();
}

/* Also what is far beyond the guard, and whoever of the two is freed first. */
TEST(a_write_past_the_end_is_found)
{
    for (uint32_t bytes = 0; bytes < 40; bytes++) {
        for (uint32_t beyond = 0; beyond < 16; beyond++) {
            begin();
            uint8_t *block = take(bytes), *next = take(16);
            block[bytes + beyond] = (uint8_t)(block[bytes + beyond] + 1);
            assert_false(ecube_blocks_look(&blocks, &found));
            assert_found(FINDING_OVERRUN, block, bytes, bytes + beyond);
            assert_int_equal(ecube_blocks_look_at_all(&blocks, &found, 1), 1);
            assert_found(FINDING_OVERRUN, block, bytes, bytes + beyond);
            release(next);
            assert_false(ecube_blocks_release(&blocks, block, FREED, &found));
            assert_found(FINDING_OVERRUN, block, bytes, bytes + beyond);
        }
    }
    begin();
    uint8_t *block = take(16), *next = take(16);
    memset(block, 0xff, 64);
    assert_false(ecube_blocks_release(&blocks, next, FREED, &found));
    assert_found(FINDING_OVERRUN, block, 16, 16);
    assert_int_equal(ecube_blocks_look_at_all(&blocks, &found, 1), 1);
}

TEST(a_write_before_the_begin_is_found)
{
    for (uint32_t before = 1; before <= 16; before++) {
        begin();
        take(10);
        uint8_t *block = take(10);
        block[-(int)before] ^= 0x10;
        assert_false(ecube_blocks_look(&blocks, &found));
        assert_found(FINDING_UNDERRUN, block, 10, before);
        assert_false(ecube_blocks_release(&blocks, block, FREED, &found));
        assert_found(FINDING_UNDERRUN, block, 10, before);
    }
}

TEST(a_second_free_is_found)
{
    begin();
    uint8_t *block = take(100);
    release(block);
    assert_false(ecube_blocks_release(&blocks, block, FREED + 1, &found));
    assert_found(FINDING_FREED_TWICE, block, 100, 0);
    assert_int_equal(found.other, FREED);
    uint32_t bytes;
    assert_false(ecube_blocks_size(&blocks, block, &bytes, &found));
    assert_found(FINDING_FREED_TWICE, block, 100, 0);
}

TEST(what_is_no_block_is_found)
{
    int variable;

    begin();
    uint8_t *block = take(100);
    assert_false(ecube_blocks_release(&blocks, &variable, FREED, &found));
    assert_int_equal(found.kind, FINDING_NOT_A_BLOCK);
    assert_int_equal(found.address, (uint32_t)(uintptr_t)&variable);
    assert_false(
        ecube_blocks_release(&blocks, (uint8_t *)memory + MEMORY_BYTES - 64, FREED, &found));
    assert_int_equal(found.kind, FINDING_NOT_A_BLOCK);
    assert_false(ecube_blocks_release(&blocks, block - 16, FREED, &found));
    assert_int_equal(found.kind, FINDING_NOT_A_BLOCK);
    for (uint32_t offset = 1; offset < 100; offset++) {
        assert_false(ecube_blocks_release(&blocks, block + offset, FREED, &found));
        assert_found(FINDING_INSIDE_BLOCK, block, 100, offset);
    }
    release(block);
}

TEST(a_write_to_a_freed_block_is_found)
{
    enum { LARGE = 100000 };

    for (uint32_t offset = 0; offset < 50; offset++) {
        begin();
        uint8_t *block = take(50);
        release(block);
        block[offset] = 0;
        assert_false(ecube_blocks_look(&blocks, &found));
        assert_found(FINDING_USED_FREED, block, 50, offset);
        assert_int_equal(found.other, FREED);
    }
    begin();
    uint8_t *last = take(LARGE);
    release(last);
    last[LARGE - 1] = 0;
    assert_false(ecube_blocks_look(&blocks, &found));
    assert_found(FINDING_USED_FREED, last, LARGE, LARGE - 1);
    begin();
    uint8_t *large = take(LARGE);
    release(large);
    large[LARGE / 2] = 0; /* too far from either end for one look */
    assert_true(ecube_blocks_look(&blocks, &found));
    assert_int_equal(ecube_blocks_look_at_all(&blocks, &found, 1), 1);
    assert_found(FINDING_USED_FREED, large, LARGE, LARGE / 2);
    while (ecube_blocks_take(&blocks, LARGE, BLOCKS_ALIGNMENT, GOT + 1, &found)) {
    }
    assert_found(FINDING_USED_FREED, large, LARGE, LARGE / 2);
}

/* One that is larger than the quarantine is kept until the next comes. */
TEST(freed_blocks_are_kept_back_for_a_while)
{
    enum { LARGE = BLOCKS_QUARANTINE_BYTES + 1, SMALL = BLOCKS_QUARANTINE_BYTES / 4 };

    begin();
    uint8_t *first = take(LARGE), *apart = take(1);
    release(first);
    uint8_t *second = take(LARGE);
    assert_ptr_not_equal(first, second);
    release(second);
    assert_ptr_equal(take(LARGE), first);
    uint8_t *early = take(SMALL);
    release(early);
    release(take(SMALL));
    assert_false(ecube_blocks_release(&blocks, early, FREED, &found));
    assert_int_equal(found.kind, FINDING_FREED_TWICE);
    for (unsigned i = 0; i < 3; i++) {
        uint8_t *small = take(SMALL);
        release(small);
        assert_false(ecube_blocks_release(&blocks, small, FREED, &found));
        assert_int_equal(found.kind, FINDING_FREED_TWICE);
    }
    release(apart);
    assert_all_whole();
}

TEST(every_spoilt_block_is_counted)
{
    struct finding list[3];
    uint8_t *had[6];

    begin();
    for (unsigned i = 0; i < 6; i++) {
        had[i] = take(32);
    }
    had[0][32] = had[2][32] = had[3][-1] = 0; /* the last one is not told: its neighbour is */
    had[5][40] = 0;
    assert_int_equal(ecube_blocks_look_at_all(&blocks, list, 3), 3);
    assert_int_equal(list[0].address, (uint32_t)(uintptr_t)had[0]);
    assert_int_equal(list[1].address, (uint32_t)(uintptr_t)had[2]);
    assert_int_equal(list[2].address, (uint32_t)(uintptr_t)had[5]);
    assert_int_equal(list[2].offset, 40);
    assert_int_equal(ecube_blocks_look_at_all(&blocks, list, 1), 3);
    free(memory);
    memory = NULL;
}
