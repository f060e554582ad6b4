/*
 * world.h - one whole node with the fuzzer at every link, at the clock and in the program.
 *
 * HELLOs make the node number 0, of cube:2 or of ring:4. In the cube port 0 leads to node 1, port 1
 * to node 2, port 2 to the host; in the ring port 0 leads to node 1, port 1 to node 3.
 *
 * A copy of program memory holds what the program has written. The two are compared in the end:
 * they may differ only where a call or a download has let the kernel write.
 */
#pragma once

#include "fuzz/neighbour.h"
#include "node/state.h"
#include "wire/load.h"

enum {
    WORLD_PORTS = 3,
    WORLD_DIMS = 2,
    WORLD_HOST_PORT = 2,
    WORLD_LONG_PORT = 0,           /* its link has long chunks */
    WORLD_PROGRAM = 0x20900000,    /* anywhere */
    WORLD_STACK_BYTES = 16 * 1024, /* where programs keep what they name in calls */
    WORLD_IMAGE = WORLD_PROGRAM + WORLD_STACK_BYTES + 1024,
    WORLD_IMAGE_BYTES = 256,
    WORLD_CONSTANTS_END = WORLD_PROGRAM + 5 * 4096,
    WORLD_BLOCK = WORLD_CONSTANTS_END + 4096, /* behind a page that may be written */
    WORLD_TOP = WORLD_BLOCK + 4096,
    WORLD_BLOCK_BYTES = 64,
    WORLD_PLAN_BYTES = 2048,
    WORLD_RECORDS = 16, /* few: the ring is soon full */
    WORLD_RECORD_BYTES = 16 * 1024,
    WORLD_PROGRAM_BYTES = WORLD_TOP + 4096 - WORLD_PROGRAM,
    WORLD_SEGMENTS = 5,
    WORLD_MAP_BYTES = LOAD_MAP_HEADER_BYTES + 4 * 4,
    WORLD_LIST_BYTES =
        LOAD_LIST_HEADER_BYTES + LOAD_PROGRAM_BYTES + WORLD_SEGMENTS * LOAD_SEGMENT_BYTES
};

/* How far a world has come when the input takes over. */
enum world_stage { STAGE_NOTHING, STAGE_LINKS, STAGE_RUNNING, STAGE_COUNT };

struct world {
    struct node *node;
    void *memory;
    uint8_t *program, *copy;
    uint8_t granted[WORLD_PROGRAM_BYTES]; /* 1: may be written by the kernel */
    struct pipe pipes[WORLD_PORTS];
    struct neighbour neighbours[WORLD_PORTS];
    struct link *links[WORLD_PORTS];
    uint64_t now_us;
    bool blocked;     /* the program waits in a call */
    bool all_ports;   /* before world_begin: its profile counts links alone */
    bool mapped;      /* ... and its load brings a map */
    uint8_t download; /* number of the node's last, as it is granted */
    uint8_t list[WORLD_LIST_BYTES], digest[DIGEST_BYTES]; /* what was offered last */
};

/* Makes a node as after reset, and brings it to a stage by frames that a real neighbour sends. */
void world_begin(struct world *world, enum world_stage stage, bool payload_checked, bool ring,
                 uint16_t incarnation);

/* The bytes of the list's segments in a message to some nodes: zeros, but for a map. Returns where
 * the map's lie, 0: it has none. */
uint32_t world_data(const struct world *world, uint8_t *data);

/* Makes the list what it is before somebody lies, and its digest; the OFFER of all its segments to
 * so many nodes. */
void world_list(struct world *world);
void world_seal_list(struct world *world);
struct offer_body world_offer(const struct world *world, uint32_t count);

/* One step of the node. True: it wants another one at once. */
bool world_step(struct world *world);

/* Steps until the node is quiet, which must be soon; then the program goes on. */
void world_settle(struct world *world);

/* The program's own write to its memory; false when it lies outside. */
bool world_poke(struct world *world, uint32_t address, const void *data, uint32_t bytes);

/* The kernel may write there from now on. */
void world_grant(struct world *world, uint32_t address, uint32_t bytes);

/* A system call of the program, if it runs and is not blocked. */
void world_call(struct world *world, uint32_t number, const uint32_t arguments[4]);

/* All links lose their carrier, and the node gives every buffer and request back. */
void world_end(struct world *world);

/* Fails unless the node's counters equal what they count. The node is quiet (world_settle). */
void invariants_check(const struct world *world);

/* Fails if a request or buffer is left when all links are dead. */
void invariants_check_end(const struct world *world);
