/*
 * rounds_search.c - a complete exchange in as few rounds as a search finds, mostly as few as there
 * can be: a round brings each node one block at most, and each link carries one.
 *
 * The search looks for a fixed number of rounds. Circuits are put into rounds one by one, each
 * where the fewest hops must leave, which have no round then; what has left a round stays away from
 * it for a few moves. Which comes next, and which of equals, is drawn from a fixed seed. It ends
 * when all have a round, or after so many looks, whatever time they take: the same comes out on
 * every machine.
 *
 * First it looks for as few rounds as there can be, then half-way between what it has found, or
 * lists have (rounds.c), and what it has not.
 *
 * Where a group of maps moves the network onto itself (symmetries.h), rounds are searched that the
 * group leaves as they are. A circuit goes with its images, so there are as many fewer to place,
 * and most often that is enough. Groups are tried by their size; the last one is {0}, of every
 * round.
 *
 *     torus:6x6    12 maps, 3 orbits of circuits in a round, 35 rounds: 1,260 circuits are 105
 *
 * Source   Bloechliger & Zufferey, A graph coloring heuristic using partial solutions and a
 *          reactive tabu scheme, Computers & Operations Research 35(3), 2008, 960-975
 */
#include "planner/algorithms/rounds_search.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "planner/algorithms/orbits.h"
#include "planner/algorithms/shelf.h"
#include "planner/algorithms/symmetries.h"
#include "planner/build.h"
#include "planner/proof/link_load.h"

enum {
    GROUPS_MAX = 512, /* that a network has; of those */
    GROUPS_TRIED = 4, /* ... in which circuits have ways */
    AWAY_MOVES = 10,  /* so many moves at most what has left a round stays away from it */
    NOBODY = UINT16_MAX
};

/* A look: who takes one thing of a way in one round. Of an attempt, by each group first with the
 * fewest; of all, when no further number of rounds is looked for; when it is called long. */
static const uint64_t LOOKS_OF_FIRST = 1000000, LOOKS_OF_LAST = 16000000, LOOKS_MAX = 300000000,
                      LOOKS_LONG = 100000000;

static const uint64_t SEED = UINT64_C(88172645463325252);

/* Placing ------------------------------------------------------------------------------------- */

struct placing {
    const struct orbits *orbits;
    uint32_t rounds;
    uint16_t *owner; /* [thing * rounds + round]: the orbit that takes it; NOBODY */
    uint64_t *away;  /* [orbit * rounds + round]: up to which move it stays away */
    uint32_t *round, *way, *left, *left_at, left_count;
    uint64_t cost, best_cost; /* of the orbits that are left: links, and one more for each */
    uint64_t moves, looks, seed;
};

/* Xorshift64; below `count`. */
static uint32_t drawn(struct placing *s, uint32_t count)
{
    s->seed ^= s->seed << 13;
    s->seed ^= s->seed >> 7;
    s->seed ^= s->seed << 17;
    return (uint32_t)((s->seed >> 32) * count >> 32);
}

static uint32_t cost_of(const struct orbits *p, uint32_t orbit)
{
    return p->ways[p->list[orbit].way_at].hops + 1;
}

static void leave(struct placing *s, uint32_t orbit)
{
    s->left_at[orbit] = s->left_count;
    s->left[s->left_count++] = orbit;
}

/* What must leave a round for a way to go there; no more than `most` is counted. */
static uint32_t cost_in(struct placing *s, const struct orbit_way *way, uint32_t round,
                        uint32_t most)
{
    const uint16_t *things = s->orbits->taken + way->things_at;
    uint16_t seen[SEARCHED_NODES_MAX + 2];
    uint32_t cost = 0, count = 0;

    for (uint32_t i = 0; i < way->hops + 2 && cost <= most; i++) {
        uint16_t owner = s->owner[things[i] * s->rounds + round];
        uint32_t k = 0;
        s->looks++;
        while (k < count && seen[k] != owner) {
            k++;
        }
        if (owner != NOBODY && k == count) {
            seen[count++] = owner;
            cost += cost_of(s->orbits, owner);
        }
    }
    return cost;
}

