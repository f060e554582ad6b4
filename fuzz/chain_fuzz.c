/*
 * chain_fuzz.c - a JTAG chain, with the fuzzer as client and as nodes.
 *
 * What comes out equals what a row of real shift registers would say: here each TAP has its own
 * register, and all of them move at each TCK, where chain.c has one ring. Debug ports have the same
 * state in both, and each access that comes out is one that a node can be asked for:
 * aligned, and at most one per TAP pending; while one is, nothing is taken.
 */
#include <string.h>

#include "drivers/check.h"
#include "fuzz/fuzz.h"
#include "fuzz/input.h"
#include "jtag/chain/chain.h"

enum {
    LONG_CHAIN = 0xf0,   /* as the first byte, and above: CHAIN_TAPS_MAX TAPs */
    SHORT_CHAIN_MAX = 8, /* below: at most so many */
    MOVES_MAX = 400000,  /* registers moved in one input: more is slower and finds nothing else */
    PACKED_ACCESSES_MAX = 4,
    DEBUG_UNIT_END = 0x1000,
    SENT_MAX = 16384
};

enum operation { DO_RAW, DO_CLOCKS, DO_INSTRUCT, DO_TRANSFER, DO_COMPLETE, DO_DRAIN, DO_COUNT };

struct register_row {
    uint64_t bits;
    unsigned count;
    uint8_t instruction;
    struct dap dap;
};

struct state {
    struct chain chain;
    struct input input;
    struct register_row row[CHAIN_TAPS_MAX];
    unsigned moves;
    enum tap_state tap_state;
    bool tck, trst, tdo;
    char expected[CHAIN_OUTPUT_MAX];
    size_t expected_bytes;
    uint8_t sent[SENT_MAX]; /* characters of one operation */
    size_t sent_bytes, asked;
};

static bool row_shifts(const struct state *s)
{
    return s->tap_state == TAP_SHIFT_DR || s->tap_state == TAP_SHIFT_IR;
}

static void row_reset(struct state *s)
{
    s->tap_state = TAP_RESET;
    for (unsigned i = 0; i < s->chain.taps; i++) {
        s->row[i].instruction = DAP_IDCODE;
    }
}

/* TDI enters the last TAP, TDO leaves the first. */
static void row_shift(struct state *s, uint64_t carry)
{
    for (unsigned i = s->chain.taps; i-- > 0;) {
        struct register_row *row = &s->row[i];
        uint64_t out = row->bits & 1;

        row->bits = row->bits >> 1 | carry << (row->count - 1);
        carry = out;
    }
    s->moves += s->chain.taps;
}

static void row_capture(struct state *s, bool instructions)
{
    for (unsigned i = 0; i < s->chain.taps; i++) {
        struct register_row *row = &s->row[i];

        row->count = instructions ? DAP_INSTRUCTION_BITS : dap_bits(row->instruction);
        row->bits =
            instructions ? DAP_INSTRUCTION_CAPTURE : dap_capture(&row->dap, row->instruction);
    }
}

static void row_update(struct state *s, bool instructions)
{
    for (unsigned i = 0; i < s->chain.taps; i++) {
        struct register_row *row = &s->row[i];

        if (instructions) {
            row->instruction = (uint8_t)row->bits;
        } else {
            dap_update(&row->dap, row->instruction, row->bits);
        }
    }
}

static void row_rise(struct state *s, bool tms, bool tdi)
{
    if (row_shifts(s)) {
        row_shift(s, tdi);
    }
    if (s->tap_state == TAP_CAPTURE_DR || s->tap_state == TAP_CAPTURE_IR) {
        row_capture(s, s->tap_state == TAP_CAPTURE_IR);
    }
    s->tap_state = tap_next(s->tap_state, tms);
}

static void row_fall(struct state *s)
{
    s->tdo = row_shifts(s) ? s->row[0].bits & 1 : 1;
    if (s->tap_state == TAP_UPDATE_DR || s->tap_state == TAP_UPDATE_IR) {
        row_update(s, s->tap_state == TAP_UPDATE_IR);
    }
    if (s->tap_state == TAP_RESET) {
        row_reset(s);
    }
}

