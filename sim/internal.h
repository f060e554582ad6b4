/*
 * internal.h - what the files of the simulator share; not for its users.
 *
 * loop.c moves the clocks, part.c has the events and steps the nodes, link.c carries frames and
 * fault.c spoils them, boot.c is the host, program.c and scenarios.c are the programs, memory.c
 * says where everything lies. While parts act, what is in struct sim is only read.
 */
#pragma once

#include "node/node.h"
#include "node/state.h"
#include "sim/crew.h"
#include "sim/host.h"
#include "sim/mesh.h"
#include "sim/part.h"
#include "sim/trace.h"

enum {
    HOLD_EPOCH_NS = 20 * 1000 * 1000, /* wall time passes a withheld frame for at most two */
    RING_PLACES = 32,                 /* for what is under way on a link */
    BLOCK_BYTES = 16,                 /* private block of a node in the download */
    ARGUMENTS_BYTES = 128,
    PROGRAM_ADDRESS = 0x10000
};

enum task_state { TASK_NONE, TASK_READY, TASK_SLEEPS, TASK_WAITS, TASK_POLLS, TASK_ENDED };

enum { SENDS_OPEN = 4, RECEIVES_OPEN = 8, REQUEST_NONE = -1 };

/* A program: a state machine that makes system calls (program.h). */
struct task {
    uint8_t state; /* enum task_state */
    uint8_t pc;
    uint16_t size; /* of options.sizes */
    int32_t result;
    int32_t status; /* exit status */
    int32_t request;
    uint64_t wake_ns; /* the model event that stands for it; UINT64_MAX: none */
    uint64_t start_ns;
    uint32_t sends, sent, receives, received; /* messages begun and done */
    int8_t sending[SENDS_OPEN], receiving[RECEIVES_OPEN];
    uint8_t *data; /* its memory, and the address of that */
    uint32_t data_address, data_bytes;
    uint64_t wrong;
};

/* A node, or the host, as the loop sees it. */
struct actor {
    uint64_t armed_ns; /* the timer that stands for it; UINT64_MAX: none */
    uint64_t wanted_ns;
    uint64_t slow_ns;
    uint32_t attention; /* links with news */
    bool queued, dead;
    bool polls;    /* its program is to be looked at in each step */
    bool given_up; /* STOP did not reach it */
    uint8_t heard; /* bits of enum heard: what the host has of it */
    uint8_t part;  /* its number */
};

enum heard { HEARD_LINKS = 1, HEARD_RECEIPT = 2, HEARD_EXIT = 4 };

/* Where a node's memory lies. */
struct layout {
    bool checked;
    uint32_t blocks_bytes; /* room for private blocks below the image's address */
    uint32_t image_room;
    uint64_t program_bytes; /* of all nodes */
    uint64_t window_bytes;  /* that all nodes of a part share */
    size_t node_bytes, memory_bytes, ends_bytes;
    unsigned parts;
    uint64_t total_bytes;
};

/* A frame, or a piece of one, that was shown. */
struct history {
    uint64_t event, model_ns;
    uint32_t from, to, bytes; /* actors */
    uint8_t head[40];
};

struct sim {
    struct sim_options options;
    struct layout layout;
    uint32_t count; /* of nodes; the host is actor `count` */
    uint8_t phase;  /* enum sim_phase */
    uint8_t verdict;
    bool damages;
    bool plain; /* nothing happens to a frame on its way, and nobody looks at it */

    uint64_t now_ns;  /* model time up to which all has happened */
    uint64_t wall_ns; /* what the nodes' clocks show */
    uint32_t *ready;  /* places for the actors of all parts that are to be stepped */
    bool host_ready, host_acts;
    uint64_t busy; /* events of the last round to which the clocks have moved */
    bool crowded;  /* so much is to be done in a round that threads are worth it */
    struct part *parts;
    unsigned part_count;
    struct crew *crew;    /* a thread for each part; NULL: one does it all */
    uint64_t progress_ns; /* wall time at which a program, the boot or data last moved */
    uint64_t seed, shuffle;

    void *map;
    size_t map_bytes;
    uint8_t *nodes; /* struct node, its working memory, its links' pointers: layout.node_bytes */
    uint8_t *pools; /* of short messages: node_pool_bytes() for each node */
    struct actor *actors;
    struct task *tasks;
    struct sim_end *ends;
    uint32_t *expected; /* messages that a node will get, of each size */
    struct host host;
    uint64_t flip_left; /* bytes until the next flip */

    bool pause; /* a measurement is complete: the owner may want to look */
    struct history history[SIM_HISTORY_MAX];
    uint64_t history_count;
    struct trace *trace; /* NULL: no timeline is written */
    uint32_t running;    /* programs that have not ended */
    uint32_t deaths;     /* nodes that were killed */
    struct sim_result result;
};

static inline struct node *sim_node(const struct sim *sim, uint32_t rank)
{
    return (struct node *)(sim->nodes + rank * sim->layout.node_bytes);
}

static inline struct part *sim_part(const struct sim *sim, uint32_t actor)
{
    return &sim->parts[sim->actors[actor].part];
}

/* The end of a node at a port; its host link is the one after the cube's. */
static inline struct sim_end *sim_end_at(const struct sim *sim, uint32_t rank, unsigned port)
{
    unsigned dims = sim->options.dims;

    if (port < dims)
        return &sim->ends[(size_t)rank * dims + port];
    return &sim->ends[(size_t)sim->count * dims + (rank ? 1 + (unsigned)__builtin_ctz(rank) : 0)];
}

/* The host's end of its link number `index`. */
static inline struct sim_end *sim_host_end(const struct sim *sim, unsigned index)
{
    return &sim->ends[(size_t)sim->count * sim->options.dims + sim->options.dims + 1 + index];
}

/* memory.c */
struct layout layout_make(const struct sim_options *options, bool checked);
/* Maps it; false when the system does not give it. */
bool memory_map(struct sim *sim);
/* Gives every node of a part its place, and starts it; the ends are there. */
void memory_place(struct sim *sim, unsigned part);
void memory_unmap(struct sim *sim);

/* loop.c */
/* Every part does its share. */
void sim_all_parts(struct sim *sim, crew_work *work);
void sim_wake(struct sim *sim, uint32_t actor);
/* A slow actor looks now. */
void sim_look(struct sim *sim, uint32_t actor);
/* Ends the simulation. */
void sim_end(struct sim *sim, enum sim_verdict verdict);
/* Adds a line that says what went wrong. */
void sim_trouble(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* history.c */
void history_add(struct sim *sim, const struct sim_end *end, const struct chunk *chunk);

/* fault.c */
/* What happens to the frame that has just been handed over; false: all of it is lost. */
bool fault_frame(struct sim *sim);
void fault_apply(struct sim *sim, const struct sim_fault *fault);
/* Takes the faults that belong to the phase that begins. */
void fault_phase(struct sim *sim);
