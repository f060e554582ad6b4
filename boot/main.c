/*
 * main.c - the node on this board: the one endless loop, and what system calls, interrupts and
 * faults do with it.
 *
 * Everything runs on one supervisor stack with interrupts masked. While a program runs, interrupts
 * bring the kernel in; while it is blocked or there is none, the kernel looks for itself and sleeps
 * in between.
 */
#include <stddef.h>
#include <string.h>

#include "board/platform.h"
#include "arch/armv7a/trap.h"
#include "drivers/check.h"
#include "drivers/link/link.h"
#include "node/node.h"
#include "router/incarnation.h"
#include "router/link_counters.h"
#include "wire/report.h"

enum {
    NODE_BYTES_MAX = 32 * 1024,
    MEMORY_BYTES_MAX = 192 * 1024,
    SERVE_US = 2000,           /* how long links may keep a program that could go on */
    TURN_US = 2000,            /* how long it then goes on before they are looked at again */
    PANIC_REPORT_US = 1000000, /* how long a kernel that has failed may still try to say so */
};

static _Alignas(16) uint8_t node_storage[NODE_BYTES_MAX];
static _Alignas(16) uint8_t node_memory[MEMORY_BYTES_MAX];
static struct link_counters link_counters[PORTS_MAX];
static bool failed;

/* Outlives a reset, as the clock does; at power-up it may be anything. */
static uint16_t incarnation __attribute__((section(".noinit")));

static struct node *node(void)
{
    return (struct node *)(void *)node_storage;
}

/* When the node wants to be looked at though nothing happens. */
static uint64_t deadline(void)
{
    uint64_t step_us = node_deadline(node()), wake_us = node_wake_us(node());
    return wake_us < step_us ? wake_us : step_us;
}

static bool step(uint64_t now_us)
{
    if (node_takes_memory(node())) {
        platform_forget_program();
    }
    return node_step(node(), now_us);
}

static void step_until_quiet(void)
{
    while (step(platform_recent_us())) {
    }
}

/* Leaves the interrupts armed for what comes next. */
static void arm(void)
{
    while (platform_listen(deadline())) {
        step_until_quiet();
    }
}

/* Whether there is news; if not, interrupts are armed and the node may sleep. */
static bool has_news(void)
{
    return platform_spin(deadline()) || platform_listen(deadline());
}

/* Steps and listens until there is nothing more, for a program that runs: under unbroken traffic it
 * has its turns. */
static void serve_in_turn(void)
{
    uint64_t start_us = platform_now_us(), now_us = start_us;
    do {
        if (!step(now_us) && !platform_listen(deadline())) {
            return;
        }
        now_us = platform_now_us();
    } while (now_us - start_us < SERVE_US);
    platform_mute(now_us + TURN_US);
}

static _Noreturn void idle(void)
{
    for (;;) {
        struct node_start start;
        step_until_quiet();
        if (has_news()) {
            continue;
        }
        if (node_take_start(node(), &start)) {
            const struct platform_ends ends = {.code_end = start.code_end,
                                               .constants_end = start.constants_end,
                                               .data_start = start.data_start,
                                               .data_end = start.data_end};
            platform_prepare_program(&ends);
            platform_update(deadline());
            trap_enter(start.entry, start.stack_top, start.block, start.block_bytes);
        }
        platform_sleep();
    }
}

static void idle_restarted(void)
{
    idle();
}

/* Works until the call that blocks is complete, or the program has ended. */
static enum node_verdict finish_call(int32_t *result)
{
    platform_quiet();
    for (;;) {
        step_until_quiet();
        enum node_verdict verdict = node_resume(node(), platform_recent_us(), result);
        if (verdict == NODE_RESUME) {
            arm();
            return node_program_runs(node()) ? NODE_RESUME : NODE_END;
        }
        if (verdict == NODE_END) {
            return NODE_END;
        }
        if (!has_news()) {
            platform_sleep();
        }
    }
}

void trap_call(struct trap_frame *frame)
{
    int32_t result = 0;
    uint32_t number = frame->registers[7];
    uint64_t now_us = node_call_needs_time(number) ? platform_now_us() : platform_recent_us();
    enum node_verdict verdict = node_call(node(), now_us, number, frame->registers, &result);
    if (verdict == NODE_BLOCK) {
        verdict = finish_call(&result);
    }
    if (verdict == NODE_END) {
        trap_restart(idle_restarted);
    }
    platform_update(deadline());
    frame->registers[0] = (uint32_t)result;
}

