/*
 * load.c - a download: take the data of a range of ranks, keep the own part, scatter the rest.
 *
 * The message to the root of a range begins with the list of the load (wire/load.h), which says
 * what comes behind it and where it goes: pieces.c. It is checked before the first byte of data is
 * taken: until then what comes waits.
 *
 * As long as it has more than its own, the node sends the second half of what it has left
 * (network.h: halving), behind the same list, to the node where that half begins, straight from
 * where it lies. On a cube that is its neighbour in dimension t-1, ..., 0. Last, it hashes what it
 * holds, clears what it only passed on, for a program finds its free memory clear, and sends its
 * receipts.
 *
 *     cube:3, node 0: count 8, keeps {0..3}, gives {4..7} to 4; then {2,3} to 2; then {1} to 1
 *
 * States of a download (enum load_state):
 *
 *     IDLE --OFFER, CTS sent--> RECEIVING --all bytes--> SENDING --left == 1, all sent--> HASHING
 *     HASHING --all hashed--> CLEARING --all clear--> RECEIPT --sent, the last one--> IDLE
 *     HASHING --as many as a packet has--> RECEIPT --sent, more to come--> HASHING
 *     IDLE (OFFER impossible), RECEIVING (so is the list), SENDING --error--> RECEIPT
 *
 * States of the child that is served now (enum child_state); a child that is served, or that has
 * said CANCEL, is followed by the next one:
 *
 *     ASK --OFFER--> ASKED --CTS--> READY --OPEN--> OPENING --ACCEPT--> next child
 *      ^               |                               |
 *      +---- RETRY ----+---------- REFUSED ------------+
 *
 * A node whose program is loaded takes a message to itself alone without beginning anew: the host
 * repairs segments of which it has had a wrong digest.
 *
 * What waits for what
 * - An OFFER is put off (RETRY) as long as the last program runs, its end has not been told, its
 *   collective goes on, or a circuit still reads or writes this node's memory.
 * - ASKED waits for the answer of a child that may put the OFFER off; the OFFER is repeated. ASK
 *   waits for a slot or the time of the next try, READY for a circuit source, RECEIPT for a slot.
 * - Children do not wait for each other's bytes: the next is offered its part once the circuit to
 *   the one before stands. Hashing waits for all of them, so that it holds up no child.
 * - A node that fails tells the host by RECEIPT. Those that it has not served yet hear nothing: the
 *   host ends the download for all. Circuits to children that stand are fed to their end, and no
 *   download is taken before that.
 *
 * Source  Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *         nodes, section III
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
#include "wire/load.h"

/* Where free memory begins: the list lies there. */
static uint8_t *free_memory(const struct node *node)
{
    return node->config.program + (node->load.top - node->config.program_address);
}

/* The state of the download changes; load_due goes with it. */
static void enter(struct node *node, enum load_state state)
{
    node->load.state = (uint8_t)state;
    node_due_load(node);
}

/* The download is over for this node. The memory holds parts of a program: nothing may start. */
static void fail(struct node *node, int status)
{
    node->load.status = status;
    node->load.receipt_count = 0;
    node->load.segment = node->load.to_segment;
    enter(node, LOAD_RECEIPT);
    node->program = PROGRAM_NONE;
    engine_close(&node->engine, &node->router, E_PEER_GONE);
}

/* Whether what is offered may fit where it must go. All of it comes from outside: sums are written
 * so that they cannot wrap. The list says more. */
static bool has_room(const struct node *node, const struct offer_body *offer)
{
    const struct node_config *config = &node->config;
    uint32_t base = config->image_address, end = config->program_address + config->program_bytes;

    return network_is_block(&node->router.network, node->router.id, offer->count) &&
           offer->top % PROTECTED_PAGE_BYTES == 0 && offer->top >= base && offer->top <= end &&
           offer->list_bytes > 0 && offer->list_bytes <= LOAD_LIST_BYTES_MAX &&
           offer->list_bytes <= end - offer->top && offer->message_bytes >= offer->list_bytes &&
           offer->message_bytes <= end - base && offer->from_segment < offer->to_segment;
}

/* The download's name on this node is the one that the offer gives it: the OPEN names it, and one
 * of an earlier offer does not fit. */
static void answer_cts(struct node *node, uint32_t dst, uint32_t name)
{
    uint8_t body[CTS_BYTES];

    cts_pack(body, &(struct cts_body){.name = name, .match = name});
    if (router_send(&node->router, PACKET_CTS, dst, body, sizeof body) != E_OK) {
        node->dropped_requests++;
    }
}

