/*
 * due.h - what a node has to look at: the flags of struct node that say so.
 *
 * Nothing else changes them. Each function is named for what has happened; a flag that is missing
 * is a stall, which the audit of the checked builds finds after every step (tests/audit/).
 *
 *   messages_move      a send or a posted receive may go on, or a CANCEL is owed
 *   program_moves      the program may start or go on, or has ended: its owner asks once
 *   call_open          a system call waits
 *   load_due           the download has something to do
 *   gather_due         so has the gather, or the host is to be told of it
 *   region_due         the host waits at a region, or is to be told of it
 *   collectives_queued collectives that wait behind the one that is under way
 *   due, dead_due      what is to be said once, and has found no slot yet
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "node/state.h"

/* A request, an answer, an announcement or a notice is new: messages may move. */
static inline void node_due_messages(struct node *node)
{
    node->messages_move = true;
}

/* All requests have been looked at: whether one is left that may move by itself. */
static inline void node_due_messages_seen(struct node *node, bool left)
{
    node->messages_move = left;
}

/* Something has come for which the program may wait, or it is to start, or has ended. */
static inline void node_due_program(struct node *node)
{
    node->program_moves = true;
}

/* A message has been stored: the program may find it, and a probe that waits or rests goes on. */
static inline void node_due_stored(struct node *node)
{
    node->completions++;
    if (node->call_open && node->call_number == ECUBE_CALL_PROBE) {
        node_due_program(node);
    }
}

/* The owner looks at the program. */
static inline bool node_due_program_seen(struct node *node)
{
    bool moves = node->program_moves;

    node->program_moves = false;
    return moves;
}

/* A system call is made, and answered or over with its program. */
static inline void node_due_call(struct node *node, bool open)
{
    node->call_open = open;
}

/* The state of the download has changed. */
static inline void node_due_load(struct node *node)
{
    node->load_due = node->load.state > LOAD_RECEIVING;
}

/* The state of the gather has changed, or what the host is to be told of it. */
static inline void node_due_gather(struct node *node)
{
    const struct gather *gather = &node->gather;

    node->gather_due =
        gather->measure_due || gather->status != E_OK || gather->state == GATHER_COLLECTING;
}

/* What goes on with a region has changed. */
static inline void node_due_region(struct node *node)
{
    node->region_due = node->region.state == REGION_ASKED || node->region.state == REGION_HASHING;
}

static inline void node_due_collective(struct node *node)
{
    node->collectives_queued++;
}

static inline void node_due_collective_begun(struct node *node)
{
    node->collectives_queued--;
}

/* The program has ended: no collective of it will begin. */
static inline void node_due_collectives_gone(struct node *node)
{
    node->collectives_queued = 0;
}

/* The host is to be told: what, of enum report_due. Then it has been. */
static inline void node_due_say(struct node *node, enum report_due what)
{
    node->due |= (uint8_t)what;
}

static inline void node_due_said(struct node *node, enum report_due what)
{
    node->due &= (uint8_t)~what;
}

/* The host is to be told that a link has died, and has been. */
static inline void node_due_say_dead(struct node *node, unsigned port)
{
    node->dead_due |= UINT32_C(1) << port;
}

static inline void node_due_said_dead(struct node *node, unsigned port)
{
    node->dead_due &= ~(UINT32_C(1) << port);
}
