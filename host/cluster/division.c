/*
 * division.c - halves nodes and computers alike, until one computer is left.
 *
 * Invariant: a half has at least as many nodes as computers, and at most as many as they have room
 * for.
 */
#include "host/cluster/division.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WEIGHTS = 8, MEGABYTE = 1 << 20 };

struct part {
    uint32_t room, weight;
};

static uint32_t room_of(const struct division_computer *computer, uint32_t nodes_max,
                        uint64_t node_bytes)
{
    uint64_t room = computer->memory_bytes / node_bytes;

    return room < nodes_max ? (uint32_t)room : nodes_max;
}

static struct part sum(const struct part *parts, unsigned count)
{
    struct part all = {0};

    for (unsigned i = 0; i < count; i++) {
        all.room += parts[i].room;
        all.weight += parts[i].weight;
    }
    return all;
}

static void halve(struct node_range nodes, const struct part *parts, unsigned count,
                  struct node_range *ranges)
{
    unsigned lower = count / 2;

    if (count == 1) {
        *ranges = nodes;
        return;
    }
    struct part left = sum(parts, lower), right = sum(parts + lower, count - lower);
    uint32_t both = left.weight + right.weight;
    uint32_t share = (nodes.count * left.weight + both / 2) / both;
    uint32_t least = nodes.count > right.room + lower ? nodes.count - right.room : lower;
    uint32_t most = nodes.count - (count - lower);

    most = most < left.room ? most : left.room;
    share = share < least ? least : share > most ? most : share;
    halve((struct node_range){nodes.first, share}, parts, lower, ranges);
    halve((struct node_range){nodes.first + share, nodes.count - share}, parts + lower,
          count - lower, ranges + lower);
}

/* What each has room for. */
static int refuse(uint32_t nodes, uint64_t node_bytes, const struct division_computer *computers,
                  const struct part *parts, unsigned count, struct message *message)
{
    char rooms[400] = "";

    for (unsigned i = 0; i < count; i++) {
        size_t used = strlen(rooms);

        snprintf(rooms + used, sizeof rooms - used, "%s%.60s for %u (%u MiB free)", i ? ", " : "",
                 computers[i].name, (unsigned)parts[i].room,
                 (unsigned)(computers[i].memory_bytes / MEGABYTE));
    }
    return message_set(message,
                       "no room for %u nodes, which take at least %u MiB each: there is on %s",
                       (unsigned)nodes, (unsigned)(node_bytes / MEGABYTE), rooms);
}

int division_make(uint32_t nodes, uint32_t nodes_max, uint64_t node_bytes,
                  const struct division_computer *computers, unsigned count,
                  struct node_range *ranges, struct message *message)
{
    struct part parts[DIVISION_COMPUTERS_MAX] = {0};
    uint64_t largest = 0;

    if (count > nodes || count > DIVISION_COMPUTERS_MAX) {
        return message_set(
            message, "%u agents for %u nodes: start at most %u", count, (unsigned)nodes,
            (unsigned)(nodes < DIVISION_COMPUTERS_MAX ? nodes : DIVISION_COMPUTERS_MAX));
    }
    for (unsigned i = 0; i < count; i++) {
        largest = computers[i].memory_bytes > largest ? computers[i].memory_bytes : largest;
    }
    uint64_t eighth = largest / WEIGHTS + 1;
    bool fits = true;
    for (unsigned i = 0; i < count; i++) {
        uint64_t weight = (computers[i].memory_bytes + eighth / 2) / eighth;

        parts[i].room = room_of(&computers[i], nodes_max, node_bytes);
        parts[i].weight = weight > 0 ? (uint32_t)weight : 1;
        fits &= parts[i].room > 0;
    }
    if (!fits || sum(parts, count).room < nodes) {
        return refuse(nodes, node_bytes, computers, parts, count, message);
    }
    halve((struct node_range){0, nodes}, parts, count, ranges);
    return 0;
}
