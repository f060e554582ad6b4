/*
 * The list of a load: its bytes are those of the drawing in wire/load.h, a list that cannot be is
 * refused, and the pieces of a message are what its nodes need, byte for byte.
 */
#include "tests/testing.h"

#include <string.h>

#include "wire/load.h"

enum {
    NODES = 8,
    ALL = 3,
    LIST_BYTES = LOAD_LIST_HEADER_BYTES + LOAD_PROGRAM_BYTES + ALL * LOAD_SEGMENT_BYTES
};

#define U16(v) (uint8_t)((v)&0xff), (uint8_t)((v) >> 8 & 0xff)
#define U32(v) U16((uint32_t)(v)&0xffff), U16((uint32_t)(v) >> 16)

static const struct load_program one = {.count = NODES,
                                        .entry = 0x1001,
                                        .bss_end = 0x4000,
                                        .code_end = 0x2000,
                                        .constants_end = 0x3000,
                                        .data_start = 0x5000,
                                        .data_end = 0x6000,
                                        .top = 0x7000};
static const struct load_segment windows = {
    .count = NODES, .address = 0x100, .bytes = 5, .step = 2};
static const struct load_segment common = {.first = 2, .count = 4, .address = 0x200, .bytes = 10};
static const struct load_segment same = {
    .first = 1, .count = 1, .address = 0x300, .bytes = 10, .flags = LOAD_SAME};

static void pack(uint8_t list[LIST_BYTES])
{
    memset(list, 0, LIST_BYTES);
    load_list_pack(list, NODES, 1, ALL);
    load_program_pack(list, 0, &one);
    load_segment_pack(list, 0, &windows);
    load_segment_pack(list, 1, &common);
    load_segment_pack(list, 2, &same);
}

TEST(a_map_is_laid_out_as_drawn_and_is_a_permutation)
{
    static const uint8_t golden[] = {U32(4), 2,      0x01,   0,      0,      U32(4), U32(0), U32(0),
                                     U32(0), U32(0), U32(0), U32(0), U32(0), U32(0), U32(0), U32(0),
                                     U32(0), U32(0), U32(0), U32(0), U32(0), U16(0), U16(1), U16(3),
                                     U16(2), U16(0), U16(1), U16(3), U16(2)};
    struct load_map fields = {.nodes = 4, .kind = 2, .dims = 1, .sizes = {4}}, back;
    uint8_t map[sizeof golden];

    assert_int_equal(sizeof golden, load_map_bytes(4));
    load_map_pack(map, &fields);
    load_map_put(map, 4, 0, 0);
    load_map_put(map, 4, 1, 1);
    load_map_put(map, 4, 2, 3);
    load_map_put(map, 4, 3, 2);
    assert_memory_equal(map, golden, sizeof golden);
    assert_int_equal(load_map_unpack(map, sizeof map, 4, &back).wrong, LOAD_MAP_RIGHT);
    assert_memory_equal(&back, &fields, sizeof back);
    assert_int_equal(load_map_unpack(map, sizeof map - 1, 4, &back).wrong, LOAD_MAP_CUT);
    assert_int_equal(load_map_unpack(map, 3, 4, &back).wrong, LOAD_MAP_CUT);
    assert_int_equal(load_map_unpack(map, sizeof map, 5, &back).wrong, LOAD_MAP_NODES);
    for (uint32_t rank = 0; rank < 4; rank++) { /* any other number in either table */
        for (uint32_t node = 0; node < 6; node++) {
            memcpy(map, golden, sizeof map);
            map[LOAD_MAP_HEADER_BYTES + 2 * rank] = (uint8_t)node;
            enum load_map_wrong wrong = node == golden[LOAD_MAP_HEADER_BYTES + 2 * rank]
                                            ? LOAD_MAP_RIGHT
                                        : node < 4 ? LOAD_MAP_TWICE
                                                   : LOAD_MAP_OUTSIDE;
            assert_int_equal(load_map_unpack(map, sizeof map, 4, &back).wrong, wrong);
            memcpy(map, golden, sizeof map);
            map[LOAD_MAP_HEADER_BYTES + 8 + 2 * rank] = (uint8_t)node;
            assert_int_equal(load_map_unpack(map, sizeof map, 4, &back).wrong,
                             node == golden[LOAD_MAP_HEADER_BYTES + 8 + 2 * rank]
                                 ? LOAD_MAP_RIGHT
                                 : LOAD_MAP_ASTRAY);
        }
    }
}

