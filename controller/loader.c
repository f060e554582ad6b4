/*
 * loader.c - the download: offers, circuits, receipts, and who is silent.
 *
 * The life of one message, at its root (enum offer_state):
 *
 *   NONE     it stands more than OFFERS_MAX behind the message whose circuit is next
 *   SENT     OFFER has gone.  No answer for 300 ms, or RETRY and 20 ms: offered again, for a node
 *            without a free slot forgets an offer, and one whose last program is not over says so
 *            CANCEL: it runs a program, and the download has failed
 *   READY    CTS has come: it waits there for its circuit, whose turn may be later
 *   OPENED   the circuit is being set up, issued at the model time at which the one before was
 *            complete: the host of the paper sends one message at a time
 *            Refused by a hop that is busy: SENT again
 *   DONE     it has been accepted; its bytes flow, and its root gives them on by halving
 *
 * Every node then says what it holds (RECEIPT): its length and its digest. When all have, the
 * machine is loaded.
 *
 * Who is silent: the nodes without a receipt stand in a list, in the order in which they were last
 * heard, so that looking for the one that has been silent for longest takes no time. Whoever is
 * heard goes to its end. A node may wait for others for long without a word; so it is asked what it
 * does, and one that lives answers. The link to one that stands still dies first, where something
 * is owed to it; what remains is a node whose links work and whose kernel does not.
 *
 * Units    us of wall time for offers, of passed time for silence; model time in ns
 * Source   Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *          nodes, section III
 */
#include <string.h>

#include "controller/internal.h"
#include "drivers/status.h"
#include "router/router.h"
#include "wire/message.h"
#include "wire/run.h"

enum {
    OFFERS_MAX = 32,          /* messages ahead of the next that are offered */
    REPEAT_US = 300 * 1000,   /* an offer without an answer */
    RETRY_US = 20 * 1000,     /* one that a node had no room for, or the router */
    ASK_US = 2 * 1000 * 1000, /* of silence, or a quarter of the patience if that is less */
    SILENCE_REPORT_US = 10 * 1000 * 1000 /* somebody may have a node in a debugger, and wonder */
};

/* What a root has said stands in its entry. A node is the root of one message at most. */
static struct controller_node *root_of(struct controller *controller, unsigned index)
{
    return &controller->nodes[controller->program.messages[index].root];
}

/* The list of those that are to answer. */

/* Takes a node out. `unasked` divides the list: those before it have been asked since they were
 * last heard, and stay silent. */
static void leave(struct controller *controller, uint32_t rank)
{
    struct controller_node *node = &controller->nodes[rank];

    if (controller->unasked == rank) {
        controller->unasked = node->newer;
    }
    if (node->older == CONTROLLER_NO_NODE) {
        controller->oldest = node->newer;
    } else {
        controller->nodes[node->older].newer = node->newer;
    }
    if (node->newer == CONTROLLER_NO_NODE) {
        controller->newest = node->older;
    } else {
        controller->nodes[node->newer].older = node->older;
    }
    node->flags &= (uint16_t)~NODE_SILENT;
}

/* Puts a node at the end: it has just been heard. Nobody behind it, so if all others have been
 * asked, the next to ask is this one. */
static void join(struct controller *controller, uint32_t rank)
{
    struct controller_node *node = &controller->nodes[rank];

    node->flags |= NODE_SILENT;
    node->heard_us = controller->passed_us;
    node->older = controller->newest;
    node->newer = CONTROLLER_NO_NODE;
    if (controller->newest == CONTROLLER_NO_NODE) {
        controller->oldest = rank;
    } else {
        controller->nodes[controller->newest].newer = rank;
    }
    controller->newest = rank;
    if (controller->unasked == CONTROLLER_NO_NODE) {
        controller->unasked = rank;
    }
}

void loader_forget(struct controller *controller, uint32_t rank)
{
    if (controller_has(controller, rank, NODE_SILENT)) {
        leave(controller, rank);
    }
}

void loader_heard(struct controller *controller, uint32_t rank)
{
    if (controller_has(controller, rank, NODE_SILENT)) {
        leave(controller, rank);
        join(controller, rank);
    }
}

/* Nothing is left of the receipts and offers of the program before, and silence is counted from now
 * on. */
static void begin_nodes(struct controller *controller)
{
    const uint16_t old = NODE_RECEIPTED | NODE_SILENT;

    controller->oldest = controller->newest = controller->unasked = CONTROLLER_NO_NODE;
    for (uint32_t rank = 0; rank < controller->config.network->nodes; rank++) {
        struct controller_node *node = &controller->nodes[rank];

        node->flags &= (uint16_t)~old;
        node->offer = OFFER_NONE;
        join(controller, rank);
    }
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
    default: return CONTROLLER_OK;
    }
}

