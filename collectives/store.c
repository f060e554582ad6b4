#include "collectives/store.h"

#include <stddef.h>
#include <string.h>

#include "collectives/plan.h"
#include "drivers/status.h"
#include "router/notice.h"
#include "router/router.h"

enum {
    AGAIN_US = 300 * 1000, /* a question without an answer is repeated */
    HOLE_BYTES = 8, /* the least that a hole may have: as much of a header as says its size */
    HOLE_FORM = 0
};

void store_init(struct plan_store *store, uint8_t *memory, uint32_t bytes,
                const struct plan_preload *preload)
{
    *store = (struct plan_store){.memory = memory, .size = bytes & ~3u, .preload = preload};
}

/* Questions are numbered on, so that an answer to an old one is known. */
void store_reset(struct plan_store *store)
{
    uint32_t question = store->question;

    store_init(store, store->memory, store->size, store->preload);
    store->question = question + 1;
}

static bool is_same(const struct plan_need *one, const struct plan_need *other)
{
    return one->operation == other->operation && one->type == other->type &&
           one->root == other->root && one->bytes == other->bytes && one->choice == other->choice;
}

static bool is_met(const uint8_t *part, const struct plan_need *need)
{
    return plan_operation(part) == need->operation && plan_root(part) == need->root &&
           plan_choice(part) == need->choice && plan_suits(part, need->bytes, need->type);
}

const uint8_t *store_find(const struct plan_store *store, const struct plan_need *need,
                          uint32_t rank)
{
    const uint8_t *part =
        preload_find(store->preload, need->operation, need->root, need->bytes, rank);

    for (uint32_t at = 0; !part && at < store->used; at += plan_bytes(store->memory + at)) {
        const uint8_t *here = store->memory + at;
        bool whole = !store->asking || store->total == 0 || at != store->at;
        if (whole && plan_form(here) == PLAN_FORM && is_met(here, need)) {
            part = here;
        }
    }
    return part;
}

static void ask(struct plan_store *store, const struct plan_need *need, bool predicts,
                uint64_t now_us)
{
    store->need = *need;
    store->asking = store->due = true;
    store->predicts = predicts;
    store->status = E_OK;
    store->question++;
    store->got = store->total = 0;
    store->again_us = now_us;
}

/* One question at a time: the host keeps no more of a node. */
void store_want(struct plan_store *store, const struct plan_need *need, uint64_t now_us)
{
    if (store->asking) {
        return;
    }
    ask(store, need, false, now_us);
}

bool store_failed(struct plan_store *store, const struct plan_need *need, int *status)
{
    *status = store->status;
    if (store->asking || store->status == E_OK || !is_same(&store->need, need)) {
        return false;
    }
    store->status = E_OK;
    return true;
}

/* The program waits in its call, so an answer to the same question is its own; it is taken once. */
bool store_predict(struct plan_store *store, const struct plan_need *need, uint64_t now_us)
{
    if (store->asking) {
        return false;
    }
    if (store->predicts && is_same(&store->need, need)) {
        store->predicts = false;
        return true;
    }
    ask(store, need, true, now_us);
    return false;
}

/* Room that holds no part: only its size can be read. */
static void make_hole(struct plan_store *store, uint32_t at, uint32_t bytes)
{
    plan_mark(store->memory + at, HOLE_FORM, bytes);
}

/* Forgets all parts but that in use. */
static void forget(struct plan_store *store)
{
    store->used = 0;
    if (store->in_use) {
        uint32_t before = (uint32_t)(store->in_use - store->memory);
        store->used = before + plan_bytes(store->in_use);
        if (before) {
            make_hole(store, 0, before);
        }
    }
}

/* Finds a place for `total` bytes; false when there is none, even beside the one part in use. */
static bool make_room(struct plan_store *store, uint32_t total)
{
    if (total > store->size - store->used) {
        forget(store);
    }
    uint32_t hole =
        store->used && plan_form(store->memory) == HOLE_FORM ? plan_bytes(store->memory) : 0;
    if (total <= store->size - store->used) {
        store->at = store->used;
        store->used += total;
    } else if (hole >= total + HOLE_BYTES) {
        store->at = 0;
        make_hole(store, total, hole - total);
    } else {
        return false;
    }
    make_hole(store, store->at, total); /* until the part is whole */
    return true;
}

