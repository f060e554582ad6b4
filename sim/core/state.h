/*
 * state.h - struct sim: all that a simulation knows; not for its users.
 *
 * While partitions act, it is only read: what they change is in their partitions, actors, tasks and
 * ends.
 *
 * What only a simulator needs of the firmware stands at the end of `struct node_config`; without
 * any of it a run costs more than 5 %. links_due: word of which links have news, and in the
 * router a ring that is used from its beginning and a look at where segments lie: without the three
 * an exchange on cube:10 took 1.8 to 2.0 times the processor time. pool: buffers that few nodes
 * use lie apart, so that large pages hold what all use; else 4,096 nodes take 665 MB instead of
 * 357, and twice the system's time. ring: fewer places on a link; with 128 a node of 12 links
 * takes 93 KB more, and a download on cube:12 twice the time. preload: `collectives/preload.h`.
 * Taken out because it saved less: a layout by lines of the cache.
 *
 * Units    bytes, ns
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/network.h"
#include "sim/core/actor.h"
#include "sim/core/host.h"
#include "sim/core/limit.h"
#include "sim/core/link.h"
#include "sim/core/memory.h"
#include "sim/observe/history.h"
#include "sim/options.h"
#include "sim/core/partition.h"
#include "sim/result.h"
#include "sim/simulation.h"
#include "sim/programs/task.h"

struct worker_pool;
struct node;
struct program_source;
struct native;
struct trace;
struct traffic_port;

struct sim {
    /* what partitions ask in every round, and is written between rounds: one line of the cache */
    _Alignas(64) uint64_t now_ns; /* model time up to which all has happened */
    uint64_t wall_ns;             /* what the nodes' clocks show */

    /* what partitions ask in every round, and stays */
    _Alignas(64) struct sim_options options;
    struct layout layout;
    uint32_t count;       /* of nodes; the host is actor `count` */
    uint8_t phase;        /* enum sim_phase */
    uint8_t phase_latest; /* ... to which it has come so far */
    uint8_t verdict;
    bool damages;
    bool plain; /* nothing happens to a frame on its way, and nobody looks at it */

    /* two places for each node: of all partitions, those to be stepped, now and next */
    uint32_t *ready;
    struct partition *partitions; /* of all processes: */
    unsigned partition_count;
    unsigned own_first, own_count; /* those of this one */
    struct worker_pool *workers;   /* a thread for each partition; NULL: one does it all */

    void *map;
    size_t map_bytes;
    uint8_t *nodes; /* struct node, its working memory, its links' pointers: layout.node_bytes */
    const uint8_t *unseen; /* contents that nobody looks at: links do not copy them */
    size_t unseen_bytes;
    struct link_counters *link_counters; /* one for each port of each node; NULL: not counted */
    uint8_t *pools;                      /* of short messages: node_pool_bytes() for each node */
    struct actor *actors;
    struct task *tasks;
    const struct program_source *source; /* of their system calls */
    struct native *native;               /* NULL: programs are a scenario's */
    struct sim_end *ends;
    uint32_t *expected; /* messages that a node will get, of each size */

    /* of one that is made by several processes (several.h) */
    struct mailbag *parcels; /* for each of them */
    struct sim_rank *ended;  /* what each has come to; rank 0's, when it is over, as these: */
    struct traffic_port *far_links; /* of the ports of each node; NULL: not counted */
    uint64_t *far_clocks;
    uint64_t all_rounds;
    bool unsure;   /* after the last exchange things have gone on */
    bool works;    /* this rank has something to do in this round */
    bool idle;     /* none had */
    bool host_due; /* the host is to be stepped in the next round */
    bool over;     /* rank 0 goes on no more */
    bool left;     /* this rank does not */

    /* the rest is the loop's, or belongs to runs of one partition */
    _Alignas(64) bool host_ready;
    bool host_acts;
    bool crowded;         /* so much is to be done in a round that threads are worth it */
    uint64_t busy;        /* events of the last round to which the clocks have moved */
    uint64_t progress_ns; /* wall time at which a program, the boot or data last moved */
    uint64_t got_on_ns;   /* ... a program or the boot */
    bool asked;           /* ... which is so long ago that nodes have been asked why */
    struct limit limit;
    uint64_t rounds; /* at the present time */
    uint64_t seed, shuffle;
    struct host host;
    uint64_t flip_left; /* bytes until the next flip */

    bool pause; /* a measurement is complete: the owner may want to look */
    struct history history[SIM_HISTORY_MAX];
    uint64_t history_count;
    struct sim_plans *own_plans; /* made for this simulation alone; else the options' */
    struct trace *trace;         /* NULL: no timeline is written */
    uint32_t running;            /* programs that have not ended */
    uint32_t deaths;             /* nodes that were killed */
    struct sim_result result;
};

/* The node of a rank. */
static inline struct node *sim_node(const struct sim *sim, uint32_t rank)
{
    return (struct node *)(sim->nodes + rank * sim->layout.node_bytes);
}

/* The ports of its router. */
static inline const struct port *sim_ports(const struct sim *sim, uint32_t rank)
{
    return (const struct port *)(sim->nodes + rank * sim->layout.node_bytes + sim->layout.ports_at);
}

/* The partitions of this process, from 0 on. */
static inline struct partition *sim_own(const struct sim *sim, unsigned share)
{
    return &sim->partitions[sim->own_first + share];
}

/* The partition that steps an actor. */
static inline struct partition *sim_partition(const struct sim *sim, uint32_t actor)
{
    return &sim->partitions[sim->actors[actor].partition];
}

/* Whether another process steps a node. */
static inline bool sim_is_far(const struct sim *sim, uint32_t rank)
{
    return sim->actors[rank].partition - sim->own_first >= sim->own_count;
}

/* The network of the nodes. */
static inline const struct network *sim_network(const struct sim *sim)
{
    return &sim->options.network;
}

/* The end of a node at a port; its host link is the one after the network's. */
static inline struct sim_end *sim_end_at(const struct sim *sim, uint32_t rank, unsigned port)
{
    const struct network *network = sim_network(sim);
    size_t ports = network->ports;

    if (port < ports) {
        return &sim->ends[rank * ports + port];
    }
    return &sim->ends[sim->count * ports + (size_t)network_host_link_of(network, rank)];
}

/* The host's end of its link number `index`. */
static inline struct sim_end *sim_host_end(const struct sim *sim, unsigned index)
{
    const struct network *network = sim_network(sim);

    return &sim->ends[sim->count * (size_t)network->ports + network_host_links(network) + index];
}