enum controller_refusal controller_load(struct controller *controller,
                                        const struct controller_program *program, uint64_t now_us)
{
    enum controller_refusal refused = refusal(controller);

    if (refused != CONTROLLER_OK) {
        return refused;
    }
    controller->now_us = now_us;
    /* Names go on from the last download's: an answer that comes late is for nothing that is
     * offered now. The generation tells the nodes' own packets of this program from the last
     * one's. */
    controller->name += controller->program.message_count;
    controller->program = *program;
    controller->generation++;
    controller->message_next = controller->offered = 0;
    controller->offers_us = UINT64_MAX;
    /* The machine's time goes on: this program comes behind whatever any node has done. */
    controller->clock_base_ns = controller->clock_ns = controller->reported_ns;
    controller->clock_end_ns = controller->reported_ns;
    controller->receipts = 0;
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
    const struct controller_program *program = &controller->program;
    struct controller_node *node = root_of(controller, index);
    struct offer_body offer = {.name = controller->name + index,
                               .entry = program->entry,
                               .base = program->base,
                               .common_bytes = program->image_bytes,
                               .block_bytes = program->block_bytes,
                               .count = program->messages[index].count,
                               .bss_end = program->bss_end,
                               .generation = controller->generation,
                               .code_end = program->code_end,
                               .constants_end = program->constants_end};
    uint8_t body[OFFER_BYTES];

    offer_pack(body, &offer);
    bool sent = router_send(&controller->router, PACKET_OFFER, program->messages[index].root, body,
                            sizeof body) == E_OK;
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
    while (controller->offered < controller->program.message_count &&
           controller->offered < controller->message_next + OFFERS_MAX &&
           send_offer(controller, controller->offered)) {
        root_of(controller, controller->offered)->offer = OFFER_SENT;
        controller->offered++;
    }
}

/* Opens the circuit to the next root, when it is ready and the one before has been accepted. */
static void open_next(struct controller *controller)
{
    const struct controller_program *program = &controller->program;
    unsigned index = controller->message_next;

    if (index >= program->message_count || root_of(controller, index)->offer != OFFER_READY) {
        return;
    }
    const struct download_message *next = &program->messages[index];
    struct controller_node *node = &controller->nodes[next->root];
    struct circuit_source source = {
        .dst = next->root,
        .match = node->match,
        .flags = OPEN_IMAGE,
        .issue_ns = controller->clock_ns,
        .data = {program->blocks + (size_t)next->root * program->block_bytes, program->image},
        .bytes = {program->block_bytes * next->count, program->image_bytes},
        .token = controller->name + index,
    };
    /* Full is what it says while the circuit before has no answer; accepting that one brings it
     * here again. */
    int status = router_open(&controller->router, &source);
    if (status == E_OK) {
        node->offer = OFFER_OPENED;
    } else if (status != E_FULL) {
        fail(controller, LOAD_ERROR, next->root, status);
    }
}

void loader_pump(struct controller *controller)
{
    if (loads(controller)) {
        repeat_offers(controller);
        offer_more(controller);
        open_next(controller);
    }
}

void loader_wait(struct controller *controller)
{
    if (controller->offers_us <= controller->now_us) {
        controller->offers_us = controller->now_us + RETRY_US;
    }
}

/* The root that answers for a message that it has been offered; NULL: nobody was offered that. */
/* Names are counted from the first message's on; a node answers for its own only. */
static struct controller_node *offered(struct controller *controller, uint32_t rank, uint32_t name)
{
    uint32_t index = name - controller->name;

    if (!loads(controller) || index >= controller->offered ||
        controller->program.messages[index].root != rank ||
        controller->nodes[rank].offer != OFFER_SENT) {
        return NULL;
    }
    return &controller->nodes[rank];
}

