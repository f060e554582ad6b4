/*
 * collective.c - a collective from entry to completion.
 *
 *     QUEUED --begin_next--> entry: rounds 0 .. d-1 --all agree--> steps --all bytes moved--> DONE
 *                                        |                           |
 *                                        | an error, the same        | circuit refused, link dead
 *                                        | on all nodes              | or bytes cut short
 *                                        +---------------------------+----------------------> DONE
 *
 * Entry: in d rounds each node tells its neighbour in dimension 0, 1, ... what its subcube so far
 * agrees on (operation, size, root) or why it cannot go on. After d rounds every node knows that
 * all have posted their buffers, which is the CTS of every circuit of the schedule at once, or
 * knows the same error. No circuit of a schedule is opened before, so none ever waits for a node
 * that is still busy elsewhere.
 *
 *     cube:2, node 3 enters last        round 0    0 <-> 1, 2 waits for 3
 *                                       round 1    0 waits for 2, 1 waits for 3
 *     when 3 enters, 2 and 1 go on, then 0: nobody begins a step before all have entered
 *
 * A program may end meanwhile. It matters only whether its node had begun the collective. If it
 * had, the kernel goes through it to the end, in the program's memory, as if nothing had happened.
 * If it had not, it answers each ENTER with E_PEER_GONE, which prevails over whatever else a
 * subcube agrees on. So each node puts one thing into the entry, and all nodes get the same result.
 * A node takes no download before the collective that it has begun is over. Until then no program
 * of that download is started anywhere, so no ENTER of the program before is under way later. An
 * ENTER that comes to a node which is loaded already names the generation before, and is answered
 * with E_PEER_GONE.
 *
 * Steps: the walker says what to send and receive; each circuit waits its turn on every link (rule
 * 4 of the router). The model time of a step is known when its circuits are accepted, so where a
 * step needs no data of the one before (complete exchange, barrier), the next one is set up while
 * the bytes still flow.
 *
 *     step_waits   STEP_SEND: its circuit is not open yet    STEP_ANSWER: nor accepted
 *                  STEP_RECEIVE: the peer's circuit has not come. None left: the step is over
 *
 * What waits for what
 * - A collective waits for those that the program asked for before it: one at a time is under way.
 * - A round of the entry waits for the ENTER of the neighbour in its dimension, and for a slot.
 * - A step waits for its circuits to be answered, and for data of the step before unless
 *   independent.
 * - The end waits for all bytes, in both directions: only then the buffers are the program's again.
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

/* Circuits of a complete exchange whose data may still flow in when the next step is set up. */
enum { RECEIVES_AHEAD = 3 };

/* Whom a node tells, and hears, in a round of the entry: its neighbour in that dimension. */
uint32_t entry_partner(const struct node *node, unsigned round)
{
    return network_neighbour(&node->router.network, node->router.id, round);
}

/* E_FULL: no slot; the round stays as it is and is tried again in each step. */
static int send_enter(struct node *node, const struct enter_body *enter)
{
    uint8_t body[ENTER_BYTES];

    enter_pack(body, enter);
    return router_send(&node->router, PACKET_ENTER, entry_partner(node, enter->round), body,
                       sizeof body);
}

/* Ends the collective that is under way, with or without an error. Only one that went through its
 * steps counts as completed for the router, which then lets messages from behind it pass (rule 5):
 * of one that failed the links may never be done. */
static void finish(struct node *node, int status)
{
    struct collective *c = &node->collective;
    struct request *request = &node->requests[c->request];

    if (status == E_OK) {
        router_schedule_done(&node->router, c->epoch);
    }
    request->result_steps = c->steps;
    request_finish(node, request, status, c->clock_ns);
    c->request = ECUBE_REQUESTS_MAX;
    c->walking = false;
    c->step_open = false;
    if (collective_owes_gone(node)) { /* its program has ended: the next one is nobody's */
        collective_gone(node);
    }
}

/* A download begins. What neighbours have told stays: an ENTER of the program before may be here
 * unanswered, and its sender still waits. It is of another generation now, so it is answered at
 * once. */
