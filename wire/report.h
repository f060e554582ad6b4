/*
 * report.h - what a node tells the host of itself, asked or not.
 *
 *   QUERY   to a node, empty: answer with STATE
 *   STATE   0 program u8 | 1 wait u8 | 2 transfer stage u8 | 3 requests u8, not yet waited for |
 *           4 peer i32 | 8 tag i32 | 12 status i32 | 16 bytes u32 (of the message that the program
 *           waits for, as it was asked for, or as the sender has it once the receive is matched;
 *           with WAIT_SEVERAL bytes is the number of requests) |
 *           20 collective stage u8 | 21 operation u8 | 22 flags u8, enum state_flag |
 *           23 stored u8, messages that wait for a receive |
 *           24 model ns u64 |
 *           32 pc u32 | 36 lr u32 (of a program that computes, when it was last interrupted), or
 *           32 us left u64 (of one that sleeps), else 0 | 40 collective's bytes u32 | 44 root u32 |
 *           48 node u32, whose ENTER it waits for (in the tree of collective.h the parent, or the
 *           first child that has not entered), or whose part of the step |
 *           52 step u16, from 1, 0: before the first | 54 steps u16, 0: not known yet |
 *           56 counters u32[STATE_COUNTERS]
 *           The collective is the one that is under way, whether or not the program waits for it.
 *           With WAIT_REGION there is none told: 32 the region's name char[ECUBE_NAME_MAX], which
 *           ends with a zero byte, and bytes is its size
 *   FAULT   0 kind u16 | 2 collectives u16, as in EXIT | 4 address u32 | 8 status register u32 |
 *           12 registers u32[16] | 76 processor status u32 | 80 line u32 | 84 text: a kernel CHECK
 *           that failed, its file. Of a program instead:
 *           80 address u32 | 84 what its stack held from there on, as much as fits
 *   LINKS   0 port count u8 | 1 complete u8 | 2 spare[2] | 4 per port: state u8 | peer port u8 |
 *           spare[2] | peer id u32
 *   LINK_DEAD 0 port u8 | 1 reason u8 | 2 spare[2] | 4 peer id u32
 *   DISAGREE a collective has failed in its entry, at all nodes:
 *           0 status i32 | 4 first rank u32 | 8 other rank u32 | 12 first's entry | 32 other's
 *           entry (collective.h). E_MISMATCH: the two have entered different collectives; any other
 *           status: `first` could not go on
 *
 * Units    bytes; model time in ns
 * Context  any; pure. Unpacking is false when the bytes are too few, or ports too many; what is
 *          unpacked refers to text and stack where they lie.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "include/ecube/abi.h"
#include "wire/bytes.h"
#include "wire/collective.h"

enum report_kind {
    PACKET_QUERY = 25,
    PACKET_FAULT = 34,
    PACKET_LINKS = 37,
    PACKET_STATE = 38,
    PACKET_LINK_DEAD = 39,
    PACKET_DISAGREE = 40
};

/* What STATE's counters count, over all ports. */
enum state_counter {
    COUNTER_FRAMES_SENT,
    COUNTER_FRAMES_RECEIVED,
    COUNTER_FRAMES_RESENT,
    COUNTER_FRAMES_DAMAGED,
    COUNTER_GAPS, /* frames that came ahead of one that was lost */
    COUNTER_NAKS,
    COUNTER_PACKETS_FORWARDED,
    COUNTER_CIRCUITS_FORWARDED,
    COUNTER_PACKETS_DROPPED,
    COUNTER_CIRCUITS_REFUSED,
    COUNTER_REQUESTS_DROPPED, /* there was no slot for an answer; they are repeated */
    COUNTER_COLLECTIVES,
    COUNTER_PACKED, /* bytes of collectives that were copied to lie together, modulo 2^32 */
    /* bytes and circuits moved, messages matched, requests completed, calls made; not what is only
     * repeated, acknowledged or asked, nor a test in vain */
    COUNTER_PROGRESS,
    STATE_COUNTERS
};

