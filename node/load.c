/*
 * load.c - a download: take the data of a range of ranks, keep the own part, scatter the rest.
 *
 * The message to the root of a range holds the private blocks of its nodes in rank order, then the
 * common part. It is received so that the common part lies where it belongs and the blocks end
 * there:
 *
 *     ... | block 0 | block 1 | ... | block count - 1 | common part ...
 *                                                     ^ image_address
 *
 * As long as it has more than its own, the node sends the second half of what it has left
 * (network.h: halving) and the common part to the node where that half begins, straight from where
 * they lie. On a cube that is its neighbour in dimension t-1, ..., 0. Last, it hashes what it holds
 * and sends a receipt.
 *
 *     cube:3, node 0: count 8, keeps {0..3}, gives {4..7} to 4; then {2,3} to 2; then {1} to 1
 *
 * States of a download (enum load_state):
 *
 *     IDLE --OFFER, CTS sent--> RECEIVING --all bytes--> SENDING --left == 1, all sent--> HASHING
 *     IDLE (OFFER impossible), RECEIVING, SENDING --error--> RECEIPT <--all hashed-- HASHING
 *     RECEIPT --sent--> IDLE
 *
 * States of the child that is served now (enum child_state); a child that is served, or that has
 * said CANCEL, is followed by the next one:
 *
 *     ASK --OFFER--> ASKED --CTS--> READY --OPEN--> OPENING --ACCEPT--> next child
 *      ^               |                               |
 *      +---- RETRY ----+---------- REFUSED ------------+
 *
 * What waits for what
 * - An OFFER is put off (RETRY) as long as the last program runs, its end has not been told, its
 *   collective goes on, or a circuit still reads or writes this node's memory.
 * - ASKED waits for the answer of a child that may put the OFFER off; the OFFER is repeated. ASK
 *   waits for a slot or the time of the next try, READY for a circuit source, RECEIPT for a slot.
 * - Children do not wait for each other's bytes: the next is offered its part once the circuit to
 *   the one before stands. Hashing waits for all of them, so that it holds up no child.
 * - A node that fails tells the host by RECEIPT. Those that it has not served yet hear nothing: the
 *   host ends the download for all.
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

static uint32_t blocks_bytes(const struct load *load, uint32_t count)
{
    return load->block_bytes * count;
}

/* Where the common part lies, which begins at image_address on every node. */
static uint8_t *image(const struct node *node)
{
    return node->config.program + (node->config.image_address - node->config.program_address);
}

/* The state of the download changes; load_due goes with it. */
static void enter(struct node *node, enum load_state state)
{
    node->load.state = (uint8_t)state;
    node_due_load(node);
}

/* The download is over for this node, well or not. After a failure the memory holds parts of a
 * program: nothing may start. */
static void receipt_due(struct node *node, int status)
{
    node->load.status = status;
    enter(node, LOAD_RECEIPT);
    if (status != E_OK) {
        node->program = PROGRAM_NONE;
        engine_close(&node->engine, &node->router, E_PEER_GONE);
    }
}

/* Whether code and constants end where they can. Behind the constants nothing may lie that the
 * program writes: no bss, and so no heap. */
static bool ends_fit(const struct offer_body *offer)
{
    uint32_t code_end = offer->code_end, constants_end = offer->constants_end;

    if (code_end == offer->base && constants_end == offer->base) {
        return true;
    }
    return code_end % PROTECTED_PAGE_BYTES == 0 && constants_end % PROTECTED_PAGE_BYTES == 0 &&
           offer->entry < code_end && code_end <= constants_end && constants_end <= offer->bss_end;
}

/* Whether the offered parts fit where they must go. All of it comes from outside: sums are written
 * so that they cannot wrap. The base must be this node's own, for images are linked to one
 * address. */
static bool has_room(const struct node *node, const struct offer_body *offer)
{
    const struct node_config *config = &node->config;
    uint32_t base = offer->base, end = config->program_address + config->program_bytes;

    return base == config->image_address &&
           network_is_block(&node->router.network, node->router.id, offer->count) &&
           offer->common_bytes > 0 && offer->common_bytes <= end - config->image_address &&
           offer->bss_end >= base + offer->common_bytes && offer->bss_end <= end &&
           offer->entry >= base && offer->entry < base + offer->common_bytes && ends_fit(offer) &&
           offer->block_bytes >= BLOCK_HEADER_BYTES && offer->block_bytes <= 1u << 20 &&
           (uint64_t)offer->block_bytes * offer->count <=
               config->image_address - config->blocks_address;
}

