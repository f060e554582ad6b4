/*
 * gossip_search.c - who tells whom in which step, by threshold accepting: a small change is kept if
 * it makes the time no longer than the one before by more than a threshold, which falls to 0.
 *
 * The time is that of the model for short blocks, whole steps, with one port, on an iPSC/860: on
 * other machines the plan is as right. Who has not heard of a node at last adds to it. All numbers
 * are whole, all draws from fixed seeds, and there is so much work and no more, so the same comes
 * out on every machine.
 *
 * Steps are searched that a group of maps leaves as they are (symmetries.h): node v of each orbit
 * tells some node, and its images tell the images of that. First each group and number of steps
 * is tried for a short while, from the fewest steps that can do on; then the best of these longer.
 *
 * Source   Dueck & Scheuer, Threshold accepting, J. Computational Physics 90(1), 1990, 161-175;
 *          gossiping: Hedetniemi, Hedetniemi & Liestman, Networks 18(4), 1988, 319-349
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "planner/algorithms/gossip.h"
#include "planner/algorithms/symmetries.h"
#include "planner/build.h"

enum {
    STEPS_MORE = 3, /* numbers of steps that are tried */
    GROUPS_MAX = 512,
    GROUPS_TRIED = 6,
    ORBITS_MAX = 16,    /* of larger networks, groups with more orbits are not tried */
    SHORT_RUN = 200000, /* circuits that are timed */
    LONG_RUN = 1500000,
    LONG_RUNS = 3,
    THRESHOLD_NS = 20000,
    UNHEARD_NS = 30000,
    XI_NS = 65425,
    TAU_NS = 9575,
    ELEMENT_NS = 425
};

static const uint64_t SEED = UINT64_C(88172645463325252);

/* The orbits of nodes by a group. */
struct orbits {
    uint64_t group;
    uint32_t count;
    uint8_t first[GOSSIP_NODES_MAX]; /* node of each orbit */
    uint8_t orbit[GOSSIP_NODES_MAX]; /* of each node */
};

/* image[MAP][NODE]: symmetry_image, which a search asks for tens of millions of times. */
struct maps {
    uint8_t image[GOSSIP_NODES_MAX][GOSSIP_NODES_MAX];
};

struct state {
    const struct network *network;
    const struct gossip_paths *paths;
    const struct maps *maps;
    uint32_t bytes;
    const struct orbits *orbits;
    struct gossip gossip;
    uint8_t order[GOSSIP_STEPS_MAX][GOSSIP_NODES_MAX]; /* gossip_order of each step, */
    uint32_t tellers[GOSSIP_STEPS_MAX];                /* and how many they are */
    uint64_t seed, work;
    uint64_t least; /* nothing costs less */
};

static uint32_t drawn(struct state *s, uint32_t count)
{
    s->seed ^= s->seed << 13;
    s->seed ^= s->seed >> 7;
    s->seed ^= s->seed << 17;
    return (uint32_t)((s->seed >> 32) * count >> 32);
}

/* Time ---------------------------------------------------------------------------------------- */

void gossip_find_paths(struct gossip_paths *paths, const struct network *network)
{
    paths->nodes = network->nodes;
    paths->links = network->nodes * network->ports;
    for (uint32_t from = 0; from < network->nodes; from++) {
        for (uint32_t to = 0; to < network->nodes; to++) {
            uint8_t hops = 0;
            for (uint32_t at = from; at != to;) {
                unsigned port = network_next_hop(network, at, to);
                paths->link[from][to][hops++] = (uint16_t)(at * network->ports + port);
                at = network_neighbour(network, at, port);
            }
            paths->hops[from][to] = hops;
        }
    }
}

