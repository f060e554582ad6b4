#include "sim/ahead.h"

#include <stddef.h>

#include "router/route.h"
#include "sim/internal.h"

enum {
    LINE = 64,
    /* steps ahead: far enough for the memory to answer, near enough for the cache to keep it */
    AHEAD_NODE = 4,
    AHEAD_PORT = 3,
    AHEAD_FRAME = 2,
    AHEAD_OUT = 1,
    EVENTS_AHEAD = 4,
    AHEAD_TAKE = 8,
    AHEAD_PEER = 4,
    AHEAD_SHOWN = 2,
    DIMS_MIN = 7 /* smaller cubes lie in the near cache as they are */
};

static inline void fetch(const void *at)
{
    __builtin_prefetch(at, 1);
    /* gcc 12 takes a function that only prefetches for one without effect, and drops its calls */
    __asm__ volatile("");
}

/* All lines of so many bytes, a number that the compiler knows, wherever they begin. */
static inline __attribute__((always_inline)) void fetch_span(const void *at, size_t bytes)
{
    const uint8_t *line = (const uint8_t *)at;

#pragma GCC unroll 8
    for (size_t i = 0; i < bytes; i += LINE)
        fetch(line + i);
    fetch(line + bytes - 1);
}

/* What every step of a node looks at. */
static void fetch_node(const struct node *node)
{
    fetch(node);
    fetch_span(&node->collective, offsetof(struct collective, walk) + sizeof(struct walk));
    fetch_span(&node->router, offsetof(struct router, sources));
    fetch(&node->router.notices);
}

static void fetch_port(const struct port *port)
{
    fetch_span(port, offsetof(struct port, channel) + offsetof(struct channel, refs) + 1);
    fetch(&port->circuits);
}

/* What a channel will queue, and what has been acknowledged; and the memory of an answer. */
static void fetch_queue(const struct port *port)
{
    const struct channel *channel = &port->channel;

    fetch(&channel->segments[channel->first & (channel->places - 1)]);
    fetch(&channel->segments[channel->end & (channel->places - 1)]);
    fetch(port->replies[0]);
}

static void fetch_frame(const struct chunk *chunk)
{
    fetch(chunk);
    fetch_span(chunk->data, FRAME_HEADER_BYTES + OPEN_BYTES);
}

/* Where a circuit's frame goes on to. */
static void fetch_out(const struct sim *sim, uint32_t rank, const struct router *router,
                      const struct port *in, const struct chunk *chunk)
{
    const uint8_t *packet = chunk->data + FRAME_HEADER_BYTES;
    uint32_t dst = get32(packet + 8);
    unsigned out = in->setup_holder;

    if (packet[0] == PACKET_OPEN)
        out = dst < sim->count && dst != rank ? route_cube(rank, dst) : PORT_NONE;
    if (out >= router->port_count)
        return;
    const struct port *port = &router->ports[out];
    const struct sim_end *end = sim_end_at(sim, rank, out);
    fetch_port(port);
    fetch_span(router_segments(router, out), PLACES_MIN * sizeof(struct segment));
    fetch_span(end, offsetof(struct sim_end, held));
    if (out < sim->options.dims)
        fetch(sim_end_at(sim, rank ^ UINT32_C(1) << out, out));
}

/* The node that is stepped after so many others; NULL: it is not known yet. */
static const struct node *node_after(const struct part *part, unsigned steps, uint32_t *rank)
{
    if (steps >= part->ready_count)
        return NULL;
    uint32_t at = part->ready_first + steps;
    *rank = part->ready[at < part->ready_room ? at : at - part->ready_room];
    return sim_node(part->sim, *rank);
}

void ahead_ready(const struct part *part)
{
    const struct sim *sim = part->sim;
    uint32_t rank;

    if (sim->options.dims < DIMS_MIN)
        return;
    const struct node *node = node_after(part, AHEAD_NODE, &rank);
    if (node) {
        fetch_node(node);
    }
    node = node_after(part, AHEAD_PORT, &rank);
    for (uint32_t left = node ? sim->actors[rank].attention : 0; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctz(left);
        fetch_port(&node->router.ports[port]);
        fetch_span(sim_end_at(sim, rank, port), offsetof(struct sim_end, held));
    }
    node = node_after(part, AHEAD_FRAME, &rank);
    for (uint32_t left = node ? sim->actors[rank].attention : 0; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctz(left);
        const struct chunk *chunk = sim_end_at(sim, rank, port)->first;
        fetch_queue(&node->router.ports[port]);
        if (chunk)
            fetch_frame(chunk);
    }
    node = node_after(part, AHEAD_OUT, &rank);
    for (uint32_t left = node ? sim->actors[rank].attention : 0; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctz(left);
        const struct chunk *chunk = sim_end_at(sim, rank, port)->first;
        if (chunk)
            fetch_out(sim, rank, &node->router, &node->router.ports[port], chunk);
    }
}

void ahead_event(const struct part *part, uint32_t at)
{
    if (part->sim->options.dims < DIMS_MIN || at + EVENTS_AHEAD >= part->due.count)
        return;
    const struct event *event = &part->due.events[at + EVENTS_AHEAD];
    if (event->kind == EVENT_HELD || event->kind == EVENT_HELD1 || event->kind == EVENT_LINK)
        fetch(&part->sim->ends[event->index]);
}

void ahead_take(const struct outbox *out, uint32_t at)
{
    if (at + AHEAD_TAKE < out->count)
        fetch(&out->ends[at + AHEAD_TAKE]->part);
    if (at + AHEAD_PEER < out->count) {
        const struct sim_end *end = out->ends[at + AHEAD_PEER];
        fetch(end->peer);
        if (end->out)
            fetch(end->out);
    }
    if (at + AHEAD_SHOWN < out->count) {
        const struct sim_end *end = out->ends[at + AHEAD_SHOWN];
        fetch(&end->part->sim->actors[end->peer->actor]);
        if (end->out)
            fetch(end->out->data);
    }
}
