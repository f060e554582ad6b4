/*
 * match.c - the receiving side of messages: which receive takes which message, and where it waits
 * until then.
 *
 * A message is announced (RTS) or comes at once (eager). It goes to the oldest posted receive that
 * fits; if there is none it is stored, and the next receive that fits takes the oldest stored one.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/status.h"
#include "node/state.h"
#include "router/circuit.h"
#include "router/router.h"

/* Whether messages of a generation are for the program that is here: one of the last may still be
 * under way to a node that has the next program. */
static bool takes_messages(const struct node *node, uint8_t generation)
{
    return (node->program == PROGRAM_LOADED || node->program == PROGRAM_RUNNING) &&
           generation == node->load.generation;
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
    node->unexpected_count = 0;
    node->pool_free_count = 0;
    for (unsigned pool = POOL_MAX; pool-- > 0;)
        give_pool(node, (uint8_t)pool);
}

static void forget_stored(struct node *node, unsigned index)
{
    node->unexpected_count--;
    memmove(&node->unexpected[index], &node->unexpected[index + 1],
            (node->unexpected_count - index) * sizeof node->unexpected[0]);
}

/* CTS from a posted receive for an announced message; E_FULL: no slot now. */
static int send_cts(struct node *node, const struct unexpected *message,
                    const struct request *request)
{
    uint8_t body[CTS_BYTES];

    cts_pack(body, &(struct cts_body){.name = message->id,
                                      .match = request_name(node, request),
                                      .room = request->bytes});
    return router_send(&node->router, PACKET_CTS, message->src, body, sizeof body);
}

/* A word without more than a name: QUEUED, RETRY, CANCEL. */
static int send_reply(struct node *node, uint8_t kind, uint32_t dst, uint32_t name)
{
    uint8_t body[RTS_REPLY_BYTES];

    rts_reply_pack(body, &(struct rts_reply_body){name});
    return router_send(&node->router, kind, dst, body, sizeof body);
}

/* Answers an announcement at once, or not at all: it is repeated until it has been answered. */
static void answer(struct node *node, uint8_t kind, const struct unexpected *message)
{
    if (send_reply(node, kind, message->src, message->id) != E_OK)
        node->dropped_requests++;
}

/* Joins a receive and a stored message; false when it cannot be done now. */
static bool join(struct node *node, struct request *request, unsigned index)
{
    struct unexpected message = node->unexpected[index];
    struct request *send = message.src == node->router.id ? request_named(node, message.id) : NULL;
    uint32_t copied = message.bytes < request->bytes ? message.bytes : request->bytes;

    if (message.pool < POOL_MAX) {
        memcpy(request->data, node->pool[message.pool], copied);
        give_pool(node, message.pool);
        settle_receive(node, request, message.src, message.tag, message.bytes);
        match_finish(node, request, message.done_ns);
    } else if (message.src == node->router.id) {
        /* a neighbour may have announced it in our name */
        if (send && send->kind == REQUEST_SEND && send->peer == (int32_t)message.src &&
            send->bytes == message.bytes) {
            memmove(request->data, send->data, copied);
            settle_receive(node, request, message.src, message.tag, message.bytes);
            match_finish(node, request, clock_max(request->issue_ns, send->issue_ns));
            request_finish(node, send, E_OK, send->issue_ns);
        }
    } else {
        if (send_cts(node, &message, request) != E_OK)
            return false; /* it stays stored, and is looked for again in each step */
        settle_receive(node, request, message.src, message.tag, message.bytes);
        request->match = message.id;
        request->state = STATE_MOVING;
    }
    forget_stored(node, index);
    return true;
}

/* Looks for a stored message for a posted receive. */
void match_receive(struct node *node, struct request *request)
{
    for (unsigned i = 0; i < node->unexpected_count; i++) {
        if (fits(request, node->unexpected[i].src, node->unexpected[i].tag)) {
            join(node, request, i);
            return;
        }
    }
}

/* Joins a message with its receive if one is posted, or stores it behind the others if there are
 * fewer than most; false: neither. */
static bool store(struct node *node, const struct unexpected *message, unsigned most)
{
    unsigned before = node->unexpected_count;

    node->unexpected[node->unexpected_count++] = *message;
    struct request *request = find_receive(node, message->src, message->tag);
    if (request)
        match_receive(node, request);
    if (node->unexpected_count <= before || node->unexpected_count <= most)
        return true;
    node->unexpected_count--;
    return false;
}

/* A message of a node to itself: a short one is pooled, so that even a blocking send returns. It
 * stays queued when there is no room. */
