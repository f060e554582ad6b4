/*
 * routings.h - the linear programme over all routings, from both sides: how much the busiest link
 * must carry when blocks may be divided at will.
 *
 * From below: let links weigh something. A way between two nodes weighs at least as much as the
 * lightest one, so links that carry no more than m each can only take all if m times the sum of
 * their weights is at least the sum of the lightest ways. From above: in rounds, all is sent over
 * the lightest ways, and links grow heavier by what they carry. The mean of all rounds is a
 * routing.
 *
 * Units    blocks
 * Context  host; pure
 * Source   Shahrokhi & Matula, JACM 37(2), 1990, 318-334 (maximum concurrent flow)
 */
#pragma once

#include <stdint.h>

#include "network/network.h"

enum { ROUTINGS_NODES_MAX = 64 };

struct routings_ends {
    double least, most;
};

/* amounts[from * nodes + to]. Ends when no whole number of blocks, and no more than 1 / `parts` of
 * one, lies between the two, or after so many rounds. */
struct routings_ends routings_find(const struct network *network, const uint32_t *amounts,
                                   unsigned parts, unsigned rounds);