static void row_take(struct state *s, uint8_t c)
{
    if (c >= '0' && c <= '7') {
        bool tck = c & 4, moved = tck != s->tck && !s->trst;

        s->tck = tck;
        if (moved && tck) {
            row_rise(s, c & 2, c & 1);
        } else if (moved) {
            row_fall(s);
        }
    } else if (c >= 'r' && c <= 'u') {
        s->trst = c >= 't';
        s->tdo |= s->trst;
        if (s->trst) {
            row_reset(s);
        }
    } else if (c == 'R') {
        s->expected[s->expected_bytes++] = s->tdo ? '1' : '0';
    }
}

static void check_dap(const struct dap *dap, const struct dap *row)
{
    CHECK(dap->control == row->control && dap->sticky_error == row->sticky_error);
    CHECK(dap->select == row->select && dap->posted == row->posted && dap->busy == row->busy);
    for (unsigned i = 0; i < DAP_APS; i++) {
        CHECK(dap->ap[i].csw == row->ap[i].csw && dap->ap[i].tar == row->ap[i].tar);
    }
}

static void check_access(const struct access *access)
{
    CHECK(access->bytes == 1 || access->bytes == 2 || access->bytes == 4);
    CHECK(access->address % access->bytes == 0);
    CHECK(access->bytes == 4 || !access->write || access->value >> 8 * access->bytes == 0);
    if (access->space == ACCESS_DEBUG) {
        CHECK(access->bytes == 4 && access->address < DEBUG_UNIT_END);
    } else {
        CHECK(access->space == ACCESS_BUS);
    }
}

static void check_all(struct state *s)
{
    unsigned next = chain_pending_from(&s->chain, 0);

    CHECK(s->chain.output_bytes == s->expected_bytes);
    CHECK(memcmp(s->chain.output, s->expected, s->expected_bytes) == 0);
    for (unsigned i = 0; i < s->chain.taps; i++) {
        struct access *access = chain_pending(&s->chain, i);

        check_dap(&s->chain.dap[i], &s->row[i].dap);
        CHECK((access != NULL) == (i == next));
        if (access) {
            check_access(access);
            next = chain_pending_from(&s->chain, i + 1);
        }
    }
    CHECK(next == s->chain.taps);
}

static bool stands(struct state *s)
{
    return s->chain.event != CHAIN_NOTHING || s->chain.output_bytes == CHAIN_OUTPUT_MAX ||
           chain_pending_from(&s->chain, 0) < s->chain.taps;
}

static void feed(struct state *s, const uint8_t *bytes, size_t count)
{
    bool stood = stands(s);
    size_t taken = chain_take(&s->chain, bytes, count);

    CHECK(taken <= count && (!stood || taken == 0));
    CHECK(taken == count || stands(s));
    for (size_t i = 0; i < taken; i++) {
        row_take(s, bytes[i]);
    }
    check_all(s);
}

/* The nodes answer: each of a packed transfer's accesses. */
static void complete(struct state *s, unsigned tap)
{
    for (unsigned i = 0; chain_pending(&s->chain, tap); i++) {
        struct access *access = chain_pending(&s->chain, tap);
        struct access *same = dap_access(&s->row[tap].dap);

        CHECK(i < PACKED_ACCESSES_MAX && same && access->address == same->address);
        CHECK(access->write == same->write && access->value == same->value);
        access->failed = same->failed = input_u8(&s->input) % 8 == 7;
        access->value = same->value = access->failed ? access->value : input_u32(&s->input);
        chain_complete(&s->chain, tap);
        dap_complete(&s->row[tap].dap);
    }
}

static void complete_all(struct state *s)
{
    unsigned tap;

    while ((tap = chain_pending_from(&s->chain, 0)) < s->chain.taps) {
        complete(s, tap);
    }
}

static void drain(struct state *s, size_t room)
{
    char answer[CHAIN_OUTPUT_MAX];
    size_t moved = chain_drain(&s->chain, answer, room);

    CHECK(moved == (room < s->expected_bytes ? room : s->expected_bytes));
    CHECK(memcmp(answer, s->expected, moved) == 0);
    s->expected_bytes -= moved;
    memmove(s->expected, s->expected + moved, s->expected_bytes);
}

/* Nothing is in the way of a scan. */
static void make_way(struct state *s)
{
    complete_all(s);
    drain(s, CHAIN_OUTPUT_MAX);
    chain_event(&s->chain);
}

