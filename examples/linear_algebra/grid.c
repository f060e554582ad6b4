/*
 * grid.c - a torus of points, and what its rectangles give each other.
 */
#include "examples/linear_algebra/grid.h"

#include <stdlib.h>
#include <string.h>

/* The torus of ranks. */
static void shape(struct grid *grid)
{
    size_t size = (size_t)ecube_size(), down = 1;
    int last[ECUBE_DIMENSIONS_MAX];
    int dimensions = ecube_coordinates(ecube_size() - 1, last, ECUBE_DIMENSIONS_MAX);
    if (dimensions == 2) {
        down = (size_t)last[1] + 1;
    } else if (dimensions > 2) {
        for (size_t side = 1; side * side <= size; side++) {
            down = size % side == 0 ? side : down;
        }
    }
    grid->ranks_down = down;
    grid->ranks_across = size / down;
}

void grid_begin(struct grid *grid, size_t height, size_t width)
{
    shape(grid);
    size_t down = grid->ranks_down, across = grid->ranks_across;
    size_t row = (size_t)ecube_rank() / across, column = (size_t)ecube_rank() % across;

    grid->height = height;
    grid->width = width;
    grid->top = row * height;
    grid->left = column * width;
    grid->neighbour[NORTH] = (int)((row + down - 1) % down * across + column);
    grid->neighbour[SOUTH] = (int)((row + 1) % down * across + column);
    grid->neighbour[WEST] = (int)(row * across + (column + across - 1) % across);
    grid->neighbour[EAST] = (int)(row * across + (column + 1) % across);
    grid->buffers = linear_vector(4 * (height + width + 2));
}

void grid_end(struct grid *grid)
{
    free(grid->buffers);
}

size_t grid_points(const struct grid *grid)
{
    return grid->ranks_down * grid->height * grid->ranks_across * grid->width;
}

double *grid_field(const struct grid *grid)
{
    return linear_vector((grid->height + 2) * (grid->width + 2));
}

enum side grid_opposite(enum side side)
{
    return (enum side)(side ^ 1);
}

size_t grid_side(const struct grid *grid, enum side side)
{
    return side == NORTH || side == SOUTH ? grid->width : grid->height;
}

/* The i-th number along a side, of the outermost row or column of this rank's points, or outside of
 * them. */
static double *along(const struct grid *grid, double *field, enum side side, int outside, size_t i)
{
    size_t near = outside ? 0 : 1;

    switch (side) {
    case NORTH: return grid_at(grid, field, near, i);
    case SOUTH: return grid_at(grid, field, grid->height + 1 - near, i);
    case WEST: return grid_at(grid, field, i, near);
    default: return grid_at(grid, field, i, grid->width + 1 - near);
    }
}

void grid_take(const struct grid *grid, double *field, enum side side, double *border)
{
    for (size_t i = 0; i < grid_side(grid, side); i++) {
        border[i] = *along(grid, field, side, 0, i + 1);
    }
}

void grid_take_outside(const struct grid *grid, double *field, enum side side, double *border)
{
    for (size_t i = 0; i < grid_side(grid, side); i++) {
        border[i] = *along(grid, field, side, 1, i + 1);
    }
}

void grid_put(const struct grid *grid, double *field, enum side side, const double *border)
{
    for (size_t i = 0; i < grid_side(grid, side); i++) {
        *along(grid, field, side, 1, i + 1) = border[i];
    }
}

/* Gives what lies along sides from `first` on to the neighbours there, and gets theirs; `corners`
 * is 1: with the points that have come on the sides in between. */
static void swap_sides(struct grid *grid, double *field, unsigned first, unsigned count,
                       size_t corners, struct meter *meter)
{
    struct route routes[SIDES];
    double *next = grid->buffers;

    for (unsigned i = 0; i < count; i++) {
        enum side side = (enum side)(first + i), behind = grid_opposite(side);
        size_t length = grid_side(grid, side) + 2 * corners;
        routes[i] = (struct route){grid->neighbour[side], grid->neighbour[behind], next,
                                   next + length, length};
        for (size_t j = 0; j < length; j++) {
            next[j] = *along(grid, field, side, 0, j + 1 - corners);
        }
        next += 2 * length;
    }
    meter_messages(meter, routes, count);
    for (unsigned i = 0; i < count; i++) {
        for (size_t j = 0; j < routes[i].count; j++) {
            enum side behind = grid_opposite((enum side)(first + i));
            *along(grid, field, behind, 1, j + 1 - corners) = routes[i].receive[j];
        }
    }
}

void grid_exchange(struct grid *grid, double *field, struct meter *meter)
{
    swap_sides(grid, field, NORTH, SIDES, 0, meter);
}

void grid_exchange_corners(struct grid *grid, double *field, struct meter *meter)
{
    size_t bottom = grid->height + 1, right = grid->width + 1;

    if (ecube_profile()->ports != ECUBE_PORTS_ALL) {
        swap_sides(grid, field, WEST, 2, 0, meter);
        swap_sides(grid, field, NORTH, 2, 1, meter);
        return;
    }
    grid_exchange(grid, field, meter);
    /* What has come from the west goes on to the north, and so on; it is the corner there. */
    struct route routes[SIDES] = {
        {grid->neighbour[NORTH], grid->neighbour[SOUTH], grid_at(grid, field, 1, 0),
         grid_at(grid, field, bottom, 0), 1},
        {grid->neighbour[SOUTH], grid->neighbour[NORTH], grid_at(grid, field, bottom - 1, right),
         grid_at(grid, field, 0, right), 1},
        {grid->neighbour[WEST], grid->neighbour[EAST], grid_at(grid, field, bottom, 1),
         grid_at(grid, field, bottom, right), 1},
        {grid->neighbour[EAST], grid->neighbour[WEST], grid_at(grid, field, 0, right - 1),
         grid_at(grid, field, 0, 0), 1},
    };
    meter_messages(meter, routes, SIDES);
}