/* Answers an offer at once, or not at all: it is repeated until it has been answered. */
static void answer(struct node *node, uint8_t kind, uint32_t dst, uint32_t name)
{
    uint8_t body[RTS_REPLY_BYTES];

    rts_reply_pack(body, &(struct rts_reply_body){name});
    if (router_send(&node->router, kind, dst, body, sizeof body) != E_OK) {
        node->dropped_requests++;
    }
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
        answer(node, PACKET_CANCEL, from, offer.name);
        return;
    }
    gather_drop(node); /* the host has given it up, or is through with it */
    /* How the last program ended is told first: FAULT is made from the memory that it had. The
     * collective that it has begun goes on to its end, in that memory too; and circuits of others
     * that are still to pass need the turns of its links. */
    if (node->program == PROGRAM_RUNNING || node->due & (REPORT_DUE_FAULT | REPORT_DUE_EXIT) ||
        load->state != LOAD_IDLE || !engine_is_quiet(&node->engine) ||
        !router_quiet(&node->router) || !router_schedule_carried(&node->router)) {
        answer(node, PACKET_RETRY, from, offer.name);
        return;
    }
    /* A START that came in this same step is void: the program that it is for is overwritten from
     * here. */
    node->start_due = false;
    *load = (struct load){.from = from,
                          .name = offer.name,
                          .number = (uint8_t)(load->number + 1),
                          .entry = offer.entry,
                          .common_bytes = offer.common_bytes,
                          .block_bytes = offer.block_bytes,
                          .count = offer.count,
                          .generation = offer.generation,
                          .bss_end = offer.bss_end,
                          .code_end = offer.code_end,
                          .constants_end = offer.constants_end};
    /* The parent goes on with its other children; the host hears from this node why it has no
     * program. */
    if (!has_room(node, &offer)) {
        answer(node, PACKET_CANCEL, from, offer.name);
        receipt_due(node, E_NO_ROOM);
        return;
    }
    /* From here on the last program's memory may be overwritten. engine_reset comes before
     * message_reset, which keeps the request of a collective under way: one would be lost with
     * every download. */
    node->program = PROGRAM_LOADING;
    node->memory_new = true;
    engine_reset(&node->engine, offer.generation);
    refuse_steps(node);
    message_reset(node);
    gather_reset(node);
    router_reset_clocks(&node->router);
    node->clock_ns = 0;
    node->console_sent = node->console_taken = 0;
    enter(node, LOAD_RECEIVING);
    answer_cts(node, from, offer.name);
}

/* Takes the one circuit of the download. A second one, while the first one's bytes come, would
 * begin the children anew. E_REFUSED: a parent that is early or late tries again. */
void load_open(struct node *node, unsigned port, const uint8_t *packet)
{
    struct load *load = &node->load;
    /* Only then has has_room seen the sizes, so that nothing here can wrap. */
    bool receiving = load->state == LOAD_RECEIVING && !load->opened;
    uint32_t blocks = receiving ? blocks_bytes(load, load->count) : 0;

    if (!receiving || open_match(packet) != load->name || packet_src(packet) != load->from ||
        open_flags(packet) & OPEN_INLINE || open_length(packet) != blocks + load->common_bytes) {
        router_refuse(&node->router, port, E_REFUSED);
        return;
    }
    struct circuit_sink sink = {.data = image(node) - blocks,
                                .room = blocks + load->common_bytes,
                                .token = token_make(TOKEN_IMAGE, load->number, 0)};
    /* The blocks end where the image begins, so both parts arrive as one piece. */
    load->opened = true;
    load->clock_ns = router_accept(&node->router, port, &sink);
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
    struct offer_body offer = {.name = load->name,
                               .entry = load->entry,
                               .base = node->config.image_address,
                               .common_bytes = load->common_bytes,
                               .block_bytes = load->block_bytes,
                               .count = load->left - kept(node),
                               .generation = load->generation,
                               .bss_end = load->bss_end,
                               .code_end = load->code_end,
                               .constants_end = load->constants_end};
    uint8_t body[OFFER_BYTES];

    /* Offers that a mute link keeps must leave slots: without one nobody would tell the host when
     * the link dies. */
    load->again_us = node->now_us + ASK_AGAIN_US;
    if (router_slots_free(&node->router) < REPLY_SLOTS) {
        return;
    }
    offer_pack(body, &offer);
    if (router_send(&node->router, PACKET_OFFER, load_child(node), body, sizeof body) != E_OK) {
        return;
    }
    load->child = CHILD_ASKED;
}

/* Sends a child its blocks and the common part, from where they lie: they stay there until all have
 * been sent. E_FULL: another circuit of this node is being set up, and the next step tries
 * again. */
