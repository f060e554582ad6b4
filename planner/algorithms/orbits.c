#include "planner/algorithms/orbits.h"

#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/symmetries.h"
#include "planner/build.h"

enum { WAYS_OF_ORBIT = 16, NONE = UINT16_MAX };

/* Gives each orbit of nodes, and of links, a number. */
static void number_classes(struct orbits *p)
{
    const struct network *network = p->network;
    uint32_t ports = network->ports;

    memset(p->node_class, 0xff, network->nodes * sizeof *p->node_class);
    memset(p->link_class, 0xff, network->nodes * ports * sizeof *p->link_class);
    for (uint32_t node = 0; node < network->nodes; node++) {
        bool is_new = p->node_class[node] == NONE;
        for (uint32_t map = 0; map < network->nodes && is_new; map++) {
            if (p->group >> map & 1) {
                p->node_class[symmetry_image(network, map, node)] = (uint16_t)p->node_classes;
            }
        }
        p->node_classes += is_new;
        for (unsigned port = 0; port < ports; port++) {
            if (network_neighbour(network, node, port) == NETWORK_NO_NODE ||
                p->link_class[node * ports + port] != NONE) {
                continue;
            }
            for (uint32_t map = 0; map < network->nodes; map++) {
                if (p->group >> map & 1) {
                    uint32_t image = symmetry_image(network, map, node);
                    p->link_class[image * ports + symmetry_port(network, map, node, port)] =
                        (uint16_t)p->link_classes;
                }
            }
            p->link_classes++;
        }
    }
    p->things = p->link_classes + 2 * p->node_classes;
}

static void add_thing(struct orbits *p, uint32_t thing)
{
    p->taken = planner_grow(p->taken, p->taken_count, sizeof *p->taken);
    p->taken[p->taken_count++] = (uint16_t)thing;
}

static void add_hop(struct orbits *p, struct orbit_way *way, uint32_t at, unsigned port)
{
    add_thing(p, p->link_class[at * p->network->ports + port]);
    p->ports = planner_grow(p->ports, p->port_count, sizeof *p->ports);
    p->ports[p->port_count++] = (uint8_t)port;
    way->hops++;
}

/* The port toward `to` in a dimension; where both ways round are as long, the other one if it is
 * asked for. NETWORK_NO_PORT: there is no such way. */
static unsigned port_of(const struct network *network, uint32_t at, uint32_t to, unsigned k,
                        bool other)
{
    const struct network_dimension *dim = &network->dim[k];
    unsigned port = network_port_toward(network, at, to, k);
    uint32_t a = at / dim->stride % dim->size, b = to / dim->stride % dim->size;
    bool opposite = dim->wraps && 2 * (a > b ? a - b : b - a) == dim->size;

    if (port == NETWORK_NO_PORT || (other && !opposite)) {
        return NETWORK_NO_PORT;
    }
    return other ? network_far_port(network, port) : port;
}

/* Whether a way takes nothing twice, for images of a circuit may meet, and is not there yet. */
static bool is_good_way(const struct orbits *p, const struct orbit *orbit,
                        const struct orbit_way *way)
{
    const uint16_t *things = p->taken + way->things_at;

    for (uint32_t i = 1; i < way->hops; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (things[i] == things[j]) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < orbit->ways; i++) {
        const struct orbit_way *before = &p->ways[orbit->way_at + i];
        if (memcmp(p->ports + before->ports_at, p->ports + way->ports_at, way->hops) == 0) {
            return false;
        }
    }
    return true;
}

/* Adds the way in an order of dimensions, in those of `others` the other way round. */
static void add_way(struct orbits *p, struct orbit *orbit, const unsigned *order, uint32_t others)
{
    struct orbit_way way = {.ports_at = p->port_count, .things_at = p->taken_count};
    const struct network *network = p->network;
    uint32_t at = orbit->from;
    bool exists = orbit->ways < WAYS_OF_ORBIT;

    for (unsigned i = 0; i < network->dims && exists; i++) {
        unsigned k = order[i];
        unsigned port = port_of(network, at, orbit->to, k, others >> k & 1);
        exists = port != NETWORK_NO_PORT || !(others >> k & 1);
        uint32_t stride = network->dim[k].stride, size = network->dim[k].size;
        while (exists && at / stride % size != orbit->to / stride % size) {
            add_hop(p, &way, at, port);
            at = network_neighbour(network, at, port);
        }
    }
    if (!exists || !is_good_way(p, orbit, &way)) {
        p->port_count = way.ports_at;
        p->taken_count = way.things_at;
        return;
    }
    add_thing(p, p->link_classes + p->node_class[orbit->from]);
    add_thing(p, p->link_classes + p->node_classes + p->node_class[orbit->to]);
    p->ways = planner_grow(p->ways, p->way_count, sizeof *p->ways);
    p->ways[p->way_count++] = way;
    orbit->ways++;
}

static void swap(unsigned *a, unsigned *b)
{
    unsigned kept = *a;

    *a = *b;
    *b = kept;
}

/* The next order of `count` dimensions, by Heap's algorithm, whose counters are `c`; false: all
 * have been. */
static bool next_order(unsigned *order, unsigned *c, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        if (c[i] < i) {
            swap(&order[i % 2 ? c[i] : 0], &order[i]);
            c[i]++;
            return true;
        }
        c[i] = 0;
    }
    return false;
}

/* Whether an orbit has a way. */
static bool add_orbit(struct orbits *p, uint32_t from, uint32_t to)
{
    struct orbit orbit = {.from = from, .to = to, .way_at = p->way_count};
    unsigned order[NETWORK_DIMS_MAX], counters[NETWORK_DIMS_MAX] = {0}, dims = p->network->dims;

    for (unsigned k = 0; k < dims; k++) {
        order[k] = k;
    }
    do {
        for (uint32_t others = 0; others < UINT32_C(1) << dims; others++) {
            add_way(p, &orbit, order, others);
        }
    } while (orbit.ways < WAYS_OF_ORBIT && next_order(order, counters, dims));
    p->list = planner_grow(p->list, p->count, sizeof *p->list);
    p->list[p->count++] = orbit;
    return orbit.ways > 0;
}

void orbits_free(struct orbits *p)
{
    free(p->link_class);
    free(p->node_class);
    free(p->list);
    free(p->ways);
    free(p->ports);
    free(p->taken);
}

bool orbits_make(struct orbits *p, const struct network *network, uint64_t group)
{
    uint32_t nodes = network->nodes;
    uint64_t *done = planner_memory(nodes, sizeof *done); /* bit `to` of `from` */
    bool holds = true;

    *p = (struct orbits){.network = network, .group = group};
    p->link_class = planner_memory((uint64_t)nodes * network->ports, sizeof *p->link_class);
    p->node_class = planner_memory(nodes, sizeof *p->node_class);
    number_classes(p);
    for (uint32_t pair = 0; pair < nodes * nodes && holds; pair++) {
        uint32_t from = pair / nodes, to = pair % nodes;
        if (from == to || done[from] >> to & 1) {
            continue;
        }
        holds = add_orbit(p, from, to);
        for (uint32_t map = 0; map < nodes; map++) {
            if (group >> map & 1) {
                done[symmetry_image(network, map, from)] |= UINT64_C(1)
                                                            << symmetry_image(network, map, to);
            }
        }
    }
    free(done);
    if (!holds) {
        orbits_free(p);
    }
    return holds;
}
