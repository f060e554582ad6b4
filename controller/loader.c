/*
 * loader.c - the download: offers, circuits, receipts, repairs.
 *
 * The life of one message, at its root (enum offer_state):
 *
 *   NONE     it stands more than OFFERS_MAX behind the message whose circuit is next
 *   SENT     OFFER has gone.  No answer for 300 ms, or RETRY and 20 ms: offered again, for a node
 *            without a free slot forgets an offer, and one whose last program is not over says so
 *            CANCEL: it runs a program, and the download has failed
 *   READY    CTS has come: it waits there for its circuit, whose turn may be later
 *   OPENED   the circuit is being set up, issued at the model time at which the one before to the
 *            same range was complete: the host of the paper sends one message at a time, and one
 *            with a link for each of several ranges so over each of them
 *            Refused by a hop that is busy: SENT again
 *   MORE     its first parcel has been accepted; CTS for the next comes when the root has a place
 *            for it: READY again
 *   DONE     it has been accepted; its bytes flow, and its root gives them on by halving
 *
 * A message is the list of the load, then the pieces of its segments, which lie where the owner has
 * them; the list is not charged in model time, as OPEN's tag says.
 *
 * Every node then says what it holds (RECEIPT): its length, and the digest of each segment. When
 * all have, those that hold wrong bytes get the wrong segments again, each by a message of its own
 * that lives as above (up to three times). When all are right, the machine is loaded.
 *
 * Units    us of wall time; model time in ns
 * Source   Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *          nodes, section III
 */
#include <string.h>

#include "controller/internal.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "router/router.h"
#include "wire/load.h"
#include "wire/message.h"
#include "wire/run.h"

enum {
    OFFERS_MAX = 32,          /* messages ahead of the next that are offered */
    SLICE_BYTES = 256 * 1024, /* of a message at a time, so that it is known how far it is */
    SILENCE_REPORT_US = 10 * 1000 * 1000 /* somebody may have a node in a debugger, and wonder */
};

/* Messages: those of the plan, then a repair at a time. */

/* What one of them has. */
struct sending {
    uint32_t root, count;
    uint32_t from, to; /* segments */
    uint32_t parcel_bytes;
};

/* The model time of the host's port that serves a node. */
static uint64_t *clock_to(struct controller *controller, uint32_t root)
{
    return &controller->clocks_ns[network_range_of(controller->config.network, root)];
}

static unsigned messages_of(const struct controller *controller)
{
    return controller->load.count + controller->repairs;
}

/* Of the repairs only the last is looked at: one is offered when the one before is accepted. */
static struct sending sending_of(const struct controller *controller, unsigned index)
{
    if (index < controller->load.count) {
        const struct download_message *message = &controller->load.messages[index];
        return (struct sending){message->root, message->count, 0, controller->list.segments,
                                message->parcel_bytes};
    }
    const struct node_load *load = &controller->nodes[controller->repairing].load;
    return (struct sending){controller->repairing, 1, load->sent_from, load->sent_to, 0};
}

static struct load_cut cut_of(const struct sending *sending)
{
    return (struct load_cut){.head = sending->root,
                             .count = sending->count,
                             .bytes = sending->parcel_bytes,
                             .from = sending->from,
                             .to = sending->to};
}

/* Of a circuit: the whole message, or the parcel before which a walk stands. */
static uint64_t data_bytes(const struct controller *controller, const struct sending *sending,
                           struct load_walk walk)
{
    struct load_cut cut = cut_of(sending);

    if (cut.bytes > 0) {
        return load_parcel_pass(&controller->list, &cut, &walk, sending->root);
    }
    return load_data_bytes(&controller->list, sending->from, sending->to, sending->root,
                           sending->count);
}

/* What a root has said stands in its entry. A node is the root of one message at a time. */
static struct controller_node *root_of(struct controller *controller, unsigned index)
{
    return &controller->nodes[sending_of(controller, index).root];
}

