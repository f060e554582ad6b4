/*
 * waits.c - who waits for whom.
 *
 * A node stands for two things that wait: its program, and its entry into a collective, which its
 * kernel goes on with whatever the program does. A program waits for a message of another program,
 * or in a collective for its own node's entry. An entry takes another node's entry, or, when that
 * node has not entered, waits for its program to call the collective. So each place leads to one
 * other at most, and whoever follows the places comes into a circle, if there is one.
 *
 * Example  program 0 waits in a broadcast, whose entry takes that of node 1, whose entry takes that
 *          of node 3, which has not entered: its program waits to receive from rank 0
 *
 *              program 0 -> entry 0 -> entry 1 -> program 3 -> program 0
 *
 *          waits_missing(0) is 3; the circle is 0, 3. Program 1 may compute meanwhile
 *
 * Who waits for any rank, for any of several requests, or for a message that is under way, is in no
 * circle.
 */
#include "controller/waits.h"

#include "controller/internal.h"
#include "wire/message.h"
#include "wire/report.h"

struct place {
    uint32_t rank; /* CONTROLLER_NO_NODE: it waits for nobody */
    bool entry;
};

static const struct place nowhere = {UINT32_MAX, false};

/* What was not answered is not known: a dead or silent node ends every chain. */
static bool enters(const struct controller *controller, uint32_t rank)
{
    return !controller_has(controller, rank, NODE_DEAD) && controller_answered(controller, rank) &&
           controller->nodes[rank].answer.stage == COLLECTIVE_ENTRY;
}

/* A node says whose entry it takes, and may lie. */
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
        /* Twice as long each time: within three rounds of a circle it is met again. */
        if (++steps == limit) {
            remembered = at;
            steps = 0;
            limit *= 2;
        }
    }
    return at;
}

/* Whether a program waits for a message of one other that is not under way. */
static bool waits_for_message(const struct controller *controller, const struct node_answer *answer)
{
    return (answer->wait == WAIT_SEND || answer->wait == WAIT_RECEIVE ||
            answer->wait == WAIT_PROBE) &&
           answer->transfer != TRANSFER_MOVES && answer->peer >= 0 &&
           (uint32_t)answer->peer < controller->config.network->nodes;
}

/* A send that has been answered has a place. */
bool waits_for_room(const struct controller *controller, const struct node_answer *answer)
{
    uint32_t peer = (uint32_t)answer->peer;

    return answer->wait == WAIT_SEND && answer->transfer == TRANSFER_OPEN &&
           waits_for_message(controller, answer) && controller_answered(controller, peer) &&
           controller->nodes[peer].answer.stored >= MESSAGES_STORED_MAX;
}

/* A program that has ended waits for nobody, whatever its kernel goes on with. */
static bool is_known(const struct controller *controller, uint32_t rank)
{
    return controller_answered(controller, rank) && controller_has(controller, rank, NODE_RUNNING);
}

/* A wait with an entry under way leads past entries, to the program that is missing. */
uint32_t waits_for(const struct controller *controller, uint32_t rank)
{
    const struct node_answer *answer = &controller->nodes[rank].answer;

    if (!is_known(controller, rank)) {
        return rank;
    }
    if (answer->wait == WAIT_COLLECTIVE) {
        return waits_missing(controller, rank);
    }
    return waits_for_message(controller, answer) ? (uint32_t)answer->peer : rank;
}

/* Where an entry leads: on along entries, and at their end to a program. */
static struct place entry_from(const struct controller *controller, uint32_t rank)
{
    uint32_t partner = partner_of(controller, rank);

    return partner == CONTROLLER_NO_NODE ? nowhere
                                         : (struct place){partner, enters(controller, partner)};
}

/* The place that this one waits for. */
static struct place next(const struct controller *controller, struct place place)
{
    uint32_t rank = place.rank;
    const struct node_answer *answer = &controller->nodes[rank].answer;

    if (place.entry) {
        return entry_from(controller, rank);
    }
    if (!is_known(controller, rank)) {
        return nowhere;
    }
    if (answer->wait == WAIT_COLLECTIVE) {
        return enters(controller, rank) ? (struct place){rank, true} : nowhere;
    }
    return waits_for_message(controller, answer) ? (struct place){(uint32_t)answer->peer, false}
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

    /* Entries are left out: people think of programs. One that is made of entries only has none,
     * and is no circle: they are on their way to each other. */
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
    /* Each place is entered once, by the walk that comes first: a walk that meets its own mark has
     * closed a circle, and one that meets another's ends where that has ended. */
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
