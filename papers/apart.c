/*
 * apart.c - as many paths of a pair as a node has links, no two of which share a node: how long the
 * longest must be, by exact search.
 *
 * For a length the paths over each first link are listed, and one is taken of each list until no
 * two meet; if that cannot be, the length is one more. Each neighbour of either end is on a path of
 * its own, so no other path goes there; and a path that could be cut short is none.
 *
 * Context  host; networks of at most 128 nodes, all of whose nodes have as many links
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/functions.h"

enum { NODES_MAX = 128, LINKS_MAX = 8, WORDS = NODES_MAX / 64 };

struct set {
    uint64_t word[WORDS];
};

struct list {
    size_t count, room;
    struct set *paths;
};

struct search {
    const struct network *network;
    uint32_t from, to;
    unsigned links;
    uint32_t beside[NODES_MAX][LINKS_MAX];
    struct set near[NODES_MAX]; /* a node's neighbours */
    struct list list[LINKS_MAX];
};

static bool has(const struct set *set, uint32_t node)
{
    return set->word[node / 64] >> node % 64 & 1;
}

static void put(struct set *set, uint32_t node)
{
    set->word[node / 64] |= UINT64_C(1) << node % 64;
}

static unsigned in_both(const struct set *a, const struct set *b)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < WORDS; i++) {
        sum += (unsigned)__builtin_popcountll(a->word[i] & b->word[i]);
    }
    return sum;
}

static struct search *begin(const struct network *network, uint32_t from, uint32_t to)
{
    struct search *s = calloc(1, sizeof *s);

    if (!s || network->nodes > NODES_MAX || network->ports > LINKS_MAX) {
        papers_refuse("a network of at most 128 nodes should stand here", "");
    }
    *s = (struct search){.network = network, .from = from, .to = to, .links = network->ports};
    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned link = 0; link < s->links; link++) {
            uint32_t next = network_neighbour(network, node, link);
            if (next == NETWORK_NO_NODE) {
                papers_refuse("a network whose nodes have as many links should stand here", "");
            }
            s->beside[node][link] = next;
            put(&s->near[node], next);
        }
    }
    return s;
}

static void keep(struct list *list, const struct set *path)
{
    if (list->count == list->room) {
        list->room = 2 * list->room + 64;
        list->paths = realloc(list->paths, list->room * sizeof *path);
        if (!list->paths) {
            papers_refuse("there is no memory", "");
        }
    }
    list->paths[list->count++] = *path;
}

/* Lists all ways on from a node, whose path so far, `from` and that node included, is `path`. */
static void go_on(struct search *s, struct list *list, uint32_t at, unsigned hops, struct set path)
{
    if (has(&s->near[at], s->to)) {
        keep(list, &path); /* any other way on would not be the shortest over these nodes */
        return;
    }
    for (unsigned link = 0; link < s->links; link++) {
        uint32_t next = s->beside[at][link];
        if (!has(&path, next) && hops > 1 &&
            network_distance(s->network, next, s->to) <= hops - 1 &&
            in_both(&s->near[next], &path) == 1) {
            struct set longer = path;
            put(&longer, next);
            go_on(s, list, next, hops - 1, longer);
        }
    }
}

static void list_paths(struct search *s, unsigned hops)
{
    for (unsigned link = 0; link < s->links; link++) {
        struct list *list = &s->list[link];
        struct set path = {0};
        uint32_t first = s->beside[s->from][link];
        list->count = 0;
        if (first == s->to) {
            keep(list, &path);
        } else if (network_distance(s->network, first, s->to) < hops) {
            put(&path, s->from);
            put(&path, first);
            go_on(s, list, first, hops - 1, path);
        }
        for (size_t i = 0; i < list->count; i++) {
            list->paths[i].word[s->from / 64] &= ~(UINT64_C(1) << s->from % 64);
        }
    }
}

/* Whether a path can be taken of each list that is left, of nodes that are not taken yet. */
static bool choose(const struct search *s, unsigned left, const struct set *taken)
{
    unsigned pick = s->links;

    for (unsigned link = 0; link < s->links; link++) {
        if (left >> link & 1 && (pick == s->links || s->list[link].count < s->list[pick].count)) {
            pick = link;
        }
    }
    if (pick == s->links) {
        return true;
    }
    for (size_t i = 0; i < s->list[pick].count; i++) {
        const struct set *path = &s->list[pick].paths[i];
        if (in_both(path, taken) == 0) {
            struct set more = *taken;
            for (unsigned w = 0; w < WORDS; w++) {
                more.word[w] |= path->word[w];
            }
            if (choose(s, left & ~(1u << pick), &more)) {
                return true;
            }
        }
    }
    return false;
}

static double call_apart(const struct formula_value *a, unsigned count)
{
    const struct network *network = papers_network(a);
    double from = a[1].number, to = a[2].number;
    const struct set none = {0};

    (void)count;
    if (!(from >= 0 && from < network->nodes && to >= 0 && to < network->nodes) || from == to) {
        papers_refuse("there are no two such nodes", "");
    }
    struct search *s = begin(network, (uint32_t)from, (uint32_t)to);
    unsigned hops = 1;
    for (list_paths(s, hops); !choose(s, (1u << s->links) - 1, &none); list_paths(s, hops)) {
        if (++hops > network->nodes) {
            break;
        }
    }
    for (unsigned link = 0; link < s->links; link++) {
        free(s->list[link].paths);
    }
    free(s);
    return hops > network->nodes ? (double)INFINITY : hops;
}

const struct formula_function apart_functions[] = {{"apart", 3, 3, call_apart}, {0}};
