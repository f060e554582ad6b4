/*
 * fabric.h - a network of real nodes and the controller in one process, stepped in random order.
 *
 * Programs are played by the tests: a test makes system calls for each node, as boot/ does on the
 * target. A test may also send packets of its own through the controller's router.
 */
#pragma once

#include "planner/planner.h"
#include "collectives/store.h"
#include "controller/controller.h"
#include "controller/state.h"
#include "network/network.h"
#include "node/state.h"
#include "router/link_counters.h"
#include "router/port.h"
#include "tests/fabric/memory_link.h"
#include "wire/load.h"

enum {
    FABRIC_PROGRAM = 0x20900000, /* anywhere */
    FABRIC_IMAGE = FABRIC_PROGRAM + 0x40000,
    FABRIC_IMAGE_BYTES = 9000,
    FABRIC_CODE_END = FABRIC_IMAGE + 4096,
    FABRIC_CONSTANTS_END = FABRIC_CODE_END + 4096,
    FABRIC_BLOCK = FABRIC_CONSTANTS_END + 4096, /* the data that is read-only */
    FABRIC_TOP = FABRIC_BLOCK + 4096,
    FABRIC_DATA = FABRIC_TOP + 0x10000, /* where tests put their data: no download comes there */
    FABRIC_BLOCK_BYTES = 64,
    FABRIC_LIST_BYTES =
        LOAD_LIST_HEADER_BYTES + LOAD_PROGRAM_BYTES + 2 * LOAD_SEGMENT_BYTES, /* image, blocks */
    FABRIC_DOWNLOAD = 7, /* the name of a test's own */
    FABRIC_EVENTS = 4096,
    FABRIC_PLAN_BYTES = 64 * 1024,
    FABRIC_RECORD_BYTES = 128 * 1024
};

struct fabric_node {
    struct node *node;
    struct memory_end ends[PORTS_MAX];
    struct link *links[PORTS_MAX];
    struct link_counters link_counters[PORTS_MAX];
    uint8_t *program;
    void *memory;
    uint8_t *plans;
    void *records;
    bool started;
};

/* What the host has heard: packets in order of arrival. */
struct fabric_event {
    uint8_t kind;
    uint32_t src;
    uint8_t body[PACKET_BODY_MAX];
    uint32_t bytes;
};

struct fabric {
    struct network network;
    unsigned count;
    uint32_t data_bytes; /* program memory behind FABRIC_DATA */
    struct fabric_node *nodes;
    struct plan_cache *cache;
    struct plan_preload preload; /* the plans that nodes read in place, of fabric_preload */
    struct controller controller;
    struct memory_end host_ends[PORTS_MAX];
    struct link *host_links[PORTS_MAX];
    void *host_memory;
    unsigned told[EVENT_KINDS];         /* how many events of each kind the controller has told */
    struct controller_event last_event; /* of all; what its body points at is gone */
    struct controller_event last_fault; /* of EVENT_FAULT */
    unsigned fetched[FETCH_SILENT + 1]; /* nodes whose records have ended so, since the start */
    unsigned damaged;                   /* packets of them */
    uint64_t seed, now_us;
    uint32_t paths;   /* of the sends of fabric_message; 0: as programs without an own wish */
    bool long_chunks; /* between nodes: of every second seed */
    struct memory_fault fault;
    struct fabric_event events[FABRIC_EVENTS];
    unsigned event_count;
    uint8_t image[FABRIC_IMAGE_BYTES];
    uint8_t *blocks;
    uint8_t list[FABRIC_LIST_BYTES], list_digest[DIGEST_BYTES];
    uint8_t image_digest[1][DIGEST_BYTES];
    uint8_t (*block_digests)[DIGEST_BYTES];
    const uint8_t *strings[2];
    const uint8_t (*digests[2])[DIGEST_BYTES];
    struct download_message message;
    uint8_t runs;               /* downloads so far */
    uint32_t accepted, refused; /* circuits of the host */
};

struct fabric *fabric_make_named(const char *network, uint32_t data_bytes, uint64_t seed,
                                 struct memory_fault fault, struct profile profile);
/* The host has a link for each of so many ranges (network.h). */
struct fabric *fabric_make_linked(const char *network, unsigned host_links, uint32_t data_bytes,
                                  uint64_t seed, struct memory_fault fault, struct profile profile);
