/*
 * grid.h - a torus of points, divided into equal rectangles, one at each rank.
 *
 * The ranks form a torus themselves: the network's where that has one or two dimensions, else one
 * that is as square as their number allows, in the order of ranks. A rank keeps its points with a
 * border around them for its neighbours', two rows and two columns more.
 *
 *     rows 0 and height + 1, columns 0 and width + 1 are neighbours'; (1, 1) is the first point
 */
#pragma once

#include "examples/linear_algebra/linear.h"

enum side { NORTH = 0, SOUTH = 1, WEST = 2, EAST = 3, SIDES = 4 };

struct grid {
    size_t ranks_down, ranks_across; /* of the torus of ranks */
    size_t height, width;            /* of a rectangle */
    size_t top, left;                /* of this rank's, among all points */
    int neighbour[SIDES];
    double *buffers; /* for the borders: to send and to receive, of each side */
};

void grid_begin(struct grid *grid, size_t height, size_t width);
void grid_end(struct grid *grid);
size_t grid_points(const struct grid *grid);
/* A rectangle and its border, zeros. */
double *grid_field(const struct grid *grid);
/* A point of a field, by row and column, both from 0 to height + 1 or width + 1. */
static inline double *grid_at(const struct grid *grid, double *field, size_t row, size_t column)
{
    return field + row * (grid->width + 2) + column;
}
/* The side that lies opposite. */
enum side grid_opposite(enum side side);
/* Numbers in the border on a side. */
size_t grid_side(const struct grid *grid, enum side side);
/* Copies this rank's points along a side to `border`, and `border` to the neighbours' behind it. */
void grid_take(const struct grid *grid, double *field, enum side side, double *border);
void grid_put(const struct grid *grid, double *field, enum side side, const double *border);
/* Copies what grid_put has put. */
void grid_take_outside(const struct grid *grid, double *field, enum side side, double *border);
/* Gets the neighbours' points on the four sides: max(height, width) numbers on a machine whose
 * nodes use all links at once, else 2 (height + width). */
void grid_exchange(struct grid *grid, double *field, struct meter *meter);
/*
 * The same, and the points at the four corners: on a square of side r in r + 1 numbers' time, else
 * 4 r + 4.
 *
 * All links: the points on the sides first. With them each corner has come half of its way, and
 * goes on by a turn: the one for the north east came to the east and goes north, that for the north
 * west goes west, and so on, one over each link. One link: rows to the west and east, then columns
 * to the north and south, each longer by the two points that have come.
 */
void grid_exchange_corners(struct grid *grid, double *field, struct meter *meter);
