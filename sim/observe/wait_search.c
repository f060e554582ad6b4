/*
 * wait_search.c - a cycle in the graph of who waits for whom: depth first, without recursion.
 *
 * Invariant: the places on the path are those that are open, each reached by the edge that the one
 * before it looks at. An edge to an open place closes a cycle.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/core/state.h"
#include "sim/observe/waits.h"

enum colour { NEW, OPEN, DONE };

struct visit {
    struct wait_place place;
    struct wait_place to[WAIT_EDGES_MAX];
    uint8_t count, next; /* of `to`: the one that is looked at is before next */
    bool waits;          /* there is an edge, and be it one to nowhere */
};

struct search {
    const struct sim *sim;
    uint8_t *colours;
    struct visit *path;
    size_t depth, room;
    struct wait_edge edges[WAIT_EDGES_MAX];
    struct wait_found *found;
};

static uint8_t *colour_of(struct search *search, struct wait_place place)
{
    return &search->colours[(size_t)place.actor * WAIT_PLACES + place.at];
}

static void add_line(struct wait_found *found, const char *text)
{
    for (unsigned i = 0; i < found->line_count; i++) {
        if (strcmp(found->lines[i], text) == 0) {
            return;
        }
    }
    if (found->line_count < SIM_WAITS_MAX) {
        memcpy(found->lines[found->line_count++], text, SIM_TEXT_MAX);
    }
}

/* Goes to a place that has not been seen; false when there is no memory. */
static bool enter(struct search *search, struct wait_place place)
{
    if (search->depth == search->room) {
        size_t room = search->room ? 2 * search->room : 64;
        struct visit *path = realloc(search->path, room * sizeof *path);
        if (!path) {
            return false;
        }
        search->path = path;
        search->room = room;
    }
    struct visit *visit = &search->path[search->depth++];
    *visit = (struct visit){.place = place};
    *colour_of(search, place) = OPEN;
    unsigned count = wait_edges(search->sim, place, search->edges);
    for (unsigned i = 0; i < count; i++) {
        visit->waits = true;
        if (search->edges[i].to.at == WAIT_NOWHERE) {
            add_line(search->found, search->edges[i].text);
        } else {
            visit->to[visit->count++] = search->edges[i].to;
        }
    }
    return true;
}

static bool same(struct wait_place a, struct wait_place b)
{
    return a.actor == b.actor && a.at == b.at;
}

/* Writes the edge that a place on the path looks at. */
static void tell_edge(struct search *search, const struct visit *visit)
{
    struct wait_place to = visit->to[visit->next - 1];
    unsigned count = wait_edges(search->sim, visit->place, search->edges), i = 0;

    while (i < count && !same(search->edges[i].to, to)) {
        i++;
    }
    if (i < count) {
        add_line(search->found, search->edges[i].text);
    }
}

/* Writes the edges of the path from `first` on, which the last one leads back to. */
static void tell_cycle(struct search *search, size_t first)
{
    search->found->line_count = 0;
    search->found->cycle = (unsigned)(search->depth - first);
    for (size_t i = first; i < search->depth; i++) {
        tell_edge(search, &search->path[i]);
    }
}

/* Follows all edges from a place; true when they lead round, or memory has run out. */
static bool follow(struct search *search, struct wait_place start, bool *no_memory)
{
    if (*colour_of(search, start) != NEW) {
        return false;
    }
    if (!enter(search, start)) {
        *no_memory = true;
        return true;
    }
    while (search->depth) {
        struct visit *visit = &search->path[search->depth - 1];
        if (visit->next == visit->count) {
            *colour_of(search, visit->place) = DONE;
            search->depth--;
            continue;
        }
        struct wait_place to = visit->to[visit->next++];
        if (*colour_of(search, to) == DONE) {
            continue;
        }
        if (*colour_of(search, to) == NEW) {
            if (!enter(search, to)) {
                *no_memory = true;
                return true;
            }
            /* what it waits for does not wait itself: it will not come */
            if (!search->path[search->depth - 1].waits) {
                tell_edge(search, &search->path[search->depth - 2]);
            }
            continue;
        }
        size_t at = search->depth - 1;
        while (!same(search->path[at].place, to)) {
            at--;
        }
        tell_cycle(search, at);
        return true;
    }
    return false;
}

bool wait_search(const struct sim *sim, struct wait_found *found)
{
    struct search *search = calloc(1, sizeof *search);
    bool round = false, no_memory = false;

    *found = (struct wait_found){0};
    if (!search) {
        return false;
    }
    search->sim = sim;
    search->found = found;
    search->colours = calloc((size_t)(sim->count + 1) * WAIT_PLACES, 1);
    for (uint32_t actor = 0; search->colours && actor <= sim->count && !round; actor++) {
        for (uint32_t at = 0; at < WAIT_NOWHERE && !round; at++) {
            round = follow(search, (struct wait_place){actor, at}, &no_memory);
        }
    }
    bool searched = search->colours && !no_memory;
    free(search->colours);
    free(search->path);
    free(search);
    return searched;
}
