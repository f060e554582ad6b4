/*
 * entry.h - how the nodes of a network enter a collective: a spanning tree, up and down.
 *
 * The tree has node 0 as its root; a node's parent is its next hop towards it. So every packet goes
 * one hop, and a collective takes 2 (N - 1) of them.
 *
 *     this node and all of its children have entered    ->  ENTER to the parent
 *     node 0: all have; it knows what they agree on     ->  ENTERED to its children
 *     ENTERED from the parent                           ->  ENTERED to the children
 *
 *     cube:2, parents 1 -> 0, 2 -> 0, 3 -> 2            3 ENTER 2, 1 ENTER 0, 2 ENTER 0;
 *                                                       0 ENTERED 1, 0 ENTERED 2, 2 ENTERED 3
 *
 * ENTERED says that all have posted their buffers, which is the CTS of every circuit of the
 * collective at once; or it says the same error to all.
 *
 * A node whose program has ended takes part in no collective that it had not begun. It closes the
 * entry from that epoch on: it tells its parent (ENTER), and each child that has entered or enters
 * (ENTERED), E_PEER_GONE or E_LINK_DEAD, why it has ended, and they do the same. A child that does
 * not ask is not told: it may be halted by a debugger, and what it does not acknowledge would end
 * its link. No collective from there on can succeed, for node 0 waits for every node, so each node
 * may end it as soon as it hears of it: all get that result, of several closures the one that they
 * hear of first, whatever else they disagree on.
 *
 * Invariants
 * - A neighbour is never two epochs ahead: it needs this node's word to come to the next. So there
 *   is one place for what children have said.
 * - What is owed to a neighbour and finds no slot stays in `down`, `closing` or `up_due`, and the
 *   next pump tries again.
 * - A node takes no download while it owes word of its end (entry_is_due). So whoever still waits
 *   in a collective of the program before hears of the end from each of its neighbours in the tree
 *   that has ended, and needs nothing from one that has been loaded anew.
 *
 * Units    ranks, epochs; model time in ns
 * Errors   what comes from a neighbour is data: what is not its turn to say is dropped
 * Context  the node's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/status.h"
#include "wire/collective.h"

struct notice;
struct router;

struct entering {
    uint16_t decided; /* the last epoch whose result is known here */
    uint8_t generation;
    bool entered; /* this node's own word for the next epoch is in `sum` */
    bool up_sent; /* ENTER for the next epoch has gone to the parent */
    bool closed;  /* no collective from epoch closed_from on takes place */
    bool reached; /* ... and such a one has been asked for */
    uint16_t closed_from;
    int16_t why;         /* of the closure */
    int16_t status;      /* result of `decided` */
    uint32_t joined;     /* ports of the children that are in `sum` */
    uint32_t down;       /* ports of the children that are owed the result of `decided` */
    uint32_t closing;    /* ports in the tree that are owed word of the closure */
    uint32_t late;       /* ... that asked with a program that has ended here, */
    uint16_t late_epoch; /* for this epoch of this generation */
    uint8_t late_generation;
    bool disagree_due;            /* node 0: the host is owed word of why the last entry failed */
    uint32_t tree_rank, children; /* the ports of this node's children, and for which rank */
    uint64_t clock_ns;            /* the latest of all nodes at the entry of `decided` */
    struct enter_body sum;        /* what the subtree says so far of the next epoch */
    struct enter_body failed;     /* while disagree_due: of the epoch that failed */
};

/* A download begins: the next program's collectives are counted from 1. */
void entry_reset(struct entering *entering, uint8_t generation);

/* This node enters the next epoch with `mine`, or with a status that keeps all from it. */
void entry_begin(struct entering *entering, const struct router *router, const struct entry *mine,
                 int status, uint64_t clock_ns);

/* The program has ended: what it had not begun will not take place. `begun` is the last epoch that
 * it had, which may still be in its entry; `why` a closure's status. */
void entry_close(struct entering *entering, const struct router *router, uint16_t begun, int why);

/* ENTER or ENTERED has come. */
void entry_packet(struct entering *entering, const struct router *router,
                  const struct notice *notice);

/* Says what is owed, as far as there are slots. */
void entry_pump(struct entering *entering, struct router *router);

/* Whether a status says that an epoch is closed. */
static inline bool entry_is_closure(int status)
{
    return status == E_PEER_GONE || status == E_LINK_DEAD;
}

/* Whether the result of an epoch is known; its status. A closed epoch has one without entry. */
bool entry_is_over(struct entering *entering, uint16_t epoch, int *status);

/* Whether a neighbour or the host is still owed something. */
bool entry_is_due(const struct entering *entering);

/* The same, or this node is to say that it and those below it have entered. */
bool entry_has_business(const struct entering *entering);

/* The node whose word is awaited: the first child that has not entered, or the parent. */
uint32_t entry_awaits(const struct entering *entering, const struct router *router);