enum state_flag {
    /* what this node had sent at the question before has come to its neighbours */
    STATE_DELIVERED = 1,
    STATE_POLLS = 2 /* the program waits by testing again and again */
};

enum fault_kind {
    FAULT_DATA = 1,      /* data abort */
    FAULT_PREFETCH = 2,  /* instruction fetch abort */
    FAULT_UNDEFINED = 3, /* undefined instruction */
    FAULT_DIVIDE = 4,    /* integer division by zero: the trap of __aeabi_idiv0 */
    FAULT_STACK = 5,     /* data abort in the guard below the stack */
    FAULT_SIGNAL = 6,    /* the program ended itself by the signal in r0: the trap of abort */
    FAULT_ERROR = 7,     /* an error of a call of ecube.h has ended it: include/ecube/called.h */
    FAULT_FINDING = 8,   /* the checking library has ended it: finding.h */
    FAULT_MAP = 9,       /* it has not begun: registers 0 to 3 are the load_map_fault of load.h */
    FAULT_KERNEL = 16,   /* added to a kind above: the kernel itself faulted */
    FAULT_CHECK = 32     /* a CHECK in the kernel failed */
};

enum program_state {
    PROGRAM_NONE = 0,
    PROGRAM_LOADING = 1,
    PROGRAM_LOADED = 2,
    PROGRAM_RUNNING = 3,
    PROGRAM_EXITED = 4,
    PROGRAM_FAULTED = 5
};

enum wait_kind {
    WAIT_NOTHING = 0, /* computing */
    WAIT_SEND = 1,
    WAIT_RECEIVE = 2,
    WAIT_COLLECTIVE = 3,
    WAIT_CONSOLE = 4, /* for a packet slot */
    WAIT_SLEEP = 5,   /* until a time */
    WAIT_READER = 6,  /* of console text, until TAKEN comes */
    WAIT_PLAN = 7,    /* for the host's answer to PLAN_ASK or PREDICT */
    WAIT_SEVERAL = 8, /* for one of several requests; `bytes` is how many */
    WAIT_PROBE = 9,   /* for a message of peer and tag that it has not asked for */
    WAIT_REGION = 10, /* at a region, for the host */
    WAIT_KINDS
};

/* How far the message has come that a program waits for. */
enum transfer_stage {
    TRANSFER_OPEN = 0,  /* a send has no answer yet; for a receive nothing has come */
    TRANSFER_KNOWN = 1, /* a send: the receiver's node knows of it, its program has not asked */
    TRANSFER_MOVES = 2  /* both sides are known */
};

enum collective_stage {
    COLLECTIVE_NONE = 0,
    COLLECTIVE_ENTRY = 1, /* the nodes agree on it */
    COLLECTIVE_STEPS = 2
};

enum {
    STATE_BYTES = 112,
    FAULT_BYTES = 84, /* without text or stack */
    FAULT_REGISTERS = 16,
    LINKS_PORTS_MAX = 18,
    LINKS_HEADER_BYTES = 4,
    LINKS_PORT_BYTES = 8,
    LINKS_BYTES_MAX = LINKS_HEADER_BYTES + LINKS_PORTS_MAX * LINKS_PORT_BYTES,
    LINK_DEAD_BYTES = 8,
    DISAGREE_BYTES = 12 + 2 * ENTRY_BYTES
};

struct state_body {
    uint8_t program;  /* enum program_state */
    uint8_t wait;     /* enum wait_kind */
    uint8_t transfer; /* enum transfer_stage */
    uint8_t requests;
    int32_t peer, tag, status;
    uint32_t bytes;
    uint8_t stage; /* enum collective_stage */
    uint8_t operation;
    uint8_t flags; /* enum state_flag */
    uint8_t stored;
    uint64_t model_ns;
    uint32_t pc, lr;  /* 0 when wait is WAIT_SLEEP */
    uint64_t left_us; /* else 0 */
    uint32_t collective_bytes, root, partner;
    uint16_t step, steps;
    uint32_t counters[STATE_COUNTERS];
    char region[ECUBE_NAME_MAX]; /* empty unless wait is WAIT_REGION */
};

