/*
 * The debug unit against a processor that is faked: the accesses are those that OpenOCD 0.12 makes
 * for an ARMv7-A target, in its order.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "jtag/core/debug_unit.h"
#include "tests/jtag/fake_core.h"

enum {
    DIDR = 0x000,
    WFAR = 0x018,
    VCR = 0x01c,
    DTRRX = 0x080,
    ITR = 0x084,
    DSCR = 0x088,
    DTRTX = 0x08c,
    DRCR = 0x090,
    BVR = 0x100,
    BCR = 0x140,
    WVR = 0x180,
    WCR = 0x1c0,
    OSLSR = 0x304,
    PRCR = 0x310,
    PRSR = 0x314,
    MIDR = 0xd00,
    ID_PFR1 = 0xd24
};

enum {
    HALTED = 3, /* and restarted */
    STICKY_ABORT = 1 << 6,
    STICKY_UNDEFINED = 1 << 8,
    ITR_ENABLED = 1 << 13,
    HALTING = 1 << 14,
    FAST = 2 << 20,
    DCC_MODE = 3 << 20,
    COMPLETE = 1 << 24,
    TX_FULL = 1 << 29,
    RX_FULL = 1 << 30
};

enum { START = FAKE_RAM + 0x200, DATA = FAKE_RAM + 0x1000, OPS_MAX = 400 };

struct fixture {
    struct fake_core core;
    struct debug_unit unit;
    const void *client;
    bool failed;  /* the last access */
    unsigned ops; /* that it took */
};

static int first_client, second_client;

static void drain(struct fixture *f)
{
    struct core_op *op;

    f->ops = 0;
    while ((op = debug_unit_wants(&f->unit)) != NULL) {
        assert_true(f->ops++ < OPS_MAX);
        fake_core_do(&f->core, op);
        debug_unit_did(&f->unit);
    }
}

static uint32_t access(struct fixture *f, struct access access)
{
    debug_unit_access(&f->unit, f->client, &access);
    drain(f);
    f->failed = access.failed;
    return access.value;
}

static uint32_t get(struct fixture *f, uint32_t address)
{
    return access(f, (struct access){ACCESS_DEBUG, .bytes = 4, .address = address});
}

static void put(struct fixture *f, uint32_t address, uint32_t value)
{
    access(f, (struct access){ACCESS_DEBUG, .write = true, .bytes = 4, .address = address,
                              .value = value});
}

static uint32_t get_bus(struct fixture *f, uint32_t address, uint8_t bytes)
{
    return access(f, (struct access){ACCESS_BUS, .bytes = bytes, .address = address});
}

static void put_bus(struct fixture *f, uint32_t address, uint8_t bytes, uint32_t value)
{
    access(f, (struct access){ACCESS_BUS, .write = true, .bytes = bytes, .address = address,
                              .value = value});
}

/* cortex_a_exec_opcode: DSCR behind it. */
static uint32_t exec(struct fixture *f, uint32_t code)
{
    put(f, ITR, code);
    assert_false(f->failed);
    uint32_t dscr = get(f, DSCR);
    assert_true(dscr & COMPLETE);
    return dscr;
}

static uint32_t from_dcc(struct fixture *f)
{
    assert_true(get(f, DSCR) & TX_FULL);
    return get(f, DTRTX);
}

static uint32_t read_core(struct fixture *f, uint32_t n)
{
    exec(f, 0xee000e15 | n << 12);
    return from_dcc(f);
}

static void write_core(struct fixture *f, uint32_t n, uint32_t value)
{
    put(f, DTRRX, value);
    exec(f, 0xee100e15 | n << 12);
    assert_false(get(f, DSCR) & RX_FULL);
}

/* instr_read_data_r0 and instr_write_data_r0 */
static uint32_t read_by_r0(struct fixture *f, uint32_t code)
{
    exec(f, code);
    return read_core(f, 0);
}

static void write_by_r0(struct fixture *f, uint32_t code, uint32_t value)
{
    write_core(f, 0, value);
    exec(f, code);
}

static void set_mode(struct fixture *f, uint32_t cpsr)
{
    write_by_r0(f, 0xe12ff000, cpsr);
    exec(f, 0xee070f95);
}

static void set_dcc_mode(struct fixture *f, uint32_t mode)
{
    put(f, DSCR, (get(f, DSCR) & ~(uint32_t)DCC_MODE) | mode);
}

/* cortex_a_debug_entry: what every poll of a halted target begins with. */
static void enter(struct fixture *f)
{
    assert_int_equal(get(f, DSCR) & HALTED, HALTED);
    put(f, DSCR, get(f, DSCR) | ITR_ENABLED);
}

static void halt(struct fixture *f)
{
    put(f, DRCR, 1);
    assert_false(f->failed);
    enter(f);
}

static void restart(struct fixture *f)
{
    put(f, DSCR, get(f, DSCR) & ~(uint32_t)ITR_ENABLED);
    put(f, DRCR, 6);
}

static void resume(struct fixture *f)
{
    restart(f);
    assert_int_equal(get(f, DSCR) & HALTED, 2);
}

static int set_up(void **state)
{
    static const struct debug_board board = {FAKE_RAM, FAKE_RAM_BYTES};
    struct fixture *f = calloc(1, sizeof *f);

    fake_core_init(&f->core);
    debug_unit_init(&f->unit, &board);
    f->client = &first_client;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(f->core.mistakes, 0);
    free(f);
    return 0;
}

