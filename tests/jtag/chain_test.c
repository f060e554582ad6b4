/*
 * The JTAG chain as a client sees it, by a small bitbang driver: TAPs, debug ports, access ports;
 * and what OpenOCD sent and heard.
 */
#include "tests/testing.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jtag/chain/chain.h"

enum {
    BITS_MAX = 8192,
    ACCESSES_MAX = 64,
    MEMORY_BASE = 0x40000000,
    MEMORY_BYTES = 0x1000,
    READ = 1,
    CTRL_STAT = 0x4,
    SELECT = 0x8,
    RDBUFF = 0xc,
    BYTES = 0,
    HALFWORDS = 1,
    WORDS = 2,
    SINGLE = 0x10,
    PACKED = 0x20,
    STICKY = 0x20,
    BYPASS = 0xf,
    POWER = 0x50000000
};

/* A chain, the pins of who drives it, and nodes behind it: a little memory, and a debug unit whose
 * registers read as their address, but those that say what it is. */
struct jig {
    struct chain chain;
    bool manual; /* accesses stay pending */
    uint8_t memory[MEMORY_BYTES];
    struct access done[ACCESSES_MAX];
    unsigned count;
};

static uint32_t debug_register(uint32_t address)
{
    static const uint8_t identification[] = {4, 0, 0, 0, 0x0f, 0xbc, 0x0b, 0, 0x0d, 0x90, 5, 0xb1};

    if (address >= 0xfd0) {
        return identification[(address - 0xfd0) / 4];
    }
    return address == 0xfcc ? 0x15 : 0xd0000000 + address;
}

static void do_bus(struct jig *jig, struct access *access)
{
    uint32_t offset = access->address - MEMORY_BASE;

    if (offset >= MEMORY_BYTES) {
        access->failed = true;
        return;
    }
    assert_int_equal(offset % access->bytes, 0);
    if (access->write) {
        memcpy(jig->memory + offset, &access->value, access->bytes);
    } else {
        access->value = UINT32_MAX; /* what is beyond the bytes is nobody's concern */
        memcpy(&access->value, jig->memory + offset, access->bytes);
    }
}

static void complete(struct jig *jig, unsigned tap)
{
    struct access *access = chain_pending(&jig->chain, tap);

    if (access->space == ACCESS_BUS) {
        do_bus(jig, access);
    } else if (!access->write) {
        access->value = debug_register(access->address);
    }
    jig->done[jig->count++ % ACCESSES_MAX] = *access;
    chain_complete(&jig->chain, tap);
}

static void complete_all(struct jig *jig)
{
    unsigned tap;

    while ((tap = chain_pending_from(&jig->chain, 0)) < jig->chain.taps) {
        complete(jig, tap);
    }
}

static void say(struct jig *jig, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t taken = chain_take(&jig->chain, (const uint8_t *)bytes, count);

        bytes += taken;
        count -= taken;
        if (jig->manual) {
            break;
        }
        assert_true(taken > 0);
        complete_all(jig);
    }
}

static struct jig *make_jig(unsigned taps)
{
    struct jig *jig = calloc(1, sizeof *jig);

    chain_init(&jig->chain, taps);
    for (unsigned i = 0; i < MEMORY_BYTES; i++) {
        jig->memory[i] = (uint8_t)(i + i / 256);
    }
    return jig;
}

/* One cycle of TCK; returns TDO. */
static uint8_t cycle(struct jig *jig, bool tms, bool tdi)
{
    char pins = (char)('0' + 2 * tms + tdi);
    char bytes[] = {pins, 'R', (char)(pins + 4)}, answer = 0;

    say(jig, bytes, sizeof bytes);
    chain_drain(&jig->chain, &answer, 1);
    return answer == '1';
}

static void move(struct jig *jig, const char *tms)
{
    for (; *tms; tms++) {
        cycle(jig, *tms == '1', false);
    }
}

/* A falling edge: what was updated takes effect. */
static void settle(struct jig *jig)
{
    say(jig, "0", 1);
}

static void reset(struct jig *jig)
{
    move(jig, "111110");
}

