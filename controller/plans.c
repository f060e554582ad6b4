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
 * The desk makes a plan when it is first asked for, and has it from then on. What it cannot make is
 * told to the user once for each operation and run, for all nodes will ask for it.
 *
 * Units    bytes; offsets from the begin of a part
 * Errors   E_ARGUMENT: there is no such operation, root, type or size; E_NETWORK: no plan, or no
 *          desk. They go to the node
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

static const uint8_t OWED_ANSWER = OWED_PLAN | OWED_PREDICTED;

void plans_ask(struct controller *controller, uint32_t rank, uint8_t owed,
               const struct plan_ask_body *ask)
{
    struct controller_node *node = &controller->nodes[rank];

    node->question = ask->question;
    node->offset = ask->offset;
    node->wish_root = (uint16_t)ask->root;
    node->wish_bytes = ask->bytes;
    node->wish_choice = ask->choice;
    /* A root that no network has makes it one for no operation. */
    node->wish_operation = ask->root < NETWORK_NODES_MAX ? ask->operation : UINT8_MAX;
    node->wish_type = ask->type;
    /* First the new bit: a node that is owed anything stays in its place in the queue. */
    controller_owe(controller, rank, owed);
    node->owed &= (uint8_t)(owed | ~OWED_ANSWER);
}

/* Whether there is such a collective on this network; the desk is asked for nothing else. */
static bool is_possible(const struct controller *controller, const struct controller_node *node)
{
    const struct operation *operation = operation_of(node->wish_operation);
    uint32_t element = reduction_element_bytes(node->wish_type);

    return operation && operation->planned &&
           node->wish_root < operation_roots(operation, controller->config.network) &&
           (operation->reduces ? element > 0 && node->wish_bytes % element == 0
                               : node->wish_type == 0);
}

/* What the desk says to a node's question; the status when it has nothing to say. */
static int wish_of(const struct controller *controller, const struct controller_node *node,
                   struct plan_wish *wish)
{
    *wish = (struct plan_wish){.operation = node->wish_operation,
                               .root = node->wish_root,
                               .bytes = node->wish_bytes,
                               .type = node->wish_type,
                               .choice = node->wish_choice};
    if (!is_possible(controller, node)) {
        return E_ARGUMENT;
    }
    return controller->config.desk ? E_OK : E_NETWORK;
}

/* The words are the desk's until it is asked again: they are copied. Nothing more is sent before
 * the event has been taken (pump_owed), so one place for them is enough. */
static void tell_refusal(struct controller *controller, uint32_t rank, const struct plan_wish *wish,
                         int status, const char *words)
{
    size_t bytes = strnlen(words, sizeof controller->plan_words - 1);
    struct controller_event *event;

    if (controller->plans_refused & UINT32_C(1) << wish->operation) {
        return;
    }
    controller->plans_refused |= UINT32_C(1) << wish->operation;
    memcpy(controller->plan_words, words, bytes);
    controller->plan_words[bytes] = '\0';
    event = controller_tell(controller, EVENT_NO_PLAN);
    event->rank = rank;
    event->status = status;
    event->body = (const uint8_t *)controller->plan_words;
    event->bytes = (uint32_t)bytes;
    event->plan = (struct event_plan){wish->operation, wish->bytes, wish->root};
}

/* The part of a node from its offset on, as much as there is of it. */
static uint32_t take_part(const uint8_t *part, struct plan_part_body *told, uint8_t *body)
{
    uint32_t left = told->offset < told->total ? told->total - told->offset : 0;
    uint32_t bytes = left < PLAN_PART_MAX ? left : PLAN_PART_MAX;

    plan_part_pack(body, told);
    if (bytes > 0) {
        memcpy(body + PLAN_PART_BYTES, part + told->offset, bytes);
    }
    return PLAN_PART_BYTES + bytes;
}

static int send_part(struct controller *controller, uint32_t rank)
{
    const struct controller_node *node = &controller->nodes[rank];
    struct plan_part_body told = {.question = node->question, .offset = node->offset};
    const uint8_t *part = NULL;
    const char *words = NULL;
    uint8_t body[PLAN_PART_BYTES + PLAN_PART_MAX];
    struct plan_wish wish;

    told.status = wish_of(controller, node, &wish);
    if (told.status == E_OK) {
        part =
            plan_desk_part(controller->config.desk, &wish, rank, &told.total, &told.status, &words);
    }
    if (!part) {
        told.total = 0;
    }
    int sent = router_send(&controller->router, PACKET_PLAN_PART, rank, body,
                           take_part(part, &told, body));
    if (sent == E_OK && !part && words) {
        tell_refusal(controller, rank, &wish, told.status, words);
    }
    return sent;
}

static int send_predicted(struct controller *controller, uint32_t rank)
{
    const struct controller_node *node = &controller->nodes[rank];
    struct predicted_body told = {.question = node->question};
    struct plan_time time = {0};
    uint8_t body[PREDICTED_BYTES];
    struct plan_wish wish;

    told.status = wish_of(controller, node, &wish);
    if (told.status == E_OK &&
        plan_desk_predict(controller->config.desk, &wish, &time, &told.steps, &told.status)) {
        told.model_ns = time.model_ns;
        told.bound_ns = time.bound_ns;
    }
    predicted_pack(body, &told);
    return router_send(&controller->router, PACKET_PREDICTED, rank, body, sizeof body);
}

int plans_answer(struct controller *controller, uint32_t rank)
{
    return controller->nodes[rank].owed & OWED_PLAN ? send_part(controller, rank)
                                                    : send_predicted(controller, rank);
}
