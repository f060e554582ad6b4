/*
 * promise.h - how the nodes of a network are joined, and what operations promise: who gives which
 * blocks, and who gets which.
 *
 * Parts, exported plans and what nodes of a fabric hold are compared with it. It says this by
 * itself, and includes nothing of network/, collectives/ or planner/: an error there does not make
 * the tests err in the same way.
 *
 * Units    ranks, ports, slots, bytes
 * Context  any; pure
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHAPE_DIMS_MAX = 16, SHAPE_PORTS_MAX = 16, HOPS_MAX = 40 };

static const unsigned NOWHERE = UINT32_MAX;

/* A network: sizes by dimension, the first the one that varies fastest with a node's number. A
 * dimension of two nodes has one port at each node, a longer one two, first the one upwards. */
struct shape {
    unsigned dims, nodes, ports, size[SHAPE_DIMS_MAX];
    bool cube, wraps;
};

/* cube:D, ring:N, mesh:AxB, torus:AxBxC: the last number is dimension 0. */
bool shape_read(struct shape *shape, const char *name);
/* The node behind a port, and the port that leads to a node; NOWHERE: there is none. */
unsigned shape_next(const struct shape *shape, unsigned node, unsigned port);
unsigned shape_port(const struct shape *shape, unsigned node, unsigned next);
/* The next node on the way in dimension order; node and to differ. */
unsigned shape_toward(const struct shape *shape, unsigned node, unsigned to);
/* The node that a node becomes when node 0 is moved to `by`. */
unsigned shape_moved(const struct shape *shape, unsigned node, unsigned by);

/* Blocks, in the order of slots. Pairs are numbered sender * nodes + receiver, those of powers of
 * two sender * HOPS_MAX + slot. Where a plan has m segments, all but these travel in so many parts:
 * part i of a node's block is number node * m + i. */
enum blocks {
    BLOCKS_NONE,
    BLOCKS_OWN,      /* the one of the node's number */
    BLOCKS_EVERY,    /* one of every node's number */
    BLOCKS_SEGMENTS, /* those of one vector */
    BLOCKS_FROM,     /* pairs: from the node to every one */
    BLOCKS_TO,       /* pairs: from every node to this one */
    BLOCKS_SHIFTED,  /* the one of the node that stands so far before it */
    BLOCKS_REVERSED, /* the one of the node that stands so far from the other ends */
    BLOCKS_GIVEN,    /* one for each power of two, to the one so far ahead and so far behind */
    BLOCKS_GOTTEN    /* those of the nodes so far behind and so far ahead */
};

/* What an operation promises: who gives which blocks, and who gets which. */
struct promise {
    const char *name; /* as plans are exported */
    enum blocks give, get;
    bool root_gives, root_gets; /* it alone */
    bool combines;              /* a block that is got is made of every node's, each once */
    bool prefix;                /* ... of the nodes up to this one */
    bool in_place;              /* one buffer: what is given lies where it is got */
};

/* What is to be judged. */
struct task {
    struct shape shape;
    const struct promise *promise;
    unsigned root, segments; /* root: or what the operation has in its place */
};

/* By name, or by number (enum ecube_operation); NULL: what it promises is not known here. */
const struct promise *promise_named(const char *name);
const struct promise *promise_numbered(unsigned operation);

/* How many slots a node has of what it gives, or gets; and the block of one of them. */
unsigned task_slots(const struct task *task, unsigned node, bool gets);
unsigned task_block(const struct task *task, unsigned node, bool gets, unsigned slot);
/* The slot of a block named "+2" (by 2^2 ahead), "-0", "++0"; NOWHERE: there is none. */
unsigned task_hop(const struct task *task, const char *name);
/* Numbers of blocks are below this. */
size_t task_blocks(const struct task *task);
/* Whose parts a block is made of that a node gets: those of so many first ranks. */
unsigned task_givers(const struct task *task, unsigned node);
/* The size of a slot where blocks, or the vector of elements, have `bytes`. */
uint64_t task_slot_bytes(const struct task *task, unsigned slot, uint32_t bytes, uint32_t element);
