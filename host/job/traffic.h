/*
 * traffic.h - what the links of a machine have carried, of nodes in QEMU or simulated: as JSON, and
 * as a table.
 *
 * A row is a directed link, counted by the node that sends on it; what came damaged is counted at
 * its other end. Numbers of programs are those of the present job, or the last.
 *
 * Units    bytes; ns of model time; in JSON as the names say (doc/json.md)
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "controller/controller.h"
#include "network/network.h"
#include "wire/traffic.h"

struct traffic {
    const struct network *network;
    struct traffic_port *ports; /* [node * (network->ports + 1) + port] */
    uint8_t *told;              /* so many ports of each node are known */
    uint64_t base_ns;           /* model time at which the programs have started */
    uint64_t model_ns;          /* that nodes have come to */
};

/* False: out of memory. */
bool traffic_init(struct traffic *traffic, const struct network *network);
void traffic_free(struct traffic *traffic);

/* What nodes tell; and nothing is known any more: the next question is asked. */
void traffic_take(struct traffic *traffic, const struct controller_event *event);
void traffic_forget(struct traffic *traffic);
/* What is known of a port, of a simulated node. */
void traffic_put(struct traffic *traffic, uint32_t node, unsigned port,
                 const struct traffic_port *known);

/* The object "traffic" of JSON; the busiest link comes first. */
json_t *traffic_describe(const struct traffic *traffic);

/* How much of a table is shown, and what it is compared with. */
struct traffic_view {
    unsigned columns; /* below TRAFFIC_COLUMNS some are left out */
    size_t rows;      /* at most */
    /* The object of so many seconds before: how many bytes a second links carry is told. NULL: what
     * they have carried for the host. */
    const json_t *before;
    double seconds;
};

enum { TRAFFIC_COLUMNS = 100 };

/* That object as a table. */
void traffic_print(FILE *file, const json_t *object, const struct traffic_view *view);
