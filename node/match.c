/*
 * match.c - the receiving side of messages: which receive takes which message, and where a message
 * waits until then, the unexpected-message queue.
 *
 *                 +-- a posted receive fits ---> RTS: CTS.         eager: into its buffer, ACCEPT
 *     a message --+-- none, but a place -------> RTS: QUEUED.      eager: into the pool, ACCEPT
 *                 +-- no place ----------------> RTS: RETRY.       eager: refused with E_FULL
 *
 * An RTS that comes as an OPEN (OPEN_REQUEST) is told ACCEPT for CTS, E_STORED for QUEUED, E_FULL
 * for RETRY: it never waits here.
 *
 *     a posted receive takes the oldest message in the queue that fits, or waits for one
 *
 * Places of the queue (UNEXPECTED_PLACES):
 *
 *     64   messages of other nodes; each is an RTS, or an eager message with its pool buffer
 *      1   that others leave to a message of this node to itself
 *      1   for a message that finds its receive at once: it passes through the queue too
 *
 * Invariants
 * - The queue is in the order of arrival, and a receive takes the oldest that fits: messages from
 *   one node are received in the order in which they were sent, as far as tags let them.
 * - A message in the queue fits no posted receive, but for one whose CTS found no slot:
 *   message_pump tries that again in each step.
 * - QUEUED, RETRY, and CANCEL for an RTS, may be dropped: the RTS is repeated until it is answered.
 *   A CTS may not, nor a CANCEL for a CTS: nobody asks again. They are kept until there is a slot.
 * - An RTS is taken only with at least REPLY_SLOTS slots free, so that its answer can be sent.
 *
 * 64 unexpected messages, and any number of expected ones. A message whose receive is posted is
 * taken even when the queue is full. Otherwise node 0 of 128 could not receive from the others in
 * the order of their ranks. Refused: room for all that 64 requests of each other node may send, 256
 * KiB a node. So a receive may wait for ever if its message comes behind unexpected ones of the
 * same sender that find no place.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"
#include "router/circuit.h"
#include "router/router.h"

/* Whether messages of a generation are for the program that is here. One that was sent to the last
 * program may come when the next one is loaded already, and must not be received by it. A program
 * that is loaded and not started takes its own: others may have been started before it. */
static bool takes_messages(const struct node *node, uint8_t generation)
{
    return (node->program == PROGRAM_LOADED || node->program == PROGRAM_RUNNING) &&
           generation == node->load.generation;
}

/* Whether a message is one of those that a receive or probe asks for. */
static bool is_asked(int32_t peer, int32_t wanted_tag, uint32_t src, uint32_t tag)
{
    return (peer == ECUBE_ANY || (uint32_t)peer == src) &&
           (wanted_tag == ECUBE_ANY || (uint32_t)wanted_tag == tag);
}

static bool fits(const struct request *request, uint32_t src, uint32_t tag)
{
    return request->kind == REQUEST_RECEIVE && request->state == STATE_QUEUED &&
           is_asked(request->peer, request->tag, src, tag);
}

/* The oldest posted receive for a message, for that is the one that has waited longest; NULL when
 * there is none. It takes the message even if an exact tag of a later receive fits better. */
static struct request *find_receive(struct node *node, uint32_t src, uint32_t tag)
{
    for (unsigned i = 0; i < node->request_count; i++) {
        struct request *request = request_at(node, i);
        if (fits(request, src, tag)) {
            return request;
        }
    }
    return NULL;
}

/* The receive has found its message. Program and STATE are told of this one from now on. */
static void settle_receive(struct node *node, struct request *request, uint32_t src, uint32_t tag,
                           uint32_t bytes)
{
    node->progress++;
    request->result_peer = (int32_t)src;
    request->result_tag = (int32_t)tag;
    request->result_bytes = bytes;
}

/* A message that is too long is not an error of the transfer: its beginning is in the buffer, and
 * the program is told. */
