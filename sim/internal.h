/*
 * internal.h - what the files of the simulator share; not for its users.
 *
 * loop.c dispatches events, link.c carries frames, fault.c spoils them, boot.c is the host,
 * program.c and scenarios.c are the programs, memory.c says where everything lies.
 */
#pragma once

#include "node/node.h"
#include "node/state.h"
#include "router/router.h"
#include "sim/link.h"
#include "sim/mesh.h"
#include "sim/queue.h"
#include "sim/trace.h"

enum {
    HOLD_EPOCH_NS = 20 * 1000 * 1000, /* wall time passes a withheld frame for at most two */
    RING_PLACES = 32,                 /* for what is under way on a link */
    BLOCK_BYTES = 16,                 /* private block of a node in the download */
    ARGUMENTS_BYTES = 128,
    PROGRAM_ADDRESS = 0x10000
};

enum event_kind {
    EVENT_LINK,  /* the first chunk under way at end `index` has arrived */
    EVENT_HELD,  /* ... may be shown; withheld since an even epoch */
    EVENT_HELD1, /* ... since an odd one */
    EVENT_TIMER, /* the deadline of actor `index` */
    EVENT_LOOK,  /* a slow actor looks */
    EVENT_PROGRAM,
    EVENT_FAULT /* number `index` of the list */
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
    bool given_up; /* STOP did not reach it */
    uint8_t heard; /* bits of enum heard: what the host has of it */
};

enum heard { HEARD_LINKS = 1, HEARD_RECEIPT = 2, HEARD_EXIT = 4 };

/* Where a node's memory lies. */
struct layout {
    bool checked;
    uint32_t blocks_bytes; /* room for private blocks below the image's address */
    uint32_t image_room;
    uint64_t program_bytes; /* of all nodes */
    uint64_t window_bytes;  /* that all share */
    size_t node_bytes, memory_bytes, ends_bytes;
    uint64_t total_bytes;
};

enum message_state { MESSAGE_WAITS, MESSAGE_OFFERED, MESSAGE_READY, MESSAGE_OPENED, MESSAGE_DONE };

struct load_message {
    uint32_t root, match;
    uint8_t dims, state;
    bool sent;
};

/* The host: boot, download, start, end. */
struct host {
    struct router router;
    void *memory;
    struct link *links[PORTS_MAX];
    uint32_t peers[PORTS_MAX];
    struct load_message messages[SIM_DIMS_MAX + 1];
    unsigned message_count, message_next;
    uint32_t want;
    uint8_t *blocks, *image;
    uint32_t image_bytes;
    uint64_t again_ns; /* wall time of the next repetition; UINT64_MAX: none */
    uint64_t base_ns, clock_ns, end_ns;
    uint32_t links_told, receipts, exits, started;
    uint32_t stopped; /* STOP has been sent to nodes below this */
    bool failing;
    uint64_t stop_ns, give_up_ns; /* wall times; UINT64_MAX: not now */
    uint64_t asked_ns;            /* wall time of the last question to all nodes; 0: none */
    uint32_t asked;               /* it has gone to nodes below this */
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

    uint64_t now_ns;  /* model time up to which all has happened */
    uint64_t wall_ns; /* what the nodes' clocks show */
    struct queue model, wall;
    uint64_t order;
    uint32_t withheld[2]; /* frames, by the epoch in which that began, even and odd */
    uint32_t *ready;      /* actors to be stepped: a ring */
    uint32_t ready_first, ready_count, ready_room;
    uint64_t progress_ns; /* wall time at which a program, the boot or data last moved */
    uint64_t seed, shuffle;

    void *map;
    size_t map_bytes;
    uint8_t *nodes; /* struct node, its working memory, its links' pointers: layout.node_bytes */
    struct actor *actors;
    struct task *tasks;
    struct sim_end *ends;
    uint32_t *expected; /* messages that a node will get, of each size */
    struct pool pool;
    struct filling filling;
    struct host host;
    uint64_t flip_left; /* bytes until the next flip */

    bool pause;     /* a measurement is complete: the owner may want to look */
    uint64_t calls; /* of programs */
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
/* Gives every node its place, and starts it; the ends are there. */
void memory_place(struct sim *sim);
void memory_unmap(struct sim *sim);

/* loop.c */
void sim_wake(struct sim *sim, uint32_t actor);
void sim_at_model(struct sim *sim, uint64_t time_ns, enum event_kind kind, uint32_t index);
void sim_at_wall(struct sim *sim, uint64_t time_ns, enum event_kind kind, uint32_t index);
/* Adds to the digest. */
void sim_digest(struct sim *sim, uint64_t a, uint64_t b);
/* Ends the simulation. */
void sim_end(struct sim *sim, enum sim_verdict verdict);
/* Ends it because the system gives no more memory. */
void sim_no_memory(struct sim *sim);
/* Adds a line that says what went wrong. */
void sim_trouble(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* boot.c */
bool host_init(struct sim *sim);
void host_free(struct sim *sim);
/* Takes what has arrived and does what is next; returns the wall time of its next deadline. */
bool host_step(struct sim *sim);
uint64_t host_deadline(const struct sim *sim);

/* history.c */
void history_add(struct sim *sim, const struct sim_end *end, const struct chunk *chunk);

/* ending.c */
/* The programs have ended: says what is wrong with them. */
void host_finish(struct sim *sim);
/* A link is dead: stops the other programs, and gives up those that it cannot reach. */
void host_pump_failure(struct sim *sim);
/* Wall time at which the nodes are asked what they do; and asking. */
uint64_t host_question_ns(const struct sim *sim);
void host_pump_questions(struct sim *sim);

/* fault.c */
/* What happens to the frame that has just been handed over; false: all of it is lost. */
bool fault_frame(struct sim *sim);
void fault_apply(struct sim *sim, const struct sim_fault *fault);
/* Takes the faults that belong to the phase that begins. */
void fault_phase(struct sim *sim);
