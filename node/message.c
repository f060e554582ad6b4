/*
 * message.c - the sending side of messages between programs: the rendezvous and the circuits that
 * carry them. The receiving side is match.c.
 *
 *     short  sender  OPEN + message ------------------> receiver: a receive, or its pool (eager)
 *                    <------------------------ ACCEPT
 *     long   sender  OPEN (request) -----------------> receiver: a receive is posted for it
 *                    <------------------------ ACCEPT
 *                    data ---------------------------->
 *
 *            sender  OPEN (request) -----------------> receiver: none is: stores the announcement
 *                    <--------------- REFUSE (STORED)
 *                    <------------------------- CTS   when a receive is posted for it
 *                    OPEN, data ---------------------->
 *
 *            sender  RTS ----------------------------> receiver: matches it, or stores it (QUEUED)
 *                    <------------------------- CTS   when a receive is posted for it
 *                    OPEN, data ---------------------->
 *
 *     long, over several paths: as the last one, but for one OPEN for each share (parallel.c)
 *
 * An RTS of its own says what a request says, for a message that the receiver had no place for.
 *
 * States of a send (enum request_state); a refused circuit is tried again from READY, or from
 * QUEUED when it was eager or a request:
 *
 *     QUEUED --RTS--> ASKED --QUEUED--> STORED
 *        ^             | |                |
 *        +--- RETRY ---+ +------ CTS -----+--> READY --OPEN--> OPENING --ACCEPT--> MOVING --> DONE
 *     QUEUED --OPEN with the message (eager), or as a request--> OPENING --STORED--> STORED
 *
 * A receive is QUEUED (posted), MOVING from its CTS on, then DONE. CANCEL ends a send with
 * E_PEER_GONE and puts a receive back to QUEUED, under another name.
 *
 * What waits for what
 * - A send of one node waits for the answers to those before it to the same node, so that messages
 *   of one pair do not overtake each other. An eager one waits until all of them have their answer.
 *   An RTS goes as soon as the RTS before it has been sent, a request right behind the request
 *   before it: it names that one, and a receiver that does not know that one answers RETRY, or
 *   E_REFUSED.
 * - READY and a request wait for a free circuit source, an RTS for a packet slot. All look again in
 *   each step.
 * - The receiver's CTS for a request goes its own way, and may be here before the refusal.
 * - ASKED waits for its answer, and asks again after ASK_AGAIN_US. STORED waits for the receiver's
 *   program and asks no more: the CTS is not lost, its sender keeps it until there is a slot.
 *
 * Short messages are eager: they are inline in their OPEN. Up to 1,024 bytes. The receiver's pool
 * of 65 buffers takes those that no receive is posted for. When it is full, the message goes by RTS
 * like a long one. Other nodes leave one buffer and one place in the queue free, so that a short
 * blocking send to oneself always returns.
 *
 * A long message's OPEN is its request (RTS) too. A receive that is posted accepts it: no RTS, no
 * CTS. One that nobody waits for is stored and refused with E_STORED, then goes as after an RTS,
 * with as many frames as that costs. Links are held for one way there and back either way. The
 * refusal costs no model time: neither links nor ports take any from a circuit that is not
 * accepted.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "node/due.h"
#include "node/state.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"

/* Who has been refused waits before the next try, each node another time (message_spread_us). */
enum {
    SPREAD_FACTOR = 0x1e3779b1, /* odd, its high bits mix the low ones */
    SPREAD_SHIFT = 22           /* leaves 10 bits: up to 1 ms, doubled like ANSWER_RETRY_US */
};

/* Frees all requests but that of the collective that is under way: its kernel goes through it to
 * the end. From the last to the first, because request_free closes the gap behind it. */
void message_reset(struct node *node)
{
    for (unsigned i = node->request_count; i-- > 0;) {
        struct request *request = request_at(node, i);
        if (!engine_is_active(&node->engine) ||
            request != &node->requests[node->collective_request]) {
            request_free(node, request);
        }
    }
    node_due_collectives_gone(node);
    match_reset(node);
    parallel_reset(node);
}