void collective_reset(struct node *node)
{
    struct collective fresh = {.request = ECUBE_REQUESTS_MAX};

    memcpy(fresh.heard, node->collective.heard, sizeof fresh.heard);
    memcpy(fresh.heard_here, node->collective.heard_here, sizeof fresh.heard_here);
    node->collective = fresh;
    collective_gone(node);
}

/* Starts the oldest collective that waits behind others. Its epoch is its number in the program,
 * the same on all nodes, for all call them in the same order. Its clock begins when both it and the
 * one before it were ready. */
static void begin_next(struct node *node)
{
    struct collective *c = &node->collective;
    struct request *oldest = NULL;

    if (node->collectives_queued == 0) {
        return;
    }
    for (unsigned i = 0; i < node->request_count && !oldest; i++) {
        struct request *request = request_at(node, i);
        if (request->kind == REQUEST_COLLECTIVE && request->state == STATE_QUEUED) {
            oldest = request;
        }
    }
    CHECK(oldest);
    due_collective_begun(node);
    oldest->state = STATE_MOVING;
    c->request = (unsigned)(oldest - node->requests);
    c->arguments = node->collective_arguments[c->request];
    c->epoch++;
    c->round = 0;
    c->round_sent = false;
    c->walking = false;
    c->step_open = false;
    c->receives_pending = 0;
    c->sends_pending = 0;
    c->clock_ns = clock_max(oldest->issue_ns, c->clock_ns);
    c->status = E_OK;
    c->steps = 0;
    c->mine = (struct enter_body){.epoch = c->epoch,
                                  .generation = node->load.generation,
                                  .operation = (uint8_t)c->arguments.operation,
                                  .bytes = c->arguments.block_bytes,
                                  .root = c->arguments.root};
}

/* Whether this node, by its present number and network, can do it in the program's memory.
 * Everything here comes from the program: what passes makes the walker's CHECKs true. */
static int check_arguments(const struct node *node, const struct ecube_abi_collective *arguments)
{
    struct walk walk;
    uint32_t dims = node->router.network.dims;

    if (node->router.network.kind != NETWORK_CUBE) {
        return E_NETWORK;
    }
    if (!walk_possible(arguments->operation, dims, arguments->root, arguments->block_bytes)) {
        return E_ARGUMENT;
    }
    walk_begin(&walk, arguments->operation, dims, node->router.id, arguments->root,
               arguments->block_bytes);
    struct walk_span span = walk_span(&walk);
    if (span.send_bytes > UINT32_MAX || span.receive_bytes > UINT32_MAX ||
        (span.send_bytes && !program_memory(node, arguments->send, (uint32_t)span.send_bytes)) ||
        (span.receive_bytes &&
         !program_memory(node, arguments->receive, (uint32_t)span.receive_bytes))) {
        return E_FAULT;
    }
    return E_OK;
}

/* An error in the arguments is told at once and begins nothing: no other node hears of it. E_FULL:
 * the program has all its requests in use. */
int collective_start(struct node *node, const struct ecube_abi_collective *arguments)
{
    int status = check_arguments(node, arguments);

    if (status != E_OK) {
        return status;
    }
    struct request *request = request_make(node, REQUEST_COLLECTIVE);
    if (!request) {
        return E_FULL;
    }
    due_collective(node);
    node->collective_arguments[request - node->requests] = *arguments;
    if (!collective_active(node)) {
        begin_next(node);
    }
    return (int)(request - node->requests);
}

/* Tells the host which two neighbours are not in the same collective. Both see it; the one with the
 * lower number tells. */
static int tell_disagreement(struct node *node, uint32_t neighbour, const struct enter_body *heard)
{
    const struct enter_body *mine = &node->collective.mine;
    struct disagree_body disagree = {.neighbour = neighbour,
                                     .own = {mine->operation, mine->bytes, mine->root},
                                     .other = {heard->operation, heard->bytes, heard->root}};
    uint8_t body[DISAGREE_BYTES];

    if (neighbour < node->router.id) {
        return E_OK;
    }
    disagree_pack(body, &disagree);
    return router_send(&node->router, PACKET_DISAGREE, ID_HOST, body, sizeof body);
}