/* Circuits that wait for their step of a collective that is no more. Nobody would ever accept them,
 * and the node that has opened one would never become quiet, and would put the download off for
 * ever. */
static void refuse_steps(struct node *node)
{
    for (uint32_t left = router_opens(&node->router); left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctz(left);
        if (open_flags(router_open_at(&node->router, port)) & OPEN_SCHEDULE) {
            router_refuse(&node->router, port, E_PEER_GONE);
        }
    }
}

/* Whether the offer brings parts of the program that is here already. */
static bool is_repair(const struct node *node, const struct offer_body *offer)
{
    return node->program == PROGRAM_LOADED && offer->generation == node->load.generation &&
           offer->count == 1;
}

/* What an offer says; all else begins anew. The number goes from 255 on to 1: 0 is that there was
 * none yet (report.c). */
static void take_offer(struct load *load, uint32_t from, const struct offer_body *offer)
{
    *load = (struct load){.from = from,
                          .name = offer->name,
                          .number = (uint8_t)(load->number % UINT8_MAX + 1),
                          .count = offer->count,
                          .generation = offer->generation,
                          .from_segment = offer->from_segment,
                          .to_segment = offer->to_segment,
                          .list_bytes = offer->list_bytes,
                          .message_bytes = offer->message_bytes,
                          .top = offer->top};
    memcpy(load->list_digest, offer->digest, DIGEST_BYTES);
    sha256_begin(&load->sha);
}

/* From here on the last program's memory may be overwritten. engine_reset comes before
 * message_reset, which keeps the request of a collective under way: one would be lost with every
 * download. */
static void forget_program(struct node *node)
{
    node->memory_new = true;
    engine_reset(&node->engine, node->load.generation);
    refuse_steps(node);
    message_reset(node);
    gather_reset(node);
    router_reset_clocks(&node->router);
    node->clock_ns = 0;
    node->console_sent = node->console_taken = 0;
}

/* Takes a download, puts it off or refuses it. The order of the tests matters: a repeated OFFER is
 * answered again before it is looked at as a new one. */
void load_offer(struct node *node, const struct notice *notice)
{
    struct load *load = &node->load;
    struct offer_body offer;
    uint32_t from = notice->src;

    if (!offer_unpack(notice->body, notice->bytes, &offer)) {
        return;
    }
    /* No slot for its answer: forgotten, for it is repeated. */
    if (router_slots_free(&node->router) < REPLY_SLOTS) {
        node->dropped_requests++;
        return;
    }
    /* Its CTS is late. It is the same download: nothing begins anew. */
    if (load->state == LOAD_RECEIVING && load->from == from && load->name == offer.name) {
        answer_cts(node, from, offer.name);
        return;
    }
    /* The host stops programs before it offers the next one, so its own OFFER is refused for good.
     * One by way of a parent may be here before the host's STOP, and is put off below. */
    if (node->program == PROGRAM_RUNNING && from == ID_HOST) {
        node_answer(node, PACKET_CANCEL, from, offer.name);
        return;
    }
    gather_drop(node); /* the host has given it up, or is through with it */
    /* How the last program ended is told first: FAULT is made from the memory that it had. The
     * collective that it has begun goes on to its end, in that memory too; and circuits of others
     * that are still to pass need the turns of its links. */
    if (!node_is_over(node)) {
        node_answer(node, PACKET_RETRY, from, offer.name);
        return;
    }
    bool repair = is_repair(node, &offer);
    /* A START that came in this same step is void: the program that it is for is overwritten from
     * here. */
    node->start_due = false;
    take_offer(load, from, &offer);
    /* The parent goes on with its other children; the host hears from this node why it has no
     * program. */
    if (!has_room(node, &offer)) {
        node_answer(node, PACKET_CANCEL, from, offer.name);
        fail(node, E_NO_ROOM);
        return;
    }
    node->program = PROGRAM_LOADING;
    if (!repair) {
        forget_program(node);
    }
    enter(node, LOAD_RECEIVING);
    answer_cts(node, from, offer.name);
}

/* The bytes of the list that come next: as many as are hashed at once. */
static uint32_t list_slice(const struct load *load)
{
    uint32_t left = load->list_bytes - load->listed;

    return left < HASH_SLICE_BYTES ? left : HASH_SLICE_BYTES;
}

/* Takes the one circuit of the download. A second one, while the first one's bytes come, would
 * begin the children anew. E_REFUSED: a parent that is early or late tries again. */
