/*
 * networks.h - a network by its name, as tests say it: "torus:3x4".
 */
#pragma once

#include "drivers/check.h"
#include "network/network.h"
#include "network/text.h"

static inline struct network network_of(const char *name)
{
    static const struct network_limits limits = {.nodes = NETWORK_NODES_MAX, .place = "here"};
    char error[NETWORK_ERROR_MAX];
    struct network network;

    CHECK(network_parse(&network, name, &limits, error));
    return network;
}