TEST_WITH(openocd_finds_six_breakpoints_four_watchpoints_and_no_lock, set_up, tear_down)
{
    struct fixture *f = *state;
    uint32_t didr = get(f, DIDR);

    assert_int_equal(didr >> 28, 3);
    assert_int_equal(didr >> 24 & 15, 5);
    assert_int_equal(get(f, MIDR), 0x412fc0f1);
    assert_int_equal(get(f, PRSR) & 3, 1);
    assert_int_equal(get(f, OSLSR), 0);
    assert_int_equal(get(f, ID_PFR1), 0);
    for (uint32_t i = 0; i < 6; i++) {
        put(f, BCR + 4 * i, 0);
    }
    put(f, DSCR, get(f, DSCR) | HALTING);
    assert_int_equal(f->core.ops, 0);
    assert_true(f->core.running);
    assert_null(debug_unit_owner(&f->unit));
}

TEST_WITH(a_halt_shows_every_register_of_the_present_mode, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    assert_int_equal(get(f, DSCR) & 0x3f, 3);
    assert_int_equal(read_core(f, 0), 0x1000);
    assert_int_equal(read_core(f, 1), 0x1001);
    assert_int_equal(read_by_r0(f, 0xe10f0000), 0x60000013);
    for (uint32_t n = 2; n < 13; n++) {
        assert_int_equal(read_core(f, n), 0x1000 + n);
    }
    assert_int_equal(read_core(f, 13), 0x1000 + REGISTER_SP_SUPERVISOR);
    assert_int_equal(read_core(f, 14), 0x1000 + REGISTER_SP_SUPERVISOR + BANK_LR);
    assert_int_equal(read_by_r0(f, 0xe1a0000f) - 8, START);
    assert_int_equal(f->core.ops, 2);
}

TEST_WITH(what_openocd_asks_on_debug_entry_runs_one_instruction_for_spsr, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    assert_int_equal(read_by_r0(f, 0xe14f0000), 0x1000 + REGISTER_SP_SUPERVISOR + BANK_SPSR);
    assert_int_equal(read_by_r0(f, 0xee110f10), 0x1805);
    assert_int_equal(read_by_r0(f, 0xee120f50), f->core.registers[REGISTER_VBAR + 3]); /* TTBCR */
    assert_int_equal(read_by_r0(f, 0xee120f10), f->core.registers[REGISTER_OTHER_SYSTEM]);
    read_by_r0(f, 0xee100f10);                         /* MIDR */
    read_by_r0(f, 0xee100f30);                         /* CTR */
    assert_int_equal(read_by_r0(f, 0xee300f30), 0);    /* CLIDR */
    read_by_r0(f, 0xee500f10);                         /* CSSELR */
    assert_true(read_by_r0(f, 0xee100fb0) & 1u << 31); /* MPIDR */
    set_mode(f, MODE_SUPERVISOR);
    assert_int_equal(read_by_r0(f, 0xee130f10), f->core.registers[REGISTER_DACR]);
    set_mode(f, 0x60000013);
    write_core(f, 0, 0x1000);
    assert_int_equal(f->core.steps, 1);
    unsigned before = f->core.ops;
    resume(f);
    assert_int_equal(f->core.ops, before + 1);
}

TEST_WITH(resuming_writes_back_what_was_changed_and_no_more, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    uint32_t before = f->core.ops;
    write_core(f, 5, 0x55);
    write_core(f, 13, 0x66);
    write_by_r0(f, 0xe12fff10, FAKE_RAM + 0x400);
    write_by_r0(f, 0xe1a0f000, FAKE_RAM + 0x400);
    write_core(f, 0, 0x1000);
    resume(f);
    assert_true(f->core.running);
    assert_false(f->core.keep);
    assert_int_equal(f->core.registers[5], 0x55);
    assert_int_equal(f->core.registers[REGISTER_SP_SUPERVISOR], 0x66);
    assert_int_equal(f->core.registers[REGISTER_PC], FAKE_RAM + 0x400);
    assert_int_equal(f->core.registers[REGISTER_CPSR], 0x60000013);
    assert_int_equal(f->core.ops - before, 4);
    assert_null(debug_unit_owner(&f->unit));
}

TEST_WITH(a_branch_with_bit_0_set_goes_on_in_thumb_state, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    write_by_r0(f, 0xe12fff10, FAKE_RAM + 0x403);
    write_by_r0(f, 0xe1a0f000, FAKE_RAM + 0x403);
    assert_int_equal(read_by_r0(f, 0xe1a0000f) - 4, FAKE_RAM + 0x402);
    resume(f);
    assert_int_equal(f->core.registers[REGISTER_PC], FAKE_RAM + 0x402);
    assert_int_equal(f->core.registers[REGISTER_CPSR], 0x60000033);
}

