#include "network/paths.h"

#include <stddef.h>

/* What is to be done in a dimension on the way from one node to the other. */
struct way {
    uint32_t steps; /* of the short way */
    uint32_t size;
    uint8_t good, back; /* the ports of the short way, and of the other; NETWORK_NO_PORT */
    bool wraps;
    bool behind; /* there is a node one step back from the first */
    bool beyond; /* and one step past the last */
    bool evened; /* two paths of two hops more go through it: EVEN */
};

/* Dimensions that differ, and the state of the making. */
struct making {
    const struct network *network;
    uint32_t from, to;
    struct way way[NETWORK_DIMS_MAX];
    unsigned count;
    uint32_t differs; /* a bit for each dimension */
    unsigned leads;   /* which of them those that go aside correct first */
    struct network_path *paths;
    unsigned made;
};

static struct network_path *new_path(struct making *making)
{
    struct network_path *path = &making->paths[making->made++];

    path->hops = 0;
    path->run_count = 0;
    return path;
}

static void add(struct network_path *path, unsigned port, uint32_t steps)
{
    if (steps == 0) {
        return;
    }
    path->hops += steps;
    if (path->run_count && path->port[path->run_count - 1] == port) {
        path->steps[path->run_count - 1] = (uint16_t)(path->steps[path->run_count - 1] + steps);
        return;
    }
    path->port[path->run_count] = (uint8_t)port;
    path->steps[path->run_count++] = (uint16_t)steps;
}

unsigned network_path_port(const struct network_path *path, uint32_t hop)
{
    unsigned run = 0;

    while (hop >= path->steps[run]) {
        hop -= path->steps[run++];
    }
    return path->port[run];
}

/* Hops from one node to another in one dimension over one port. */
static uint32_t steps_over(const struct network *network, uint32_t from, uint32_t to,
                           unsigned dimension, unsigned port)
{
    const struct network_dimension *dim = &network->dim[dimension];
    uint32_t a = from / dim->stride % dim->size, b = to / dim->stride % dim->size;
    uint32_t up = (b + dim->size - a) % dim->size;

    return network_port_sign(network, port) > 0 || dim->ports == 1 ? (up ? up : dim->size)
                                                                   : dim->size - up;
}

static void find_ways(struct making *making)
{
    const struct network *network = making->network;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        unsigned good = network_port_toward(network, making->from, making->to, k);
        if (good == NETWORK_NO_PORT) {
            continue;
        }
        struct way *way = &making->way[making->count++];
        *way = (struct way){
            .size = dim->size, .wraps = dim->wraps, .good = (uint8_t)good, .back = NETWORK_NO_PORT};
        way->steps = dim->ports == 1 ? 1 : steps_over(network, making->from, making->to, k, good);
        if (dim->ports == 2) {
            way->back = (uint8_t)network_far_port(network, good);
            way->behind = network_neighbour(network, making->from, way->back) != NETWORK_NO_NODE;
            way->beyond = network_neighbour(network, making->to, good) != NETWORK_NO_NODE;
        }
        making->differs |= UINT32_C(1) << k;
    }
}

/* How much longer the long way round is. */
static uint32_t excess(const struct way *way)
{
    return way->size - 2 * way->steps;
}

/* Whether the nodes one step back and one too far are two. */
static bool has_room(const struct way *way)
{
    return way->behind && way->beyond && (!way->wraps || way->size >= way->steps + 3);
}

/* Corrects all dimensions from the one behind `first` on, going round, but `left_out`. */
static void add_others(const struct making *making, struct network_path *path, unsigned first,
                       unsigned left_out)
{
    for (unsigned i = 1; i < making->count; i++) {
        unsigned k = (first + i) % making->count;
        if (k != left_out) {
            add(path, making->way[k].good, making->way[k].steps);
        }
    }
}

/* The paths of `way` hops: one for each dimension that is not evened. Those that are come right
 * behind the first, where no other path of these is. One alone is cut by them. */