/* Nothing is left of the receipts and offers of the program before, and silence is counted from now
 * on. */
static void begin_nodes(struct controller *controller)
{
    const uint16_t old = NODE_RECEIPTED | NODE_REPAIRS;

    for (uint32_t rank = 0; rank < controller->config.network->nodes; rank++) {
        struct controller_node *node = &controller->nodes[rank];

        node->flags &= (uint16_t)~old;
        node->offer = OFFER_NONE;
        node->load = (struct node_load){.sent_to = (uint16_t)controller->list.segments};
    }
    silence_await_all(controller);
}

/* A program that is loaded and was not run may be replaced. */
static enum controller_refusal refusal(const struct controller *controller)
{
    if (controller->broken) {
        return CONTROLLER_BROKEN;
    }
    switch (controller->phase) {
    case PHASE_BOOT: return CONTROLLER_BOOTS;
    case PHASE_DOWNLOAD:
    case PHASE_RUN:
    case PHASE_GATHER: return CONTROLLER_BUSY;
    default: return controller->fetch.active ? CONTROLLER_BUSY : CONTROLLER_OK;
    }
}

/* The next message has not been begun. */
static void begin_message(struct controller *controller)
{
    if (controller->message_next < messages_of(controller)) {
        struct sending sending = sending_of(controller, controller->message_next);
        struct load_cut cut = cut_of(&sending);
        controller->parcel = load_walk_at(&cut);
        controller->parcels = 0;
    }
}

enum controller_refusal controller_load(struct controller *controller,
                                        const struct controller_load *load, uint64_t now_us)
{
    enum controller_refusal refused = refusal(controller);

    if (refused != CONTROLLER_OK) {
        return refused;
    }
    controller->now_us = now_us;
    /* Names go on from the last download's: an answer that comes late is for nothing that is
     * offered now. The generation tells the nodes' own packets of this program from the last
     * one's. */
    controller->name += messages_of(controller);
    controller->load = *load;
    CHECK(load_list_open(&controller->list, load->list, load->list_bytes));
    controller->generation++;
    controller->message_next = controller->offered = controller->repairs = 0;
    controller->offers_us = UINT64_MAX;
    /* The machine's time goes on: this program comes behind whatever any node has done. */
    controller->clock_base_ns = controller->reported_ns;
    for (unsigned i = 0; i < NETWORK_HOST_LINKS_MAX; i++) {
        controller->clocks_ns[i] = controller->reported_ns;
    }
    controller->clock_end_ns = controller->repair_end_ns = controller->reported_ns;
    controller->given_bytes = 0;
    begin_message(controller);
    controller->answers = controller->receipts = controller->repaired = 0;
    controller->repair_first = controller->repair_last = CONTROLLER_NO_NODE;
    controller->silence_reported = false;
    controller->phase = PHASE_DOWNLOAD;
    begin_nodes(controller);
    return CONTROLLER_OK;
}

static void fail(struct controller *controller, enum load_failure reason, uint32_t rank, int status)
{
    struct controller_event *event = controller_tell(controller, EVENT_LOAD_FAILED);

    event->rank = rank;
    event->reason = (uint8_t)reason;
    event->status = status;
    event->done = controller->receipts;
    failure_break(controller);
}

/* A broken machine takes nothing more; what is under way ends as it can. */
static bool loads(const struct controller *controller)
{
    return controller->phase == PHASE_DOWNLOAD && !controller->broken;
}