/* Shifts bits in and out, from Idle to Idle; those that come out replace the others. */
static void scan(struct jig *jig, bool instructions, uint8_t *bits, unsigned count)
{
    move(jig, instructions ? "1100" : "100");
    for (unsigned i = 0; i < count; i++) {
        bits[i] = cycle(jig, i + 1 == count, bits[i]);
    }
    move(jig, "10");
    settle(jig);
}

static uint64_t number(const uint8_t *bits, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count; i++) {
        value |= (uint64_t)bits[i] << i;
    }
    return value;
}

static void spread(uint8_t *bits, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        bits[i] = value >> i & 1;
    }
}

/* One TAP gets an instruction, the others BYPASS. */
static void instruct(struct jig *jig, unsigned tap, uint8_t instruction)
{
    static uint8_t bits[BITS_MAX];

    memset(bits, 1, sizeof bits);
    spread(bits + 4 * tap, instruction, 4);
    scan(jig, true, bits, 4 * jig->chain.taps);
}

/* Scans the register of one TAP, the others being in BYPASS. */
static uint64_t scan_one(struct jig *jig, unsigned tap, uint64_t value, unsigned count)
{
    static uint8_t bits[BITS_MAX];

    memset(bits, 0, sizeof bits);
    spread(bits + tap, value, count);
    scan(jig, false, bits, count + jig->chain.taps - 1);
    return number(bits + tap, count);
}

/* Scans DPACC, APACC or ABORT; returns what was posted. */
static uint32_t transfer(struct jig *jig, unsigned tap, uint8_t instruction, unsigned address,
                         bool read, uint32_t value)
{
    instruct(jig, tap, instruction);
    uint64_t out = scan_one(jig, tap, (uint64_t)value << 3 | (address >> 1 & 6) | read, 35);
    if (instruction != DAP_ABORT) {
        assert_int_equal(out & 7, 2);
    }
    return (uint32_t)(out >> 3);
}

static void write_dp(struct jig *jig, unsigned tap, unsigned address, uint32_t value)
{
    transfer(jig, tap, DAP_DPACC, address, false, value);
}

static uint32_t read_dp(struct jig *jig, unsigned tap, unsigned address)
{
    transfer(jig, tap, DAP_DPACC, address, true, 0);
    return transfer(jig, tap, DAP_DPACC, RDBUFF, true, 0);
}

static void write_ap(struct jig *jig, unsigned tap, unsigned ap, unsigned address, uint32_t value)
{
    write_dp(jig, tap, SELECT, ap << 24 | (address & 0xf0));
    transfer(jig, tap, DAP_APACC, address & 0xf, false, value);
}

static uint32_t read_ap(struct jig *jig, unsigned tap, unsigned ap, unsigned address)
{
    write_dp(jig, tap, SELECT, ap << 24 | (address & 0xf0));
    transfer(jig, tap, DAP_APACC, address & 0xf, true, 0);
    return transfer(jig, tap, DAP_DPACC, RDBUFF, true, 0);
}

static struct jig *make_powered(unsigned taps)
{
    struct jig *jig = make_jig(taps);

    reset(jig);
    for (unsigned tap = 0; tap < taps; tap++) {
        write_dp(jig, tap, CTRL_STAT, POWER);
    }
    return jig;
}

static bool sticky(struct jig *jig, unsigned tap)
{
    return read_dp(jig, tap, CTRL_STAT) & STICKY;
}

static uint32_t word_at(const struct jig *jig, uint32_t address)
{
    uint32_t value;

    memcpy(&value, jig->memory + (address - MEMORY_BASE), sizeof value);
    return value;
}

/* The bus's port is set up for transfers at an address. */
static void aim(struct jig *jig, uint32_t csw, uint32_t address)
{
    write_ap(jig, 0, 0, MEM_AP_CSW, csw);
    write_ap(jig, 0, 0, MEM_AP_TAR, address);
}

static const unsigned lengths[] = {1, 4, 16, 128};

