#include "planner/algorithms/cycle.h"

#include <stdlib.h>

#include "planner/algorithms/lines.h"

/* Dimensions of more than one node. */
struct sides {
    const struct network_dimension *dim[NETWORK_DIMS_MAX];
    unsigned count;
    uint32_t nodes;
};

static struct sides sides_of(const struct network *network)
{
    struct sides sides = {.nodes = network->nodes};

    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > 1) {
            sides.dim[sides.count++] = &network->dim[k];
        }
    }
    return sides;
}

/* Takes a side out. */
static const struct network_dimension *take(struct sides *sides, unsigned which)
{
    const struct network_dimension *dim = sides->dim[which];

    for (unsigned i = which + 1; i < sides->count; i++) {
        sides->dim[i - 1] = sides->dim[i];
    }
    sides->count--;
    sides->nodes /= dim->size;
    return dim;
}

/* The node at a place of the path through some sides: each goes there and back by turns. */
static uint32_t path_at(const struct sides *sides, uint32_t place)
{
    uint32_t node = 0;

    for (unsigned i = 0; i < sides->count; i++) {
        const struct network_dimension *dim = sides->dim[i];
        uint32_t digit = place % dim->size;
        place /= dim->size;
        node += (place % 2 ? dim->size - 1 - digit : digit) * dim->stride;
    }
    return node;
}

/* Columns are the places of the path through the other sides, rows the even side. The first row
 * forth, then row by row back and forth without the first column, which leads back. */
static void go_by_rows(struct cycle *cycle, struct sides columns, unsigned even)
{
    const struct network_dimension *rows = take(&columns, even);
    uint32_t width = columns.nodes, count = 0;

    for (uint32_t column = 0; column < width; column++) {
        cycle->at[count++] = path_at(&columns, column);
    }
    for (uint32_t row = 1; row < rows->size; row++) {
        for (uint32_t i = 1; i < width; i++) {
            cycle->at[count++] = path_at(&columns, row % 2 ? width - i : i) + row * rows->stride;
        }
    }
    for (uint32_t row = rows->size - 1; row > 0; row--) {
        cycle->at[count++] = row * rows->stride;
    }
}

/* A cycle of m places and one of n <= m, both odd, make one of all: row i goes once round the short
 * one, forth in the first (m - n) / 2 rows and back in the others, so that it ends one place before
 * or behind its begin, where the next row begins. The n rows too many that go back end where the
 * first row began. */
static void multiply(uint32_t *at, uint32_t count, const struct network_dimension *dim)
{
    uint32_t m = count > dim->size ? count : dim->size, n = count > dim->size ? dim->size : count;
    uint32_t *old = planner_memory(count, sizeof *old), place = 0;

    for (uint32_t i = 0; i < count; i++) {
        old[i] = at[i];
    }
    for (uint32_t row = 0; row < m; row++) {
        bool forth = row < (m - n) / 2;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t one = row, other = place;
            at[row * n + i] =
                count == m ? old[one] + other * dim->stride : old[other] + one * dim->stride;
            if (i + 1 < n) {
                place = (place + (forth ? 1 : n - 1)) % n;
            }
        }
    }
    free(old);
}

static void go_round_odd(struct cycle *cycle, const struct sides *sides)
{
    uint32_t count = sides->dim[0]->size;

    for (uint32_t i = 0; i < count; i++) {
        cycle->at[i] = i * sides->dim[0]->stride;
    }
    for (unsigned k = 1; k < sides->count; k++) {
        multiply(cycle->at, count, sides->dim[k]);
        count *= sides->dim[k]->size;
    }
}

static void fold(struct cycle *cycle, const struct sides *path)
{
    uint32_t nodes = cycle->nodes;

    for (uint32_t place = 0; place < nodes; place++) {
        uint32_t here = fold_at(nodes, place), next = fold_at(nodes, (place + 1) % nodes);
        cycle->at[place] = path_at(path, here);
        cycle->via[place] =
            here + 2 == next || next + 2 == here ? path_at(path, (here + next) / 2) : FLOW_DIRECT;
    }
}

struct cycle cycle_make(const struct network *network)
{
    struct cycle cycle = {.nodes = network->nodes};
    struct sides sides = sides_of(network);
    unsigned even = 0;
    bool wraps = true;

    cycle.at = planner_memory(cycle.nodes, sizeof *cycle.at);
    cycle.via = planner_memory(cycle.nodes, sizeof *cycle.via);
    for (uint32_t i = 0; i < cycle.nodes; i++) {
        cycle.via[i] = FLOW_DIRECT;
    }
    while (even < sides.count && sides.dim[even]->size % 2) {
        even++;
    }
    for (unsigned i = 0; i < sides.count; i++) {
        wraps = wraps && sides.dim[i]->wraps;
    }
    if (sides.count > 1 && even < sides.count) {
        go_by_rows(&cycle, sides, even);
    } else if (sides.count == 1 && (wraps || cycle.nodes == 2)) {
        for (uint32_t i = 0; i < cycle.nodes; i++) {
            cycle.at[i] = path_at(&sides, i);
        }
    } else if (sides.count > 1 && wraps) {
        go_round_odd(&cycle, &sides);
    } else if (cycle.nodes > 1) {
        fold(&cycle, &sides);
    }
    return cycle;
}

void cycle_free(struct cycle *cycle)
{
    free(cycle->at);
    free(cycle->via);
}
