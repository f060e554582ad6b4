/*
 * link_counters.c - what circuits have taken of a node's links: counted as they are set up.
 */
#include "router/link_counters.h"

#include "router/clock.h"
#include "wire/circuit.h"
#include "wire/packet.h"

static uint8_t user_of(const uint8_t *packet)
{
    return (open_flags(packet) & (OPEN_IMAGE | OPEN_SCHEDULE)) == OPEN_IMAGE ? LINK_OF_HOST
                                                                             : LINK_OF_PROGRAM;
}

static void begin(struct link_counters *counters, uint8_t generation)
{
    if (counters->generation != generation) {
        counters->generation = generation;
        counters->uses[LINK_OF_PROGRAM] = (struct link_use){0};
    }
}

void link_counters_begin(struct router *router, uint8_t generation)
{
    for (unsigned port = 0; router->link_counters && port < router->port_count; port++) {
        begin(&router->link_counters[port], generation);
    }
}

/* A message may come from a node that has the new program while this one is still to be told of
 * it, or from one that has the old one. A collective's circuits begin when all nodes are in it. */
static bool counts(struct link_counters *counters, const struct link_setup *setup)
{
    if (setup->user == LINK_OF_HOST) {
        return true;
    }
    if ((int8_t)(setup->generation - counters->generation) > 0) {
        begin(counters, setup->generation);
    }
    return setup->generation == counters->generation;
}

static struct link_setup setup_of(const struct link_counters *counters, const uint8_t *packet)
{
    uint8_t flags = open_flags(packet);

    return (struct link_setup){.came_ns = open_clock(packet),
                               .src = packet_src(packet),
                               .dst = packet_dst(packet),
                               .length = open_length(packet),
                               .hop = (uint16_t)packet_hops(packet),
                               .generation = flags & OPEN_SCHEDULE ? counters->generation
                                                                   : open_generation(packet),
                               .user = user_of(packet),
                               .chains = circuit_chains(flags)};
}

void link_counters_pass(struct router *router, unsigned port, const uint8_t *packet)
{
    struct link_counters *counters = &router->link_counters[port];
    unsigned place = counters->first + router->ports[port].setup_count;

    counters->setups[place % CIRCUITS_MAX] = setup_of(counters, packet);
}

void link_counters_answer(struct router *router, unsigned port, bool accepted, uint64_t done_ns)
{
    struct link_counters *counters = &router->link_counters[port];
    const struct link_setup *setup = &counters->setups[counters->first];
    uint64_t free_ns = router->ports[port].free_ns, came_ns = setup->came_ns;

    counters->first = (uint8_t)((counters->first + 1) % CIRCUITS_MAX);
    if (!accepted) {
        return;
    }
    if (setup->chains && setup->hop > 0 && setup->src == counters->last_src &&
        setup->dst == counters->last_dst) {
        came_ns = clock_max(came_ns, free_ns + (uint64_t)setup->hop * router->profile.tau_ns);
    }
    counters->last_src = setup->src;
    counters->last_dst = setup->dst;
    if (counts(counters, setup)) {
        struct link_use *use = &counters->uses[setup->user];
        uint64_t took_ns = clock_max(came_ns, free_ns);
        use->circuits++;
        use->bytes += setup->length;
        use->waited_ns += took_ns - came_ns;
        use->busy_ns += clock_max(done_ns, took_ns) - took_ns;
    }
}

void link_counters_refuse(struct router *router, unsigned port, const uint8_t *packet)
{
    struct link_counters *counters = &router->link_counters[port];
    struct link_setup setup = setup_of(counters, packet);

    if (counts(counters, &setup)) {
        counters->uses[setup.user].refused++;
    }
}