/* Offers a message to its root; false: the router has no room. */
static bool send_offer(struct controller *controller, unsigned index)
{
    const struct controller_load *load = &controller->load;
    struct controller_node *node = root_of(controller, index);
    struct sending sending = sending_of(controller, index);
    struct load_cut cut = cut_of(&sending);
    uint64_t first = data_bytes(controller, &sending, load_walk_at(&cut));
    struct offer_body offer = {.name = controller->name + index,
                               .count = sending.count,
                               .list_bytes = load->list_bytes,
                               .message_bytes = load->list_bytes + (uint32_t)first,
                               .from_segment = (uint16_t)sending.from,
                               .to_segment = (uint16_t)sending.to,
                               .top = load_program_of(&controller->list, sending.root).top,
                               .generation = controller->generation,
                               .parcel_bytes = sending.parcel_bytes,
                               .head = sending.root,
                               .digest = load->list_digest};
    uint8_t body[OFFER_BYTES];

    offer_pack(body, &offer);
    bool sent =
        router_send(&controller->router, PACKET_OFFER, sending.root, body, sizeof body) == E_OK;
    /* When the router has no room an acknowledgement is on its way, and will bring it; the time is
     * for the case that it does not. */
    node->offer_us = controller->now_us + (sent ? REPEAT_US : RETRY_US);
    if (controller->offers_us > node->offer_us) {
        controller->offers_us = node->offer_us;
    }
    return sent;
}

/* Offers again what has had no answer for its time. */
static void repeat_offers(struct controller *controller)
{
    if (controller->now_us < controller->offers_us) {
        return;
    }
    /* At most OFFERS_MAX are looked at, each has its own time, and the earliest is the deadline. */
    controller->offers_us = UINT64_MAX;
    for (unsigned i = controller->message_next; i < controller->offered; i++) {
        const struct controller_node *node = root_of(controller, i);

        if (node->offer != OFFER_SENT) {
            continue;
        }
        if (controller->now_us >= node->offer_us) {
            send_offer(controller, i);
        } else if (node->offer_us < controller->offers_us) {
            controller->offers_us = node->offer_us;
        }
    }
}

/* Roots get their offers ahead of their turn, so that a circuit need not wait for the answer. */
static void offer_more(struct controller *controller)
{
    while (controller->offered < messages_of(controller) &&
           controller->offered < controller->message_next + OFFERS_MAX &&
           send_offer(controller, controller->offered)) {
        root_of(controller, controller->offered)->offer = OFFER_SENT;
        controller->offered++;
    }
}

/* Bytes of a message: its circuit is given slice after slice, each when it asks for it. */

/* The place of a message's feed; NULL: it has none. */
static struct controller_feed *feed_of(struct controller *controller, uint32_t name)
{
    for (unsigned i = 0; i < SOURCES_MAX; i++) {
        if (controller->feeds[i].open && controller->feeds[i].name == name) {
            return &controller->feeds[i];
        }
    }
    return NULL;
}

static struct controller_feed *feed_free(struct controller *controller)
{
    unsigned i = 0;

    while (i < SOURCES_MAX && controller->feeds[i].open) {
        i++;
    }
    return i < SOURCES_MAX ? &controller->feeds[i] : NULL;
}

/* Of a parcel what it has of one string. */
static uint32_t next_of_parcel(struct controller *controller, struct controller_feed *feed,
                               const uint8_t **data)
{
    struct load_slice slice;

    if (feed->walk.parcel != feed->parcel ||
        !load_walk_next(&controller->list, &feed->cut, &feed->walk, &slice)) {
        return 0;
    }
    *data = controller->load.strings[slice.segment] + slice.from;
    feed->given += slice.bytes;
    controller->given_bytes += slice.bytes;
    return slice.bytes;
}

/* The next slice: no more than SLICE_BYTES of one piece; 0 bytes: nothing is left. */
static uint32_t next_slice(struct controller *controller, struct controller_feed *feed,
                           const uint8_t **data)
{
    if (feed->cut.bytes > 0) {
        return next_of_parcel(controller, feed, data);
    }
    while (feed->segment < feed->to) {
        struct load_piece piece =
            load_piece(&controller->list, feed->segment, feed->root, feed->count);
        uint64_t left = piece.bytes - feed->at;

        if (left > 0) {
            uint32_t bytes = left < SLICE_BYTES ? (uint32_t)left : SLICE_BYTES;
            *data = controller->load.strings[feed->segment] + piece.from + feed->at;
            feed->at += bytes;
            feed->given += bytes;
            controller->given_bytes += bytes;
            return bytes;
        }
        feed->segment++;
        feed->at = 0;
    }
    return 0;
}