TEST(after_a_reset_every_tap_shows_its_identity)
{
    static uint8_t bits[BITS_MAX];

    for (unsigned k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        struct jig *jig = make_jig(lengths[k]);

        reset(jig);
        memset(bits, 1, sizeof bits);
        scan(jig, false, bits, 32 * lengths[k] + 32);
        for (unsigned tap = 0; tap < lengths[k]; tap++) {
            assert_int_equal(number(bits + 32 * tap, 32), 0x4ba00477);
        }
        assert_int_equal(number(bits + 32 * lengths[k], 32), 0xffffffff);
        free(jig);
    }
}

TEST(bypass_is_one_bit_that_begins_as_zero)
{
    static uint8_t bits[BITS_MAX];

    for (unsigned k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        for (unsigned instruction = 0; instruction < 16; instruction += 5) {
            struct jig *jig = make_jig(lengths[k]);

            for (unsigned tap = 0; tap < lengths[k]; tap++) {
                spread(bits + 4 * tap, instruction == 10 ? 9 : instruction, 4);
            }
            reset(jig);
            scan(jig, true, bits, 4 * lengths[k]);
            memset(bits, 1, sizeof bits);
            scan(jig, false, bits, lengths[k] + 3);
            for (unsigned tap = 0; tap < lengths[k]; tap++) {
                assert_int_equal(bits[tap], 0);
            }
            assert_int_equal(number(bits + lengths[k], 3), 7);
            free(jig);
        }
    }
}

TEST(instructions_begin_as_0001_and_are_as_long_as_the_chain)
{
    static uint8_t bits[BITS_MAX];

    for (unsigned k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        struct jig *jig = make_jig(lengths[k]);

        reset(jig);
        memset(bits, 1, sizeof bits);
        scan(jig, true, bits, 4 * lengths[k] + 8);
        for (unsigned tap = 0; tap < lengths[k]; tap++) {
            assert_int_equal(number(bits + 4 * tap, 4), 1);
        }
        assert_int_equal(number(bits + 4 * lengths[k], 8), 0xff);
        free(jig);
    }
}

TEST(the_first_tap_is_nearest_to_tdo)
{
    for (unsigned k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        struct jig *jig = make_powered(lengths[k]);
        unsigned last = lengths[k] - 1;

        for (unsigned tap = 0; tap <= last; tap += last ? last : 1) {
            instruct(jig, tap, DAP_IDCODE);
            assert_int_equal(scan_one(jig, tap, 0, 32), 0x4ba00477);
        }
        write_ap(jig, last, 0, MEM_AP_TAR, 0x40000123);
        assert_int_equal(jig->chain.dap[last].ap[0].tar, 0x40000123);
        assert_int_equal(read_ap(jig, last, 0, MEM_AP_TAR), 0x40000123);
        free(jig);
    }
}

TEST(five_cycles_with_tms_reset_from_every_state)
{
    static const char *const ways[] = {"",      "0",      "01",      "010",   "0100", "0101",
                                       "01010", "010101", "01011",   "011",   "0110", "01100",
                                       "01101", "011010", "0110101", "011011"};

    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct jig *jig = make_jig(3);

        reset(jig);
        instruct(jig, 1, BYPASS);
        jig->chain.state = TAP_RESET;
        move(jig, ways[i]);
        assert_int_equal(jig->chain.state, i);
        move(jig, "11111");
        assert_int_equal(jig->chain.state, TAP_RESET);
        move(jig, "0");
        uint8_t bits[96];
        scan(jig, false, bits, 96);
        assert_int_equal(number(bits + 32, 32), 0x4ba00477);
        free(jig);
    }
}

TEST(trst_resets_and_holds_but_keeps_the_ports)
{
    struct jig *jig = make_powered(2);
    uint8_t bits[64];

    instruct(jig, 0, BYPASS);
    move(jig, "100");
    say(jig, "t", 1);
    assert_int_equal(jig->chain.state, TAP_RESET);
    move(jig, "0100");
    assert_int_equal(jig->chain.state, TAP_RESET);
    say(jig, "r", 1);
    move(jig, "0");
    scan(jig, false, bits, 64);
    assert_int_equal(number(bits, 32), 0x4ba00477);
    assert_int_equal(read_dp(jig, 1, CTRL_STAT), 0xf0000000);
    assert_int_equal(chain_event(&jig->chain), CHAIN_NOTHING);
    free(jig);
}