TEST_WITH(words_are_written_and_read_in_fast_mode_at_one_operation_each, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    write_core(f, 0, DATA);
    set_dcc_mode(f, FAST);
    put(f, ITR, 0xeca05e01);
    for (uint32_t i = 0; i < 4; i++) {
        put(f, DTRRX, 0x11110000 + i);
        assert_int_equal(f->ops, i == 0 ? 2 : 1); /* the first asks whether the MMU is on */
    }
    set_dcc_mode(f, 0);
    assert_int_equal(read_core(f, 0), DATA + 16);
    assert_int_equal(fake_core_word(&f->core, DATA + 12), 0x11110003);

    write_core(f, 0, DATA);
    exec(f, 0xecb05e01);
    set_dcc_mode(f, FAST);
    put(f, ITR, 0xecb05e01);
    assert_int_equal(f->ops, 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(get(f, DTRTX), 0x11110000 + i);
        assert_int_equal(f->ops, 1);
    }
    set_dcc_mode(f, 0);
    assert_int_equal(from_dcc(f), 0x11110003);
    assert_int_equal(read_core(f, 0), DATA + 16);
}

TEST_WITH(halves_and_bytes_are_written_and_read_one_by_one, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    write_core(f, 0, DATA);
    write_core(f, 1, 0x12345678);
    exec(f, 0xe4c01001);
    exec(f, 0xe4c01001);
    exec(f, 0xe0c010b2);
    exec(f, 0xe4801004);
    assert_int_equal(fake_core_word(&f->core, DATA), 0x56787878);
    assert_int_equal(fake_core_word(&f->core, DATA + 4), 0x12345678);
    write_core(f, 0, DATA);
    exec(f, 0xe4d01001);
    assert_int_equal(read_core(f, 1), 0x78);
    write_core(f, 0, DATA + 2);
    exec(f, 0xe0d010b2);
    assert_int_equal(read_core(f, 1), 0x5678);
    exec(f, 0xe4901004);
    assert_int_equal(read_core(f, 1), 0x12345678);
    assert_int_equal(read_core(f, 0), DATA + 8);
}

TEST_WITH(with_the_mmu_off_for_the_debugger_memory_is_physical, set_up, tear_down)
{
    struct fixture *f = *state;

    fake_core_set_word(&f->core, DATA, 77);
    halt(f);
    uint32_t sctlr = read_by_r0(f, 0xee110f10);
    write_core(f, 0, DATA - FAKE_RAM + FAKE_ALIAS);
    exec(f, 0xe4901004);
    assert_int_equal(read_core(f, 1), 77);
    uint32_t dfar = read_by_r0(f, 0xee160f10), dfsr = read_by_r0(f, 0xee150f10);
    write_by_r0(f, 0xee010f10, sctlr & ~1u);
    write_core(f, 0, DATA - FAKE_RAM + FAKE_ALIAS);
    assert_true(exec(f, 0xe4901004) & STICKY_ABORT);
    put(f, DRCR, 4);
    write_core(f, 0, DATA);
    assert_false(exec(f, 0xe4901004) & STICKY_ABORT);
    assert_int_equal(read_core(f, 1), 77);
    write_by_r0(f, 0xee060f10, dfar);
    write_by_r0(f, 0xee050f10, dfsr);
    write_by_r0(f, 0xee010f10, sctlr);
    resume(f);
    assert_int_equal(f->core.registers[REGISTER_SCTLR], 0x1805);
    assert_int_equal(f->core.steps, 0);
}

TEST_WITH(a_load_of_nothing_is_a_data_abort_with_address_and_reason, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    uint32_t dfar = read_by_r0(f, 0xee160f10), dfsr = read_by_r0(f, 0xee150f10);
    write_core(f, 0, 0x70000000);
    assert_true(exec(f, 0xecb05e01) & STICKY_ABORT);
    assert_false(get(f, DSCR) & TX_FULL);
    set_dcc_mode(f, FAST);
    put(f, ITR, 0xecb05e01);
    get(f, DTRTX);
    assert_int_equal(f->ops, 0);
    set_dcc_mode(f, 0);
    put(f, DRCR, 4);
    assert_false(get(f, DSCR) & STICKY_ABORT);
    assert_int_equal(read_by_r0(f, 0xee160f10), 0x70000000);
    assert_int_equal(read_by_r0(f, 0xee150f10), 5);
    write_by_r0(f, 0xee060f10, dfar);
    write_by_r0(f, 0xee050f10, dfsr);
    write_core(f, 0, 0x1000);
    resume(f);
    assert_int_equal(f->core.steps, 0);
}

TEST_WITH(a_fast_store_to_nothing_leaves_its_word_in_the_dcc, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    write_core(f, 0, 0x70000000);
    set_dcc_mode(f, FAST);
    put(f, ITR, 0xeca05e01);
    put(f, DTRRX, 1);
    put(f, DTRRX, 2);
    assert_int_equal(f->ops, 0);
    set_dcc_mode(f, 0);
    assert_int_equal(get(f, DSCR) & (STICKY_ABORT | RX_FULL), STICKY_ABORT | RX_FULL);
    put(f, DRCR, 4);
    assert_int_equal(read_by_r0(f, 0xee150f10), 0x805);
    assert_false(exec(f, 0xee101e15) & RX_FULL);
}

TEST_WITH(a_step_runs_one_instruction, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    put(f, BVR, START);
    put(f, BCR, 4 << 20 | 0xf << 5 | 7);
    restart(f);
    assert_int_equal(get(f, DSCR) & 0x3f, 7);
    put(f, BCR, 0);
    enter(f);
    assert_int_equal(read_by_r0(f, 0xe1a0000f) - 8, START + 4);
    assert_int_equal(f->core.steps, 1);
    assert_false(f->core.running);
}