/* It is given to no circuit any more; `again`: what it was given counts no more. */
static void end_feed(struct controller *controller, uint32_t name, bool again)
{
    struct controller_feed *feed = feed_of(controller, name);

    if (feed) {
        controller->given_bytes -= again ? feed->given : 0;
        feed->open = false;
    }
}

static void feed_more(struct controller *controller, uint32_t name)
{
    struct controller_feed *feed = feed_of(controller, name);
    const uint8_t *data;

    if (feed) {
        uint32_t bytes = next_slice(controller, feed, &data);
        CHECK(bytes > 0); /* it is asked for what was announced */
        if (router_feed(&controller->router, name, data, bytes) != E_OK) {
            feed->open = false; /* it has ended, as another notice says */
        }
    }
}

/* The list, which only the first circuit of a message has, and the first slice, which need not be
 * asked for. */
static struct circuit_source source_of(struct controller *controller, struct controller_feed *feed,
                                       const struct sending *sending)
{
    const struct controller_load *load = &controller->load;
    const uint8_t *data = NULL;
    uint64_t all = data_bytes(controller, sending, controller->parcel);
    uint32_t slice = next_slice(controller, feed, &data);
    uint32_t list_bytes = controller->parcels == 0 ? load->list_bytes : 0;

    return (struct circuit_source){.dst = sending->root,
                                   .match = controller->nodes[sending->root].match,
                                   .tag = list_bytes,
                                   .flags = OPEN_IMAGE,
                                   .issue_ns = *clock_to(controller, sending->root),
                                   .data = {load->list, data},
                                   .bytes = {list_bytes, slice},
                                   .more = (uint32_t)(all - slice),
                                   .token = feed->name};
}

/* Opens the circuit to the next root, when it is ready and the one before has been accepted. */
static void open_next(struct controller *controller)
{
    unsigned index = controller->message_next;
    struct controller_feed *feed = feed_free(controller);

    /* of the parcel before all bytes have been sent */
    if (index >= messages_of(controller) || root_of(controller, index)->offer != OFFER_READY ||
        !feed || feed_of(controller, controller->name + index)) {
        return;
    }
    struct sending sending = sending_of(controller, index);
    *feed = (struct controller_feed){.open = true,
                                     .name = controller->name + index,
                                     .root = sending.root,
                                     .count = sending.count,
                                     .segment = sending.from,
                                     .to = sending.to,
                                     .cut = cut_of(&sending),
                                     .walk = controller->parcel,
                                     .parcel = controller->parcel.parcel};
    struct circuit_source source = source_of(controller, feed, &sending);
    /* Full is what it says while the circuit before has no answer; accepting that one brings it
     * here again. */
    int status = router_open(&controller->router, &source);
    if (status == E_OK) {
        root_of(controller, index)->offer = OFFER_OPENED;
        return;
    }
    end_feed(controller, feed->name, true);
    if (status != E_FULL) {
        fail(controller, LOAD_ERROR, sending.root, status);
    }
}

/* Repairs. */

/* The segment that has the string of this one. */
static uint16_t base_of(const struct load_list *list, uint16_t segment)
{
    while (load_segment_at(list, segment).flags & LOAD_SAME) {
        segment--;
    }
    return segment;
}

/* When all have answered, those that were wrong get their wrong segments again, one after another:
 * so the first sending takes the time that it does without them. */
