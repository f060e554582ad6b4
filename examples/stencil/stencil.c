/*
 * stencil.c - the five-point stencil on the network that the ranks form: each has a square of a
 * field, which gets the mean of its neighbours again and again.
 *
 *   stencil [SIDE [STEPS]]      default: a side of 32 for each rank, 10 steps
 *
 * In every dimension a rank gives its border to both neighbours, so all messages go over one link:
 * on the network itself, and wherever neighbours in it are neighbours in the machine, as with
 *
 *   ecube run --network cube:4 --map gray --as torus:4x4 stencil.elf
 *
 * The field has as many dimensions as the network, but each rank adds up one number for each side:
 * the border's mean. What is checked is the sum over all ranks, which a stencil on a torus keeps;
 * on a mesh, where nothing comes in at an edge, the edge's own border is taken. Exit status 1 when
 * it is not kept.
 */
#include <ecube.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/words.h"

enum { SIDE_MAX = 4096, STEPS_MAX = 100000, TAG = 1 };

static double *border, *coming;

/* Gives the border to the neighbour on one side and takes that of the one on the other; its mean.
 * Where there is none, the own border is its neighbour's. */
static double from_side(int dimension, int direction, int side, double value)
{
    int to = ecube_neighbour(dimension, -direction), from = ecube_neighbour(dimension, direction);
    uint32_t bytes = (uint32_t)side * (uint32_t)sizeof *border;
    struct ecube_request sent;
    double sum = 0;

    for (int i = 0; i < side; i++) {
        border[i] = value;
        coming[i] = value;
    }
    ecube_align(); /* nobody's next message comes before somebody's present one: times repeat */
    if (to >= 0) {
        ecube_send_start(border, bytes, to, TAG, &sent);
    }
    if (from >= 0) {
        ecube_receive(coming, bytes, from, TAG, NULL);
    }
    if (to >= 0) {
        ecube_wait(&sent, NULL);
    }
    for (int i = 0; i < side; i++) {
        sum += coming[i];
    }
    return sum / side;
}

static double step(int dimensions, int side, double value)
{
    double sum = 0;

    for (int i = 0; i < dimensions; i++) {
        sum += from_side(i, 1, side, value) + from_side(i, -1, side, value);
    }
    return (value + sum) / (2 * dimensions + 1);
}

int main(int argc, char **argv)
{
    int side = (int)words_number("stencil", argc, argv, 1, 32, 1, SIDE_MAX);
    long steps = words_number("stencil", argc, argv, 2, 10, 1, STEPS_MAX);
    int dimensions = ecube_coordinates(ecube_rank(), NULL, 0);
    double value = ecube_rank() + 1, before = 0, after = 0;

    border = malloc((size_t)side * sizeof *border);
    coming = malloc((size_t)side * sizeof *coming);
    if (!border || !coming) {
        fprintf(stderr, "stencil: no memory for borders of %d numbers\n", side);
        return 1;
    }
    ecube_allreduce(&value, &before, 1, ECUBE_DOUBLE, ECUBE_SUM);
    ecube_align();
    uint64_t began = ecube_model_ns();
    for (long i = 0; i < steps; i++) {
        char name[32];
        snprintf(name, sizeof name, "step %ld", i);
        ecube_mark(name); /* in the timeline of --trace */
        value = step(dimensions, side, value);
    }
    ecube_align();
    double took_us = (double)(ecube_model_ns() - began) / 1e3;
    ecube_allreduce(&value, &after, 1, ECUBE_DOUBLE, ECUBE_SUM);
    if (ecube_rank() == 0) {
        printf("%ld steps of %d numbers: %.3f us model time, sum %.6f\n", steps, side, took_us,
               after);
    }
    free(border);
    free(coming);
    return fabs(after - before) > 1e-9 * before;
}