/* The program has ended: what it asked for is dropped. The RTSs that other nodes have stored here
 * stay behind as CANCELs that are owed (match_send_cancels), or their senders would wait for ever.
 * They are moved to the front first: message_reset sets the queue's length to 0 and leaves its
 * entries. */
void message_end(struct node *node)
{
    unsigned owed = match_announced(node);

    message_reset(node);
    node->unexpected_count = owed;
    node_due_messages(node);
}

int message_peer(const struct node *node, int32_t *peer, int32_t tag, bool any)
{
    bool of_any = any && *peer == ECUBE_ANY;
    uint32_t at = *peer >= 0 ? map_node(node, (uint32_t)*peer) : NETWORK_NO_NODE;
    bool tag_is = (any && tag == ECUBE_ANY) || tag >= 0;

    if (!tag_is || (!of_any && at == NETWORK_NO_NODE)) {
        return E_ARGUMENT;
    }
    *peer = of_any ? ECUBE_ANY : (int32_t)at;
    return E_OK;
}

/* Checks what a program asks for, then makes the request; its number, or why not. E_FULL: the
 * program has all requests in use and must wait for one of them. */
static int new_message(struct node *node, const struct ecube_abi_message *message,
                       enum request_kind kind, struct request **made)
{
    bool receives = kind == REQUEST_RECEIVE;
    int32_t peer = message->peer;
    int status = message_peer(node, &peer, message->tag, receives);
    uint8_t *data = receives ? program_writable(node, message->data, message->bytes)
                             : program_memory(node, message->data, message->bytes);

    if (message->bytes && !data) {
        return E_FAULT;
    }
    if (status != E_OK) {
        return status;
    }
    struct request *request = request_make(node, kind);
    if (!request) {
        return E_FULL;
    }
    request->peer = peer;
    request->tag = message->tag;
    /* No bytes need no address; this one is only a place that is the kernel's to point at. */
    request->data = data ? data : node->config.program;
    request->bytes = message->bytes;
    *made = request;
    node_due_messages(node);
    return (int)(request - node->requests);
}

/* Whether its OPEN, which has no answer yet, announces it too. */
static bool is_request(const struct request *request)
{
    return request->kind == REQUEST_SEND && request->state == STATE_OPENING && !request->match &&
           request->bytes > OPEN_INLINE_MAX;
}

/* Whether the receiver may not know of this message yet. An eager one that is being opened has no
 * match; one that has got its CTS has been known for long. */
static bool is_unanswered(const struct request *request)
{
    return request->state == STATE_QUEUED || request->state == STATE_ASKED ||
           (request->state == STATE_OPENING && !request->match);
}

/* The last message before `send` to the same node that has not been answered; NULL: none. While
 * there is one, `send` may not become known there before it. */
static const struct request *unanswered_before(struct node *node, const struct request *send)
{
    const struct request *last = NULL, *other;

    for (unsigned i = 0; (other = request_at(node, i)) != send; i++) {
        if (other->kind == REQUEST_SEND && other->peer == send->peer && is_unanswered(other)) {
            last = other;
        }
    }
    return last;
}

/* To another node it leaves in the pump, which node_call runs before the program goes on. To
 * oneself it is matched here, unless an older one to oneself still waits for room. */
int message_send(struct node *node, const struct ecube_abi_message *message)
{
    struct request *request;
    int number = new_message(node, message, REQUEST_SEND, &request);

    if (number < 0) {
        return number;
    }
    if ((uint32_t)request->peer == node->router.id && !unanswered_before(node, request)) {
        match_self(node, request);
    }
    if (request->bytes > OPEN_INLINE_MAX) {
        request->shares = (uint8_t)parallel_shares(node, (uint32_t)request->peer, request->bytes,
                                                   node->paths ? node->paths : message->paths);
        request->announce = request->shares > 0;
    }
    return number;
}

/* A message that is stored already is taken now, without a step in between. */
int message_receive(struct node *node, const struct ecube_abi_message *message)
{
    struct request *request;
    int number = new_message(node, message, REQUEST_RECEIVE, &request);

    if (number >= 0) {
        match_receive(node, request);
    }
    return number;
}