static void begin_repair(struct controller *controller)
{
    uint32_t rank = controller->repair_first;

    if (rank == CONTROLLER_NO_NODE || controller->answers < controller->config.network->nodes ||
        controller->message_next < messages_of(controller)) {
        return;
    }
    struct controller_node *node = &controller->nodes[rank];
    struct node_load *load = &node->load;
    *clock_to(controller, rank) = clock_max(*clock_to(controller, rank), controller->clock_end_ns);
    controller->repair_first = load->repair_next;
    controller->repairing = rank;
    controller->repairs++;
    node->offer = OFFER_NONE;
    begin_message(controller);
    node->flags = (uint16_t)(node->flags + NODE_REPAIR);
    *load = (struct node_load){.sent_from = base_of(&controller->list, load->wrong_from),
                               .sent_to = load->wrong_to};
    load->segment = load->sent_from;
    silence_await(controller, rank);
}

/* It holds wrong bytes: it is sent them again when it is its turn, or is given up. */
static void repair_later(struct controller *controller, uint32_t rank)
{
    struct controller_node *node = &controller->nodes[rank];

    if ((node->flags & NODE_REPAIRS) == NODE_REPAIRS) {
        fail(controller, LOAD_WRONG, rank, E_OK);
        return;
    }
    node->load.repair_next = CONTROLLER_NO_NODE;
    if (controller->repair_first == CONTROLLER_NO_NODE) {
        controller->repair_first = rank;
    } else {
        controller->nodes[controller->repair_last].load.repair_next = rank;
    }
    controller->repair_last = rank;
}

void loader_pump(struct controller *controller)
{
    if (loads(controller)) {
        begin_repair(controller);
        repeat_offers(controller);
        offer_more(controller);
        open_next(controller);
    }
}

/* The root that answers for a message that it has been offered; NULL: nobody was offered that. */
/* Names are counted from the first message's on; a node answers for its own only. */
static struct controller_node *offered(struct controller *controller, uint32_t rank, uint32_t name)
{
    uint32_t index = name - controller->name;
    bool repair = index >= controller->load.count;

    if (!loads(controller) || index >= controller->offered ||
        (repair && index != controller->message_next) ||
        sending_of(controller, index).root != rank) {
        return NULL;
    }
    return &controller->nodes[rank];
}

/* Each parcel of the message that is next has a CTS of its own (wire/run.h). */
static bool is_for_next(const struct controller *controller, const struct cts_body *cts)
{
    unsigned index = cts->name - controller->name;
    uint32_t parcels = index == controller->message_next ? controller->parcels : 0;

    return sending_of(controller, index).parcel_bytes == 0 || cts->match == cts->name + parcels;
}

void loader_cts(struct controller *controller, uint32_t rank, const struct cts_body *cts)
{
    struct controller_node *node = offered(controller, rank, cts->name);

    if (node && (node->offer == OFFER_SENT || node->offer == OFFER_MORE) &&
        is_for_next(controller, cts)) {
        node->match = cts->match;
        node->offer = OFFER_READY;
    }
}

/* The same offer once more, after a moment. */
static void offer_soon(struct controller *controller, struct controller_node *node)
{
    node->offer = OFFER_SENT;
    node->offer_us = controller->now_us + RETRY_US;
    if (controller->offers_us > node->offer_us) {
        controller->offers_us = node->offer_us;
    }
}

void loader_reply(struct controller *controller, uint32_t rank, uint8_t kind,
                  const struct rts_reply_body *reply)
{
    struct controller_node *node = offered(controller, rank, reply->name);

    if (!node || node->offer != OFFER_SENT) {
        return;
    }
    if (kind == PACKET_RETRY) {
        /* It will have room soon: a slot, or the end of the program before. */
        offer_soon(controller, node);
    } else if (kind == PACKET_CANCEL) {
        /* Its program was never told to stop, or it has started one that we do not know of. */
        fail(controller, LOAD_REFUSED, rank, E_OK);
    }
}

/* A circuit of the message that is next has been accepted: the message is done, unless it has more
 * parcels. */
