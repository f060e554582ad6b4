#include "bench/raw/raw.h"

#include <stdbool.h>
#include <string.h>

#include "board/platform.h"
#include "arch/armv7a/trap.h"
#include "drivers/check.h"
#include "drivers/semihosting.h"

enum { LINE_BYTES = 128, DIGITS_MAX = 20, SAMPLES_MAX = 65536 };

static uint32_t samples_us[SAMPLES_MAX];

uint8_t raw_segment[RAW_SEGMENT_BYTES];
uint8_t raw_messages[RAW_MESSAGES][RAW_SEGMENT_BYTES];

void raw_wait(void)
{
    if (!platform_listen(UINT64_MAX)) {
        platform_sleep();
    }
}

static char *put_number(char *end, uint64_t value)
{
    char digits[DIGITS_MAX];
    int count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (count > 0) {
        *end++ = digits[--count];
    }
    return end;
}

void raw_show(const char *role, uint64_t first, uint64_t second)
{
    char line[LINE_BYTES] = "raw ";
    strcat(line, role);
    char *end = line + strlen(line);
    *end++ = ' ';
    end = put_number(end, first);
    *end++ = ' ';
    end = put_number(end, second);
    *end++ = '\n';
    *end = '\0';
    semihosting_write(line);
}

static void sort(uint32_t *values, uint32_t count)
{
    for (uint32_t gap = count / 2; gap > 0; gap /= 2) {
        for (uint32_t i = gap; i < count; i++) {
            uint32_t value = values[i];
            uint32_t j = i;
            for (; j >= gap && values[j - gap] > value; j -= gap) {
                values[j] = values[j - gap];
            }
            values[j] = value;
        }
    }
}

void raw_sample_us(uint32_t index, uint32_t us)
{
    CHECK(index < SAMPLES_MAX);
    samples_us[index] = us;
}

void raw_sample(uint32_t index, uint64_t start_us)
{
    raw_sample_us(index, (uint32_t)(platform_now_us() - start_us));
}

void raw_show_samples(const char *role, uint32_t count)
{
    uint64_t sum_us = 0;
    CHECK(count > 0 && count <= SAMPLES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        sum_us += samples_us[i];
    }
    sort(samples_us, count);
    raw_show(role, samples_us[count / 2] * UINT64_C(1000), sum_us * 1000 / count);
}

/* An image without a kernel: whatever comes here is an error of the bench. */
void trap_call(struct trap_frame *frame)
{
    (void)frame;
    semihosting_exit(2);
}

void trap_interrupt(struct trap_frame *frame)
{
    (void)frame;
    semihosting_exit(2);
}

_Noreturn void trap_fault(const struct trap_frame *frame, uint32_t kind)
{
    raw_show("fault", kind, frame->registers[15]);
    semihosting_exit(2);
}

_Noreturn void check_failed(const char *file, int line, const char *what)
{
    semihosting_write(file);
    semihosting_write(": ");
    semihosting_write(what);
    raw_show(" check", (uint64_t)line, 0);
    semihosting_exit(2);
}

/* The word after the last space, and the line cut there. */
static const char *take_word(char *line)
{
    char *space = strrchr(line, ' ');
    CHECK(space != NULL);
    *space = '\0';
    return space + 1;
}

static uint32_t take_number(char *line)
{
    uint32_t value = 0;
    for (const char *p = take_word(line); *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (uint32_t)(*p - '0');
    }
    return value;
}

/* Roles over links of any kind; false: this is none. */
static bool run_link_role(const char *role, struct link **links, unsigned link_count, uint32_t node,
                          uint32_t count)
{
    if (strcmp(role, "send") == 0) {
        raw_send(links[0]);
    } else if (strcmp(role, "receive") == 0) {
        raw_receive(links[0], count);
    } else if (strcmp(role, "ping") == 0) {
        raw_ping(links[0], count);
    } else if (strcmp(role, "pong") == 0) {
        raw_pong(links[0]);
    } else if (strcmp(role, "relay") == 0) {
        raw_relay(links[0], links[1]);
    } else if (strcmp(role, "exchange") == 0) {
        raw_exchange(false, link_count, node, count);
    } else {
        return false;
    }
    return true;
}

/* Roles over rings in shared memory; false: this is none. */
static bool run_ring_role(const char *role, unsigned link_count, uint32_t node, uint32_t count)
{
    if (strcmp(role, "ring-send") == 0) {
        ring_send();
    } else if (strcmp(role, "ring-receive") == 0) {
        ring_receive(count);
    } else if (strcmp(role, "ring-ping") == 0) {
        ring_ping(count);
    } else if (strcmp(role, "ring-pong") == 0) {
        ring_pong();
    } else if (strcmp(role, "ring-relay") == 0) {
        ring_relay();
    } else if (strcmp(role, "ring-exchange") == 0) {
        raw_exchange(true, link_count, node, count);
    } else {
        return false;
    }
    return true;
}

int kernel_main(void)
{
    char line[LINE_BYTES];
    if (semihosting_command_line(line, sizeof(line)) != 0) {
        semihosting_exit(2);
    }
    uint32_t count = take_number(line);
    const char *role = take_word(line);
    uint32_t node = take_number(line);
    if (strcmp(role, "byte") == 0) {
        semihosting_write("b");
        trap_halt();
    }
    int link_count = platform_init();
    CHECK(link_count >= 1);
    CHECK(run_link_role(role, platform_links(), (unsigned)link_count, node, count) ||
          run_ring_role(role, (unsigned)link_count, node, count));
    semihosting_exit(0);
}