static void end(struct plan_store *store, int status)
{
    /* what there is of the part stays as a hole */
    if (status != E_OK && store->total) {
        make_hole(store, store->at, store->total);
    }
    store->asking = store->due = false;
    store->status = (int16_t)status;
}

/* The first fragment says how much there is. */
static bool begin_part(struct plan_store *store, const struct plan_part_body *fragment)
{
    if (fragment->total < PLAN_HEADER_BYTES || fragment->total % 4) {
        end(store, fragment->total == 0 && fragment->status < 0 ? fragment->status : E_FORMAT);
        return false;
    }
    /* with the header, by which parts are found one behind the other */
    if (fragment->bytes < PLAN_HEADER_BYTES || plan_bytes(fragment->data) != fragment->total) {
        end(store, E_FORMAT);
        return false;
    }
    if (!make_room(store, fragment->total)) {
        end(store, E_NO_ROOM);
        return false;
    }
    store->total = fragment->total;
    return true;
}

/* A fragment that does not continue what is here is dropped: a question may have been answered
 * twice.
 */
static void take_fragment(struct plan_store *store, const struct router *router,
                          const struct plan_part_body *fragment, uint64_t now_us)
{
    if (fragment->offset != store->got || (store->got == 0 && !begin_part(store, fragment))) {
        return;
    }
    if (fragment->total != store->total || fragment->bytes == 0 ||
        fragment->bytes > store->total - store->got) {
        end(store, E_FORMAT);
        return;
    }
    memcpy(store->memory + store->at + store->got, fragment->data, fragment->bytes);
    store->got += fragment->bytes;
    store->due = store->got < store->total;
    store->again_us = now_us;
    if (store->due) {
        return;
    }
    const uint8_t *part = store->memory + store->at;
    int status = plan_check(part, store->total, &router->network, router->id);
    end(store, status == E_OK && !is_met(part, &store->need) ? E_FORMAT : status);
}

void store_packet(struct plan_store *store, const struct router *router,
                  const struct notice *notice, uint64_t now_us)
{
    struct plan_part_body fragment;
    struct predicted_body predicted;

    if (!store->asking) {
        return;
    }
    if (notice->packet_kind == PACKET_PREDICTED) {
        if (store->predicts && predicted_unpack(notice->body, notice->bytes, &predicted) &&
            predicted.question == store->question) {
            store->predicted = predicted;
            store->asking = store->due = false;
        }
    } else if (!store->predicts && plan_part_unpack(notice->body, notice->bytes, &fragment) &&
               fragment.question == store->question) {
        take_fragment(store, router, &fragment, now_us);
    }
}

void store_pump(struct plan_store *store, struct router *router, uint64_t now_us)
{
    if (!store->asking || (!store->due && now_us < store->again_us)) {
        return;
    }
    store->due = true; /* until it has gone: a node without a free slot tries in each step */
    struct plan_ask_body ask = {.question = store->question,
                                .offset = store->got,
                                .operation = store->need.operation,
                                .type = store->need.type,
                                .root = store->need.root,
                                .bytes = store->need.bytes,
                                .choice = store->need.choice};
    uint8_t body[PLAN_ASK_BYTES];
    plan_ask_pack(body, &ask);
    uint8_t kind = store->predicts ? PACKET_PREDICT : PACKET_PLAN_ASK;
    if (router_send(router, kind, ID_HOST, body, sizeof body) == E_OK) {
        store->due = false;
        store->again_us = now_us + AGAIN_US;
    }
}

/* While a question is due every step tries again. */
uint64_t store_deadline(const struct plan_store *store)
{
    return store->asking && !store->due ? store->again_us : UINT64_MAX;
}