static void add_rounds(struct making *making)
{
    unsigned plain = 0;

    for (unsigned k = 0; k < making->count; k++) {
        plain += !making->way[k].evened;
    }
    for (unsigned k = 0; k < making->count; k++) {
        const struct way *first = &making->way[k];
        if (first->evened) {
            continue;
        }
        struct network_path *path = new_path(making);
        bool cut = plain == 1 && making->count > 1;
        add(path, first->good, cut ? 1 : first->steps);
        for (unsigned i = 1; i < making->count; i++) {
            const struct way *way = &making->way[(k + i) % making->count];
            add(path, way->good, way->evened ? way->steps : 0);
        }
        for (unsigned i = 1; i < making->count; i++) {
            const struct way *way = &making->way[(k + i) % making->count];
            add(path, way->good, way->evened ? 0 : way->steps);
        }
        add(path, first->good, cut ? first->steps - 1 : 0);
    }
}

/* Those that go one step aside in a dimension that is right, but one. */
static void add_asides(struct making *making, unsigned left_out)
{
    const struct network *network = making->network;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        for (unsigned port = dim->port; port < (unsigned)dim->port + dim->ports; port++) {
            if (making->differs >> k & 1 || k == left_out ||
                network_neighbour(network, making->from, port) == NETWORK_NO_NODE) {
                continue;
            }
            struct network_path *path = new_path(making);
            add(path, port, 1);
            add(path, making->way[making->leads].good, making->way[making->leads].steps);
            add_others(making, path, making->leads, making->leads);
            add(path, network_far_port(network, port), 1);
        }
    }
}

/* One begins with a step back, one ends with it. */
static void add_evened(struct making *making, unsigned k)
{
    const struct way *way = &making->way[k];
    struct network_path *path = new_path(making);

    add(path, way->good, way->steps + 1);
    add_others(making, path, k, k);
    add(path, way->back, 1);
    path = new_path(making);
    add(path, way->back, 1);
    add_others(making, path, k, k);
    add(path, way->good, way->steps + 1);
}

static void add_long_way(struct making *making, unsigned k)
{
    const struct way *way = &making->way[k];
    struct network_path *path = new_path(making);

    add(path, way->back, 1);
    add_others(making, path, k, k);
    add(path, way->back, way->size - way->steps - 1);
}

/* A step back in dimension k, one too many in m. */
static void add_crossing(struct making *making, unsigned k, unsigned m)
{
    const struct way *back = &making->way[k], *over = &making->way[m];
    struct network_path *path = new_path(making);

    add(path, back->back, 1);
    add(path, over->good, over->steps + 1);
    add_others(making, path, k, m);
    add(path, back->good, back->steps + 1);
    add(path, over->back, 1);
}

/* Two steps aside in dimensions that are right, where no path one step aside is; false: there are
 * none. */
static bool find_two_aside(const struct making *making, unsigned aside[2])
{
    const struct network *network = making->network;

    for (unsigned a = 0; a < network->ports; a++) {
        uint32_t next = network_neighbour(network, making->from, a);
        unsigned k = network_port_dimension(network, a);
        if (next == NETWORK_NO_NODE || making->differs >> k & 1) {
            continue;
        }
        for (unsigned b = 0; b < network->ports; b++) {
            uint32_t second = network_neighbour(network, next, b);
            if (second != NETWORK_NO_NODE && second != making->from &&
                !(making->differs >> network_port_dimension(network, b) & 1) &&
                network_port_to(network, making->from, second) == NETWORK_NO_PORT) {
                aside[0] = a;
                aside[1] = b;
                return true;
            }
        }
    }
    return false;
}

/* The last path of one dimension: round the ring, or past both ends two steps aside. */
static void add_last_of_one(struct making *making)
{
    const struct network *network = making->network;
    const struct way *way = &making->way[0];
    bool round = way->wraps, passes = way->behind && way->beyond;
    unsigned aside[2];

    passes = passes && (!way->wraps || way->size > way->steps + 2) &&
             find_two_aside(making, aside) && (!round || excess(way) > 8);
    if (passes) {
        struct network_path *path = new_path(making);
        add(path, way->back, 1);
        add(path, aside[0], 1);
        add(path, aside[1], 1);
        add(path, way->good, way->steps + 2);
        add(path, network_far_port(network, aside[1]), 1);
        add(path, network_far_port(network, aside[0]), 1);
        add(path, way->back, 1);
    } else if (round) {
        add_long_way(making, 0);
    }
}

