/* The table of operations: names, slots of each space, and where slots begin. */
#include "tests/testing.h"

#include "collectives/operation.h"

enum { NODES = 12, ROOT = 5 };

static uint32_t slots(uint32_t operation, enum space space, uint32_t rank, uint32_t segments)
{
    return operation_slots(operation_of(operation), space, NODES, rank, ROOT, segments);
}

TEST(every_operation_is_found_by_both_names)
{
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        if (!operation_of(i)) {
            continue;
        }
        assert_int_equal(operation_named(operation_of(i)->name), i);
        assert_int_equal(operation_named(operation_of(i)->standard), i);
        assert_string_equal(operation_name(i), operation_of(i)->name);
    }
    assert_int_equal(operation_named("alltoall"), ECUBE_EXCHANGE);
}

TEST(what_is_no_operation_has_no_row)
{
    assert_null(operation_of(OPERATIONS));
    assert_int_equal(operation_named("all"), OPERATIONS);
    assert_string_equal(operation_name(OPERATIONS), "collective");
}

TEST(only_the_root_has_what_the_root_alone_gives_or_gets)
{
    assert_int_equal(slots(ECUBE_SCATTER, SPACE_SEND, ROOT, 1), NODES);
    assert_int_equal(slots(ECUBE_SCATTER, SPACE_SEND, ROOT + 1, 1), 0);
    assert_int_equal(slots(ECUBE_SCATTER, SPACE_RECEIVE, ROOT + 1, 1), 1);
    assert_int_equal(slots(ECUBE_GATHER, SPACE_RECEIVE, 0, 1), 0);
    assert_int_equal(slots(ECUBE_REDUCE, SPACE_RECEIVE, ROOT, 1), 1);
    assert_int_equal(slots(ECUBE_REDUCE, SPACE_RECEIVE, 0, 1), 0);
    assert_int_equal(slots(ECUBE_ALLREDUCE, SPACE_RECEIVE, 0, 1), 1);
}

TEST(every_block_has_a_slot_for_each_of_its_segments)
{
    assert_int_equal(slots(ECUBE_BROADCAST, SPACE_RECEIVE, 0, 7), 7);
    assert_int_equal(slots(ECUBE_REDUCE, SPACE_SEND, 0, 7), 7);
    assert_int_equal(slots(ECUBE_GATHER, SPACE_SEND, 0, 7), 7);
    assert_int_equal(slots(ECUBE_GATHER, SPACE_RECEIVE, ROOT, 7), 7 * NODES);
    assert_int_equal(slots(ECUBE_ALLGATHER, SPACE_RECEIVE, 0, 7), 7 * NODES);
    assert_int_equal(slots(ECUBE_BARRIER, SPACE_SEND, 0, 7), 0);
}

TEST(segments_fill_a_vector_and_differ_by_one_element)
{
    const struct operation *reduce = operation_of(ECUBE_REDUCE);

    for (uint32_t count = 0; count < 40; count++) {
        for (uint32_t m = 1; m < 10; m++) {
            assert_int_equal(operation_slot_at(reduce, 0, 8 * count, 8, m), 0);
            assert_int_equal(operation_slot_at(reduce, m, 8 * count, 8, m), 8 * count);
            for (uint32_t i = 0; i < m; i++) {
                uint64_t at = operation_slot_at(reduce, i, 8 * count, 8, m);
                uint64_t end = operation_slot_at(reduce, i + 1, 8 * count, 8, m);
                assert_int_equal(at, (uint64_t)i * count / m * 8);
                assert_in_range(end - at, count / m * 8, count / m * 8 + 8);
                assert_int_equal(operation_slot_at(reduce, m + i, 8 * count, 8, m), 8 * count + at);
            }
        }
    }
}

TEST(blocks_of_an_exchange_are_whole)
{
    assert_true(operation_has_segments(operation_of(ECUBE_SHIFT)));
    assert_true(operation_has_segments(operation_of(ECUBE_REDUCE_SCATTER)));
    assert_true(operation_has_segments(operation_of(ECUBE_BROADCAST)));
    assert_false(operation_has_segments(operation_of(ECUBE_EXCHANGE)));
    assert_false(operation_has_segments(operation_of(ECUBE_EXCHANGEV)));
    assert_false(operation_has_segments(operation_of(ECUBE_BARRIER)));
}

/* Rank 5's block of 10 bytes begins with the 5th, however it is cut. */
TEST(segments_of_a_block_lie_in_it)
{
    const struct operation *gather = operation_of(ECUBE_GATHER);

    assert_int_equal(operation_slot_at(gather, 5, 10, 0, 1), 50);
    assert_int_equal(operation_slot_at(gather, 5 * 3, 10, 0, 3), 50);
    assert_int_equal(operation_slot_at(gather, 5 * 3 + 1, 10, 0, 3), 53);
    assert_int_equal(operation_slot_at(gather, 5 * 3 + 2, 10, 0, 3), 56);
}

TEST(blocks_lie_behind_each_other)
{
    assert_int_equal(operation_slot_at(operation_of(ECUBE_GATHER), 65535, UINT32_MAX, 0, 1),
                     UINT64_C(65535) * UINT32_MAX);
}
