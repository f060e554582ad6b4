/*
 * qtest.h - client of QEMU's qtest protocol: physical memory of a node, whether it runs or not.
 *
 *     readl 0x40000000            OK 0x0000000012345678
 *     writel 0x40000000 0x1       OK
 *
 * A write is done when it is asked for; its answer comes before that of the next read. Bus errors
 * do not show, so addresses are checked before.
 *
 * Errors   an answer that was not expected: QTEST_BROKEN, the connection is of no more use
 * Context  any; pure
 * Source   QEMU 7.2 softmmu/qtest.c
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QTEST_OWED_MAX = 64, QTEST_OUT_MAX = 4096, QTEST_LINE_MAX = 64 };

enum qtest_event {
    QTEST_NOTHING,
    QTEST_READ,    /* value is what was read */
    QTEST_WRITTEN, /* a write was answered */
    QTEST_BROKEN
};

/* Start from zeros. */
struct qtest {
    unsigned due; /* writes that are not answered yet */
    bool reads;   /* an answer to a read is to come, behind theirs */
    uint32_t value;
    unsigned line_bytes;
    char line[QTEST_LINE_MAX];
    unsigned out_bytes; /* to be sent; who has sent it sets it to 0 */
    char out[QTEST_OUT_MAX];
};

/* There is room for one more write. */
bool qtest_has_room(const struct qtest *qtest);

/* `bytes`: 1, 2 or 4. There must be room. */
void qtest_write(struct qtest *qtest, uint32_t address, unsigned bytes, uint32_t value);

/* One read at a time. */
void qtest_read(struct qtest *qtest, uint32_t address, unsigned bytes);

/* Takes what has come, up to the next event; how many bytes. */
size_t qtest_feed(struct qtest *qtest, const char *bytes, size_t count, enum qtest_event *event);
