#include "tests/jtag/fake_core.h"

#include <string.h>

enum { MMU = 1, WORD = 4, VECTOR_UNDEFINED = 4, VECTOR_SVC = 8, VECTOR_PREFETCH = 12 };
enum { CLEAR_INTERRUPTS = 0x80, PC_OF_RESET = FAKE_RAM + 0x200 };

static uint32_t cpsr_of(const struct fake_core *core)
{
    return (uint32_t)core->registers[REGISTER_CPSR];
}

static bool is_user(const struct fake_core *core)
{
    return (cpsr_of(core) & CPSR_MODE) == MODE_USER;
}

static uint64_t *shown(struct fake_core *core, unsigned n)
{
    if (n == CORE_FRAME_CPSR) {
        return &core->registers[REGISTER_CPSR];
    }
    return &core->registers[register_in_mode(register_mode(cpsr_of(core)), n)];
}

void fake_core_init(struct fake_core *core)
{
    *core = (struct fake_core){.running = true, .fail_at = FAKE_NEVER, .fail_kind = FAKE_NEVER};
    for (unsigned i = 0; i < REGISTER_COUNT; i++) {
        core->registers[i] = 0x1000 + i;
    }
    core->registers[REGISTER_PC] = PC_OF_RESET;
    core->registers[REGISTER_CPSR] = 0x60000000 | MODE_SUPERVISOR;
    core->registers[REGISTER_SCTLR] = 0x1805;
    core->registers[REGISTER_VBAR] = FAKE_VECTORS;
}

/* Where an address lies in ram; FAKE_RAM_BYTES: nowhere. */
static uint32_t physical(uint32_t address, uint8_t bytes)
{
    uint32_t at = address - FAKE_RAM;

    return at < FAKE_RAM_BYTES && at + bytes <= FAKE_RAM_BYTES ? at : FAKE_RAM_BYTES;
}

static uint32_t virtual(const struct fake_core *core, uint32_t address, uint8_t bytes)
{
    if (core->registers[REGISTER_SCTLR] & MMU && address - FAKE_ALIAS < FAKE_RAM_BYTES) {
        address += FAKE_RAM - FAKE_ALIAS;
    }
    return physical(address, bytes);
}

static bool access_ram(struct fake_core *core, struct core_op *op, uint32_t at, bool write)
{
    if (at == FAKE_RAM_BYTES) {
        return false;
    }
    if (write && at - (core->rom - FAKE_RAM) < FAKE_PAGE) {
        return true;
    }
    if (write) {
        memcpy(&core->ram[at], &op->value, op->bytes);
    } else {
        op->value = 0;
        memcpy(&op->value, &core->ram[at], op->bytes);
    }
    return true;
}

uint32_t fake_core_word(const struct fake_core *core, uint32_t address)
{
    uint32_t word;

    memcpy(&word, &core->ram[address - FAKE_RAM], sizeof word);
    return word;
}

void fake_core_set_word(struct fake_core *core, uint32_t address, uint32_t word)
{
    memcpy(&core->ram[address - FAKE_RAM], &word, sizeof word);
}

static void take_exception(struct fake_core *core, enum processor_mode mode, uint32_t vector)
{
    uint32_t cpsr = cpsr_of(core);
    uint32_t base = (uint32_t)core->registers[REGISTER_VBAR];

    core->registers[register_sp(mode) + BANK_LR] = core->registers[REGISTER_PC] + WORD;
    core->registers[register_sp(mode) + BANK_SPSR] = cpsr;
    core->registers[REGISTER_CPSR] =
        (cpsr & ~(uint32_t)(CPSR_MODE | CPSR_STATE)) | mode | CLEAR_INTERRUPTS;
    core->registers[REGISTER_PC] = base + vector;
}

static void run_system(struct fake_core *core, uint32_t code)
{
    enum register_number number =
        register_of_system(code >> 21 & 7, code >> 16 & 15, code & 15, code >> 5 & 7);

    if (number == REGISTER_NONE || is_user(core)) {
        take_exception(core, MODE_UNDEFINED, VECTOR_UNDEFINED);
        return;
    }
    if (code >> 20 & 1) {
        *shown(core, code >> 12 & 15) = core->registers[number];
    } else {
        core->registers[number] = (uint32_t)*shown(core, code >> 12 & 15);
    }
    core->registers[REGISTER_PC] += WORD;
}

static void run(struct fake_core *core, uint32_t code)
{
    enum register_number spsr = register_spsr(register_mode(cpsr_of(core)));

    if ((code & 0xff000f10) == 0xee000f10) {
        run_system(core, code);
        return;
    }
    if (code >> 24 == 0xef) {
        take_exception(core, MODE_SUPERVISOR, VECTOR_SVC);
        return;
    }
    if (code == 0xe7f000f0) {
        take_exception(core, MODE_UNDEFINED, VECTOR_UNDEFINED);
        return;
    }
    if (code == 0xe14f0000 && spsr != REGISTER_NONE) {
        core->registers[REGISTER_R0] = core->registers[spsr];
    }
    if (code == 0xe16ff000 && spsr != REGISTER_NONE) {
        core->registers[spsr] = (uint32_t)core->registers[REGISTER_R0];
    }
    if ((code & 0xfff0f000) == 0xe2800000) { /* ADD r0, rn, #immediate */
        core->registers[REGISTER_R0] = (uint32_t)(*shown(core, code >> 16 & 15) + (code & 0xff));
    }
    core->registers[REGISTER_PC] += WORD;
}

