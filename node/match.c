/*
 * match.c - the receiving side of messages: which receive takes which message, and where it waits
 * until then.
 *
 * A message is announced (WANT) or comes at once (eager). It goes to the oldest posted receive that
 * fits; if there is none it is stored, and the next receive that fits takes the oldest stored one.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/status.h"
#include "node/state.h"
#include "router/circuit.h"
#include "router/router.h"

/* Whether messages of a run are for the program that is here: one of the run before may still be
 * under way to a node that has the next program. */
static bool takes_messages(const struct node *node, uint8_t run)
{
    return (node->program == PROGRAM_LOADED || node->program == PROGRAM_RUNNING) &&
           run == node->load.run;
}

static bool fits(const struct request *request, uint32_t src, uint32_t tag)
{
    return request->kind == REQUEST_RECEIVE && request->state == STATE_QUEUED &&
           (request->peer == ECUBE_ANY || (uint32_t)request->peer == src) &&
           (request->tag == ECUBE_ANY || (uint32_t)request->tag == tag);
}

/* The oldest posted receive for a message; NULL when there is none. */
static struct request *find_receive(struct node *node, uint32_t src, uint32_t tag)
{
    for (unsigned i = 0; i < node->request_count; i++) {
        struct request *request = request_at(node, i);
        if (fits(request, src, tag))
            return request;
    }
    return NULL;
}

static void settle_receive(struct node *node, struct request *request, uint32_t src, uint32_t tag,
                           uint32_t bytes)
{
    node->progress++;
    request->result_peer = (int32_t)src;
    request->result_tag = (int32_t)tag;
    request->result_bytes = bytes;
}

void match_finish(struct node *node, struct request *request, uint64_t done_ns)
{
    bool fit = request->result_bytes <= request->bytes;

    if (!fit)
        request->result_bytes = request->bytes;
    request_finish(node, request, fit ? E_OK : E_TRUNCATED, done_ns);
}

static uint8_t take_pool(struct node *node)
{
    return node->pool_free[--node->pool_free_count];
}

static void give_pool(struct node *node, uint8_t pool)
{
    node->pool_free[node->pool_free_count++] = pool;
}

void match_reset(struct node *node)
{
    node->want_count = 0;
    node->pool_free_count = 0;
    for (unsigned pool = POOL_MAX; pool-- > 0;)
        give_pool(node, (uint8_t)pool);
}

static void remove_want(struct node *node, unsigned index)
{
    node->want_count--;
    memmove(&node->wants[index], &node->wants[index + 1],
            (node->want_count - index) * sizeof node->wants[0]);
}

/* READY from a posted receive for an announced message; E_FULL: no slot now. */
static int send_ready(struct node *node, const struct want *want, const struct request *request)
{
    uint8_t body[READY_BYTES];

    ready_pack(body, &(struct ready_body){.want = want->id,
                                          .match = request_name(node, request),
                                          .room = request->bytes});
    return router_send(&node->router, PACKET_READY, want->src, body, sizeof body);
}

/* A word without more than a name: QUEUED, LATER, GONE. */
static int send_word(struct node *node, uint8_t kind, uint32_t dst, uint32_t name)
{
    uint8_t body[WORD_BYTES];

    word_pack(body, &(struct word_body){name});
    return router_send(&node->router, kind, dst, body, sizeof body);
}

/* Answers an announcement at once, or not at all: it is repeated until it has been answered. */
static void answer(struct node *node, uint8_t kind, const struct want *want)
{
    if (send_word(node, kind, want->src, want->id) != E_OK)
        node->dropped_requests++;
}

