/*
 * scattered.c - a fixed point iteration, x := A x, with few diagonals that are not zero: it falls
 * apart into problems that have nothing to do with each other.
 *
 *   scattered [ORDER OFFSET...]      default: 4 for each rank, once with as many problems as ranks,
 *                                    once with half as many
 *
 * Row i of A has numbers at column i and at i + r and i - r for each offset r, modulo the order N.
 * With q the greatest common divisor of N and all offsets, numbers i and j of x meet only if q
 * divides i - j: there are q problems, of numbers i, i + q, ..., N - q + i each. Where there is a
 * problem for each rank, or more, nothing is communicated. Else a problem has n / q ranks that
 * follow each other, and each of them gets all of its numbers: in a cube by doubling, where a rank
 * and its neighbour in one dimension after the other exchange what they have, else round a ring.
 *
 * Example, N = 8 and an offset of 2: problems 0 2 4 6 and 1 3 5 7.
 *
 * Numbers are small and whole, so that x is the same to the bit as what one rank works out alone.
 * Exit status 1 when not, when there are other problems than q, or when a time is not the predicted
 * one; 2 when the ranks do not divide among the problems.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 3.3.3, Propositions 3.1 and 3.2
 */
#include "examples/linear_algebra/linear.h"

#include <stdio.h>
#include <stdlib.h>

enum { ORDER_MAX = 1 << 20, OFFSETS_MAX = 16, ROUNDS = 3 };

static size_t order, offset_count;
static size_t offsets[OFFSETS_MAX];

