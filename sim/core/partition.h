/*
 * partition.h - a partition of the nodes, its events, and what it does in a round.
 *
 * Time stands still in a round. First every partition takes the events that are due and steps the
 * nodes that have something to do; what they send is put aside, and taken when all its nodes are
 * through. When all partitions have done so, the host is stepped, and every partition takes what
 * others have sent to its nodes. So no node sees what another does in the same round, and what a
 * round comes to depends neither on the order of its nodes nor on who steps them: partitions may
 * run at once, each on a thread of its own.
 *
 * Units    bytes, ns
 * Context  partition_act and partition_meet: one thread for each partition; the rest: while no
 *          partition runs, or the partition's own thread
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/link.h"
#include "sim/parallel/outbox.h"
#include "sim/core/queue.h"
#include "sim/result.h"

enum {
    PARTITIONS_MAX = 64,    /* of all processes, */
    PARTITIONS_OWN_MAX = 16 /* and of one */
};

enum due_kind {
    DUE_LINK,  /* the first chunk under way to end `index` has arrived */
    DUE_HELD,  /* ... may be shown; withheld since an even epoch */
    DUE_HELD1, /* ... since an odd one */
    DUE_TIMER, /* the deadline of actor `index` */
    DUE_LOOK,  /* a slow actor looks */
    DUE_PROGRAM,
    DUE_FAULT /* number `index` of the list */
};

enum { PREFETCH_PLACES = 8 }; /* a power of two */

/* A node that is stepped soon (prefetch.h), and its link that has news. */
struct prefetch {
    const struct node *node;
    const struct port *port;   /* of that link */
    const struct sim_end *end; /* NULL: there is none */
    uint32_t rank;
};

struct partition {
    _Alignas(64) struct sim *sim;
    uint32_t first, end; /* its nodes: from, and before */
    struct queue model, wall;
    struct batch due;  /* events of this round */
    uint64_t order;    /* of the next event among those of one time */
    uint32_t *ready;   /* actors to be stepped, ready_count of them */
    uint32_t *stepped; /* those that are stepped in this round */
    uint32_t stepped_count;
    struct filling filling;
    struct prefetch prefetch[PREFETCH_PLACES];
    struct outbox own;                      /* to its own nodes, and from the host to them */
    struct mailbag out[PARTITIONS_MAX + 1]; /* to others; the last one in use: to the host */
    struct mailbag news;                    /* for rank 0 (several.h) */
    struct pool pool;
    uint8_t number;

    /* what the loop asks after each half of a round: one line of the cache */
    _Alignas(64) uint64_t events; /* as in struct sim_result */
    uint64_t model_ns, wall_ns;   /* partition_tell: times of its next events; UINT64_MAX: none */
    uint32_t ready_count;         /* actors to be stepped */
    uint32_t withheld[2];         /* frames, by the epoch in which that began, even and odd */
    uint32_t ended;               /* programs, in this round */
    bool sent;      /* partition_tell: there is something to be taken in the second half */
    bool moved;     /* data, in this round */
    bool got_on;    /* a program, in this round */
    bool no_memory; /* something is lost for want of it */
    bool measured;  /* a node, in this round */

    _Alignas(64) uint64_t link_events, steps, requests, late,
        digest[2];                        /* as in struct sim_result */
    uint64_t calls;                       /* of programs */
    uint64_t acted;                       /* events before those of what was sent in this round */
    struct sim_line lines[SIM_SIZES_MAX]; /* of its own nodes */
};

/* How many partitions a simulation can have at most in each of its processes. */
unsigned partitions_count(const struct sim_options *options);
/* False: there is no memory. */
bool partitions_make(struct sim *sim);
void partitions_free(struct sim *sim);

void partition_at_model(struct partition *partition, uint64_t time_ns, enum due_kind kind,
                        uint32_t index);
void partition_at_wall(struct partition *partition, uint64_t time_ns, enum due_kind kind,
                       uint32_t index);
/* An actor of this partition, which is not among those that are ready, is to be stepped. */
static inline void partition_make_ready(struct partition *partition, uint32_t actor)
{
    partition->ready[partition->ready_count++] = actor;
}

/* The two halves of a round: among its own nodes, and what others have for them. */
void partition_act(struct partition *partition);
void partition_meet(struct partition *partition);
/* Takes records that were sent to a partition from another. */
void partition_take(struct partition *partition, const uint8_t *records, size_t bytes);
/* Notes what the loop will ask: at the end of each half, and when the host has added to it. */
void partition_tell(struct partition *partition);

/* Keeps a timer for an actor's deadline. A later request finds the earlier timer and goes on from
 * there. */
void partition_arm(struct partition *partition, uint32_t actor, uint64_t deadline_us);

/* Adds to the digest what does not depend on what was added before. */
void partition_digest(struct partition *partition, const uint64_t words[4]);
