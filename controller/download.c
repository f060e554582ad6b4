/*
 * download.c - which messages a strategy sends, and the time that they take.
 *
 * A block of ranks is halved as network.h says: on a cube into subcubes, on a ring into arcs. A
 * message to the root of a block has what its nodes need, what they have in common once; the root
 * keeps the first half and gives the rest on, again with what those have in common.
 *
 *     cube:3, decremental, x = 1; of sets of M bytes, Delta on, c nodes need M + (c-1) Delta
 *
 *         host   4: M + 3 Delta | 2: M + Delta | 0: M + Delta
 *         4                       6: M + Delta | 5, 7: M each
 *         2                                    | 3: M
 *         0                                                   | 1: M
 *
 * The last block is the smallest, so its own scattering, which nothing hides, is the shortest.
 *
 * Where the host has a link for each of several ranges (network.h), each range is served as if it
 * were the network, at the same time as the others; so the last range to end has the time of all.
 * Messages stand in turn, one of each range, then the next of each:
 *
 *     cube:3, two host links, x = 0    2: 2, 3 | 6: 6, 7 | 1 | 5 | 0 | 4
 *
 * Recursion is as deep as a network has halvings.
 */
#include "controller/download.h"

#include <stdio.h>
#include <string.h>

#include "controller/pipeline.h"
#include "drivers/check.h"
#include "network/network.h"

static const char *const names[STRATEGY_NAMES] = {
    [STRATEGY_DECREMENTAL] = "decremental", [STRATEGY_SEQUENTIAL] = "sequential",
    [STRATEGY_SCATTER] = "scatter",         [STRATEGY_SEQUENTIAL_SCATTER] = "sequential-scatter",
    [STRATEGY_PIPELINED] = "pipelined",     [STRATEGY_AUTO] = "auto",
};

struct download_costs download_costs_of(const struct profile *profile, const struct load_list *list)
{
    uint64_t sigma = profile->sigma_permille;

    return (struct download_costs){.beta_ns = (uint64_t)profile->xi_ns + profile->tau_ns,
                                   .beta_host_ns = profile->xi_ns * sigma / 1000 +
                                                   profile->tau_ns * sigma / 1000,
                                   .hop_ns = (uint64_t)profile->tau_ns + profile->element_ns,
                                   .tau_ns = profile->element_ns,
                                   .element_bytes = profile->element_bytes,
                                   .list = list};
}

bool download_parse_strategy(const char *text, enum strategy *strategy)
{
    for (unsigned i = 0; i < STRATEGY_NAMES; i++) {
        if (strcmp(text, names[i]) == 0) {
            *strategy = (enum strategy)i;
            return true;
        }
    }
    return false;
}