void trap_interrupt(struct trap_frame *frame)
{
    node_interrupted(node(), frame->registers[15], frame->registers[14]);
    platform_interrupt();
    serve_in_turn();
    if (!node_program_runs(node())) {
        trap_restart(idle_restarted);
    }
}

/* The kernel has failed: the links go on for a moment, so that the report gets out, then everything
 * stops. */
static _Noreturn void panic_report(const struct fault *fault)
{
    if (failed) {
        trap_halt();
    }
    failed = true;
    uint64_t start_us = platform_now_us();
    node_fault(node(), start_us, fault);
    while (platform_now_us() - start_us < PANIC_REPORT_US) {
        step_until_quiet();
        if (!platform_listen(start_us + PANIC_REPORT_US)) {
            platform_sleep();
        }
    }
    trap_halt();
}

static bool inside(uintptr_t address, uintptr_t start, uintptr_t end)
{
    return address >= start && address < end;
}

/* What an undefined instruction of a program is: it may be a trap of its library. */
static uint32_t undefined_kind(const struct trap_frame *frame)
{
    switch (trap_number(frame, platform_program.start, platform_program.end)) {
    case TRAP_DIVIDE: return FAULT_DIVIDE;
    case TRAP_SIGNAL: return FAULT_SIGNAL;
    case TRAP_ERROR: return FAULT_ERROR;
    case TRAP_FINDING: return FAULT_FINDING;
    default: return FAULT_UNDEFINED;
    }
}

_Static_assert((int)FAULT_DATA == TRAP_KIND_DATA && (int)FAULT_PREFETCH == TRAP_KIND_PREFETCH &&
                   (int)FAULT_UNDEFINED == TRAP_KIND_UNDEFINED,
               "what the architecture tells goes on the wire");

void trap_fault(const struct trap_frame *frame, uint32_t kind)
{
    struct fault fault = {
        .kind = kind, .processor_status = frame->cpsr, .address = frame->registers[15]};
    memcpy(fault.registers, frame->registers, sizeof(fault.registers));
    if (kind != FAULT_UNDEFINED) {
        fault.address = trap_fault_address(kind);
        fault.status_register = trap_fault_status(kind);
    } else if (trap_is_program(frame)) {
        fault.kind = undefined_kind(frame);
    }
    if (!trap_is_program(frame)) {
        fault.kind |= FAULT_KERNEL;
        panic_report(&fault);
    }
    if (kind == FAULT_DATA &&
        inside(fault.address, platform_program.guard_start, platform_program.guard_end)) {
        fault.kind = FAULT_STACK;
    }
    node_fault(node(), platform_now_us(), &fault);
    trap_restart(idle_restarted);
}

_Noreturn void check_failed(const char *file, int line, const char *what)
{
    struct fault fault = {.kind = FAULT_CHECK, .line = (uint32_t)line, .text = file};
    (void)what;
    fault.registers[15] = (uint32_t)(uintptr_t)__builtin_return_address(0);
    panic_report(&fault);
}

/* Whether the maker of one of them says that it can lose bytes. */
static bool any_loses(struct link *const *links, int count)
{
    for (int i = 0; i < count; i++) {
        if (links[i]->loses) {
            return true;
        }
    }
    return false;
}

int kernel_main(void)
{
    int link_count = platform_init();
    incarnation = incarnation_next(incarnation, platform_now_us());
    struct node_config config = {
        .links = platform_links(),
        .link_count = link_count < 0 ? 0 : (unsigned)link_count,
        .program = (uint8_t *)platform_program.start,
        .program_address = (uint32_t)platform_program.start,
        .program_bytes = (uint32_t)(platform_program.end - platform_program.start),
        .stack_top = (uint32_t)platform_program.stack_top,
        .image_address = (uint32_t)platform_program.image,
        .memory = node_memory,
        .link_counters = link_counters,
        .plans = platform_plans.memory,
        .plan_bytes = platform_plans.bytes,
        .records = platform_records.memory,
        .records_bytes = platform_records.bytes,
        .incarnation = incarnation,
        .payload_checked = any_loses(platform_links(), link_count),
    };
    CHECK(node_bytes() <= NODE_BYTES_MAX &&
          node_memory_bytes(config.link_count, config.ring) <= MEMORY_BYTES_MAX);
    node_init(node(), &config);
    idle();
}