/* Adds what a neighbour's subcube agrees on to what this one's does. The result is the same
 * whichever of the two asks, so that all nodes end with one status: an ended program comes before a
 * mismatch. E_FULL: the host is still to be told of a disagreement and there is no slot; nothing
 * has changed, and the round is tried again. */
static int merge(struct node *node, const struct enter_body *heard)
{
    struct collective *c = &node->collective;
    struct enter_body *mine = &c->mine;

    if (mine->status == E_PEER_GONE || heard->status == E_PEER_GONE) {
        mine->status = E_PEER_GONE;
    } else if (mine->status != E_OK || heard->status != E_OK) {
        if (mine->status == E_OK) {
            mine->status = heard->status;
        }
    } else if (heard->operation != mine->operation || heard->bytes != mine->bytes ||
               heard->root != mine->root) {
        if (tell_disagreement(node, entry_partner(node, c->round), heard) != E_OK) {
            return E_FULL;
        }
        mine->status = E_MISMATCH;
    }
    return E_OK;
}

/* Goes through the entry rounds as far as neighbours have told theirs. */
static void pump_entry(struct node *node)
{
    struct collective *c = &node->collective;

    while (c->round < node->router.network.dims) {
        const struct enter_body *heard = &c->heard[c->epoch & 1][c->round];
        uint16_t *here = &c->heard_here[c->epoch & 1], bit = (uint16_t)(1u << c->round);
        if (!c->round_sent) {
            c->mine.round = (uint8_t)c->round;
            if (send_enter(node, &c->mine) != E_OK) {
                return;
            }
            c->round_sent = true;
        }
        /* Collectives share a place by the parity of their number: one that is two off is not taken
         * for this one. */
        if (!(*here & bit) || heard->epoch != c->epoch) {
            return;
        }
        if (merge(node, heard) != E_OK) {
            return;
        }
        *here &= (uint16_t)~bit;
        c->round++;
        c->round_sent = false;
    }
    /* The host may have told this node another number or network since the program asked: the
     * arguments are checked again, or a step would go past buffers that were checked for other
     * ones. */
    int status = c->mine.status;
    if (status == E_OK) {
        status = check_arguments(node, &c->arguments);
    }
    if (status != E_OK) {
        finish(node, status);
        return;
    }
    c->steps = walk_steps(c->arguments.operation, node->router.network.dims);
    walk_begin(&c->walk, c->arguments.operation, node->router.network.dims, node->router.id,
               c->arguments.root, c->arguments.block_bytes);
    c->walking = true;
}

/* Whether this node has no part in the collective of an ENTER, and never will. A program that is
 * loaded and not started may still have: others may have been started before it. */
static bool is_gone(const struct node *node, const struct enter_body *heard)
{
    if (heard->generation != node->load.generation) {
        return true;
    }
    if (collective_active(node) && heard->epoch == node->collective.epoch) {
        return false;
    }
    return node->program != PROGRAM_LOADED && node->program != PROGRAM_RUNNING;
}

/* Keeps what a neighbour tells until its round comes. It comes from outside: only the neighbour of
 * a round may tell it. A neighbour may be one collective ahead before its answer to this one has
 * been read, never two: hence two places, by even and odd epoch. */
void collective_packet(struct node *node, const struct notice *notice)
{
    struct enter_body enter;

    if (!enter_unpack(notice->body, notice->bytes, &enter) ||
        node->router.network.kind != NETWORK_CUBE || enter.round >= node->router.network.dims ||
        notice->src != entry_partner(node, enter.round)) {
        return;
    }
    /* A neighbour may be one collective ahead before this one's answer has been read: two places.
     */
    node->collective.heard[enter.epoch & 1][enter.round] = enter;
    node->collective.heard_here[enter.epoch & 1] |= (uint16_t)(1u << enter.round);
    if (is_gone(node, &enter)) {
        collective_gone(node);
    }
}

bool collective_owes_gone(const struct node *node)
{
    const struct collective *c = &node->collective;

    for (unsigned i = 0; i < 2 * node->router.network.dims; i++) {
        if (c->heard_here[i % 2] >> (i / 2) & 1 && is_gone(node, &c->heard[i % 2][i / 2])) {
            return true;
        }
    }
    return false;
}

