/*
 * native_faults.c - signals that come while a rank runs.
 *
 * A fault of a rank is a signal to this process. Its handler runs on a stack of the thread, notes
 * where the rank was, and leaves for the pump as a call does: the rank's stack is not entered any
 * more. A signal that comes while no rank runs, or while the simulator works for one, is not for
 * us.
 *
 * Source   sigaltstack(2), signal(7), sigprocmask(2), tgkill(2); Linux, arch/x86: trap number and
 *          error code of a signal's context
 */
#include "sim/programs/native_rank.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/x86_64/division.h"
#include "wire/report.h"

enum {
    PAGE = 4096,
    STACK_BYTES = 64 * 1024,
    SIGNAL_LEAVE = SIGURG, /* is ignored by who does not know it */
    TRAP_PROTECTION = 13,
    RETURN = 0xc3,     /* the instruction */
    ERROR_FETCH = 16,  /* of a page fault: it was an instruction */
    ERROR_BITS = 0x1f, /* what of its error code is told, */
    ELSEWHERE = 0x80   /* and that the address is outside the window, registers 0 and 1 */
};

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* The rank that runs in this thread, and the thread's number; 0: it is not ready for faults. */
static _Thread_local struct rank *volatile running;
static _Thread_local pid_t own_thread;

/* Of the process: what its signals did before, for how many simulations they are ours, the one that
 * native_interrupt is about, and whether its ranks are let go on. */
static struct sigaction before[SIGNALS];
static unsigned users;
static _Atomic(struct native *) present;
static atomic_bool held;

/* Whether a signal has come while a rank ran, and not the simulator on its behalf. */
static bool is_rank(const struct rank *own, const greg_t *registers)
{
    return own && (rank_has(own, (uintptr_t)registers[REG_RIP]) ||
                   rank_has(own, (uintptr_t)registers[REG_RSP]));
}

static void note_place(struct rank *own, const greg_t *registers)
{
    own->pc = (uintptr_t)registers[REG_RIP];
    own->sp = (uintptr_t)registers[REG_RSP];
    own->frame = (uintptr_t)registers[REG_RBP];
}

/* Whether a function returns to an address that none can be: the processor does not leave it then,
 * and says no address. */
static bool returns_nowhere(const struct rank *own, const greg_t *registers)
{
    return registers[REG_TRAPNO] == TRAP_PROTECTION &&
           rank_has(own, (uintptr_t)registers[REG_RIP]) &&
           *(const uint8_t *)registers[REG_RIP] == RETURN;
}

static bool is_access(int number)
{
    return number == SIGSEGV || number == SIGBUS;
}

static uintptr_t address_of(const struct rank *own, int number, const siginfo_t *info,
                            const greg_t *registers)
{
    uintptr_t back;

    if (!is_access(number)) {
        return (uintptr_t)registers[REG_RIP];
    }
    if (!returns_nowhere(own, registers)) {
        return (uintptr_t)info->si_addr;
    }
    memcpy(&back, (const void *)registers[REG_RSP], sizeof back);
    return back;
}

static uint32_t kind_of(const struct rank *own, int number, const greg_t *registers,
                        uintptr_t address)
{
    bool fetches = registers[REG_ERR] & ERROR_FETCH || address == (uintptr_t)registers[REG_RIP] ||
                   returns_nowhere(own, registers);

    switch (number) {
    case SIGFPE: return FAULT_DIVIDE;
    case SIGILL: return FAULT_UNDEFINED;
    case SIGTRAP: return FAULT_PREFETCH;
    default:
        if (fetches) {
            return FAULT_PREFETCH;
        }
        return rank_has(own, address) && (uint32_t)address < own->stack_base &&
                       (uint32_t)registers[REG_RSP] < own->stack_base + PAGE
                   ? FAULT_STACK
                   : FAULT_DATA;
    }
}

static void signal_before(int number)
{
    for (unsigned i = 0; i < SIGNALS; i++) {
        if (signals[i] == number) {
            sigaction(number, &before[i], NULL);
        }
    }
}