const char *download_strategy_name(enum strategy strategy)
{
    return names[strategy];
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Bytes. ------------------------------------------------------------------------------------- */

/* What a message to a range of nodes has. */
struct amount {
    uint64_t bytes;
    /* All nodes of the range have the same segments: a message to any c of them in a row has
     * fixed + c * each. */
    bool even;
    uint64_t fixed, each;
};

/* How a segment, or one of those that are LOAD_SAME, lies to a range. */
enum cover { COVERS_NONE, COVERS_SOME, COVERS_ALL };

static enum cover cover_of(const struct load_segment *segment, uint32_t first, uint32_t count)
{
    struct load_piece piece = load_segment_piece(segment, first, count);
    bool all = segment->first <= first && first - segment->first + count <= segment->count;

    return piece.bytes == 0 ? COVERS_NONE : all ? COVERS_ALL : COVERS_SOME;
}

/* Adds a segment with those behind it that are LOAD_SAME, whose string goes once however many nodes
 * have it; returns the segment behind them. */
static uint32_t add_segment(struct amount *amount, const struct load_list *list, uint32_t index,
                            uint32_t first, uint32_t count)
{
    struct load_segment segment = load_segment_at(list, index);
    enum cover most = cover_of(&segment, first, count);

    amount->bytes += load_piece(list, index, first, count).bytes;
    for (index++; index < list->segments; index++) {
        struct load_segment same = load_segment_at(list, index);
        if (!(same.flags & LOAD_SAME)) {
            break;
        }
        enum cover cover = cover_of(&same, first, count);
        most = cover > most ? cover : most;
    }
    if (most == COVERS_ALL) {
        amount->fixed += segment.bytes - segment.step;
        amount->each += segment.step;
    }
    amount->even = amount->even && most != COVERS_SOME;
    return index;
}

static struct amount amount_of(const struct load_list *list, uint32_t first, uint32_t count)
{
    struct amount amount = {.even = true};

    for (uint32_t i = 0; i < list->segments;) {
        i = add_segment(&amount, list, i, first, count);
    }
    return amount;
}

/* The same of a part of a range that is known. */
static struct amount amount_in(const struct amount *whole, const struct load_list *list,
                               uint32_t first, uint32_t count)
{
    struct amount part = *whole;

    if (!whole->even) {
        return amount_of(list, first, count);
    }
    part.bytes = whole->fixed + count * whole->each;
    return part;
}

/* Times. ------------------------------------------------------------------------------------- */

/* The time of a message's bytes and of the hops after the first, which is part of the start-up: in
 * the paper every message goes over one link. */
static uint64_t transfer_ns(const struct download_costs *costs, uint64_t bytes, unsigned hops)
{
    return download_bytes_ns(costs, bytes) + (hops > 1 ? hops - 1 : 0) * costs->hop_ns;
}

/* From the host to a node: the first hop is its link. */
static uint64_t host_message_ns(const struct download_costs *costs, const struct network *network,
                                uint32_t root, uint64_t bytes)
{
    unsigned behind = network_distance(network, network_host_root(network, root), root);

    return costs->beta_host_ns + transfer_ns(costs, bytes, 1 + behind);
}

static uint64_t node_message_ns(const struct download_costs *costs, const struct network *network,
                                uint32_t from, uint32_t root, uint64_t bytes)
{
    return costs->beta_ns + transfer_ns(costs, bytes, network_distance(network, from, root));
}

/* From when a root has what its block needs until all of its nodes have theirs. */
static uint64_t scatter_ns(const struct download_costs *costs, const struct network *network,
                           uint32_t root, uint32_t count, struct amount amount)
{
    uint64_t sent_ns = 0, end_ns = 0;

    while (count > 1) {
        uint32_t half = network_half(network, count);
        struct amount given = amount_in(&amount, costs->list, root + half, count - half);

        sent_ns += node_message_ns(costs, network, root, root + half, given.bytes);
        end_ns =
            larger(end_ns, sent_ns + scatter_ns(costs, network, root + half, count - half, given));
        amount = amount_in(&amount, costs->list, root, half);
        count = half;
    }
    return end_ns;
}

uint64_t download_replay_ns(const struct download_costs *costs, const struct network *network,
                            const struct download_message *messages, unsigned count)
{
    return download_replay_limited_ns(costs, network, messages, count, UINT64_MAX);
}

uint64_t download_replay_limited_ns(const struct download_costs *costs,
                                    const struct network *network,
                                    const struct download_message *messages, unsigned count,
                                    uint64_t limit_ns)
{
    uint64_t host_ns[NETWORK_HOST_LINKS_MAX] = {0}, end_ns = 0;

    for (unsigned i = 0; i < count && end_ns <= limit_ns; i++) {
        uint32_t root = messages[i].root, nodes = messages[i].count;
        struct amount amount = amount_of(costs->list, root, nodes);
        uint64_t *sent_ns = &host_ns[network_range_of(network, root)];

        if (messages[i].parcel_bytes > 0) {
            end_ns =
                larger(end_ns, pipeline_replay_ns(costs, network, &messages[i], sent_ns, limit_ns));
            continue;
        }
        *sent_ns += host_message_ns(costs, network, root, amount.bytes);
        end_ns = larger(end_ns, *sent_ns + scatter_ns(costs, network, root, nodes, amount));
    }
    return end_ns <= limit_ns ? end_ns : UINT64_MAX;
}

/* Start-ups are left out: whatever a strategy does, the host's port must send all of a range once.
 */
uint64_t download_bound_ns(const struct download_costs *costs, const struct network *network)
{
    uint64_t bound_ns = 0;

    for (unsigned i = 0; i < network_ranges(network); i++) {
        uint32_t count, first = network_range(network, i, &count);
        bound_ns =
            larger(bound_ns, download_bytes_ns(costs, amount_of(costs->list, first, count).bytes));
    }
    return bound_ns;
}

/* The halvings of a range's first node, with which all strategies are made: what it would give away
 * at each, and the time of that. --------------------------------------------------------------- */

struct halving {
    uint32_t count, half; /* of ranks from the first on; it keeps the first half */
    uint64_t host_ns;     /* the host sends the second to its root */
    uint64_t own_host_ns; /* the host sends all of it to the first node */
    uint64_t node_ns;     /* the first node sends the second half to its root */
    uint64_t given_ns;    /* whose block then takes so long */
    uint64_t scatter_ns;  /* the first node's does, from here on */
};

struct chain {
    uint32_t first;
    unsigned halvings;
    struct halving at[NETWORK_HALVINGS_MAX + 1]; /* the last is the first node alone */
};

static void make_chain(struct chain *chain, const struct download_costs *costs,
                       const struct network *network, unsigned range)
{
    uint32_t count, first = chain->first = network_range(network, range, &count);
    struct amount amount = amount_of(costs->list, first, count);

    chain->halvings = network_parts(network, count);
    for (unsigned i = 0; i <= chain->halvings; i++) {
        struct halving *at = &chain->at[i];

        *at = (struct halving){.count = count};
        at->own_host_ns = host_message_ns(costs, network, first, amount.bytes);
        if (count == 1) {
            break;
        }
        uint32_t half = at->half = network_half(network, count), root = first + half;
        struct amount given = amount_in(&amount, costs->list, root, count - half);
        at->host_ns = host_message_ns(costs, network, root, given.bytes);
        at->node_ns = node_message_ns(costs, network, first, root, given.bytes);
        at->given_ns = scatter_ns(costs, network, root, count - half, given);
        amount = amount_in(&amount, costs->list, first, half);
        count = half;
    }
    for (unsigned i = chain->halvings; i-- > 0;) {
        struct halving *at = &chain->at[i];
        at->scatter_ns = at->node_ns + larger(at->given_ns, at[1].scatter_ns);
    }
}

/* The block of the first node with x halvings left: all, when there are fewer. */
static unsigned block_at(const struct chain *chain, unsigned x)
{
    return x < chain->halvings ? chain->halvings - x : 0;
}

/* What the host sends when the first node's own block has x halvings left. */
static uint64_t decremental_ns(const struct chain *chain, unsigned x)
{
    unsigned last = block_at(chain, x);
    uint64_t host_ns = 0, end_ns = 0;

    for (unsigned i = 0; i < last; i++) {
        host_ns += chain->at[i].host_ns;
        end_ns = larger(end_ns, host_ns + chain->at[i].given_ns);
    }
    return larger(end_ns, host_ns + chain->at[last].own_host_ns + chain->at[last].scatter_ns);
}

/* The host's messages to single nodes of a range, behind its first `kept`. */
static uint64_t singles_ns(const struct download_costs *costs, const struct network *network,
                           const struct chain *chain, uint32_t kept)
{
    uint64_t ns = 0;

    for (uint32_t rank = chain->first + kept; rank < chain->first + chain->at[0].count; rank++) {
        ns += host_message_ns(costs, network, rank, amount_of(costs->list, rank, 1).bytes);
    }
    return ns;
}

/* Strategies. -------------------------------------------------------------------------------- */

/* What has been chosen so far, and what stood against others. */
struct search {
    const struct download_costs *costs;
    const struct network *network;
    unsigned ranges;
    struct chain chains[NETWORK_HOST_LINKS_MAX]; /* of each range */
    bool found;
    enum strategy strategy;
    unsigned x;
    uint64_t predicted_ns;
    uint32_t parcel_bytes;
    uint32_t messages; /* of the last one that had too many; 0: none had */
    uint32_t line;     /* nodes of one that was too long; 0: none was */
    bool full;         /* one had no room: at the root `rank`, which has `room` bytes */
    uint32_t rank;
    uint64_t need, room;
};

static uint32_t block_of(const struct chain *chain, unsigned x)
{
    return chain->at[block_at(chain, x)].count;
}

/* To a range. */
static uint32_t messages_to(const struct chain *chain, enum strategy strategy, unsigned x)
{
    uint32_t nodes = chain->at[0].count;

    switch (strategy) {
    case STRATEGY_SEQUENTIAL: return nodes;
    case STRATEGY_SEQUENTIAL_SCATTER: return 1 + nodes - block_of(chain, x);
    default: return block_at(chain, x) + 1;
    }
}

static uint32_t messages_of(const struct search *search, enum strategy strategy, unsigned x)
{
    uint32_t messages = 0;

    for (unsigned i = 0; i < search->ranges; i++) {
        messages += messages_to(&search->chains[i], strategy, x);
    }
    return messages;
}

/* A range's message `index`, in the order in which they are sent. Decremental: the largest half
 * first, its root works while the host goes on. Sequential-scatter: the root's message first, for
 * all that is sent afterwards hides its scattering. */
static struct download_message message_to(const struct chain *chain, enum strategy strategy,
                                          unsigned x, uint32_t index)
{
    uint32_t first = chain->first, block = block_of(chain, x);

    if (strategy == STRATEGY_SEQUENTIAL) {
        return (struct download_message){.root = first + index, .count = 1};
    }
    if (strategy == STRATEGY_SEQUENTIAL_SCATTER && index > 0) {
        return (struct download_message){.root = first + block + index - 1, .count = 1};
    }
    if (strategy == STRATEGY_SEQUENTIAL_SCATTER || index == block_at(chain, x)) {
        return (struct download_message){.root = first, .count = block};
    }
    const struct halving *at = &chain->at[index];
    return (struct download_message){.root = first + at->half, .count = at->count - at->half};
}

static void add_message(struct download_plan *plan, const struct search *search,
                        struct download_message message)
{
    CHECK(plan->count < DOWNLOAD_MESSAGES_MAX);
    message.parcel_bytes = message.count > 1 ? plan->parcel_bytes : 0;
    plan->messages[plan->count++] = message;
    plan->bytes += amount_of(search->costs->list, message.root, message.count).bytes;
}

/* Those of all ranges, in turn. */
static void add_messages(struct download_plan *plan, const struct search *search)
{
    uint32_t all = messages_of(search, plan->strategy, plan->x);

    for (uint32_t index = 0; plan->count < all; index++) {
        for (unsigned i = 0; i < search->ranges; i++) {
            const struct chain *chain = &search->chains[i];
            if (index < messages_to(chain, plan->strategy, plan->x)) {
                add_message(plan, search, message_to(chain, plan->strategy, plan->x, index));
            }
        }
    }
}

static uint64_t predict_range(const struct search *search, const struct chain *chain,
                              enum strategy strategy, unsigned x)
{
    const struct halving *block = &chain->at[block_at(chain, x)];

    switch (strategy) {
    case STRATEGY_SEQUENTIAL: return singles_ns(search->costs, search->network, chain, 0);
    case STRATEGY_SEQUENTIAL_SCATTER:
        return block->own_host_ns +
               larger(block->scatter_ns,
                      singles_ns(search->costs, search->network, chain, block->count));
    default: return decremental_ns(chain, x);
    }
}

/* Of a strategy that has few enough messages. */
static uint64_t predict(const struct search *search, enum strategy strategy, unsigned x)
{
    uint64_t ns = 0;

    for (unsigned i = 0; i < search->ranges; i++) {
        ns = larger(ns, predict_range(search, &search->chains[i], strategy, x));
    }
    return ns;
}

/* Room. */

static bool is_one_program(const struct load_list *list, uint32_t root, uint32_t count)
{
    struct load_program program = load_program_of(list, root);

    return root - program.first + count <= program.count;
}

/* Behind its program's top a root holds the list and what it only passes on. Where all nodes of a
 * block are alike those that it gives to hold less. */
static bool has_room(struct search *search, uint32_t root, uint32_t count)
{
    const struct load_list *list = search->costs->list;
    struct amount amount = amount_of(list, root, count);
    uint32_t top = load_program_of(list, root).top, end = search->costs->memory_end;
    uint64_t own = amount_of(list, root, 1).bytes, room = end > top ? end - top : 0;
    uint64_t need = load_list_bytes(list->programs, list->segments) + amount.bytes - own;

    if (need > room) {
        search->full = true;
        search->rank = root;
        search->need = need;
        search->room = room;
        return false;
    }
    if (amount.even && is_one_program(list, root, count)) {
        return true;
    }
    for (; count > 1; count = network_half(search->network, count)) {
        uint32_t half = network_half(search->network, count);
        if (!has_room(search, root + half, count - half)) {
            return false;
        }
    }
    return true;
}

static bool have_room(struct search *search, enum strategy strategy, unsigned x)
{
    struct download_plan plan = {.strategy = strategy, .x = x};

    if (search->costs->memory_end == 0) {
        return true;
    }
    add_messages(&plan, search);
    for (unsigned i = 0; i < plan.count; i++) {
        if (!has_room(search, plan.messages[i].root, plan.messages[i].count)) {
            return false;
        }
    }
    return true;
}

/* Ways. */

/* Links that circuits take; where the host sends to single nodes there are few enough. */
struct links {
    const struct network *network;
    uint8_t taken[2 * DOWNLOAD_MESSAGES_MAX][NETWORK_PORTS_MAX];
};

/* Whether a way shares a link with those that were taken; `take`: it is taken itself. */
static bool shares_link(struct links *links, uint32_t from, uint32_t to, bool take)
{
    bool shared = false;

    while (from != to) {
        unsigned port = network_next_hop(links->network, from, to);

        shared |= links->taken[from][port] != 0;
        links->taken[from][port] |= take;
        from = network_neighbour(links->network, from, port);
    }
    return shared;
}

static void take_scatter(struct links *links, uint32_t root, uint32_t count)
{
    while (count > 1) {
        uint32_t half = network_half(links->network, count);

        shares_link(links, root, root + half, true);
        take_scatter(links, root + half, count - half);
        count = half;
    }
}

/* Whether the host's messages to single nodes may meet those that a block's nodes send each other:
 * whichever is first at a link, the other waits, and then no replay is right.
 *
 *     mesh:3x3, the block 0 to 5: 0 sends to 2 by way of 1, and the host to 8 by 1, 2 and 5 */
static bool contends(const struct search *search, unsigned x)
{
    struct links links = {.network = search->network};
    bool shared = false;

    if (search->network->nodes > 2 * DOWNLOAD_MESSAGES_MAX) {
        return false; /* too many messages, or none to single nodes */
    }
    for (unsigned i = 0; i < search->ranges; i++) {
        const struct chain *chain = &search->chains[i];
        uint32_t block = block_of(chain, x), end = chain->first + chain->at[0].count;

        take_scatter(&links, chain->first, block);
        for (uint32_t rank = chain->first + block; rank < end; rank++) {
            uint32_t first = network_host_root(search->network, rank);
            shared |= shares_link(&links, first, rank, false);
        }
    }
    return shared;
}

/* Choice. */

/* The size of its parcels is chosen with it; of a time no better than the best nothing is known. */
static void try_pipelined(struct search *search, unsigned x)
{
    struct download_plan plan = {.strategy = STRATEGY_PIPELINED, .x = x};
    bool again = search->found && search->strategy == STRATEGY_PIPELINED;
    uint64_t limit_ns = !search->found ? UINT64_MAX : search->predicted_ns - !again;
    struct pipeline_full full;

    if (search->found && search->predicted_ns == 0 && !again) {
        return;
    }
    add_messages(&plan, search);
    for (unsigned i = 0; i < plan.count; i++) {
        if (plan.messages[i].count > LINE_NODES_MAX) {
            search->line = plan.messages[i].count;
            return;
        }
    }
    uint64_t predicted_ns =
        pipeline_choose(search->costs, search->network, plan.messages, plan.count, limit_ns, &full);
    if (predicted_ns != UINT64_MAX) {
        search->found = true;
        search->strategy = STRATEGY_PIPELINED;
        search->x = x;
        search->predicted_ns = predicted_ns;
        search->parcel_bytes = 0;
        for (unsigned i = 0; i < plan.count; i++) { /* those to single nodes have none */
            search->parcel_bytes |= plan.messages[i].parcel_bytes;
        }
    } else if (full.rank != NETWORK_NO_NODE && !search->full) {
        search->full = true;
        search->rank = full.rank;
        search->need = full.need;
        search->room = full.room;
    }
}

static void try(struct search *search, enum strategy strategy, unsigned x)
{
    uint32_t messages = messages_of(search, strategy, x);

    if (messages > DOWNLOAD_MESSAGES_MAX) {
        search->messages = messages;
        return;
    }
    uint64_t predicted_ns = predict(search, strategy, x);
    if ((!search->found || predicted_ns < search->predicted_ns) && have_room(search, strategy, x)) {
        search->found = true;
        search->strategy = strategy;
        search->x = x;
        search->predicted_ns = predicted_ns;
    }
}

/* All x are tried: there are at most as many as halvings, and on networks that are no cubes no
 * closed form says which is best. */
static void try_all(struct search *search, enum strategy strategy, int x)
{
    unsigned halvings = search->chains[0].halvings; /* the most of all ranges */

    if (strategy == STRATEGY_PIPELINED) {
        /* from the fewest messages on, for those of common data alone take longer than the best */
        for (unsigned i = halvings + 1; i-- > 0;) {
            if (x == DOWNLOAD_X_BEST || (unsigned)x == i) {
                try_pipelined(search, i);
            }
        }
    } else if (strategy == STRATEGY_SEQUENTIAL) {
        try(search, strategy, 0);
    } else if (strategy == STRATEGY_SCATTER) {
        try(search, strategy, halvings);
    } else if (x != DOWNLOAD_X_BEST) {
        try(search, strategy, (unsigned)x);
    } else {
        for (unsigned i = 0; i <= halvings; i++) {
            if (strategy != STRATEGY_SEQUENTIAL_SCATTER || !contends(search, i)) {
                try(search, strategy, i);
            }
        }
    }
}

/* "61.0 MiB" */
static void size_text(char text[24], uint64_t bytes)
{
    if (bytes < 1 << 20) {
        snprintf(text, 24, "%u KiB", (unsigned)(bytes / 1024));
    } else {
        snprintf(text, 24, "%.1f MiB", (double)bytes / (1 << 20));
    }
}

/* Why nothing was found; what is full is said before what has too many messages. */
static bool refuse(const struct search *search, enum strategy strategy,
                   char error[DOWNLOAD_ERROR_MAX])
{
    const char *advice = strategy == STRATEGY_AUTO                        ? ""
                         : strategy == STRATEGY_SEQUENTIAL                ? ": use auto"
                         : search->network->nodes > DOWNLOAD_MESSAGES_MAX ? ": use auto"
                                                                          : ": use sequential "
                                                                            "or auto";
    char need[24], room[24];

    if (search->full) {
        size_text(need, search->need);
        size_text(room, search->room);
        snprintf(error, DOWNLOAD_ERROR_MAX,
                 "--strategy %s: node %u would hold %s for others, it has room for %s%s",
                 names[strategy], (unsigned)search->rank, need, room, advice);
    } else if (strategy == STRATEGY_PIPELINED) {
        snprintf(error, DOWNLOAD_ERROR_MAX,
                 "--strategy pipelined: a line would have %u nodes, more than %d: use decremental",
                 (unsigned)search->line, LINE_NODES_MAX);
    } else {
        snprintf(error, DOWNLOAD_ERROR_MAX,
                 "this strategy sends %u messages, more than %d: use decremental or scatter",
                 (unsigned)search->messages, DOWNLOAD_MESSAGES_MAX);
    }
    return false;
}

static void begin_search(struct search *search, const struct network *network,
                         const struct download_costs *costs)
{
    *search =
        (struct search){.costs = costs, .network = network, .ranges = network_ranges(network)};
    for (unsigned i = 0; i < search->ranges; i++) {
        make_chain(&search->chains[i], costs, network, i);
    }
}

/* A user's number: a smaller machine has fewer halvings than the one it was chosen for. */
static bool check_x(int x, const struct network *network, char error[DOWNLOAD_ERROR_MAX])
{
    unsigned halvings = network_halvings(network);
    bool good = x == DOWNLOAD_X_BEST || (x >= 0 && (unsigned)x <= halvings);
    uint32_t count;

    if (!good) {
        network_range(network, 0, &count);
        snprintf(error, DOWNLOAD_ERROR_MAX,
                 "--x %d: %u nodes are halved %u times: x is from 0 to %u", x, (unsigned)count,
                 halvings, halvings);
    }
    return good;
}

bool download_make_plan(struct download_plan *plan, enum strategy strategy, int x,
                        const struct network *network, const struct download_costs *costs,
                        char error[DOWNLOAD_ERROR_MAX])
{
    struct search search;

    if (!check_x(x, network, error)) {
        return false;
    }
    begin_search(&search, network, costs);
    for (unsigned i = 0; i < STRATEGIES; i++) {
        if (strategy == STRATEGY_AUTO || strategy == (enum strategy)i) {
            try_all(&search, (enum strategy)i, x);
        }
    }
    if (!search.found) {
        return refuse(&search, strategy, error);
    }
    *plan = (struct download_plan){
        .strategy = search.strategy, .x = search.x, .parcel_bytes = search.parcel_bytes};
    add_messages(plan, &search);
    plan->predicted_ns = download_replay_ns(costs, network, plan->messages, plan->count);
    plan->contends = plan->strategy == STRATEGY_SEQUENTIAL_SCATTER && contends(&search, plan->x);
    return true;
}

unsigned download_decremental(const struct network *network, unsigned x,
                              struct download_message messages[DOWNLOAD_MESSAGES_MAX])
{
    const struct load_list nothing = {0};
    const struct download_costs costs = {.list = &nothing};
    struct download_plan plan = {.strategy = STRATEGY_DECREMENTAL, .x = x};
    struct search search;

    begin_search(&search, network, &costs);
    add_messages(&plan, &search);
    memcpy(messages, plan.messages, plan.count * sizeof *messages);
    return plan.count;
}

/* One that has room, else the fastest that has none. */
static void compare(struct download_choice *choice, enum strategy strategy, int x,
                    const struct search *empty)
{
    struct search search = *empty;
    struct download_costs roomy = *empty->costs;

    try_all(&search, strategy, x);
    choice->fits = search.found;
    if (!search.found) {
        roomy.memory_end = 0;
        search.costs = &roomy;
        try_all(&search, strategy, x);
    }
    choice->strategy = strategy;
    choice->sends = search.found;
    if (search.found) {
        struct download_plan plan = {.strategy = strategy, .x = search.x};
        add_messages(&plan, &search);
        choice->x = plan.x;
        choice->count = plan.count;
        choice->parcel_bytes = search.parcel_bytes;
        choice->bytes = plan.bytes;
        choice->predicted_ns = search.predicted_ns;
    }
}

void download_compare(struct download_choice choices[STRATEGIES], int x,
                      const struct network *network, const struct download_costs *costs)
{
    struct search search;

    begin_search(&search, network, costs);
    for (unsigned i = 0; i < STRATEGIES; i++) {
        choices[i] = (struct download_choice){0};
        compare(&choices[i], (enum strategy)i, x, &search);
    }
}

static uint64_t closed_range_ns(const struct download_costs *costs, const struct network *network,
                                const struct chain *chain, enum strategy strategy, unsigned x)
{
    unsigned last = strategy == STRATEGY_SCATTER ? 0 : block_at(chain, x);
    const struct halving *block = &chain->at[last];
    uint64_t host_ns = 0, halvings_ns = 0;

    for (unsigned i = last; i < chain->halvings; i++) {
        halvings_ns += chain->at[i].node_ns;
    }
    switch (strategy) {
    case STRATEGY_SEQUENTIAL: return singles_ns(costs, network, chain, 0);
    case STRATEGY_SEQUENTIAL_SCATTER:
        return block->own_host_ns +
               larger(halvings_ns, singles_ns(costs, network, chain, block->count));
    default:
        for (unsigned i = 0; i < last; i++) {
            host_ns += chain->at[i].host_ns;
        }
        return host_ns + block->own_host_ns + halvings_ns;
    }
}

uint64_t download_closed_ns(const struct download_costs *costs, const struct network *network,
                            enum strategy strategy, unsigned x)
{
    struct chain chain;
    uint64_t ns = 0;

    for (unsigned i = 0; i < network_ranges(network); i++) {
        make_chain(&chain, costs, network, i);
        ns = larger(ns, closed_range_ns(costs, network, &chain, strategy, x));
    }
    return ns;
}

void download_write_map(uint8_t *table, const struct network *network)
{
    const struct network *guest = network_guest(network);
    struct load_map fields = {.nodes = network->nodes, .kind = guest->kind, .dims = guest->dims};

    for (unsigned k = 0; k < guest->dims; k++) {
        fields.sizes[k] = guest->dim[k].size;
    }
    load_map_pack(table, &fields);
    for (uint32_t rank = 0; rank < network->nodes; rank++) {
        load_map_put(table, network->nodes, rank, network_node(network, rank));
    }
}