/* Answers every ENTER that is here for a collective in which this node has no part. One that finds
 * no slot stays, and gone_owed brings it here again in the next step. */
void collective_gone(struct node *node)
{
    struct collective *c = &node->collective;

    c->gone_owed = false;
    for (unsigned i = 0; i < 2 * node->router.network.dims; i++) {
        unsigned round = i / 2, bit = 1u << round;
        const struct enter_body *heard = &c->heard[i % 2][round];
        struct enter_body gone = {.epoch = heard->epoch,
                                  .operation = OPERATION_GONE,
                                  .round = (uint8_t)round,
                                  .status = E_PEER_GONE,
                                  .generation = heard->generation};
        if (!(c->heard_here[i % 2] & bit) || !is_gone(node, heard)) {
            continue;
        }
        /* Two programs that have ended must not answer each other's answers for ever. */
        if (heard->operation != OPERATION_GONE && send_enter(node, &gone) != E_OK) {
            c->gone_owed = true;
        } else {
            c->heard_here[i % 2] &= (uint16_t)~bit;
        }
    }
}

_Static_assert(HOP_LIST_BYTES + (int)WALK_TURNS * (int)HOP_BYTES <= (int)OPEN_COPY_MAX,
               "the router copies the list of a step");

/* Writes the hop list of a step's circuit, in dimension order, with its turn on each link; returns
 * its bytes. */
static uint32_t pack_hops(uint8_t *list, const struct walk_step *step, uint32_t differ)
{
    struct open_hop hops[WALK_TURNS];
    unsigned count = 0;

    for (; differ; differ &= differ - 1) {
        hops[count++] = (struct open_hop){HOP_DIMENSION_ORDER, step->turns[__builtin_ctz(differ)]};
    }
    return hop_list_pack(list, hops, count);
}

/* Starts the present step's send. E_FULL: this node is setting up another circuit; STEP_SEND stays,
 * and each step of the node tries again. Any other error ends the collective with this step. */
static void open_send(struct node *node)
{
    struct collective *c = &node->collective;
    const struct walk_step *step = &c->step;
    uint8_t hops[HOP_LIST_BYTES + WALK_TURNS * HOP_BYTES];
    uint32_t list_bytes = pack_hops(hops, step, node->router.id ^ step->peer);
    bool is_inline = step->send_bytes <= open_inline_max(list_bytes);
    struct circuit_source source = {.dst = step->peer,
                                    .match = step->step,
                                    .flags =
                                        (uint8_t)(OPEN_SCHEDULE | (is_inline ? OPEN_INLINE : 0)),
                                    .epoch = c->epoch,
                                    .hops = hops,
                                    .issue_ns = c->clock_ns,
                                    .bytes = {step->send_bytes},
                                    .token = token_make(TOKEN_STEP, c->epoch, step->step & 0xff)};

    /* Without bytes the program may have given any address: then only a valid pointer is needed. */
    source.data[0] =
        node->config.program +
        (step->send_bytes ? c->arguments.send + step->send_offset - node->config.program_address
                          : 0);
    int status = router_open(&node->router, &source);
    if (status == E_FULL) {
        return;
    }
    c->step_waits &= (uint8_t)~STEP_SEND;
    if (status == E_OK) {
        c->sends_pending++;
    } else {
        c->status = status;
    }
}

/* Accepts the present step's circuit, if it is among those that are held. Circuits of later steps
 * stay held: their senders are ahead. A length that is not the schedule's fails the collective. */