_Static_assert(56 + 4 * (int)STATE_COUNTERS == (int)STATE_BYTES, "STATE ends with counters");

static inline void state_pack(uint8_t *body, const struct state_body *state)
{
    body[0] = state->program;
    body[1] = state->wait;
    body[2] = state->transfer;
    body[3] = state->requests;
    put32(body + 4, (uint32_t)state->peer);
    put32(body + 8, (uint32_t)state->tag);
    put32(body + 12, (uint32_t)state->status);
    put32(body + 16, state->bytes);
    body[20] = state->stage;
    body[21] = state->operation;
    body[22] = state->flags;
    body[23] = state->stored;
    put64(body + 24, state->model_ns);
    put64(body + 32,
          state->wait == WAIT_SLEEP ? state->left_us : state->pc | (uint64_t)state->lr << 32);
    put32(body + 40, state->collective_bytes);
    put32(body + 44, state->root);
    put32(body + 48, state->partner);
    put16(body + 52, state->step);
    put16(body + 54, state->steps);
    if (state->wait == WAIT_REGION) {
        memcpy(body + 32, state->region, ECUBE_NAME_MAX);
    }
    for (unsigned i = 0; i < STATE_COUNTERS; i++) {
        put32(body + 56 + 4 * i, state->counters[i]);
    }
}

static inline bool state_unpack(const uint8_t *body, uint32_t bytes, struct state_body *state)
{
    if (bytes < STATE_BYTES) {
        return false;
    }
    bool sleeps = body[1] == WAIT_SLEEP, named = body[1] == WAIT_REGION;
    const uint8_t none[ECUBE_NAME_MAX] = {0}, *at = named ? none : body + 32;

    if (named && body[32 + ECUBE_NAME_MAX - 1] != 0) {
        return false;
    }
    *state = (struct state_body){.program = body[0],
                                 .wait = body[1],
                                 .transfer = body[2],
                                 .requests = body[3],
                                 .peer = (int32_t)get32(body + 4),
                                 .tag = (int32_t)get32(body + 8),
                                 .status = (int32_t)get32(body + 12),
                                 .bytes = get32(body + 16),
                                 .stage = body[20],
                                 .operation = body[21],
                                 .flags = body[22],
                                 .stored = body[23],
                                 .model_ns = get64(body + 24),
                                 .pc = sleeps ? 0 : get32(at),
                                 .lr = sleeps ? 0 : get32(at + 4),
                                 .left_us = sleeps ? get64(at) : 0,
                                 .collective_bytes = get32(at + 8),
                                 .root = get32(at + 12),
                                 .partner = get32(at + 16),
                                 .step = get16(at + 20),
                                 .steps = get16(at + 22)};
    if (named) {
        memcpy(state->region, body + 32, ECUBE_NAME_MAX);
    }
    for (unsigned i = 0; i < STATE_COUNTERS; i++) {
        state->counters[i] = get32(body + 56 + 4 * i);
    }
    return true;
}

struct fault_body {
    uint16_t kind; /* enum fault_kind */
    uint16_t collectives;
    uint32_t address, status_register, registers[FAULT_REGISTERS];
    uint32_t
        processor_status; /* r0 to r15, this and status_register: as the architecture has them */
    uint32_t line;        /* of a kernel CHECK; else the address at which `tail` begins */
    const uint8_t *tail;  /* the file of a kernel CHECK, without a zero byte; else stack */
    uint32_t tail_bytes;
};

/* Returns the bytes of the body. */
static inline uint32_t fault_pack(uint8_t *body, const struct fault_body *fault)
{
    put16(body, fault->kind);
    put16(body + 2, fault->collectives);
    put32(body + 4, fault->address);
    put32(body + 8, fault->status_register);
    for (unsigned i = 0; i < FAULT_REGISTERS; i++) {
        put32(body + 12 + 4 * i, fault->registers[i]);
    }
    put32(body + 76, fault->processor_status);
    put32(body + 80, fault->line);
    if (fault->tail_bytes > 0) {
        memcpy(body + FAULT_BYTES, fault->tail, fault->tail_bytes);
    }
    return FAULT_BYTES + fault->tail_bytes;
}

