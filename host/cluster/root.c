/*
 * root.c - the way to a machine over several computers, step by step, and its end.
 */
#include "host/cluster/root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cluster/root_parts.h"

enum { END_MS = 10000, NODE_BYTES = 18 << 20 /* measured of a QEMU whose node has booted */ };

/* Turns until all agents have come to a state; fails when one cannot, or after that time. */
static int wait_for(struct root *root, enum member_state state, unsigned patience_ms,
                    struct message *message)
{
    uint64_t end_ms = uv_hrtime() / 1000000 + patience_ms;

    for (;;) {
        unsigned late = 0;

        for (unsigned i = root->peers->size - 1; i > 0; i--) {
            late = root->members[i].state < state ? i : late;
        }
        if (root->refusal[0] != '\0') {
            return message_set(message, "%s", root->refusal);
        }
        if (late == 0) {
            return 0;
        }
        if (uv_hrtime() / 1000000 >= end_ms) {
            const struct member *member = &root->members[late];

            return member->state == MEMBER_ABSENT
                       ? message_set(message, "the agent of rank %u has not come in %g s", late,
                                     patience_ms / 1e3)
                       : message_set(message, "computer %s (rank %u): no answer for %g s",
                                     member->self.computer, late, patience_ms / 1e3);
        }
        uv_run(&root->loop, UV_RUN_ONCE); /* the timer bounds it */
    }
}

int root_gather(struct root *root, const struct peers *peers, const struct introduction *self,
                unsigned patience_ms, struct message *message)
{
    *root = (struct root){.peers = peers, .patience_ticks = patience_ms / ROOT_TICK_MS};
    root->members[0].self = *self;
    for (unsigned i = 0; i < DIVISION_COMPUTERS_MAX; i++) {
        root->members[i].root = root;
    }
    for (unsigned i = 0; i < MACHINE_HOST_LINKS_MAX; i++) {
        root->host_fds[i] = -1;
    }
    root->members[0].share = 1000;
    if (uv_loop_init(&root->loop) != 0 || tls_keys_init(&root->keys, &peers->key, message) != 0) {
        return message_set(message, "cannot make an event loop or use the key");
    }
    root_hear(root);
    return wait_for(root, MEMBER_PRESENT, patience_ms, message);
}

/* Agents on one computer share what memory it has. */
static uint64_t memory_of(const struct root *root, unsigned rank)
{
    const struct introduction *self = &root->members[rank].self;
    unsigned sharers = 0;

    for (unsigned i = 0; i < root->peers->size; i++) {
        sharers += strcmp(root->members[i].self.boot, self->boot) == 0;
    }
    return self->memory_bytes / (sharers > 0 ? sharers : 1);
}

int root_divide(struct root *root, const struct network *network, struct message *message)
{
    struct division_computer computers[DIVISION_COMPUTERS_MAX] = {0};
    struct node_range ranges[DIVISION_COMPUTERS_MAX];
    unsigned size = root->peers->size;

    root->network = *network;
    for (unsigned i = 0; i < size; i++) {
        computers[i] =
            (struct division_computer){root->members[i].self.computer, memory_of(root, i)};
        if (i > 0 &&
            introduction_compare(&root->members[0].self, &root->members[i].self, message) != 0) {
            return -1;
        }
    }
    if (division_make(network->nodes, COMPUTER_NODES_MAX, NODE_BYTES, computers, size, ranges,
                      message) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < size; i++) {
        root->members[i].range = ranges[i];
    }
    root->nodes = calloc(network->nodes, sizeof *root->nodes);
    return root->nodes ? 0 : message_set(message, "out of memory");
}

