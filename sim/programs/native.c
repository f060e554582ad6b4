/*
 * native.c - native programs: where a rank's memory lies, how its file gets there, and how it and
 * the simulator take turns.
 *
 *     pump: next ----> fiber_enter -----> the program goes on
 *                                            |  calls through the gate, traps, or faults
 *     pump: the step <---- fiber_leave <-----+
 *
 * A fault of a rank is a signal to this process. Its handler runs on a stack of the thread, notes
 * where the rank was, and leaves for the pump as a call does: the rank's stack is not entered any
 * more. A signal that comes while no rank runs is not for us.
 *
 * The image that is downloaded is what the file maps, byte for byte; it is mapped over it when the
 * program starts, so that all ranks have the pages of code and constants in common.
 *
 * Source   mmap(2), sigaltstack(2), signal(7); System V ABI, AMD64 supplement, 3.4.1 (frames)
 */
#include "sim/programs/native.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/x86_64/fiber.h"
#include "drivers/check.h"
#include "include/ecube/gate.h"
#include "sim/core/partition.h"
#include "sim/programs/program.h"
#include "wire/report.h"

enum {
    PAGE = 4096,
    PLAN_BYTES = 1024 * 1024, /* a node's; what is not used is no memory */
    SIGNAL_STACK_BYTES = 64 * 1024,
    SP = 13,           /* where the report of a fault has a program's stack pointer, */
    PC = 15,           /* and where it was */
    ERROR_FETCH = 16,  /* of a page fault: it was an instruction */
    ERROR_BITS = 0x1f, /* what of its error code is told, */
    ELSEWHERE = 0x80   /* and that the address is outside the window, registers 0 and 1 */
};

static const uint64_t window_bytes = UINT64_C(1) << 32;

/* A rank. What the program knows of it is the gate. */
struct rank {
    struct ecube_gate gate;
    struct fiber fiber;
    uint8_t *window;
    int32_t result;
    struct program_step step;
    struct fault fault;
    bool loaded;       /* its file is mapped over what was downloaded */
    bool left;         /* it was interrupted */
    atomic_int thread; /* that runs it; 0: none */
    uint32_t stack_base;
    uintptr_t pc, sp, frame; /* where it was then, or at its fault */
};

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum {
    SIGNALS = sizeof signals / sizeof signals[0],
    SIGNAL_LEAVE = SIGURG /* is ignored by who does not know it */
};

struct native {
    const struct native_program *program;
    void *map; /* of the windows */
    size_t map_bytes;
    uint8_t *plans;             /* memory for them, of all nodes */
    int images[PARTITIONS_MAX]; /* what their nodes are sent; -1: each keeps its own */
    struct rank *ranks;
    uint32_t count;
};

/* The rank that runs in this thread, and the thread's number; 0: it is not ready for faults. */
static _Thread_local struct rank *volatile running;
static _Thread_local pid_t own_thread;

/* Of the process: what its signals did before, for how many simulations they are ours, the one that
 * native_interrupt is about, and whether its ranks are to be left. */
static struct sigaction before[SIGNALS];
static unsigned users;
static _Atomic(struct native *) present;
static atomic_bool interrupted;

static uint32_t pages_end(uint32_t address)
{
    return (address + PAGE - 1) / PAGE * PAGE;
}

static bool is_inside(const struct rank *own, uintptr_t address)
{
    return address - (uintptr_t)own->window < window_bytes;
}

/* The gate ------------------------------------------------------------------------------------ */

/* Nothing of the thread is known here: the rank may go on in another. */
static int32_t gate_call(struct ecube_gate *gate, uint32_t number, uint32_t first, uint32_t second,
                         uint32_t third)
{
    struct rank *own = (struct rank *)gate;

    own->step = (struct program_step){
        .kind = STEP_CALL, .number = number, .arguments = {first, second, third}};
    fiber_leave(&own->fiber);
    return own->result;
}

/* Whom it is told by is the one whose frame lies above this one. */
static void gate_trap(struct ecube_gate *gate, enum ecube_trap trap, const uint32_t words[4])
{
    static const uint32_t kinds[] = {[ECUBE_TRAP_SIGNAL] = FAULT_SIGNAL,
                                     [ECUBE_TRAP_ERROR] = FAULT_ERROR,
                                     [ECUBE_TRAP_FINDING] = FAULT_FINDING};
    struct rank *own = (struct rank *)gate;
    const uintptr_t *frame = __builtin_frame_address(0);

    own->step = (struct program_step){.kind = STEP_FAULT};
    own->fault = (struct fault){.kind = kinds[trap]};
    own->frame = frame[0];
    own->pc = frame[1] - 1;
    own->sp = (uintptr_t)(frame + 2);
    memcpy(own->fault.registers, words, 4 * sizeof words[0]);
    own->fault.registers[PC] = (uint32_t)own->pc;
    /* the report carries the stack from here on: what the words tell of lies on it */
    own->fault.registers[SP] = trap == ECUBE_TRAP_ERROR     ? words[2]
                               : trap == ECUBE_TRAP_FINDING ? words[0]
                                                            : (uint32_t)own->sp;
    for (;;) {
        fiber_leave(&own->fiber);
    }
}