static void end_circuit(struct controller *controller)
{
    struct controller_node *root = root_of(controller, controller->message_next);
    struct sending sending = sending_of(controller, controller->message_next);
    struct load_cut cut = cut_of(&sending);

    if (cut.bytes > 0) {
        load_parcel_pass(&controller->list, &cut, &controller->parcel, sending.root);
        if (load_parcel_find(&controller->list, &cut, &controller->parcel, sending.root) > 0) {
            controller->parcels++;
            root->offer = OFFER_MORE;
            return;
        }
    }
    root->offer = OFFER_DONE;
    controller->message_next++;
    begin_message(controller);
}

/* The answer to the circuit of the message that is next: answers come in the order of the
 * set-ups. */
static void take_answer(struct controller *controller, const struct notice *notice)
{
    unsigned index = controller->message_next;

    if (notice->kind == NOTICE_ACCEPTED) {
        *clock_to(controller, sending_of(controller, index).root) = notice->done_ns;
        end_circuit(controller);
    } else if (!loads(controller)) {
        return; /* nothing is offered any more, nor is a time set for it */
    } else if (notice->status == E_REFUSED || notice->status == E_BUSY) {
        /* A link of its way was held, on a ring by what a stopped program still had under way
         * (router/README.md, rule 2). The root answers CTS again, and it is the next one's turn. */
        offer_soon(controller, root_of(controller, index));
    } else {
        fail(controller, LOAD_REFUSED, sending_of(controller, index).root, notice->status);
    }
}

void loader_notice(struct controller *controller, const struct notice *notice)
{
    bool answer = notice->kind == NOTICE_ACCEPTED || notice->kind == NOTICE_REFUSED;
    unsigned index = notice->token - controller->name;

    if (notice->kind == NOTICE_FEED) {
        feed_more(controller, notice->token);
    } else if (notice->kind == NOTICE_SENT || notice->kind == NOTICE_REFUSED) {
        end_feed(controller, notice->token, notice->kind == NOTICE_REFUSED);
    }
    if (answer && controller->phase == PHASE_DOWNLOAD && index == controller->message_next &&
        index < messages_of(controller)) {
        take_answer(controller, notice);
    }
}

/* Receipts. */

/* The node's own segment at `segment` or behind it, of those that it was sent; sent_to: none. */
static uint16_t own_from(const struct controller *controller, uint32_t rank, uint16_t segment)
{
    uint16_t to = controller->nodes[rank].load.sent_to;

    while (segment < to) {
        struct load_segment one = load_segment_at(&controller->list, segment);
        if (rank - one.first < one.count) {
            break;
        }
        segment++;
    }
    return segment;
}

static const uint8_t *right_digest(const struct controller *controller, uint32_t rank,
                                   uint16_t segment)
{
    struct load_segment one = load_segment_at(&controller->list, segment);

    return controller->load
        .digests[base_of(&controller->list, segment)][one.step > 0 ? rank - one.first : 0];
}

/* All between the first and the last wrong segment is sent again. */
static void note_wrong(struct node_load *load, uint16_t segment)
{
    if (load->wrong_from == load->wrong_to) {
        load->wrong_from = segment;
    }
    load->wrong_to = (uint16_t)(segment + 1);
}

static void all_wrong(struct node_load *load)
{
    load->wrong_from = load->sent_from;
    load->wrong_to = load->sent_to;
}

/* Compares the digests of a packet; those that are to come next are noted. */
static void compare(struct controller *controller, uint32_t rank,
                    const struct receipt_body *receipt)
{
    struct node_load *load = &controller->nodes[rank].load;

    if (receipt->first != load->told) {
        all_wrong(load); /* a digest is missing */
    }
    for (unsigned i = 0; i < receipt->count; i++) {
        uint16_t segment = own_from(controller, rank, load->segment);
        if (segment >= load->sent_to) {
            all_wrong(load); /* it holds more than it was sent */
            break;
        }
        if (memcmp(right_digest(controller, rank, segment),
                   receipt->digests + (size_t)i * DIGEST_BYTES, DIGEST_BYTES) != 0) {
            note_wrong(load, segment);
        }
        load->segment = (uint16_t)(segment + 1);
    }
    load->told = (uint16_t)(load->told + receipt->count);
}

