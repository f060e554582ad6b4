/*
 * row.h - one row of a collective schedule: one step, written for the identity node.
 *
 * A node reads a row with its relative rank, rank XOR root, in place of its rank; XOR is the group
 * operation of the hypercube, so one table serves every node and every root. Rows are ordered in
 * steps, one row a step. A row whose mask needs a dimension that the network does not have is
 * skipped, and those behind it that need it as well, so one table serves every cube up to the
 * dimensions that it holds.
 *
 *   a node sends    when (relative & care) == send_value
 *   a node receives when (relative & care) == receive_value
 *   its peer is     rank ^ mask
 *
 * Example, the binomial broadcast on 8 nodes (care, send_value, receive_value as bits):
 *
 *   step 0  mask 001  care 111  send 000  receive 001      0 -> 1
 *   step 1  mask 010  care 110  send 000  receive 010      0 -> 2, 1 -> 3
 *   step 2  mask 100  care 100  send 000  receive 100      0 -> 4, 1 -> 5, 2 -> 6, 3 -> 7
 *
 * Invariant  receive_value == (send_value ^ mask) & care, so every send meets its receive in the
 *            same step
 * Invariant  a row with care 0 is an exchange: it uses every directed link of the dimensions in
 *            mask exactly once
 */
#pragma once

#include <stdint.h>

enum {
    CUBE_DIMS_MAX = 16,     /* that any table may hold: the bits of a mask */
    SCHEDULE_OPERATIONS = 5 /* one table for each enum ecube_operation */
};

/* Which blocks the message of a row holds. */
enum row_select {
    SELECT_NOTHING = 0, /* no bytes: a barrier */
    SELECT_PEER = 1,    /* the block for the peer; comes in as the block from the peer */
    SELECT_WHOLE = 2,   /* the one buffer of the operation */
    SELECT_SUBTREE =
        3 /* the 2^level blocks of the aligned subcube below the farther of the two nodes */
};

struct schedule_row {
    uint16_t mask;
    uint16_t care;
    uint16_t send_value;
    uint16_t receive_value;
    uint8_t select; /* enum row_select */
    uint8_t level;
    /* index of the next row whose highest dimension is lower than that of this one: where a cube
     * that lacks it finds its next row; the number of rows: there is none */
    uint16_t lower;
};

struct schedule_table {
    const struct schedule_row *rows;
    uint16_t row_count;
    uint16_t dims; /* the largest cube whose rows are all here */
};

/*
 * Indexed by enum ecube_operation; built and proved by gen/. There are two sets of them, of which a
 * binary links one: the firmware's fit its image, the tool's reach further.
 */
extern const struct schedule_table schedule_tables[SCHEDULE_OPERATIONS];