void load_open(struct node *node, unsigned port, const uint8_t *packet)
{
    struct load *load = &node->load;

    /* Only then has has_room seen the sizes, so that nothing here can wrap. */
    if (load->state != LOAD_RECEIVING || load->opened || open_match(packet) != load->name ||
        packet_src(packet) != load->from || open_flags(packet) & OPEN_INLINE ||
        open_length(packet) != load->message_bytes || open_tag(packet) != load->list_bytes) {
        router_refuse(&node->router, port, E_REFUSED);
        return;
    }
    struct circuit_sink sink = {.data = free_memory(node),
                                .room = list_slice(load),
                                .more = load->message_bytes - list_slice(load),
                                .token = token_make(TOKEN_IMAGE, load->number, 0)};
    load->opened = true;
    load->clock_ns = router_accept(&node->router, port, &sink);
}

/* A slice of the list is there. With the last one it is checked, and the node knows what comes. */
static void take_list_slice(struct node *node)
{
    struct load *load = &node->load;
    uint32_t bytes = list_slice(load);

    sha256_add(&load->sha, free_memory(node) + load->listed, bytes);
    load->listed += bytes;
    if (load->listed < load->list_bytes) {
        return;
    }
    int status = load_take_list(node);
    if (status != E_OK) {
        fail(node, status);
    }
    load->come = load_cursor_at(node, node->router.id, load->count);
}

/* The room for what comes has been filled: where the next bytes go. What follows a list that cannot
 * be goes nowhere. */
static void give_room(struct node *node, unsigned port)
{
    struct load *load = &node->load;
    struct load_run run = {NULL, 0};

    if (load->state == LOAD_RECEIVING && load->listed < load->list_bytes) {
        take_list_slice(node);
    }
    if (load->state == LOAD_RECEIVING && load->listed < load->list_bytes) {
        run = (struct load_run){free_memory(node) + load->listed, list_slice(load)};
    } else if (load->state == LOAD_RECEIVING) {
        run = load_next_run(node, &load->come);
    }
    router_sink(&node->router, port, run.at, run.bytes);
}

/* All has come. A message may be a list and nothing else: nobody has asked for room behind it. */
static void take_received(struct node *node, int status)
{
    struct load *load = &node->load;

    if (load->state != LOAD_RECEIVING) {
        return;
    }
    if (status == E_OK && load->listed < load->list_bytes) {
        take_list_slice(node);
    } else if (status != E_OK) {
        fail(node, status);
    }
    if (load->state == LOAD_RECEIVING) {
        enter(node, LOAD_SENDING);
        load->left = load->count;
        load->child = CHILD_ASK;
        load->again_us = 0;
    }
}

/* The bytes of the message to a child, which are part of those that came. */
static uint32_t message_bytes(const struct load *load, const struct load_list *list, uint32_t first,
                              uint32_t count)
{
    return load->list_bytes +
           (uint32_t)load_data_bytes(list, load->from_segment, load->to_segment, first, count);
}

/* How many of the nodes that are left this one keeps when it serves its next child. */
static uint32_t kept(const struct node *node)
{
    return network_half(&node->router.network, node->load.left);
}

uint32_t load_child(const struct node *node)
{
    return node->router.id + kept(node);
}

/* Offers its next child the second half of what is left. Repeated until it has an answer. */
static void send_offer(struct node *node)
{
    struct load *load = &node->load;
    struct load_list list = load_list_of(node);
    uint32_t child = load_child(node), count = load->left - kept(node);
    struct offer_body offer = {.name = load->name,
                               .count = count,
                               .list_bytes = load->list_bytes,
                               .message_bytes = message_bytes(load, &list, child, count),
                               .from_segment = load->from_segment,
                               .to_segment = load->to_segment,
                               .top = load_program_of(&list, child).top,
                               .generation = load->generation,
                               .digest = load->list_digest};
    uint8_t body[OFFER_BYTES];

    /* Offers that a mute link keeps must leave slots: without one nobody would tell the host when
     * the link dies. */
    load->again_us = node->now_us + ASK_AGAIN_US;
    if (router_slots_free(&node->router) < REPLY_SLOTS) {
        return;
    }
    offer_pack(body, &offer);
    if (router_send(&node->router, PACKET_OFFER, child, body, sizeof body) != E_OK) {
        return;
    }
    load->child = CHILD_ASKED;
}

/* Sends a child the list and its data, from where they lie: they stay there until all have been
 * sent. E_FULL: another circuit of this node is being set up, and the next step tries again; so
 * does it when as many are under way as can be. */
