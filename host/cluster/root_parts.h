/*
 * root_parts.h - what root.c, root_agents.c and root_far.c share, and nobody else uses.
 */
#pragma once

#include "host/cluster/root.h"

enum { ROOT_TICK_MS = 250 };

/* Somebody has connected to a debug socket, and waits for the agent's stream of this number. */
struct opening {
    struct opening *next;
    unsigned number;
    uint32_t node;
    int fd;
};

/* Takes connections, and counts the time without a word, from now on. */
void root_hear(struct root *root);

/* Who holds a node. */
struct member *root_member_of(struct root *root, uint32_t node);

/* A line for an agent, or all; takes over the reference. */
void root_tell(struct member *member, json_t *line);
void root_tell_all(struct root *root, json_t *line);

/* When both a host link's stream and the launcher's socket for it are there. */
void root_join_host_stream(struct root *root, unsigned index);

/* Leaves the machine's loop, if it was joined. */
void root_leave(struct root *root);
