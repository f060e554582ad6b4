#include "planner/algorithms/symmetries.h"

#include <stdlib.h>

#include "drivers/check.h"

static uint32_t coordinate_of(const struct network_dimension *dim, uint32_t node)
{
    return node / dim->stride % dim->size;
}

uint32_t symmetry_image(const struct network *network, uint32_t map, uint32_t node)
{
    uint32_t image = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t by = coordinate_of(dim, map), at = coordinate_of(dim, node);
        uint32_t to = dim->wraps ? (at + by) % dim->size : by ? dim->size - 1 - at : at;
        image += to * dim->stride;
    }
    return image;
}

unsigned symmetry_port(const struct network *network, uint32_t map, uint32_t node, unsigned port)
{
    unsigned k = network_port_dimension(network, port);
    const struct network_dimension *dim = &network->dim[k];
    bool turns = !dim->wraps && dim->size > 2 && coordinate_of(dim, map);

    CHECK(network_neighbour(network, node, port) != NETWORK_NO_NODE);
    return turns ? network_far_port(network, port) : port;
}

/* Whether a node names a map: of a path, only its ends do. */
static bool is_map(const struct network *network, uint32_t node)
{
    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t by = coordinate_of(dim, node);
        if (!dim->wraps && by != 0 && by != dim->size - 1) {
            return false;
        }
    }
    return true;
}

/* Whether a map leaves no node where it is: it goes round some ring, or turns a path that has no
 * node in its middle. */
static bool moves_all(const struct network *network, uint32_t map)
{
    bool moves = false;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        moves = moves || (coordinate_of(dim, map) && (dim->wraps || dim->size % 2 == 0));
    }
    return moves;
}

/* The group that two maps make; 0: some of it leaves a node where it is. */
static uint64_t group_of(const struct network *network, uint32_t one, uint32_t other)
{
    uint64_t group = 1, before = 0;

    while (group != before) {
        before = group;
        for (uint32_t map = 0; map < network->nodes; map++) {
            if (before >> map & 1) {
                group |= UINT64_C(1) << symmetry_image(network, one, map);
                group |= UINT64_C(1) << symmetry_image(network, other, map);
            }
        }
    }
    for (uint32_t map = 1; map < network->nodes; map++) {
        if (group >> map & 1 && !moves_all(network, map)) {
            return 0;
        }
    }
    return group;
}

static bool stands_before(uint64_t one, uint64_t other)
{
    int more = __builtin_popcountll(one) - __builtin_popcountll(other);

    return more ? more > 0 : one < other;
}

/* Puts a group in its place, unless it is there; returns how many there are then. */
static unsigned put(uint64_t *groups, unsigned count, unsigned room, uint64_t group)
{
    unsigned at = count;

    for (unsigned i = 0; i < count; i++) {
        if (groups[i] == group) {
            return count;
        }
    }
    if (count == room && stands_before(groups[count - 1], group)) {
        return count;
    }
    at = count == room ? count - 1 : count;
    for (; at > 0 && stands_before(group, groups[at - 1]); at--) {
        groups[at] = groups[at - 1];
    }
    groups[at] = group;
    return count == room ? count : count + 1;
}

unsigned symmetries_find(const struct network *network, uint64_t *groups, unsigned room)
{
    unsigned count = 0;

    CHECK(network->nodes <= SYMMETRIES_NODES_MAX && room > 1);
    for (uint32_t one = 0; one < network->nodes; one++) {
        for (uint32_t other = one; other < network->nodes && is_map(network, one); other++) {
            uint64_t group = is_map(network, other) ? group_of(network, one, other) : 0;
            if (group > 1) {
                count = put(groups, count, room - 1, group);
            }
        }
    }
    groups[count] = 1;
    return count + 1;
}