TEST_WITH(a_breakpoint_becomes_a_point_when_the_node_goes_on, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    put(f, BVR + 4, FAKE_RAM + 0x300);
    put(f, BCR + 4, 0xf << 5 | 7);
    assert_int_equal(f->core.point_count, 0);
    resume(f);
    assert_true(fake_core_has(&f->core, CORE_POINT_CODE, FAKE_RAM + 0x300, 4));
    assert_true(f->core.keep);
    assert_ptr_equal(debug_unit_owner(&f->unit), &first_client);

    f->core.running = false;
    f->core.registers[REGISTER_PC] = FAKE_RAM + 0x300;
    debug_unit_stopped(&f->unit, CORE_STOP_CODE, 0);
    assert_int_equal(get(f, DSCR) & 0x3f, 7);
    enter(f);
    assert_int_equal(read_by_r0(f, 0xe1a0000f) - 8, FAKE_RAM + 0x300);
    put(f, BCR + 4, 0);
    resume(f);
    assert_int_equal(f->core.point_count, 0);
    assert_false(f->core.keep);
}

TEST_WITH(a_point_set_while_the_node_runs_is_there_at_once, set_up, tear_down)
{
    struct fixture *f = *state;

    put(f, BVR, FAKE_RAM + 0x300);
    put(f, BCR, 3 << 7 | 7);
    assert_true(fake_core_has(&f->core, CORE_POINT_CODE, FAKE_RAM + 0x302, 2));
    assert_true(f->core.running && f->core.keep);
    put(f, BCR, 0);
    assert_int_equal(f->core.point_count, 0);
    assert_true(f->core.running);
    assert_false(f->core.keep);
    assert_null(debug_unit_owner(&f->unit));
}

TEST_WITH(a_point_that_cannot_be_set_on_a_running_node_is_refused, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.fail_kind = CORE_HALT;
    put(f, BVR, FAKE_RAM + 0x300);
    put(f, BCR, 0xf << 5 | 7);
    assert_true(f->failed);
    assert_int_equal(get(f, BCR), 0);
    assert_null(debug_unit_owner(&f->unit));
    put_bus(f, FAKE_RAM + 0x300, 4, 0xe1200171);
    assert_true(f->failed);
    assert_int_equal(get_bus(f, FAKE_RAM + 0x300, 4), 0);
}

TEST_WITH(watchpoints_have_length_and_kind_and_report_the_instruction, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    put(f, WVR, DATA);
    put(f, WCR, 1 << 7 | 2 << 3 | 7); /* the byte at DATA + 2, stores */
    put(f, WVR + 4, DATA + 64);
    put(f, WCR + 4, 6 << 24 | 0xff << 5 | 1 << 3 | 7); /* 64 bytes, loads */
    put(f, WVR + 8, DATA + 8);
    put(f, WCR + 8, 0xf << 5 | 3 << 3 | 7);
    resume(f);
    assert_true(fake_core_has(&f->core, CORE_POINT_WRITE, DATA + 2, 1));
    assert_true(fake_core_has(&f->core, CORE_POINT_READ, DATA + 64, 64));
    assert_true(fake_core_has(&f->core, CORE_POINT_ACCESS, DATA + 8, 4));
    f->core.running = false;
    debug_unit_stopped(&f->unit, CORE_STOP_DATA, DATA + 2);
    assert_int_equal(get(f, DSCR) & 0x3f, 0x2b);
    assert_int_equal(get(f, WFAR) - 8, START);
}

TEST_WITH(a_breakpoint_instruction_is_seen_in_memory_and_is_not_there, set_up, tear_down)
{
    struct fixture *f = *state;
    uint32_t at = FAKE_RAM + 0x300;

    fake_core_set_word(&f->core, at, 0xe2800001);
    halt(f);
    write_core(f, 0, at);
    set_dcc_mode(f, FAST);
    put(f, ITR, 0xeca05e01);
    put(f, DTRRX, 0xe1200171);
    set_dcc_mode(f, 0);
    assert_int_equal(fake_core_word(&f->core, at), 0xe2800001);
    assert_int_equal(get_bus(f, at, 4), 0xe1200171);
    assert_int_equal(get_bus(f, at + 2, 2), 0xe120);
    write_core(f, 0, at);
    exec(f, 0xe4901004);
    assert_int_equal(read_core(f, 1), 0xe1200171);
    write_core(f, 0, 0x1000);
    write_core(f, 1, 0x1001);
    resume(f);
    assert_true(fake_core_has(&f->core, CORE_POINT_CODE, at, 4));

    f->core.running = false;
    f->core.registers[REGISTER_PC] = at;
    debug_unit_stopped(&f->unit, CORE_STOP_CODE, 0);
    assert_int_equal(get(f, DSCR) & 0x3f, 0xf);
    put_bus(f, at, 4, 0xe2800001);
    assert_int_equal(get_bus(f, at, 4), 0xe2800001);
    resume(f);
    assert_int_equal(f->core.point_count, 0);
}

TEST_WITH(a_thumb_breakpoint_of_four_bytes_is_two_of_two, set_up, tear_down)
{
    struct fixture *f = *state;

    put_bus(f, DATA, 4, 0xbe11be11);
    assert_true(fake_core_has(&f->core, CORE_POINT_CODE, DATA, 2));
    assert_true(fake_core_has(&f->core, CORE_POINT_CODE, DATA + 2, 2));
    assert_true(f->core.running);
    assert_int_equal(get_bus(f, DATA, 4), 0xbe11be11);
    put_bus(f, DATA, 4, 0x12345678);
    assert_int_equal(f->core.point_count, 0);
    assert_int_equal(fake_core_word(&f->core, DATA), 0x12345678);
}

