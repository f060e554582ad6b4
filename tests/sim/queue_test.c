/*
 * queue_test.c - the event queue.
 */
#include "tests/testing.h"

#include "sim/core/queue.h"
#include "sim/core/random.h"

TEST(events_come_in_the_order_of_time_then_number)
{
    struct queue queue = {0};
    uint64_t seed = 5;

    for (uint32_t i = 0; i < 20000; i++) {
        queue_add(&queue, (struct event){random_below(&seed, 500), i, 0, i});
    }
    struct event last = queue_take(&queue);
    for (uint32_t i = 1; i < 20000; i++) {
        struct event next = queue_take(&queue);
        assert_true(next.time_ns > last.time_ns ||
                    (next.time_ns == last.time_ns && next.order > last.order));
        last = next;
    }
    assert_int_equal(queue.count, 0);
    queue_free(&queue);
}

TEST(events_that_are_added_while_others_are_taken_keep_the_order)
{
    struct queue queue = {0};
    uint64_t seed = 6, now = 0, order = 0;

    for (unsigned i = 0; i < 1000; i++) {
        queue_add(&queue, (struct event){random_below(&seed, 1000), order++, 0, 0});
    }
    for (unsigned i = 0; i < 50000; i++) {
        assert_true(queue_time(&queue) >= now);
        struct event event = queue_take(&queue);
        now = event.time_ns;
        event.time_ns += random_below(&seed, 1000);
        event.order = order++;
        queue_add(&queue, event);
    }
    assert_int_equal(queue.count, 1000);
    queue_free(&queue);
}

/* Few of many, many of many, all, and those of a queue that is still small. */
TEST(what_is_due_is_taken_at_once_and_the_rest_stay_in_order)
{
    uint64_t seed = 7;

    for (uint32_t count = 1; count <= 3000; count = count * 3 + 1) {
        for (uint64_t until = 0; until <= 100; until += 5) {
            struct queue queue = {0};
            struct batch batch = {0};
            uint32_t due = 0, seen = 0;
            uint64_t sum = 0, taken = 0;
            for (uint32_t i = 0; i < count; i++) {
                struct event event = {random_below(&seed, 100), i, 0, i};
                queue_add(&queue, event);
                due += event.time_ns <= until;
                sum += event.time_ns <= until ? i + 1 : 0;
            }
            assert_true(queue_take_due(&queue, until, &batch));
            assert_int_equal(batch.count, due);
            for (uint32_t i = 0; i < batch.count; i++) {
                assert_true(batch.events[i].time_ns <= until);
                taken += batch.events[i].index + 1;
            }
            assert_int_equal(taken, sum);
            for (struct event last = {0}; queue.count; seen++) {
                struct event next = queue_take(&queue);
                assert_true(next.time_ns > until && !event_before(&next, &last));
                last = next;
            }
            assert_int_equal(seen, count - due);
            batch_free(&batch);
            queue_free(&queue);
        }
    }
}

TEST(an_empty_queue_has_no_time)
{
    struct queue queue = {0};

    assert_true(queue_time(&queue) == UINT64_MAX);
    queue_add(&queue, (struct event){7, 0, 1, 2});
    assert_int_equal(queue_time(&queue), 7);
    assert_int_equal(queue_take(&queue).index, 2);
    assert_true(queue_time(&queue) == UINT64_MAX);
    queue_free(&queue);
}
