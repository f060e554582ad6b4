/*
 * wait_search.c - a cycle in the graph of who waits for whom: depth first, without recursion.
 *
 * Invariant: the places on the path are those that are open; each is reached by the edge before the
 * `next` of the one before it. An edge to an open place closes a cycle.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/core/state.h"
#include "sim/observe/waits.h"

enum colour { NEW, OPEN, DONE };

struct mark {
    uint8_t colour; /* enum colour */
    uint8_t next;   /* of its edges: the one that is looked at is before it */
    struct wait_place before;
};

struct search {
    const struct sim *sim;
    struct mark *marks;
    struct wait_edge edges[WAIT_EDGES_MAX];
    struct wait_found *found;
};

static struct mark *mark_of(struct search *search, struct wait_place place)
{
    return &search->marks[(size_t)place.actor * WAIT_PLACES + place.at];
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

/* The edge of a place that is looked at. */
static const struct wait_edge *edge_of(struct search *search, struct wait_place place)
{
    wait_edges(search->sim, place, search->edges);
    return &search->edges[mark_of(search, place)->next - 1];
}

/* Goes to a place that has not been seen. What does not wait itself will not come to whom the path
 * has led here from. */
static void enter(struct search *search, struct wait_place place, struct wait_place before)
{
    unsigned count = wait_edges(search->sim, place, search->edges);

    *mark_of(search, place) = (struct mark){.colour = OPEN, .before = before};
    for (unsigned i = 0; i < count; i++) {
        if (search->edges[i].to.at == WAIT_NOWHERE) {
            add_line(search->found, search->edges[i].text);
        }
    }
    if (count == 0 && before.at != WAIT_NOWHERE) {
        add_line(search->found, edge_of(search, before)->text);
    }
}

/* Writes the edges of the path from a place on, which the last one leads back to. */
static void tell_cycle(struct search *search, struct wait_place first)
{
    struct wait_place place = first;

    search->found->line_count = 0;
    do {
        const struct wait_edge *edge = edge_of(search, place);
        search->found->cycle++;
        add_line(search->found, edge->text);
        place = edge->to;
    } while (place.actor != first.actor || place.at != first.at);
}

/* Follows all edges from a place; true when they lead round. */
static bool follow(struct search *search, struct wait_place place)
{
    static const struct wait_place nowhere = {0, WAIT_NOWHERE};

    if (mark_of(search, place)->colour != NEW) {
        return false;
    }
    enter(search, place, nowhere);
    while (place.at != WAIT_NOWHERE) {
        struct mark *mark = mark_of(search, place);
        if (mark->next == wait_edges(search->sim, place, search->edges)) {
            mark->colour = DONE;
            place = mark->before;
            continue;
        }
        struct wait_place to = search->edges[mark->next++].to;
        if (to.at == WAIT_NOWHERE || mark_of(search, to)->colour == DONE) {
            continue;
        }
        if (mark_of(search, to)->colour == OPEN) {
            tell_cycle(search, to);
            return true;
        }
        enter(search, to, place);
        place = to;
    }
    return false;
}

bool wait_search(const struct sim *sim, struct wait_found *found)
{
    struct search search = {.sim = sim, .found = found};
    bool round = false;

    *found = (struct wait_found){0};
    search.marks = calloc((size_t)(sim->count + 1) * WAIT_PLACES, sizeof *search.marks);
    for (uint32_t actor = 0; search.marks && actor <= sim->count && !round; actor++) {
        for (uint32_t at = 0; at < WAIT_NOWHERE && !round; at++) {
            round = follow(&search, (struct wait_place){actor, at});
        }
    }
    bool searched = search.marks != NULL;
    free(search.marks);
    return searched;
}
