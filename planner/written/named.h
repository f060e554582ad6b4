/*
 * named.h - plans as people and other tools write them: circuits that move blocks by name, which
 * are given slots here.
 *
 *     named_plan_lay    sorts the circuits, looks for circles of waits, finds slots for all blocks,
 *                       and proves what comes of it
 *
 * What a name stands for: s * nodes + d is what s has for d, where every node has a block for every
 * other; s what s gives; d what is for d; i segment i of a vector (doc/plans.md).
 *
 * Slots. A block that a node has to keep goes where the operation promises it, another one into
 * scratch. Of a block that is combined a node has one sum, which grows in such a place; when the
 * sum is sent and received in one step it changes between two.
 *
 *     allreduce on cube:1    0 -> 1 "0", combined    node 0 sends SEND 0, and combines what comes
 *                            1 -> 0 "0", combined    with RECEIVE 0, into which it copied its own
 *
 * Where circuits say whose contributions they carry (`sets`), what comes is kept beside the sum
 * unless it is combined and, of a prefix, of the ranks just below; what is sent is made of what the
 * node has.
 *
 * Order. Every node does its circuits by step. Every link serves them by `order`, if that is given;
 * else by step and place. A circuit waits for those of its two nodes' steps before, and for the one
 * before it on each of its links. A circle of these would never end.
 *
 * Units    ranks, steps, names
 * Errors   NULL, and a fault that names the circuit
 * Context  host
 */
#pragma once

#include "planner/planner.h"

enum { NAMED_WORDS_MAX = 400, NAMED_SETS_NODES_MAX = 1024 };

static const uint32_t NAMED_NONE = UINT32_MAX;

struct named_circuit {
    uint32_t step, from, to;
    uint32_t order; /* NAMED_NONE: its place among the circuits; of all or of none */
    uint32_t name_at, name_count;
    uint32_t set_at; /* first of name_count sets of contributions; NAMED_NONE: not said */
    uint32_t port_at, port_count; /* its path; port_at PLAN_DIMENSION_ORDER: the network's */
    bool combines, ahead;
};

struct named_plan {
    struct network network;
    uint32_t operation, root, segments;
    struct named_circuit *circuits;
    uint32_t circuit_count, name_count, port_count, set_count;
    uint32_t *names;
    uint8_t *ports;
    uint64_t *sets; /* named_set_words of each */
};

/* Words of 64 ranks in a set. */
static inline uint32_t named_set_words(uint32_t nodes)
{
    return (nodes + 63) / 64;
}

struct named_fault {
    uint32_t circuit; /* its place among the circuits; NAMED_NONE: none */
    char words[NAMED_WORDS_MAX];
};

/* The plan, proved. Its circuits, copies left out, are those of `sorted` (circuit_count of them) in
 * this order, which is filled. */
struct plan *named_plan_lay(const struct named_plan *named, uint32_t *sorted,
                            struct named_fault *fault);

/* Fills `sorted` with the places of the circuits by step and order; false: a circle, or an order
 * that is none. */
bool named_sort(const struct named_plan *named, uint32_t *sorted, struct named_fault *fault);

/* "0.3" or "3". */
enum { NAMED_TEXT_MAX = 24 };
void named_text(const struct plan *plan, uint32_t name, char text[NAMED_TEXT_MAX]);

/* Fills a fault at a circuit of the file; false. */
bool named_fails(struct named_fault *fault, uint32_t circuit, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
