#include "sim/ahead.h"

#include <stddef.h>

#include "network/network.h"
#include "node/state.h"
#include "router/channel_state.h"
#include "router/port.h"
#include "router/segment.h"
#include "router/state.h"
#include "sim/part.h"
#include "sim/state.h"
#include "wire/circuit.h"

enum {
    LINE = 64,
    /* steps ahead: far enough for the memory to answer, near enough for the cache to keep it */
    AHEAD_NODE = 4,
    AHEAD_FRAME = 2,
    AHEAD_OUT = 1,
    AHEAD_PEER = 4,
    AHEAD_SHOWN = 2,
    NODES_LARGE = 128 /* fewer lie in the near cache as they are */
};

_Static_assert((int)AHEAD_NODE < (int)AHEAD_PLACES, "a place for each");

static inline void fetch(const void *at)
{
    __builtin_prefetch(at, 1);
    /* gcc 12 takes a function that only prefetches for one without effect, and drops its calls */
    __asm__ volatile("");
}

/* All lines of so many bytes, a number that the compiler knows; they begin one. */
static inline __attribute__((always_inline)) void fetch_span(const void *at, size_t bytes)
{
    const uint8_t *line = (const uint8_t *)at;

#pragma GCC unroll 8
    for (size_t i = 0; i < bytes; i += LINE)
        fetch(line + i);
}

/* What every step of a node looks at. */
static void fetch_node(const struct node *node)
{
    fetch(node);
    fetch_span(&node->router, offsetof(struct router, sources));
}

static void fetch_port(const struct port *port)
{
    fetch_span(port, offsetof(struct port, channel) + offsetof(struct channel, refs) + 1);
    fetch(&port->circuits);
}

/* Where a circuit's frame goes on to; without branches that nobody can foresee: what stays here or
 * goes to the host has its in-port fetched once more. */
static void fetch_out(const struct sim *sim, const struct ahead *ahead, const uint8_t *packet)
{
    const struct router *router = &ahead->node->router;
    const struct port *ports = sim_ports(sim, ahead->rank);
    unsigned count = sim_network(sim)->ports, in = ahead->end->port;
    uint32_t dst = packet_dst(packet);
    unsigned on = dst == ahead->rank || dst >= sim->count
                      ? count
                      : network_next_hop(sim_network(sim), ahead->rank, dst);
    unsigned out = packet_kind(packet) == PACKET_OPEN ? on : ahead->port->setup_holder;

    out = out < count ? out : in;
    fetch_port(&ports[out]);
    fetch_span(router_segments(router, out), PLACES_MIN * sizeof(struct segment));
    fetch_span(&sim->ends[ahead->rank * (size_t)count + out], offsetof(struct sim_end, held));
}

static struct ahead *ahead_at(struct part *part, uint32_t place)
{
    return &part->ahead[place % AHEAD_PLACES];
}

/* Notes the node at a place of the list, and its link that has news; with more than one, only the
 * first is fetched. */
static void look_up(struct part *part, uint32_t place)
{
    const struct sim *sim = part->sim;
    struct ahead *ahead = ahead_at(part, place);
    unsigned ports = sim_network(sim)->ports;
    uint32_t rank = part->stepped[place];
    unsigned port = (unsigned)__builtin_ctz(sim->actors[rank].attention | UINT32_C(1) << ports);

    *ahead = (struct ahead){.node = sim_node(sim, rank), .rank = rank};
    fetch_node(ahead->node);
    if (port >= ports)
        return;
    ahead->port = &sim_ports(sim, rank)[port];
    ahead->end = &sim->ends[rank * (size_t)ports + port];
    fetch_port(ahead->port);
    fetch_span(ahead->end, offsetof(struct sim_end, held));
}

/* Whether the nodes lie in no near cache. */
static bool is_large(const struct part *part)
{
    return part->sim->count >= NODES_LARGE;
}

void ahead_begin(struct part *part)
{
    for (uint32_t i = 0; is_large(part) && i < AHEAD_NODE && i < part->stepped_count; i++)
        look_up(part, i);
}

void ahead_step(struct part *part, uint32_t place)
{
    uint32_t count = part->stepped_count;

    if (!is_large(part))
        return;
    if (place + AHEAD_NODE < count)
        look_up(part, place + AHEAD_NODE);
    const struct ahead *ahead = ahead_at(part, place + AHEAD_FRAME);
    if (place + AHEAD_FRAME < count && ahead->end && ahead->end->first) {
        fetch(ahead->end->first);
        fetch(ahead->end->first->data);
    }
    ahead = ahead_at(part, place + AHEAD_OUT);
    if (place + AHEAD_OUT < count && ahead->end && ahead->end->first)
        fetch_out(part->sim, ahead, ahead->end->first->data + FRAME_HEADER_BYTES);
}

void ahead_take(const struct outbox *out, uint32_t at)
{
    if (at + AHEAD_PEER < out->count) {
        const struct sending *sending = &out->sendings[at + AHEAD_PEER];
        fetch(sending->to);
        fetch(sending->first);
    }
    if (at + AHEAD_SHOWN < out->count) {
        const struct sending *sending = &out->sendings[at + AHEAD_SHOWN];
        fetch(&sending->to->part->sim->actors[sending->to->actor]);
        fetch(sending->first->data);
    }
}
