#include "network/hamilton.h"

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

/* The first side of even size; the count: there is none. */
static unsigned even_side(const struct sides *sides)
{
    unsigned even = 0;

    while (even < sides->count && sides->dim[even]->size % 2) {
        even++;
    }
    return even;
}

static bool all_wrap(const struct sides *sides)
{
    bool wraps = true;

    for (unsigned i = 0; i < sides->count; i++) {
        wraps = wraps && sides->dim[i]->wraps;
    }
    return wraps;
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

static void go_along(const struct sides *sides, uint32_t *at)
{
    for (uint32_t i = 0; i < sides->nodes; i++) {
        at[i] = path_at(sides, i);
    }
}

/* Columns are the places of the path through the other sides, rows the even side. The first row
 * forth, then row by row back and forth without the first column, which leads back. */
static void go_by_rows(struct sides columns, unsigned even, uint32_t *at)
{
    const struct network_dimension *rows = take(&columns, even);
    uint32_t width = columns.nodes, count = 0;

    for (uint32_t column = 0; column < width; column++) {
        at[count++] = path_at(&columns, column);
    }
    for (uint32_t row = 1; row < rows->size; row++) {
        for (uint32_t i = 1; i < width; i++) {
            at[count++] = path_at(&columns, row % 2 ? width - i : i) + row * rows->stride;
        }
    }
    for (uint32_t row = rows->size - 1; row > 0; row--) {
        at[count++] = row * rows->stride;
    }
}

/* A cycle of m places and one of n <= m, both odd, make one of all: row i goes once round the short
 * one, forth in the first (m - n) / 2 rows and back in the others, so that it ends one place before
 * or behind its begin, where the next row begins. The n rows too many that go back end where the
 * first row began.
 *
 * The last row is written first, so the old cycle, which lies in front, is there until the end: of
 * a long one a row needs but its own place, and of a short one row 0 is as it was. */
static void multiply(uint32_t *at, uint32_t count, const struct network_dimension *dim)
{
    bool longer = count >= dim->size;
    uint32_t m = longer ? count : dim->size, n = longer ? dim->size : count, forth = (m - n) / 2;

    for (uint32_t row = m; row-- > (longer ? 0 : 1u);) {
        uint32_t own = longer ? at[row] : row * dim->stride;
        uint32_t place = row <= forth ? n - row % n : n - forth % n + (row - forth);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t other = (place + (row < forth ? i : n - i)) % n;
            at[row * n + i] = own + (longer ? other * dim->stride : at[other]);
        }
    }
}

static void go_round_odd(const struct sides *sides, uint32_t *at)
{
    uint32_t count = sides->dim[0]->size;

    for (uint32_t i = 0; i < count; i++) {
        at[i] = i * sides->dim[0]->stride;
    }
    for (unsigned k = 1; k < sides->count; k++) {
        multiply(at, count, sides->dim[k]);
        count *= sides->dim[k]->size;
    }
}

bool hamilton_has_cycle(const struct network *network)
{
    struct sides sides = sides_of(network);

    return network->nodes <= 2 || all_wrap(&sides) ||
           (sides.count > 1 && even_side(&sides) < sides.count);
}

bool hamilton_order(const struct network *network, uint32_t *at)
{
    struct sides sides = sides_of(network);
    unsigned even = even_side(&sides);
    bool cycle = hamilton_has_cycle(network);

    if (cycle && sides.count > 1 && even < sides.count) {
        go_by_rows(sides, even, at);
    } else if (cycle && sides.count > 1) {
        go_round_odd(&sides, at);
    } else {
        go_along(&sides, at);
    }
    return cycle;
}
