/*
 * message.c - messages between programs: announcement, matching, and the circuits that carry them.
 *
 *   short  sender  OPEN + message ------------------> receiver: a receive, or its pool (eager)
 *                  <------------------------ ACCEPT
 *   long   sender  RTS ----------------------------> receiver: matches it, or stores it (QUEUED)
 *                  <------------------------- CTS   when a receive is posted for it
 *                  OPEN, data ---------------------->
 *
 * A receive takes the oldest message that fits it, a message the oldest receive. Messages from one
 * node to another do not overtake each other: a short one waits until the receiver has answered for
 * those before; an announcement names the one before it that has no answer yet, and a receiver that
 * does not know that one answers RETRY.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "node/state.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"

/* How far the repetitions of refused messages are apart (spread_us). */
enum {
    SPREAD_FACTOR = 0x1e3779b1, /* odd, its high bits mix the low ones */
    SPREAD_SHIFT = 22,          /* leaves 10 bits: up to 1 ms, doubled like ANSWER_RETRY_US */
    SPREAD_DOUBLINGS = 8        /* to half a second */
};

void message_reset(struct node *node)
{
    for (unsigned i = node->request_count; i-- > 0;) {
        struct request *request = request_at(node, i);
        if (request != &node->requests[node->collective.request])
            request_free(node, request);
    }
    node->collectives_queued = 0;
    match_reset(node);
}

void message_end(struct node *node)
{
    unsigned owed = match_announced(node);

    message_reset(node);
    node->unexpected_count = owed;
    node->messages_move = true;
}

static int new_message(struct node *node, const struct ecube_abi_message *message,
                       enum request_kind kind, struct request **made)
{
    bool any = kind == REQUEST_RECEIVE;
    uint32_t size = node->router.network.nodes;
    uint8_t *data = message->bytes ? program_memory(node, message->data, message->bytes) : NULL;

    if (message->bytes && !data)
        return E_FAULT;
    if (!(any && message->peer == ECUBE_ANY) &&
        (message->peer < 0 || (uint32_t)message->peer >= size))
        return E_ARGUMENT;
    if (message->tag < 0 && !(any && message->tag == ECUBE_ANY))
        return E_ARGUMENT;
    struct request *request = request_make(node, kind);
    if (!request)
        return E_FULL;
    request->peer = message->peer;
    request->tag = message->tag;
    request->data = data ? data : node->config.program;
    request->bytes = message->bytes;
    *made = request;
    node->messages_move = true;
    return (int)(request - node->requests);
}

static bool is_unanswered(const struct request *request)
{
    return request->state == STATE_QUEUED || request->state == STATE_ASKED ||
           (request->state == STATE_OPENING && !request->match);
}

/* The last message before `send` to the same node that has not been answered for; NULL: none. */
static const struct request *unanswered_before(struct node *node, const struct request *send)
{
    const struct request *last = NULL, *other;

    for (unsigned i = 0; (other = request_at(node, i)) != send; i++)
        if (other->kind == REQUEST_SEND && other->peer == send->peer && is_unanswered(other))
            last = other;
    return last;
}

int message_send(struct node *node, const struct ecube_abi_message *message)
{
    struct request *request;
    int number = new_message(node, message, REQUEST_SEND, &request);

    if (number < 0)
        return number;
    if ((uint32_t)request->peer == node->router.id && !unanswered_before(node, request))
        match_self(node, request);
    return number;
}

int message_receive(struct node *node, const struct ecube_abi_message *message)
{
    struct request *request;
    int number = new_message(node, message, REQUEST_RECEIVE, &request);

    if (number >= 0)
        match_receive(node, request);
    return number;
}

void message_answer(struct node *node, const struct answer *answer)
{
    struct request *request = request_named(node, answer->name);
    uint32_t peer = answer->src;

    node->messages_move = true;
    if (answer->kind == PACKET_CTS && (!request || request->kind != REQUEST_SEND)) {
        match_deny(node, peer, answer->match);
        return;
    }
    if (answer->kind == PACKET_CANCEL && request && request->kind == REQUEST_RECEIVE &&
        request->state == STATE_MOVING && !request->accepted &&
        (uint32_t)request->result_peer == peer) {
        /* It answered an announcement that is no more. Its next answer has another name, for this
         * one may have been sent, and be denied, more than once. */
        request->state = STATE_QUEUED;
        request->generation++;
        match_receive(node, request);
        return;
    }
    /* Of two announcements one may be told RETRY and the other CTS. */
    bool asked = request && (request->state == STATE_ASKED || request->state == STATE_STORED ||
                             (request->state == STATE_QUEUED && answer->kind == PACKET_CTS));
    if (!asked || request->kind != REQUEST_SEND || (uint32_t)request->peer != peer)
        return;
    switch (answer->kind) {
    case PACKET_QUEUED: request->state = STATE_STORED; break;
    case PACKET_RETRY:
        request->state = STATE_QUEUED;
        request->again_us = node->router.agenda.now_us + ANSWER_RETRY_US;
        break;
    case PACKET_CTS:
        request->state = STATE_READY;
        request->match = answer->match;
        request->again_us = 0; /* the repetition of the announcement is off */
        break;
    default: request_finish(node, request, E_PEER_GONE, request->issue_ns); break;
    }
}

/* How long a message waits that a hop has refused: longer each time, or on a long ring most links
 * would be held by circuits that are refused at last. From the second time on it is another time on
 * each node and each time, for those that have refused each other would come together again. */