TEST(a_scan_may_pause_and_go_on)
{
    struct jig *jig = make_jig(1);
    uint8_t bits[32];

    reset(jig);
    move(jig, "100");
    for (unsigned i = 0; i < 32; i++) {
        bits[i] = cycle(jig, i == 11 || i == 31, 0);
        if (i == 11) {
            move(jig, "00010");
        }
    }
    assert_int_equal(number(bits, 32), 0x4ba00477);
    free(jig);
}

TEST(tdo_changes_when_the_clock_falls)
{
    struct jig *jig = make_jig(1);
    char answer[8];

    reset(jig);
    move(jig, "100"); /* the identity's lowest bits are 1, 1, 1, 0 */
    say(jig, "0R4R0R4R0R4R0R4R", 16);
    assert_int_equal(chain_drain(&jig->chain, answer, 8), 8);
    assert_memory_equal(answer, "11111100", 8);
    free(jig);
}

TEST(tdo_is_high_when_no_bits_are_shifted)
{
    struct jig *jig = make_jig(1);
    char answer[4];

    reset(jig);
    move(jig, "100001"); /* the next bit would be zero */
    say(jig, "0R", 2);
    move(jig, "0");
    say(jig, "0R", 2);
    assert_int_equal(chain_drain(&jig->chain, answer, 4), 2);
    assert_memory_equal(answer, "11", 2);
    free(jig);
}

TEST(power_is_acknowledged_as_requested)
{
    struct jig *jig = make_jig(2);

    reset(jig);
    assert_int_equal(read_dp(jig, 1, CTRL_STAT), 0);
    write_dp(jig, 1, CTRL_STAT, 0x10000000);
    assert_int_equal(read_dp(jig, 1, CTRL_STAT), 0x30000000);
    write_dp(jig, 1, CTRL_STAT, 0x50000001);
    assert_int_equal(read_dp(jig, 1, CTRL_STAT), 0xf0000001);
    write_dp(jig, 1, CTRL_STAT, 0xafffffde); /* all that is no request, and no sticky error */
    assert_int_equal(read_dp(jig, 1, CTRL_STAT), 0);
    assert_int_equal(read_dp(jig, 0, CTRL_STAT), 0);
    free(jig);
}

TEST(without_power_an_access_is_an_error)
{
    struct jig *jig = make_jig(1);

    reset(jig);
    read_ap(jig, 0, 0, MEM_AP_IDR);
    assert_true(sticky(jig, 0));
    write_dp(jig, 0, CTRL_STAT, POWER | STICKY);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_IDR), 0x24770011);
    assert_false(sticky(jig, 0));
    free(jig);
}

TEST(what_is_read_comes_out_in_the_next_scan)
{
    struct jig *jig = make_powered(1);

    write_dp(jig, 0, SELECT, 0x010000f0);
    transfer(jig, 0, DAP_APACC, MEM_AP_IDR & 0xf, true, 0);
    assert_int_equal(transfer(jig, 0, DAP_APACC, MEM_AP_BASE & 0xf, true, 0), 0x44770002);
    assert_int_equal(transfer(jig, 0, DAP_DPACC, SELECT, true, 0), 0x80000003);
    assert_int_equal(transfer(jig, 0, DAP_DPACC, RDBUFF, true, 0), 0x010000f0);
    assert_int_equal(transfer(jig, 0, DAP_DPACC, RDBUFF, true, 0), 0);
    free(jig);
}

TEST(ports_that_are_not_there_read_as_zero)
{
    struct jig *jig = make_powered(1);

    write_ap(jig, 0, 2, MEM_AP_DRW, 1);
    assert_int_equal(read_ap(jig, 0, 2, MEM_AP_IDR), 0);
    assert_int_equal(read_ap(jig, 0, 255, MEM_AP_DRW), 0);
    write_dp(jig, 0, SELECT, 1); /* another bank of the debug port */
    assert_int_equal(read_dp(jig, 0, CTRL_STAT), 0);
    write_dp(jig, 0, CTRL_STAT, 0);
    write_dp(jig, 0, SELECT, 0);
    assert_int_equal(read_dp(jig, 0, CTRL_STAT), 0xf0000000);
    assert_int_equal(jig->count, 0);
    free(jig);
}