static void open_child(struct node *node)
{
    struct load *load = &node->load;
    struct load_list list = load_list_of(node);
    uint32_t half = kept(node),
             bytes = message_bytes(load, &list, load_child(node), load->left - half);
    unsigned feed = (unsigned)__builtin_ctz(~(unsigned)load->feeds_used);

    if (feed >= FEEDS_MAX) {
        return;
    }
    struct load_cursor cursor = load_cursor_at(node, load_child(node), load->left - half);
    struct load_run run = load_next_run(node, &cursor);
    struct circuit_source source = {.dst = load_child(node),
                                    .match = load->child_match,
                                    .tag = load->list_bytes,
                                    .flags = OPEN_IMAGE,
                                    .issue_ns = load->clock_ns,
                                    .data = {list.bytes, run.at},
                                    .bytes = {load->list_bytes, run.bytes},
                                    .more = bytes - load->list_bytes - run.bytes,
                                    .token = token_make(TOKEN_IMAGE, load->number, feed + 1)};
    int status = router_open(&node->router, &source);

    if (status == E_OK) {
        load->child = CHILD_OPENING;
        load->feeds[feed] = cursor;
        load->feeds_used |= (uint8_t)(1u << feed);
    } else if (status != E_FULL) {
        fail(node, status);
    }
}

/* A child's circuit wants more, also when the download has failed meanwhile: what it sends stays
 * where it is until its end. */
static void feed_child(struct node *node, uint32_t token)
{
    struct load_run run = load_next_run(node, &node->load.feeds[(token & 0xff) - 1]);

    (void)router_feed(&node->router, token, run.at, run.bytes);
}

/* A child's circuit is over. */
static void end_feed(struct load *load, uint32_t token)
{
    load->feeds_used &= (uint8_t) ~(1u << ((token & 0xff) - 1));
}

/* Whether it answers an OFFER of this download: also one that comes twice, or when the next child
 * has its turn, for offers are repeated. */
static bool answers_offer(const struct node *node, const struct answer *answer)
{
    const struct load *load = &node->load;

    return load->state == LOAD_SENDING && answer->name == load->name &&
           answer->src > node->router.id && answer->src - node->router.id < load->count;
}

/* It counts only from the child that is served now, while it is asked. */
bool load_answer(struct node *node, const struct answer *answer)
{
    struct load *load = &node->load;

    if (!answers_offer(node, answer)) {
        return false;
    }
    if (load->child != CHILD_ASKED || answer->src != load_child(node)) {
        return true;
    }
    if (answer->kind == PACKET_CTS) {
        load->child_match = answer->match;
        load->child = CHILD_READY;
    } else if (answer->kind == PACKET_RETRY) {
        load->child = CHILD_ASK;
        load->again_us = node->now_us + ANSWER_RETRY_US;
    } else if (answer->kind == PACKET_CANCEL) {
        /* The child takes nothing, and its half goes without: the host hears from it why. The nodes
         * that are left are served all the same. */
        load->left = kept(node);
        load->child = CHILD_ASK;
    }
    return true;
}

/* A circuit has been refused: by a busy hop, or by a child that is not ready for it, which is
 * offered its part again; else there is no way to it. */
static void take_refusal(struct node *node, int status)
{
    struct load *load = &node->load;

    if (load->state != LOAD_SENDING) {
        return; /* it has failed before */
    }
    if (status != E_REFUSED) {
        fail(node, status);
        return;
    }
    load->child = CHILD_ASK;
    load->again_us = node->now_us + ANSWER_RETRY_US;
}

/* Word of the download's circuits: the one from the parent, and those to children. The number tells
 * it from word of an earlier download. A download that has failed serves no more children. */
void load_notice(struct node *node, const struct notice *notice)
{
    struct load *load = &node->load;

    if ((notice->token >> 8 & 0xff) != load->number) {
        return; /* of an earlier download */
    }
    switch (notice->kind) {
    case NOTICE_FILLED: give_room(node, notice->port); break;
    case NOTICE_RECEIVED: take_received(node, notice->status); break;
    case NOTICE_FEED: feed_child(node, notice->token); break;
    /* The child's circuit stands: its part is given away, and the next child is served while the
     * bytes still flow. */
    case NOTICE_ACCEPTED:
        load->clock_ns = notice->done_ns;
        load->left = kept(node);
        load->child = CHILD_ASK;
        load->again_us = 0;
        break;
    case NOTICE_REFUSED:
        end_feed(load, notice->token);
        take_refusal(node, notice->status);
        break;
    default: end_feed(load, notice->token); break;
    }
}

