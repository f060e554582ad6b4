/*
 * platform.h - the board's devices under one roof: memory map, links, clock and sleep.
 *
 * Shared by the kernel and by the bare images of tests and benches. platform.c is the only C file
 * of the kernel that reads board.h.
 *
 * Units    us since the counter's zero
 * Context  kernel, interrupts masked
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct link;

/* The program's memory, addresses as in node_config. */
struct platform_program {
    uintptr_t start;
    uintptr_t end;
    uintptr_t stack_top;
    uintptr_t image;
    uintptr_t guard_start; /* below the stack */
    uintptr_t guard_end;
};

/* Where a node keeps its parts of plans. */
struct platform_plans {
    uint8_t *memory;
    uint32_t bytes;
};

enum { PLATFORM_LINKS_MAX = 16 }; /* at least BOARD_LINKS_MAX */

/* Where a node notes what goes on (wire/record.h). */
struct platform_records {
    void *memory; /* 8-aligned */
    uint32_t bytes;
};

extern const struct platform_program platform_program;
extern const struct platform_plans platform_plans;
extern const struct platform_records platform_records;

/* Maps the memory and starts interrupt controller, timer and links. Returns the number of links, or
 * a status. */
int platform_init(void);

/* The links that platform_init counted. */
struct link **platform_links(void);

uint64_t platform_now_us(void);

/* The time as it was some milliseconds ago at most, and never before an earlier answer: a look at
 * the clock costs more than most system calls. */
uint64_t platform_recent_us(void);

/* Sets when an interrupt shall come though nothing happens, UINT64_MAX: never; and asks the links
 * for interrupts. True: something has happened meanwhile, look again before waiting. */
bool platform_listen(uint64_t deadline_us);

/* The kernel looks by itself from now on: asks the links for no interrupts. */
void platform_quiet(void);

/* Looks for news for a while before the node sleeps, where that keeps nobody from working; not
 * longer than until the deadline. True: there are some. */
bool platform_spin(uint64_t deadline_us);

/* Asks the links for no interrupts; at that time, at the latest, the timer raises one. */
void platform_mute(uint64_t until_us);

/* Sleeps until an interrupt is pending, answers it and stops asking for more. */
void platform_sleep(void);

/* Answers the interrupt that is pending, if any, and stops asking for more. */
void platform_interrupt(void);

/* Before a program goes on, or the node sleeps: what platform_listen was asked is brought up to
 * date. */
void platform_update(uint64_t deadline_us);

/* The next program comes: it finds its memory clear. */
void platform_forget_program(void);

/* What of a program is read-only, as in node_start. */
struct platform_ends {
    uintptr_t code_end, constants_end, data_start, data_end;
};

/* Before a program starts: its code, constants and data are protected, and instruction fetch sees
 * what was downloaded. */
void platform_prepare_program(const struct platform_ends *ends);