TEST(after_an_error_accesses_are_dropped_until_it_is_cleared)
{
    struct jig *jig = make_powered(2);

    for (unsigned way = 0; way < 2; way++) {
        aim(jig, WORDS | SINGLE, 0);
        read_ap(jig, 0, 0, MEM_AP_DRW);
        assert_true(sticky(jig, 0));
        assert_false(sticky(jig, 1));
        unsigned count = jig->count;
        write_ap(jig, 0, 0, MEM_AP_TAR, MEMORY_BASE);
        write_ap(jig, 0, 0, MEM_AP_DRW, 0);
        assert_int_equal(jig->count, count);
        transfer(jig, 0, DAP_ABORT, 0, false, 1); /* this stops an access only */
        assert_true(sticky(jig, 0));
        if (way) {
            transfer(jig, 0, DAP_ABORT, 0, false, 4);
        } else {
            write_dp(jig, 0, CTRL_STAT, POWER | STICKY);
        }
        assert_int_equal(read_dp(jig, 0, CTRL_STAT), 0xf0000000);
        assert_int_equal(read_ap(jig, 0, 0, MEM_AP_TAR), 0);
        write_ap(jig, 0, 0, MEM_AP_TAR, MEMORY_BASE);
        assert_int_equal(read_ap(jig, 0, 0, MEM_AP_DRW), word_at(jig, MEMORY_BASE));
    }
    free(jig);
}

TEST(nothing_is_taken_while_an_access_is_pending)
{
    struct jig *jig = make_powered(3);

    aim(jig, WORDS, MEMORY_BASE);
    write_dp(jig, 0, SELECT, 0);
    instruct(jig, 0, DAP_APACC);
    jig->manual = true;
    scan_one(jig, 0, (MEM_AP_DRW >> 1) | READ, 35);
    assert_int_equal(chain_pending_from(&jig->chain, 0), 0);
    assert_int_equal(chain_pending_from(&jig->chain, 1), 3);
    assert_null(chain_pending(&jig->chain, 1));
    const struct access *access = chain_pending(&jig->chain, 0);
    assert_non_null(access);
    assert_int_equal(access->address, MEMORY_BASE);
    assert_int_equal(access->bytes, 4);
    assert_false(access->write);
    assert_int_equal(chain_take(&jig->chain, (const uint8_t *)"R", 1), 0);
    complete(jig, 0);
    assert_null(chain_pending(&jig->chain, 0));
    assert_int_equal(chain_take(&jig->chain, (const uint8_t *)"040", 3), 3);
    free(jig);
}

TEST(one_scan_begins_an_access_of_every_tap)
{
    enum { TAPS = 128 };
    static uint8_t bits[BITS_MAX];
    struct jig *jig = make_powered(TAPS);

    for (unsigned tap = 0; tap < TAPS; tap++) {
        write_ap(jig, tap, 0, MEM_AP_CSW, WORDS);
        write_ap(jig, tap, 0, MEM_AP_TAR, MEMORY_BASE + 4 * tap);
        spread(bits + 4 * tap, DAP_APACC, 4);
    }
    scan(jig, true, bits, 4 * TAPS);
    for (unsigned tap = 0; tap < TAPS; tap++) {
        spread(bits + 35 * tap, (uint64_t)~tap << 3 | MEM_AP_DRW >> 1, 35);
    }
    jig->manual = true;
    scan(jig, false, bits, 35 * TAPS);
    for (unsigned tap = 0; tap < TAPS; tap++) {
        assert_int_equal(chain_pending_from(&jig->chain, 0), tap);
        complete(jig, tap);
        assert_int_equal(word_at(jig, MEMORY_BASE + 4 * tap), ~tap);
    }
    assert_int_equal(chain_pending_from(&jig->chain, 0), TAPS);
    free(jig);
}