/* Joins a receive and a stored message; false when it cannot be done now. */
static bool join(struct node *node, struct request *request, unsigned index)
{
    struct want want = node->wants[index];
    struct request *send = want.src == node->router.id ? request_named(node, want.id) : NULL;
    uint32_t copied = want.bytes < request->bytes ? want.bytes : request->bytes;

    if (want.pool < POOL_MAX) {
        memcpy(request->data, node->pool[want.pool], copied);
        give_pool(node, want.pool);
        settle_receive(node, request, want.src, want.tag, want.bytes);
        match_finish(node, request, want.done_ns);
    } else if (want.src == node->router.id) {
        /* a neighbour may have announced it in our name */
        if (send && send->kind == REQUEST_SEND && send->peer == (int32_t)want.src &&
            send->bytes == want.bytes) {
            memmove(request->data, send->data, copied);
            settle_receive(node, request, want.src, want.tag, want.bytes);
            match_finish(node, request, clock_max(request->issue_ns, send->issue_ns));
            request_finish(node, send, E_OK, send->issue_ns);
        }
    } else {
        if (send_ready(node, &want, request) != E_OK)
            return false; /* it stays stored, and is looked for again in each step */
        settle_receive(node, request, want.src, want.tag, want.bytes);
        request->match = want.id;
        request->state = STATE_MOVING;
    }
    remove_want(node, index);
    return true;
}

/* Looks for a stored message for a posted receive. */
void match_receive(struct node *node, struct request *request)
{
    for (unsigned i = 0; i < node->want_count; i++) {
        if (fits(request, node->wants[i].src, node->wants[i].tag)) {
            join(node, request, i);
            return;
        }
    }
}

/* Joins a message with its receive if one is posted, or stores it behind the others if there are
 * fewer than most; false: neither. */
static bool store_want(struct node *node, const struct want *want, unsigned most)
{
    unsigned before = node->want_count;

    node->wants[node->want_count++] = *want;
    struct request *request = find_receive(node, want->src, want->tag);
    if (request)
        match_receive(node, request);
    if (node->want_count <= before || node->want_count <= most)
        return true;
    node->want_count--;
    return false;
}

/* A message of a node to itself: a short one is pooled, so that even a blocking send returns. It
 * stays queued when there is no room. */
void match_self(struct node *node, struct request *request)
{
    struct want want = {.src = node->router.id,
                        .id = request_name(node, request),
                        .tag = (uint32_t)request->tag,
                        .bytes = request->bytes,
                        .done_ns = request->issue_ns,
                        .pool = POOL_MAX};

    request->state = STATE_STORED;
    if (node->pool_free_count > 0 && request->bytes <= POOL_BYTES &&
        node->want_count <= WANTS_MAX) {
        want.pool = take_pool(node);
        memcpy(node->pool[want.pool], request->data, request->bytes);
        request_finish(node, request, E_OK, request->issue_ns);
    }
    if (!store_want(node, &want, WANTS_MAX + 1)) {
        request->state = STATE_QUEUED;
        request->again_us = node->router.now_us + LATER_US;
    }
}

/* The receive that waits for an announced message; NULL when there is none. */
static const struct request *expecting(struct node *node, uint32_t src, uint32_t id)
{
    for (unsigned i = 0; i < node->request_count; i++) {
        const struct request *request = request_at(node, i);
        if (request->kind == REQUEST_RECEIVE && request->state == STATE_MOVING &&
            request->match == id && (uint32_t)request->result_peer == src)
            return request;
    }
    return NULL;
}

static bool is_stored(const struct node *node, uint32_t src, uint32_t id)
{
    for (unsigned i = 0; i < node->want_count; i++)
        if (node->wants[i].src == src && node->wants[i].id == id)
            return true;
    return false;
}

void match_want(struct node *node, const struct notice *notice)
{
    struct want_body told;

    if (!want_unpack(notice->body, notice->bytes, &told))
        return;
    struct want want = {.src = notice->src,
                        .id = told.want,
                        .tag = told.tag,
                        .bytes = told.length,
                        .pool = POOL_MAX};
    node->messages_move = true;
    if (router_slots_free(&node->router) < REPLY_SLOTS) {
        node->dropped_requests++; /* the sender asks again */
        return;
    }
    if (!takes_messages(node, told.run)) {
        answer(node, PACKET_GONE, &want);
        return;
    }
    /* It is repeated when its answer is late, or was overtaken by an older one. */
    const struct request *receive = expecting(node, want.src, want.id);
    if (receive) {
        if (!receive->accepted && send_ready(node, &want, receive) != E_OK)
            node->dropped_requests++;
        return;
    }
    if (is_stored(node, want.src, want.id)) {
        answer(node, PACKET_QUEUED, &want);
        return;
    }
    uint32_t behind = told.behind;
    if (behind && !expecting(node, want.src, behind) && !is_stored(node, want.src, behind)) {
        answer(node, PACKET_LATER, &want);
        return;
    }
    unsigned before = node->want_count;
    if (!store_want(node, &want, WANTS_MAX))
        answer(node, PACKET_LATER, &want);
    else if (node->want_count > before)
        answer(node, PACKET_QUEUED, &want);
}

