#include "jtag/chain/chain.h"

#include <string.h>

#include "drivers/check.h"

enum { PIN_TDI = 1, PIN_TMS = 2, PIN_TCK = 4, PIN_SRST = 1, PIN_TRST = 2, PENDING_BITS = 64 };

/* Nobody drives TDO but while bits are shifted. */
enum { TDO_UNDRIVEN = 1 };

static void ring_append(struct chain_ring *ring, uint64_t value, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++) {
        ring->bits[ring->count++] = value >> i & 1;
    }
}

/* Bits of the ring as it has been shifted, counted from TDO. */
static uint64_t ring_read(const struct chain_ring *ring, unsigned from, unsigned bits)
{
    unsigned at = (ring->at + from) % ring->count;
    uint64_t value = 0;

    for (unsigned i = 0; i < bits; i++) {
        value |= (uint64_t)ring->bits[at] << i;
        at = at + 1 < ring->count ? at + 1 : 0;
    }
    return value;
}

static void ring_shift(struct chain_ring *ring, bool tdi)
{
    ring->bits[ring->at] = tdi;
    ring->at = ring->at + 1 < ring->count ? ring->at + 1 : 0;
}

static void capture_dr(struct chain *chain)
{
    chain->ring.at = chain->ring.count = 0;
    for (unsigned tap = 0; tap < chain->taps; tap++) {
        uint8_t instruction = chain->instruction[tap];

        ring_append(&chain->ring, dap_capture(&chain->dap[tap], instruction),
                    dap_bits(instruction));
    }
}

static void capture_ir(struct chain *chain)
{
    chain->ring.at = chain->ring.count = 0;
    for (unsigned tap = 0; tap < chain->taps; tap++) {
        ring_append(&chain->ring, DAP_INSTRUCTION_CAPTURE, DAP_INSTRUCTION_BITS);
    }
}

/* Notes whether a TAP has an access to be done. */
static void note_pending(struct chain *chain, unsigned tap)
{
    if (dap_access(&chain->dap[tap])) {
        chain->pending[tap / PENDING_BITS] |= 1ull << tap % PENDING_BITS;
        chain->pending_count++;
    }
}

static void update_dr(struct chain *chain)
{
    unsigned at = 0;

    for (unsigned tap = 0; tap < chain->taps; tap++) {
        uint8_t instruction = chain->instruction[tap];
        unsigned bits = dap_bits(instruction);

        if (bits == DAP_SCAN_BITS) {
            dap_update(&chain->dap[tap], instruction, ring_read(&chain->ring, at, bits));
            note_pending(chain, tap);
        }
        at += bits;
    }
}

static void update_ir(struct chain *chain)
{
    for (unsigned tap = 0; tap < chain->taps; tap++) {
        chain->instruction[tap] =
            (uint8_t)ring_read(&chain->ring, tap * DAP_INSTRUCTION_BITS, DAP_INSTRUCTION_BITS);
    }
}

static void enter_reset(struct chain *chain)
{
    chain->state = TAP_RESET;
    memset(chain->instruction, DAP_IDCODE, sizeof chain->instruction);
}

void chain_init(struct chain *chain, unsigned taps)
{
    CHECK(taps >= 1 && taps <= CHAIN_TAPS_MAX);
    memset(chain, 0, sizeof *chain);
    chain->taps = taps;
    chain->tdo = TDO_UNDRIVEN;
    for (unsigned tap = 0; tap < taps; tap++) {
        dap_init(&chain->dap[tap]);
    }
    enter_reset(chain);
}

static bool shifts(enum tap_state state)
{
    return state == TAP_SHIFT_DR || state == TAP_SHIFT_IR;
}

static void rise(struct chain *chain, bool tms, bool tdi)
{
    if (shifts(chain->state)) {
        ring_shift(&chain->ring, tdi);
    } else if (chain->state == TAP_CAPTURE_DR) {
        capture_dr(chain);
    } else if (chain->state == TAP_CAPTURE_IR) {
        capture_ir(chain);
    }
    chain->state = tap_next(chain->state, tms);
}

static void fall(struct chain *chain)
{
    chain->tdo = shifts(chain->state) ? chain->ring.bits[chain->ring.at] : TDO_UNDRIVEN;
    if (chain->state == TAP_UPDATE_DR) {
        update_dr(chain);
    } else if (chain->state == TAP_UPDATE_IR) {
        update_ir(chain);
    } else if (chain->state == TAP_RESET) {
        enter_reset(chain);
    }
}

static void set_clock(struct chain *chain, unsigned pins)
{
    bool tck = pins & PIN_TCK;

    if (tck == chain->tck) {
        return;
    }
    chain->tck = tck;
    if (chain->trst) {
        return;
    }
    if (tck) {
        rise(chain, pins & PIN_TMS, pins & PIN_TDI);
    } else {
        fall(chain);
    }
}

static void set_resets(struct chain *chain, unsigned pins)
{
    bool srst = pins & PIN_SRST;

    chain->trst = pins & PIN_TRST;
    if (chain->trst) {
        enter_reset(chain);
        chain->tdo = TDO_UNDRIVEN;
    }
    if (srst != chain->srst) {
        chain->event = srst ? CHAIN_RESET_BEGINS : CHAIN_RESET_ENDS;
    }
    chain->srst = srst;
}

static void take(struct chain *chain, uint8_t character)
{
    if (character >= '0' && character <= '7') {
        set_clock(chain, (unsigned)character - '0');
    } else if (character == 'R') {
        chain->output[chain->output_bytes++] = chain->tdo ? '1' : '0';
    } else if (character >= 'r' && character <= 'u') {
        set_resets(chain, (unsigned)character - 'r');
    } else if (character == 'Q') {
        chain->event = CHAIN_QUIT;
    }
}

static bool stands(const struct chain *chain)
{
    return chain->pending_count > 0 || chain->event != CHAIN_NOTHING ||
           chain->output_bytes == CHAIN_OUTPUT_MAX;
}

size_t chain_take(struct chain *chain, const uint8_t *bytes, size_t count)
{
    size_t taken = 0;

    while (taken < count && !stands(chain)) {
        take(chain, bytes[taken++]);
    }
    return taken;
}

size_t chain_drain(struct chain *chain, char *to, size_t room)
{
    size_t moved = chain->output_bytes < room ? chain->output_bytes : room;

    memcpy(to, chain->output, moved);
    chain->output_bytes -= moved;
    memmove(chain->output, chain->output + moved, chain->output_bytes);
    return moved;
}

enum chain_event chain_event(struct chain *chain)
{
    enum chain_event event = chain->event;

    chain->event = CHAIN_NOTHING;
    return event;
}

unsigned chain_pending_from(const struct chain *chain, unsigned tap)
{
    while (tap < chain->taps) {
        uint64_t rest = chain->pending[tap / PENDING_BITS] >> tap % PENDING_BITS;

        if (rest) {
            return tap + (unsigned)__builtin_ctzll(rest);
        }
        tap += PENDING_BITS - tap % PENDING_BITS;
    }
    return chain->taps;
}

struct access *chain_pending(struct chain *chain, unsigned tap)
{
    CHECK(tap < chain->taps);
    return dap_access(&chain->dap[tap]);
}

void chain_complete(struct chain *chain, unsigned tap)
{
    CHECK(chain_pending(chain, tap));
    dap_complete(&chain->dap[tap]);
    chain->pending[tap / PENDING_BITS] &= ~(1ull << tap % PENDING_BITS);
    chain->pending_count--;
    note_pending(chain, tap);
}
