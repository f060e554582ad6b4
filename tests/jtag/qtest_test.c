/*
 * Physical memory of a node through QEMU's qtest protocol.
 */
#include "tests/testing.h"

#include <string.h>

#include "jtag/stub/qtest.h"

static struct qtest qtest;

static void assert_sent(const char *text)
{
    assert_int_equal(qtest.out_bytes, strlen(text));
    assert_memory_equal(qtest.out, text, qtest.out_bytes);
    qtest.out_bytes = 0;
}

/* The first event of the text; nothing of it may be left. */
static enum qtest_event feed(const char *text)
{
    enum qtest_event event;

    assert_int_equal(qtest_feed(&qtest, text, strlen(text), &event), strlen(text));
    return event;
}

TEST(values_are_read_and_written_in_every_size)
{
    memset(&qtest, 0, sizeof qtest);
    qtest_read(&qtest, 0x40000000, 4);
    assert_sent("readl 0x40000000\n");
    assert_int_equal(feed("OK 0x00000000"), QTEST_NOTHING);
    assert_int_equal(feed("f2345678\n"), QTEST_READ);
    assert_int_equal(qtest.value, 0xf2345678);
    qtest_read(&qtest, 0x40000001, 1);
    assert_sent("readb 0x40000001\n");
    assert_int_equal(feed("OK 0x0000000000000078\n"), QTEST_READ);
    assert_int_equal(qtest.value, 0x78);
    qtest_write(&qtest, 0x40000002, 2, 0xabcd);
    assert_sent("writew 0x40000002 0xabcd\n");
    assert_int_equal(feed("OK\n"), QTEST_WRITTEN);
}

TEST(answers_of_writes_come_before_that_of_a_read)
{
    const char answers[] = "OK\nOK\nOK 0x5\n";
    enum qtest_event event;
    size_t used;

    memset(&qtest, 0, sizeof qtest);
    qtest_write(&qtest, 0, 4, 1);
    qtest_write(&qtest, 4, 4, 2);
    qtest_read(&qtest, 0, 4);
    used = qtest_feed(&qtest, answers, sizeof answers - 1, &event);
    assert_int_equal(event, QTEST_WRITTEN);
    used += qtest_feed(&qtest, answers + used, sizeof answers - 1 - used, &event);
    assert_int_equal(event, QTEST_WRITTEN);
    assert_int_equal(qtest.due, 0);
    assert_true(qtest.reads);
    used += qtest_feed(&qtest, answers + used, sizeof answers - 1 - used, &event);
    assert_int_equal(event, QTEST_READ);
    assert_int_equal(used, sizeof answers - 1);
}

TEST(writes_that_are_not_answered_are_bounded)
{
    memset(&qtest, 0, sizeof qtest);
    for (unsigned i = 0; i < QTEST_OWED_MAX; i++) {
        assert_true(qtest_has_room(&qtest));
        qtest_write(&qtest, UINT32_MAX, 4, UINT32_MAX);
    }
    assert_false(qtest_has_room(&qtest));
    assert_int_equal(feed("OK\n"), QTEST_WRITTEN);
    assert_true(qtest_has_room(&qtest));
}

TEST(other_answers_end_the_connection)
{
    static const char *const reads[] = {"OK\n", "FAIL x\n", "OK 5\n", "OK 0x5x\n", "OK 0xx\n"};
    char line[QTEST_LINE_MAX + 1];

    for (unsigned i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        memset(&qtest, 0, sizeof qtest);
        qtest_read(&qtest, 0, 4);
        assert_int_equal(feed(reads[i]), QTEST_BROKEN);
    }
    memset(&qtest, 0, sizeof qtest);
    qtest_write(&qtest, 0, 4, 0);
    assert_int_equal(feed("OK 0x5\n"), QTEST_BROKEN);
    memset(&qtest, 0, sizeof qtest);
    assert_int_equal(feed("OK\n"), QTEST_BROKEN);
    memset(line, 'x', sizeof line);
    line[QTEST_LINE_MAX] = '\0';
    memset(&qtest, 0, sizeof qtest);
    assert_int_equal(feed(line), QTEST_BROKEN);
}