void match_finish(struct node *node, struct request *request, uint64_t done_ns)
{
    bool fit = request->result_bytes <= request->bytes;

    if (!fit) {
        request->detail = request->result_bytes;
        request->result_bytes = request->bytes;
    }
    request_finish(node, request, fit ? E_OK : E_TRUNCATED, done_ns);
}

/* The caller has seen that a buffer is free. */
static uint8_t take_pool(struct node *node)
{
    return node->pool_free[--node->pool_free_count];
}

/* A stack: the buffer that was used last is taken next. */
static void give_pool(struct node *node, uint8_t pool)
{
    node->pool_free[node->pool_free_count++] = pool;
}

void match_reset(struct node *node)
{
    node->unexpected_count = 0;
    node->pool_free_count = 0;
    for (unsigned pool = POOL_MAX; pool-- > 0;) {
        give_pool(node, (uint8_t)pool);
    }
}

/* Closes the gap: the others keep their order. */
static void forget_stored(struct node *node, unsigned index)
{
    node->unexpected_count--;
    memmove(&node->unexpected[index], &node->unexpected[index + 1],
            (node->unexpected_count - index) * sizeof node->unexpected[0]);
}

/* CTS from a posted receive to the sender of an RTS. E_FULL: no slot now, nothing has changed. */
static int send_cts(struct node *node, const struct unexpected *message,
                    const struct request *request)
{
    uint8_t body[CTS_BYTES];

    cts_pack(body, &(struct cts_body){.name = message->id,
                                      .match = request_name(node, request),
                                      .room = request->bytes});
    return router_send(&node->router, PACKET_CTS, message->src, body, sizeof body);
}

/* Joins a receive and a message of the queue; false when there is no slot for the CTS. Of another
 * node's long message only the CTS is sent here; its bytes come later (match_open). */
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
        /* A message to oneself: both buffers are here. The RTS may be false: a neighbour can send
         * one in this node's name. So the send must be one to this node, and of that length, or a
         * copy would read past its end. A false one is forgotten. */
        if (send && send->kind == REQUEST_SEND && send->peer == (int32_t)message.src &&
            send->bytes == message.bytes) {
            memmove(request->data, send->data, copied);
            settle_receive(node, request, message.src, message.tag, message.bytes);
            match_finish(node, request, clock_max(request->issue_ns, send->issue_ns));
            request_finish(node, send, E_OK, send->issue_ns);
        }
    } else {
        if (send_cts(node, &message, request) != E_OK) {
            return false; /* it stays stored, and is looked for again in each step */
        }
        settle_receive(node, request, message.src, message.tag, message.bytes);
        request->match = message.id;
        request->state = STATE_MOVING;
    }
    forget_stored(node, index);
    return true;
}

/* Looks for a message in the queue for a posted receive, the oldest first. Only that one is tried:
 * one behind it must not overtake it. */
void match_receive(struct node *node, struct request *request)
{
    for (unsigned i = 0; i < node->unexpected_count; i++) {
        if (fits(request, node->unexpected[i].src, node->unexpected[i].tag)) {
            join(node, request, i);
            return;
        }
    }
}

/* A message that fits a posted receive, but whose CTS found no slot, is that receive's: each posted
 * receive takes the oldest that fits and is nobody's yet, in the order of posting, as match_receive
 * will. Whoever has probed a message and receives it by its sender and tag gets the same one: what
 * is older would have been found before it. */
const struct unexpected *match_probe(const struct node *node, int32_t peer, int32_t tag)
{
    bool taken[UNEXPECTED_PLACES] = {false};

    for (unsigned r = 0; r < node->request_count && node->unexpected_count; r++) {
        const struct request *request = &node->requests[node->request_order[r]];
        unsigned i = 0;
        while (i < node->unexpected_count &&
               (taken[i] || !fits(request, node->unexpected[i].src, node->unexpected[i].tag))) {
            i++;
        }
        if (i < node->unexpected_count) {
            taken[i] = true;
        }
    }
    for (unsigned i = 0; i < node->unexpected_count; i++) {
        const struct unexpected *message = &node->unexpected[i];
        if (!taken[i] && is_asked(peer, tag, message->src, message->tag)) {
            return message;
        }
    }
    return NULL;
}

