/*
 * build.c - see build.h.
 */
#include "collectives/gen/build.h"

#include <stdbool.h>

#include "drivers/check.h"
#include "include/ecube/abi.h"

/*
 * The next larger subset of the same size in the lexicographic order of ascending dimension tuples;
 * false after the last. Example, two of four: 01 02 03 12 13 23.
 */
static bool tuple_next(uint32_t tuple[], uint32_t size, uint32_t dims)
{
    uint32_t place = size;
    while (place > 0 && tuple[place - 1] == dims - size + place - 1) {
        place--;
    }
    if (place == 0) {
        return false;
    }
    tuple[place - 1]++;
    for (; place < size; place++) {
        tuple[place] = tuple[place - 1] + 1;
    }
    return true;
}

static uint16_t tuple_mask(const uint32_t tuple[], uint32_t size)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < size; i++) {
        mask |= UINT32_C(1) << tuple[i];
    }
    return (uint16_t)mask;
}

/*
 * Phase by phase, largest subcube first; in a phase the subcubes in lexicographic order. Leaving
 * out the masks that a smaller cube does not have leaves exactly the order of that cube, so this
 * one table holds all of them.
 */
static uint16_t build_exchange(uint32_t dims, struct schedule_row rows[])
{
    uint16_t count = 0;
    for (uint32_t size = dims; size > 0; size--) {
        uint32_t tuple[CUBE_DIMS_MAX];
        for (uint32_t i = 0; i < size; i++) {
            tuple[i] = i;
        }
        do {
            rows[count++] =
                (struct schedule_row){.mask = tuple_mask(tuple, size), .select = SELECT_PEER};
        } while (tuple_next(tuple, size, dims));
    }
    return count;
}

static uint16_t build_barrier(uint32_t dims, struct schedule_row rows[])
{
    for (uint32_t dim = 0; dim < dims; dim++) {
        rows[dim] = (struct schedule_row){.mask = (uint16_t)(1u << dim), .select = SELECT_NOTHING};
    }
    return (uint16_t)dims;
}

/* Lowest dimension first: the nodes below 2^dim have the message and pass it on across dim. */
static uint16_t build_broadcast(uint32_t dims, struct schedule_row rows[])
{
    for (uint32_t dim = 0; dim < dims; dim++) {
        uint16_t bit = (uint16_t)(1u << dim);
        rows[dim] = (struct schedule_row){
            .mask = bit,
            .care = (uint16_t)((1u << dims) - bit),
            .send_value = 0,
            .receive_value = bit,
            .select = SELECT_WHOLE,
        };
    }
    return (uint16_t)dims;
}

/*
 * The edge across dim joins the roots of the two halves of an aligned subcube of 2^(dim + 1) nodes.
 */
static struct schedule_row subtree_row(uint32_t dim, bool outward)
{
    uint16_t bit = (uint16_t)(1u << dim);
    return (struct schedule_row){
        .mask = bit,
        .care = (uint16_t)(2 * bit - 1),
        .send_value = outward ? 0 : bit,
        .receive_value = outward ? bit : 0,
        .select = SELECT_SUBTREE,
        .level = (uint8_t)dim,
    };
}

static uint16_t build_scatter(uint32_t dims, struct schedule_row rows[])
{
    for (uint32_t dim = 0; dim < dims; dim++) {
        rows[dims - 1 - dim] = subtree_row(dim, true);
    }
    return (uint16_t)dims;
}

static uint16_t build_gather(uint32_t dims, struct schedule_row rows[])
{
    for (uint32_t dim = 0; dim < dims; dim++) {
        rows[dim] = subtree_row(dim, false);
    }
    return (uint16_t)dims;
}

static uint16_t build_rows(uint32_t operation, uint32_t dims, struct schedule_row rows[])
{
    switch (operation) {
    case ECUBE_BROADCAST: return build_broadcast(dims, rows);
    case ECUBE_SCATTER: return build_scatter(dims, rows);
    case ECUBE_GATHER: return build_gather(dims, rows);
    case ECUBE_EXCHANGE: return build_exchange(dims, rows);
    default: return build_barrier(dims, rows);
    }
}

/* The number of dimensions that a cube must have for a row. */
static unsigned dims_of(const struct schedule_row *row)
{
    return row->mask ? 32 - (unsigned)__builtin_clz(row->mask) : 0;
}

static void link_rows(struct schedule_row rows[], uint16_t count)
{
    for (uint16_t i = count; i-- > 0;) {
        uint16_t next = (uint16_t)(i + 1);
        while (next < count && dims_of(&rows[next]) >= dims_of(&rows[i])) {
            next = rows[next].lower;
        }
        rows[i].lower = next;
    }
}

struct schedule_table table_build(uint32_t operation, uint32_t dims,
                                  struct schedule_row rows[ROWS_MAX])
{
    CHECK(operation < SCHEDULE_OPERATIONS && dims <= CUBE_DIMS_MAX);
    uint16_t count = build_rows(operation, dims, rows);
    link_rows(rows, count);
    return (struct schedule_table){.rows = rows, .row_count = count, .dims = (uint16_t)dims};
}

const char *rows_name(uint32_t operation)
{
    static const char *const names[] = {"barrier", "broadcast", "scatter", "gather", "exchange"};
    CHECK(operation < SCHEDULE_OPERATIONS);
    return names[operation];
}

const char *rows_source(uint32_t operation)
{
    static const char *const sources[] = {
        "one empty exchange per dimension, lowest first",
        "binomial tree, lowest dimension first: Ozveren, LIDS-P-1721 (1987), 2.2.2 and figure 6",
        "binomial tree, largest subcube first: Sharma & Wagh, Decremental Scattering, section III",
        "the scatter reversed: Ozveren, LIDS-P-1721 (1987), 2.2.4",
        "algorithm AAP: Boppana & Raghavendra, CENG 90-20 (1990), 3.2",
    };
    CHECK(operation < SCHEDULE_OPERATIONS);
    return sources[operation];
}
