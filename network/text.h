/*
 * text.h - networks, links and nodes as users write them.
 *
 *     cube:D          2^D nodes             cube:4
 *     ring:N          N nodes               ring:6
 *     mesh:AxB[x...]  A times B times ...   mesh:3x4      the last number varies fastest
 *     torus:AxB[x...] ... with wraparound   torus:4x4x2
 *
 * Errors   false: nothing was made, and `error` says in one line what is wrong and what to do
 * Context  the tool; not in nodes
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/network.h"

enum {
    NETWORK_NAME_MAX = 96, /* of the longest name, its ending zero included */
    NETWORK_ERROR_MAX = 240
};

struct network_limits {
    uint32_t nodes;    /* at most */
    const char *place; /* where that holds, for people: "on QEMU" */
};

/* Writes the line; false. */
__attribute__((format(printf, 2, 3))) bool network_complain(char error[NETWORK_ERROR_MAX],
                                                            const char *format, ...);

bool network_parse(struct network *network, const char *text, const struct network_limits *limits,
                   char error[NETWORK_ERROR_MAX]);

/* "cube", "ring", ...: what the names of networks begin with, from 0 on; NULL behind the last. */
const char *network_kind_name(unsigned index);

/* The name that network_parse reads. */
void network_name(const struct network *network, char name[NETWORK_NAME_MAX]);

/* The host's links, one for each of so many ranges. */
bool network_parse_host_links(struct network *network, unsigned links,
                              char error[NETWORK_ERROR_MAX]);

/* A node's number. */
bool network_parse_node(const struct network *network, const char *text, uint32_t *node,
                        char error[NETWORK_ERROR_MAX]);

/* A link, as "A-B". */
bool network_parse_link(const struct network *network, const char *text, uint32_t ends[2],
                        char error[NETWORK_ERROR_MAX]);

/* The same, or a host link as "host-A" or "A-host": then the host's end is NETWORK_NO_NODE. */
bool network_parse_cable(const struct network *network, const char *text, uint32_t ends[2],
                         char error[NETWORK_ERROR_MAX]);
