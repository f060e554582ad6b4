/*
 * points.c - five- and nine-point stencils on a torus of points that is divided into rectangles.
 *
 *   points [HEIGHT [WIDTH [ROUNDS]]]      default: 6 x 6 points at each rank, 3 rounds
 *
 * In each round every point becomes a sum of itself and its neighbours: 4 of them (five points), or
 * 8, with those at the corners (nine points). A rank needs the points around its own (grid.h). The
 * ranks form a torus: torus:AxB itself, or one that lies in a cube, where all messages go over one
 * hop:
 *
 *   ecube run --network cube:4 --map gray --as torus:4x4 points.elf
 *
 * Sums are of small whole numbers, so that all points are the same to the bit as what one rank
 * works out alone. Exit status 1 when not, or when a time is not the predicted one.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 3.3.2
 */
#include "examples/linear_algebra/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MAX = 1024, ROUNDS_MAX = 1000 };

/* What a point becomes, from the three by three around it, `stride` from row to row. */
static double becomes(const double *point, size_t stride, int nine)
{
    const double *above = point - stride, *below = point + stride;
    double sum = 2 * point[0] + above[0] - below[0] + 3 * point[-1] - point[1];

    return nine ? sum + above[-1] - 2 * above[1] + 2 * below[-1] - below[1] : sum;
}

/* All points, after so many rounds: a rectangle as large as the torus, whose border is its own
 * other side. */
static double *iterate_alone(const struct grid *grid, size_t rounds, int nine)
{
    size_t height = grid->ranks_down * grid->height, width = grid->ranks_across * grid->width;
    size_t stride = width + 2;
    double *field = linear_vector((height + 2) * stride);
    double *next = linear_vector(height * width);

    for (size_t i = 0; i < height * width; i++) {
        next[i] = linear_element(i / width, i % width);
    }
    for (size_t round = 0; round < rounds; round++) {
        for (size_t row = 0; row < height + 2; row++) {
            for (size_t column = 0; column < stride; column++) {
                field[row * stride + column] =
                    next[(row + height - 1) % height * width + (column + width - 1) % width];
            }
        }
        for (size_t i = 0; i < height * width; i++) {
            next[i] = becomes(field + (i / width + 1) * stride + i % width + 1, stride, nine);
        }
    }
    free(field);
    return next;
}

static uint64_t run(struct grid *grid, size_t rounds, int nine)
{
    struct meter meter = {.name = nine ? "nine points" : "five points"};
    double *field = grid_field(grid), *next = grid_field(grid), *other, *all;
    size_t width = grid->ranks_across * grid->width;

    for (size_t i = 0; i < grid->height * grid->width; i++) {
        size_t row = i / grid->width, column = i % grid->width;
        *grid_at(grid, field, row + 1, column + 1) =
            linear_element(grid->top + row, grid->left + column);
    }
    for (size_t round = 0; round < rounds; round++) {
        if (nine) {
            grid_exchange_corners(grid, field, &meter);
        } else {
            grid_exchange(grid, field, &meter);
        }
        for (size_t i = 0; i < grid->height * grid->width; i++) {
            size_t row = i / grid->width + 1, column = i % grid->width + 1;
            *grid_at(grid, next, row, column) =
                becomes(grid_at(grid, field, row, column), grid->width + 2, nine);
        }
        other = field;
        field = next;
        next = other;
    }
    all = iterate_alone(grid, rounds, nine);
    for (size_t i = 0; i < grid->height * grid->width; i++) {
        size_t row = i / grid->width, column = i % grid->width;
        meter.wrong += *grid_at(grid, field, row + 1, column + 1) !=
                       all[(grid->top + row) * width + grid->left + column];
    }
    free(field);
    free(next);
    free(all);
    return meter_report(&meter);
}

int main(int argc, char **argv)
{
    struct grid grid;

    linear_begin("points");
    size_t height = linear_number(argc, argv, 1, 6, 1, SIDE_MAX);
    size_t width = linear_number(argc, argv, 2, height, 1, SIDE_MAX);
    size_t rounds = linear_number(argc, argv, 3, 3, 1, ROUNDS_MAX);
    grid_begin(&grid, height, width);
    uint64_t wrong = run(&grid, rounds, 0) + run(&grid, rounds, 1);

    if (ecube_rank() == 0) {
        printf("%lu x %lu ranks, %lu x %lu points at each, %lu rounds: %lu wrong\n",
               (unsigned long)grid.ranks_down, (unsigned long)grid.ranks_across,
               (unsigned long)height, (unsigned long)width, (unsigned long)rounds,
               (unsigned long)wrong);
    }
    grid_end(&grid);
    return wrong > 0;
}
