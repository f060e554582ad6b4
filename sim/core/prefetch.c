#include "sim/core/prefetch.h"

#include <stddef.h>

#include "network/network.h"
#include "node/state.h"
#include "router/channel_state.h"
#include "router/port.h"
#include "router/segment.h"
#include "router/state.h"
#include "sim/core/partition.h"
#include "sim/core/state.h"
#include "wire/circuit.h"

enum {
    LINE = 64,
    /* steps ahead: far enough for the memory to answer, near enough for the cache to keep it */
    PREFETCH_NODE = 4,
    PREFETCH_FRAME = 2,
    PREFETCH_OUT = 1,
    PREFETCH_PEER = 4,
    PREFETCH_SHOWN = 2,
    NODES_LARGE = 128 /* fewer lie in the near cache as they are */
};

_Static_assert((int)PREFETCH_NODE < (int)PREFETCH_PLACES, "a place for each");

static inline void fetch(const void *at)
{
    __builtin_prefetch(at, 1);
    /* gcc 12 takes a function that only prefetches for one without effect, and drops its calls */
    __asm__ volatile("");
}

/* All lines of so many bytes, a number that the compiler knows. */
static inline __attribute__((always_inline)) void fetch_span(const void *at, size_t bytes)
{
    const uint8_t *from = (const uint8_t *)at;

#pragma GCC unroll 8
    for (size_t i = 0; i < bytes; i += LINE) {
        fetch(from + i);
    }
    fetch(from + bytes - 1);
}

/* What every step of a node looks at. */
static void fetch_node(const struct node *node)
{
    fetch(node);
    fetch_span(&node->router, offsetof(struct router, sources));
    fetch_span(&node->engine, offsetof(struct engine, call));
}

static void fetch_port(const struct port *port)
{
    fetch_span(port, offsetof(struct port, channel) + offsetof(struct channel, refs) + 1);
    fetch(&port->circuits);
}

/* Where a circuit's frame goes on to; without branches that nobody can foresee: what stays here or
 * goes to the host has its in-port fetched once more. */
static void fetch_out(const struct sim *sim, const struct prefetch *prefetch, const uint8_t *packet)
{
    const struct router *router = &prefetch->node->router;
    const struct port *ports = sim_ports(sim, prefetch->rank);
    unsigned count = sim_network(sim)->ports, in = prefetch->end->port;
    uint32_t dst = packet_dst(packet);
    unsigned on = dst == prefetch->rank || dst >= sim->count
                      ? count
                      : network_next_hop(sim_network(sim), prefetch->rank, dst);
    unsigned out = packet_kind(packet) == PACKET_OPEN ? on : prefetch->port->setup_holder;

    out = out < count ? out : in;
    fetch_port(&ports[out]);
    fetch_span(router_segments(router, out), PLACES_MIN * sizeof(struct segment));
    fetch_span(&sim->ends[prefetch->rank * (size_t)count + out], offsetof(struct sim_end, held));
}

static struct prefetch *prefetch_at(struct partition *partition, uint32_t place)
{
    return &partition->prefetch[place % PREFETCH_PLACES];
}

/* Notes the node at a place of the list, and its link that has news; with more than one, only the
 * first is fetched. */
static void look_up(struct partition *partition, uint32_t place)
{
    const struct sim *sim = partition->sim;
    struct prefetch *prefetch = prefetch_at(partition, place);
    unsigned ports = sim_network(sim)->ports;
    uint32_t rank = partition->stepped[place];
    unsigned port = (unsigned)__builtin_ctz(sim->actors[rank].links_due | UINT32_C(1) << ports);

    *prefetch = (struct prefetch){.node = sim_node(sim, rank), .rank = rank};
    fetch_node(prefetch->node);
    if (port >= ports) {
        return;
    }
    prefetch->port = &sim_ports(sim, rank)[port];
    prefetch->end = &sim->ends[rank * (size_t)ports + port];
    fetch_port(prefetch->port);
    fetch_span(prefetch->end, offsetof(struct sim_end, held));
}

/* Whether the nodes lie in no near cache. */
static bool is_large(const struct partition *partition)
{
    return partition->sim->count >= NODES_LARGE;
}

void prefetch_begin(struct partition *partition)
{
    for (uint32_t i = 0; is_large(partition) && i < PREFETCH_NODE && i < partition->stepped_count;
         i++) {
        look_up(partition, i);
    }
}

void prefetch_step(struct partition *partition, uint32_t place)
{
    uint32_t count = partition->stepped_count;

    if (!is_large(partition)) {
        return;
    }
    if (place + PREFETCH_NODE < count) {
        look_up(partition, place + PREFETCH_NODE);
    }
    const struct prefetch *prefetch = prefetch_at(partition, place + PREFETCH_FRAME);
    if (place + PREFETCH_FRAME < count && prefetch->end && prefetch->end->first) {
        fetch(prefetch->end->first);
        fetch(prefetch->end->first->data);
    }
    prefetch = prefetch_at(partition, place + PREFETCH_OUT);
    if (place + PREFETCH_OUT < count && prefetch->end && prefetch->end->first) {
        fetch_out(partition->sim, prefetch, prefetch->end->first->data + FRAME_HEADER_BYTES);
    }
}

void prefetch_take(const struct outbox *out, uint32_t at)
{
    if (at + PREFETCH_PEER < out->count) {
        const struct sending *sending = &out->sendings[at + PREFETCH_PEER];
        fetch(sending->to);
        fetch(sending->first);
    }
    if (at + PREFETCH_SHOWN < out->count) {
        const struct sending *sending = &out->sendings[at + PREFETCH_SHOWN];
        fetch(&sending->to->partition->sim->actors[sending->to->actor]);
        fetch(sending->first->data);
    }
}
