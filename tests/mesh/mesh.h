/*
 * mesh.h - a network of real nodes and the controller in one process, stepped in random order.
 *
 * Programs are played by the tests: a test makes system calls for each node, as boot/ does on the
 * target. A test may also send packets of its own through the controller's router.
 */
#pragma once

#include "controller/controller.h"
#include "controller/state.h"
#include "network/network.h"
#include "node/state.h"
#include "router/port.h"
#include "tests/mesh/memory_link.h"

enum {
    MESH_PROGRAM = 0x40900000,
    MESH_BLOCKS = MESH_PROGRAM + 0x10000,
    MESH_IMAGE = MESH_PROGRAM + 0x40000,
    MESH_DATA = MESH_IMAGE + 0x10000, /* where tests put their data */
    MESH_IMAGE_BYTES = 9000,
    MESH_BLOCK_BYTES = 64,
    MESH_DOWNLOAD = 7, /* the name of a test's own */
    MESH_EVENTS = 4096
};

struct mesh_node {
    struct node *node;
    struct memory_end ends[PORTS_MAX];
    struct link *links[PORTS_MAX];
    uint8_t *program;
    void *memory;
    bool started;
};

/* What the host has heard: packets in order of arrival. */
struct mesh_event {
    uint8_t kind;
    uint32_t src;
    uint8_t body[PACKET_BODY_MAX];
    uint32_t bytes;
};

struct mesh {
    struct network network;
    unsigned count;
    uint32_t data_bytes; /* program memory behind MESH_DATA */
    struct mesh_node *nodes;
    struct controller controller;
    struct memory_end host_ends[PORTS_MAX];
    struct link *host_links[PORTS_MAX];
    void *host_memory;
    unsigned told[EVENT_KINDS];         /* how many events of each kind the controller has told */
    struct controller_event last_event; /* of all; what its body points at is gone */
    uint64_t seed, now_us;
    struct memory_fault fault;
    struct mesh_event events[MESH_EVENTS];
    unsigned event_count;
    uint8_t image[MESH_IMAGE_BYTES];
    uint8_t *blocks;
    uint8_t (*digests)[DIGEST_BYTES];
    struct download_message message;
    uint8_t runs;               /* downloads so far */
    uint32_t accepted, refused; /* circuits of the host */
};

struct mesh *mesh_make_named(const char *network, uint32_t data_bytes, uint64_t seed,
                             struct memory_fault fault, struct profile profile);
/* The same for a cube. */
struct mesh *mesh_make(unsigned dims, uint32_t data_bytes, uint64_t seed, struct memory_fault fault,
                       struct profile profile);
void mesh_free(struct mesh *mesh);

/* Steps all nodes and the host once, in random order; false when nothing moved and nothing is on a
 * link. */
bool mesh_round(struct mesh *mesh);

/* The host alone, once; true when it has more to do. */
bool mesh_step_host(struct mesh *mesh);

/* Steps until `done` is true; false when simulated seconds pass without it. */
bool mesh_run(struct mesh *mesh, bool (*done)(struct mesh *mesh));

/* Steps until all is quiet, without letting time pass. */
void mesh_settle(struct mesh *mesh);

/* Boots, and loads; false on failure. */
bool mesh_start(struct mesh *mesh);

/* Downloads an image by one root, starts the programs; false on failure. The first half ends when
 * the root takes the image. Programs that still run the host takes for ended. */
bool mesh_load(struct mesh *mesh);
bool mesh_download(struct mesh *mesh);
bool mesh_begin(struct mesh *mesh);

/* The hop list of a schedule's circuit to a neighbour, whose turn it is. */
extern const uint8_t one_hop[HOP_LIST_BYTES + HOP_BYTES];

/* The OFFER of an image for the whole mesh. */
struct offer_body mesh_offer(const struct mesh *mesh, uint32_t image_bytes, uint8_t generation);

/* The one packet of this kind that the host has heard, unpacked. */
struct state_body mesh_heard_state(const struct mesh *mesh);

/* What a node answers the host's question, while the mesh runs. */
struct state_body mesh_state(struct mesh *mesh, uint32_t rank);

unsigned mesh_count_events(const struct mesh *mesh, uint8_t kind);

/* The test's pointer to program memory of a node. */
void *mesh_at(struct mesh *mesh, unsigned rank, uint32_t address);

/* A request for a message or a collective of node `rank`; its number, or a negative status. */
int32_t mesh_message(struct mesh *mesh, unsigned rank, uint32_t call, int32_t peer, int32_t tag,
                     uint32_t data, uint32_t bytes);
int32_t mesh_collective(struct mesh *mesh, unsigned rank,
                        const struct ecube_abi_collective *arguments);

/* Waits for a request while the mesh runs: its result; status E_TIMEOUT when it never completes. */
struct ecube_abi_result mesh_wait(struct mesh *mesh, unsigned rank, int32_t request);

/* The model clock of a node's program. */
uint64_t mesh_clock(struct mesh *mesh, unsigned rank);