TEST_WITH(memory_on_the_bus_is_one_operation_for_anybody, set_up, tear_down)
{
    struct fixture *f = *state;

    put_bus(f, DATA, 4, 0x12345678);
    assert_int_equal(f->ops, 1);
    halt(f);
    f->client = &second_client;
    assert_int_equal(get_bus(f, DATA + 1, 1), 0x56);
    assert_int_equal(f->ops, 1);
    put_bus(f, DATA, 2, 0xbe00);
    assert_true(f->failed);
    get_bus(f, 0x70000000, 4);
    assert_true(f->failed);
}

TEST_WITH(a_client_that_leaves_has_changed_nothing, set_up, tear_down)
{
    struct fixture *f = *state;
    struct fake_core before;

    put(f, BVR, FAKE_RAM + 0x300);
    put(f, BCR, 0xf << 5 | 7);
    halt(f);
    before = f->core;
    write_core(f, 4, 4);
    set_mode(f, MODE_IRQ);
    write_core(f, 13, 5);
    write_by_r0(f, 0xe16ff000, 6);
    put_bus(f, DATA, 4, 0xe1200070);
    debug_unit_leave(&f->unit, &second_client);
    assert_ptr_equal(debug_unit_owner(&f->unit), &first_client);
    debug_unit_leave(&f->unit, &first_client);
    drain(f);
    assert_null(debug_unit_owner(&f->unit));
    assert_true(debug_unit_halted(&f->unit));
    assert_int_equal(f->core.point_count, 0);
    assert_memory_equal(f->core.registers, before.registers, sizeof before.registers);
    assert_memory_equal(f->core.ram, before.ram, sizeof before.ram);
    f->client = &second_client;
    enter(f);
    assert_int_equal(read_core(f, 4), 0x1004);
}

TEST_WITH(a_client_that_leaves_a_running_node_takes_its_points, set_up, tear_down)
{
    struct fixture *f = *state;

    put(f, BVR, FAKE_RAM + 0x300);
    put(f, BCR, 0xf << 5 | 7);
    debug_unit_leave(&f->unit, &first_client);
    drain(f);
    assert_int_equal(f->core.point_count, 0);
    assert_true(f->core.running);
    assert_false(f->core.keep);
}

TEST_WITH(to_a_second_client_a_halted_node_runs_and_its_writes_are_refused, set_up, tear_down)
{
    struct fixture *f = *state;
    static const uint32_t refused[] = {DRCR, ITR, DTRRX, BCR, WCR};

    halt(f);
    f->client = &second_client;
    assert_int_equal(get(f, DSCR) & HALTED, 2);
    for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        put(f, refused[i], 1);
        assert_true(f->failed);
    }
    put(f, PRCR, 2);
    assert_true(f->failed);
    put(f, BCR, 0);
    assert_false(f->failed);
    put(f, DSCR, HALTING);
    assert_false(f->failed);
    assert_int_equal(f->core.resets, 0);
    f->client = &first_client;
    enter(f);
    resume(f);
    f->client = &second_client;
    halt(f);
    assert_ptr_equal(debug_unit_owner(&f->unit), &second_client);
}

TEST_WITH(a_reset_with_catch_halts_at_the_first_instruction, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.registers[REGISTER_PC] = DATA;
    put(f, VCR, 1);
    put(f, PRCR, 2);
    assert_false(f->failed);
    assert_int_equal(get(f, DSCR) & 0x3f, 0x17);
    assert_int_equal(get(f, PRSR) & 8, 8);
    assert_int_equal(get(f, PRSR) & 8, 0);
    enter(f);
    assert_int_equal(read_by_r0(f, 0xe1a0000f) - 8, START);
    assert_false(f->core.running);
}

TEST_WITH(a_reset_without_catch_goes_on, set_up, tear_down)
{
    struct fixture *f = *state;

    put(f, PRCR, 2);
    assert_int_equal(get(f, DSCR) & HALTED, 2);
    assert_true(f->core.running);
    assert_int_equal(f->core.resets, 1);
    assert_null(debug_unit_owner(&f->unit));
}

TEST_WITH(a_node_told_to_run_where_no_memory_is_stands_until_it_is_halted, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.running = false;
    f->core.registers[REGISTER_SCTLR] = 0;
    f->core.registers[REGISTER_PC] = 0;
    debug_unit_stopped(&f->unit, CORE_STOP_OTHER, 0);
    enter(f);
    write_core(f, 7, 0x77);
    resume(f);
    assert_true(debug_unit_lost(&f->unit));
    assert_false(f->core.running);
    put(f, BVR, DATA);
    put(f, BCR, 0xf << 5 | 7);
    halt(f);
    assert_int_equal(read_by_r0(f, 0xe1a0000f) - 8, 0);
    assert_int_equal(read_core(f, 7), 0x77);
    write_by_r0(f, 0xe1a0f000, START);
    resume(f);
    assert_true(f->core.running);
    assert_int_equal(f->core.registers[7], 0x77);
    assert_true(fake_core_has(&f->core, CORE_POINT_CODE, DATA, 4));
}