TEST(a_list_is_laid_out_as_drawn)
{
    static const uint8_t golden[] = {
        U32(8),      U16(1),      U16(3),      U32(0),      U32(8),      U32(0x1001),
        U32(0x4000), U32(0x2000), U32(0x3000), U32(0x5000), U32(0x6000), U32(0x7000),
        U32(0),      U32(8),      U32(0x100),  U32(5),      U32(2),      U32(0),
        U32(2),      U32(4),      U32(0x200),  U32(10),     U32(0),      U32(0),
        U32(1),      U32(1),      U32(0x300),  U32(10),     U32(0),      U32(1)};
    uint8_t list[LIST_BYTES];
    struct load_list open;

    pack(list);
    assert_int_equal(sizeof golden, LIST_BYTES);
    assert_memory_equal(list, golden, sizeof golden);
    assert_true(load_list_open(&open, list, LIST_BYTES));
    assert_int_equal(open.nodes, NODES);
    struct load_program program = load_program_of(&open, 5);
    assert_memory_equal(&program, &one, sizeof one);
    struct load_segment segment = load_segment_at(&open, 2);
    assert_int_equal(segment.first, same.first);
    assert_int_equal(segment.address, same.address);
    assert_int_equal(segment.flags, LOAD_SAME);
}

/* A word of the list, by its offset, that makes it none. */
TEST(a_list_that_cannot_be_is_refused)
{
    enum {
        PROGRAM = LOAD_LIST_HEADER_BYTES,
        FIRST = PROGRAM + LOAD_PROGRAM_BYTES,
        SECOND = FIRST + LOAD_SEGMENT_BYTES,
        THIRD = SECOND + LOAD_SEGMENT_BYTES
    };
    static const struct {
        uint32_t at, word;
    } wrong[] = {{0, 7},
                 {0, 9},
                 {0, 0},
                 {4, 3 << 16},
                 {4, 1},
                 {4, 1 | 2 << 16},
                 {PROGRAM, 1},
                 {PROGRAM + 4, 0},
                 {PROGRAM + 4, 7},
                 {PROGRAM + 4, UINT32_MAX},
                 {FIRST, 8},
                 {FIRST, UINT32_MAX},
                 {FIRST + 4, 0},
                 {FIRST + 4, 9},
                 {FIRST + 12, 0},
                 {FIRST + 16, 6},
                 {FIRST + 20, LOAD_SAME}, /* of nothing before it */
                 {SECOND + 16, 1},
                 {SECOND + 12, 11}, /* not what the third has */
                 {THIRD + 16, 1}};
    uint8_t list[LIST_BYTES];
    struct load_list open;

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pack(list);
        memcpy(list + wrong[i].at, (const uint8_t[]){U32(wrong[i].word)}, 4);
        assert_false(load_list_open(&open, list, LIST_BYTES));
    }
    pack(list);
    for (uint32_t bytes = 0; bytes < LIST_BYTES; bytes++) {
        assert_false(load_list_open(&open, list, bytes));
    }
}

TEST(two_neighbours_need_what_they_have_in_common_once)
{
    uint8_t list[LIST_BYTES];
    struct load_list open;

    pack(list);
    assert_true(load_list_open(&open, list, LIST_BYTES));
    struct load_piece piece = load_piece(&open, 0, 4, 2);
    assert_int_equal(piece.from, 8);
    assert_int_equal(piece.bytes, 7);
}

/* Which bytes of a string the nodes of a range need, by asking each of them for each byte. */
static uint64_t needed(const struct load_segment *segment, uint32_t first, uint32_t count)
{
    uint64_t mask = 0;

    for (uint32_t rank = first; rank < first + count; rank++) {
        if (rank - segment->first < segment->count) {
            mask |= ((UINT64_C(1) << segment->bytes) - 1)
                    << (rank - segment->first) * segment->step;
        }
    }
    return mask;
}

TEST(a_piece_is_what_the_nodes_of_its_range_need)
{
    uint8_t list[LIST_BYTES];
    struct load_list open;

    pack(list);
    assert_true(load_list_open(&open, list, LIST_BYTES));
    for (uint32_t first = 0; first < NODES; first++) {
        for (uint32_t count = 1; count <= NODES - first; count++) {
            uint64_t masks[ALL] = {needed(&windows, first, count),
                                   needed(&common, first, count) | needed(&same, first, count), 0};
            uint64_t bytes = 0;
            for (uint32_t i = 0; i < ALL; i++) {
                struct load_piece piece = load_piece(&open, i, first, count);
                assert_int_equal(((UINT64_C(1) << piece.bytes) - 1) << piece.from, masks[i]);
                bytes += piece.bytes;
            }
            assert_int_equal(load_data_bytes(&open, 0, ALL, first, count), bytes);
        }
    }
}