unsigned root_links_between(const struct root *root, unsigned a, unsigned b)
{
    const struct node_range *from = &root->members[a].range, *to = &root->members[b].range;
    unsigned count = 0;

    for (uint32_t node = from->first; node < from->first + from->count; node++) {
        for (unsigned port = 0; port < root->network.ports; port++) {
            uint32_t peer = network_neighbour(&root->network, node, port);

            count += peer != NETWORK_NO_NODE && peer - to->first < to->count;
        }
    }
    return count;
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* What an agent is known by on its own computer alone is no address for those on others. */
static int check_addresses(const struct root *root, struct message *message)
{
    for (unsigned i = 1; i < root->peers->size; i++) {
        for (unsigned other = 1; other < root->peers->size; other++) {
            const struct member *near = &root->members[i], *far = &root->members[other];

            if (is_loopback(near->address) && !is_loopback(far->address)) {
                return message_set(message,
                                   "computer %s (rank %u) reaches rank 0 at %s, which computer %s "
                                   "(rank %u) cannot: give rank 0 an address that all reach",
                                   near->self.computer, i, near->root_address, far->self.computer,
                                   other);
            }
        }
    }
    return 0;
}

/* Who takes the cables to which nodes, as one agent reaches them. */
static json_t *list_places(const struct root *root, const struct member *member)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < root->peers->size; i++) {
        const struct member *other = &root->members[i];

        json_array_append_new(list, json_pack("[s, s, i, i, i]", other->self.computer,
                                              i == 0 ? member->root_address : other->address,
                                              (int)other->port, (int)other->range.first,
                                              (int)other->range.count));
    }
    return list;
}

static void tell_place(struct root *root, struct member *member, const struct root_start *start)
{
    char name[NETWORK_NAME_MAX];

    network_name(&root->network, name);
    root_tell(member,
              json_pack("{s:s, s:s, s:i, s:s*, s:s*, s:b, s:i, s:i, s:i, s:s, s:s}", "do", "place",
                        "network", name, "host_links", (int)root->network.host_links, "links",
                        start->links, "board", start->board, "debug", start->debug, "first",
                        (int)member->range.first, "count", (int)member->range.count, "patience_ms",
                        (int)(root->patience_ticks * ROOT_TICK_MS), "name", start->name, "computer",
                        root->members[0].self.computer));
}

int root_place(struct root *root, const struct root_start *start, struct message *message)
{
    unsigned size = root->peers->size, patience_ms = root->patience_ticks * ROOT_TICK_MS;
    int status;

    if (check_addresses(root, message) != 0 ||
        far_cables_open(&root->cables, &root->loop, &root->network, &root->members[0].range,
                        message) != 0) {
        return -1;
    }
    root->members[0].port = peers_port_of(root->peers->listener);
    for (unsigned i = 1; i < size; i++) {
        tell_place(root, &root->members[i], start);
    }
    status = wait_for(root, MEMBER_PLACED, patience_ms, message);
    for (unsigned i = 1; i < size && status == 0; i++) {
        root_tell(&root->members[i], json_pack("{s:s, s:o}", "do", "check", "places",
                                               list_places(root, &root->members[i])));
    }
    return status == 0 ? wait_for(root, MEMBER_CHECKED, patience_ms, message) : status;
}

void root_end(struct root *root, int status, const char *why)
{
    uint64_t end_ms = uv_hrtime() / 1000000 + END_MS;
    struct message message;
    bool waits = true;

    root_leave(root);
    root_tell_all(
        root, json_pack("{s:s, s:i, s:s}", "do", "end", "status", status, "text", why ? why : ""));
    while (waits && uv_hrtime() / 1000000 < end_ms) {
        waits = false;
        for (unsigned i = 1; i < root->peers->size; i++) {
            waits |= root->members[i].connection != NULL;
        }
        if (waits) {
            uv_run(&root->loop, UV_RUN_ONCE);
        }
    }
    for (unsigned i = 1; i < root->peers->size; i++) {
        if (root->members[i].connection) {
            message_set(&message, "computer %s (rank %u): its agent has not ended for %d s",
                        root->members[i].self.computer, i, END_MS / 1000);
            message_print(&message);
        }
    }
    far_cables_close(&root->cables);
}
