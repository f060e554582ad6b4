/*
 * semihosting.h - a test or bench image's line to whoever started the emulator. The kernel never
 * uses it.
 *
 * QEMU     -semihosting-config enable=on,target=native,arg=WORD (once per word)
 * Context  privileged
 * Source   ARM Semihosting for AArch32 and AArch64, 2.0: SYS_WRITE0, SYS_GET_CMDLINE,
 *          SYS_EXIT_EXTENDED
 */
#pragma once

#include <stdint.h>

/* Writes a string that ends with a zero byte; QEMU shows it on standard error. */
void semihosting_write(const char *text);

/* The words after arg=, joined by spaces and ended by a zero byte, into `line`; 0, or -1 when they
 * do not fit. */
int semihosting_command_line(char *line, uint32_t line_bytes);

/* Ends the emulator with this exit code (0 to 255). */
_Noreturn void semihosting_exit(uint32_t code);