/* All has been sent: what is the node's own is hashed. */
static void begin_hashing(struct node *node)
{
    struct load *load = &node->load;

    load->segment = load_own_from(node, load->from_segment);
    load->done = 0;
    sha256_begin(&load->sha);
    enter(node, load->segment == load->to_segment ? LOAD_CLEARING : LOAD_HASHING);
}

/* An own segment has been hashed. A packet that is full goes before the next one. */
static void end_segment(struct node *node)
{
    struct load *load = &node->load;

    sha256_end(&load->sha, load->digests[load->receipt_count++]);
    sha256_begin(&load->sha);
    load->done = 0;
    load->segment = load_own_from(node, load->segment + 1);
    if (load->segment == load->to_segment) {
        enter(node, LOAD_CLEARING);
    } else if (load->receipt_count == RECEIPT_DIGESTS_MAX) {
        enter(node, LOAD_RECEIPT);
    }
}

/* Hashes a slice of an own segment, which may have to be copied before. It reads the program's
 * memory after everything has been passed on, not the bytes as they arrive, so the receipt covers
 * exactly the bytes that will run. In slices, because a step is bounded. */
static void hash_slice(struct node *node)
{
    struct load *load = &node->load;
    const uint8_t *came;
    struct load_run place = load_own_place(node, load->segment, &came);
    uint32_t left = place.bytes - load->done;
    uint32_t bytes = left < HASH_SLICE_BYTES ? left : HASH_SLICE_BYTES;

    if (came != place.at) {
        memmove(place.at + load->done, came + load->done, bytes);
    }
    sha256_add(&load->sha, place.at + load->done, bytes);
    load->done += bytes;
    if (load->done == place.bytes) {
        end_segment(node);
    }
}

/* Clears a slice of free memory: list, and what was passed on. Then the program is there. */
static void clear_slice(struct node *node)
{
    struct load *load = &node->load;
    uint32_t left = load->list_bytes + load->passed_on_bytes - load->done;
    uint32_t bytes = left < CLEAR_SLICE_BYTES ? left : CLEAR_SLICE_BYTES;

    memset(free_memory(node) + load->done, 0, bytes);
    load->done += bytes;
    if (bytes == left) {
        node->program = PROGRAM_LOADED;
        enter(node, LOAD_RECEIPT);
    }
}

/* Without a slot the state stays, and each step tries again. */
static void send_receipt(struct node *node)
{
    struct load *load = &node->load;
    struct receipt_body receipt = {.status = load->status,
                                   .held_bytes = load->held_bytes,
                                   .model_ns = load->clock_ns,
                                   .first = load->receipt_first,
                                   .count = load->receipt_count,
                                   .last = load->segment == load->to_segment,
                                   .digests = load->digests[0]};
    uint8_t body[RECEIPT_BYTES + sizeof load->digests];

    if (router_send(&node->router, PACKET_RECEIPT, ID_HOST, body, receipt_pack(body, &receipt)) ==
        E_OK) {
        load->receipt_first = (uint16_t)(load->receipt_first + load->receipt_count);
        load->receipt_count = 0;
        enter(node, receipt.last ? LOAD_IDLE : LOAD_HASHING);
    }
}

/* Moves what has been received on to the next child. */
static void serve_child(struct node *node)
{
    struct load *load = &node->load;

    if (load->left == 1) {
        if (!load->feeds_used) {
            begin_hashing(node);
        }
    } else if (node->now_us >= load->again_us &&
               (load->child == CHILD_ASK || load->child == CHILD_ASKED)) {
        send_offer(node);
    } else if (load->child == CHILD_READY) {
        open_child(node);
    }
}

/* Moves the download on. Hashing and clearing have more to do at once: all else waits for packets
 * or slots. */
bool load_pump(struct node *node)
{
    struct load *load = &node->load;

    if (load->state == LOAD_SENDING) {
        serve_child(node);
    }
    if (load->state == LOAD_HASHING) {
        hash_slice(node);
    }
    if (load->state == LOAD_CLEARING) {
        clear_slice(node);
    }
    if (load->state == LOAD_RECEIPT) {
        send_receipt(node);
    }
    return load->state == LOAD_HASHING || load->state == LOAD_CLEARING;
}

/* When an OFFER is due again. One that is due already waits for a slot, which a step brings. */
uint64_t load_deadline(const struct node *node)
{
    const struct load *load = &node->load;

    if (node->load_due && load->state == LOAD_SENDING && load->left > 1 &&
        (load->child == CHILD_ASK || load->child == CHILD_ASKED) && load->again_us > node->now_us) {
        return load->again_us;
    }
    return UINT64_MAX;
}
