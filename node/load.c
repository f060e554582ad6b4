/*
 * load.c - a download: take the data of a range of ranks, keep the own part, scatter the rest; or
 * the same in parcels (pipeline.c).
 *
 * The message to the root of a range begins with the list of the load (wire/load.h), which says
 * what comes behind it and where it goes: pieces.c. It is checked before the first byte of data is
 * taken: until then what comes waits.
 *
 * As long as it has more than its own, the node sends the second half of what it has left
 * (network.h: halving), behind the same list, to the node where that half begins, straight from
 * where it lies. On a cube that is its neighbour in dimension t-1, ..., 0. Last come hashes and
 * receipts (receipt.c).
 *
 *     cube:3, node 0: count 8, keeps {0..3}, gives {4..7} to 4; then {2,3} to 2; then {1} to 1
 *
 * States of a download (enum load_state):
 *
 *     IDLE --OFFER, CTS sent--> RECEIVING --all bytes--> SENDING --left == 1, all sent--> HASHING
 *     RECEIVING --list, where there are parcels--> PIPING --all come and gone--> HASHING
 *     HASHING, CLEARING, RECEIPT --> IDLE (receipt.c)
 *     IDLE (OFFER impossible), RECEIVING (so is the list), PIPING, SENDING --error--> RECEIPT
 *
 * States of the child that is served now (enum child_state); a child that is served, or that has
 * said CANCEL, is followed by the next one:
 *
 *     ASK --OFFER--> ASKED --CTS--> READY --OPEN--> OPENING --ACCEPT--> next child
 *      ^               |           ^                   |   |
 *      +---- RETRY ----+---------- | ---- REFUSED -----+   +--ACCEPT, parcels--> WAITS
 *                                  +---------CTS of the next parcel-----------------+
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
 * The list comes in front of the data, in the same circuit, and is checked while the data waits:
 * packets for it would be one more thing to repeat. It takes no model time, as an OFFER takes none.
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
#include "router/link_counters.h"
#include "router/notice.h"
#include "router/router.h"
#include "wire/load.h"

uint8_t *load_free_memory(const struct node *node)
{
    return node->config.program + (node->load.top - node->config.program_address);
}

/* load_due goes with it. */
void load_enter(struct node *node, enum load_state state)
{
    node->load.state = (uint8_t)state;
    node_due_load(node);
}

/* The memory holds parts of a program: nothing may start. */
void load_fail(struct node *node, int status)
{
    node->load.status = status;
    node->load.receipt_count = 0;
    node->load.segment = node->load.to_segment;
    load_enter(node, LOAD_RECEIPT);
    node->program = PROGRAM_NONE;
    engine_close(&node->engine, &node->router, E_PEER_GONE);
}

/* Whether the node that is offered parcels, for itself and those behind it, is in a line that may
 * be, and the first one is no longer than all are. */
static bool is_in_line(const struct node *node, const struct offer_body *offer)
{
    const struct network *network = &node->router.network;
    uint32_t rank = node->router.id;

    return offer->head <= rank && offer->count <= network->nodes - rank &&
           network_is_block(network, offer->head, rank - offer->head + offer->count) &&
           offer->message_bytes - offer->list_bytes <= offer->parcel_bytes;
}

/* Whether what is offered may fit where it must go. All of it comes from outside: sums are written
 * so that they cannot wrap. The list says more. */
static bool has_room(const struct node *node, const struct offer_body *offer)
{
    const struct node_config *config = &node->config;
    uint32_t base = config->image_address, end = config->program_address + config->program_bytes;

    return (offer->parcel_bytes
                ? is_in_line(node, offer)
                : network_is_block(&node->router.network, node->router.id, offer->count)) &&
           offer->top % PROTECTED_PAGE_BYTES == 0 && offer->top >= base && offer->top <= end &&
           offer->list_bytes > 0 && offer->list_bytes <= LOAD_LIST_BYTES_MAX &&
           offer->list_bytes <= end - offer->top && offer->message_bytes >= offer->list_bytes &&
           offer->message_bytes <= end - base && offer->from_segment < offer->to_segment;
}

bool load_say_cts(struct node *node, uint32_t dst, uint32_t name)
{
    uint8_t body[CTS_BYTES];

    cts_pack(body, &(struct cts_body){.name = node->load.name, .match = name});
    return router_send(&node->router, PACKET_CTS, dst, body, sizeof body) == E_OK;
}

