/*
 * walker.h - walks one node through a collective schedule: which peer, which bytes, whose turn.
 *
 * A walk is a value: begin it, take steps until there are none. It moves no data and knows no
 * links; the node does what a step says, in the order of the steps.
 *
 * Buffers, in blocks of block_bytes, rank order:
 *   EXCHANGE         send: one block for every node; receive: one block from every node. The own
 *                    block is not moved.
 *   BROADCAST        send and receive are the one buffer of block_bytes.
 *   SCATTER, GATHER  send and receive are one working buffer that holds the blocks of the node's
 *                    subtree: all nodes' at the root; elsewhere the 2^t blocks from rank with its
 *                    low t bits cleared, where t counts the trailing zeros of rank ^ root.
 *   BARRIER          none.
 *
 * Turns: turns[b] says how many circuits of this schedule the link in dimension b of the step's
 * e-cube path carries, in the direction of the path, before this one. Every node's links agree on
 * it, so routers can keep the order.
 *
 * Units    bytes
 * Errors   none; what a program says is checked with walk_possible before a walk begins (CHECK)
 * Context  any; pure
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), section 3.2 (complete exchange); Ozveren,
 *          LIDS-P-1721 (1987), section 2.2 and figure 6 (broadcast, scatter, gather on the binomial
 *          tree, translated by XOR)
 * Names    the papers' k is block_bytes, n is dims, x XOR y is mask
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/row.h"

enum { WALK_TURNS = 16 };

struct walk {
    const struct schedule_table *table;
    uint32_t rank;
    uint32_t root;
    uint32_t block_bytes;
    uint16_t row;  /* next row to look at */
    uint16_t step; /* its step number in this network */
    uint8_t operation;
    uint8_t dims;
    uint16_t carried[CUBE_DIMS_MAX]; /* circuits on each link of a dimension in the rows passed */
};

struct walk_step {
    bool sends;
    bool receives;
    uint32_t peer;
    uint32_t send_offset;
    uint32_t send_bytes;
    uint32_t receive_offset;
    uint32_t receive_bytes;
    uint32_t step; /* number in the schedule, from 0, the same on every node */
    uint16_t turns[WALK_TURNS];
};

/* The bytes of a walk's send and receive buffer that its steps may touch. */
struct walk_span {
    uint64_t send_bytes;
    uint64_t receive_bytes;
};

/*
 * True when there is such an operation, its table holds such a cube with such a root, and offsets
 * into the buffers fit 32 bits.
 */
bool walk_possible(uint32_t operation, uint32_t dims, uint32_t root, uint32_t block_bytes);

/* The same through any table. */
bool walk_possible_table(const struct schedule_table *table, uint32_t operation, uint32_t dims,
                         uint32_t root, uint32_t block_bytes);

/* Starts the walk of node rank through the proved table of the operation. */
void walk_begin(struct walk *walk, uint32_t operation, uint32_t dims, uint32_t rank, uint32_t root,
                uint32_t block_bytes);

/* The same through any table; the prover calls this before a table is trusted. */
void walk_begin_table(struct walk *walk, const struct schedule_table *table, uint32_t operation,
                      uint32_t dims, uint32_t rank, uint32_t root, uint32_t block_bytes);

/* Fills the next step in which the node sends or receives; false when the schedule is over. */
bool walk_next(struct walk *walk, struct walk_step *step);

/* The first row from `row` on that this cube has; the table's number of rows when there is none. */
uint32_t walk_row(const struct schedule_table *table, uint32_t dims, uint32_t row);

/* The number of steps of the schedule on this cube, whichever node walks it. */
uint32_t walk_steps(uint32_t operation, uint32_t dims);

/* The buffers that this walk needs. */
struct walk_span walk_span(const struct walk *walk);
