/*
 * operation.h - the collective operations: one row for each, and nothing else knows them by name.
 *
 * A collective works in three spaces of each node, which are made of slots:
 *
 *   SPACE_SEND      what the program gives
 *   SPACE_RECEIVE   what it gets; of a broadcast the one buffer that it gives and gets
 *   SPACE_SCRATCH   working memory, from the program's heap; as many slots as the plan says
 *
 * Some calls have in the place of the root a number that says what is to be done (enum parameter);
 * wherever a root is asked, told or compared it is that number.
 *
 * A slot holds segment i of m of a block, or of a vector: the elements [i n / m, (i + 1) n / m). In
 * most plans for blocks m is 1. Slot m + i of any space is as large as slot i; where a space has a
 * block for every node, slots [i m, (i + 1) m) are that of rank i. Where blocks have sizes of their
 * own, the call says where each of them lies, and a plan moves every block by itself, from SEND to
 * RECEIVE.
 *
 * Units    slots, bytes
 * Context  any; pure
 * Names    the field's; `standard` is the one that plans are exported under: MPI's, in full
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/movement.h" /* for whoever reads slots of movements */
#include "include/ecube/abi.h"
#include "network/network.h"

enum { OPERATIONS = ECUBE_OPERATIONS };

enum space { SPACE_SEND, SPACE_RECEIVE, SPACE_SCRATCH, SPACES };

/* Slots of a space that follow each other. */
struct slot_range {
    uint8_t space; /* enum space */
    uint32_t first, count;
};

/* How many slots a space has, and on which nodes. */
enum span {
    SPAN_NONE,
    SPAN_ONE,      /* one block, or vector, at every node: all of its segments */
    SPAN_NODES,    /* a block for every rank, at every node */
    SPAN_ONE_ROOT, /* the same at the root alone */
    SPAN_NODES_ROOT,
    SPAN_MOVEMENTS /* a block for each movement (movement.h), at every node */
};

/* What stands in the place of the root. An operation that has one moves each block of a node to one
 * other, or to itself (operation_target). */
enum parameter {
    PARAMETER_NONE,
    PARAMETER_DISTANCE, /* from rank r to rank (r + distance) mod N */
    /* a mask: the coordinates in these dimensions are read backwards, x as size - 1 - x; 0: all */
    PARAMETER_DIMENSIONS,
    PARAMETER_MOVEMENTS /* which: ECUBE_MOVEMENTS_AGAIN, ... */
};

struct operation {
    const char *name, *standard;
    uint8_t span[SPACE_SCRATCH]; /* enum span: of SEND and RECEIVE */
    uint8_t parameter;           /* enum parameter */
    bool rooted;                 /* root counts; else it must be 0, or is the parameter */
    bool reduces;                /* type and operator count; else they must be 0 */
    bool prefix;                 /* a node gets the contributions of ranks up to its own alone */
    bool vector;                 /* all nodes' blocks are the same vector's, not each one's own */
    bool sized;                  /* each block has a size of its own, which its two ends know */
    bool planned;                /* false: its entry is all (align) */
};

/* The operation's row; NULL: there is none, or none of that number yet. */
const struct operation *operation_of(uint32_t operation);

/* The operation of either name; OPERATIONS: there is none. */
uint32_t operation_named(const char *name);

/* Its name; "collective" when there is none. */
const char *operation_name(uint32_t operation);

/* Root, or what is in its place, is below this. */
uint32_t operation_roots(const struct operation *operation, const struct network *network);

/* "root", or what is in its place: "distance", "dimensions", "movements"; NULL: nothing. */
const char *operation_root_name(const struct operation *operation);

/* What tools take when none is said: root 0, distance 1, all dimensions. */
uint32_t operation_root_usual(const struct operation *operation, const struct network *network);

/* Of an operation with a parameter: the node to which a node's block of a slot goes, and whose
 * block it gets there. */
uint32_t operation_target(const struct operation *operation, const struct network *network,
                          uint32_t root, uint32_t node, uint32_t slot);
uint32_t operation_source(const struct operation *operation, const struct network *network,
                          uint32_t root, uint32_t node, uint32_t slot);

/* Whether slots are those of movements. */
static inline bool operation_has_movements(const struct operation *operation)
{
    return operation->parameter == PARAMETER_MOVEMENTS;
}

/* Whether a block is named by a pair: its sender, and its receiver or its movement. As one number a
 * pair is sender * width + the other. */
bool operation_has_pairs(const struct operation *operation);
uint32_t operation_pair_width(const struct operation *operation, uint32_t nodes);

/* Whether blocks may travel in several segments: those that pairs name do not. */
bool operation_has_segments(const struct operation *operation);

/* The slots of a space at a node, where blocks have so many segments. */
uint32_t operation_slots(const struct operation *operation, enum space space, uint32_t nodes,
                         uint32_t rank, uint32_t root, uint32_t segments);

/* Where a slot begins, when blocks have `bytes` made of elements of element_bytes in `segments`
 * segments. The end of a slot is the begin of the next. */
uint64_t operation_slot_at(const struct operation *operation, uint64_t slot, uint32_t bytes,
                           uint32_t element_bytes, uint32_t segments);
