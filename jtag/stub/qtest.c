#include "jtag/stub/qtest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

static char letter(unsigned bytes)
{
    CHECK(bytes == 1 || bytes == 2 || bytes == 4);
    return bytes == 1 ? 'b' : bytes == 2 ? 'w' : 'l';
}

__attribute__((format(printf, 2, 3))) static void add(struct qtest *qtest, const char *format, ...)
{
    unsigned room = QTEST_OUT_MAX - qtest->out_bytes;
    va_list arguments;
    int bytes;

    va_start(arguments, format);
    bytes = vsnprintf(qtest->out + qtest->out_bytes, room, format, arguments);
    va_end(arguments);
    CHECK(bytes > 0 && (unsigned)bytes < room);
    qtest->out_bytes += (unsigned)bytes;
}

bool qtest_has_room(const struct qtest *qtest)
{
    return qtest->due < QTEST_OWED_MAX;
}

void qtest_write(struct qtest *qtest, uint32_t address, unsigned bytes, uint32_t value)
{
    CHECK(qtest_has_room(qtest) && !qtest->reads);
    add(qtest, "write%c 0x%x 0x%x\n", letter(bytes), (unsigned)address, (unsigned)value);
    qtest->due++;
}

void qtest_read(struct qtest *qtest, uint32_t address, unsigned bytes)
{
    CHECK(!qtest->reads);
    add(qtest, "read%c 0x%x\n", letter(bytes), (unsigned)address);
    qtest->reads = true;
}

static enum qtest_event end_read(struct qtest *qtest)
{
    char *end;

    qtest->value = (uint32_t)strtoull(qtest->line + 3, &end, 16);
    if (strncmp(qtest->line, "OK 0x", 5) != 0 || *end) {
        return QTEST_BROKEN;
    }
    qtest->reads = false;
    return QTEST_READ;
}

static enum qtest_event end_line(struct qtest *qtest)
{
    qtest->line[qtest->line_bytes] = '\0';
    qtest->line_bytes = 0;
    if (qtest->due > 0) {
        qtest->due--;
        return strcmp(qtest->line, "OK") == 0 ? QTEST_WRITTEN : QTEST_BROKEN;
    }
    return qtest->reads ? end_read(qtest) : QTEST_BROKEN;
}

size_t qtest_feed(struct qtest *qtest, const char *bytes, size_t count, enum qtest_event *event)
{
    *event = QTEST_NOTHING;
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            *event = end_line(qtest);
        } else if (qtest->line_bytes == QTEST_LINE_MAX - 1) {
            *event = QTEST_BROKEN;
        } else {
            qtest->line[qtest->line_bytes++] = bytes[i];
        }
        if (*event != QTEST_NOTHING) {
            return i + 1;
        }
    }
    return count;
}