/* The dimensions with a step back, and with one too far, that go neither round nor are evened. */
static void find_crossing(const struct making *making, enum network_paths_kind kind,
                          uint32_t *backs, uint32_t *overs)
{
    const uint32_t crossing = 4; /* hops that it takes more */

    *backs = *overs = 0;
    for (unsigned k = 0; k < making->count; k++) {
        const struct way *way = &making->way[k];
        bool round =
            way->wraps && (kind == NETWORK_PATHS_EVEN || !has_room(way) || excess(way) <= crossing);
        if (!way->evened && !round) {
            *backs |= (uint32_t)way->behind << k;
            *overs |= (uint32_t)way->beyond << k;
        }
    }
}

/* Which dimensions are evened: those whose long way is long, as far as the other paths stay: one
 * dimension alone that is not must be cut, which takes two steps. On a mesh also the one that can
 * be crossed with no other. */
static void choose_evened(struct making *making, enum network_paths_kind kind)
{
    const uint32_t worth = 3;
    unsigned plain = making->count;
    struct way *alone = NULL, *least = NULL;
    uint32_t backs, overs;

    find_crossing(making, kind, &backs, &overs);
    for (unsigned k = 0; k < making->count; k++) {
        struct way *way = &making->way[k];
        bool only = !way->wraps && backs == overs && backs == UINT32_C(1) << k;
        way->evened = has_room(way) &&
                      (only || (kind == NETWORK_PATHS_EVEN && way->wraps && excess(way) >= worth));
        plain -= way->evened;
        alone = way->evened ? alone : way;
        if (way->evened && (!least || excess(way) < excess(least))) {
            least = way;
        }
    }
    if (plain == 1 && least && alone->steps == 1) {
        alone->evened = has_room(alone) && alone->wraps;
        least->evened = alone->evened;
        making->leads = (unsigned)(least - making->way);
    }
}

/* Each step back with one too many in another dimension: the turn of the list that pairs most. */
static void add_crossings(struct making *making, uint32_t backs, uint32_t overs)
{
    unsigned back[NETWORK_DIMS_MAX], over[NETWORK_DIMS_MAX], b = 0, o = 0, best = 0, most = 0;

    for (unsigned k = 0; k < making->count; k++) {
        back[b] = over[o] = k;
        b += backs >> k & 1;
        o += overs >> k & 1;
    }
    unsigned count = b > o ? b : o;
    for (unsigned turn = 0; turn < count; turn++) {
        unsigned pairs = 0;
        for (unsigned i = 0; i < b; i++) {
            unsigned at = (i + turn) % count;
            pairs += at < o && back[i] != over[at];
        }
        best = pairs > most ? turn : best;
        most = pairs > most ? pairs : most;
    }
    for (unsigned i = 0; i < b && most > 0; i++) {
        unsigned at = (i + best) % count;
        if (at < o && back[i] != over[at]) {
            add_crossing(making, back[i], over[at]);
        }
    }
}

/* A step back and one too many in dimension k, past both ends one step aside, where the other
 * dimension, of one step, is right already: all other rows are used. */
static void add_past(struct making *making, unsigned k)
{
    const struct network *network = making->network;
    const struct way *way = &making->way[k], *other = &making->way[1 - k];
    unsigned port = 0;

    while (port < network->ports &&
           (making->differs >> network_port_dimension(network, port) & 1 ||
            network_neighbour(network, making->from, port) == NETWORK_NO_NODE)) {
        port++;
    }
    if (port == network->ports) {
        return;
    }
    struct network_path *path = new_path(making);
    add(path, way->back, 1);
    add(path, other->good, other->steps);
    add(path, port, 1);
    add(path, way->good, way->steps + 2);
    add(path, network_far_port(network, port), 1);
    add(path, way->back, 1);
}