/* The nodes that tell, the longest circuits first. */
static uint32_t by_length(const struct gossip_paths *paths, const uint8_t *to, uint8_t *order)
{
    uint32_t at[GOSSIP_NODES_MAX + 1] = {0}, count = 0;

    for (uint32_t node = 0; node < paths->nodes; node++) {
        at[paths->hops[node][to[node]]]++;
    }
    for (uint32_t hops = GOSSIP_NODES_MAX; hops > 0; hops--) {
        uint32_t so_long = at[hops];
        at[hops] = count;
        count += so_long;
    }
    for (uint32_t node = 0; node < paths->nodes; node++) {
        if (to[node] != node) {
            order[at[paths->hops[node][to[node]]]++] = (uint8_t)node;
        }
    }
    return count;
}

uint32_t gossip_order(const struct gossip_paths *paths, const uint8_t *to, uint8_t *order)
{
    uint64_t used[GOSSIP_NODES_MAX * NETWORK_PORTS_MAX]; /* bit r of a link: in round r */
    uint8_t longest[GOSSIP_NODES_MAX], round[GOSSIP_NODES_MAX];
    uint32_t count = by_length(paths, to, longest), placed = 0;

    memset(used, 0, paths->links * sizeof *used);
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t *link = paths->link[longest[i]][to[longest[i]]];
        uint32_t hops = paths->hops[longest[i]][to[longest[i]]];
        uint64_t taken = 0;
        for (uint32_t h = 0; h < hops; h++) {
            taken |= used[link[h]];
        }
        round[i] = (uint8_t)__builtin_ctzll(~taken);
        for (uint32_t h = 0; h < hops; h++) {
            used[link[h]] |= UINT64_C(1) << round[i];
        }
    }
    for (uint32_t r = 0; placed < count; r++) {
        for (uint32_t i = 0; i < count; i++) {
            if (round[i] == r) {
                order[placed++] = longest[i];
            }
        }
    }
    return count;
}