/* Where an orbit goes best. */
struct place {
    uint32_t way, round, cost;
};

static struct place best_place(struct placing *s, uint32_t orbit)
{
    const struct orbit *o = &s->orbits->list[orbit];
    struct place best = {.cost = UINT32_MAX};
    uint64_t without = s->cost - cost_of(s->orbits, orbit);
    uint32_t equals = 0;

    for (uint32_t way = 0; way < o->ways; way++) {
        const struct orbit_way *w = &s->orbits->ways[o->way_at + way];
        for (uint32_t round = 0; round < s->rounds; round++) {
            uint32_t cost = cost_in(s, w, round, best.cost);
            bool away = s->away[orbit * s->rounds + round] > s->moves;
            if (cost > best.cost || (away && without + cost >= s->best_cost)) {
                continue;
            }
            equals = cost < best.cost ? 1 : equals + 1;
            if (equals == 1 || drawn(s, equals) == 0) {
                best = (struct place){way, round, cost};
            }
        }
    }
    return best;
}

/* Sets whose the things of a way are in a round. */
static void set_owner(struct placing *s, uint32_t orbit, uint16_t owner)
{
    const struct orbit_way *way = &s->orbits->ways[s->orbits->list[orbit].way_at + s->way[orbit]];

    for (uint32_t i = 0; i < way->hops + 2; i++) {
        s->owner[s->orbits->taken[way->things_at + i] * s->rounds + s->round[orbit]] = owner;
    }
}

/* Puts one of those that are left where it goes best; what is in its way leaves. */
static void place_one(struct placing *s)
{
    uint32_t orbit = s->left[drawn(s, s->left_count)];
    struct place place = best_place(s, orbit);

    s->moves++;
    if (place.cost == UINT32_MAX) { /* it must stay away from everywhere */
        return;
    }
    const struct orbit_way *way = &s->orbits->ways[s->orbits->list[orbit].way_at + place.way];
    for (uint32_t i = 0; i < way->hops + 2; i++) {
        uint16_t owner = s->owner[s->orbits->taken[way->things_at + i] * s->rounds + place.round];
        if (owner != NOBODY) {
            set_owner(s, owner, NOBODY);
            s->away[owner * s->rounds + place.round] = s->moves + 1 + drawn(s, AWAY_MOVES);
            leave(s, owner);
        }
    }
    s->round[orbit] = place.round;
    s->way[orbit] = place.way;
    set_owner(s, orbit, (uint16_t)orbit);
    uint32_t last = s->left[--s->left_count];
    s->left[s->left_at[orbit]] = last;
    s->left_at[last] = s->left_at[orbit];
    s->cost = s->cost + place.cost - cost_of(s->orbits, orbit);
    s->best_cost = s->cost < s->best_cost ? s->cost : s->best_cost;
}

static void placing_begin(struct placing *s)
{
    const struct orbits *p = s->orbits;
    uint64_t owners = (uint64_t)p->things * s->rounds;

    s->owner = planner_memory(owners, sizeof *s->owner);
    memset(s->owner, 0xff, owners * sizeof *s->owner);
    s->away = planner_memory((uint64_t)p->count * s->rounds, sizeof *s->away);
    s->round = planner_memory(p->count, sizeof *s->round);
    s->way = planner_memory(p->count, sizeof *s->way);
    s->left = planner_memory(p->count, sizeof *s->left);
    s->left_at = planner_memory(p->count, sizeof *s->left_at);
    for (uint32_t i = 0; i < p->count; i++) {
        leave(s, i);
        s->cost += cost_of(p, i);
    }
    s->best_cost = s->cost;
}

static void placing_end(struct placing *s)
{
    free(s->owner);
    free(s->away);
    free(s->round);
    free(s->way);
    free(s->left);
    free(s->left_at);
}

/* The search ---------------------------------------------------------------------------------- */

