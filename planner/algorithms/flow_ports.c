/*
 * flow_ports.c - moves of which a node has several in a step get ports.
 *
 * A step's moves are the edges of a graph between senders and receivers. With as many colours as a
 * node has moves there at most, edges of one colour meet at no node (Koenig). Colours are ports:
 * with p of them, p colours are one step. A new edge takes a colour that is free at both ends; if
 * there is none, a path that takes the sender's free colour and the receiver's by turns changes
 * them first.
 *
 *     0>1 0>2 3>1, two ports    0>1 by port 0, 0>2 and 3>1 by port 1
 *     the same, one port        0>1 | 0>2 3>1
 *
 * Source    D. Koenig, Math. Annalen 77, 1916, 453-465 (bipartite graphs)
 */
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/flow.h"
#include "drivers/check.h"

enum { SENDS, RECEIVES, ENDS };

static const uint32_t NO_MOVE = UINT32_MAX;

/* The moves of a step, and which of them has a colour at a node. */
struct colouring {
    struct flow_move *moves;
    uint32_t count;
    unsigned colours;
    uint32_t *at[ENDS]; /* [node * colours + colour] */
};

static uint32_t node_at(const struct flow_move *move, unsigned end)
{
    return end == SENDS ? move->from : move->to;
}

static uint32_t *taken(const struct colouring *c, unsigned end, uint32_t node, unsigned colour)
{
    return &c->at[end][node * c->colours + colour];
}

/* The most moves that a node has in the step, each way. */
static unsigned most_of(const struct colouring *c, uint32_t nodes)
{
    uint32_t *counts = planner_memory(ENDS * (uint64_t)nodes, sizeof *counts), most = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t sends = ++counts[c->moves[i].from], receives = ++counts[nodes + c->moves[i].to];
        most = sends > most ? sends : most;
        most = receives > most ? receives : most;
    }
    free(counts);
    return most;
}

static unsigned free_at(const struct colouring *c, unsigned end, uint32_t node)
{
    unsigned colour = 0;

    while (*taken(c, end, node, colour) != NO_MOVE) {
        colour++;
    }
    CHECK(colour < c->colours);
    return colour;
}

/* Changes two colours along the path that begins at a receiver with the first of them. */
static void swap_along(struct colouring *c, uint32_t node, unsigned one, unsigned other)
{
    unsigned end = RECEIVES;
    uint32_t move = *taken(c, end, node, one);

    *taken(c, end, node, one) = NO_MOVE;
    while (move != NO_MOVE) {
        uint32_t far = node_at(&c->moves[move], !end), next = *taken(c, !end, far, other);
        *taken(c, end, node, other) = move;
        *taken(c, !end, far, other) = move;
        c->moves[move].port = (uint8_t)other;
        if (next == NO_MOVE) {
            *taken(c, !end, far, one) = NO_MOVE;
        }
        node = far;
        end = !end;
        move = next;
        unsigned was = one;
        one = other;
        other = was;
    }
}

static void colour_move(struct colouring *c, uint32_t index)
{
    struct flow_move *move = &c->moves[index];
    unsigned at_sender = free_at(c, SENDS, move->from);
    unsigned at_receiver = free_at(c, RECEIVES, move->to);

    if (*taken(c, RECEIVES, move->to, at_sender) != NO_MOVE) {
        swap_along(c, move->to, at_sender, at_receiver);
    }
    move->port = (uint8_t)at_sender;
    *taken(c, SENDS, move->from, at_sender) = index;
    *taken(c, RECEIVES, move->to, at_sender) = index;
}

static void colour_step(struct colouring *c, uint32_t nodes)
{
    c->colours = most_of(c, nodes);
    for (unsigned end = 0; end < ENDS; end++) {
        uint64_t room = (uint64_t)nodes * c->colours;
        c->at[end] = planner_memory(room, sizeof *c->at[end]);
        memset(c->at[end], 0xff, room * sizeof *c->at[end]);
    }
    for (uint32_t i = 0; i < c->count; i++) {
        colour_move(c, i);
    }
    free(c->at[SENDS]);
    free(c->at[RECEIVES]);
}

static int by_colour(const void *one, const void *other)
{
    const struct flow_move *a = one, *b = other;

    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    return a->range_at < b->range_at ? -1 : a->range_at > b->range_at;
}

void flow_ports(struct flow *flow, uint32_t nodes, unsigned ports)
{
    unsigned most = ports == 0 ? 1 : ports < CLOCK_PORTS_MAX ? ports : CLOCK_PORTS_MAX;
    uint32_t end, step = 0;

    for (uint32_t first = 0; first < flow->count; first = end) {
        for (end = first; end < flow->count && flow->moves[end].step == flow->moves[first].step;) {
            end++;
        }
        struct colouring c = {.moves = flow->moves + first, .count = end - first};
        colour_step(&c, nodes);
        qsort(c.moves, c.count, sizeof *c.moves, by_colour);
        for (uint32_t i = 0; i < c.count; i++) {
            c.moves[i].step = step + c.moves[i].port / most;
            c.moves[i].port = (uint8_t)(c.moves[i].port % most);
            flow->several |= c.moves[i].port > 0;
        }
        step += (c.colours + most - 1) / most;
    }
    flow->steps = step;
}