TEST_WITH(registers_of_other_modes_are_read_and_written_from_supervisor_mode, set_up, tear_down)
{
    struct fixture *f = *state;
    uint32_t cpsr = 0x60000013;

    fake_core_set_word(&f->core, START, 0xabcdef01);
    halt(f);
    assert_int_equal(read_by_r0(f, 0xe14f0000), 0x1000 + REGISTER_SP_SUPERVISOR + BANK_SPSR);
    set_mode(f, MODE_FIQ);
    assert_int_equal(read_core(f, 8), 0x1000 + REGISTER_R8_FIQ);
    assert_int_equal(read_core(f, 14), 0x1000 + REGISTER_SP_FIQ + BANK_LR);
    set_mode(f, MODE_USER);
    assert_int_equal(read_core(f, 13), 0x1000 + REGISTER_SP);
    assert_int_equal(read_core(f, 8), 0x1008);
    write_core(f, 14, 0xe);
    set_mode(f, MODE_UNDEFINED);
    assert_int_equal(read_by_r0(f, 0xe14f0000), 0x1000 + REGISTER_SP_UNDEFINED + BANK_SPSR);
    write_by_r0(f, 0xe16ff000, 0x13);
    write_core(f, 13, 0xd);
    assert_int_equal(f->core.registers[REGISTER_CPSR], cpsr);
    assert_int_equal(f->core.registers[REGISTER_SP_UNDEFINED], 0x1000 + REGISTER_SP_UNDEFINED);
    set_mode(f, cpsr);
    write_core(f, 0, 0x1000);
    resume(f);
    assert_int_equal(f->core.registers[REGISTER_LR], 0xe);
    assert_int_equal(f->core.registers[REGISTER_SP_UNDEFINED], 0xd);
    assert_int_equal(f->core.registers[REGISTER_SP_UNDEFINED + BANK_SPSR], 0x13);
    assert_int_equal(f->core.registers[REGISTER_CPSR], cpsr);
    assert_int_equal(f->core.registers[REGISTER_PC], START);
    assert_int_equal(f->core.registers[REGISTER_R0], 0x1000);
    assert_int_equal(fake_core_word(&f->core, START), 0xabcdef01);
}

TEST_WITH(from_user_mode_all_banks_are_reached_and_it_goes_on_there, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.registers[REGISTER_CPSR] = 0x20000030; /* Thumb */
    f->core.registers[REGISTER_PC] = FAKE_USER + 2;
    fake_core_set_word(&f->core, FAKE_USER, 0x12345678);
    fake_core_set_word(&f->core, FAKE_VECTORS, 0x9abcdef0);
    halt(f);
    assert_int_equal(read_by_r0(f, 0xe1a0000f) - 4, FAKE_USER + 2);
    set_mode(f, MODE_SUPERVISOR);
    assert_int_equal(f->core.steps, 0);
    assert_int_equal(read_core(f, 13), 0x1000 + REGISTER_SP_SUPERVISOR);
    assert_int_equal(f->core.steps, 1);
    set_mode(f, MODE_ABORT);
    assert_int_equal(read_by_r0(f, 0xe14f0000), 0x1000 + REGISTER_SP_ABORT + BANK_SPSR);
    write_core(f, 14, 0xab);
    set_mode(f, 0x20000030);
    write_core(f, 0, 0x1000);
    resume(f);
    assert_int_equal(f->core.registers[REGISTER_SP_ABORT + BANK_LR], 0xab);
    assert_int_equal(f->core.registers[REGISTER_CPSR], 0x20000030);
    assert_int_equal(f->core.registers[REGISTER_PC], FAKE_USER + 2);
    for (unsigned n = 0; n < REGISTER_PC; n++) {
        assert_int_equal(f->core.registers[n], 0x1000 + n);
    }
    assert_int_equal(fake_core_word(&f->core, FAKE_USER), 0x12345678);
    assert_int_equal(fake_core_word(&f->core, FAKE_VECTORS), 0x9abcdef0);
}

TEST_WITH(where_nothing_can_be_planted_banks_and_spsr_are_zero, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.registers[REGISTER_CPSR] = MODE_USER;
    f->core.registers[REGISTER_PC] = FAKE_USER;
    halt(f);
    f->core.fail_kind = CORE_WRITE_MEMORY;
    set_mode(f, MODE_SUPERVISOR);
    assert_int_equal(read_core(f, 13), 0);
    assert_int_equal(read_by_r0(f, 0xe14f0000), 0);
    set_mode(f, MODE_USER);
    write_core(f, 0, 0x1000);
    resume(f);
    for (unsigned n = 0; n < REGISTER_PC; n++) {
        assert_int_equal(f->core.registers[n], 0x1000 + n);
    }
    assert_int_equal(f->core.registers[REGISTER_CPSR], MODE_USER);
    assert_int_equal(f->core.registers[REGISTER_SP_SUPERVISOR], 0x1000 + REGISTER_SP_SUPERVISOR);
}

TEST_WITH(a_program_in_user_mode_is_sent_on_in_another_mode, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.registers[REGISTER_CPSR] = MODE_USER;
    f->core.registers[REGISTER_PC] = FAKE_USER;
    halt(f);
    set_mode(f, MODE_SYSTEM);
    write_by_r0(f, 0xe1a0f000, START);
    write_core(f, 0, 0x1000);
    resume(f);
    assert_int_equal(f->core.registers[REGISTER_CPSR] & 0x1f, MODE_SYSTEM);
    assert_int_equal(f->core.registers[REGISTER_PC], START);
}

