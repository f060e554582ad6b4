/*
 * fake_nodes.h - a controller whose nodes are played by a test, on any network: it hears what the
 * controller sends, and says what nodes say.
 *
 * The nodes with host links are real routers, which carry packets of any node; what the controller
 * sends is read from the cable. After each step its next deadline must lie ahead.
 *
 * Units    us
 */
#pragma once

#include "controller/cables.h"
#include "controller/controller.h"
#include "controller/state.h"
#include "controller/waits.h"
#include "controller/words.h"
#include "router/port.h"
#include "tests/fabric/memory_link.h"
#include "wire/load.h"
#include "wire/message.h"

/* Of what is loaded: an image for all, and private blocks. */
enum { FAKE_IMAGE, FAKE_BLOCKS, FAKE_SEGMENTS };

enum {
    FAKE_EVENTS = 4096,
    FAKE_PACKETS = 16384,
    FAKE_BODY = 80,
    FAKE_PATIENCE_US = 15 * 1000 * 1000,
    FAKE_BLOCK_BYTES = 16,
    FAKE_IMAGE_BYTES = 100,
    FAKE_TOP = 0x3000,
    FAKE_LIST_BYTES =
        LOAD_LIST_HEADER_BYTES + LOAD_PROGRAM_BYTES + FAKE_SEGMENTS * LOAD_SEGMENT_BYTES
};

struct fake_packet {
    uint8_t kind;
    uint32_t dst, bytes;
    uint8_t body[FAKE_BODY];
};

struct fake_nodes {
    struct network network;
    struct controller controller;
    unsigned links;
    struct memory_end host_ends[PORTS_MAX], node_ends[PORTS_MAX], nowhere[PORTS_MAX][PORTS_MAX];
    struct link *host_links[PORTS_MAX], *node_links[PORTS_MAX][PORTS_MAX];
    struct router routers[PORTS_MAX]; /* of the nodes with host links */
    void *router_memory[PORTS_MAX], *memory;
    uint32_t sniffed[PORTS_MAX]; /* segments of the host's that were read */
    uint64_t now_us, seed;
    struct memory_fault fault;
    bool deaf;                                /* nobody takes what the controller sends */
    int refusal;                              /* of the next circuit; E_OK: it is accepted */
    struct fake_packet packets[FAKE_PACKETS]; /* from the controller */
    unsigned packet_count;
    struct controller_event events[FAKE_EVENTS]; /* what they point at is gone */
    unsigned event_count;
    uint8_t sink[1 << 16];
    struct links_port (*found)[LINKS_PORTS_MAX]; /* what each node tells of its links */
    uint8_t list[FAKE_LIST_BYTES], list_digest[DIGEST_BYTES];
    uint8_t *blocks, image[FAKE_IMAGE_BYTES];
    uint8_t (*digests)[DIGEST_BYTES], image_digest[1][DIGEST_BYTES]; /* of the blocks */
    const uint8_t *strings[FAKE_SEGMENTS];
    const uint8_t (*segment_digests[FAKE_SEGMENTS])[DIGEST_BYTES];
    struct download_message *messages;
};

/* A controller in its boot, with links that are up. */
struct fake_nodes *fake_make(const char *network);
/* The same, booted; loaded, by one message or one to each node; and running. */
struct fake_nodes *fake_booted(const char *network);
struct fake_nodes *fake_loaded(const char *network);
struct fake_nodes *fake_running(const char *network);
/* All nodes and links start anew, and so does the controller: it boots. */
void fake_restart(struct fake_nodes *all);
void fake_free(struct fake_nodes *all);

/* Until nothing moves; and the same when time has passed, in steps of 100 ms, that counts. */
void fake_settle(struct fake_nodes *all);
void fake_pass_ms(struct fake_nodes *all, unsigned ms);
/* Time that does not count as passed. */
void fake_wait_ms(struct fake_nodes *all, unsigned ms);

/* What a node says; then all settles. */
void fake_say(struct fake_nodes *all, uint32_t src, uint8_t kind, const void *body, uint32_t bytes);
void fake_tell_links(struct fake_nodes *all, uint32_t rank);
void fake_tell_all_links(struct fake_nodes *all);
void fake_reply(struct fake_nodes *all, uint32_t rank, uint8_t kind, uint32_t name);
void fake_receipt(struct fake_nodes *all, uint32_t rank, uint64_t model_ns);
/* One packet of a receipt, with as many digests as it says; `held_bytes` of what it was sent. */
void fake_say_receipt(struct fake_nodes *all, uint32_t rank, const struct receipt_body *receipt);
void fake_state(struct fake_nodes *all, uint32_t rank, const struct state_body *state);
void fake_exit(struct fake_nodes *all, uint32_t rank, int32_t status);
void fake_link_dead(struct fake_nodes *all, uint32_t rank, unsigned port, uint8_t reason);

/* A link of the network is not as it should be, at one end. */
void fake_find(struct fake_nodes *all, uint32_t rank, uint32_t peer, struct links_port found);
/* Both ends of a cable between these ports. */
void fake_plug(struct fake_nodes *all, uint32_t a, unsigned a_port, uint32_t b, unsigned b_port);

/* Loads: one message to node 0, or one to each node. */
enum controller_refusal fake_load(struct fake_nodes *all, bool each);
/* By one message, until all hold it. */
void fake_load_whole(struct fake_nodes *all);

/* What the controller has sent: how many of a kind, in all or to a node; the last of them. Forgets
 * packets and events. */
unsigned fake_sent(const struct fake_nodes *all, uint8_t kind);
unsigned fake_sent_to(const struct fake_nodes *all, uint8_t kind, uint32_t dst);
const struct fake_packet *fake_last(const struct fake_nodes *all, uint8_t kind);
void fake_forget(struct fake_nodes *all);

/* What it has told: how many of a kind, and the last of them. */
unsigned fake_told(const struct fake_nodes *all, enum event_kind kind);
const struct controller_event *fake_event(const struct fake_nodes *all, enum event_kind kind);
