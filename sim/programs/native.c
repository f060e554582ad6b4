/*
 * native.c - native programs: where a rank's memory lies, how its file gets there, and how it and
 * the simulator take turns.
 *
 *     pump: next ----> native_enter ----> the program goes on
 *                                            |  calls through the gate, traps, or faults
 *     pump: the step <---- fiber_leave <-----+
 *
 * The image that is downloaded is what the file maps, byte for byte; it is mapped over it when the
 * program starts, so that all ranks have the pages of code and constants in common.
 *
 * Source   mmap(2), memfd_create(2); proc(5), /proc/self/statm
 */
#include "sim/programs/native.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/core/actor.h"
#include "sim/core/several.h"
#include "sim/parallel/ranks.h"
#include "sim/programs/native_rank.h"
#include "wire/report.h"

enum {
    PAGE = 4096,
    PLAN_BYTES = 1024 * 1024 /* a node's; what is not used is no memory */
};

static uint32_t pages_end(uint32_t address)
{
    return (address + PAGE - 1) / PAGE * PAGE;
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
    own->fault = (struct fault){.kind = trap < sizeof kinds / sizeof kinds[0] && kinds[trap]
                                            ? kinds[trap]
                                            : FAULT_UNDEFINED};
    own->frame = frame[0];
    own->pc = frame[1] - 1;
    own->sp = (uintptr_t)(frame + 2);
    memcpy(own->fault.registers, words, 4 * sizeof words[0]);
    own->fault.registers[FAULT_PC] = (uint32_t)own->pc;
    /* the report carries the stack from here on: what the words tell of lies on it */
    own->fault.registers[FAULT_SP] = trap == ECUBE_TRAP_ERROR     ? words[2]
                                     : trap == ECUBE_TRAP_FINDING ? words[0]
                                                                  : (uint32_t)own->sp;
    for (;;) {
        fiber_leave(&own->fiber);
    }
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
        *file = shared && i - sim->own_first < sim->own_count
                    ? memfd_create("ecube-image", MFD_CLOEXEC)
                    : -1;
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
        if (sim_is_far(sim, rank)) {
            continue;
        }
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

    if (native) {
        native->taken_file = -1;
    }
    if (!native || !(native->ranks = calloc(sim->count, sizeof *native->ranks))) {
        return false;
    }
    native->count = sim->count;
    native->program = sim->options.native;
    native_faults_begin(native);
    native->taken_file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
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
    if (native->ranks) {
        native_faults_end();
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
    if (native->taken_file >= 0) {
        close(native->taken_file);
    }
    free(native->ranks);
    free(native->far);
    free(native);
}

void native_place(const struct sim *sim, uint32_t rank, struct node_config *config)
{
    const struct native_program *program = sim->native->program;

    config->program = sim->native->ranks[rank].window + program->stack_base;
    config->program_address = program->stack_base;
    config->program_bytes = program->end - program->stack_base;
    config->stack_top = program->stack_top;
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

/* Nor does a program write data that is read-only, as on a node. */
static bool protect_data(const struct node_start *start, uint8_t *window)
{
    return start->data_start == start->data_end ||
           mprotect(window + start->data_start, start->data_end - start->data_start, PROT_READ) ==
               0;
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
    own->left = false;
    if (!map_file(program, own->window) || !protect_data(start, own->window)) {
        sim_partition(sim, rank)->no_memory = true;
        return;
    }
    fiber_end(&own->fiber);
    fiber_make(&own->fiber, own->window + start->stack_top, (uintptr_t)own->window + start->entry,
               (uintptr_t)own->window + start->block, start->block_bytes, (uintptr_t)&own->gate);
}

/* Bytes that the process has taken; 0: the system does not say, and then there is no limit. */
static uint64_t taken_bytes(const struct native *native)
{
    char text[128];
    unsigned long long pages;
    ssize_t bytes = pread(native->taken_file, text, sizeof text - 1, 0);

    text[bytes > 0 ? bytes : 0] = '\0';
    return sscanf(text, "%*u %llu", &pages) == 1 ? pages * PAGE : 0;
}

/* Memory is taken by writing to it, which nobody is asked for. So it is looked at what is left, and
 * again after as many entries of ranks as could take that. */
static bool is_memory_left(struct sim *sim, unsigned partition)
{
    struct native *native = sim->native;
    const struct native_program *program = native->program;
    uint64_t most = (uint64_t)(program->end - program->stack_base) * sim->own_count;
    uint64_t all = program->memory_max / (sim->options.ranks ? sim->options.ranks->count : 1);

    if (all == 0 || native->unwatched[partition]-- > 0) {
        return true;
    }
    uint64_t taken = taken_bytes(native), left = all - taken;
    if (taken > all || left < most) {
        native->unwatched[partition] = 0;
        return false;
    }
    native->unwatched[partition] = (uint32_t)(left / most) - 1;
    return true;
}

static struct program_step next(struct sim *sim, uint32_t rank)
{
    struct rank *own = &sim->native->ranks[rank];
    struct partition *partition = sim_partition(sim, rank);

    if (!is_memory_left(sim, partition->number)) {
        partition->no_memory = true;
    }
    if (!own->fiber.stack || partition->no_memory) {
        return (struct program_step){.kind = STEP_PAUSE, .until_ns = UINT64_MAX};
    }
    own->result = sim->tasks[rank].result;
    native_enter(own);
    if (own->left) { /* whoever asks its node is told where it computes */
        node_interrupted(sim_node(sim, rank), (uint32_t)own->pc, 0);
        several_stopped_at(partition, rank);
    }
    return own->step;
}

static struct fault fault(struct sim *sim, uint32_t rank)
{
    return sim->native->ranks[rank].fault;
}

const struct program_source native_source = {.begin = begin, .next = next, .fault = fault};