/* What is known, and when, as far as it has come. */
struct course {
    uint64_t known[GOSSIP_NODES_MAX], heard[GOSSIP_NODES_MAX]; /* before the step, and behind it */
    uint64_t ended[GOSSIP_NODES_MAX], ends[GOSSIP_NODES_MAX];
    uint64_t link_free[GOSSIP_NODES_MAX * NETWORK_PORTS_MAX];
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A circuit by the rule of planner.h, unless it has nothing new to tell. */
static void tell(const struct state *s, struct course *c, uint32_t from, uint32_t to)
{
    const uint16_t *link = s->paths->link[from][to];
    uint64_t news = c->known[from] & ~c->known[to], t = c->ended[from] + XI_NS;
    uint32_t hops = s->paths->hops[from][to];

    if (!news) {
        return;
    }
    for (uint32_t h = 0; h < hops; h++) {
        t = later(t, c->link_free[link[h]]) + TAU_NS;
    }
    uint64_t bytes = (uint64_t)__builtin_popcountll(news) * s->bytes;
    uint64_t done = later(t, c->ended[to]) + (hops + bytes - 1) * ELEMENT_NS;
    for (uint32_t h = 0; h < hops; h++) {
        c->link_free[link[h]] = done;
    }
    c->ends[from] = later(c->ends[from], done);
    c->ends[to] = later(c->ends[to], done);
    c->heard[to] |= c->known[from];
}

/* The time of the last node, and more for whoever has not been heard of; *whole: nobody has not. */
static uint64_t cost_of(struct state *s, bool *whole)
{
    struct course c;
    uint32_t nodes = s->network->nodes;
    uint64_t cost = 0, unheard = 0;

    memset(c.link_free, 0, s->paths->links * sizeof *c.link_free);
    memset(c.ended, 0, sizeof c.ended);
    memset(c.ends, 0, sizeof c.ends);
    for (uint32_t node = 0; node < nodes; node++) {
        c.known[node] = c.heard[node] = UINT64_C(1) << node;
    }
    for (uint32_t step = 0; step < s->gossip.steps; step++) {
        const uint8_t *to = s->gossip.to[step], *order = s->order[step];
        for (uint32_t i = 0; i < s->tellers[step]; i++) {
            tell(s, &c, order[i], to[order[i]]);
        }
        memcpy(c.known, c.heard, sizeof c.known);
        memcpy(c.ended, c.ends, sizeof c.ended);
        s->work += s->tellers[step] + 1;
    }
    for (uint32_t node = 0; node < nodes; node++) {
        cost = later(cost, c.ended[node]);
        unheard += nodes - (uint32_t)__builtin_popcountll(c.known[node]);
    }
    *whole = unheard == 0;
    return cost + unheard * UNHEARD_NS;
}

static void put_in_order(struct state *s, uint32_t step)
{
    s->tellers[step] = gossip_order(s->paths, s->gossip.to[step], s->order[step]);
}

/* Changes ------------------------------------------------------------------------------------- */

/* Lets the first node of an orbit tell a node, and images their images. */
static void set_target(struct state *s, uint32_t step, uint32_t orbit, uint32_t to)
{
    for (uint32_t map = 0; map < s->network->nodes; map++) {
        if (s->orbits->group >> map & 1) {
            const uint8_t *image = s->maps->image[map];
            s->gossip.to[step][image[s->orbits->first[orbit]]] = image[to];
        }
    }
}

static uint32_t target_of(const struct state *s, uint32_t step, uint32_t orbit)
{
    return s->gossip.to[step][s->orbits->first[orbit]];
}

/* The orbit that tells nodes of an orbit in a step; or itself. */
static uint32_t teller_of(const struct state *s, uint32_t step, uint32_t orbit)
{
    uint32_t teller = orbit;

    for (uint32_t i = 0; i < s->orbits->count; i++) {
        uint32_t to = target_of(s, step, i);
        if (to != s->orbits->first[i] && s->orbits->orbit[to] == orbit) {
            teller = i;
        }
    }
    return teller;
}

static void be_silent(struct state *s, uint32_t step, uint32_t orbit)
{
    set_target(s, step, orbit, s->orbits->first[orbit]);
}

/* An orbit tells another node; who told that one tells whom the orbit told. */
static void tell_another(struct state *s, uint32_t step, uint32_t orbit, uint32_t to)
{
    uint32_t before = target_of(s, step, orbit);
    uint32_t teller = teller_of(s, step, s->orbits->orbit[to]);
    bool told = target_of(s, step, teller) != s->orbits->first[teller];

    if (told && teller != orbit) {
        be_silent(s, step, teller);
        if (before != s->orbits->first[orbit] && before != s->orbits->first[teller]) {
            set_target(s, step, teller, before);
        }
    }
    set_target(s, step, orbit, to);
}

/* The map that brings the first node of an orbit to a node of it. */
static uint32_t map_to(const struct state *s, uint32_t orbit, uint32_t node)
{
    uint32_t map = 0;

    while (!(s->orbits->group >> map & 1) || s->maps->image[map][s->orbits->first[orbit]] != node) {
        map++;
    }
    return map;
}

/* The node whose image by a map is so. */
static uint32_t image_back(const struct state *s, uint32_t map, uint32_t image)
{
    uint32_t node = 0;

    while (s->maps->image[map][node] != image) {
        node++;
    }
    return node;
}

/* The first node of an orbit and another node tell each other; who told them is silent. */
static void tell_each_other(struct state *s, uint32_t step, uint32_t orbit, uint32_t with)
{
    uint32_t first = s->orbits->first[orbit], other = s->orbits->orbit[with];

    be_silent(s, step, teller_of(s, step, orbit));
    be_silent(s, step, teller_of(s, step, other));
    be_silent(s, step, orbit);
    be_silent(s, step, other);
    set_target(s, step, orbit, with);
    if (other != orbit) {
        set_target(s, step, other, image_back(s, map_to(s, other, with), first));
    }
}

/* Changes one step; returns which. */
static uint32_t change(struct state *s)
{
    uint32_t step = drawn(s, s->gossip.steps), orbit = drawn(s, s->orbits->count);
    uint32_t node = drawn(s, s->network->nodes);

    if (drawn(s, 2)) {
        tell_another(s, step, orbit, node);
    } else {
        tell_each_other(s, step, orbit, node);
    }
    put_in_order(s, step);
    return step;
}

/* Runs ---------------------------------------------------------------------------------------- */

/* How a run begins, and the best that any has found. */
struct found {
    struct gossip gossip;
    uint64_t cost; /* UINT64_MAX: nothing that is whole */
};

/* Searches for so much work; true: it has found better. */
static bool run(const struct state *first, uint32_t steps, uint64_t work, uint64_t seed,
                struct found *found)
{
    struct state s = *first;
    bool better = false, whole;