/* A cycle of TCK, and TDO in it as long as the answers fit. */
static void put(struct state *s, unsigned pins)
{
    s->sent[s->sent_bytes++] = (uint8_t)('0' + pins);
    if (s->asked + 1 < CHAIN_OUTPUT_MAX) {
        s->sent[s->sent_bytes++] = 'R';
        s->asked++;
    }
    s->sent[s->sent_bytes++] = (uint8_t)('4' + pins);
}

static void put_moves(struct state *s, const char *tms)
{
    for (; *tms; tms++) {
        put(s, *tms == '1' ? 2 : 0);
    }
}

static void put_bits(struct state *s, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        put(s, value >> i & 1);
    }
}

static void send(struct state *s)
{
    make_way(s);
    feed(s, s->sent, s->sent_bytes);
    s->sent_bytes = s->asked = 0;
}

/* The last cycle leaves the shift, and the scan is updated. */
static void put_end(struct state *s)
{
    uint8_t *last = s->sent + s->sent_bytes;

    last[-1] |= 2; /* TMS */
    last[last[-2] == 'R' ? -3 : -2] |= 2;
    put_moves(s, "100");
}

static void go_idle(struct state *s)
{
    s->sent[s->sent_bytes++] = 'r';
    s->sent[s->sent_bytes++] = '0';
    put_moves(s, s->tap_state == TAP_IDLE ? "0" : "1111110");
    send(s);
}

/* One TAP, or all, get an instruction; the others BYPASS. */
static void instruct(struct state *s, unsigned chosen, uint8_t instruction)
{
    go_idle(s);
    put_moves(s, "1100");
    for (unsigned i = 0; i < s->chain.taps; i++) {
        put_bits(s, i == chosen || chosen >= s->chain.taps ? instruction : 0xf, 4);
    }
    put_end(s);
    send(s);
}

/* What the registers are told follows from the instructions that stand. */
static void transfer(struct state *s)
{
    uint8_t how = input_u8(&s->input);
    uint64_t scan = (uint64_t)input_u32(&s->input) << 3 | (how & 7);

    go_idle(s);
    put_moves(s, "100");
    put_bits(s, scan, how >> 3); /* these leave the chain again */
    for (unsigned i = 0; i < s->chain.taps; i++) {
        put_bits(s, scan, dap_bits(s->chain.instruction[i]));
    }
    put_end(s);
    send(s);
}

static void raw(struct state *s, bool clocks)
{
    uint32_t count;
    const uint8_t *bytes = input_bytes(&s->input, input_u8(&s->input), &count);

    for (uint32_t i = 0; i < count; i++) {
        s->sent[i] = clocks ? (uint8_t) "01234567RRRRtruQ"[bytes[i] % 16] : bytes[i];
    }
    feed(s, s->sent, count);
}

static void operate(struct state *s)
{
    static const uint8_t instructions[] = {DAP_ABORT, DAP_DPACC, DAP_APACC, DAP_APACC, DAP_IDCODE};
    uint8_t what = input_u8(&s->input);

    switch (what % DO_COUNT) {
    case DO_RAW: raw(s, false); break;
    case DO_CLOCKS: raw(s, true); break;
    case DO_INSTRUCT:
        instruct(s, input_u8(&s->input), instructions[what / DO_COUNT % sizeof instructions]);
        break;
    case DO_TRANSFER: transfer(s); break;
    case DO_COMPLETE: complete(s, input_u8(&s->input) % s->chain.taps); break;
    case DO_DRAIN: drain(s, input_u8(&s->input)); break;
    }
    check_all(s);
}

static void begin(struct state *s)
{
    uint8_t size = input_u8(&s->input);

    memset(s->row, 0, sizeof s->row);
    chain_init(&s->chain, size >= LONG_CHAIN ? CHAIN_TAPS_MAX : 1 + size % SHORT_CHAIN_MAX);
    for (unsigned i = 0; i < s->chain.taps; i++) {
        dap_init(&s->row[i].dap);
    }
    s->tck = s->trst = false;
    s->tdo = true;
    s->moves = 0;
    s->expected_bytes = s->sent_bytes = s->asked = 0;
    row_reset(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct state s;

    s.input = (struct input){data, size < FUZZ_INPUT_MAX ? size : FUZZ_INPUT_MAX};
    begin(&s);
    while (s.input.left > 0 && s.moves < MOVES_MAX) {
        operate(&s);
    }
    return 0;
}