/* A posted receive ends at once, for nobody knows of it. One that has found its message gets it:
 * the sender has been told, or the bytes are here. Should that message turn out to be no more, the
 * receive looks for no other one and ends here, too. So each is complete or cancelled, never both.
 */
void message_cancel(struct node *node, struct request *request)
{
    request->cancelled = true;
    if (request->state == STATE_QUEUED) {
        request->result_peer = request->peer;
        request->result_tag = request->tag;
        request->result_bytes = 0;
        request_finish(node, request, E_CANCELLED, request->issue_ns);
        node_due_messages(node); /* what it had been about to take is another receive's */
    }
}

/* An answer comes from outside: of any node, about any name, once, twice or late. It counts only
 * from the node that was asked, and for the use of the request that it names. */
void message_answer(struct node *node, const struct answer *answer)
{
    struct request *request = request_named(node, answer->name);
    uint32_t peer = answer->src;

    node_due_messages(node);
    /* A CTS for a message that is no more: its program has ended, or the RTS came twice and the
     * message has long been sent. The receive that sent it would wait for ever, so it is told
     * CANCEL. */
    if (answer->kind == PACKET_CTS && (!request || request->kind != REQUEST_SEND)) {
        match_deny(node, peer, answer->match);
        return;
    }
    /* CANCEL for a CTS of this node. A receive whose circuit has come already stays as it is: the
     * CANCEL is for a CTS that was repeated. */
    if (answer->kind == PACKET_CANCEL && request && request->kind == REQUEST_RECEIVE &&
        request->state == STATE_MOVING && (uint32_t)request->result_peer == peer &&
        (!request->accepted || request->shares > 0)) {
        if (request->accepted) {
            parallel_cancel(node, request);
            return;
        }
        /* This receive has answered an RTS that is no more. It looks for another message, under
         * another name: an RTS that came more than once had more than one CTS, and the CANCEL for
         * the second one must not free the receive again. */
        request->state = STATE_QUEUED;
        request->generation++;
        if (request->cancelled) {
            message_cancel(node, request);
        } else {
            match_receive(node, request);
        }
        return;
    }
    /* Of two RTSs of one message one may be answered RETRY and the other CTS, in any order. CTS is
     * always believed, and nothing that comes after it. */
    bool asked = request && (request->state == STATE_ASKED || request->state == STATE_STORED ||
                             (request->state == STATE_QUEUED && answer->kind == PACKET_CTS));
    bool requested = request && is_request(request);
    if (!(asked || requested) || request->kind != REQUEST_SEND || (uint32_t)request->peer != peer) {
        return;
    }
    /* The refusal of its OPEN is still to come, and it waits for that. */
    if (requested && answer->kind == PACKET_CTS) {
        request->match = answer->match;
    }
    if (requested && answer->kind != PACKET_CANCEL) {
        return;
    }
    switch (answer->kind) {
    case PACKET_QUEUED: request->state = STATE_STORED; break;
    case PACKET_RETRY:
        request->state = STATE_QUEUED;
        request->again_us = node->now_us + ANSWER_RETRY_US;
        break;
    case PACKET_CTS:
        request->state = STATE_READY;
        request->match = answer->match;
        request->again_us = 0; /* its circuit may be opened at once */
        break;
    default: request_finish(node, request, E_PEER_GONE, request->issue_ns); break;
    }
}

/* How long a message waits that a hop has refused. Longer each time: on a long ring most links
 * would otherwise be held by circuits that are refused in the end. From the second time on another
 * time on each node and at each try: two that have refused each other would come together again. */
uint32_t message_spread_us(const struct node *node, uint8_t *refusals)
{
    uint32_t tries = *refusals;

    if (tries < SPREAD_DOUBLINGS) {
        (*refusals)++;
    }
    if (tries == 0) {
        return ANSWER_RETRY_US;
    }
    uint32_t draw = (node->router.id + 1 + node->router.stamp) * SPREAD_FACTOR >> SPREAD_SHIFT;
    return ((uint32_t)ANSWER_RETRY_US << tries) / 2 + (draw << tries);
}

