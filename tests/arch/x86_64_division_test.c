/*
 * x86_64_division_test.c - the smallest integer by -1 is what it is on a node, wherever the divisor
 * lies.
 */
#include "tests/testing.h"

#include <setjmp.h>
#include <signal.h>

#include "arch/x86_64/division.h"

static int64_t divisors[4] = {3, 3, -1, 3};
static sigjmp_buf away;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (!division_mend(((ucontext_t *)context)->uc_mcontext.gregs)) {
        siglongjmp(away, 1);
    }
}

static void handle_faults(void)
{
    sigaction(SIGFPE,
              &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER},
              NULL);
}

/* With rbx and r13 at divisors, rcx and r12 2, r9 -1. */
#define DIVIDE(instruction, dividend, expected)                                                    \
    do {                                                                                           \
        uint64_t quotient = (dividend), rest = UINT64_MAX;                                         \
        __asm__ volatile("mov %2, %%rbx; mov %2, %%r13; mov $2, %%ecx; mov $2, %%r12d;"            \
                         "mov $-1, %%r9;" instruction                                              \
                         : "+a"(quotient), "+d"(rest)                                              \
                         : "S"(divisors)                                                           \
                         : "rbx", "rcx", "r9", "r12", "r13", "cc", "memory");                      \
        assert_true(quotient == (expected));                                                       \
        assert_true(rest == 0);                                                                    \
    } while (0)
/* What is above eax is no part of the dividend, and cleared. */
#define DIVIDE_INT(instruction)                                                                    \
    DIVIDE(instruction, UINT64_C(0x7777777780000000), UINT64_C(0x80000000))
#define DIVIDE_LONG(instruction) DIVIDE(instruction, UINT64_C(1) << 63, UINT64_C(1) << 63)

TEST(the_smallest_integer_by_minus_one_stays_what_it_is)
{
    handle_faults();
    DIVIDE_INT("idivl %%r9d");
    DIVIDE_INT("idivl 16(%%rbx)");
    DIVIDE_INT("idivl 16(%%r13)");
    DIVIDE_INT("idivl (%%rbx,%%rcx,8)");
    DIVIDE_INT("idivl (%%r13,%%r12,8)");
    DIVIDE_INT("idivl 0x10(,%%rbx,1)");
    DIVIDE_INT("add $-0x1000, %%rbx; idivl 0x1010(%%rbx)");
    DIVIDE_INT("add $-0x1000, %%rbx; idivl 0x1000(%%rbx,%%rcx,8)");
    DIVIDE_INT("add $24, %%rbx; idivl -8(%%rbx)");
    DIVIDE_INT("lea -256(%%rsp), %%rsp; movl $-1, (%%rsp); idivl (%%rsp); lea 256(%%rsp), %%rsp");
    DIVIDE_INT("idivl 1f(%%rip); jmp 2f; 1: .long -1; 2:");
    DIVIDE_LONG("idivq %%r9");
    DIVIDE_LONG("idivq 16(%%rbx)");
    DIVIDE_LONG("idivq (%%r13,%%r12,8)");
}

TEST(a_division_by_zero_is_none_of_these)
{
    volatile int zero = 0, mended = 0;

    handle_faults();
    if (sigsetjmp(away, 1) == 0) {
        __asm__ volatile("idivl %0" : : "m"(zero), "a"(INT32_MIN), "d"(-1) : "cc");
        mended = 1;
    }
    assert_int_equal(mended, 0);
}
