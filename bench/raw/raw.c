#include "bench/raw/raw.h"

#include <string.h>

#include "boot/platform.h"
#include "boot/trap.h"
#include "drivers/check.h"
#include "drivers/semihosting.h"

enum { LINE_BYTES = 128, DIGITS_MAX = 20 };

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

/* The number after the last space, and the line cut there. */
static uint32_t take_number(char *line)
{
    uint32_t value = 0;
    char *space = strrchr(line, ' ');
    if (space == NULL) {
        return 0;
    }
    for (const char *p = space + 1; *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (uint32_t)(*p - '0');
    }
    *space = '\0';
    return value;
}

int main(void)
{
    char line[LINE_BYTES];
    if (semihosting_command_line(line, sizeof(line)) != 0) {
        semihosting_exit(2);
    }
    uint32_t count = take_number(line);
    const char *role = strrchr(line, ' ');
    role = role == NULL ? line : role + 1;
    if (strcmp(role, "byte") == 0) {
        semihosting_write("b");
        trap_halt();
    }
    int link_count = platform_init();
    struct link **links = platform_links();
    CHECK(link_count >= 1);
    if (strcmp(role, "send") == 0) {
        raw_send(links[0]);
    } else if (strcmp(role, "receive") == 0) {
        raw_receive(links[0], count);
    } else if (strcmp(role, "ping") == 0) {
        raw_ping(links[0], count);
    } else if (strcmp(role, "pong") == 0) {
        raw_pong(links[0]);
    } else if (strcmp(role, "relay") == 0) {
        CHECK(link_count >= 2);
        raw_relay(links[0], links[1]);
    }
    semihosting_exit(0);
}
