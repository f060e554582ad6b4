/*
 * conjugate_gradient.c - equations with a symmetric, positive definite matrix, solved by conjugate
 * gradients.
 *
 *   conjugate_gradient [ORDER]                            default: 4 rows a rank, 1 on more than 16
 *   ecube run --input FILE conjugate_gradient.elf         those of a file (linear.h)
 *
 * Matrix and vectors lie spread by rows. An iteration multiplies the matrix by the direction p,
 * which all ranks need whole (multinode broadcast: allgather), and takes two inner products, p A p
 * and that of the residual (allreduce). A rank has its own rows of A p only, so its part of p A p
 * is one summand: that sum is a reduction of its own, though all ranks know p.
 *
 *     alpha = r r / p A p      x += alpha p      r -= alpha A p      p = r + (new r r / r r) p
 *
 * Without a file A(i,j) is min(i,j) + 1, whose iterations are about as many as its order.
 *
 * Exit status 1 when the solution is not that of Gaussian elimination at one rank, a time not the
 * predicted one, or there is no end; 2 when the matrix is not symmetric and positive definite.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 1 (equations 4 to 8) and 3.4.2; Hestenes and Stiefel, J.
 *          Res. Nat. Bur. Standards 49, 1952, 409-436
 */
#include "examples/linear_algebra/linear.h"

#include <stdio.h>
#include <stdlib.h>

enum { ORDER_MAX = 4096, TIMES_ORDER = 8, FEW = 16 };

static const double enough = 1e-30;   /* of the first residual's square */
static const double tolerance = 1e-7; /* of the solution */

/* What this rank has of it. */
struct solver {
    const struct equations *equations;
    double *x, *r, *p, *product, *whole;
    struct meter spread, sums;
};

static double element(size_t row, size_t column)
{
    return (double)((row < column ? row : column) + 1);
}

static const double *row_of(const struct solver *s, size_t i)
{
    return s->equations->rows + i * (s->equations->order + 1);
}

static double inner_product(struct solver *s, const double *a, const double *b)
{
    double mine = 0, sum;
    struct ecube_request request;

    for (size_t i = 0; i < s->equations->share; i++) {
        mine += a[i] * b[i];
    }
    meter_begin(&s->sums);
    ecube_allreduce_start(&mine, &sum, 1, ECUBE_DOUBLE, ECUBE_SUM, &request);
    meter_wait(&s->sums, &request, ECUBE_ALLREDUCE, 0, 1);
    return sum;
}

/* product = A p. */
static void multiply(struct solver *s)
{
    size_t order = s->equations->order, share = s->equations->share;
    struct ecube_request request;

    meter_begin(&s->spread);
    ecube_allgather_start(s->p, s->whole, (uint32_t)(share * sizeof *s->p), &request);
    meter_wait(&s->spread, &request, ECUBE_ALLGATHER, 0, share);
    for (size_t i = 0; i < share; i++) {
        const double *row = row_of(s, i);
        s->product[i] = 0;
        for (size_t j = 0; j < order; j++) {
            s->product[i] += row[j] * s->whole[j];
        }
    }
}

/* Returns how many iterations it took, or -1: there is no end. */
static long solve(struct solver *s)
{
    size_t share = s->equations->share;
    long most = TIMES_ORDER * (long)s->equations->order;

    for (size_t i = 0; i < share; i++) {
        s->p[i] = s->r[i] = row_of(s, i)[s->equations->order];
    }
    double square = inner_product(s, s->r, s->r), first = square;
    for (long iteration = 0; iteration < most; iteration++) {
        if (square <= enough * first) {
            return iteration;
        }
        multiply(s);
        double curve = inner_product(s, s->p, s->product);
        if (!(curve > 0)) {
            linear_refuse("the matrix is not positive definite: p A p is %g", curve);
        }
        double alpha = square / curve, before = square;
        for (size_t i = 0; i < share; i++) {
            s->x[i] += alpha * s->p[i];
            s->r[i] -= alpha * s->product[i];
        }
        square = inner_product(s, s->r, s->r);
        for (size_t i = 0; i < share; i++) {
            s->p[i] = s->r[i] + square / before * s->p[i];
        }
    }
    return -1;
}

/* Whether the block that each rank has is the transposed one of the other. */
static int is_symmetric(const struct equations *equations)
{
    size_t share = equations->share, order = equations->order, block = share * share;
    double *send = linear_vector(share * order), *came = linear_vector(share * order);
    uint64_t other = 0, others;

    for (size_t i = 0; i < share * order; i++) {
        size_t rank = i / block, row = i % share, column = rank * share + i % block / share;
        send[i] = equations->rows[row * (order + 1) + column];
    }
    ecube_exchange(send, came, (uint32_t)(block * sizeof *send));
    for (size_t i = 0; i < share * order; i++) {
        size_t row = i % block / share, column = i / block * share + i % share;
        other += came[i] != equations->rows[row * (order + 1) + column];
    }
    ecube_allreduce(&other, &others, 1, ECUBE_UINT64, ECUBE_SUM);
    free(send);
    free(came);
    return others == 0;
}

int main(int argc, char **argv)
{
    linear_begin("conjugate_gradient");
    size_t size = (size_t)ecube_size(), usual = size * (size > FEW ? 1 : 4);
    size_t order = linear_number(argc, argv, 1, usual, 1, ORDER_MAX);
    struct equations equations;

    linear_equations(&equations, order, element);
    size_t share = equations.share, first = (size_t)ecube_rank() * share;
    struct solver s = {.equations = &equations,
                       .x = linear_vector(share),
                       .r = linear_vector(share),
                       .p = linear_vector(share),
                       .product = linear_vector(share),
                       .whole = linear_vector(equations.order),
                       .spread = {.name = "direction to all"},
                       .sums = {.name = "inner products"}};
    double *direct = linear_vector(equations.order);

    if (!is_symmetric(&equations)) {
        linear_refuse("the matrix is not symmetric");
    }
    if (linear_solve(&equations, direct) < 0) {
        linear_refuse("the matrix is singular");
    }
    long iterations = solve(&s);
    if (iterations < 0 && ecube_rank() == 0) {
        printf("no solution after %lu iterations\n",
               (unsigned long)(TIMES_ORDER * equations.order));
    }
    s.spread.wrong = linear_differs(s.x, direct, first, share, equations.order, tolerance);
    uint64_t wrong = meter_report(&s.spread) + meter_report(&s.sums);
    if (ecube_rank() == 0 && iterations >= 0) {
        printf("order %lu: %ld iterations, %s\n", (unsigned long)equations.order, iterations,
               wrong ? "wrong" : "as Gaussian elimination solves it");
    }
    free(equations.rows);
    free(s.x);
    free(s.r);
    free(s.p);
    free(s.product);
    free(s.whole);
    free(direct);
    return wrong > 0 || iterations < 0;
}
