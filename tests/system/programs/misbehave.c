/*
 * misbehave.c - misbehave WHAT RANK [VALUE]: node RANK does WHAT, the others end at once with
 * status 0.
 *
 * Those that need company (disagree, absent, hold) take all nodes into a collective; in a circle
 * the nodes below RANK wait for each other's messages, and beside it node RANK sleeps for ever; in
 * a ring they pass one on for ever.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ecube.h>

#include "board.h"

enum { BLOCK_BYTES = 64 };

static uint8_t blocks[2][128 * BLOCK_BYTES];
static const uint32_t constants[BLOCK_BYTES / 4] = {1, 2};
static const char *volatile text = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
volatile int zero;
volatile uint32_t *volatile pointer;

__attribute__((noinline)) static int dereference_null(void)
{
    pointer = NULL;
    return (int)*pointer;
}

/* So much text that no packet slot is left for what becomes of it. */
__attribute__((noinline)) static int talk_and_crash(void)
{
    for (int i = 0; i < 26; i++) {
        printf("line %d\n", i);
    }
    return dereference_null();
}

__attribute__((noinline)) static int write_memory(uintptr_t address)
{
    pointer = (uint32_t *)address;
    *pointer = 0xdeadbeef;
    return 0;
}

__attribute__((noinline)) static int jump_nowhere(void)
{
    int (*volatile nowhere)(void) = (int (*)(void))(uintptr_t)0x3000;
    return nowhere();
}

__attribute__((noinline)) static int recurse(volatile uint8_t *above, int depth)
{
    volatile uint8_t frame[4096];
    memset((void *)frame, above ? above[0] + 1 : 0, sizeof frame);
    return depth ? recurse(frame, depth - 1) + frame[17] : 0;
}

/* The same without a function of the C library. */
__attribute__((noinline)) static int dig(int depth)
{
    volatile int frame[64];
    frame[0] = depth;
    return depth ? dig(depth - 1) + frame[0] : 0;
}

/* Down to the kernel's memory, over the guard below the stack. */
__attribute__((noinline)) static int large_frame(void)
{
    volatile uint8_t frame[8 << 20];
    frame[0] = 1;
    return frame[0];
}

__attribute__((noinline)) static int call_null(void)
{
    int (*volatile nothing)(void) = NULL;
    return nothing() + 1;
}

__attribute__((noinline)) static int length_of_null(void)
{
    pointer = NULL;
    return (int)strlen((const char *)pointer) + 1;
}

/* memcpy is ARM code, what calls it Thumb code. */
__attribute__((noinline)) static int copy_of_null(void)
{
    volatile size_t bytes = sizeof blocks[0];
    pointer = NULL;
    memcpy(blocks[0], (const void *)pointer, bytes);
    return blocks[0][0];
}

__attribute__((noinline)) static int print_nothing(void)
{
    pointer = (uint32_t *)8;
    return printf("%s\n", (const char *)pointer) + 1;
}

/* The compiler puts it into its caller. */
static inline int read_inlined(const volatile uint32_t *at)
{
    return (int)*at;
}

__attribute__((noinline)) static int call_inlined(void)
{
    pointer = NULL;
    return read_inlined(pointer) + 1;
}

__attribute__((noinline)) static int give_up(void)
{
    if (zero == 0) {
        abort();
    }
    return 1;
}

__attribute__((noinline)) static int fail_assertion(void)
{
    assert(zero == 7);
    return 1;
}

/* The same, and what has been written is there. */
__attribute__((noinline)) static int change_memory(const void *at)
{
    write_memory((uintptr_t)at & ~(uintptr_t)3);
    return *pointer == 0xdeadbeef ? 0 : 9;
}

/* What is no code. */
__attribute__((noinline)) static int call_data(void *at)
{
    int (*volatile data)(void) = (int (*)(void))((uintptr_t)at | 1);
    return data() + 1;
}