static inline bool fault_unpack(const uint8_t *body, uint32_t bytes, struct fault_body *fault)
{
    if (bytes < FAULT_BYTES) {
        return false;
    }
    *fault = (struct fault_body){.kind = get16(body),
                                 .collectives = get16(body + 2),
                                 .address = get32(body + 4),
                                 .status_register = get32(body + 8),
                                 .processor_status = get32(body + 76),
                                 .line = get32(body + 80),
                                 .tail = body + FAULT_BYTES,
                                 .tail_bytes = bytes - FAULT_BYTES};
    for (unsigned i = 0; i < FAULT_REGISTERS; i++) {
        fault->registers[i] = get32(body + 12 + 4 * i);
    }
    return true;
}

struct links_port {
    uint8_t state; /* enum link_state */
    uint8_t peer_port;
    uint32_t peer;
};

struct links_body {
    uint8_t port_count;
    bool complete; /* all links are up, and lead somewhere */
    struct links_port ports[LINKS_PORTS_MAX];
};

/* Returns the bytes of the body. */
static inline uint32_t links_pack(uint8_t *body, const struct links_body *links)
{
    uint8_t *at = body + LINKS_HEADER_BYTES;

    put32(body, links->port_count | (uint32_t)links->complete << 8);
    for (unsigned i = 0; i < links->port_count; i++, at += LINKS_PORT_BYTES) {
        put32(at, links->ports[i].state | (uint32_t)links->ports[i].peer_port << 8);
        put32(at + 4, links->ports[i].peer);
    }
    return LINKS_HEADER_BYTES + links->port_count * (uint32_t)LINKS_PORT_BYTES;
}

static inline bool links_unpack(const uint8_t *body, uint32_t bytes, struct links_body *links)
{
    const uint8_t *at = body + LINKS_HEADER_BYTES;

    if (bytes < LINKS_HEADER_BYTES || body[0] > LINKS_PORTS_MAX ||
        bytes < LINKS_HEADER_BYTES + body[0] * (uint32_t)LINKS_PORT_BYTES) {
        return false;
    }
    *links = (struct links_body){.port_count = body[0], .complete = body[1] != 0};
    for (unsigned i = 0; i < links->port_count; i++, at += LINKS_PORT_BYTES) {
        links->ports[i] = (struct links_port){at[0], at[1], get32(at + 4)};
    }
    return true;
}

struct link_dead_body {
    uint8_t port;
    uint8_t reason; /* enum dead_reason */
    uint32_t peer;
};

static inline void link_dead_pack(uint8_t *body, const struct link_dead_body *dead)
{
    put32(body, dead->port | (uint32_t)dead->reason << 8);
    put32(body + 4, dead->peer);
}

static inline bool link_dead_unpack(const uint8_t *body, uint32_t bytes,
                                    struct link_dead_body *dead)
{
    if (bytes < LINK_DEAD_BYTES) {
        return false;
    }
    *dead = (struct link_dead_body){body[0], body[1], get32(body + 4)};
    return true;
}

struct disagree_body {
    int32_t status;
    uint32_t first_rank, other_rank; /* other_rank ID_UNKNOWN: there is none */
    struct entry first, other;
};

static inline void disagree_pack(uint8_t *body, const struct disagree_body *disagree)
{
    put32(body, (uint32_t)disagree->status);
    put32(body + 4, disagree->first_rank);
    put32(body + 8, disagree->other_rank);
    entry_pack(body + 12, &disagree->first);
    entry_pack(body + 12 + ENTRY_BYTES, &disagree->other);
}

static inline bool disagree_unpack(const uint8_t *body, uint32_t bytes,
                                   struct disagree_body *disagree)
{
    if (bytes < DISAGREE_BYTES) {
        return false;
    }
    *disagree = (struct disagree_body){.status = (int32_t)get32(body),
                                       .first_rank = get32(body + 4),
                                       .other_rank = get32(body + 8),
                                       .first = entry_at(body + 12),
                                       .other = entry_at(body + 12 + ENTRY_BYTES)};
    return disagree->status < 0;
}
