#include "planner/proof/link_load.h"

#include <stdlib.h>

#include "planner/build.h"

__extension__ typedef unsigned __int128 wide; /* amounts times weights */

static uint64_t shared(uint64_t amount, uint64_t links)
{
    return (amount + links - 1) / links;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct link_load link_load_begin(const struct network *network)
{
    struct link_load load = {.network = network};

    for (unsigned k = 0; k < network->dims; k++) {
        load.across[k] = planner_memory(2 * (uint64_t)network->dim[k].size, sizeof(uint64_t));
        load.forward[k] = planner_memory(network->dim[k].size, sizeof(uint64_t));
    }
    return load;
}

/* Adds to `count` places of a ring from one on. */
static void add_round(uint64_t *across, uint32_t size, uint32_t first, uint32_t count,
                      uint64_t amount)
{
    uint32_t end = first + count;

    across[first] += amount;
    if (end < size) {
        across[end] -= amount;
    } else if (end > size) {
        across[0] += amount;
        across[end - size] -= amount;
    }
}

/* Halves [i, i + size / 2) that have `in` and not `out`. The shorter way from one to the other is
 * so many links long. */
static void add_halves(uint64_t *across, uint32_t size, uint32_t in, uint32_t out, uint64_t amount)
{
    uint32_t half = size / 2, forward = (out + size - in) % size;

    if (forward <= half) {
        add_round(across, size, (in + size - half + 1) % size, forward, amount);
    } else {
        add_round(across, size, (out + 1) % size, size - forward, amount);
    }
}

static void add_cuts(uint64_t *across, uint32_t size, uint32_t at, uint32_t end, uint64_t amount)
{
    uint32_t low = at < end ? at : end, high = at < end ? end : at;

    across += at < end ? 0 : size;
    across[low] += amount; /* it crosses the cuts behind `low`, as far as `high` */
    across[high] -= amount;
}

void link_load_add(struct link_load *load, uint32_t from, uint32_t to, uint64_t amount)
{
    for (unsigned k = 0; k < load->network->dims; k++) {
        const struct network_dimension *dim = &load->network->dim[k];
        uint32_t size = dim->size, at = from / dim->stride % size, end = to / dim->stride % size;
        if (at == end) {
            continue;
        }
        if (dim->wraps) {
            add_halves(load->across[k], size, at, end, amount);
            add_halves(load->across[k] + size, size, end, at, amount);
            load->forward[k][(end + size - at) % size] += amount;
        } else {
            add_cuts(load->across[k], size, at, end, amount);
        }
    }
}

/* The most that crosses one of the cuts, or halves; `across` has what each has more. */
static uint64_t most_across(uint64_t *across, uint32_t size)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < 2 * size; i++) {
        across[i] += i % size ? across[i - 1] : 0;
        most = larger(most, across[i]);
    }
    return most;
}

/* What goes round `rings` rings, weighed for every g. */
static uint64_t round_rings(const uint64_t *forward, uint64_t size, uint64_t rings)
{
    wide ahead = 0, back = 0, most = 0;

    for (uint64_t f = 1; f < size; f++) {
        back += (wide)forward[f] * (size - f);
    }
    for (uint64_t g = 1; g < size; g++) { /* up to g forward, beyond it back */
        ahead += (wide)forward[g] * g;
        back -= (wide)forward[g] * (size - g);
        wide weight = ahead * (size - g) + back * g;
        most = weight > most ? weight : most;
    }
    wide links = (wide)rings * size * size; /* the weights of each link and its like backward: s */
    return (uint64_t)((most + links - 1) / links);
}

uint64_t link_load_end(struct link_load *load)
{
    const struct network *network = load->network;
    uint64_t most = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint64_t lines = network->nodes / dim->size;
        most = larger(
            most, shared(most_across(load->across[k], dim->size), dim->wraps ? 2 * lines : lines));
        if (dim->wraps) {
            most = larger(most, round_rings(load->forward[k], dim->size, lines));
        }
        free(load->across[k]);
        free(load->forward[k]);
    }
    return most;
}

uint64_t link_load_of_exchange(const struct network *network)
{
    uint64_t most = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        /* across the middle of a line, and from half of a ring, over two links: size^2 / 4 */
        uint64_t size = network->dim[k].size, lines = network->nodes / size;
        most = larger(most, shared(size * size / 4 * lines, network->dim[k].wraps ? 2 : 1));
    }
    return most;
}