/* All that leave by a step back. */
static void add_backs(struct making *making, enum network_paths_kind kind)
{
    uint32_t backs, overs;

    find_crossing(making, kind, &backs, &overs);
    for (unsigned k = 0; k < making->count; k++) {
        const struct way *way = &making->way[k];
        bool alone = backs == UINT32_C(1) << k && backs == overs;
        if (way->evened) {
            add_evened(making, k);
        } else if (way->wraps && (alone || !(backs >> k & 1))) {
            add_long_way(making, k);
        } else if (alone && making->count == 2) {
            add_past(making, k);
        }
    }
    add_crossings(making, backs, overs);
}

/*
 * Of one dimension: lengths of four paths as even as they can be, over the rows one step aside, up
 * and down, and two down. NETWORK_DIMS_MAX, and no path: there is no room, or nothing is gained.
 *
 *     s = 1   + | up + down | down + + up - | - down down + + up up
 *     s > 1   up +s down | + down +s up - | - down + + up +(s-1) | down down +s up up
 */
static unsigned add_even_of_one(struct making *making)
{
    const struct network *network = making->network;
    const struct way *way = &making->way[0];
    uint32_t s = way->steps, gain = s == 1 ? 6 : 4;
    unsigned k = 0;

    if (!way->wraps || !has_room(way) || excess(way) <= gain) {
        return NETWORK_DIMS_MAX;
    }
    while (k < network->dims && (making->differs >> k & 1 || network->dim[k].size < 4)) {
        k++;
    }
    if (k == network->dims) {
        return NETWORK_DIMS_MAX;
    }
    unsigned up = network->dim[k].port, down = up + 1u;
    struct network_path *path[4];
    for (unsigned i = 0; i < 4; i++) {
        path[i] = new_path(making);
    }
    if (s == 1) {
        add(path[0], way->good, 1);
        add(path[1], up, 1);
        add(path[1], way->good, 1);
        add(path[1], down, 1);
        add(path[2], down, 1);
        add(path[2], way->good, 2);
        add(path[2], up, 1);
        add(path[2], way->back, 1);
        add(path[3], way->back, 1);
        add(path[3], down, 2);
        add(path[3], way->good, 2);
        add(path[3], up, 2);
        return k;
    }
    add(path[0], up, 1);
    add(path[0], way->good, s);
    add(path[0], down, 1);
    add(path[1], way->good, 1);
    add(path[1], down, 1);
    add(path[1], way->good, s);
    add(path[1], up, 1);
    add(path[1], way->back, 1);
    add(path[2], way->back, 1);
    add(path[2], down, 1);
    add(path[2], way->good, 2);
    add(path[2], up, 1);
    add(path[2], way->good, s - 1);
    add(path[3], down, 2);
    add(path[3], way->good, s);
    add(path[3], up, 2);
    return k;
}

static void sort(struct network_path *paths, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        struct network_path path = paths[i];
        unsigned at = i;
        for (; at > 0 && paths[at - 1].hops > path.hops; at--) {
            paths[at] = paths[at - 1];
        }
        paths[at] = path;
    }
}

unsigned network_paths(const struct network *network, uint32_t from, uint32_t to,
                       enum network_paths_kind kind, unsigned most,
                       struct network_path paths[NETWORK_PATHS_MAX])
{
    struct making making = {.network = network, .from = from, .to = to, .paths = paths};
    unsigned rows = NETWORK_DIMS_MAX;

    find_ways(&making);
    if (making.count == 0) {
        return 0;
    }
    if (making.count > 1) {
        choose_evened(&making, kind);
    } else if (kind == NETWORK_PATHS_EVEN) {
        rows = add_even_of_one(&making);
    }
    if (making.made == 0) {
        add_rounds(&making);
    }
    add_asides(&making, rows);
    if (making.count > 1) {
        add_backs(&making, kind);
    } else if (rows == NETWORK_DIMS_MAX) {
        add_last_of_one(&making);
    }
    sort(paths, making.made);
    return making.made < most ? making.made : most;
}
