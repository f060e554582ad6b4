/*
 * carriers.h - the cables that lead out of a range of nodes: who waits for whom, and where.
 *
 * The lower node of such a cable waits. Its agent makes the listening socket, at a port that is
 * free, before any QEMU starts, so nobody is refused: who comes first waits in the socket's queue.
 *
 * As JSON: what waits here, [NODE, PORT, TCP PORT]; where others wait for it, [NODE, PORT, HOST,
 * TCP PORT].
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "board/description.h"
#include "host/cluster/division.h"
#include "network/network.h"

struct carrier_end {
    uint32_t node;
    unsigned port;
    bool taken; /* the launcher has the socket */
    struct board_carrier carrier;
};

struct carriers {
    struct carrier_end *ends; /* by node and port */
    unsigned count;
};

/* Lists them, and listens for those whose node here is the lower one. */
int carriers_open(struct carriers *carriers, const struct network *network,
                  const struct node_range *range, struct message *message);
void carriers_close(struct carriers *carriers);

json_t *carriers_describe(const struct carriers *carriers);

/* Notes where others wait; false: the list is not one of these. */
bool carriers_learn(struct carriers *carriers, const json_t *list);

/* The end at a port; NULL: the cable does not lead out of the range. */
struct carrier_end *carriers_find(const struct carriers *carriers, uint32_t node, unsigned port);

/* Gives one to the launcher (launcher_far.carrier). */
int carriers_give(struct carriers *carriers, uint32_t node, unsigned port,
                  struct board_carrier *carrier, struct message *message);