TEST(tar_goes_on_by_the_size_of_a_transfer)
{
    struct jig *jig = make_powered(1);

    for (unsigned size = BYTES; size <= WORDS; size++) {
        aim(jig, size, MEMORY_BASE + 4);
        read_ap(jig, 0, 0, MEM_AP_DRW);
        assert_int_equal(read_ap(jig, 0, 0, MEM_AP_TAR), MEMORY_BASE + 4);
        write_ap(jig, 0, 0, MEM_AP_CSW, size | SINGLE);
        read_ap(jig, 0, 0, MEM_AP_DRW);
        write_ap(jig, 0, 0, MEM_AP_DRW, 0);
        assert_int_equal(read_ap(jig, 0, 0, MEM_AP_TAR), MEMORY_BASE + 4 + (2u << size));
    }
    free(jig);
}

TEST(tar_wraps_at_a_kilobyte_and_stays_where_it_failed)
{
    struct jig *jig = make_powered(1);

    aim(jig, WORDS | SINGLE, MEMORY_BASE + 0x7fc);
    read_ap(jig, 0, 0, MEM_AP_DRW);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_TAR), MEMORY_BASE + 0x400);
    write_ap(jig, 0, 0, MEM_AP_TAR, 0x50000000);
    read_ap(jig, 0, 0, MEM_AP_DRW);
    write_dp(jig, 0, CTRL_STAT, POWER | STICKY);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_TAR), 0x50000000);
    free(jig);
}

TEST(small_transfers_lie_in_the_lanes_of_their_address)
{
    struct jig *jig = make_powered(1);
    uint32_t before = word_at(jig, MEMORY_BASE + 0x20);

    for (unsigned i = 0; i < 4; i++) {
        uint32_t lane = 0xffu << 8 * i;

        aim(jig, BYTES, MEMORY_BASE + 0x20 + i);
        assert_int_equal(read_ap(jig, 0, 0, MEM_AP_DRW), before & lane);
        write_ap(jig, 0, 0, MEM_AP_DRW, 0xa4a3a2a1);
        assert_int_equal(jig->done[(jig->count - 1) % ACCESSES_MAX].value, 0xa1 + i);
    }
    assert_int_equal(word_at(jig, MEMORY_BASE + 0x20), 0xa4a3a2a1);
    aim(jig, HALFWORDS, MEMORY_BASE + 0x22);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_DRW), 0xa4a30000);
    write_ap(jig, 0, 0, MEM_AP_DRW, 0x12345678);
    assert_int_equal(word_at(jig, MEMORY_BASE + 0x20), 0x1234a2a1);
    free(jig);
}

TEST(a_packed_transfer_is_several_accesses)
{
    struct jig *jig = make_powered(1);

    for (unsigned offset = 0; offset < 4; offset++) {
        uint32_t drw = 0, address = MEMORY_BASE + 0x40 + offset;

        aim(jig, BYTES | PACKED, address);
        jig->count = 0;
        write_ap(jig, 0, 0, MEM_AP_DRW, 0x44332211);
        assert_int_equal(jig->count, 4);
        for (unsigned i = 0; i < 4; i++) {
            unsigned lane = (offset + i) % 4;

            assert_int_equal(jig->done[i].bytes, 1);
            assert_int_equal(jig->done[i].address, address + i);
            assert_int_equal(jig->done[i].value, 0x11 * (lane + 1));
            drw |= jig->done[i].value << 8 * lane;
        }
        assert_int_equal(read_ap(jig, 0, 0, MEM_AP_TAR), address + 4);
        write_ap(jig, 0, 0, MEM_AP_TAR, address);
        assert_int_equal(read_ap(jig, 0, 0, MEM_AP_DRW), drw);
    }
    aim(jig, HALFWORDS | PACKED, MEMORY_BASE + 0x42);
    uint32_t low = word_at(jig, MEMORY_BASE + 0x40), high = word_at(jig, MEMORY_BASE + 0x44);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_DRW), (low & 0xffff0000) | (high & 0xffff));
    free(jig);
}

TEST(a_packed_transfer_ends_where_it_fails)
{
    struct jig *jig = make_powered(1);

    aim(jig, BYTES | PACKED, MEMORY_BASE - 2);
    jig->count = 0;
    read_ap(jig, 0, 0, MEM_AP_DRW);
    assert_int_equal(jig->count, 1);
    assert_true(sticky(jig, 0));
    free(jig);
}

