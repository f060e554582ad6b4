#include "drivers/semihosting.h"

enum {
    SYS_WRITE0 = 0x04,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20,
    STOPPED_APPLICATION_EXIT = 0x20026
};

static uint32_t request(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("svc 0xab" : "+r"(r0) : "r"(r1) : "memory", "lr");
    return r0;
}

void semihosting_write(const char *text)
{
    (void)request(SYS_WRITE0, text);
}

int semihosting_command_line(char *line, uint32_t line_bytes)
{
    uint32_t block[2] = {(uint32_t)(uintptr_t)line, line_bytes};
    return (int)request(SYS_GET_CMDLINE, block);
}

_Noreturn void semihosting_exit(uint32_t code)
{
    uint32_t block[2] = {STOPPED_APPLICATION_EXIT, code};
    for (;;) {
        (void)request(SYS_EXIT_EXTENDED, block);
    }
}