TEST_WITH(doubles_and_fpscr_are_read_and_written, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.registers[REGISTER_D0 + 17] = 0x1122334455667788;
    halt(f);
    exec(f, 0xec510b31); /* VMOV r0, r1, d17 */
    assert_int_equal(read_core(f, 0), 0x55667788);
    assert_int_equal(read_core(f, 1), 0x11223344);
    write_core(f, 1, 0xaaaaaaaa);
    write_by_r0(f, 0xec410b33, 0xbbbbbbbb); /* VMOV d19, r0, r1 */
    write_by_r0(f, 0xeee10a10, 0x00c00000);
    assert_int_equal(read_by_r0(f, 0xeef10a10), 0x00c00000);
    write_core(f, 0, 0x1000);
    write_core(f, 1, 0x1001);
    resume(f);
    assert_int_equal(f->core.registers[REGISTER_D0 + 19], 0xaaaaaaaabbbbbbbb);
    assert_int_equal(f->core.registers[REGISTER_FPSCR], 0x00c00000);
    assert_int_equal(f->core.registers[REGISTER_D0 + 18], 0x1000 + REGISTER_D0 + 18);
}

TEST_WITH(another_instruction_runs_on_the_processor_which_is_as_before_then, set_up, tear_down)
{
    struct fixture *f = *state;

    fake_core_set_word(&f->core, START, 0x12345678);
    halt(f);
    write_core(f, 2, 7);
    assert_false(exec(f, 0xe2820003) & STICKY_UNDEFINED); /* ADD r0, r2, #3 */
    assert_int_equal(read_core(f, 0), 10);
    assert_int_equal(f->core.registers[REGISTER_R0], 0x1000);
    assert_int_equal(f->core.registers[2], 0x1002);
    assert_int_equal(f->core.registers[REGISTER_PC], START);
    assert_int_equal(fake_core_word(&f->core, START), 0x12345678);
    write_by_r0(f, 0xee020f10, 0x40004000); /* TTBR0 */
    assert_int_equal(read_by_r0(f, 0xee120f10), 0x40004000);
}

TEST_WITH(an_undefined_instruction_is_noted_and_harms_nothing, set_up, tear_down)
{
    struct fixture *f = *state;
    struct fake_core before;

    halt(f);
    set_mode(f, MODE_UNDEFINED);
    read_by_r0(f, 0xe14f0000);
    before = f->core;
    assert_true(exec(f, 0xe7f000f0) & STICKY_UNDEFINED);
    assert_memory_equal(f->core.registers, before.registers, sizeof before.registers);
    assert_memory_equal(f->core.ram, before.ram, sizeof before.ram);
    put(f, ITR, 0xee000e15);
    assert_false(get(f, DSCR) & TX_FULL);
    put(f, DRCR, 4);
    assert_true(exec(f, 0xef000000) & STICKY_UNDEFINED);
}

TEST_WITH(a_system_register_that_was_written_reaches_the_processor, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    write_by_r0(f, 0xee030f10, 0x5555); /* DACR */
    assert_int_equal(f->core.registers[REGISTER_DACR], 0x1000 + REGISTER_DACR);
    write_core(f, 0, 0x1000);
    resume(f);
    assert_int_equal(f->core.registers[REGISTER_DACR], 0x5555);
    assert_int_equal(f->core.registers[REGISTER_R0], 0x1000);
    assert_int_equal(f->core.registers[REGISTER_PC], START);
}

TEST_WITH(where_memory_does_not_change_nothing_is_run, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.rom = START;
    halt(f);
    assert_int_equal(read_by_r0(f, 0xe14f0000), 0x1000 + REGISTER_SP_SUPERVISOR + BANK_SPSR);
    assert_int_equal(f->core.steps, 1);
    assert_int_equal(f->core.registers[REGISTER_PC], START);
    assert_int_equal(fake_core_word(&f->core, FAKE_RAM), 0);
}

TEST_WITH(without_mmu_an_instruction_is_planted_in_memory_wherever_the_pc_is, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.registers[REGISTER_SCTLR] = 0;
    f->core.registers[REGISTER_PC] = 0xc;
    halt(f);
    assert_int_equal(read_by_r0(f, 0xe14f0000), 0x1000 + REGISTER_SP_SUPERVISOR + BANK_SPSR);
    assert_int_equal(f->core.registers[REGISTER_PC], 0xc);
}

TEST_WITH(the_mmu_stays_on_when_a_debugger_leaves_it_off, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    write_by_r0(f, 0xee010f10, 0x1004);
    write_core(f, 0, 0x1000);
    resume(f);
    assert_int_equal(f->core.registers[REGISTER_SCTLR], 0x1005);
}

