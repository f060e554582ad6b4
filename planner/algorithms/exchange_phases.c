/*
 * exchange_phases.c - gives the hops of all blocks of a complete exchange phases.
 *
 * Blocks and ports are the two sides of a graph, hops its edges. Of the blocks that a port has yet
 * to carry so many must go in a phase that the phases to come are long enough for the rest; so must
 * blocks that have a hop for every phase that is left. What must go is matched: a block takes a
 * port's place, whose block another's, ... until one is free or has more than it must. With phases
 * of one block this is Koenig's colouring, which always comes out for one table; longer phases are
 * tried, in other orders of blocks, and more of them, until all come out with phases that are no
 * longer together than the load of the busiest port. The fewest are kept, as a rule as many as the
 * farthest block has hops.
 *
 *     ring:5, phases of two blocks and of one    + 1 2, - 4 3 | + 2, - 3
 *
 * Source   D. Koenig, Math. Annalen 77, 1916, 453-465 (bipartite graphs)
 * Names    a machine is a port of a class of nodes; a packet is a block on its way
 */
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/exchange_phases.h"
#include "planner/build.h"
#include "drivers/check.h"

enum {
    SITES_MAX = 1 << 19, /* of more hops of all nodes' blocks one table must do */
    MORE_PHASES = 3,     /* than the farthest block has hops */
    TRIES = 8
};

static const uint32_t NO_MACHINE = UINT32_MAX;

static uint32_t drawn(struct tables *t)
{
    t->draw ^= t->draw << 13;
    t->draw ^= t->draw >> 17;
    t->draw ^= t->draw << 5;
    return t->draw;
}

static uint32_t coordinate(const struct network_dimension *dim, uint32_t node)
{
    return node / dim->stride % dim->size;
}

unsigned phases_class(const struct tables *t, uint32_t node)
{
    return t->classes == 1 ? 0 : coordinate(&t->network->dim[t->split], node) % PHASES_CLASSES;
}

/* Blocks ---------------------------------------------------------------------------------------
 */

/* Twice what links of a dimension carry of a node's blocks, each of them. */
static uint64_t load_in(const struct network *network, unsigned k)
{
    const struct network_dimension *dim = &network->dim[k];
    uint64_t hops = (uint64_t)dim->size * dim->size / 4;

    return dim->ports == 0 ? 0 : 2 * hops * (network->nodes / dim->size) / dim->ports;
}

/* Chooses the dimension by which nodes are of two classes, if there need be. */
static void choose_classes(struct tables *t)
{
    const struct network *network = t->network;
    unsigned busiest = 0;

    for (unsigned k = 1; k < network->dims; k++) {
        busiest = load_in(network, k) > load_in(network, busiest) ? k : busiest;
    }
    const struct network_dimension *dim = &network->dim[busiest];
    bool odd = dim->ports == 2 && dim->size % 2 == 0 && network->nodes / dim->size % 2 == 1;
    uint64_t sites = 0;
    for (uint32_t node = 0; node < network->nodes; node++) {
        sites += (uint64_t)network->nodes * network_distance(network, 0, node);
    }
    t->split = busiest;
    t->classes = odd && sites <= SITES_MAX ? PHASES_CLASSES : 1;
    t->machines = t->classes * network->ports;
}

/* Sets a block's hops; of those that go half round a ring every other one goes the other way. */
static void set_hops(struct tables *t, struct packet *packet, uint32_t offset,
                     uint32_t halfway[NETWORK_DIMS_MAX])
{
    const struct network *network = t->network;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t by = coordinate(dim, offset) * dim->stride;
        if (by == 0) {
            continue;
        }
        packet->in[k] = network_distance(network, 0, by);
        unsigned port = network_port_toward(network, 0, by, k);
        if (dim->ports == 2 && 2 * packet->in[k] == dim->size &&
            (halfway[k]++ + phases_class(t, packet->source)) % 2) {
            port = port == dim->port ? dim->port + 1u : dim->port;
        }
        packet->port[k] = (uint8_t)port;
        packet->left += packet->in[k];
    }
}

static void make_packets(struct tables *t)
{
    const struct network *network = t->network;
    uint32_t room = t->classes * (network->nodes - 1);

    t->first = planner_memory(room, sizeof *t->first);
    t->packets = planner_memory(room, sizeof *t->packets);
    t->order = planner_memory(room, sizeof(struct packet *));
    for (uint32_t class = 0; class < t->classes; class ++) {
        uint32_t halfway[NETWORK_DIMS_MAX] = {0};
        for (uint32_t offset = 1; offset < network->nodes; offset++) {
            struct packet *packet = &t->first[t->count++];
            uint32_t source = class * network->dim[t->split].stride;
            *packet = (struct packet){.source = source,
                                      .to = network_translate(network, offset, source),
                                      .at = source,
                                      .scratch = t->scratch,
                                      .machine = NO_MACHINE};
            set_hops(t, packet, offset, halfway);
            t->scratch += packet->left > 2 ? 2 : packet->left - 1;
            t->hops += packet->left;
        }
    }
    t->table = planner_memory(t->hops, sizeof *t->table);
}