/* The download's name on this node is the one that the offer gives it: the OPEN names it, and one
 * of an earlier offer does not fit. */
static void answer_cts(struct node *node, uint32_t dst, uint32_t name)
{
    if (!load_say_cts(node, dst, name)) {
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
           offer->count == 1 && offer->parcel_bytes == 0;
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
                          .parcel_bytes = offer->parcel_bytes,
                          .head = offer->head,
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
    record_load(node);
    engine_reset(&node->engine, node->load.generation);
    refuse_steps(node);
    message_reset(node);
    gather_reset(node);
    router_reset_clocks(&node->router);
    router_keep_identity(&node->router);
    link_counters_begin(&node->router, node->load.generation);
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
    if (load->from == from && load->name == offer.name &&
        (load->state == LOAD_RECEIVING || load->state == LOAD_PIPING)) {
        if (load->state == LOAD_RECEIVING) {
            answer_cts(node, from, offer.name);
        } else {
            pipeline_answer(node);
        }
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
        load_fail(node, E_NO_ROOM);
        return;
    }
    node->program = PROGRAM_LOADING;
    if (!repair) {
        forget_program(node);
    }
    load_enter(node, LOAD_RECEIVING);
    answer_cts(node, from, offer.name);
}

/* The bytes of the list that come next: as many as are hashed at once. */
static uint32_t list_slice(const struct load *load)
{
    uint32_t left = load->list_bytes - load->listed;

    return left < HASH_SLICE_BYTES ? left : HASH_SLICE_BYTES;
}

/* Takes the first circuit of the download, the only one where there are no parcels. A second one,
 * while the first one's bytes come, would begin the children anew. E_REFUSED: a parent that is
 * early or late tries again. */
void load_open(struct node *node, unsigned port, const uint8_t *packet)
{
    struct load *load = &node->load;

    if (load->state == LOAD_PIPING) {
        pipeline_open(node, port, packet);
        return;
    }
    /* Only then has has_room seen the sizes, so that nothing here can wrap. */
    if (load->state != LOAD_RECEIVING || load->opened || open_match(packet) != load->name ||
        packet_src(packet) != load->from || open_flags(packet) & OPEN_INLINE ||
        open_length(packet) != load->message_bytes || open_tag(packet) != load->list_bytes) {
        router_refuse(&node->router, port, E_REFUSED);
        return;
    }
    struct circuit_sink sink = {.data = load_free_memory(node),
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

    sha256_add(&load->sha, load_free_memory(node) + load->listed, bytes);
    load->listed += bytes;
    if (load->listed < load->list_bytes) {
        return;
    }
    int status = load_take_list(node);
    if (status != E_OK) {
        load_fail(node, status);
    }
    load->left = load->count;
    load->child = CHILD_ASK;
    load->again_us = 0;
    if (load->state == LOAD_RECEIVING && load->parcel_bytes > 0) {
        pipeline_begin(node);
    } else {
        load->come = load_cursor_at(node, node->router.id, load->count);
    }
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
        run = (struct load_run){load_free_memory(node) + load->listed, list_slice(load)};
    } else if (load->state == LOAD_RECEIVING) {
        run = load_next_run(node, &load->come);
    } else if (load->state == LOAD_PIPING) {
        run = pipeline_room(node);
    }
    router_sink(&node->router, port, run.at, run.bytes);
}

/* All has come. A message may be a list and nothing else: nobody has asked for room behind it. */
static void take_received(struct node *node, int status)
{
    struct load *load = &node->load;

    if (load->state == LOAD_RECEIVING && status == E_OK && load->listed < load->list_bytes) {
        take_list_slice(node);
    } else if (load->state == LOAD_RECEIVING && status != E_OK) {
        load_fail(node, status);
    }
    if (load->state == LOAD_RECEIVING) {
        load_enter(node, LOAD_SENDING);
    } else if (load->state == LOAD_PIPING) {
        pipeline_received(node, status);
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
    if (node->load.parcel_bytes > 0) {
        return 1;
    }
    return network_half(&node->router.network, node->load.left);
}

uint32_t load_child(const struct node *node)
{
    return node->router.id + kept(node);
}

/* Offers its next child what it is to get. Repeated until it has an answer. */
static void send_offer(struct node *node)
{
    struct load *load = &node->load;
    struct load_list list = load_list_of(node);
    uint32_t child = load_child(node), count = load->left - kept(node);
    struct offer_body offer = {.name = load->name,
                               .count = count,
                               .list_bytes = load->list_bytes,
                               .message_bytes = load->parcel_bytes
                                                    ? pipeline_first_bytes(node)
                                                    : message_bytes(load, &list, child, count),
                               .from_segment = load->from_segment,
                               .to_segment = load->to_segment,
                               .top = load_program_of(&list, child).top,
                               .generation = load->generation,
                               .parcel_bytes = load->parcel_bytes,
                               .head = load->head,
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
        load_fail(node, status);
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

    return (load->state == LOAD_SENDING || load->state == LOAD_PIPING) &&
           answer->name == load->name && answer->src > node->router.id &&
           answer->src - node->router.id < load->count;
}

/* It counts only from the child that is served now, while it is asked. */
bool load_answer(struct node *node, const struct answer *answer)
{
    struct load *load = &node->load;

    if (!answers_offer(node, answer)) {
        return false;
    }
    bool waits = load->child == CHILD_WAITS && answer->kind == PACKET_CTS;
    if ((load->child != CHILD_ASKED && !waits) || answer->src != load_child(node)) {
        return true;
    }
    if (answer->kind == PACKET_CTS) {
        if (load->state == LOAD_PIPING && answer->match != pipeline_next_name(node)) {
            return true; /* of a parcel that it has */
        }
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
void load_refused(struct node *node, int status)
{
    struct load *load = &node->load;

    if (status != E_REFUSED) {
        load_fail(node, status);
        return;
    }
    load->child = CHILD_ASK;
    load->again_us = node->now_us + ANSWER_RETRY_US;
}

/* Word of the circuits to children. A download that has failed serves no more of them. */
static void take_word(struct node *node, const struct notice *notice)
{
    struct load *load = &node->load;

    switch (notice->kind) {
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
        if (load->state == LOAD_SENDING) { /* else it has failed before */
            load_refused(node, notice->status);
        }
        break;
    default: end_feed(load, notice->token); break;
    }
}

/* Word of the download's circuits: the one from the parent, and those to children. The number tells
 * it from word of an earlier download. */
void load_notice(struct node *node, const struct notice *notice)
{
    const struct load *load = &node->load;

    if ((notice->token >> 8 & 0xff) != load->number) {
        return; /* of an earlier download */
    }
    switch (notice->kind) {
    case NOTICE_FILLED: give_room(node, notice->port); break;
    case NOTICE_RECEIVED: take_received(node, notice->status); break;
    default:
        if (load->parcel_bytes > 0) {
            pipeline_notice(node, notice);
        } else {
            take_word(node, notice);
        }
    }
}

void load_ask_child(struct node *node)
{
    const struct load *load = &node->load;

    if (node->now_us >= load->again_us &&
        (load->child == CHILD_ASK || load->child == CHILD_ASKED)) {
        send_offer(node);
    }
}

/* Moves what has been received on to the next child. */
static void serve_child(struct node *node)
{
    struct load *load = &node->load;

    if (load->left > 1) {
        load_ask_child(node);
    } else if (!load->feeds_used) {
        receipt_begin(node);
    }
    if (load->state == LOAD_SENDING && load->child == CHILD_READY) {
        open_child(node);
    }
}

/* Moves the download on. Hashing and clearing have more to do at once: all else waits for packets
 * or slots. */
bool load_pump(struct node *node)
{
    struct load *load = &node->load;

    if (load->state == LOAD_PIPING) {
        pipeline_pump(node);
    }
    if (load->state == LOAD_SENDING) {
        serve_child(node);
    }
    return receipt_pump(node);
}

/* When an OFFER is due again. One that is due already waits for a slot, which a step brings. */
uint64_t load_deadline(const struct node *node)
{
    const struct load *load = &node->load;

    if (node->load_due && (load->state == LOAD_SENDING || load->state == LOAD_PIPING) &&
        load->left > 1 && (load->child == CHILD_ASK || load->child == CHILD_ASKED) &&
        load->again_us > node->now_us) {
        return load->again_us;
    }
    return UINT64_MAX;
}
