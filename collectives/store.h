/*
 * store.h - the plans that a node has, and how it comes by another one.
 *
 * Plans are the kernel's. A node that needs one which it has not asks the host for its part,
 * fragment by fragment, and puts them together in a store of bounded size; the part is checked when
 * it is whole.
 *
 *     IDLE --store_want--> ASKING --PLAN_PART, the last fragment--> IDLE, found
 *                            |  ^---- again after ASK_AGAIN_US without a fragment
 *                            +--- no such plan, no room, a damaged part --> IDLE, `status`
 *
 * A store that is full forgets all of its plans but the one that is in use, which keeps its place;
 * what lies before that becomes a hole, another form of part.
 *
 * Units    bytes; wall time in us
 * Errors   E_NO_ROOM: the part is larger than the store; E_FORMAT, E_NETWORK: plan_check; or what
 *          the host says
 * Context  the node's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/preload.h"
#include "wire/plan.h"

struct notice;
struct router;

/* What a plan is wanted for. */
struct plan_need {
    uint8_t operation, type;
    uint32_t root, bytes;
    uint32_t choice; /* ecube_choice of the algorithm that is to make it; 0: the host chooses */
};

struct plan_store {
    uint8_t *memory;
    uint32_t size, used;
    const struct plan_preload *preload; /* a simulator's; NULL: there is none */
    const uint8_t *in_use;              /* NULL: none of the parts here */
    struct plan_need need;              /* what was wanted last */
    bool asking;
    bool predicts;  /* ... PREDICT, not PLAN_ASK */
    bool due;       /* a question is to be sent */
    int16_t status; /* negative: why the need was not met */
    uint32_t question;
    uint32_t at, got, total; /* where the part that is coming lies; total 0: not known yet */
    uint64_t again_us;
    struct predicted_body predicted; /* the last answer to PREDICT, status and all */
};

void store_init(struct plan_store *store, uint8_t *memory, uint32_t bytes,
                const struct plan_preload *preload);

/* A new program, a new network: all that is here is forgotten. No plan is in use. */
void store_reset(struct plan_store *store);

/* The part for a need; NULL: it is not here. */
const uint8_t *store_find(const struct plan_store *store, const struct plan_need *need,
                          uint32_t rank);

/* Asks for it, unless another part is being asked for: then when that one is here. */
void store_want(struct plan_store *store, const struct plan_need *need, uint64_t now_us);

/* Whether the last need that was wanted, this one, could not be met: *status says why, once. The
 * next call asks again: a store that was full may have room by then. */
bool store_failed(struct plan_store *store, const struct plan_need *need, int *status);

/* Asks the host for the time that it takes; true when `predicted` is the answer. */
bool store_predict(struct plan_store *store, const struct plan_need *need, uint64_t now_us);

/* The part in use, NULL when none is: nothing of it is moved or forgotten. */
static inline void store_use(struct plan_store *store, const uint8_t *part)
{
    store->in_use = part;
}

/* PLAN_PART or PREDICTED has come. */
void store_packet(struct plan_store *store, const struct router *router,
                  const struct notice *notice, uint64_t now_us);

/* Sends the question that is due, if there is a slot. */
void store_pump(struct plan_store *store, struct router *router, uint64_t now_us);

/* When it wants to be pumped though nothing happens; UINT64_MAX: never. */
uint64_t store_deadline(const struct plan_store *store);