TEST(a_misaligned_transfer_is_an_error)
{
    static const struct {
        uint32_t csw, address;
    } odd[] = {{WORDS, 1}, {WORDS, 2}, {WORDS, 3}, {HALFWORDS, 1}, {HALFWORDS | PACKED, 3}};

    for (unsigned i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct jig *jig = make_powered(1);

        aim(jig, odd[i].csw, MEMORY_BASE + odd[i].address);
        read_ap(jig, 0, 0, MEM_AP_DRW);
        assert_true(sticky(jig, 0));
        assert_int_equal(jig->count, 0);
        free(jig);
    }
}

TEST(banked_registers_are_words_around_tar)
{
    struct jig *jig = make_powered(1);

    aim(jig, BYTES | SINGLE, MEMORY_BASE + 0x35);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(read_ap(jig, 0, 0, MEM_AP_BD0 + 4 * i),
                         word_at(jig, MEMORY_BASE + 0x30 + 4 * i));
        write_ap(jig, 0, 0, MEM_AP_BD0 + 4 * i, i);
        assert_int_equal(word_at(jig, MEMORY_BASE + 0x30 + 4 * i), i);
    }
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_TAR), MEMORY_BASE + 0x35);
    free(jig);
}

TEST(what_a_port_cannot_do_reads_back_as_something_else)
{
    struct jig *jig = make_powered(1);

    write_ap(jig, 0, 0, MEM_AP_CSW, 0xa2000000 | PACKED | BYTES);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_CSW), 0xa2800060);
    write_ap(jig, 0, 0, MEM_AP_CSW, 0x37);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_CSW) & 0x37, WORDS);
    write_ap(jig, 0, 1, MEM_AP_CSW, PACKED | BYTES);
    assert_int_equal(read_ap(jig, 0, 1, MEM_AP_CSW) & 0x37, WORDS);
    write_ap(jig, 0, 1, MEM_AP_TAR, 0x80010003);
    assert_int_equal(read_ap(jig, 0, 1, MEM_AP_TAR), 0x80010000);
    write_ap(jig, 0, 0, MEM_AP_IDR, 5);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_IDR), 0x24770011);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_CFG), 0);
    assert_int_equal(read_ap(jig, 0, 0, MEM_AP_BASE), 0xffffffff);
    free(jig);
}

static uint32_t read_debug_bus(struct jig *jig, uint32_t address)
{
    write_ap(jig, 0, 1, MEM_AP_TAR, address);
    return read_ap(jig, 0, 1, MEM_AP_DRW);
}

TEST(the_rom_table_leads_to_the_debug_unit)
{
    struct jig *jig = make_powered(1);
    uint32_t table = read_ap(jig, 0, 1, MEM_AP_BASE) & ~0xfffu, identity = 0;

    uint32_t entry = read_debug_bus(jig, table);
    assert_int_equal(entry & 3, 3);
    assert_int_equal(read_debug_bus(jig, table + 4), 0);
    for (unsigned i = 0; i < 4; i++) {
        identity |= read_debug_bus(jig, table + 0xff0 + 4 * i) << 8 * i;
    }
    assert_int_equal(identity, 0xb105100d);
    assert_int_equal(jig->count, 0);
    uint32_t unit = table + (entry & ~0xfffu);
    assert_int_equal(read_debug_bus(jig, unit + 0x88), 0xd0000088);
    assert_int_equal(jig->done[0].space, ACCESS_DEBUG);
    assert_int_equal(jig->done[0].address, 0x88);
    write_ap(jig, 0, 1, MEM_AP_DRW, 7);
    assert_true(jig->done[1].write);
    assert_int_equal(jig->done[1].value, 7);
    assert_false(sticky(jig, 0));
    free(jig);
}

TEST(elsewhere_on_the_debug_bus_is_nothing)
{
    static const uint32_t places[] = {0,          0x7ffffffc, 0x80001000,
                                      0x8000fffc, 0x80011000, 0xfffffffc};

    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct jig *jig = make_powered(1);

        read_debug_bus(jig, places[i]);
        assert_true(sticky(jig, 0));
        assert_int_equal(jig->count, 0);
        free(jig);
    }
}