void match_self(struct node *node, struct request *request)
{
    struct unexpected message = {.src = node->router.id,
                                 .id = request_name(node, request),
                                 .tag = (uint32_t)request->tag,
                                 .bytes = request->bytes,
                                 .done_ns = request->issue_ns,
                                 .pool = POOL_MAX};

    request->state = STATE_STORED;
    if (node->pool_free_count > 0 && request->bytes <= POOL_BYTES &&
        node->unexpected_count <= UNEXPECTED_MAX) {
        message.pool = take_pool(node);
        memcpy(node->pool[message.pool], request->data, request->bytes);
        request_finish(node, request, E_OK, request->issue_ns);
    }
    if (!store(node, &message, UNEXPECTED_MAX + 1)) {
        request->state = STATE_QUEUED;
        request->again_us = node->router.agenda.now_us + ANSWER_RETRY_US;
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
    for (unsigned i = 0; i < node->unexpected_count; i++)
        if (node->unexpected[i].src == src && node->unexpected[i].id == id)
            return true;
    return false;
}

void match_rts(struct node *node, const struct notice *notice)
{
    struct rts_body rts;

    if (!rts_unpack(notice->body, notice->bytes, &rts))
        return;
    struct unexpected message = {
        .src = notice->src, .id = rts.name, .tag = rts.tag, .bytes = rts.length, .pool = POOL_MAX};
    node->messages_move = true;
    if (router_slots_free(&node->router) < REPLY_SLOTS) {
        node->dropped_requests++; /* the sender asks again */
        return;
    }
    if (!takes_messages(node, rts.generation)) {
        answer(node, PACKET_CANCEL, &message);
        return;
    }
    /* It is repeated when its answer is late, or was overtaken by an older one. */
    const struct request *receive = expecting(node, message.src, message.id);
    if (receive) {
        if (!receive->accepted && send_cts(node, &message, receive) != E_OK)
            node->dropped_requests++;
        return;
    }
    if (is_stored(node, message.src, message.id)) {
        answer(node, PACKET_QUEUED, &message);
        return;
    }
    uint32_t behind = rts.behind;
    if (behind && !expecting(node, message.src, behind) && !is_stored(node, message.src, behind)) {
        answer(node, PACKET_RETRY, &message);
        return;
    }
    unsigned before = node->unexpected_count;
    if (!store(node, &message, UNEXPECTED_MAX))
        answer(node, PACKET_RETRY, &message);
    else if (node->unexpected_count > before)
        answer(node, PACKET_QUEUED, &message);
}

unsigned match_announced(struct node *node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < node->unexpected_count; i++)
        if (node->unexpected[i].pool == POOL_MAX && node->unexpected[i].src != node->router.id)
            node->unexpected[count++] = node->unexpected[i];
    return count;
}

/* CTS is said once, so this answer is owed until it is said. */
void match_deny(struct node *node, uint32_t dst, uint32_t name)
{
    for (unsigned i = 0; i < node->cancel_count; i++)
        if (node->cancels[i].dst == dst && node->cancels[i].name == name)
            return;
    if (node->cancel_count == CANCELS_MAX) { /* more than a node's own announcements bring about */
        node->dropped_requests++;
        return;
    }
    node->cancels[node->cancel_count++] = (struct cancel){dst, name};
    node->messages_move = true;
}

bool match_send_cancels(struct node *node)
{
    while (node->cancel_count &&
           send_reply(node, PACKET_CANCEL, node->cancels[0].dst, node->cancels[0].name) == E_OK) {
        node->cancel_count--;
        memmove(&node->cancels[0], &node->cancels[1], node->cancel_count * sizeof node->cancels[0]);
    }
    if (takes_messages(node, node->load.generation))
        return node->cancel_count > 0;
    while (node->unexpected_count && router_slots_free(&node->router) >= REPLY_SLOTS &&
           send_reply(node, PACKET_CANCEL, node->unexpected[0].src, node->unexpected[0].id) == E_OK)
        forget_stored(node, 0);
    return node->cancel_count + node->unexpected_count > 0;
}

/* A short message that came without a CTS. */
static void take_eager(struct node *node, unsigned port, const uint8_t *packet)
{
    uint32_t src = packet_src(packet), bytes = open_length(packet), tag = open_tag(packet);
    struct request *request = find_receive(node, src, tag);
    struct circuit_sink sink = {0};

    if (!takes_messages(node, open_generation(packet))) {
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
    if (node->pool_free_count <= 1 || node->unexpected_count >= UNEXPECTED_MAX) {
        router_refuse(&node->router, port, E_FULL);
        return;
    }
    struct unexpected message = {.src = src, .tag = tag, .bytes = bytes, .pool = take_pool(node)};
    sink.data = node->pool[message.pool];
    sink.room = POOL_BYTES;
    message.done_ns = router_accept(&node->router, port, &sink);
    store(node, &message, UNEXPECTED_MAX);
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
