/*
 * debug_fuzz.c - the debug unit of a node, with the fuzzer as two debuggers, as whatever stops the
 * node, and as a back end that fails.
 *
 * What must hold: every access ends after a bounded number of operations; none is asked of a
 * running processor that cannot be done then; the unit and the processor agree whether it runs; one
 * access changes at most the word that it is to change; and while nothing fails, a halted
 * processor's registers stay as they are until it is told to go on.
 */
#include <string.h>

#include "drivers/check.h"
#include "fuzz/fuzz.h"
#include "fuzz/input.h"
#include "jtag/core/debug_unit.h"
#include "tests/jtag/fake_core.h"

enum { OPS_MAX = 400, CLIENTS = 2, JOURNAL_MAX = 4 * OPS_MAX };

enum operation {
    OP_WRITE,
    OP_EXECUTE,
    OP_DATA,
    OP_READ,
    OP_BUS,
    OP_STOP,
    OP_FAIL,
    OP_LEAVE,
    OP_RESET,
    OP_PROCESSOR,
    OP_PLACE,
    OPERATIONS
};

struct old_byte {
    uint32_t offset;
    uint8_t byte;
};

struct world {
    struct fake_core core;
    struct debug_unit unit;
    struct input input;
    struct old_byte journal[JOURNAL_MAX];
    unsigned journaled;
    bool failed;       /* an operation has, ever */
    bool write_failed; /* one that writes memory, in this access */
};

static const char clients[CLIENTS];

static const uint16_t registers_written[] = {
    0x080, 0x084, 0x088, 0x090, 0x01c, 0x028, 0x100, 0x104, 0x140, 0x144, 0x114, 0x154, 0x118,
    0x180, 0x184, 0x1c0, 0x1c4, 0x1c8, 0x1d0, 0x300, 0x310, 0xfb0, 0xfff, 0x08c, 0x314};

static const uint32_t values[] = {
    0,        1,          2,          4,          6,          7,          0x2000,
    0x6000,   0x202000,   0x206000,   0x106000,   0x1e7,      0x67,       0x187,
    0x4001e7, 0x2001e7,   0x5001e7,   0x1ff,      0x60001ff,  0x1f0001ff, 0x3ff,
    FAKE_RAM, 0xe1200070, 0xe1200171, 0xbe11be11, 0xbe00be00, 0xffffffff, FAKE_RAM + 0x300};

static const uint32_t instructions[] = {
    0xee000e15, 0xee100e15, 0xee001e15, 0xee101e15, 0xee00de15, 0xee10de15, 0xee00ee15, 0xee10ee15,
    0xee008e15, 0xee108e15, 0xe1a0000f, 0xe1a0f000, 0xe12fff10, 0xe10f0000, 0xe14f0000, 0xe12ff000,
    0xe16ff000, 0xecb05e01, 0xeca05e01, 0xe4901004, 0xe0d010b2, 0xe4d01001, 0xe4801004, 0xe0c010b2,
    0xe4c01001, 0xee110f10, 0xee010f10, 0xee150f10, 0xee050f10, 0xee030f10, 0xee020f10, 0xee120f10,
    0xec510b10, 0xec410b30, 0xeef10a10, 0xeee10a10, 0xf57ff06f, 0xee070f95, 0xe2820003, 0xe7f000f0,
    0xef000000, 0xee000f15, 0xee070f18, 0xe28dd004};

static const uint32_t statuses[] = {0x10, 0x11,       0x12, 0x13,       0x17, 0x1b,
                                    0x1f, 0x60000013, 0x30, 0x2000001f, 0,    0xffffffff};

static void note_write(struct world *world, const struct core_op *op)
{
    uint32_t address = op->address - FAKE_RAM;

    if (address >= FAKE_RAM_BYTES) {
        address = op->address - FAKE_ALIAS;
    }
    for (uint32_t i = address; i < address + op->bytes && i < FAKE_RAM_BYTES; i++) {
        CHECK(world->journaled < JOURNAL_MAX);
        world->journal[world->journaled++] = (struct old_byte){i, world->core.ram[i]};
    }
}

static void drain(struct world *world)
{
    struct core_op *op;

    for (unsigned i = 0; (op = debug_unit_wants(&world->unit)) != NULL; i++) {
        CHECK(i < OPS_MAX && debug_unit_wants(&world->unit) == op);
        bool write = op->kind == CORE_WRITE_MEMORY || op->kind == CORE_WRITE_BUS;
        if (write) {
            note_write(world, op);
        }
        unsigned before = world->core.ops;
        fake_core_do(&world->core, op);
        if (op->failed && world->core.fail_at == (int)before) {
            world->failed = true;
            world->write_failed |= write;
        }
        debug_unit_did(&world->unit);
    }
}

/* What each byte that was written had before, is it again, but for those of one word. */
static void check_memory(const struct world *world)
{
    uint32_t lowest = FAKE_RAM_BYTES, highest = 0;

    for (unsigned i = world->journaled; i-- > 0;) {
        const struct old_byte *old = &world->journal[i];
        bool first = true;
        for (unsigned j = 0; j < i && first; j++) {
            first = world->journal[j].offset != old->offset;
        }
        if (!first || world->core.ram[old->offset] == old->byte) {
            continue;
        }
        lowest = old->offset < lowest ? old->offset : lowest;
        highest = old->offset > highest ? old->offset : highest;
    }
    CHECK(world->write_failed || lowest > highest || highest - lowest < 4);
}