/* The circuit of a message was refused. E_FULL, E_REFUSED and E_BUSY pass, and the message is tried
 * again; any other reason (no way, the program there has ended) ends it. */
static void refused(struct node *node, struct request *request, int status)
{
    if (status == E_FULL) {
        /* The receiver's pool is full: from now on by RTS, which needs a place but no buffer. */
        request->announce = true;
        request->state = STATE_QUEUED;
    } else if (status == E_STORED) {
        request->state = request->match ? STATE_READY : STATE_STORED;
    } else if (status == E_REFUSED || status == E_BUSY) {
        /* A hop was busy with another message's circuit (E_REFUSED) or is still in a collective
         * that this message comes behind (E_BUSY). The latter is over soon as a rule, but may never
         * be when it has failed for a dead link: so it is asked early, then later and later. */
        uint32_t wait_us = status == E_BUSY ? (uint32_t)SOON_US << request->early
                                            : message_spread_us(node, &request->refusals);
        request->state = request->match ? STATE_READY : STATE_QUEUED;
        request->again_us = node->now_us + wait_us;
        if (status == E_BUSY && request->early < SOON_DOUBLINGS) {
            request->early++;
        }
    } else {
        request_finish(node, request, status, request->issue_ns);
    }
}

/* Word of a circuit of this node: of a send accepted, refused or sent, of a receive received. One
 * with a name that is no longer in use was for a program that has ended. */
void message_notice(struct node *node, const struct notice *notice)
{
    struct request *request = request_named(node, notice->token);

    if (!request) {
        return;
    }
    node_due_messages(node);
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
        if (notice->status == E_OK || notice->status == E_TRUNCATED) {
            match_finish(node, request, request->done_ns);
        } else {
            request_finish(node, request, notice->status, request->done_ns);
        }
        return;
    }
    /* The two come in either order. Before the second one the receiver's answer is missing, or
     * bytes still leave from the program's memory. */
    if (request->accepted && request->sent) {
        request_finish(node, request, request->status, request->done_ns);
    }
}

/* Sends an RTS. It leaves REPLY_SLOTS slots for answers: an RTS can wait and is repeated, a CTS
 * that waits for a slot holds up a receiver. Without a slot nothing changes, and the next step
 * tries again. */
static void send_rts(struct node *node, struct request *request, const struct request *before)
{
    struct rts_body rts = {.name = request_name(node, request),
                           .tag = (uint32_t)request->tag,
                           .length = request->bytes,
                           .behind = before ? request_name(node, before) : 0,
                           .generation = node->load.generation};
    uint8_t body[RTS_BYTES];

    if (router_slots_free(&node->router) < REPLY_SLOTS) {
        return;
    }
    rts_pack(body, &rts);
    if (router_send(&node->router, PACKET_RTS, (uint32_t)request->peer, body, sizeof body) !=
        E_OK) {
        return;
    }
    request->state = STATE_ASKED;
    request->again_us = node->now_us + ASK_AGAIN_US;
}

/* E_FULL: this node is setting up a circuit to another node; the state stays, and the next step
 * tries again. With a match the message goes to the receive that sent the CTS; without one it is
 * eager or a request. */
static void open_circuit(struct node *node, struct request *request, uint32_t match, uint8_t flags)
{
    bool is_inline = request->bytes <= OPEN_INLINE_MAX;
    struct circuit_source source = {.dst = (uint32_t)request->peer,
                                    .match = match,
                                    .tag = (uint32_t)request->tag,
                                    .flags = (uint8_t)(flags | (is_inline ? OPEN_INLINE : 0)),
                                    .generation = node->load.generation,
                                    .issue_ns = request->issue_ns,
                                    .data = {request->data},
                                    .bytes = {request->bytes},
                                    .token = token_make(TOKEN_REQUEST, request->generation,
                                                        (unsigned)(request - node->requests))};
    int status = router_open(&node->router, &source);

    if (status == E_OK) {
        request->state = STATE_OPENING;
    } else if (status != E_FULL) {
        request_finish(node, request, status, request->issue_ns);
    }
}