/* Over the end of its buffer, and over its return address; sprintf has called other functions. */
__attribute__((noinline)) static int overwrite_return(void)
{
    char small[8];
    return sprintf(small, "%s%s", text, text) + small[0];
}

__attribute__((noipa)) static int apply(int (*function)(int), int value)
{
    return function(value) - 1;
}

#pragma GCC diagnostic ignored "-Wtrampolines"
__attribute__((noinline)) static int apply_nested(int value)
{
    volatile int sum = value;
    int add(int more)
    {
        return sum += more;
    }
    return apply(add, 1);
}

/* Where the kernel, or a link, would write for it. */
static int receive_constants(void)
{
    int status = ecube_receive((void *)constants, sizeof constants, ECUBE_ANY, 0, NULL);
    printf("receive: %s\n", ecube_error_text(status));
    return 0;
}

static int disagree(int wanted)
{
    uint32_t bytes = ecube_rank() == wanted ? BLOCK_BYTES / 2 : BLOCK_BYTES;
    return ecube_exchange(blocks[0], blocks[1], bytes);
}

__attribute__((noinline)) static int never_return(void)
{
    while (zero == 0) {
        zero = 0;
    }
    return zero;
}

/* One computes, or with -1 all do; the others wait for it, the first two when they have talked for
 * a while. */
static int hold_up(int rank)
{
    int self = ecube_rank();
    char byte = 0;

    if (rank < 0 || self == rank) {
        return never_return();
    }
    for (int i = 0; self < 2 && i < 3000; i++) {
        ecube_send_receive(&byte, 1, 1 - self, 7, &byte, 1, 1 - self, 7, NULL);
    }
    return ecube_barrier();
}

/* For a message of the node before it, which has ended. */
static int wait_for_ever(void)
{
    char byte;
    return ecube_receive(&byte, 1, ecube_rank() - 1, 77, NULL);
}

/* Each receives before it sends: nobody ever sends. */
static int wait_in_circle(int count)
{
    int rank = ecube_rank();
    char byte = 0;

    if (rank >= count) {
        return 0;
    }
    if (ecube_receive(&byte, 1, (rank + 1) % count, 5, NULL) < 0) {
        return 9;
    }
    return ecube_send(&byte, 1, (rank + count - 1) % count, 5) < 0 ? 9 : 0;
}

static int sleep_beside_circle(int count)
{
    while (ecube_rank() == count) {
        sleep(1);
    }
    return wait_in_circle(count);
}

static int pass_for_ever(int count)
{
    int rank = ecube_rank(), status = 0;
    char byte = 0;

    if (rank >= count) {
        return 0;
    }
    if (rank == 0) {
        status = ecube_send(&byte, 1, 1 % count, 6);
    }
    while (status >= 0) {
        status = ecube_receive(&byte, 1, (rank + count - 1) % count, 6, NULL);
        if (status >= 0) {
            status = ecube_send(&byte, 1, (rank + 1) % count, 6);
        }
    }
    return 9;
}

/* More than its node keeps before the message that it waits for. */
static int flood_first(void)
{
    char byte = 0;

    if (ecube_rank() == 0) {
        return ecube_receive(&byte, 1, 1, 1000, NULL) < 0 ? 9 : 0;
    }
    for (int i = 0; ecube_rank() == 1 && i < 200; i++) {
        ecube_send(&byte, 1, 0, i);
    }
    return ecube_rank() == 1 ? ecube_send(&byte, 1, 0, 1000) : 0;
}

/* By -1, which is no value of int; the processors of nodes just go on. */
static int divide_smallest(volatile int divisor)
{
    volatile int least = INT32_MIN;
    volatile int64_t wide = INT64_MIN, by = divisor;

    printf("%d %d\n", (int)(least / divisor), (int)(least % divisor));
    printf("%lld %lld\n", (long long)(wide / by), (long long)(wide % by));
    return 0;
}

