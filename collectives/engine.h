/*
 * engine.h - executes plans: a collective of one node from entry to completion.
 *
 *     IDLE --engine_begin--> PLAN --the part is here, or there is none--> ENTRY
 *     ENTRY --all nodes agree--> STEPS --all bytes moved--> OVER --engine_end--> IDLE
 *       |                          |
 *       +-- an error, the same ----+-- circuit refused, link dead, bytes cut short --> OVER
 *           on all nodes
 *
 * Where blocks have sizes of their own, a circuit whose two ends differ takes its time, and carries
 * what fits. Then all nodes enter once more (ENTRY), without model time, and hear whether all sizes
 * agreed: if not, it is E_MISMATCH at all of them.
 *
 * It never asks which operation or network it works for: what it does stands in the rows of the
 * part (wire/plan.h), and in the properties of the operation's row (operation.h): which spaces a
 * call has, and whether slots are segments, blocks have sizes of their own, elements are combined.
 *
 * A row's step begins when the rows before it are over, in model time: its circuits are issued at
 * the end of all earlier ones of this node; a row that goes ahead at the latest moment at which one
 * of them began to flow. In wall time a row begins as soon as the circuits before it have been
 * accepted, for then their times are known; ROW_AFTER_RECEIVED and ROW_AFTER_SENT make it wait for
 * bytes as well.
 *
 *     step_waits   STEP_SEND: its circuit is not open yet    STEP_ANSWER: nor accepted
 *                  STEP_RECEIVE: the peer's circuit has not come. None left: the row is over
 *
 * Blocks that lie together are sent from, and received to, where they are. Others go in one circuit
 * all the same, in portions: a block of REFERENCE_BYTES and more by reference, smaller ones packed
 * together in slices; what is received to be combined, or to be scattered in small blocks, comes
 * into a slice first. One send and one receive at a time may use slices; others wait for them.
 *
 * Units    bytes; model time in ns
 * Errors   result.status; a circuit whose length is not the plan's: E_MISMATCH, at both ends; what
 *          another node could not do: E_ELSEWHERE
 * Context  the node's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/entry.h"
#include "collectives/operation.h"
#include "collectives/plan.h"
#include "collectives/store.h"

struct notice;
struct router;

enum {
    SLICE_BYTES = 4096,
    SLICES = 3, /* two to send from in turn, one to receive into */
    ENGINE_BYTES = SLICES * SLICE_BYTES
};

enum engine_stage { ENGINE_IDLE, ENGINE_PLAN, ENGINE_ENTRY, ENGINE_STEPS, ENGINE_OVER };
enum engine_verdict { ENGINE_WAITS, ENGINE_HAS_MORE };

enum step_wait {
    STEP_SEND = 1,
    STEP_ANSWER = 2,
    STEP_RECEIVE = 4,
    STEP_SENDS = STEP_SEND | STEP_ANSWER
};

/* What the program has called for. What does not fit the operation the engine finds. */
struct engine_call {
    uint32_t operation, root, bytes;
    uint32_t choice; /* ecube_choice of the algorithm; 0: the host chooses */
    uint8_t type, operator_;
    uint8_t *space[SPACES];
    uint32_t space_bytes[SPACES];
    uint32_t writable_bytes[SPACES]; /* of these, from the first on; none of SEND */
    /* of operation->sized: a struct ecube_block for every rank, as bytes, and how many there are */
    const uint8_t *blocks[SPACE_SCRATCH];
    uint32_t blocks_bytes[SPACE_SCRATCH];
    int status; /* not E_OK: what is wrong with it here; all nodes get an error */
    uint64_t issue_ns;
};

struct engine_result {
    int status;
    uint32_t steps;
    uint64_t done_ns;
};

/* Goes through the slots of one side of a row as pieces of memory. */
struct engine_cursor {
    struct plan_slots slots;
    uint8_t *at; /* the rest of the present piece */
    uint32_t left;
};

/* What a node has found wrong with the sizes of blocks; status E_OK: nothing. */
struct engine_dissent {
    int status;
    uint32_t peer, here, there; /* E_MISMATCH: who sent, bytes expected, bytes sent */
};