static void step(struct fake_core *core)
{
    uint32_t pc = (uint32_t)core->registers[REGISTER_PC];
    bool mmu = core->registers[REGISTER_SCTLR] & MMU;
    uint32_t at = virtual(core, pc, WORD), code;

    core->steps++;
    if (at == FAKE_RAM_BYTES || (mmu && !is_user(core) && at >= FAKE_USER - FAKE_RAM)) {
        take_exception(core, MODE_ABORT, VECTOR_PREFETCH);
        return;
    }
    memcpy(&code, &core->ram[at], sizeof code);
    if (cpsr_of(core) & CPSR_THUMB) {
        core->registers[REGISTER_PC] += WORD / 2;
    } else {
        run(core, code);
    }
}

static uint64_t *find_named(struct fake_core *core, const char *name)
{
    for (unsigned n = 0; n < CORE_FRAME_REGISTERS; n++) {
        if (strcmp(name, register_name(n)) == 0) {
            return shown(core, n);
        }
    }
    for (unsigned i = REGISTER_D0; i < REGISTER_COUNT; i++) {
        if (strcmp(name, register_name(i)) == 0) {
            return &core->registers[i];
        }
    }
    return NULL;
}

static bool write_named(struct fake_core *core, const struct core_op *op)
{
    uint64_t *place = find_named(core, op->name);
    uint64_t value = op->value;

    if (!place || (place >= &core->registers[REGISTER_SCTLR])) { /* those are read only */
        return false;
    }
    if (place < &core->registers[REGISTER_D0]) {
        value = (uint32_t)value;
    }
    if (place == &core->registers[REGISTER_CPSR] && is_user(core)) {
        value = (value & ~(uint64_t)CPSR_MODE) | MODE_USER;
    }
    *place = value;
    return true;
}

static bool read_named(struct fake_core *core, struct core_op *op)
{
    uint64_t *place = find_named(core, op->name);

    if (place) {
        op->value = *place;
    }
    return place;
}

static bool read_frame(struct fake_core *core, struct core_op *op)
{
    for (unsigned n = 0; n < CORE_FRAME_REGISTERS; n++) {
        op->frame[n] = (uint32_t)*shown(core, n);
    }
    return true;
}

static unsigned find_point(const struct fake_core *core, enum core_point point, uint32_t address,
                           uint8_t bytes)
{
    unsigned i = 0;

    while (i < core->point_count &&
           (core->points[i].point != point || core->points[i].address != address ||
            core->points[i].bytes != bytes)) {
        i++;
    }
    return i;
}

bool fake_core_has(const struct fake_core *core, enum core_point point, uint32_t address,
                   uint8_t bytes)
{
    return find_point(core, point, address, bytes) < core->point_count;
}

static bool add_point(struct fake_core *core, const struct core_op *op)
{
    if (core->point_count == FAKE_POINTS) {
        return false;
    }
    core->points[core->point_count++] = (struct fake_point){op->point, op->address, op->bytes};
    return true;
}

static bool remove_point(struct fake_core *core, const struct core_op *op)
{
    unsigned i = find_point(core, op->point, op->address, op->bytes);

    if (i == core->point_count) {
        return false;
    }
    core->points[i] = core->points[--core->point_count];
    return true;
}

static bool reset(struct fake_core *core)
{
    core->resets++;
    core->running = false;
    core->registers[REGISTER_PC] = PC_OF_RESET;
    core->registers[REGISTER_CPSR] = MODE_SUPERVISOR;
    return true;
}

static bool perform(struct fake_core *core, struct core_op *op)
{
    switch (op->kind) {
    case CORE_HALT: core->running = false; return true;
    case CORE_RESUME:
        core->running = true;
        core->keep = op->keep;
        return true;
    case CORE_STEP: step(core); return true;
    case CORE_RESET: return reset(core);
    case CORE_READ_FRAME: return read_frame(core, op);
    case CORE_READ_REGISTER: return read_named(core, op);
    case CORE_WRITE_REGISTER: return write_named(core, op);
    case CORE_READ_MEMORY:
    case CORE_WRITE_MEMORY:
        return access_ram(core, op, virtual(core, op->address, op->bytes),
                          op->kind == CORE_WRITE_MEMORY);
    case CORE_READ_BUS:
    case CORE_WRITE_BUS:
        return access_ram(core, op, physical(op->address, op->bytes), op->kind == CORE_WRITE_BUS);
    case CORE_ADD_POINT: return add_point(core, op);
    case CORE_REMOVE_POINT: return remove_point(core, op);
    }
    return false;
}

void fake_core_do(struct fake_core *core, struct core_op *op)
{
    bool any_time = op->kind == CORE_HALT || op->kind == CORE_RESET || op->kind == CORE_READ_BUS ||
                    op->kind == CORE_WRITE_BUS;
    bool fails = core->fail_at == (int)core->ops || core->fail_kind == (int)op->kind;

    if (core->fail_at == (int)core->ops) {
        core->failed = op->kind;
    }
    core->ops++;
    if (core->running && !any_time) {
        core->mistakes++;
    }
    op->failed = fails || !perform(core, op);
}