/* Puts a message at the end of the queue, and joins it if its receive is posted. It may stay if the
 * queue then holds at most `most`. False: neither. It goes through the queue so that an older
 * message that fits the same receive, whose CTS found no slot, comes before it. A full queue does
 * not keep out a message whose receive is posted: a program that receives from others in an order
 * of its own could wait for ever behind messages that it has not asked for yet. */
static bool store(struct node *node, const struct unexpected *message, unsigned most)
{
    unsigned before = node->unexpected_count;

    node->unexpected[node->unexpected_count++] = *message;
    struct request *request = find_receive(node, message->src, message->tag);
    if (request) {
        match_receive(node, request);
    }
    /* Also when the receive has taken an older one in its place. */
    if (node->unexpected_count <= before || node->unexpected_count <= most) {
        node_due_stored(node);
        return true;
    }
    node->unexpected_count--;
    return false;
}

/* A message of this node to itself. A short one is pooled at once, so that even a blocking send
 * returns. Others leave a place and a buffer for it. Without room it stays QUEUED, and message_pump
 * tries again after ANSWER_RETRY_US. */
void match_self(struct node *node, struct request *request)
{
    struct unexpected message = {.src = node->router.id,
                                 .id = request_name(node, request),
                                 .tag = (uint32_t)request->tag,
                                 .bytes = request->bytes,
                                 .done_ns = request->issue_ns,
                                 .pool = POOL_MAX};

    /* Set before store(): that may finish the send. */
    request->state = STATE_STORED;
    if (node->pool_free_count > 0 && request->bytes <= POOL_BYTES &&
        node->unexpected_count <= UNEXPECTED_MAX) {
        message.pool = take_pool(node);
        memcpy(node->pool[message.pool], request->data, request->bytes);
        request_finish(node, request, E_OK, request->issue_ns);
    }
    if (!store(node, &message, UNEXPECTED_MAX + 1)) {
        request->state = STATE_QUEUED;
        request->again_us = node->now_us + ANSWER_RETRY_US;
    }
}

/* The receive that has sent a CTS for an RTS; NULL when there is none. */
static const struct request *expecting(struct node *node, uint32_t src, uint32_t id)
{
    for (unsigned i = 0; i < node->request_count; i++) {
        const struct request *request = request_at(node, i);
        if (request->kind == REQUEST_RECEIVE && request->state == STATE_MOVING &&
            request->match == id && (uint32_t)request->result_peer == src) {
            return request;
        }
    }
    return NULL;
}

/* Whether an RTS is in the queue. Names are the senders' own: two nodes may use the same one. */
static bool is_stored(const struct node *node, uint32_t src, uint32_t id)
{
    for (unsigned i = 0; i < node->unexpected_count; i++) {
        if (node->unexpected[i].src == src && node->unexpected[i].id == id) {
            return true;
        }
    }
    return false;
}

/* Whether this node knows of a request: its message is in the queue, or a receive has found it. */
static bool is_known(struct node *node, uint32_t src, uint32_t id)
{
    return expecting(node, src, id) || is_stored(node, src, id);
}

/* Takes an RTS, which may be new, repeated, late or false. Each way out answers it or drops it;
 * none stores it twice. */
