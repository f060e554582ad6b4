#include "network/network.h"

static uint32_t coordinate(const struct network *network, uint32_t node, unsigned dimension)
{
    const struct network_dimension *dim = &network->dim[dimension];

    return node / dim->stride % dim->size;
}

static bool count_fits(enum network_kind kind, unsigned count)
{
    switch (kind) {
    case NETWORK_CUBE: return count <= NETWORK_DIMS_MAX;
    case NETWORK_RING: return count == 1;
    case NETWORK_MESH:
    case NETWORK_TORUS: return count > 0 && count <= NETWORK_SIZES_MAX;
    default: return false;
    }
}

bool network_make(struct network *network, enum network_kind kind, const uint32_t *size,
                  unsigned count)
{
    *network = (struct network){.kind = (uint8_t)kind, .nodes = 1};
    if (!count_fits(kind, count)) {
        return false;
    }
    for (unsigned k = 0; k < count; k++) {
        uint32_t nodes = kind == NETWORK_CUBE ? 2 : size[k];
        if (nodes == 0 || nodes > NETWORK_NODES_MAX / network->nodes) {
            return false;
        }
        struct network_dimension *dim = &network->dim[network->dims++];
        dim->size = nodes;
        dim->stride = network->nodes;
        dim->port = network->ports;
        dim->ports = nodes > 2 ? 2 : (uint8_t)(nodes - 1);
        dim->wraps = nodes > 2 && kind != NETWORK_MESH;
        network->ports = (uint8_t)(network->ports + dim->ports);
        network->nodes *= nodes;
    }
    return true;
}

unsigned network_port_dimension(const struct network *network, unsigned port)
{
    unsigned k = 0;

    while (port >= (unsigned)network->dim[k].port + network->dim[k].ports) {
        k++;
    }
    return k;
}

int network_port_sign(const struct network *network, unsigned port)
{
    return port == network->dim[network_port_dimension(network, port)].port ? 1 : -1;
}

uint32_t network_neighbour(const struct network *network, uint32_t node, unsigned port)
{
    if (port >= network->ports) {
        return NETWORK_NO_NODE;
    }
    unsigned k = network_port_dimension(network, port);
    const struct network_dimension *dim = &network->dim[k];
    uint32_t at = coordinate(network, node, k), span = (dim->size - 1) * dim->stride;

    if (dim->ports == 1) {
        return at ? node - dim->stride : node + dim->stride;
    }
    if (port == dim->port && at < dim->size - 1) {
        return node + dim->stride;
    }
    if (port != dim->port && at > 0) {
        return node - dim->stride;
    }
    if (!dim->wraps) {
        return NETWORK_NO_NODE;
    }
    return at ? node - span : node + span;
}

unsigned network_far_port(const struct network *network, unsigned port)
{
    const struct network_dimension *dim = &network->dim[network_port_dimension(network, port)];

    if (dim->ports == 1) {
        return port;
    }
    return port == dim->port ? port + 1 : port - 1;
}

unsigned network_port_to(const struct network *network, uint32_t node, uint32_t other)
{
    for (unsigned port = 0; port < network->ports; port++) {
        if (network_neighbour(network, node, port) == other) {
            return port;
        }
    }
    return NETWORK_NO_PORT;
}

/* How far it is in + direction; of a path, negative to the other side. */
static int32_t steps_toward(const struct network *network, uint32_t from, uint32_t to,
                            unsigned dimension)
{
    const struct network_dimension *dim = &network->dim[dimension];
    int32_t size = (int32_t)dim->size;
    int32_t steps =
        (int32_t)coordinate(network, to, dimension) - (int32_t)coordinate(network, from, dimension);

    if (dim->wraps && steps > size / 2) {
        return steps - size;
    }
    if (dim->wraps && -2 * steps >= size) { /* the opposite node is reached in + direction */
        return steps + size;
    }
    return steps;
}

unsigned network_port_toward(const struct network *network, uint32_t from, uint32_t to,
                             unsigned dimension)
{
    const struct network_dimension *dim = &network->dim[dimension];
    int32_t steps = steps_toward(network, from, to, dimension);

    if (steps == 0) {
        return NETWORK_NO_PORT;
    }
    return steps > 0 || dim->ports == 1 ? dim->port : dim->port + 1u;
}

