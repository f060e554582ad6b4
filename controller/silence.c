/*
 * silence.c - who is silent: of the nodes that are to answer, those that have not been heard for
 * long. In a download they owe receipts, in a gather first how much they have, then their outputs.
 *
 * They stand in a list, in the order in which they were last heard, so that looking for the one
 * that has been silent for longest takes no time. Whoever is heard goes to its end. A node may wait
 * for others for long without a word; so it is asked what it does, and one that lives answers. The
 * link to one that stands still dies first, where something is owed to it; what remains is a node
 * whose links work and whose kernel does not.
 *
 * Units    us of passed time: not while the owner was stopped
 */
#include "controller/internal.h"

enum { ASK_US = 2 * 1000 * 1000 /* of silence, or a quarter of the patience if that is less */ };

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
void silence_await(struct controller *controller, uint32_t rank)
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

void silence_forget(struct controller *controller, uint32_t rank)
{
    if (controller_has(controller, rank, NODE_SILENT)) {
        leave(controller, rank);
    }
}

void silence_heard(struct controller *controller, uint32_t rank)
{
    if (controller_has(controller, rank, NODE_SILENT)) {
        leave(controller, rank);
        silence_await(controller, rank);
    }
}

void silence_await_all(struct controller *controller)
{
    controller->oldest = controller->newest = controller->unasked = CONTROLLER_NO_NODE;
    for (uint32_t rank = 0; rank < controller->config.network->nodes; rank++) {
        controller->nodes[rank].flags &= (uint16_t)~NODE_SILENT;
        silence_await(controller, rank);
    }
}

uint64_t silence_us(const struct controller *controller, uint32_t rank)
{
    return controller->passed_us - controller->nodes[rank].heard_us;
}

/* Asks those that have been silent for long, each once until it is heard. */
static void ask_silent(struct controller *controller)
{
    uint64_t quarter_us = controller->config.patience_us / 4;
    uint64_t limit_us = quarter_us < ASK_US ? quarter_us : ASK_US;

    while (controller->unasked != CONTROLLER_NO_NODE &&
           silence_us(controller, controller->unasked) >= limit_us) {
        uint32_t rank = controller->unasked;

        controller->unasked = controller->nodes[rank].newer;
        /* Who owes an answer to an earlier question is not asked again. */
        if (!controller_has(controller, rank, NODE_ASKED | NODE_HALTED)) {
            controller->nodes[rank].flags |= NODE_ASKED;
            controller_due(controller, rank, PACKET_DUE_QUERY);
        }
    }
}

bool silence_too_long(struct controller *controller, uint32_t *rank)
{
    uint64_t patience_us = controller->config.patience_us;

    ask_silent(controller);
    *rank = controller->oldest;
    return *rank != CONTROLLER_NO_NODE &&
           silence_us(controller, *rank) >= patience_us + patience_us / 2;
}