static int alone(const char *what, int value)
{
    if (strcmp(what, "null") == 0) {
        return dereference_null() + 1; /* a call, no jump: GDB is to see from where */
    }
    if (strcmp(what, "talk") == 0) {
        return talk_and_crash();
    }
    if (strcmp(what, "divide") == 0) {
        return value / zero;
    }
    if (strcmp(what, "smallest") == 0) {
        return divide_smallest(-value);
    }
    if (strcmp(what, "reciprocal") == 0) {
        return 1 / zero;
    }
    if (strcmp(what, "kernel") == 0) {
        return write_memory(BOARD_KERNEL_BASE);
    }
    if (strcmp(what, "device") == 0) {
        return write_memory(BOARD_GIC_DISTRIBUTOR);
    }
    if (strcmp(what, "jump") == 0) {
        return jump_nowhere();
    }
    if (strcmp(what, "overflow") == 0) {
        return recurse(NULL, 1000000);
    }
    if (strcmp(what, "dig") == 0) {
        return dig(1000000);
    }
    if (strcmp(what, "frame") == 0) {
        return large_frame();
    }
    if (strcmp(what, "call") == 0) {
        return call_null();
    }
    if (strcmp(what, "breakpoint") == 0) {
#ifdef __x86_64__
        __asm__ volatile("int3");
#else
        __asm__ volatile("bkpt #0");
#endif
    }
    if (strcmp(what, "length") == 0) {
        return length_of_null();
    }
    if (strcmp(what, "copy") == 0) {
        return copy_of_null();
    }
    if (strcmp(what, "print") == 0) {
        return print_nothing();
    }
    if (strcmp(what, "inlined") == 0) {
        return call_inlined();
    }
    if (strcmp(what, "assert") == 0) {
        return fail_assertion();
    }
    if (strcmp(what, "spin") == 0) {
        return never_return();
    }
    if (strcmp(what, "wait") == 0) {
        return wait_for_ever();
    }
    if (strcmp(what, "abort") == 0) {
        return give_up();
    }
    if (strcmp(what, "constant") == 0) {
        return change_memory(&constants[1]);
    }
    if (strcmp(what, "code") == 0) {
        return change_memory((const void *)(uintptr_t)give_up);
    }
    if (strcmp(what, "heap") == 0) {
        return call_data(calloc(1, 100));
    }
    if (strcmp(what, "data") == 0) {
        return call_data(blocks[0]);
    }
    if (strcmp(what, "return") == 0) {
        return overwrite_return() + 1;
    }
    if (strcmp(what, "nested") == 0) {
        return apply_nested(value);
    }
    if (strcmp(what, "receive") == 0) {
        return receive_constants();
    }
    if (strcmp(what, "exit") == 0) {
        exit(value);
    }
    printf("unknown: %s\n", what);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        puts("usage: misbehave WHAT RANK [VALUE]");
        return 2;
    }
    int rank = atoi(argv[2]);
    if (strcmp(argv[1], "disagree") == 0) {
        return disagree(rank);
    }
    if (strcmp(argv[1], "circle") == 0) {
        return wait_in_circle(rank);
    }
    if (strcmp(argv[1], "beside") == 0) {
        return sleep_beside_circle(rank);
    }
    if (strcmp(argv[1], "hold") == 0) {
        return hold_up(rank);
    }
    if (strcmp(argv[1], "flood") == 0) {
        return flood_first();
    }
    if (strcmp(argv[1], "ring") == 0) {
        return pass_for_ever(rank);
    }
    if (strcmp(argv[1], "absent") == 0 && ecube_rank() != rank) {
        return ecube_barrier() < 0 ? 9 : 0;
    }
    if (ecube_rank() != rank || strcmp(argv[1], "absent") == 0) {
        return 0;
    }
    return alone(argv[1], argc > 3 ? atoi(argv[3]) : 1);
}