unsigned network_first_wrong(const struct network *network, uint32_t from, uint32_t to)
{
    for (unsigned k = 0; k < network->dims; k++) {
        unsigned port = network_port_toward(network, from, to, k);
        if (port != NETWORK_NO_PORT) {
            return port;
        }
    }
    return NETWORK_NO_PORT;
}

unsigned network_distance(const struct network *network, uint32_t from, uint32_t to)
{
    unsigned hops = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        int32_t steps = steps_toward(network, from, to, k);
        hops += (unsigned)(steps < 0 ? -steps : steps);
    }
    return hops;
}

unsigned network_diameter(const struct network *network)
{
    unsigned hops = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        hops += dim->wraps ? dim->size / 2 : dim->size - 1;
    }
    return hops;
}

bool network_stays_in_ring(const struct network *network, unsigned in, unsigned out)
{
    if (in >= network->ports || out >= network->ports) {
        return false;
    }
    unsigned k = network_port_dimension(network, out);

    return network->dim[k].wraps && network->dim[k].size > 3 &&
           k == network_port_dimension(network, in);
}

bool network_is_symmetric(const struct network *network)
{
    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > 2 && !network->dim[k].wraps) {
            return false;
        }
    }
    return true;
}

/* Adds to each coordinate of `node` that of `by`, or what it lacks to the size. */
static uint32_t moved(const struct network *network, uint32_t node, uint32_t by, bool back)
{
    uint32_t result = 0;

    if (network->kind == NETWORK_CUBE) {
        return node ^ by;
    }
    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t step = coordinate(network, by, k);
        if (back) {
            step = dim->size - step;
        }
        result += (coordinate(network, node, k) + step) % dim->size * dim->stride;
    }
    return result;
}

uint32_t network_translate(const struct network *network, uint32_t node, uint32_t by)
{
    return moved(network, node, by, false);
}

uint32_t network_difference(const struct network *network, uint32_t node, uint32_t from)
{
    return moved(network, node, from, true);
}

/* FNV-1a of 32 bits, of four bytes more. */
static uint32_t digest_add(uint32_t digest, uint32_t word)
{
    const uint32_t prime = 0x01000193;

    for (unsigned shift = 0; shift < 32; shift += 8) {
        digest = (digest ^ (word >> shift & 0xff)) * prime;
    }
    return digest;
}

uint32_t network_digest(const struct network *network)
{
    const uint32_t basis = 0x811c9dc5;
    uint32_t digest = digest_add(basis, network->kind);

    for (unsigned k = 0; k < network->dims; k++) {
        digest = digest_add(digest, network->dim[k].size);
    }
    return digest;
}

uint32_t network_link_count(const struct network *network)
{
    uint32_t links = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        links += network->nodes / dim->size * (dim->wraps ? dim->size : dim->size - 1);
    }
    return links;
}

bool network_owns_link(const struct network *network, uint32_t node, unsigned port)
{
    uint32_t other = network_neighbour(network, node, port);

    if (other == NETWORK_NO_NODE) {
        return false;
    }
    const struct network_dimension *dim = &network->dim[network_port_dimension(network, port)];
    return dim->ports == 1 ? node < other : port == dim->port;
}

/* Whether each range can be halved. */
static bool ranges_halve(const struct network *network)
{
    uint32_t count = 2;

    for (unsigned i = 0; i < network->host_links && count > 1; i++) {
        network_range(network, i, &count);
    }
    return count > 1;
}

bool network_set_host_links(struct network *network, unsigned links)
{
    network->host_links = 0;
    if (links > NETWORK_HOST_LINKS_MAX || (links & (links - 1)) != 0) {
        return false;
    }
    for (unsigned made = 1; made <= links; made *= 2) {
        if (made > 1 && !ranges_halve(network)) {
            network->host_links = 0;
            return false;
        }
        network->host_links = (uint8_t)made;
    }
    return true;
}

unsigned network_host_links(const struct network *network)
{
    unsigned links = 1;

    if (network->host_links > 0) {
        return network->host_links;
    }

    for (unsigned port = 0; port < network->ports; port++) {
        links += network_neighbour(network, 0, port) != NETWORK_NO_NODE;
    }
    return links;
}

