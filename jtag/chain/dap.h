/*
 * dap.h - the debug port of one node (JTAG-DP) and its two access ports.
 *
 * A debugger scans one of the registers below; what it has read comes out in the next scan:
 *
 *     DPACC, APACC   34          3 2    1  0       bit 0 leaves and enters first
 *       into the DP  [ data      | A[3:2] | read ]
 *       out of it    [ posted value | ack 0 1 0  ]   010: OK or fault; CTRL/STAT tells which
 *     ABORT          as DPACC; clears the sticky error
 *     IDCODE         32 bits, BYPASS 1 bit
 *
 * An access to a bus (struct access) begins when its scan is updated and is complete before the
 * next scan, so WAIT never comes out, nor an overrun. After one that failed all accesses of access
 * ports are dropped until the sticky error is cleared, by CTRL/STAT or ABORT.
 *
 * Access port 0 is the node's bus, 1 its debug unit (mem_ap.h); others are not there and read as
 * zero. Registers of other DP banks, transfer modes and counters (pushed compare) are not there
 * either.
 *
 * Context  any; pure
 * Source   ARM IHI 0031C, chapters 2 (DP), 3 (JTAG-DP), 4 (its registers)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jtag/chain/mem_ap.h"

enum { DAP_INSTRUCTION_BITS = 4, DAP_INSTRUCTION_CAPTURE = 1 };

enum dap_instruction {
    DAP_ABORT = 0x8,
    DAP_DPACC = 0xa,
    DAP_APACC = 0xb,
    DAP_IDCODE = 0xe /* all others are BYPASS */
};

enum { DAP_IDENTITY = 0x4ba00477, DAP_SCAN_BITS = 35, DAP_APS = 2 };

struct dap {
    uint32_t control; /* CTRL/STAT: what was requested */
    bool sticky_error;
    uint32_t select;
    uint32_t posted; /* what the next scan brings out */
    bool busy;       /* an access of the selected port is under way */
    struct mem_ap ap[DAP_APS];
};

void dap_init(struct dap *dap);

/* How long the register of an instruction is. */
unsigned dap_bits(uint8_t instruction);

/* What is loaded into it. */
uint64_t dap_capture(const struct dap *dap, uint8_t instruction);

/* What has been shifted into it takes effect. No access may be under way. */
void dap_update(struct dap *dap, uint8_t instruction, uint64_t scan);

/* The access that is to be done now; NULL: none. */
struct access *dap_access(struct dap *dap);

/* It was done or has failed. There may be a next one (packed transfers). */
void dap_complete(struct dap *dap);