/* Faults -------------------------------------------------------------------------------------- */

/* Whether a signal has come while a rank ran, and not the simulator on its behalf. */
static bool is_rank(const struct rank *own, const greg_t *registers)
{
    return own && (is_inside(own, (uintptr_t)registers[REG_RIP]) ||
                   is_inside(own, (uintptr_t)registers[REG_RSP]));
}

static void note_place(struct rank *own, const greg_t *registers)
{
    own->pc = (uintptr_t)registers[REG_RIP];
    own->sp = (uintptr_t)registers[REG_RSP];
    own->frame = (uintptr_t)registers[REG_RBP];
}

static uint32_t kind_of(const struct rank *own, int number, const greg_t *registers,
                        uintptr_t address)
{
    bool fetches = registers[REG_ERR] & ERROR_FETCH || address == (uintptr_t)registers[REG_RIP];

    switch (number) {
    case SIGFPE: return FAULT_DIVIDE;
    case SIGILL: return FAULT_UNDEFINED;
    case SIGTRAP: return FAULT_PREFETCH;
    default:
        if (fetches) {
            return FAULT_PREFETCH;
        }
        return is_inside(own, address) && (uint32_t)address < own->stack_base &&
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

/* The rank is left for ever. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    struct rank *own = running;

    if (!is_rank(own, registers)) {
        signal_before(number); /* the fault comes again, and is the simulator's own */
        return;
    }
    bool accessed = number == SIGSEGV || number == SIGBUS;
    uintptr_t address = (uintptr_t)(accessed ? info->si_addr : (void *)registers[REG_RIP]);
    note_place(own, registers);
    own->step = (struct program_step){.kind = STEP_FAULT};
    own->fault = (struct fault){.kind = kind_of(own, number, registers, address),
                                .address = (uint32_t)address,
                                .status_register = (uint32_t)registers[REG_TRAPNO] << 8 |
                                                   ((uint32_t)registers[REG_ERR] & ERROR_BITS)};
    if (accessed && !is_inside(own, address) && address >= window_bytes) {
        own->fault.status_register |= ELSEWHERE;
        own->fault.registers[0] = (uint32_t)address;
        own->fault.registers[1] = (uint32_t)(address >> 32);
    }
    own->fault.registers[PC] = (uint32_t)own->pc;
    own->fault.registers[SP] = (uint32_t)own->sp;
    fiber_leave(&own->fiber);
}

/* Likewise, because nobody waits for it any more. */
static void on_leave(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    struct rank *own = running;

    (void)number;
    (void)info;
    if (!is_rank(own, registers)) {
        return;
    }
    note_place(own, registers);
    own->left = true;
    own->step = (struct program_step){.kind = STEP_PAUSE, .until_ns = UINT64_MAX};
    fiber_leave(&own->fiber);
}

static void take_signals(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    if (users++) {
        return;
    }
    atomic_store(&interrupted, false);
    action.sa_sigaction = on_fault;
    for (unsigned i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &action, &before[i]);
    }
    action.sa_sigaction = on_leave;
    sigaction(SIGNAL_LEAVE, &action, NULL);
}

static void give_signals_back(void)
{
    for (unsigned i = 0; i < SIGNALS && users == 1; i++) {
        sigaction(signals[i], &before[i], NULL);
    }
    users--;
}

/* A stack for the handlers: that of a rank may be what is at fault. It is the thread's for ever. */
static void prepare_thread(void)
{
    static _Thread_local uint8_t stack[SIGNAL_STACK_BYTES];

    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    own_thread = gettid();
}

void native_interrupt(void)
{
    struct native *native = atomic_load(&present);

    atomic_store(&interrupted, true);
    for (uint32_t rank = 0; native && rank < native->count; rank++) {
        pid_t thread = atomic_load(&native->ranks[rank].thread);
        if (thread) {
            tgkill(getpid(), thread, SIGNAL_LEAVE);
        }
    }
}

bool native_interrupted(const struct sim *sim, uint32_t *rank)
{
    for (uint32_t i = 0; sim->native && i < sim->count; i++) {
        if (sim->native->ranks[i].left) {
            *rank = i;
            return true;
        }
    }
    return false;
}