uint32_t network_host_node(const struct network *network, unsigned index)
{
    uint32_t count;

    if (network->host_links > 0) {
        return index < network->host_links ? network_range(network, index, &count)
                                           : NETWORK_NO_NODE;
    }
    if (index == 0) {
        return 0;
    }
    for (unsigned port = 0; port < network->ports; port++) {
        uint32_t node = network_neighbour(network, 0, port);
        if (node != NETWORK_NO_NODE && --index == 0) {
            return node;
        }
    }
    return NETWORK_NO_NODE;
}

int network_host_link_of(const struct network *network, uint32_t node)
{
    if (network->host_links > 0) {
        unsigned index = network_range_of(network, node);
        return network_host_node(network, index) == node ? (int)index : -1;
    }
    for (unsigned i = 0, links = network_host_links(network); i < links; i++) {
        if (network_host_node(network, i) == node) {
            return (int)i;
        }
    }
    return -1;
}

uint32_t network_host_root(const struct network *network, uint32_t node)
{
    if (network->host_links > 0) {
        return network_host_node(network, network_range_of(network, node));
    }
    for (unsigned k = network->dims; k-- > 0;) {
        unsigned port = network_port_toward(network, 0, node, k);
        if (port != NETWORK_NO_PORT) {
            return network_neighbour(network, 0, port);
        }
    }
    return 0;
}

unsigned network_ranges(const struct network *network)
{
    return network->host_links > 0 ? network->host_links : 1;
}

/* The first halving says which half of the ranges it is, the last which of two. */
uint32_t network_range(const struct network *network, unsigned index, uint32_t *count)
{
    uint32_t first = 0;

    *count = network->nodes;
    for (unsigned left = network_ranges(network) / 2; left > 0; left /= 2) {
        uint32_t half = network_half(network, *count);
        if (index & left) {
            first += half;
            *count -= half;
        } else {
            *count = half;
        }
    }
    return first;
}

unsigned network_range_of(const struct network *network, uint32_t node)
{
    uint32_t first = 0, count = network->nodes;
    unsigned index = 0;

    for (unsigned left = network_ranges(network) / 2; left > 0; left /= 2) {
        uint32_t half = network_half(network, count);
        if (node - first >= half) {
            first += half;
            count -= half;
            index |= left;
        } else {
            count = half;
        }
    }
    return index;
}

/* The slowest dimension of which a block spans a part. */
static const struct network_dimension *spanned(const struct network *network, uint32_t count)
{
    unsigned k = network->dims - 1u;

    while (network->dim[k].stride >= count) {
        k--;
    }
    return &network->dim[k];
}

uint32_t network_half(const struct network *network, uint32_t count)
{
    const struct network_dimension *dim = spanned(network, count);

    return (count / dim->stride + 1) / 2 * dim->stride;
}

unsigned network_parts(const struct network *network, uint32_t count)
{
    unsigned parts = 0;

    for (; count > 1; parts++) {
        count = network_half(network, count);
    }
    return parts;
}

uint32_t network_part(const struct network *network, uint32_t count, unsigned index,
                      uint32_t *part_count)
{
    uint32_t half = network_half(network, count);

    for (unsigned step = network_parts(network, count) - 1; step > index; step--) {
        count = half;
        half = network_half(network, count);
    }
    *part_count = count - half;
    return half;
}

bool network_is_block(const struct network *network, uint32_t root, uint32_t count)
{
    if (count == 0 || root >= network->nodes || count > network->nodes - root) {
        return false;
    }
    if (count == 1) {
        return true;
    }
    const struct network_dimension *dim = spanned(network, count);

    return count % dim->stride == 0 && root % dim->stride == 0 &&
           root / dim->stride % dim->size + count / dim->stride <= dim->size;
}

uint32_t network_block_of(const struct network *network, uint32_t root)
{
    uint32_t first = 0, count = network->nodes;

    while (first != root) {
        uint32_t half = network_half(network, count);
        if (root < first + half) {
            count = half;
        } else {
            first += half;
            count -= half;
        }
    }
    return count;
}

/* The first range is the largest: each halving leaves it the larger part. */
unsigned network_halvings(const struct network *network)
{
    uint32_t count;

    network_range(network, 0, &count);
    return network_parts(network, count);
}