void match_rts(struct node *node, const struct notice *notice)
{
    struct rts_body rts;

    if (!rts_unpack(notice->body, notice->bytes, &rts)) {
        return;
    }
    struct unexpected message = {
        .src = notice->src, .id = rts.name, .tag = rts.tag, .bytes = rts.length, .pool = POOL_MAX};
    node_due_messages(node);
    /* No slot for its answer: forgotten, for its sender asks again. */
    if (router_slots_free(&node->router) < REPLY_SLOTS) {
        node->dropped_requests++;
        return;
    }
    if (!takes_messages(node, rts.generation)) {
        node_answer(node, PACKET_CANCEL, message.src, message.id);
        return;
    }
    /* Repeated, because the answer was late or is still under way. The receive stays joined with
     * it: the CTS is sent once more, unless the circuit that it asked for has come. */
    const struct request *receive = expecting(node, message.src, message.id);
    if (receive) {
        if (!receive->accepted && send_cts(node, &message, receive) != E_OK) {
            node->dropped_requests++;
        }
        return;
    }
    if (is_stored(node, message.src, message.id)) {
        node_answer(node, PACKET_QUEUED, message.src, message.id);
        return;
    }
    /* It comes behind one that is not known here, whose RTS found no slot or no place: stored now,
     * it would overtake that one. */
    uint32_t behind = rts.behind;
    if (behind && !is_known(node, message.src, behind)) {
        node_answer(node, PACKET_RETRY, message.src, message.id);
        return;
    }
    /* QUEUED only if it has stayed in the queue: store() may have sent its CTS. */
    unsigned before = node->unexpected_count;
    if (!store(node, &message, UNEXPECTED_MAX)) {
        node_answer(node, PACKET_RETRY, message.src, message.id);
    } else if (node->unexpected_count > before) {
        node_answer(node, PACKET_QUEUED, message.src, message.id);
    }
}

/* Those of this node to itself are left out: their send ends with the program that is both
 * sides. */
unsigned match_announced(struct node *node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < node->unexpected_count; i++) {
        if (node->unexpected[i].pool == POOL_MAX && node->unexpected[i].src != node->router.id) {
            node->unexpected[count++] = node->unexpected[i];
        }
    }
    return count;
}

/* This answer to a CTS is owed until it is sent, for a CTS is sent once. An equal one that is owed
 * already will do: a repeated CTS names the same receive. */
void match_deny(struct node *node, uint32_t dst, uint32_t name)
{
    for (unsigned i = 0; i < node->cancel_count; i++) {
        if (node->cancels[i].dst == dst && node->cancels[i].name == name) {
            return;
        }
    }
    /* No place. This node's own RTSs bring about no more than there are places for: it is
     * forgotten, and counted. */
    if (node->cancel_count == CANCELS_MAX) {
        node->dropped_requests++;
        return;
    }
    node->cancels[node->cancel_count++] = (struct cancel){dst, name};
    node_due_messages(node);
}

/* First those for CTSs, then, when the program has ended, those for the RTSs that it leaves in the
 * queue. The latter leave slots for answers. */
bool match_send_cancels(struct node *node)
{
    while (node->cancel_count &&
           node_reply(node, PACKET_CANCEL, node->cancels[0].dst, node->cancels[0].name) == E_OK) {
        node->cancel_count--;
        memmove(&node->cancels[0], &node->cancels[1], node->cancel_count * sizeof node->cancels[0]);
    }
    if (takes_messages(node, node->load.generation)) {
        return node->cancel_count > 0;
    }
    while (node->unexpected_count && router_slots_free(&node->router) >= REPLY_SLOTS &&
           node_reply(node, PACKET_CANCEL, node->unexpected[0].src, node->unexpected[0].id) ==
               E_OK) {
        forget_stored(node, 0);
    }
    return node->cancel_count + node->unexpected_count > 0;
}

/* An eager message: it came with its OPEN, without a CTS. It is accepted into a receive or a pool
 * buffer, or refused; it never stays held, so it holds up no link. Inline bytes are copied by
 * router_accept, so no notice of their end follows. Unlike a long message it does not wait for its
 * receive in model time. */
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
    /* The last buffer and the last place are left to a message of this node to itself. The sender
     * tries again with an RTS. */
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