static void accept_receive(struct node *node)
{
    struct collective *c = &node->collective;
    const struct walk_step *step = &c->step;

    for (uint32_t left = router_opens(&node->router); left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctz(left);
        const uint8_t *packet = router_open_at(&node->router, port);
        if (!(open_flags(packet) & OPEN_SCHEDULE) || open_epoch(packet) != c->epoch ||
            packet_src(packet) != step->peer || open_match(packet) != step->step) {
            continue;
        }
        bool is_inline = open_flags(packet) & OPEN_INLINE;
        struct circuit_sink sink = {.room = step->receive_bytes,
                                    .ready_ns = c->clock_ns,
                                    .token = token_make(TOKEN_STEP, c->epoch, step->step & 0xff)};
        sink.data = node->config.program + (step->receive_bytes
                                                ? c->arguments.receive + step->receive_offset -
                                                      node->config.program_address
                                                : 0);
        if (open_length(packet) != step->receive_bytes) {
            c->status = E_MISMATCH;
        }
        c->step_done_ns = clock_max(c->step_done_ns, router_accept(&node->router, port, &sink));
        c->step_waits &= (uint8_t)~STEP_RECEIVE;
        /* Inline bytes have been copied already; of others a notice tells the end. */
        c->receives_pending += !is_inline;
        return;
    }
}

/* Whether the next step may begin while data of this one still flows in. In a complete exchange no
 * step sends what one before has received. Elsewhere the data must be here, for it is sent on. */
static bool independent(const struct collective *c)
{
    return (c->arguments.operation == ECUBE_EXCHANGE && c->receives_pending < RECEIVES_AHEAD) ||
           c->receives_pending == 0;
}

/* Ends the present step when its circuits have been answered; false when it must still wait. After
 * an error nothing is waited for: the answer may never come. */
static bool end_step(struct collective *c)
{
    if (c->status == E_OK && c->step_waits) {
        return false;
    }
    c->clock_ns = c->step_done_ns;
    c->step_open = false;
    return true;
}

/* Walks on until something must be waited for. Each turn either begins a step or ends one, so it
 * ends with the schedule at the latest. */
static void pump_steps(struct node *node)
{
    struct collective *c = &node->collective;

    for (;;) {
        if (!c->step_open) {
            if (c->status != E_OK) {
                finish(node, c->status);
                return;
            }
            if (!independent(c)) {
                return;
            }
            /* The schedule is over; the buffers are still in use as long as bytes move. */
            if (!walk_next(&c->walk, &c->step)) {
                if (c->receives_pending == 0 && c->sends_pending == 0) {
                    finish(node, E_OK);
                }
                return;
            }
            c->step_open = true;
            c->step_waits =
                (uint8_t)((c->step.sends ? STEP_SENDS : 0) | (c->step.receives ? STEP_RECEIVE : 0));
            c->step_done_ns = c->clock_ns;
        }
        if (c->step_waits & STEP_SEND) {
            open_send(node);
        }
        if (c->step_waits & STEP_RECEIVE) {
            accept_receive(node);
        }
        if (!end_step(c)) {
            return;
        }
    }
}

/* Word of a step's circuit. One that ended in error leaves circuits behind, whose word comes later:
 * their tokens carry its epoch, and it is not taken for the next one's. */
void collective_notice(struct node *node, const struct notice *notice)
{
    struct collective *c = &node->collective;

    if ((notice->token >> 8 & 0xff) != (c->epoch & 0xff)) {
        return;
    }
    switch (notice->kind) {
    case NOTICE_ACCEPTED:
        c->step_done_ns = clock_max(c->step_done_ns, notice->done_ns);
        c->step_waits &= (uint8_t)~STEP_ANSWER;
        break;
    case NOTICE_REFUSED:
    case NOTICE_SENT: c->sends_pending--; break;
    default: c->receives_pending--; break;
    }
    if (notice->status != E_OK) {
        c->status = notice->status;
    }
}

/* Moves the collective that is under way, and begins the next one when it is over, until one has to
 * wait. What is owed to others goes first: it needs no collective here. */
void collective_pump(struct node *node)
{
    struct collective *c = &node->collective;

    if (c->gone_owed) {
        collective_gone(node);
    }
    for (;;) {
        if (!collective_active(node)) {
            begin_next(node);
        }
        if (!collective_active(node)) {
            return;
        }
        unsigned request = c->request;
        if (!c->walking) {
            pump_entry(node);
        }
        if (c->walking) {
            pump_steps(node);
        }
        if (c->request == request && collective_active(node)) {
            return;
        }
    }
}
