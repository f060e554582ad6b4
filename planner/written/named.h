/*
 * named.h - plans as people and other tools write them: circuits that move blocks by name, which
 * are given slots here.
 *
 *     named_plan_lay    sorts the circuits, looks for circles of waits, finds slots for all blocks,
 *                       and proves what comes of it
 *
 * A name is a number. What it stands for depends on the operation (doc/plans.md):
 *
 *     every node has a block for every other    s * nodes + d: the block of s for d
 *     ... or for each movement                  s * MOVEMENTS_MAX + m: the one of s for movement m
 *     every node gives one block                s: the block that s gives
 *     every node gets one block                 d: the block for d
 *     a vector                                  i: segment i of it
 *
 * Slots. A block that a node keeps at the end goes into the slot that the operation promises. A
 * block that it only passes on goes into scratch. Where contributions are combined, a node has one
 * sum of each block, in one slot. If a step both sends the sum and adds to it, the new sum goes
 * into a second slot, and the two change places.
 *
 *     allreduce on cube:1    0 -> 1 "0", combined    node 0 sends SEND 0, and combines what comes
 *                            1 -> 0 "0", combined    with RECEIVE 0, into which it copied its own
 *
 * A circuit may say whose contributions it carries (`sets`). Then a node keeps several sums of a
 * block: what comes is added to its sum if the circuit combines (of a prefix: and if it is of the
 * ranks just below), else it is kept as a sum of its own. What is sent is put together of the sums
 * that the node has.
 *
 * Order. Every node does its circuits by step and port. Every link serves them by `order`, if that
 * is given, else by step and place. So a circuit waits for the circuits that its two nodes have in
 * earlier steps, and for the one before it on each of its links. Circuits that wait in a circle
 * would wait for ever: such a plan is refused.
 *
 * Units    ranks, steps, names
 * Errors   NULL, and a fault that names the circuit
 * Context  host
 */
#pragma once

#include "planner/planner.h"

enum { NAMED_WORDS_MAX = PLAN_WORDS_MAX, NAMED_SETS_NODES_MAX = 1024 };

static const uint32_t NAMED_NONE = UINT32_MAX;

struct named_circuit {
    uint32_t step, from, to;
    uint32_t order; /* NAMED_NONE: its place among the circuits; of all or of none */
    uint32_t name_at, name_count;
    uint32_t set_at; /* first of name_count sets of contributions; NAMED_NONE: not said */
    uint32_t port_at, port_count; /* its path; port_at PLAN_DIMENSION_ORDER: the network's */
    uint8_t port;                 /* that it leaves and comes by */
    bool combines, ahead;
};

struct named_plan {
    struct network network;
    uint32_t operation, root, segments;
    uint8_t node_ports; /* that it says that it is for; 0: as many as it uses */
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

/* The plan, proved. Fills `sorted` with the places of all circuits of the file, in the order in
 * which the plan has them; its copies come in between. Of a plan that is right the fault says what
 * is odd: that a block comes to a node that has it; its words are empty if none does. */
struct plan *named_plan_lay(const struct named_plan *named, uint32_t *sorted,
                            struct named_fault *fault);

/* Fills `sorted` with the places of the circuits, by step and order. False: circuits wait in a
 * circle, or the numbers of `order` are no order. */
bool named_sort(const struct named_plan *named, uint32_t *sorted, struct named_fault *fault);

/* "0.3" or "3". */
enum { NAMED_TEXT_MAX = 24 };
void named_text(const struct plan *plan, uint32_t name, char text[NAMED_TEXT_MAX]);

/* Fills a fault at a circuit of the file; false. */
bool named_fails(struct named_fault *fault, uint32_t circuit, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