/* A long message's OPEN is its announcement too. */
static void open_request_circuit(struct node *node, struct request *request,
                                 const struct request *before)
{
    uint32_t match =
        open_request_names(request_name(node, request), before ? request_name(node, before) : 0);

    open_circuit(node, request, match, (uint8_t)(OPEN_REQUEST | (before ? OPEN_BEHIND : 0)));
}

/* Moves a send on, if it can. */
static void pump_send(struct node *node, struct request *request)
{
    const struct request *before = NULL;

    /* The receive is fixed by its CTS, so here nothing can overtake any more. */
    if (request->state == STATE_READY && request->shares > 0) {
        parallel_pump(node, request);
        return;
    }
    if (request->state == STATE_READY) {
        open_circuit(node, request, request->match, 0);
        return;
    }
    before = unanswered_before(node, request);
    if ((uint32_t)request->peer == node->router.id) {
        if (!before) {
            match_self(node, request);
        }
        return;
    }
    bool is_short = request->bytes <= OPEN_INLINE_MAX;
    bool opens = request->state == STATE_QUEUED && !request->announce;
    if (opens && is_short) {
        if (!before) {
            open_circuit(node, request, 0, OPEN_EAGER);
        }
    } else if (opens && (!before || is_request(before))) {
        open_request_circuit(node, request, before);
    } else if (!before || (before->state == STATE_ASKED && request->again_us == 0)) {
        /* Behind one without an answer an RTS goes once only, and again after that answer: it is
         * told RETRY until then, and with many senders these RETRYs take the very slots that the
         * answer needs. */
        send_rts(node, request, before);
    }
}

/* Whether a send has something to do that no packet from elsewhere must bring: all states up to
 * READY but STORED, which only a CTS moves on. */
static bool send_moves(const struct request *request)
{
    return request->kind == REQUEST_SEND && request->state <= STATE_READY &&
           request->state != STATE_STORED;
}

/* Posted, and not matched: normally nothing in the queue fits it. If something does, its CTS found
 * no slot, and each step looks again. */
static bool receive_waits(const struct request *request)
{
    return request->kind == REQUEST_RECEIVE && request->state == STATE_QUEUED;
}

/* Moves sends and receives in the order in which the program has asked for them. When nothing is
 * left that could move by itself, messages_move is cleared, and steps cost nothing here until it is
 * set. */
bool message_is_at_rest(const struct node *node)
{
    for (unsigned i = 0; i < node->request_count; i++) {
        const struct request *request = &node->requests[node->request_order[i]];
        bool rests = request->kind == REQUEST_SEND ? request->state == STATE_STORED
                                                   : request->state == STATE_QUEUED;
        if (request->state != STATE_DONE && !rests) {
            return false;
        }
    }
    return true;
}

void message_pump(struct node *node)
{
    bool left = false;

    if (!node->messages_move) {
        return;
    }
    left = match_send_cancels(node);
    for (unsigned i = 0; i < node->request_count; i++) {
        struct request *request = request_at(node, i);
        if (send_moves(request) && node->now_us >= request->again_us) {
            pump_send(node, request);
        } else if (receive_waits(request) && node->unexpected_count) {
            match_receive(node, request);
        }
        left |= send_moves(request) || (receive_waits(request) && node->unexpected_count);
    }
    node_due_messages_seen(node, left);
}

/* When the next repetition is due. One that is due already waits for a slot or a source, which
 * comes free in a step: a timer for it would only have the node step in vain. */
uint64_t message_deadline(const struct node *node)
{
    uint64_t deadline = UINT64_MAX;

    if (!node->messages_move) {
        return deadline;
    }
    for (unsigned i = 0; i < node->request_count; i++) {
        const struct request *request = &node->requests[node->request_order[i]];
        if (send_moves(request) && request->again_us > node->now_us &&
            request->again_us < deadline) {
            deadline = request->again_us;
        }
    }
    return deadline;
}