/* One end of a circuit that goes in portions. */
struct engine_portions {
    bool active;
    uint8_t slice; /* source: the one that was used last */
    bool combines; /* sink: what comes is combined with what is there */
    uint32_t token;
    uint32_t left;  /* bytes that have not been given to the router, or have no place yet */
    uint32_t given; /* sink: of the present place */
    bool sliced;    /* sink: the present place is the slice */
    struct engine_cursor cursor;
};

struct engine {
    uint8_t stage;      /* enum engine_stage */
    uint8_t step_waits; /* of enum step_wait */
    bool row_open;
    bool look_due;  /* the entry or the store may have something to do: else no step looks there */
    int16_t closed; /* why the program has ended; E_OK: it has not */
    bool agreeing;  /* the steps are over, and all nodes say whether the sizes agreed */
    uint16_t epoch; /* of the collective that is under way, or of the last one */
    uint8_t receives_pending, sends_pending;
    const uint8_t *part, *row;
    struct plan_row head; /* of `row`, ranks translated */
    uint32_t send_bytes, receive_bytes, send_hops;
    uint64_t begun_ns;          /* when the collective began */
    uint64_t clock_ns, flow_ns; /* of earlier rows: the end, and the latest begin of a circuit */
    uint64_t step_clock_ns, step_flow_ns; /* the same of earlier steps */
    uint16_t row_number;                  /* of the present row, modulo 2^16 */
    uint64_t done_ns, began_ns;           /* the same of the present one, so far */
    struct engine_call call;
    const struct operation *operation; /* the call's; NULL: there is none of that number */
    struct engine_result result;
    uint32_t rank;
    uint32_t packed; /* bytes that went through slices, both ways; modulo 2^32 */
    uint8_t *memory; /* ENGINE_BYTES for slices */
    uint32_t token;  /* bits that the owner's notices of this engine's circuits have */
    struct engine_portions source, sink;
    struct engine_cursor from, into; /* of a row that copies */
    struct engine_cursor sized[2];   /* the present row's blocks, sent and received */
    struct engine_dissent dissent;
    struct entering entering;
    struct plan_store store;
};

void engine_init(struct engine *engine, uint8_t *memory, uint32_t token);

/* A download begins: another program, whose collectives are counted anew. */
void engine_reset(struct engine *engine, uint8_t generation);

/* The program has ended, `why`: E_PEER_GONE, or E_LINK_DEAD if that comes of a dead link. What it
 * has begun goes on; word of its end is owed to the neighbours. */
void engine_close(struct engine *engine, const struct router *router, int why);

/* The last epoch that the program takes part in, of those that it has begun. */
uint16_t engine_entered(const struct engine *engine);

/* Begins a collective; the engine must be idle. */
void engine_begin(struct engine *engine, const struct engine_call *call);

/* Moves what can move. */
enum engine_verdict engine_pump(struct engine *engine, struct router *router, uint64_t now_us);

/* Takes the result of a collective that is over. */
struct engine_result engine_end(struct engine *engine);

/* A packet of wire/collective.h or wire/plan.h; word of a circuit whose token is this engine's. */
void engine_packet(struct engine *engine, const struct router *router, const struct notice *notice,
                   uint64_t now_us);
void engine_notice(struct engine *engine, struct router *router, const struct notice *notice);

/* A part is wanted of the store from outside. */
static inline void engine_attend(struct engine *engine)
{
    engine->look_due = true;
}

/* Whether one is under way. */
static inline bool engine_is_active(const struct engine *engine)
{
    return engine->stage != ENGINE_IDLE;
}

/* Whether a download may begin: nothing is under way or owed. */
bool engine_is_quiet(const struct engine *engine);

uint64_t engine_deadline(const struct engine *engine);

/* The node that it waits for, of the entry or the present row. */
uint32_t engine_awaits(const struct engine *engine, const struct router *router);

/* Number of the present step, from 1; 0: before the first. */
uint32_t engine_step(const struct engine *engine);