/* Memory -------------------------------------------------------------------------------------- */

/* Where the file's pages will lie, the nodes of a partition share memory: all of them are sent the
 * same bytes. Not where bytes can be damaged, for each node checks its own. */
static bool map_image(const struct sim *sim, uint32_t rank)
{
    const struct native_program *program = sim->native->program;
    int file = sim->native->images[sim->actors[rank].partition];

    return file < 0 || mmap(sim->native->ranks[rank].window + program->image_base,
                            pages_end(program->file_end) - program->image_base,
                            PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
}

static bool map_memory(const struct sim *sim, uint32_t rank)
{
    const struct native_program *program = sim->native->program;

    return mmap(sim->native->ranks[rank].window + program->stack_base,
                program->end - program->stack_base, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED &&
           map_image(sim, rank);
}

static void make_images(struct sim *sim)
{
    const struct native_program *program = sim->native->program;
    bool shared = !sim->damages && !sim->options.payload_checked;

    for (unsigned i = 0; i < PARTITIONS_MAX; i++) {
        int *file = &sim->native->images[i];
        *file = shared && i < sim->partition_count ? memfd_create("ecube-image", MFD_CLOEXEC) : -1;
        if (*file >= 0 &&
            ftruncate(*file, pages_end(program->file_end) - program->image_base) != 0) {
            close(*file);
            *file = -1;
        }
    }
}

static void *reserve(size_t bytes, int rights)
{
    void *map = mmap(NULL, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return map == MAP_FAILED ? NULL : map;
}

static bool make_windows(struct sim *sim)
{
    struct native *native = sim->native;

    native->map_bytes = (sim->count + 1) * window_bytes;
    native->map = reserve(native->map_bytes, PROT_NONE);
    uintptr_t first = ((uintptr_t)native->map + window_bytes - 1) & ~(uintptr_t)(window_bytes - 1);
    bool good = native->map != NULL;

    for (uint32_t rank = 0; rank < sim->count && good; rank++) {
        native->ranks[rank] = (struct rank){.gate = {gate_call, gate_trap},
                                            .window = (uint8_t *)first + rank * window_bytes,
                                            .stack_base = native->program->stack_base};
        good = map_memory(sim, rank);
    }
    return good;
}

bool native_make(struct sim *sim)
{
    struct native *native = sim->native = calloc(1, sizeof *native);

    if (!native || !(native->ranks = calloc(sim->count, sizeof *native->ranks))) {
        return false;
    }
    native->count = sim->count;
    native->program = sim->options.native;
    take_signals();
    atomic_store(&present, native);
    native->plans = reserve((size_t)sim->count * PLAN_BYTES, PROT_READ | PROT_WRITE);
    make_images(sim);
    return native->plans && make_windows(sim);
}

void native_free(struct sim *sim)
{
    struct native *native = sim->native;

    if (!native) {
        return;
    }
    atomic_store(&present, NULL);
    if (native->ranks) {
        give_signals_back();
    }
    for (uint32_t rank = 0; native->ranks && rank < sim->count; rank++) {
        fiber_end(&native->ranks[rank].fiber);
    }
    if (native->map) {
        munmap(native->map, native->map_bytes);
    }
    if (native->plans) {
        munmap(native->plans, (size_t)sim->count * PLAN_BYTES);
    }
    for (unsigned i = 0; native->program && i < PARTITIONS_MAX; i++) {
        if (native->images[i] >= 0) {
            close(native->images[i]);
        }
    }
    free(native->ranks);
    free(native);
}

void native_place(const struct sim *sim, uint32_t rank, struct node_config *config)
{
    const struct native_program *program = sim->native->program;

    config->program = sim->native->ranks[rank].window + program->stack_base;
    config->program_address = program->stack_base;
    config->program_bytes = program->end - program->stack_base;
    config->blocks_address = program->blocks_base;
    config->image_address = program->image_base;
    config->plans = sim->native->plans + (size_t)rank * PLAN_BYTES;
    config->plan_bytes = PLAN_BYTES;
}

bool native_unload(struct sim *sim)
{
    bool good = true;

    for (uint32_t rank = 0; rank < sim->count && good; rank++) {
        struct rank *own = &sim->native->ranks[rank];
        good = !own->loaded || map_memory(sim, rank);
        own->loaded = false;
    }
    return good;
}

static void relocate(const struct native_program *program, uint8_t *window)
{
    for (uint32_t i = 0; i < program->relocation_count; i++) {
        const struct native_relocation *relocation = &program->relocations[i];
        uint64_t value = relocation->value + (relocation->pointer ? (uintptr_t)window : 0);
        memcpy(window + relocation->address, &value, sizeof value);
    }
}

/* Code and constants are the file's, for all ranks; data is a copy. Behind the file's data the rest
 * of its last page has whatever the file has there. */
static bool map_file(const struct native_program *program, uint8_t *window)
{
    for (unsigned i = 0; i < NATIVE_SEGMENTS; i++) {
        const struct native_segment *segment = &program->segments[i];
        int rights = segment->writes ? PROT_READ | PROT_WRITE : PROT_READ | PROT_EXEC;
        if (segment->bytes > 0 &&
            mmap(window + segment->address, segment->bytes, rights, MAP_PRIVATE | MAP_FIXED,
                 program->file, segment->file_at) == MAP_FAILED) {
            return false;
        }
    }
    memset(window + program->file_end, 0, pages_end(program->file_end) - program->file_end);
    relocate(program, window);
    return true;
}

/* Turns --------------------------------------------------------------------------------------- */

static void begin(struct sim *sim, uint32_t rank, const struct node_start *start)
{
    const struct native_program *program = sim->native->program;
    struct rank *own = &sim->native->ranks[rank];

    own->loaded = true;
    if (!map_file(program, own->window)) {
        sim_partition(sim, rank)->no_memory = true;
        return;
    }
    fiber_end(&own->fiber);
    fiber_make(&own->fiber, own->window + start->stack_top, (uintptr_t)own->window + start->entry,
               (uintptr_t)own->window + start->block, start->block_bytes, (uintptr_t)&own->gate);
}

static struct program_step next(struct sim *sim, uint32_t rank)
{
    struct rank *own = &sim->native->ranks[rank];

    if (!own_thread) {
        prepare_thread();
    }
    if (!own->fiber.stack || atomic_load_explicit(&interrupted, memory_order_relaxed)) {
        return (struct program_step){.kind = STEP_PAUSE, .until_ns = UINT64_MAX};
    }
    own->result = sim->tasks[rank].result;
    running = own;
    atomic_store_explicit(&own->thread, own_thread, memory_order_relaxed);
    fiber_enter(&own->fiber);
    atomic_store_explicit(&own->thread, 0, memory_order_relaxed);
    running = NULL;
    return own->step;
}

static struct fault fault(struct sim *sim, uint32_t rank)
{
    return sim->native->ranks[rank].fault;
}

const struct program_source native_source = {.begin = begin, .next = next, .fault = fault};

/* Calls --------------------------------------------------------------------------------------- */

/* A word of the stack of a rank; false: it is not one. */
static bool read_stack(const struct native_program *program, const struct rank *own, uintptr_t at,
                       uintptr_t *word)
{
    uintptr_t offset = at - (uintptr_t)own->window;

    if (at % sizeof *word || offset < program->stack_base ||
        offset > program->blocks_base - sizeof *word) {
        return false;
    }
    memcpy(word, (const void *)at, sizeof *word);
    return true;
}

static bool is_code(const struct native_program *program, const struct rank *own, uintptr_t at)
{
    uintptr_t offset = at - (uintptr_t)own->window;

    return offset >= program->segments[0].address &&
           offset - program->segments[0].address < program->segments[0].bytes;
}

/* A function begins with push %rbp, mov %rsp, %rbp: a fault there, or where no code is, comes
 * before the frame. Where its return address lies then; 0: there is a frame. */
static uintptr_t frameless(const struct native_program *program, const struct rank *own)
{
    static const uint8_t push[] = {0x55}, move[] = {0x48, 0x89, 0xe5};

    if (!is_code(program, own, own->pc) || !is_code(program, own, own->pc + 3) ||
        memcmp((const void *)own->pc, push, sizeof push) == 0) {
        return own->sp;
    }
    return memcmp((const void *)own->pc, move, sizeof move) == 0 ? own->sp + 8 : 0;
}

unsigned native_calls(const struct sim *sim, uint32_t rank, uint32_t *addresses, unsigned room)
{
    const struct native_program *program = sim->native->program;
    const struct rank *own = &sim->native->ranks[rank];
    uintptr_t frame = own->frame, at = frameless(program, own), back;
    unsigned count = 0;

    addresses[count++] = (uint32_t)own->pc;
    if (at && read_stack(program, own, at, &back) && is_code(program, own, back - 1) &&
        count < room) {
        addresses[count++] = (uint32_t)(back - 1);
    }
    while (count < room && read_stack(program, own, frame + sizeof back, &back) &&
           is_code(program, own, back - 1)) {
        uintptr_t above;
        addresses[count++] = (uint32_t)(back - 1);
        if (!read_stack(program, own, frame, &above) || above <= frame) {
            break;
        }
        frame = above;
    }
    return count;
}
