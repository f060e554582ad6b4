/*
 * banded.c - a fixed point iteration, x := A x, with a banded matrix.
 *
 *   banded [SHARE [BLOCKS [ROUNDS]]]      default: 4 rows for each rank, 1 block, 3 rounds
 *
 * The ranks form a ring. Each has SHARE rows of A and numbers of x. A's extended diagonals up to
 * BLOCKS * SHARE either way are not zero: row i has numbers at columns i - b to i + b, counted
 * modulo the order. So a rank needs x from BLOCKS ranks on either side. It gets them by so many
 * shifts by one in both directions: it keeps what comes, and passes it on.
 *
 * Example, 2 blocks: rank 3 gets 2 and 4 first; then 2 passes on what came from 1, and 4 from 5.
 *
 * Both directions go at once on a machine whose nodes use all links at once, and one after the
 * other else. Neighbours in the ring are neighbours in the machine on a ring, and in a cube with
 *
 *   ecube run --network cube:4 --map gray banded.elf
 *
 * Numbers are small and whole, so that x is the same to the bit as what one rank works out alone.
 * Exit status 1 when not, or when a time is not the predicted one; 2 when the band goes round the
 * ring.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 3.3.1; extended diagonals are taken modulo the order, N
 */
#include "examples/linear_algebra/linear.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE_MAX = 4096, ROUNDS_MAX = 1000 };

static size_t order, band;

/* A number of A x, with x from `first` on in the order of the band, the row's own in its middle. */
static double row_times(size_t row, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i <= 2 * band; i++) {
        sum += linear_element(row, (row + order - band + i) % order) * x[i];
    }
    return sum;
}

/* Brings the parts of `blocks` ranks on either side to both sides of this rank's own, which is in
 * the middle of `around`. */
static void shift_both_ways(struct meter *meter, double *around, size_t share, size_t blocks)
{
    int rank = ecube_rank(), size = ecube_size();
    int above = (rank + 1) % size, below = (rank + size - 1) % size;
    double *middle = around + blocks * share;

    for (size_t i = 0; i < blocks; i++) {
        struct route routes[] = {
            {above, below, middle - i * share, middle - (i + 1) * share, share},
            {below, above, middle + i * share, middle + (i + 1) * share, share},
        };
        meter_messages(meter, routes, 2);
    }
}

/* All of x, after so many rounds, of all rows. */
static void iterate_alone(double *x, size_t rounds)
{
    double *wide = linear_vector(order + 2 * band), *next = linear_vector(order);

    while (rounds-- > 0) {
        for (size_t i = 0; i < order + 2 * band; i++) {
            wide[i] = x[(i + order - band) % order];
        }
        for (size_t i = 0; i < order; i++) {
            next[i] = row_times(i, wide + i);
        }
        memcpy(x, next, order * sizeof *x);
    }
    free(wide);
    free(next);
}

int main(int argc, char **argv)
{
    linear_begin("banded");
    size_t size = (size_t)ecube_size();
    size_t share = linear_number(argc, argv, 1, 4, 1, SHARE_MAX);
    size_t blocks = linear_number(argc, argv, 2, size > 2, 1, size);
    size_t rounds = linear_number(argc, argv, 3, 3, 1, ROUNDS_MAX);
    struct meter meter = {.name = "banded"};

    if (2 * blocks >= size && blocks > 0) {
        linear_refuse("a band of %lu blocks either way does not fit %lu ranks: twice as many must "
                      "be fewer than the ranks",
                      (unsigned long)blocks, (unsigned long)size);
    }
    order = size * share;
    band = blocks * share;
    size_t first = (size_t)ecube_rank() * share;
    double *around = linear_vector(share + 2 * band), *next = linear_vector(share);
    double *direct = linear_vector(order);

    for (size_t i = 0; i < order; i++) {
        direct[i] = linear_element(order, i);
    }
    memcpy(around + band, direct + first, share * sizeof *around);
    iterate_alone(direct, rounds);
    for (size_t round = 0; round < rounds; round++) {
        shift_both_ways(&meter, around, share, blocks);
        for (size_t i = 0; i < share; i++) {
            next[i] = row_times(first + i, around + i);
        }
        memcpy(around + band, next, share * sizeof *next);
    }
    meter.wrong = linear_differs(next, direct, first, share, order, 0);
    uint64_t wrong = meter_report(&meter);
    if (ecube_rank() == 0) {
        printf("order %lu, a band of %lu either way, %lu rounds: %lu wrong\n", (unsigned long)order,
               (unsigned long)band, (unsigned long)rounds, (unsigned long)wrong);
    }
    free(around);
    free(next);
    free(direct);
    return wrong > 0;
}