static size_t divisor(size_t a, size_t b)
{
    while (b > 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A number of A x. x holds those of a problem, `place` is the row's among them; what divides
 * offsets in it is `step`. */
static double row_times(size_t row, const double *x, size_t place, size_t step)
{
    size_t length = order / step;
    double sum = linear_element(row, row) * x[place];

    for (size_t i = 0; i < offset_count; i++) {
        size_t r = offsets[i], far = r / step;
        sum += linear_element(row, (row + r) % order) * x[(place + far) % length] +
               linear_element(row, (row + order - r) % order) * x[(place + length - far) % length];
    }
    return sum;
}

/* Into how many parts the rows fall that have numbers in common, found by joining them. */
static size_t count_problems(void)
{
    size_t *root = calloc(order, sizeof *root), count = order;

    if (!root) {
        fprintf(stderr, "scattered: no memory for %lu rows\n", (unsigned long)order);
        ecube_abort(2);
    }
    for (size_t i = 0; i < order; i++) {
        root[i] = i;
    }
    for (size_t i = 0; i < offset_count * order; i++) {
        size_t a = i % order, b = (a + offsets[i / order]) % order;
        for (; root[a] != a; a = root[a]) {
            root[a] = root[root[a]];
        }
        for (; root[b] != b; b = root[b]) {
            root[b] = root[root[b]];
        }
        count -= a != b;
        root[a] = b;
    }
    free(root);
    return count;
}

/* All numbers of the problem to its ranks, of which this one is number `place` and has `share`. */
static void gather_problem(struct meter *meter, double *x, int ranks, int place, size_t share)
{
    int base = ecube_rank() - place, doubles = ranks >= 2 && (ranks & (ranks - 1)) == 0;

    if (doubles && ecube_dims() > 0) {
        for (int step = 1; step < ranks; step *= 2) {
            int other = place ^ step, mine = place & -step, theirs = other & -step;
            struct route route = {base + other, base + other, x + (size_t)mine * share,
                                  x + (size_t)theirs * share, (size_t)step * share};
            meter_messages(meter, &route, 1);
        }
        return;
    }
    for (int step = 0; step < ranks - 1; step++) {
        int have = (place + ranks - step) % ranks, come = (have + ranks - 1) % ranks;
        struct route route = {base + (place + 1) % ranks, base + (place + ranks - 1) % ranks,
                              x + (size_t)have * share, x + (size_t)come * share, share};
        meter_messages(meter, &route, 1);
    }
}

/* One problem at this rank and ranks - 1 others: its rounds; how many of this rank's numbers are
 * not those that `direct` has. */
static uint64_t iterate(struct meter *meter, size_t problem, size_t problems, int ranks, int place,
                        const double *direct)
{
    size_t length = order / problems, share = length / (size_t)ranks;
    size_t first = (size_t)place * share;
    double *x = linear_vector(length), *next = linear_vector(share);
    uint64_t wrong = 0;

    for (size_t i = first; i < first + share; i++) {
        x[i] = linear_element(order, problem + i * problems);
    }
    for (int round = 0; round < ROUNDS; round++) {
        gather_problem(meter, x, ranks, place, share);
        for (size_t i = 0; i < share; i++) {
            next[i] = row_times(problem + (first + i) * problems, x, first + i, problems);
        }
        for (size_t i = 0; i < share; i++) {
            x[first + i] = next[i];
        }
    }
    for (size_t i = first; i < first + share; i++) {
        wrong += x[i] != direct[problem + i * problems];
    }
    free(x);
    free(next);
    return wrong;
}

static double *iterate_alone(void)
{
    double *x = linear_vector(order), *next = linear_vector(order), *other;

    for (size_t i = 0; i < order; i++) {
        x[i] = linear_element(order, i);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < order; i++) {
            next[i] = row_times(i, x, i, 1);
        }
        other = x;
        x = next;
        next = other;
    }
    free(next);
    return x;
}

/* How many numbers, problems and times are wrong. */
static uint64_t run(void)
{
    struct meter meter = {.name = "scattered"};
    size_t size = (size_t)ecube_size(), rank = (size_t)ecube_rank(), problems = order;

    for (size_t i = 0; i < offset_count; i++) {
        problems = divisor(problems, offsets[i]);
    }
    if (problems < size && size % problems != 0) {
        linear_refuse("%lu problems of order %lu cannot share %lu ranks evenly",
                      (unsigned long)problems, (unsigned long)(order / problems),
                      (unsigned long)size);
    }
    double *direct = iterate_alone();
    if (problems < size) {
        size_t ranks = size / problems;
        meter.wrong =
            iterate(&meter, rank / ranks, problems, (int)ranks, (int)(rank % ranks), direct);
    }
    for (size_t i = rank; problems >= size && i < problems; i += size) {
        meter.wrong += iterate(&meter, i, problems, 1, 0, direct);
    }
    free(direct);
    meter.wrong += count_problems() != problems;
    uint64_t wrong = meter_report(&meter);
    if (rank == 0) {
        printf("order %lu: %lu problems of %lu numbers, %lu wrong\n", (unsigned long)order,
               (unsigned long)problems, (unsigned long)(order / problems), (unsigned long)wrong);
    }
    return wrong;
}

/* With two offsets, both multiples of one. */
static uint64_t run_with(size_t offset)
{
    offset_count = 2;
    offsets[0] = offset;
    offsets[1] = 2 * offset % order ? 2 * offset : offset;
    return run();
}

int main(int argc, char **argv)
{
    linear_begin("scattered");
    size_t size = (size_t)ecube_size();
    uint64_t wrong;

    order = linear_number(argc, argv, 1, 4 * size, 1, ORDER_MAX);
    linear_share("a matrix", order);
    if (argc < 3) {
        wrong = run_with(order > size ? size : 1);
        return wrong + (size % 2 == 0 ? run_with(size / 2) : 0) > 0;
    }
    if (argc - 2 > OFFSETS_MAX) {
        linear_refuse("at most %d offsets", OFFSETS_MAX);
    }
    for (int i = 2; i < argc; i++) {
        offsets[offset_count++] = linear_number(argc, argv, i, 0, 1, order - 1);
    }
    return run() > 0;
}