TEST_WITH(a_node_that_stops_while_it_is_resumed_is_seen_halted, set_up, tear_down)
{
    struct fixture *f = *state;
    struct access restart = {ACCESS_DEBUG, .write = true, .bytes = 4, .address = DRCR, .value = 2};
    struct core_op *op;

    halt(f);
    put(f, BVR, START);
    put(f, BCR, 0xf << 5 | 7);
    debug_unit_access(&f->unit, f->client, &restart);
    while ((op = debug_unit_wants(&f->unit)) != NULL) {
        fake_core_do(&f->core, op);
        if (op->kind == CORE_RESUME) {
            f->core.running = false;
            debug_unit_stopped(&f->unit, CORE_STOP_CODE, 0);
        }
        debug_unit_did(&f->unit);
    }
    assert_int_equal(get(f, DSCR) & 0x3f, 7);
    assert_ptr_equal(debug_unit_owner(&f->unit), &first_client);
}

TEST_WITH(a_node_that_another_debugger_took_or_reset_is_known_anew, set_up, tear_down)
{
    struct fixture *f = *state;

    halt(f);
    debug_unit_give_up(&f->unit); /* not while it is somebody's */
    assert_true(debug_unit_halted(&f->unit));
    f->core.registers[4] = 44;
    debug_unit_was_reset(&f->unit);
    assert_int_equal(get(f, PRSR) & 8, 8);
    assert_int_equal(read_core(f, 4), 44);
    debug_unit_leave(&f->unit, &first_client);
    drain(f);
    debug_unit_give_up(&f->unit);
    f->core.running = true;
    assert_int_equal(get(f, DSCR) & HALTED, 2);
}

TEST_WITH(breakpoint_instructions_that_find_no_room_are_refused, set_up, tear_down)
{
    struct fixture *f = *state;
    uint32_t i = 0;

    halt(f);
    for (; i < DEBUG_WRITTEN_MAX; i++) {
        put_bus(f, DATA + 4 * i, 4, 0xe1200070);
        assert_false(f->failed);
    }
    put_bus(f, DATA + 4 * i, 4, 0xe1200070);
    assert_true(f->failed);
    write_core(f, 0, DATA + 4 * i);
    write_core(f, 1, 0xe1200070);
    assert_true(exec(f, 0xe4801004) & STICKY_ABORT);
    put_bus(f, DATA, 4, 1);
    put_bus(f, DATA + 4 * i, 4, 0xe1200070);
    assert_false(f->failed);
}

TEST_WITH(accesses_that_a_debug_bus_does_not_have_fail, set_up, tear_down)
{
    struct fixture *f = *state;

    access(f, (struct access){ACCESS_DEBUG, .bytes = 2, .address = DSCR});
    assert_true(f->failed);
    get(f, 0x1000);
    assert_true(f->failed);
    get(f, DSCR + 2);
    assert_true(f->failed);
    get_bus(f, DATA, 8);
    assert_true(f->failed);
    get(f, 0xffc);
    assert_false(f->failed);
}

TEST_WITH(a_halt_that_fails_leaves_the_node_running, set_up, tear_down)
{
    struct fixture *f = *state;

    f->core.fail_kind = CORE_HALT;
    put(f, DRCR, 1);
    assert_true(f->failed);
    assert_int_equal(get(f, DSCR) & HALTED, 2);
    f->core.fail_kind = FAKE_NEVER;
    put(f, BVR, DATA);
    put(f, BCR, 0xf << 5 | 7);
    f->core.fail_kind = CORE_HALT; /* now that it is held for its point */
    put(f, DRCR, 1);
    assert_true(f->failed);
    assert_int_equal(get(f, DSCR) & HALTED, 2);
}

/* What is done in each run of the sweep: every kind of task. */
static void run_session(struct fixture *f)
{
    put(f, DRCR, 1);
    put(f, DSCR, ITR_ENABLED | HALTING);
    put(f, DTRRX, MODE_ABORT);
    put(f, ITR, 0xee100e15);
    put(f, ITR, 0xe12ff000);
    put(f, ITR, 0xee00de15);
    put(f, ITR, 0xe14f0000);
    put(f, ITR, 0xe2820003);
    put(f, ITR, 0xe7f000f0);
    put(f, DRCR, 4);
    put(f, DTRRX, 9);
    put(f, ITR, 0xee10de15);
    put(f, BVR, DATA);
    put(f, BCR, 0xf << 5 | 7);
    put(f, ITR, 0xe1a0200d);
    put(f, DRCR, 6);
    put(f, DRCR, 1);
    put(f, BCR, 0);
    put(f, PRCR, 2);
}

/* Whether the session came to the operation that was to fail. */
static bool fail_one(void **state, unsigned at, bool user)
{
    uint8_t before[FAKE_RAM_BYTES];

    tear_down(state);
    set_up(state);
    struct fixture *f = *state;
    if (user) {
        f->core.registers[REGISTER_CPSR] = MODE_USER;
        f->core.registers[REGISTER_PC] = FAKE_USER;
    }
    memcpy(before, f->core.ram, sizeof before);
    f->core.fail_at = (int)at;
    run_session(f);
    /* Only a write that fails can keep memory from being put back. */
    if (f->core.failed != CORE_WRITE_MEMORY) {
        assert_memory_equal(f->core.ram, before, sizeof before);
    }
    return at < f->core.ops;
}

TEST_WITH(whatever_fails_memory_is_as_before_and_the_session_ends, set_up, tear_down)
{
    for (unsigned at = 0; fail_one(state, at, false); at++) {
        assert_true(at < OPS_MAX);
    }
    for (unsigned at = 0; fail_one(state, at, true); at++) {
        assert_true(at < OPS_MAX);
    }
}
