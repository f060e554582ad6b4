/*
 * power.c - the largest eigenvalue of a symmetric matrix that is spread over the nodes by rows: the
 * power method, with one allgather and two reductions a round.
 *
 *   power [rows per node]      default: 4
 *
 * Node i holds rows i*b to i*b + b - 1 of the M x M matrix A(r, c) = 1, and 2 on the diagonal,
 * whose largest eigenvalue is M + 1. In each round every node multiplies its rows by the vector x,
 * the allgather makes the vector of the products whole again, and node 0 gets the Rayleigh
 * quotient x.Ax / x.x from two sums.
 *
 * Example, N = 2, b = 1: A = 2 1 / 1 2, from x = 1 2 come 4 5, then 13 14, ...; 13/9 of them is 3
 * at last.
 *
 * Exit status 1 when that is not what comes.
 *
 * Source   Golub & Van Loan, Matrix Computations, section 8.2 (power method, Rayleigh quotient)
 */
#include <ecube.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/words.h"

enum { ROUNDS = 20, ROWS_MAX = 1 << 20 };

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* The node's part of the product of the matrix and the vector. */
static void multiply(const double *x, double *product, size_t first, size_t rows, size_t order)
{
    for (size_t row = 0; row < rows; row++) {
        product[row] = x[first + row];
        for (size_t column = 0; column < order; column++) {
            product[row] += x[column];
        }
    }
}

/* One round: x becomes A x, made so small that its largest element is 1. Returns, at node 0, the
 * quotient of the old x. */
static double improve(double *x, double *product, size_t b)
{
    size_t first = (size_t)ecube_rank() * b, order = (size_t)ecube_size() * b;
    double mine[2], sums[2] = {0, 1}, largest = 0;

    multiply(x, product, first, b, order);
    mine[0] = dot(x + first, product, b);
    mine[1] = dot(x + first, x + first, b);
    ecube_reduce(mine, sums, 2, ECUBE_DOUBLE, ECUBE_SUM, 0);
    ecube_allgather(product, x, (uint32_t)(b * sizeof *x));
    for (size_t i = 0; i < order; i++) {
        largest = x[i] > largest ? x[i] : largest;
    }
    for (size_t i = 0; i < order; i++) {
        x[i] /= largest;
    }
    return sums[0] / sums[1];
}

int main(int argc, char **argv)
{
    size_t b = (size_t)words_number("power", argc, argv, 1, 4, 1, ROWS_MAX);
    size_t order = (size_t)ecube_size() * b;
    double *x = calloc(order, sizeof *x), *product = calloc(b, sizeof *product);
    double quotient = 0;

    if (!x || !product) {
        fprintf(stderr, "power: no memory for a vector of %lu elements\n", (unsigned long)order);
        return 1;
    }
    for (size_t i = 0; i < order; i++) {
        x[i] = (double)(i + 1);
    }
    ecube_align();
    uint64_t start_ns = ecube_model_ns();
    for (int round = 0; round < ROUNDS; round++) {
        quotient = improve(x, product, b);
    }
    /* The slowest node's time, as whole microseconds. */
    int32_t mine_us = (int32_t)((ecube_model_ns() - start_ns) / 1000), slowest_us = 0;
    ecube_reduce(&mine_us, &slowest_us, 1, ECUBE_INT32, ECUBE_MAX, 0);
    if (ecube_rank() == 0) {
        printf("order %lu: the largest eigenvalue is %.6f, %d rounds\n", (unsigned long)order,
               quotient, ROUNDS);
        printf("%ld us model time on the slowest node\n", (long)slowest_us);
    }
    free(x);
    free(product);
    return ecube_rank() == 0 && fabs(quotient - (double)(order + 1)) > 1e-6;
}
