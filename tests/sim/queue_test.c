/*
 * queue_test.c - the event queue.
 */
#include "tests/unit/testing.h"

#include "sim/queue.h"
#include "sim/random.h"

static void events_come_in_the_order_of_time_then_number(void **state)
{
    struct queue queue = {0};
    uint64_t seed = 5;

    (void)state;
    for (uint32_t i = 0; i < 20000; i++)
        queue_add(&queue, (struct event){random_below(&seed, 500), i, 0, i});
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

static void events_that_are_added_while_others_are_taken_keep_the_order(void **state)
{
    struct queue queue = {0};
    uint64_t seed = 6, now = 0, order = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        queue_add(&queue, (struct event){random_below(&seed, 1000), order++, 0, 0});
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

static void an_empty_queue_has_no_time(void **state)
{
    struct queue queue = {0};

    (void)state;
    assert_true(queue_time(&queue) == UINT64_MAX);
    queue_add(&queue, (struct event){7, 0, 1, 2});
    assert_int_equal(queue_time(&queue), 7);
    assert_int_equal(queue_take(&queue).index, 2);
    assert_true(queue_time(&queue) == UINT64_MAX);
    queue_free(&queue);
}

TEST_MAIN(cmocka_unit_test(events_come_in_the_order_of_time_then_number),
          cmocka_unit_test(events_that_are_added_while_others_are_taken_keep_the_order),
          cmocka_unit_test(an_empty_queue_has_no_time))
