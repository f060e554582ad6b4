/*
 * link.h - the simulated link: a maker of the contract in drivers/link/link.h.
 *
 * What a channel hands over is copied at once into buffers of the pool, one or more for each frame.
 * When the round is over the frame is on its way; it is there when its physical time is over
 * (latency, rate, jitter), and is shown to the receiver when the model clock has come as far as the
 * OPEN in it says. A link keeps its order.
 *
 * Units    bytes, ns
 * Context  the thread of the partition that the node at this end belongs to
 */
#pragma once

#include "drivers/link/link.h"
#include "sim/core/pool.h"

struct partition;
struct sim;

enum { HELD_FEW = 4 };

/* One end. What it sends arrives at its peer. What a frame looks at are two cache lines. */
struct sim_end {
    _Alignas(64) struct link link;
    uint16_t arrived;
    uint8_t port;
    uint8_t to_partition;       /* of the peer; the number of partitions: it is the host */
    bool mute;                  /* nothing that it sends arrives any more */
    bool waiting;               /* an event stands for the first chunk under way */
    bool starved;               /* a chunk is there, and no buffer number is free */
    uint32_t actor;             /* whose end it is */
    uint32_t sent;              /* segments */
    struct chunk *first, *last; /* arrived and not taken, then under way */
    struct chunk *flight;       /* the first that is under way */
    struct partition *partition;
    struct sim_end *peer;
    uint64_t numbers;            /* bit n: buffer number n is with the router */
    struct chunk *few[HELD_FEW]; /* with the router: the lowest numbers, and the others */

    struct chunk *held;
    uint64_t busy_ns; /* wall time at which the last frame it sent has left */
};

/* The frame that is being handed over; a channel hands over whole frames, one after another. */
struct filling {
    struct sim_end *end;
    struct chunk *first, *last;
    uint32_t left; /* bytes still to come */
    uint32_t bytes;
    uint64_t model_due_ns;
    bool is_long;
};

void sim_end_init(struct sim *sim, struct sim_end *end, struct sim_end *peer, uint32_t actor,
                  uint32_t peer_actor, unsigned port);

/* A port without a link: nobody ever attaches to it. */
void sim_end_absent(struct sim_end *end);

/* The event of an end has come: shows what is due. */
void sim_end_due(struct sim_end *end);

/* The round is over: a frame that was sent to this end, from `first` to first->last, is on its way.
 */
void sim_end_take(struct sim_end *end, struct chunk *first);
/* ... a piece of a frame that was sent to an end of this partition from another: a record of a
 * mailbag. Returns its bytes. */
size_t sim_take_record(struct partition *partition, const uint8_t *record);

/* Who has this end starts anew, knowing nothing of what was: what has come to it is lost. The link
 * has its carrier. */
void sim_end_restart(struct sim_end *end);

/* Both ends lose their carrier; what is under way is lost. */
void sim_end_cut(struct sim_end *end);