/* The length too: a digest of fewer bytes than were sent would be another's. */
static bool holds_right_bytes(const struct controller *controller, uint32_t rank,
                              const struct receipt_body *receipt)
{
    const struct node_load *load = &controller->nodes[rank].load;
    uint64_t bytes = 0;

    for (uint16_t i = own_from(controller, rank, load->sent_from); i < load->sent_to;
         i = own_from(controller, rank, (uint16_t)(i + 1))) {
        bytes += load_segment_at(&controller->list, i).bytes;
    }
    return receipt->held_bytes == bytes &&
           own_from(controller, rank, load->segment) >= load->sent_to;
}

/* The last receipt: what is loaded waits for controller_run. */
static void end_load(struct controller *controller)
{
    struct controller_event *event = controller_tell(controller, EVENT_LOADED);

    event->done = controller->receipts;
    event->base_ns = controller->clock_base_ns;
    event->model_ns = controller->clock_end_ns;
    event->repaired = controller->repaired;
    if (controller->repaired > 0) {
        event->repair_ns = controller->repair_end_ns - controller->clock_end_ns;
    }
    controller->offers_us = UINT64_MAX;
    controller->phase = PHASE_LOADED;
}

/* Its time counts, for no program starts before the last has its data. */
static void note_time(struct controller *controller, uint32_t rank, uint64_t model_ns)
{
    bool repair = controller_has(controller, rank, NODE_REPAIRS);
    uint64_t *end_ns = repair ? &controller->repair_end_ns : &controller->clock_end_ns;

    *end_ns = clock_max(*end_ns, model_ns);
    controller->reported_ns = clock_max(controller->reported_ns, model_ns);
}

static void take_right(struct controller *controller, uint32_t rank)
{
    struct controller_event *event;

    controller->nodes[rank].flags |= NODE_RECEIPTED;
    controller->receipts++;
    controller->repaired += controller_has(controller, rank, NODE_REPAIRS);
    event = controller_tell(controller, EVENT_RECEIPT);
    event->rank = rank;
    event->done = controller->receipts;
    if (controller->receipts == controller->config.network->nodes) {
        end_load(controller);
    }
}

/* Whoever is not in the list of the silent has answered all that it was sent. */
void loader_receipt(struct controller *controller, uint32_t rank,
                    const struct receipt_body *receipt)
{
    struct node_load *load = &controller->nodes[rank].load;

    if (!loads(controller) || !controller_has(controller, rank, NODE_SILENT)) {
        return;
    }
    if (receipt->status != E_OK) {
        fail(controller, LOAD_ERROR, rank, receipt->status);
        return;
    }
    compare(controller, rank, receipt);
    if (!receipt->last) {
        return;
    }
    if (load->wrong_from == load->wrong_to && !holds_right_bytes(controller, rank, receipt)) {
        all_wrong(load);
    }
    silence_forget(controller, rank);
    note_time(controller, rank, receipt->model_ns);
    controller->answers += !controller_has(controller, rank, NODE_REPAIRS);
    if (load->wrong_from == load->wrong_to) {
        take_right(controller, rank);
    } else {
        repair_later(controller, rank);
    }
}

void loader_pass(struct controller *controller)
{
    uint32_t rank;
    bool over = silence_too_long(controller, &rank);

    /* The first of the list stands for all: told once, however many are silent. */
    if (rank != CONTROLLER_NO_NODE && !controller->silence_reported &&
        silence_us(controller, rank) >= SILENCE_REPORT_US) {
        controller->silence_reported = true;
        controller_tell(controller, EVENT_LOAD_WAITS)->rank = rank;
    }
    if (over) {
        fail(controller, LOAD_SILENT, rank, E_TIMEOUT);
    }
}