static void open_child(struct node *node)
{
    struct load *load = &node->load;
    uint32_t half = kept(node);
    struct circuit_source source = {
        .dst = load_child(node),
        .match = load->child_match,
        .flags = OPEN_IMAGE,
        .issue_ns = load->clock_ns,
        .data = {image(node) - blocks_bytes(load, load->count - half), image(node)},
        .bytes = {blocks_bytes(load, load->left - half), load->common_bytes},
        .token = token_make(TOKEN_IMAGE, load->number, 1)};
    int status = router_open(&node->router, &source);

    if (status == E_OK) {
        load->child = CHILD_OPENING;
        load->sends_pending++;
    } else if (status != E_FULL) {
        receipt_due(node, status);
    }
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

/* Word of the download's circuits: the one from the parent, and those to children. The number tells
 * it from word of an earlier download, which would count sends_pending below zero. */
void load_notice(struct node *node, const struct notice *notice)
{
    struct load *load = &node->load;

    if ((notice->token >> 8 & 0xff) != load->number) {
        return; /* of an earlier download */
    }
    switch (notice->kind) {
    case NOTICE_RECEIVED:
        if (notice->status != E_OK) {
            receipt_due(node, notice->status);
            break;
        }
        enter(node, LOAD_SENDING);
        load->left = load->count;
        load->child = CHILD_ASK;
        load->again_us = 0;
        break;
    /* The child's circuit stands: its part is given away, and the next child is served while the
     * bytes still flow. */
    case NOTICE_ACCEPTED:
        load->clock_ns = notice->done_ns;
        load->left = kept(node);
        load->child = CHILD_ASK;
        load->again_us = 0;
        break;
    case NOTICE_REFUSED:
        load->sends_pending--;
        /* A busy hop, or a child that is not ready for it: offered again. Else there is no way to
         * it. */
        if (notice->status != E_REFUSED) {
            receipt_due(node, notice->status);
            break;
        }
        load->child = CHILD_ASK;
        load->again_us = node->now_us + ANSWER_RETRY_US;
        break;
    default: load->sends_pending--; break;
    }
}

/* Hashes a slice: own block, then the common part, as one string. It reads the program's memory
 * after everything has been passed on, not the bytes as they arrive, so the receipt covers exactly
 * the bytes that will run. In slices, because a step is bounded. */
static void hash_slice(struct node *node)
{
    struct load *load = &node->load;
    uint32_t total = load->block_bytes + load->common_bytes;
    bool in_block = load->hashed < load->block_bytes;
    const uint8_t *from = in_block ? image(node) - blocks_bytes(load, load->count) + load->hashed
                                   : image(node) + (load->hashed - load->block_bytes);
    uint32_t left = (in_block ? load->block_bytes : total) - load->hashed;
    uint32_t bytes = left < HASH_SLICE_BYTES ? left : HASH_SLICE_BYTES;

    sha256_add(&load->sha, from, bytes);
    load->hashed += bytes;
    if (load->hashed == total) {
        sha256_end(&load->sha, load->digest);
        node->program = PROGRAM_LOADED;
        receipt_due(node, E_OK);
    }
}

/* Without a slot the state stays, and each step tries again. */
static void send_receipt(struct node *node)
{
    struct load *load = &node->load;
    struct receipt_body receipt = {.status = load->status,
                                   .held_bytes = load->block_bytes + load->common_bytes,
                                   .model_ns = load->clock_ns};
    uint8_t body[RECEIPT_BYTES];

    memcpy(receipt.digest, load->digest, DIGEST_BYTES);
    receipt_pack(body, &receipt);
    if (router_send(&node->router, PACKET_RECEIPT, ID_HOST, body, sizeof body) == E_OK) {
        enter(node, LOAD_IDLE);
    }
}

/* Moves the download on. Only hashing has more to do at once: all else waits for packets or
 * slots. */
bool load_pump(struct node *node)
{
    struct load *load = &node->load;

    if (load->state == LOAD_SENDING) {
        if (load->left == 1) {
            if (load->sends_pending) {
                return false;
            }
            sha256_begin(&load->sha);
            load->hashed = 0;
            enter(node, LOAD_HASHING);
        } else if (node->now_us >= load->again_us &&
                   (load->child == CHILD_ASK || load->child == CHILD_ASKED)) {
            send_offer(node);
        } else if (load->child == CHILD_READY) {
            open_child(node);
        }
    }
    if (load->state == LOAD_HASHING) {
        hash_slice(node);
    }
    if (load->state == LOAD_RECEIPT) {
        send_receipt(node);
    }
    return load->state == LOAD_HASHING;
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