/* Puts a circuit and its images into a round, over the first way of each. */
static void write_orbit(struct search *s, const struct placing *placing, uint32_t number)
{
    const struct orbits *p = placing->orbits;
    const struct orbit *orbit = &p->list[number];
    const struct orbit_way *way = &p->ways[orbit->way_at + placing->way[number]];

    for (uint32_t map = 0; map < p->network->nodes; map++) {
        if (!(p->group >> map & 1)) {
            continue;
        }
        uint32_t at = orbit->from, image = symmetry_image(p->network, map, at);
        uint32_t to = symmetry_image(p->network, map, orbit->to);
        uint32_t transfer = transfer_of(s, image, to);
        uint32_t into = s->transfers[transfer].way[0].at;
        CHECK(s->transfers[transfer].way[0].hops == way->hops);
        for (uint32_t h = 0; h < way->hops; h++) {
            unsigned port = p->ports[way->ports_at + h];
            unsigned moved = symmetry_port(p->network, map, at, port);
            s->ports[into + h] = (uint8_t)moved;
            s->links[into + h] = (uint16_t)(image * p->network->ports + moved);
            at = network_neighbour(p->network, at, port);
            image = network_neighbour(p->network, image, moved);
        }
        s->best_round[transfer] = placing->round[number];
        s->best_way[transfer] = 0;
    }
}

/* Whether so many rounds are found in so many looks; then they are the best. */
static bool attempt(struct search *s, const struct orbits *p, uint32_t rounds, uint64_t most,
                    uint64_t *looks)
{
    struct placing placing = {.orbits = p, .rounds = rounds, .seed = SEED + most};

    placing_begin(&placing);
    while (placing.left_count && placing.looks < most) {
        place_one(&placing);
    }
    bool found = placing.left_count == 0;
    for (uint32_t i = 0; i < p->count && found; i++) {
        write_orbit(s, &placing, i);
    }
    if (found) {
        s->best_rounds = rounds;
    }
    *looks += placing.looks;
    placing_end(&placing);
    return found;
}

uint32_t rounds_bound(const struct network *network)
{
    uint32_t links = (uint32_t)link_load_of_exchange(network), others = network->nodes - 1;

    return links > others ? links : others;
}

/* The sets of the groups that are tried; returns how many. */
static unsigned make_orbits(const struct network *network, struct orbits *sets)
{
    uint64_t groups[GROUPS_MAX];
    unsigned count = symmetries_find(network, groups, GROUPS_MAX), made = 0;

    for (unsigned i = 0; i < count; i++) {
        bool has_room = made + 1 < GROUPS_TRIED || i + 1 == count;
        made += has_room && orbits_make(&sets[made], network, groups[i]);
    }
    return made;
}

/* The same by each group, at first with few looks. */
static bool attempt_all(struct search *s, const struct orbits *sets, unsigned count,
                        uint32_t rounds, uint64_t *looks)
{
    bool found = false;

    for (uint64_t most = LOOKS_OF_FIRST; most <= LOOKS_OF_LAST && !found; most *= 4) {
        for (unsigned i = 0; i < count && !found; i++) {
            uint64_t before = *looks;
            found = attempt(s, &sets[i], rounds, most, looks);
            if (before < LOOKS_LONG && *looks >= LOOKS_LONG) {
                shelf_tell("fewer rounds for a complete exchange are searched");
            }
        }
    }
    return found;
}

void rounds_search(struct search *s)
{
    struct orbits sets[GROUPS_TRIED];
    uint32_t low = rounds_bound(s->network);
    uint64_t looks = 0;

    rounds_list(s);
    if (s->best_rounds <= low) {
        return;
    }
    unsigned count = make_orbits(s->network, sets);
    for (uint32_t rounds = low; low < s->best_rounds && looks < LOOKS_MAX;
         rounds = low + (s->best_rounds - low) / 2) {
        bool found = attempt_all(s, sets, count, rounds, &looks);
        low = found ? low : rounds + 1;
    }
    for (unsigned i = 0; i < count; i++) {
        orbits_free(&sets[i]);
    }
}