/* The rank is left for ever, but when a node would have gone on. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct rank *own = running;

    if (!is_rank(own, registers)) {
        signal_before(number); /* the fault comes again, and is the simulator's own */
        return;
    }
    if (number == SIGFPE && division_mend(registers)) {
        return;
    }
    uintptr_t address = address_of(own, number, info, registers);
    note_place(own, registers);
    own->step = (struct program_step){.kind = STEP_FAULT};
    own->fault = (struct fault){.kind = kind_of(own, number, registers, address),
                                .address = (uint32_t)address,
                                .status_register = (uint32_t)registers[REG_TRAPNO] << 8 |
                                                   ((uint32_t)registers[REG_ERR] & ERROR_BITS)};
    if (is_access(number) && !rank_has(own, address) && address >= window_bytes) {
        own->fault.status_register |= ELSEWHERE;
        own->fault.registers[0] = (uint32_t)address;
        own->fault.registers[1] = (uint32_t)(address >> 32);
    }
    own->fault.registers[FAULT_PC] = (uint32_t)own->pc;
    own->fault.registers[FAULT_SP] = (uint32_t)own->sp;
    fiber_leave(&own->fiber);
}

/* Likewise, because nobody waits for it any more. One that is for the rank before comes too
 * late. */
static void on_leave(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    struct rank *own = running;

    (void)number;
    (void)info;
    if (!is_rank(own, registers) || !atomic_load(&own->computes)) {
        return;
    }
    note_place(own, registers);
    own->left = true;
    own->step = (struct program_step){.kind = STEP_PAUSE, .until_ns = UINT64_MAX};
    fiber_leave(&own->fiber);
}

void native_faults_begin(struct native *native)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    atomic_store(&present, native);
    if (users++) {
        return;
    }
    atomic_store(&held, false);
    action.sa_sigaction = on_fault;
    for (unsigned i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &action, &before[i]);
    }
    action.sa_sigaction = on_leave;
    sigaction(SIGNAL_LEAVE, &action, NULL);
}

void native_faults_end(void)
{
    atomic_store(&present, NULL);

    for (unsigned i = 0; i < SIGNALS && users == 1; i++) {
        sigaction(signals[i], &before[i], NULL);
    }
    users--;
}

/* A stack for the handlers: that of a rank may be what is at fault. It is the thread's for ever. A
 * worker of the pool has blocked all signals: one of a blocked fault would end the process. */
static void prepare_thread(void)
{
    static _Thread_local uint8_t stack[STACK_BYTES];
    sigset_t ours;

    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigemptyset(&ours);
    for (unsigned i = 0; i < SIGNALS; i++) {
        sigaddset(&ours, signals[i]);
    }
    sigaddset(&ours, SIGNAL_LEAVE);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    own_thread = gettid();
}

/* A rank that is just being entered is seen by the next native_interrupt. */
void native_enter(struct rank *rank)
{
    if (!own_thread) {
        prepare_thread();
    }
    rank->step = (struct program_step){.kind = STEP_PAUSE, .until_ns = UINT64_MAX};
    if (atomic_load_explicit(&held, memory_order_relaxed)) {
        return;
    }
    running = rank;
    atomic_store_explicit(&rank->computes, false, memory_order_relaxed);
    atomic_store_explicit(&rank->thread, own_thread, memory_order_relaxed);
    fiber_enter(&rank->fiber);
    atomic_store_explicit(&rank->thread, 0, memory_order_relaxed);
    running = NULL;
}

void native_interrupt(bool all)
{
    struct native *native = atomic_load(&present);

    atomic_store(&held, all);
    for (uint32_t i = 0; native && i < native->count; i++) {
        struct rank *rank = &native->ranks[i];
        pid_t thread = atomic_load(&rank->thread);
        if (thread && atomic_exchange(&rank->computes, true)) {
            tgkill(getpid(), thread, SIGNAL_LEAVE);
        }
    }
}