/* The circuit of a receive that has found its message. */
static void accept_into(struct node *node, unsigned port, const uint8_t *packet,
                        struct request *request)
{
    struct circuit_sink sink = {.data = request->data,
                                .room = request->bytes,
                                .ready_ns = request->issue_ns,
                                .token = token_make(TOKEN_REQUEST, request->generation,
                                                    (unsigned)(request - node->requests))};
    bool is_inline = open_flags(packet) & OPEN_INLINE;

    /* The OPEN's length counts, not the RTS's: they may differ, for both come from outside. */
    request->accepted = true;
    request->result_bytes = open_length(packet);
    /* router_accept frees the packet: it is not looked at afterwards */
    request->done_ns = router_accept(&node->router, port, &sink);
    if (is_inline) {
        match_finish(node, request, request->done_ns);
    }
}

/* The posted receive for a message that has just come; NULL: none, or an older message in the queue
 * fits it too, whose CTS has found no slot. */
static struct request *free_receive(struct node *node, const struct unexpected *message)
{
    struct request *request = find_receive(node, message->src, message->tag);

    for (unsigned i = 0; request && i < node->unexpected_count; i++) {
        if (fits(request, node->unexpected[i].src, node->unexpected[i].tag)) {
            return NULL;
        }
    }
    return request;
}

/* What becomes of a request that no receive is free for. */
static int store_request(struct node *node, const struct unexpected *message)
{
    return store(node, message, UNEXPECTED_MAX) ? E_STORED : E_FULL;
}

/* An RTS and its OPEN in one. It is answered at once: its circuit holds links, and whether the
 * program will ever receive it nobody knows. */
static void take_request(struct node *node, unsigned port, const uint8_t *packet)
{
    struct unexpected message = {.src = packet_src(packet),
                                 .id = open_name(packet),
                                 .tag = open_tag(packet),
                                 .bytes = open_length(packet),
                                 .pool = POOL_MAX};
    uint32_t behind = open_behind(packet);

    node_due_messages(node);
    if (!takes_messages(node, open_generation(packet))) {
        router_refuse(&node->router, port, E_PEER_GONE);
        return;
    }
    if (is_known(node, message.src, message.id)) {
        router_refuse(&node->router, port, E_STORED); /* it is false: this is asked once */
        return;
    }
    /* A hop has refused the one before it: it would overtake that one. */
    if (behind && !is_known(node, message.src, behind)) {
        router_refuse(&node->router, port, E_REFUSED);
        return;
    }
    struct request *request = free_receive(node, &message);
    if (!request) {
        router_refuse(&node->router, port, store_request(node, &message));
        return;
    }
    settle_receive(node, request, message.src, message.tag, message.bytes);
    request->match = message.id;
    request->state = STATE_MOVING;
    accept_into(node, port, packet, request);
}

/* A circuit of a message. One that is neither eager nor a request must come from the node whose RTS
 * a receive has answered, under that receive's name, and only once: whatever else names a receive
 * is refused, or it would write into a buffer that is another message's. */
void match_open(struct node *node, unsigned port, const uint8_t *packet)
{
    if (open_flags(packet) & OPEN_EAGER) {
        if (open_flags(packet) & OPEN_INLINE) {
            take_eager(node, port, packet);
        } else {
            router_refuse(&node->router, port, E_FORMAT);
        }
        return;
    }
    if (open_flags(packet) & OPEN_REQUEST) {
        if (open_flags(packet) & OPEN_INLINE) {
            router_refuse(&node->router, port, E_FORMAT);
        } else {
            take_request(node, port, packet);
        }
        return;
    }
    bool share = open_is_share(open_flags(packet));
    uint32_t name = share ? open_name(packet) : open_match(packet);
    struct request *request = request_named(node, name);
    if (!request || request->kind != REQUEST_RECEIVE || request->state != STATE_MOVING ||
        (request->accepted && !share) || (uint32_t)request->result_peer != packet_src(packet)) {
        router_refuse(&node->router, port, E_PEER_GONE);
        return;
    }
    if (share) {
        parallel_open(node, port, packet, request);
        return;
    }
    accept_into(node, port, packet, request);
}
