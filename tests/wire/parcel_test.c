/*
 * parcel_test.c - how a message is cut into parcels: every byte once, and of each parcel those that
 * nodes from any on need.
 */
#include "wire/parcel.h"

#include "tests/testing.h"

enum { LIST_MAX = 1024, BYTES_MAX = 4000, SEGMENTS = 6 };

struct drawn {
    uint8_t bytes[LIST_MAX];
    struct load_list list;
};

static void open_drawn(struct drawn *drawn, uint32_t nodes, uint32_t segments,
                       const struct load_segment *segment)
{
    load_list_pack(drawn->bytes, nodes, 1, segments);
    load_program_pack(drawn->bytes, 0, &(struct load_program){.count = nodes});
    for (uint32_t i = 0; i < segments; i++) {
        load_segment_pack(drawn->bytes, i, &segment[i]);
    }
    assert_true(load_list_open(&drawn->list, drawn->bytes, load_list_bytes(1, segments)));
}

static void expect_slice(const struct load_slice *slice, uint32_t segment, uint64_t from,
                         uint32_t bytes)
{
    assert_int_equal(slice->segment, segment);
    assert_int_equal(slice->from, from);
    assert_int_equal(slice->bytes, bytes);
}

/* The example of parcel.h. */
TEST(common_bytes_come_first_and_windows_of_far_nodes_before_those_of_near_ones)
{
    static const struct load_segment segments[] = {{.count = 3, .bytes = 10},
                                                   {.count = 3, .bytes = 4, .step = 2}};
    struct drawn drawn;
    struct load_cut cut = {.count = 3, .bytes = 8, .to = 2};
    struct load_walk walk = load_walk_at(&cut);
    struct load_slice slice;

    open_drawn(&drawn, 3, 2, segments);
    assert_true(load_walk_next(&drawn.list, &cut, &walk, &slice));
    expect_slice(&slice, 0, 2, 8);
    assert_int_equal(walk.parcel, 1);
    assert_true(load_walk_next(&drawn.list, &cut, &walk, &slice));
    expect_slice(&slice, 0, 0, 2);
    assert_int_equal(walk.parcel, 1);
    assert_true(load_walk_next(&drawn.list, &cut, &walk, &slice));
    expect_slice(&slice, 1, 2, 6);
    assert_int_equal(load_slice_part(&drawn.list, &cut, &slice, 1).bytes, 6);
    assert_int_equal(load_slice_part(&drawn.list, &cut, &slice, 2).from, 4);
    assert_int_equal(load_slice_part(&drawn.list, &cut, &slice, 2).bytes, 4);
    assert_true(load_walk_next(&drawn.list, &cut, &walk, &slice));
    expect_slice(&slice, 1, 0, 2);
    assert_int_equal(load_slice_part(&drawn.list, &cut, &slice, 1).bytes, 0);
    assert_false(load_walk_next(&drawn.list, &cut, &walk, &slice));

    walk = load_walk_at(&cut);
    for (uint32_t parcel = 0; parcel < 2; parcel++) {
        assert_int_equal(load_parcel_find(&drawn.list, &cut, &walk, 2), parcel ? 6 : 8);
        assert_int_equal(walk.parcel, parcel);
        assert_int_equal(load_parcel_pass(&drawn.list, &cut, &walk, 2), parcel ? 6 : 8);
    }
    assert_int_equal(load_parcel_find(&drawn.list, &cut, &walk, 2), 0);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void draw(struct drawn *drawn, uint32_t nodes, uint32_t *seed)
{
    struct load_segment segments[SEGMENTS];
    uint32_t count = 1 + next_random(seed) % SEGMENTS;

    for (uint32_t i = 0; i < count; i++) {
        struct load_segment *segment = &segments[i];
        *segment = (struct load_segment){.first = next_random(seed) % nodes,
                                         .bytes = 1 + next_random(seed) % 60};
        segment->count = 1 + next_random(seed) % (nodes - segment->first);
        if (i > 0 && segments[i - 1].step == 0 && next_random(seed) % 2) {
            segment->bytes = segments[i - 1].bytes;
            segment->flags = LOAD_SAME;
        } else if (next_random(seed) % 2) {
            segment->step = 1 + next_random(seed) % segment->bytes;
        }
    }
    open_drawn(drawn, nodes, count, segments);
}

/* Whether a slice has a byte that a rank, or one behind it, needs. */
static bool is_needed(const struct load_list *list, const struct load_cut *cut,
                      const struct load_slice *slice, uint64_t at, uint32_t rank)
{
    struct load_piece need = load_piece(list, slice->segment, rank, cut->head + cut->count - rank);

    return need.bytes > 0 && at >= need.from && at < need.from + need.bytes;
}

static void check_cut(const struct drawn *drawn, const struct load_cut *cut)
{
    const struct load_list *list = &drawn->list;
    struct load_walk walk = load_walk_at(cut);
    uint32_t taken[SEGMENTS][BYTES_MAX] = {{0}}, in_parcel = 0;
    struct load_slice slice;

    for (uint32_t parcel = walk.parcel; load_walk_next(list, cut, &walk, &slice);
         parcel = walk.parcel) {
        in_parcel += slice.bytes;
        assert_true(in_parcel <= cut->bytes && walk.parcel - parcel == (in_parcel == cut->bytes));
        in_parcel = walk.parcel == parcel ? in_parcel : 0;
        for (uint32_t n = 0; n < cut->count; n++) {
            struct load_piece part = load_slice_part(list, cut, &slice, cut->head + n);
            for (uint64_t at = slice.from; at < slice.from + slice.bytes; at++) {
                bool in = part.bytes > 0 && at >= part.from && at < part.from + part.bytes;
                assert_int_equal(in, is_needed(list, cut, &slice, at, cut->head + n));
                taken[slice.segment][at] += n == 0;
            }
        }
    }
    for (uint32_t i = 0; i < list->segments; i++) {
        struct load_piece piece = load_piece(list, i, cut->head, cut->count);
        for (uint64_t at = 0; at < BYTES_MAX; at++) {
            assert_int_equal(taken[i][at], i >= cut->from && i < cut->to && at >= piece.from &&
                                               at < piece.from + piece.bytes);
        }
    }
}

TEST(every_byte_is_in_one_parcel_and_goes_as_far_as_it_is_needed)
{
    uint32_t seed = 1;

    for (unsigned trial = 0; trial < 1000; trial++) {
        uint32_t nodes = 1 + next_random(&seed) % 20;
        struct drawn drawn;
        draw(&drawn, nodes, &seed);
        struct load_cut cut = {.head = next_random(&seed) % nodes,
                               .bytes = 1 + next_random(&seed) % 100,
                               .to = drawn.list.segments};
        cut.count = 1 + next_random(&seed) % (nodes - cut.head);
        check_cut(&drawn, &cut);
    }
}
