/*
 * chain.h - one client's view of a JTAG chain: characters of OpenOCD's remote_bitbang in, bits and
 * accesses out.
 *
 *     chain_take(bytes) ──► '0', '1' for each R (chain_drain)
 *           │ stops at an access, at an event, and when the output is full
 *           ├─► chain_pending: an access of a node. It is done, then chain_complete
 *           └─► chain_event: SRST moves, or the client says good-bye
 *
 * All TAPs' registers are one ring of bits, loaded at Capture. To shift puts TDI where TDO was, and
 * moves on; at Update the ring is read from where it stands, TAP 0 first, which is nearest to TDO
 * (the first `jtag newtap`). So a cycle of TCK costs the same for 1 and for 128 TAPs:
 *
 *     TAP 0: DPACC        TAP 1: BYPASS  TAP 2: BYPASS
 *     [b0 b1 ... b34]     [0]            [0]          37 bits
 *      ▲ at: TDO, then TDI comes here, and at moves to the right, after the last bit to the first
 *
 * The client's wires: 0 to 7 set TCK (4), TMS (2), TDI (1); R samples TDO, which changes when TCK
 * falls; r s t u set TRST (2) and SRST (1), counted from r; B and b (a lamp) and all others do
 * nothing.
 *
 * The state of debug and access ports is the client's own; with the chain it begins anew.
 *
 * Errors   none: any bytes have a meaning
 * Context  any; pure
 * Source   OpenOCD 0.12, doc/manual/jtag/drivers/remote_bitbang.txt; IEEE 1149.1-2013
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jtag/chain/dap.h"
#include "jtag/chain/tap.h"

enum { CHAIN_TAPS_MAX = 128, CHAIN_OUTPUT_MAX = 4096 };

enum chain_event {
    CHAIN_NOTHING,
    CHAIN_QUIT,         /* the client goes */
    CHAIN_RESET_BEGINS, /* SRST: the nodes are held in reset, */
    CHAIN_RESET_ENDS    /* and are let go */
};

struct chain_ring {
    uint32_t at, count;
    uint8_t bits[CHAIN_TAPS_MAX * DAP_SCAN_BITS];
};

struct chain {
    unsigned taps;
    enum tap_state state;
    bool tck, tdo, trst, srst;
    enum chain_event event;
    unsigned pending_count;
    uint64_t pending[CHAIN_TAPS_MAX / 64]; /* bit: TAP */
    size_t output_bytes;
    char output[CHAIN_OUTPUT_MAX];
    struct chain_ring ring;
    uint8_t instruction[CHAIN_TAPS_MAX];
    struct dap dap[CHAIN_TAPS_MAX];
};

/* `taps` from 1 to CHAIN_TAPS_MAX. */
void chain_init(struct chain *chain, unsigned taps);

/* Takes characters of the client; returns how many. Less than `count`: an access is pending, an
 * event has come, or the output is full, and as long as one of these is so it takes none. */
size_t chain_take(struct chain *chain, const uint8_t *bytes, size_t count);

/* Moves at most `room` characters of the answer to `to`; returns how many. */
size_t chain_drain(struct chain *chain, char *to, size_t room);

/* What has come; it is forgotten then. */
enum chain_event chain_event(struct chain *chain);

/* The first TAP from `tap` on with a pending access; taps: none. */
unsigned chain_pending_from(const struct chain *chain, unsigned tap);

/* The pending access of a TAP; NULL: none. It lies in the chain, valid until chain_complete. */
struct access *chain_pending(struct chain *chain, unsigned tap);

/* It was done: value or failed are filled in. The TAP may have a next one. */
void chain_complete(struct chain *chain, unsigned tap);