TEST(srst_and_good_bye_stop_the_chain_until_they_are_heard)
{
    struct jig *jig = make_jig(1);
    const uint8_t *bytes = (const uint8_t *)"rBbssrutQ";
    static const struct {
        size_t taken;
        enum chain_event event;
    } steps[] = {{4, CHAIN_RESET_BEGINS},
                 {2, CHAIN_RESET_ENDS},
                 {1, CHAIN_RESET_BEGINS},
                 {1, CHAIN_RESET_ENDS},
                 {1, CHAIN_QUIT}};
    size_t at = 0;

    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        at += chain_take(&jig->chain, bytes + at, 9 - at);
        assert_int_equal(chain_take(&jig->chain, bytes, 1), 0);
        assert_int_equal(chain_event(&jig->chain), steps[i].event);
        assert_int_equal(chain_event(&jig->chain), CHAIN_NOTHING);
    }
    assert_int_equal(at, 9);
    free(jig);
}

TEST(other_characters_do_nothing)
{
    struct jig *jig = make_jig(2);
    struct chain before;

    chain_take(&jig->chain, (const uint8_t *)"u", 1);
    assert_int_equal(chain_event(&jig->chain), CHAIN_RESET_BEGINS);
    before = jig->chain;
    for (unsigned c = 0; c < 256; c++) {
        uint8_t byte = (uint8_t)c;

        if (c && strchr("01234567RrstuQ", (int)c)) {
            continue;
        }
        assert_int_equal(chain_take(&jig->chain, &byte, 1), 1);
    }
    assert_memory_equal(&before, &jig->chain, sizeof before);
    free(jig);
}

TEST(a_client_that_does_not_listen_is_waited_for)
{
    struct jig *jig = make_jig(1);
    static uint8_t asks[CHAIN_OUTPUT_MAX + 100];
    static char answer[sizeof asks];

    memset(asks, 'R', sizeof asks);
    assert_int_equal(chain_take(&jig->chain, asks, sizeof asks), CHAIN_OUTPUT_MAX);
    assert_int_equal(chain_take(&jig->chain, asks, 1), 0);
    assert_int_equal(chain_drain(&jig->chain, answer, 60), 60);
    assert_int_equal(chain_take(&jig->chain, asks, 100), 60);
    assert_int_equal(chain_drain(&jig->chain, answer, sizeof answer), CHAIN_OUTPUT_MAX);
    for (unsigned i = 0; i < CHAIN_OUTPUT_MAX; i++) {
        assert_int_equal(answer[i], '1');
    }
    free(jig);
}

/* One line of a recording: what was sent, what was answered, or words about it. */
static void replay(struct jig *jig, const char *line)
{
    char answer[CHAIN_OUTPUT_MAX];
    size_t bytes = strcspn(line, "\n");

    if (line[0] == '>') {
        say(jig, line + 2, bytes - 2);
    }
    if (line[0] != '<') {
        return;
    }
    assert_int_equal(chain_drain(&jig->chain, answer, bytes - 2), bytes - 2);
    assert_memory_equal(answer, line + 2, bytes - 2);
}

TEST(what_openocd_was_content_with_is_answered_again)
{
    struct jig *jig = make_jig(2);
    FILE *recording = fopen("tests/golden/openocd_two_taps.txt", "r");
    char line[256];

    assert_non_null(recording);
    while (fgets(line, sizeof line, recording)) {
        replay(jig, line);
    }
    fclose(recording);
    assert_int_equal(chain_drain(&jig->chain, line, 1), 0);
    assert_int_equal(chain_event(&jig->chain), CHAIN_QUIT);
    assert_int_equal(word_at(jig, MEMORY_BASE + 0x10), 0xdeadbeef);
    assert_int_equal(jig->memory[0x21], 0x77);
    assert_int_equal(jig->done[jig->count - 2].address, 0x30000000);
    assert_true(jig->done[jig->count - 2].failed);
    free(jig);
}