/* Phases ---------------------------------------------------------------------------------------
 */

/* What machines still have to carry. Along the ring that parts nodes classes take turns; hops in
 * other dimensions, of a block that still turns, count half for either. */
static void add_up(struct tables *t)
{
    uint32_t twice[PHASES_MACHINES_MAX] = {0};

    for (uint32_t i = 0; i < t->count; i++) {
        const struct packet *packet = &t->packets[i];
        unsigned class = phases_class(t, packet->at), other = t->classes - 1 - class;
        bool turns = t->classes > 1 && packet->in[t->split] > 0;
        for (unsigned k = 0; packet->left && k < t->network->dims; k++) {
            uint32_t hops = packet->in[k];
            uint32_t here = !turns ? 2 * hops : k == t->split ? (hops + 1) / 2 * 2 : hops;
            twice[phases_machine(t, class, packet->port[k])] += here;
            twice[phases_machine(t, other, packet->port[k])] += 2 * hops - here;
        }
    }
    t->most = 0;
    for (unsigned m = 0; m < t->machines; m++) {
        t->load[m] = (twice[m] + 1) / 2;
        t->most = t->load[m] > t->most ? t->load[m] : t->most;
    }
}

/* The dimension in which a block has a hop over a machine; dims: none. */
static unsigned hop_over(const struct tables *t, const struct packet *packet, unsigned machine)
{
    unsigned k = 0, class = phases_class(t, packet->at);

    while (k < t->network->dims &&
           (packet->in[k] == 0 || phases_machine(t, class, packet->port[k]) != machine)) {
        k++;
    }
    return k;
}

/* How a machine is come to in a search: a block that goes over `before` (NO_MACHINE: none yet), or
 * none, when the machine gives one away. */
struct visit {
    struct packet *packet;
    uint32_t before;
    bool seen;
};

struct hunt {
    struct tables *tables;
    struct visit visits[PHASES_MACHINES_MAX];
    unsigned queue[PHASES_MACHINES_MAX], count;
};

static void come_to(struct hunt *hunt, unsigned machine, struct packet *packet, uint32_t before)
{
    if (!hunt->visits[machine].seen) {
        hunt->visits[machine] = (struct visit){packet, before, true};
        hunt->queue[hunt->count++] = machine;
    }
}

/* Comes to all machines over which a block could go. */
static void come_by(struct hunt *hunt, struct packet *packet)
{
    struct tables *t = hunt->tables;
    unsigned class = phases_class(t, packet->at);

    for (unsigned k = 0; k < t->network->dims; k++) {
        if (packet->in[k] > 0) {
            come_to(hunt, phases_machine(t, class, packet->port[k]), packet, packet->machine);
        }
    }
}

/* Moves blocks along the way to a machine, which then has one more. */
static void take_over(struct hunt *hunt, unsigned machine)
{
    struct tables *t = hunt->tables;
    uint32_t at = machine;

    t->taken[machine]++;
    while (hunt->visits[at].packet) {
        struct visit visit = hunt->visits[at];
        visit.packet->machine = at;
        if (visit.before == NO_MACHINE) {
            return;
        }
        at = visit.before;
    }
    t->taken[at]--;
}

/* Searches from what has been come to until a machine is found: `wanted`, or (NO_MACHINE) any with
 * a free place. */
static bool hunt_down(struct hunt *hunt, uint32_t wanted)
{
    struct tables *t = hunt->tables;

    for (unsigned i = 0; i < hunt->count; i++) {
        unsigned machine = hunt->queue[i];
        if (wanted == NO_MACHINE ? t->taken[machine] < t->length : machine == wanted) {
            take_over(hunt, machine);
            return true;
        }
        for (uint32_t p = 0; p < t->count && hunt->count < t->machines; p++) {
            if (t->order[p]->machine == machine) {
                come_by(hunt, t->order[p]);
            }
        }
    }
    return false;
}

static bool place(struct tables *t, struct packet *packet)
{
    struct hunt hunt = {.tables = t};

    come_by(&hunt, packet);
    return hunt_down(&hunt, NO_MACHINE);
}

/* One more block for a machine: one that would stay, or of a machine that has more than it must. */
static bool feed(struct tables *t, unsigned wanted)
{
    struct hunt hunt = {.tables = t};

    for (uint32_t p = 0; p < t->count && !hunt.visits[wanted].seen; p++) {
        if (t->order[p]->machine == NO_MACHINE && t->order[p]->left > 0) {
            come_by(&hunt, t->order[p]);
        }
    }
    for (unsigned m = 0; m < t->machines; m++) {
        if (t->taken[m] > t->least[m]) {
            come_to(&hunt, m, NULL, NO_MACHINE);
        }
    }
    return hunt_down(&hunt, wanted);
}