static uint32_t spread_us(const struct node *node, struct request *request)
{
    uint32_t tries = request->refusals;

    if (tries < SPREAD_DOUBLINGS)
        request->refusals++;
    if (tries == 0)
        return ANSWER_RETRY_US;
    uint32_t draw = (node->router.id + 1 + node->router.stamp) * SPREAD_FACTOR >> SPREAD_SHIFT;
    return ((uint32_t)ANSWER_RETRY_US << tries) / 2 + (draw << tries);
}

static void refused(struct node *node, struct request *request, int status)
{
    if (status == E_FULL) {
        request->announce = true;
        request->state = STATE_QUEUED;
    } else if (status == E_REFUSED || status == E_BUSY) {
        uint32_t wait_us =
            status == E_BUSY ? (uint32_t)SOON_US << request->early : spread_us(node, request);
        request->state = request->match ? STATE_READY : STATE_QUEUED;
        request->again_us = node->router.agenda.now_us + wait_us;
        if (status == E_BUSY && request->early < SOON_DOUBLINGS)
            request->early++;
    } else {
        request_finish(node, request, status, request->issue_ns);
    }
}

void message_notice(struct node *node, const struct notice *notice)
{
    struct request *request = request_named(node, notice->token);

    if (!request)
        return; /* the program that asked for it is gone */
    node->messages_move = true;
    switch (notice->kind) {
    case NOTICE_ACCEPTED:
        request->accepted = true;
        request->state = STATE_MOVING;
        request->done_ns = notice->done_ns;
        break;
    case NOTICE_REFUSED: refused(node, request, notice->status); return;
    case NOTICE_SENT:
        request->sent = true;
        request->status = notice->status;
        break;
    default:
        if (notice->status == E_OK || notice->status == E_TRUNCATED)
            match_finish(node, request, request->done_ns);
        else
            request_finish(node, request, notice->status, request->done_ns);
        return;
    }
    if (request->accepted && request->sent)
        request_finish(node, request, request->status, request->done_ns);
}

static void send_rts(struct node *node, struct request *request, const struct request *before)
{
    struct rts_body rts = {.name = request_name(node, request),
                           .tag = (uint32_t)request->tag,
                           .length = request->bytes,
                           .behind = before ? request_name(node, before) : 0,
                           .generation = node->load.generation};
    uint8_t body[RTS_BYTES];

    if (router_slots_free(&node->router) < REPLY_SLOTS)
        return;
    rts_pack(body, &rts);
    if (router_send(&node->router, PACKET_RTS, (uint32_t)request->peer, body, sizeof body) != E_OK)
        return;
    request->state = STATE_ASKED;
    request->again_us = node->router.agenda.now_us + ASK_AGAIN_US;
}

static void open_circuit(struct node *node, struct request *request, uint8_t flags)
{
    bool is_inline = request->bytes <= OPEN_INLINE_MAX;
    struct circuit_source source = {.dst = (uint32_t)request->peer,
                                    .match = request->match,
                                    .tag = (uint32_t)request->tag,
                                    .flags = (uint8_t)(flags | (is_inline ? OPEN_INLINE : 0)),
                                    .generation = node->load.generation,
                                    .issue_ns = request->issue_ns,
                                    .data = {request->data},
                                    .bytes = {request->bytes},
                                    .token = token_make(TOKEN_REQUEST, request->generation,
                                                        (unsigned)(request - node->requests))};
    int status = router_open(&node->router, &source);

    if (status == E_OK)
        request->state = STATE_OPENING;
    else if (status != E_FULL)
        request_finish(node, request, status, request->issue_ns);
}

/* Moves a send on, if it can. */
static void pump_send(struct node *node, struct request *request)
{
    const struct request *before = NULL;

    if (request->state == STATE_READY) {
        open_circuit(node, request, 0);
        return;
    }
    before = unanswered_before(node, request);
    if ((uint32_t)request->peer == node->router.id) {
        if (!before)
            match_self(node, request);
        return;
    }
    if (request->state == STATE_QUEUED && request->bytes <= OPEN_INLINE_MAX && !request->announce) {
        if (!before)
            open_circuit(node, request, OPEN_EAGER);
    } else if (!before || (before->state == STATE_ASKED && request->again_us == 0)) {
        /* Behind one without an answer only once: it is told RETRY until that one is known, and
         * such answers would take the slots that the answer to that one needs. */
        send_rts(node, request, before);
    }
}

/* Whether a send has something to do that no packet from elsewhere must bring. */
static bool send_moves(const struct request *request)
{
    return request->kind == REQUEST_SEND && request->state <= STATE_READY &&
           request->state != STATE_STORED;
}

static bool receive_waits(const struct request *request)
{
    return request->kind == REQUEST_RECEIVE && request->state == STATE_QUEUED;
}

void message_pump(struct node *node, uint64_t now_us)
{
    bool left = false;

    if (!node->messages_move)
        return;
    left = match_send_cancels(node);
    for (unsigned i = 0; i < node->request_count; i++) {
        struct request *request = request_at(node, i);
        if (send_moves(request) && now_us >= request->again_us)
            pump_send(node, request);
        else if (receive_waits(request) && node->unexpected_count)
            match_receive(node, request);
        left |= send_moves(request) || (receive_waits(request) && node->unexpected_count);
    }
    node->messages_move = left;
}

uint64_t message_deadline(const struct node *node)
{
    uint64_t deadline = UINT64_MAX;

    if (!node->messages_move)
        return deadline;
    for (unsigned i = 0; i < node->request_count; i++) {
        const struct request *request = &node->requests[node->request_order[i]];
        if (send_moves(request) && request->again_us > node->router.agenda.now_us &&
            request->again_us < deadline)
            deadline = request->again_us;
    }
    return deadline;
}
