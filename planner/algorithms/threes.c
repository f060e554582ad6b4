/*
 * threes.c - broadcast, and backwards reduce, line by line, in which every node that has the vector
 * gives it to one on either side in a step.
 *
 * So three nodes have it where one had. In s steps a node serves (3^s - 1) / 2 nodes on either side
 * of it: the farthest 3^(s - 1) of them, or as many as there are, through the one in their middle,
 * and the nearer ones itself in the steps that follow. Who serves nodes farther out, and who nearer
 * ones, stays among them, so the circuits of a step share no link. A ring is cut opposite the root.
 * The dimensions follow each other; all nodes that have the vector then begin a line each.
 *
 *     ring:9 from 0    0>3 0>6 | 0>1 3>2 3>4 6>5 6>7 0>8
 *     mesh:1x4 from 1  1>0 1>3 | 3>2
 *
 * Source    Ozveren, LIDS-P-1721 (1987), 2.2.2 (both sides of a ring at once); with circuits over
 *           several hops Tsai & McKinley, IEEE TPDS 7(8), 1996, 876-885
 */
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/flow.h"
#include "wire/circuit.h"

enum { NODES_MAX = 4096, WAYS = 2 };

/* Nodes in a row of a line that are one node's to serve, from a step on: so many on either side. */
struct row {
    uint32_t step, steps; /* steps: that are left */
    uint32_t at, side[WAYS];
};

/* Nodes that one has on a side at most for so many steps. */
static uint32_t reach_of(uint32_t steps)
{
    uint64_t reach = 0;

    for (uint32_t i = 0; i < steps && reach < NETWORK_NODES_MAX; i++) {
        reach = 3 * reach + 1;
    }
    return (uint32_t)reach;
}

static uint32_t steps_for(const uint32_t side[WAYS])
{
    uint32_t steps = 0;

    while (reach_of(steps) < side[0] || reach_of(steps) < side[1]) {
        steps++;
    }
    return steps;
}

/* What a line's first node is to serve: all of the others. */
static struct row first_row(const struct network_dimension *dim, uint32_t at, uint32_t step)
{
    struct row row = {.step = step, .at = at, .side = {at, dim->size - 1 - at}};

    if (dim->wraps) {
        row.side[0] = (dim->size - 1) / 2;
        row.side[1] = dim->size / 2;
    }
    row.steps = steps_for(row.side);
    return row;
}

/* The place so many on from another: way 0 goes down, way 1 up. */
static uint32_t further(const struct network_dimension *dim, uint32_t at, unsigned way,
                        uint32_t hops)
{
    return (at + (way == 0 ? dim->size - hops : hops)) % dim->size;
}

/* Gives the farthest nodes of a side away, if it must now: to the node that is returned. */
static struct row give_away(const struct network_dimension *dim, struct row *row, unsigned way)
{
    uint32_t side = row->side[way], most = 2 * reach_of(row->steps - 1) + 1;
    uint32_t count = side <= reach_of(row->steps - 1) ? 0 : side < most ? side : most;
    struct row other = {.step = row->step + 1, .steps = row->steps - 1};

    if (count > 0) {
        row->side[way] -= count;
        other.at = further(dim, row->at, way, side - count / 2);
        other.side[way] = count / 2;
        other.side[1 - way] = count - 1 - count / 2;
    }
    return other;
}

/* The first node of a node's line. */
static uint32_t begin_of(const struct network_dimension *dim, uint32_t node)
{
    return node - node / dim->stride % dim->size * dim->stride;
}

/* Lines of a dimension: those of the nodes that have the vector, and what is whose to serve in each
 * of them. */
struct lines {
    const struct network_dimension *dim;
    const uint32_t *owners;
    uint32_t owner_count;
    struct row *rows;
    uint32_t row_count;
    struct flow *flow;
};

static void move_in_lines(struct lines *lines, uint32_t step, uint32_t from, uint32_t to)
{
    uint32_t stride = lines->dim->stride;

    for (uint32_t i = 0; i < lines->owner_count; i++) {
        uint32_t owner = lines->owners[i],
                 begin = owner - owner / stride % lines->dim->size * stride;
        flow_move(lines->flow, step, begin + from * stride, begin + to * stride, FLOW_DIRECT);
        flow_add(lines->flow, 0, 1);
    }
}

/* A step: what is one's to serve becomes up to three's. */
static void lay_step(struct lines *lines)
{
    uint32_t before = lines->row_count;

    for (uint32_t i = 0; i < before; i++) {
        for (unsigned way = 0; way < WAYS; way++) {
            uint32_t side = lines->rows[i].side[way];
            struct row other = give_away(lines->dim, &lines->rows[i], way);
            if (lines->rows[i].side[way] == side) {
                continue;
            }
            move_in_lines(lines, lines->rows[i].step, lines->rows[i].at, other.at);
            lines->rows = planner_grow(lines->rows, lines->row_count, sizeof *lines->rows);
            lines->rows[lines->row_count++] = other;
        }
        lines->rows[i].step++;
        lines->rows[i].steps--;
    }
}

/* All steps of a dimension, from a step on; returns the one behind. */
static uint32_t lay_dimension(struct lines *lines, uint32_t root, uint32_t step)
{
    uint32_t at = root / lines->dim->stride % lines->dim->size;
    struct row first = first_row(lines->dim, at, step);

    lines->rows = planner_grow(NULL, 0, sizeof *lines->rows);
    lines->rows[0] = first;
    lines->row_count = 1;
    for (uint32_t i = 0; i < first.steps; i++) {
        lay_step(lines);
    }
    free(lines->rows);
    return step + first.steps;
}

/* Everybody in the lines of those that have the vector has it, too. */
static uint32_t *line_nodes(const struct network_dimension *dim, const uint32_t *owners,
                            uint32_t count)
{
    uint32_t *all = planner_memory((uint64_t)count * dim->size, sizeof *all);

    for (uint32_t i = 0; i < count * dim->size; i++) {
        all[i] = begin_of(dim, owners[i / dim->size]) + i % dim->size * dim->stride;
    }
    return all;
}

bool possible_in_threes(const struct network *network)
{
    bool is_long = false;

    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > OPEN_HOPS_MAX) {
            return false;
        }
        is_long = is_long || network->dim[k].size > 2;
    }
    return is_long && network->nodes <= NODES_MAX;
}

struct plan *plan_in_threes(const struct network *network, const struct plan_request *request)
{
    uint32_t *owners = planner_memory(1, sizeof *owners), count = 1, step = 0;
    struct flow flow = {0};

    owners[0] = request->root;
    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        struct lines lines = {.dim = dim, .owners = owners, .owner_count = count, .flow = &flow};
        step = lay_dimension(&lines, request->root, step);
        uint32_t *all = line_nodes(dim, owners, count);
        free(owners);
        owners = all;
        count *= dim->size;
    }
    free(owners);
    flow_ports(&flow, network->nodes, request->ports);
    return flow_plan(network, request, &flow, 1);
}