static void check_world(const struct world *world)
{
    const struct debug_unit *unit = &world->unit;

    CHECK(world->core.mistakes == 0);
    CHECK(world->core.running == !(debug_unit_halted(unit) || debug_unit_lost(unit)));
    CHECK(!(debug_unit_halted(unit) && debug_unit_lost(unit)));
    CHECK(!world->core.running || world->core.keep || debug_unit_owner(unit) == NULL);
    check_memory(world);
}

/* r0 to r14 of all modes, PC and CPSR; what exceptions leave behind is not among them. */
static bool stays(enum register_number number)
{
    enum { IN_BANK = 3 };

    return number < REGISTER_SP_FIQ || (number - REGISTER_SP_FIQ) % IN_BANK == 0;
}

static void check_registers(const struct world *world, const uint64_t before[])
{
    for (unsigned i = 0; i < REGISTER_D0; i++) {
        CHECK(!stays(i) || world->core.registers[i] == before[i]);
    }
}

static void access(struct world *world, struct access access)
{
    uint64_t before[REGISTER_COUNT];
    bool stood = debug_unit_halted(&world->unit) && !world->failed;
    bool goes = access.space == ACCESS_DEBUG && access.write &&
                (access.address == 0x090 || access.address == 0x310);

    memcpy(before, world->core.registers, sizeof before);
    world->journaled = 0;
    world->write_failed = false;
    debug_unit_access(&world->unit, &clients[input_u8(&world->input) % 16 == 0], &access);
    drain(world);
    check_world(world);
    if (stood && !goes && !world->failed) {
        check_registers(world, before);
    }
}

static uint32_t pick(struct input *input, const uint32_t from[], unsigned count)
{
    uint8_t which = input_u8(input);

    return which < count ? from[which] : input_u32(input);
}

#define PICK(input, from) pick(input, from, sizeof(from) / sizeof(from)[0])

static uint32_t pick_address(struct input *input)
{
    static const uint32_t bases[] = {FAKE_RAM,
                                     FAKE_RAM + 0x200,
                                     FAKE_RAM + 0x1000,
                                     FAKE_ALIAS + 0x1000,
                                     FAKE_RAM + FAKE_RAM_BYTES - 8,
                                     0};
    uint8_t which = input_u8(input);

    return bases[which % (sizeof bases / sizeof bases[0])] + which / 16;
}

static void put(struct world *world, uint32_t address, uint32_t value)
{
    access(world, (struct access){ACCESS_DEBUG, .write = true, .bytes = 4, .address = address,
                                  .value = value});
}

static void write_any(struct world *world)
{
    uint8_t which = input_u8(&world->input);
    uint32_t count = sizeof registers_written / sizeof registers_written[0];

    put(world, registers_written[which % count], PICK(&world->input, values));
}

static void use_bus(struct world *world)
{
    uint8_t how = input_u8(&world->input);
    uint32_t address = pick_address(&world->input);

    access(world, (struct access){ACCESS_BUS, .write = how & 1, .bytes = (uint8_t)(how >> 1 & 7),
                                  .address = address, .value = PICK(&world->input, values)});
}

static void stop(struct world *world)
{
    uint8_t why = input_u8(&world->input) % 3;

    if (!world->core.running || !world->core.keep) {
        return;
    }
    world->core.running = false;
    debug_unit_stopped(&world->unit, (enum core_stop)why, FAKE_RAM);
}

static void leave(struct world *world)
{
    world->journaled = 0;
    world->write_failed = false;
    debug_unit_leave(&world->unit, &clients[input_u8(&world->input) % CLIENTS]);
    drain(world);
    check_world(world);
}

/* The program goes on, as far as it is not held. */
static void change_processor(struct world *world)
{
    uint32_t cpsr = statuses[input_u8(&world->input) % 10];
    uint32_t pc = pick_address(&world->input);

    if (!world->core.running) {
        return;
    }
    world->core.registers[REGISTER_CPSR] = cpsr;
    world->core.registers[REGISTER_PC] = pc;
    world->core.registers[REGISTER_SCTLR] = input_u8(&world->input) & 1;
}

static void operate(struct world *world)
{
    struct input *input = &world->input;
    uint32_t address;

    switch ((enum operation)(input_u8(input) % OPERATIONS)) {
    case OP_WRITE: write_any(world); return;
    case OP_EXECUTE: put(world, 0x084, PICK(input, instructions)); return;
    case OP_DATA: put(world, 0x080, PICK(input, statuses)); return;
    case OP_READ:
        address = input_u16(input) & 0xffff;
        access(world, (struct access){ACCESS_DEBUG, .bytes = 4, .address = address});
        return;
    case OP_BUS: use_bus(world); return;
    case OP_STOP: stop(world); return;
    case OP_FAIL: world->core.fail_at = (int)world->core.ops + input_u8(input) % 32; return;
    case OP_LEAVE: leave(world); return;
    case OP_RESET: debug_unit_was_reset(&world->unit); return;
    case OP_PROCESSOR: change_processor(world); return;
    case OP_PLACE: put(world, 0x080, pick_address(input)); return;
    case OPERATIONS: return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct debug_board board = {FAKE_RAM, FAKE_RAM_BYTES};
    static struct world world;

    if (size > FUZZ_INPUT_MAX) {
        return 0;
    }
    world.failed = false;
    world.input = (struct input){data, size};
    fake_core_init(&world.core);
    debug_unit_init(&world.unit, &board);
    while (world.input.left > 0) {
        operate(&world);
    }
    return 0;
}