    s.seed = seed;
    s.gossip.steps = steps;
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t orbit = 0; orbit < s.orbits->count; orbit++) {
            be_silent(&s, step, orbit);
        }
        put_in_order(&s, step);
    }
    uint64_t cost = cost_of(&s, &whole);
    while (s.work < work && found->cost > first->least) {
        struct gossip before = s.gossip;
        uint64_t threshold = THRESHOLD_NS - THRESHOLD_NS * s.work / work;
        uint32_t step = change(&s);
        uint64_t now = cost_of(&s, &whole);
        if (now > cost + threshold) {
            s.gossip = before;
            put_in_order(&s, step);
            continue;
        }
        cost = now;
        if (whole && cost < found->cost) {
            *found = (struct found){s.gossip, cost};
            better = true;
        }
    }
    return better;
}

static struct orbits orbits_of(const struct network *network, uint64_t group)
{
    struct orbits orbits = {.group = group};
    uint64_t seen = 0;

    for (uint32_t node = 0; node < network->nodes; node++) {
        if (seen >> node & 1) {
            continue;
        }
        for (uint32_t map = 0; map < network->nodes; map++) {
            if (group >> map & 1) {
                uint32_t image = symmetry_image(network, map, node);
                seen |= UINT64_C(1) << image;
                orbits.orbit[image] = (uint8_t)orbits.count;
            }
        }
        orbits.first[orbits.count++] = (uint8_t)node;
    }
    return orbits;
}

void gossip_search(const struct network *network, uint32_t bytes, struct gossip *best)
{
    uint64_t groups[GROUPS_MAX];
    unsigned count = symmetries_find(network, groups, GROUPS_MAX), tried = 0;
    struct orbits best_orbits = {0};
    struct found found = {.cost = UINT64_MAX};
    uint32_t fewest = 0;

    CHECK(network->nodes <= GOSSIP_NODES_MAX);
    while (UINT32_C(1) << fewest < network->nodes) {
        fewest++;
    }
    struct gossip_paths *paths = planner_memory(1, sizeof *paths);
    struct maps *maps = planner_memory(1, sizeof *maps);
    struct state state = {.network = network, .paths = paths, .maps = maps, .bytes = bytes};
    state.least =
        (uint64_t)fewest * (XI_NS + TAU_NS) + (uint64_t)(network->nodes - 1) * bytes * ELEMENT_NS;
    gossip_find_paths(paths, network);
    for (uint32_t map = 0; map < network->nodes; map++) {
        for (uint32_t node = 0; node < network->nodes; node++) {
            maps->image[map][node] = (uint8_t)symmetry_image(network, map, node);
        }
    }
    for (unsigned i = 0; i < count && tried < GROUPS_TRIED; i++) {
        struct orbits orbits = orbits_of(network, groups[i]);
        if (orbits.count > ORBITS_MAX && i + 1 < count && tried + 1 < GROUPS_TRIED) {
            continue;
        }
        tried++;
        state.orbits = &orbits;
        for (uint32_t steps = fewest; steps < fewest + STEPS_MORE; steps++) {
            if (run(&state, steps, SHORT_RUN, SEED + tried, &found)) {
                best_orbits = orbits;
            }
        }
    }
    state.orbits = &best_orbits;
    for (uint64_t i = 0; i < LONG_RUNS && found.cost < UINT64_MAX; i++) {
        run(&state, found.gossip.steps, LONG_RUN, SEED - 1 - i, &found);
    }
    free(maps);
    free(paths);
    *best = found.gossip;
}
