/*
 * division.h - which computer holds which nodes of a machine.
 *
 * The computers get contiguous ranges, in order. The nodes are halved again and again, as the
 * computers are, and each half gets nodes by the memory of its computers, in eighths of the largest
 * one's: what differs by less is as good as equal, so that twice the same start divides alike. No
 * computer gets more than it has room for, nor none.
 *
 *     256 nodes, memory 8, 8, 16 GB    a 64 nodes, b 64, c 128
 *
 * Units    bytes, nodes
 * Errors   message: more computers than nodes, or not enough room, with what each has room for
 * Context  any; pure
 */
#pragma once

#include <stdint.h>

#include "host/console/message.h"

enum { DIVISION_COMPUTERS_MAX = 64 };

struct node_range {
    uint32_t first, count;
};

struct division_computer {
    const char *name;
    uint64_t memory_bytes;
};

/* Divides so many nodes, each of which takes at least node_bytes, of which one computer holds
 * nodes_max at most. */
int division_make(uint32_t nodes, uint32_t nodes_max, uint64_t node_bytes,
                  const struct division_computer *computers, unsigned count,
                  struct node_range *ranges, struct message *message);