/* The longest ways first, of equals as drawn. */
static int by_left(const void *left, const void *right)
{
    const struct packet *a = *(struct packet *const *)left, *b = *(struct packet *const *)right;

    if (a->left != b->left) {
        return a->left < b->left ? 1 : -1;
    }
    return a->draw != b->draw ? (a->draw < b->draw ? 1 : -1) : a < b ? -1 : a > b;
}

/* Which blocks go over which machines in a phase, when `rest` blocks a machine can go later, in so
 * many phases. False: what must go cannot. */
static bool fill_phase(struct tables *t, uint32_t rest, uint32_t phases_left)
{
    add_up(t);
    for (unsigned m = 0; m < t->machines; m++) {
        t->taken[m] = 0;
        t->least[m] = t->load[m] > rest ? t->load[m] - rest : 0;
        if (t->least[m] > t->length) {
            return false;
        }
    }
    for (uint32_t i = 0; i < t->count; i++) {
        t->packets[i].machine = NO_MACHINE;
        t->packets[i].draw = drawn(t);
    }
    qsort(t->order, t->count, sizeof *t->order, by_left);
    for (uint32_t i = 0; i < t->count && t->order[i]->left > phases_left; i++) {
        if (t->order[i]->left > phases_left + 1 || !place(t, t->order[i])) {
            return false;
        }
    }
    for (unsigned m = 0; m < t->machines; m++) {
        while (t->taken[m] < t->least[m]) {
            if (!feed(t, m)) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < t->count; i++) {
        struct packet *packet = t->order[i];
        unsigned class = phases_class(t, packet->at);
        for (unsigned k = 0; k < t->network->dims && packet->machine == NO_MACHINE; k++) {
            unsigned machine = phases_machine(t, class, packet->port[k]);
            if (packet->in[k] > 0 && t->taken[machine] < t->length) {
                t->taken[machine]++;
                packet->machine = machine;
            }
        }
    }
    return true;
}

static void go(struct tables *t, uint32_t phase)
{
    for (uint32_t i = 0; i < t->count; i++) {
        struct packet *packet = &t->packets[i];
        if (packet->machine == NO_MACHINE) {
            continue;
        }
        unsigned k = hop_over(t, packet, packet->machine);
        CHECK(k < t->network->dims);
        t->table[t->table_count++] =
            (struct hop){phase, i, packet->at, packet->done++, packet->port[k]};
        packet->at = network_neighbour(t->network, packet->at, packet->port[k]);
        packet->in[k]--;
        packet->left--;
    }
}

/* Tries so many phases, so many blocks long together; the longer ones begin somewhere. */
static bool try_phases(struct tables *t, uint32_t phases, uint32_t blocks)
{
    uint32_t longer = blocks % phases, begin = drawn(t) % phases, rest = blocks;

    memcpy(t->packets, t->first, t->count * sizeof *t->packets);
    for (uint32_t i = 0; i < t->count; i++) {
        t->order[i] = &t->packets[i];
    }
    t->table_count = 0;
    t->phases = phases;
    for (uint32_t phase = 0; phase < phases; phase++) {
        t->length = blocks / phases + ((phase + phases - begin) % phases < longer);
        rest -= t->length;
        if (!fill_phase(t, rest, phases - 1 - phase)) {
            return false;
        }
        go(t, phase);
    }
    return t->table_count == t->hops;
}

/* The shortest phases together, of these the fewest. */
static void find_phases(struct tables *t)
{
    uint32_t farthest = network_diameter(t->network);

    memcpy(t->packets, t->first, t->count * sizeof *t->packets);
    add_up(t);
    for (uint32_t blocks = t->most > farthest ? t->most : farthest;; blocks++) {
        uint32_t last = farthest + MORE_PHASES < blocks ? farthest + MORE_PHASES : blocks;
        for (uint32_t phases = farthest; phases <= last; phases++) {
            for (unsigned i = 0; i < TRIES; i++) {
                if (try_phases(t, phases, blocks)) {
                    return;
                }
            }
        }
        if (try_phases(t, blocks, blocks)) {
            return;
        }
    }
}

void phases_find(struct tables *tables, const struct network *network)
{
    *tables = (struct tables){.network = network, .draw = 2463534242u};
    choose_classes(tables);
    make_packets(tables);
    find_phases(tables);
}

void phases_free(struct tables *tables)
{
    free(tables->first);
    free(tables->packets);
    free(tables->order);
    free(tables->table);
}