void loader_cts(struct controller *controller, uint32_t rank, const struct cts_body *cts)
{
    struct controller_node *node = offered(controller, rank, cts->name);

    if (node) {
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

    if (node && kind == PACKET_RETRY) {
        /* It will have room soon: a slot, or the end of the program before. */
        offer_soon(controller, node);
    } else if (node && kind == PACKET_CANCEL) {
        /* Its program was never told to stop, or it has started one that we do not know of. */
        fail(controller, LOAD_REFUSED, rank, E_OK);
    }
}

void loader_notice(struct controller *controller, const struct notice *notice)
{
    unsigned index = notice->token - controller->name;

    /* Only the circuit that is next can be answered: the answers come in the order of the set-
     * ups. */
    if (controller->phase != PHASE_DOWNLOAD || index != controller->message_next ||
        index >= controller->program.message_count) {
        return;
    }
    if (notice->kind == NOTICE_ACCEPTED) {
        root_of(controller, index)->offer = OFFER_DONE;
        controller->clock_ns = notice->done_ns;
        controller->message_next++;
    } else if (notice->kind == NOTICE_REFUSED &&
               (notice->status == E_REFUSED || notice->status == E_BUSY)) {
        /* A link of its way was held, on a ring by what a stopped program still had under way
         * (router/README.md, rule 2). The root answers CTS again, and it is the next one's turn. */
        offer_soon(controller, root_of(controller, index));
    } else if (notice->kind == NOTICE_REFUSED && !controller->broken) {
        fail(controller, LOAD_REFUSED, controller->program.messages[index].root, notice->status);
    }
}

/* The length too: a digest of fewer bytes than were sent would be another's. */
static bool holds_right_bytes(const struct controller *controller, uint32_t rank,
                              const struct receipt_body *receipt)
{
    const struct controller_program *program = &controller->program;

    return receipt->held_bytes == program->block_bytes + program->image_bytes &&
           memcmp(program->digests[rank], receipt->digest, DIGEST_BYTES) == 0;
}

/* The last receipt: what is loaded waits for controller_run. */
static void end_load(struct controller *controller)
{
    struct controller_event *event = controller_tell(controller, EVENT_LOADED);

    event->done = controller->receipts;
    event->base_ns = controller->clock_base_ns;
    event->model_ns = controller->clock_end_ns;
    controller->offers_us = UINT64_MAX;
    controller->phase = PHASE_LOADED;
}

void loader_receipt(struct controller *controller, uint32_t rank,
                    const struct receipt_body *receipt)
{
    struct controller_node *node = &controller->nodes[rank];
    struct controller_event *event;

    if (!loads(controller) || controller_has(controller, rank, NODE_RECEIPTED)) {
        return;
    }
    if (receipt->status != E_OK) {
        fail(controller, LOAD_ERROR, rank, receipt->status);
        return;
    }
    if (!holds_right_bytes(controller, rank, receipt)) {
        fail(controller, LOAD_WRONG, rank, E_OK);
        return;
    }
    /* It is not waited for any more. Its time counts, for no program starts before the last has its
     * data. */
    node->flags |= NODE_RECEIPTED;
    loader_forget(controller, rank);
    controller->receipts++;
    controller->clock_end_ns = clock_max(controller->clock_end_ns, receipt->model_ns);
    controller->reported_ns = clock_max(controller->reported_ns, receipt->model_ns);
    event = controller_tell(controller, EVENT_RECEIPT);
    event->rank = rank;
    event->done = controller->receipts;
    if (controller->receipts == controller->config.network->nodes) {
        end_load(controller);
    }
}

/* For how long a node has said nothing, in passed time: not while the owner was stopped. */
static uint64_t silent_us(const struct controller *controller, uint32_t rank)
{
    return controller->passed_us - controller->nodes[rank].heard_us;
}

/* Asks those that have been silent for long, each once until it is heard. */
static void ask_silent(struct controller *controller)
{
    uint64_t quarter_us = controller->config.patience_us / 4;
    uint64_t limit_us = quarter_us < ASK_US ? quarter_us : ASK_US;

    while (controller->unasked != CONTROLLER_NO_NODE &&
           silent_us(controller, controller->unasked) >= limit_us) {
        uint32_t rank = controller->unasked;

        controller->unasked = controller->nodes[rank].newer;
        /* Who owes an answer to an earlier question is not asked again. */
        if (!controller_has(controller, rank, NODE_ASKED | NODE_HALTED)) {
            controller->nodes[rank].flags |= NODE_ASKED;
            controller_due(controller, rank, PACKET_DUE_QUERY);
        }
    }
}

void loader_pass(struct controller *controller)
{
    uint64_t patience_us = controller->config.patience_us;
    uint32_t rank = controller->oldest;

    ask_silent(controller);
    if (rank == CONTROLLER_NO_NODE) {
        return;
    }
    /* The first of the list stands for all: told once, however many are silent. */
    if (silent_us(controller, rank) >= SILENCE_REPORT_US && !controller->silence_reported) {
        controller->silence_reported = true;
        controller_tell(controller, EVENT_LOAD_WAITS)->rank = rank;
    }
    if (silent_us(controller, rank) >= patience_us + patience_us / 2) {
        fail(controller, LOAD_SILENT, rank, E_TIMEOUT);
    }
}

void loader_await_all(struct controller *controller)
{
    controller->oldest = controller->newest = controller->unasked = CONTROLLER_NO_NODE;
    for (uint32_t rank = 0; rank < controller->config.network->nodes; rank++) {
        controller->nodes[rank].flags &= (uint16_t)~NODE_SILENT;
        join(controller, rank);
    }
}

bool loader_silent(struct controller *controller, uint32_t *rank)
{
    uint64_t patience_us = controller->config.patience_us;

    ask_silent(controller);
    *rank = controller->oldest;
    return *rank != CONTROLLER_NO_NODE &&
           silent_us(controller, *rank) >= patience_us + patience_us / 2;
}