unsigned match_announced(struct node *node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < node->want_count; i++)
        if (node->wants[i].pool == POOL_MAX && node->wants[i].src != node->router.id)
            node->wants[count++] = node->wants[i];
    return count;
}

/* READY is said once, so this answer is owed until it is said. */
void match_deny(struct node *node, uint32_t dst, uint32_t name)
{
    for (unsigned i = 0; i < node->gone_count; i++)
        if (node->gones[i].dst == dst && node->gones[i].name == name)
            return;
    if (node->gone_count == GONES_MAX) { /* more than a node's own announcements bring about */
        node->dropped_requests++;
        return;
    }
    node->gones[node->gone_count++] = (struct gone){dst, name};
    node->messages_move = true;
}

bool match_say_gone(struct node *node)
{
    while (node->gone_count &&
           send_word(node, PACKET_GONE, node->gones[0].dst, node->gones[0].name) == E_OK) {
        node->gone_count--;
        memmove(&node->gones[0], &node->gones[1], node->gone_count * sizeof node->gones[0]);
    }
    if (takes_messages(node, node->load.run))
        return node->gone_count > 0;
    while (node->want_count && router_slots_free(&node->router) >= REPLY_SLOTS &&
           send_word(node, PACKET_GONE, node->wants[0].src, node->wants[0].id) == E_OK)
        remove_want(node, 0);
    return node->gone_count + node->want_count > 0;
}

/* A short message that came without a READY. */
static void take_eager(struct node *node, unsigned port, const uint8_t *packet)
{
    uint32_t src = packet_src(packet), bytes = open_length(packet), tag = open_tag(packet);
    struct request *request = find_receive(node, src, tag);
    struct circuit_sink sink = {0};

    if (!takes_messages(node, open_run(packet))) {
        router_refuse(&node->router, port, E_PEER_GONE);
        return;
    }
    if (request) {
        sink.data = request->data;
        sink.room = request->bytes;
        settle_receive(node, request, src, tag, bytes);
        match_finish(node, request, router_accept(&node->router, port, &sink));
        return;
    }
    if (node->pool_free_count <= 1 || node->want_count >= WANTS_MAX) {
        router_refuse(&node->router, port, E_FULL);
        return;
    }
    struct want want = {.src = src, .tag = tag, .bytes = bytes, .pool = take_pool(node)};
    sink.data = node->pool[want.pool];
    sink.room = POOL_BYTES;
    want.done_ns = router_accept(&node->router, port, &sink);
    store_want(node, &want, WANTS_MAX);
}

void match_open(struct node *node, unsigned port, const uint8_t *packet)
{
    if (open_flags(packet) & OPEN_EAGER) {
        if (open_flags(packet) & OPEN_INLINE)
            take_eager(node, port, packet);
        else
            router_refuse(&node->router, port, E_FORMAT);
        return;
    }
    struct request *request = request_named(node, open_match(packet));
    if (!request || request->kind != REQUEST_RECEIVE || request->state != STATE_MOVING ||
        request->accepted || (uint32_t)request->result_peer != packet_src(packet)) {
        router_refuse(&node->router, port, E_PEER_GONE);
        return;
    }
    struct circuit_sink sink = {.data = request->data,
                                .room = request->bytes,
                                .ready_ns = request->issue_ns,
                                .token = token_make(TOKEN_REQUEST, request->generation,
                                                    (unsigned)(request - node->requests))};
    bool is_inline = open_flags(packet) & OPEN_INLINE;
    request->accepted = true;
    request->result_bytes = open_length(packet);
    /* the packet is gone after this */
    request->done_ns = router_accept(&node->router, port, &sink);
    if (is_inline)
        match_finish(node, request, request->done_ns);
}
