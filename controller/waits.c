#include "controller/waits.h"

#include "controller/internal.h"
#include "wire/report.h"

/*
 * A node stands for two things that wait: its program, and its entry into a collective, which goes
 * on whatever the program does. An entry takes another node's entry, or waits for that node's
 * program to call the collective. So each place leads to one other at most, and whoever follows the
 * places comes into a circle, if there is one.
 */
struct place {
    uint32_t rank; /* CONTROLLER_NO_NODE: it waits for nobody */
    bool entry;
};

static const struct place nowhere = {UINT32_MAX, false};

static bool enters(const struct controller *controller, uint32_t rank)
{
    return !controller_has(controller, rank, NODE_DEAD) && controller_answered(controller, rank) &&
           controller->nodes[rank].answer.stage == COLLECTIVE_ENTRY;
}

static uint32_t partner_of(const struct controller *controller, uint32_t rank)
{
    uint32_t partner = controller->nodes[rank].answer.partner;

    return partner < controller->config.network->nodes ? partner : CONTROLLER_NO_NODE;
}

/* Entries that take each other's in a circle are on their way: nobody is missing there. The walk
 * remembers a place, later and later ones (Brent), and ends when it comes there again. */
uint32_t waits_missing(const struct controller *controller, uint32_t rank)
{
    uint32_t at = rank, remembered = rank;
    unsigned steps = 0, limit = 1;

    while (enters(controller, at)) {
        at = partner_of(controller, at);
        if (at == CONTROLLER_NO_NODE || (at == remembered && enters(controller, at))) {
            return rank;
        }
        if (++steps == limit) {
            remembered = at;
            steps = 0;
            limit *= 2;
        }
    }
    return at;
}

/* Whether a program waits for a message of one other that is not under way. */
static bool waits_for_message(const struct controller *controller, uint32_t rank)
{
    const struct node_answer *answer = &controller->nodes[rank].answer;

    return (answer->wait == WAIT_SEND || answer->wait == WAIT_RECEIVE) &&
           answer->transfer != TRANSFER_MOVES && answer->peer >= 0 &&
           (uint32_t)answer->peer < controller->config.network->nodes;
}

static bool is_known(const struct controller *controller, uint32_t rank)
{
    return controller_answered(controller, rank) && controller_has(controller, rank, NODE_RUNNING);
}

uint32_t waits_for(const struct controller *controller, uint32_t rank)
{
    const struct node_answer *answer = &controller->nodes[rank].answer;

    if (!is_known(controller, rank)) {
        return rank;
    }
    if (answer->wait == WAIT_COLLECTIVE) {
        return waits_missing(controller, rank);
    }
    return waits_for_message(controller, rank) ? (uint32_t)answer->peer : rank;
}

static struct place entry_from(const struct controller *controller, uint32_t rank)
{
    uint32_t partner = partner_of(controller, rank);

    return partner == CONTROLLER_NO_NODE ? nowhere
                                         : (struct place){partner, enters(controller, partner)};
}

static struct place next(const struct controller *controller, struct place place)
{
    uint32_t rank = place.rank;

    if (place.entry) {
        return entry_from(controller, rank);
    }
    if (!is_known(controller, rank)) {
        return nowhere;
    }
    if (controller->nodes[rank].answer.wait == WAIT_COLLECTIVE) {
        return enters(controller, rank) ? (struct place){rank, true} : nowhere;
    }
    return waits_for_message(controller, rank)
               ? (struct place){(uint32_t)controller->nodes[rank].answer.peer, false}
               : nowhere;
}

/* Marks say in which walk a place was seen first. */
static uint32_t *mark_of(const struct controller *controller, struct place place)
{
    struct controller_node *node = &controller->nodes[place.rank];

    return place.entry ? &node->mark_entry : &node->mark;
}

/* The programs of a circle, from a place in it on. */
static uint32_t list_circle(const struct controller *controller, struct place first,
                            uint32_t *ranks, uint32_t room)
{
    struct place at = first;
    uint32_t count = 0;

    do {
        if (!at.entry) {
            if (count < room) {
                ranks[count] = at.rank;
            }
            count++;
        }
        at = next(controller, at);
    } while (at.rank != first.rank || at.entry != first.entry);
    return count;
}

uint32_t waits_circle(const struct controller *controller, uint32_t *ranks, uint32_t room)
{
    uint32_t nodes = controller->config.network->nodes;

    for (uint32_t rank = 0; rank < nodes; rank++) {
        controller->nodes[rank].mark = controller->nodes[rank].mark_entry = 0;
    }
    for (uint32_t start = 0; start < nodes; start++) {
        struct place at = {start, false};

        while (at.rank != CONTROLLER_NO_NODE && *mark_of(controller, at) == 0) {
            *mark_of(controller, at) = start + 1;
            at = next(controller, at);
        }
        if (at.rank != CONTROLLER_NO_NODE && *mark_of(controller, at) == start + 1) {
            uint32_t count = list_circle(controller, at, ranks, room);
            if (count > 0) {
                return count;
            }
        }
    }
    return 0;
}
