/*
 * plans.c - plans that nodes ask for, and what a collective takes.
 *
 *   PLAN_ASK   a node wants its part of a plan from an offset on: PLAN_PART, with as much as a
 *              packet holds. It asks for the rest itself: nothing is remembered between questions
 *   PREDICT    a program wants to know time and bound: PREDICTED
 *
 * All nodes of a machine ask at the same moment, and there are two places for packets of this size.
 * So a question is noted in the node's entry and the node is owed its answer: none is lost for want
 * of room, and there is place for as many as there are nodes. A node has one question at a time; a
 * new one takes the place of one that has not been answered.
 *
 * The cache makes a plan when it is first asked for, and has it from then on. What it cannot make
 * is told to the user once for each operation and run, for all nodes will ask for it.
 *
 * Units    bytes; offsets from the begin of a part
 * Errors   E_ARGUMENT: there is no such operation, root, type or size; E_NETWORK: no plan, or no
 *          cache. They go to the node
 */
#include <string.h>

#include "collectives/operation.h"
#include "planner/planner.h"
#include "controller/internal.h"
#include "drivers/status.h"
#include "reduction/reduction.h"
#include "router/router.h"
#include "wire/plan.h"

_Static_assert(OPERATIONS <= 32, "a mask has a bit for each operation");
_Static_assert((int)CONTROLLER_WORDS_MAX >= (int)PLAN_WORDS_MAX, "the planner's words have room");

static const uint8_t PACKET_DUE_ANSWER = PACKET_DUE_PLAN | PACKET_DUE_PREDICTED;

void plans_ask(struct controller *controller, uint32_t rank, uint8_t due,
               const struct plan_ask_body *ask)
{
    struct controller_node *node = &controller->nodes[rank];

    node->question = ask->question;
    node->offset = ask->offset;
    node->request_root = (uint16_t)ask->root;
    node->request_bytes = ask->bytes;
    node->request_choice = ask->choice;
    /* A root that no network has makes it one for no operation. */
    node->request_operation = ask->root < NETWORK_NODES_MAX ? ask->operation : UINT8_MAX;
    node->request_type = ask->type;
    /* First the new bit: a node that is owed anything stays in its place in the queue. */
    controller_due(controller, rank, due);
    node->due &= (uint8_t)(due | ~PACKET_DUE_ANSWER);
}

/* Whether there is such a collective on this network; the cache is asked for nothing else. */
static bool is_possible(const struct controller *controller, const struct controller_node *node)
{
    const struct operation *operation = operation_of(node->request_operation);
    uint32_t element = reduction_element_bytes(node->request_type);

    return operation && operation->planned &&
           node->request_root < operation_roots(operation, controller->config.network) &&
           (operation->reduces ? element > 0 && node->request_bytes % element == 0
                               : node->request_type == 0);
}

/* What the cache says to a node's question; the status when it has nothing to say. */
static int request_of(const struct controller *controller, const struct controller_node *node,
                      struct plan_request *request)
{
    *request = (struct plan_request){.operation = node->request_operation,
                                     .root = node->request_root,
                                     .bytes = node->request_bytes,
                                     .type = node->request_type,
                                     .choice = node->request_choice};
    if (!is_possible(controller, node)) {
        return E_ARGUMENT;
    }
    return controller->config.cache ? E_OK : E_NETWORK;
}

/* The words are the cache's until it is asked again: they are copied. Nothing more is sent before
 * the event has been taken (pump_owed), so one place for them is enough. */
static void tell_refusal(struct controller *controller, uint32_t rank,
                         const struct plan_request *request, int status, const char *words)
{
    size_t bytes = strnlen(words, sizeof controller->plan_words - 1);
    struct controller_event *event;

    if (controller->plans_refused & UINT32_C(1) << request->operation) {
        return;
    }
    controller->plans_refused |= UINT32_C(1) << request->operation;
    memcpy(controller->plan_words, words, bytes);
    controller->plan_words[bytes] = '\0';
    event = controller_tell(controller, EVENT_NO_PLAN);
    event->rank = rank;
    event->status = status;
    event->body = (const uint8_t *)controller->plan_words;
    event->bytes = (uint32_t)bytes;
    event->plan = (struct event_plan){request->operation, request->bytes, request->root};
}

/* The part of a node from its offset on, as much as there is of it. */
static uint32_t take_part(const uint8_t *part, struct plan_part_body *fields, uint8_t *body)
{
    uint32_t left = fields->offset < fields->total ? fields->total - fields->offset : 0;
    uint32_t bytes = left < PLAN_PART_MAX ? left : PLAN_PART_MAX;

    plan_part_pack(body, fields);
    if (bytes > 0) {
        memcpy(body + PLAN_PART_BYTES, part + fields->offset, bytes);
    }
    return PLAN_PART_BYTES + bytes;
}

static int send_part(struct controller *controller, uint32_t rank)
{
    const struct controller_node *node = &controller->nodes[rank];
    struct plan_part_body fields = {.question = node->question, .offset = node->offset};
    const uint8_t *part = NULL;
    const char *words = NULL;
    uint8_t body[PLAN_PART_BYTES + PLAN_PART_MAX];
    struct plan_request request;

    fields.status = request_of(controller, node, &request);
    if (fields.status == E_OK) {
        part = plan_cache_part(controller->config.cache, &request, rank, &fields.total,
                               &fields.status, &words);
    }
    if (!part) {
        fields.total = 0;
    }
    int sent = router_send(&controller->router, PACKET_PLAN_PART, rank, body,
                           take_part(part, &fields, body));
    if (sent == E_OK && !part && words) {
        tell_refusal(controller, rank, &request, fields.status, words);
    }
    return sent;
}

static int send_predicted(struct controller *controller, uint32_t rank)
{
    const struct controller_node *node = &controller->nodes[rank];
    struct predicted_body fields = {.question = node->question};
    struct plan_time time = {0};
    uint8_t body[PREDICTED_BYTES];
    struct plan_request request;

    fields.status = request_of(controller, node, &request);
    if (fields.status == E_OK && plan_cache_predict(controller->config.cache, &request, &time,
                                                    &fields.steps, &fields.status)) {
        fields.model_ns = time.model_ns;
        fields.bound_ns = time.bound_ns;
    }
    predicted_pack(body, &fields);
    return router_send(&controller->router, PACKET_PREDICTED, rank, body, sizeof body);
}

int plans_answer(struct controller *controller, uint32_t rank)
{
    return controller->nodes[rank].due & PACKET_DUE_PLAN ? send_part(controller, rank)
                                                         : send_predicted(controller, rank);
}
