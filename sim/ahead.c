#include "sim/ahead.h"

#include <stddef.h>

#include "node/state.h"
#include "router/bytes.h"
#include "router/channel_state.h"
#include "router/port.h"
#include "router/segment.h"
#include "router/state.h"
#include "sim/part.h"
#include "sim/state.h"

enum {
    LINE = 64,
    /* steps ahead: far enough for the memory to answer, near enough for the cache to keep it */
    AHEAD_NODE = 4,
    AHEAD_PORT = 3,
    AHEAD_FRAME = 2,
    AHEAD_OUT = 1,
    AHEAD_PEER = 4,
    AHEAD_SHOWN = 2,
    DIMS_MIN = 7 /* smaller cubes lie in the near cache as they are */
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
    unsigned dims = sim->options.dims;
    unsigned on = (unsigned)__builtin_ctz((get32(packet + 8) ^ ahead->rank) | sim->count);
    unsigned back = router->ports[ahead->port].setup_holder;
    unsigned out = packet[0] == PACKET_OPEN ? on : back;

    out = out < dims ? out : ahead->port;
    const struct sim_end *end = &sim->ends[ahead->rank * dims + out];
    fetch_port(&router->ports[out]);
    fetch_span(router_segments(router, out), PLACES_MIN * sizeof(struct segment));
    fetch_span(end, offsetof(struct sim_end, held));
}

/* The node that is stepped after so many others. */
static const struct ahead *ahead_of(const struct part *part, unsigned steps)
{
    return &part->ahead[(part->ahead_next + steps) % AHEAD_PLACES];
}

/* Notes the node that is stepped after AHEAD_NODE others, and its link that has news; with more
 * than one, only the first is fetched. */
static void look_ahead(struct part *part)
{
    const struct sim *sim = part->sim;
    struct ahead *ahead = &part->ahead[(part->ahead_next + AHEAD_NODE) % AHEAD_PLACES];
    unsigned dims = sim->options.dims;

    ahead->end = NULL;
    if (AHEAD_NODE >= part->ready_count)
        return;
    uint32_t at = part->ready_first + AHEAD_NODE;
    at = at < part->ready_room ? at : at - part->ready_room;
    uint32_t rank = part->ready[at];
    unsigned port = (unsigned)__builtin_ctz(sim->actors[rank].attention | UINT32_C(1) << dims);
    ahead->rank = rank;
    ahead->node = sim_node(sim, rank);
    ahead->port = (uint8_t)port;
    ahead->end = port < dims ? &sim->ends[rank * dims + port] : NULL;
    fetch_node(ahead->node);
}

void ahead_ready(struct part *part)
{
    if (part->sim->options.dims < DIMS_MIN)
        return;
    look_ahead(part);
    const struct ahead *ahead = ahead_of(part, AHEAD_PORT);
    if (ahead->end) {
        fetch_port(&ahead->node->router.ports[ahead->port]);
        fetch_span(ahead->end, offsetof(struct sim_end, held));
    }
    ahead = ahead_of(part, AHEAD_FRAME);
    if (ahead->end && ahead->end->first) {
        fetch(ahead->end->first);
        fetch(ahead->end->first->data);
    }
    ahead = ahead_of(part, AHEAD_OUT);
    if (ahead->end && ahead->end->first)
        fetch_out(part->sim, ahead, ahead->end->first->data + FRAME_HEADER_BYTES);
    part->ahead_next++;
}

void ahead_arrive(const struct outbox *out, uint32_t at)
{
    if (at + AHEAD_PEER < out->count)
        fetch(out->sendings[at + AHEAD_PEER].to);
    if (at + AHEAD_SHOWN < out->count) {
        const struct sim_end *end = out->sendings[at + AHEAD_SHOWN].to;
        fetch(&end->part->sim->actors[end->actor]);
        if (end->flight) {
            fetch(end->flight);
            fetch(end->flight->data);
        }
    }
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