/* The same for a cube. */
struct fabric *fabric_make(unsigned dims, uint32_t data_bytes, uint64_t seed,
                           struct memory_fault fault, struct profile profile);
/* A cube without faults, an iPSC/860's, whose programs have started. */
struct fabric *fabric_started(unsigned dims, uint32_t data_bytes, uint64_t seed);
void fabric_free(struct fabric *fabric);

/* Steps all nodes and the host once, in random order; false when nothing moved and nothing is on a
 * link. */
bool fabric_round(struct fabric *fabric);

/* The host alone, once; true when it has more to do. */
bool fabric_step_host(struct fabric *fabric);

/* Steps until `done` is true; false when simulated seconds pass without it. */
bool fabric_run(struct fabric *fabric, bool (*done)(struct fabric *fabric));

/* Steps until all is quiet, without letting time pass. */
void fabric_settle(struct fabric *fabric);

/* Boots, and loads; false on failure. */
bool fabric_start(struct fabric *fabric);

/* Downloads an image by one root, starts the programs; false on failure. The first half ends when
 * the root takes the image. Programs that still run the host takes for ended. */
bool fabric_load(struct fabric *fabric);
bool fabric_download(struct fabric *fabric);
bool fabric_begin(struct fabric *fabric);

/* The hop list of a schedule's circuit to a neighbour, whose turn it is. */
extern const uint8_t one_hop[HOP_LIST_BYTES + HOP_BYTES];

/* The list of an image of so many bytes for the whole fabric, and of its blocks, goes to
 * fabric->list. */
void fabric_list(struct fabric *fabric, uint32_t image_bytes);
/* The same, and its OFFER. */
struct offer_body fabric_offer(struct fabric *fabric, uint32_t image_bytes, uint8_t generation);
/* The message to that OFFER: the list, and zeros. To be freed. */
uint8_t *fabric_message_of(const struct fabric *fabric, const struct offer_body *offer);

/* The one packet of this kind that the host has heard, unpacked. */
struct state_body fabric_heard_state(const struct fabric *fabric);

/* What a node answers the host's question, while the fabric runs. */
struct state_body fabric_state(struct fabric *fabric, uint32_t rank);

/* How many packets a node has passed on: as STATE tells it, but without a question, which other
 * nodes would pass on too. */
uint32_t fabric_forwarded(const struct fabric *fabric, unsigned rank);

unsigned fabric_count_events(const struct fabric *fabric, uint8_t kind);

/* The test's pointer to program memory of a node. */
void *fabric_at(struct fabric *fabric, unsigned rank, uint32_t address);

/* A request for a message or a collective of node `rank`; its number, or a negative status. */
int32_t fabric_message(struct fabric *fabric, unsigned rank, uint32_t call, int32_t peer,
                       int32_t tag, uint32_t data, uint32_t bytes);
int32_t fabric_collective(struct fabric *fabric, unsigned rank,
                          const struct ecube_abi_collective *arguments);

/* The same with the scratch that the arguments name, in place of as much as there is. */
int32_t fabric_collective_with(struct fabric *fabric, unsigned rank,
                               const struct ecube_abi_collective *arguments);

/* All nodes execute this plan where it suits what they call, and do not ask the host for one. */
void fabric_preload(struct fabric *fabric, const struct plan *plan);

/* A call of node `rank`, while the fabric runs if it blocks: its result; E_TIMEOUT when it never
 * returns. */
int32_t fabric_call(struct fabric *fabric, unsigned rank, uint32_t number, uint32_t first,
                    uint32_t second);

/* Waits for a request while the fabric runs: its result; status E_TIMEOUT if it never completes. */
struct ecube_abi_result fabric_wait(struct fabric *fabric, unsigned rank, int32_t request);

/* Whether a request is over; unlike fabric_wait it lets nothing happen, and the result stays. */
bool fabric_is_done(const struct fabric *fabric, unsigned rank, int32_t request);

/* A program computes: its model clock goes on by so many ns. The call's result. */
int32_t fabric_advance(struct fabric *fabric, unsigned rank, uint64_t ns);

/* A node says over a port that it has another number, in a HELLO behind all that it has said. */
void fabric_misname(struct fabric *fabric, unsigned rank, unsigned port, uint32_t id);

/* The model clock of a node's program. */
uint64_t fabric_clock(struct fabric *fabric, unsigned rank);
