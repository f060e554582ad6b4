/*
 * qr.c - equations solved by orthogonal rotations (QR) and back-substitution.
 *
 *   qr [ORDER]                            default: 2 rows for each rank, 1 on more than 16
 *   ecube run --input FILE qr.elf         those of a file: rows of ORDER + 1 doubles (linear.h)
 *
 * Row t of the triangle R is to lie at rank t mod n, so that all ranks have work until the end. For
 * column t each rank turns its rows below, by Givens rotations, so that one of them alone has a
 * number in the column. Then the ranks do the same with each other, along a tree to rank t mod n:
 * pairs give each other their rows, both ways at once; one turns its own to a number in the column,
 * the other to 0. The right-hand sides turn along; Q is not kept.
 *
 *     cube:2, to rank 0:   step 1   1 <-> 0, 3 <-> 2        step 2   2 <-> 0
 *
 * In a cube partners are neighbours. A rank that has no row left stands in the tree with a spare
 * row of zeros, which takes what comes by it to where it belongs.
 *
 * With d steps for a column, of the N - t numbers of a row and its right-hand side, that is
 * d (N (N + 1) / 2 + N) numbers one after the other. A rank rotates about m m N n / 3 of its own,
 * and those in the tree, d N (N + 1) / 2, take their turns. Then R x = b is solved from its end,
 * with a broadcast for each of N numbers.
 *
 * Exit status 1 when the solution is not that of Gaussian elimination at one rank, or a time not
 * the predicted one; 2 when there is no solution.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 3.4.1
 */
#include "examples/linear_algebra/linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDER_MAX = 2048, FEW = 16 };

static const double tiny = 1e-11;     /* of a pivot, beside the largest of all */
static const double tolerance = 1e-8; /* of the solution */

/* The factors of this rank. */
struct factors {
    size_t order, share, width;
    double *rows;     /* share of them, and the spare one */
    double *came;     /* the partner's */
    int spare;        /* the spare row is not zero */
    uint64_t rotated; /* numbers, one after the other; right-hand sides are not counted */
};

static double element(size_t row, size_t column)
{
    return linear_element(row, column) + (row == column ? 8 : 0);
}

/* Turns two rows from column t on: *turned becomes its part of the pair, of which the first has all
 * of the column's length and the second 0. */
static void turn(const struct factors *f, size_t t, double *first, double *second)
{
    double a = first[t], b = second[t], length = hypot(a, b);
    double c = length > 0 ? a / length : 1, s = length > 0 ? b / length : 0;

    for (size_t j = t; j < f->width; j++) {
        double one = first[j], two = second[j];
        first[j] = c * one + s * two;
        second[j] = c * two - s * one;
    }
    second[t] = 0;
}

/* The row of this rank that has the number of column t: the first of those from t on, or the spare
 * one. The others have none any more. */
static size_t turn_own(struct factors *f, size_t t)
{
    size_t size = (size_t)ecube_size(), rank = (size_t)ecube_rank();
    size_t pivot = t > rank ? (t - rank + size - 1) / size : 0;

    for (size_t i = pivot + 1; i < f->share + (f->spare != 0); i++) {
        turn(f, t, f->rows + pivot * f->width, f->rows + i * f->width);
        f->rotated += f->order - t;
    }
    return pivot < f->share ? pivot : f->share;
}

/* The partner in a step, -1 if there is none; *keeps: this rank's row keeps the number. */
static int partner(size_t root, size_t step, int *keeps)
{
    size_t size = (size_t)ecube_size(), rank = (size_t)ecube_rank();
    int cube = ecube_dims() >= 0;
    size_t place = cube ? rank ^ root : (rank + size - root) % size, other;

    *keeps = place % (2 * step) == 0;
    other = *keeps ? place + step : place - step;
    if (place % step != 0 || other >= size) {
        return -1;
    }
    return (int)(cube ? other ^ root : (other + root) % size);
}

static void turn_column(struct factors *f, size_t t, struct meter *meter)
{
    double *row = f->rows + turn_own(f, t) * f->width;

    for (size_t step = 1; step < (size_t)ecube_size(); step *= 2) {
        int keeps, other = partner(t % (size_t)ecube_size(), step, &keeps);
        struct route route = {other, other, row + t, f->came + t, f->width - t};

        meter_messages(meter, &route, 1);
        if (other >= 0) {
            turn(f, t, keeps ? row : f->came, keeps ? f->came : row);
            f->spare |= row == f->rows + f->share * f->width;
        }
        f->rotated += f->order - t; /* here, or where this rank's next row comes from */
    }
}

/* All columns. */
static uint64_t decompose(struct factors *f)
{
    struct meter meter = {.name = "QR"};

    for (size_t t = 0; t < f->order; t++) {
        turn_column(f, t, &meter);
    }
    return meter_report(&meter);
}

/* The first row of R whose diagonal is nothing; the order if there is none. */
static size_t find_singular(const struct factors *f)
{
    double largest = 0, largest_of_all;
    uint64_t first = f->order, first_of_all;

    for (size_t i = 0; i < f->share * f->width; i++) {
        largest = fmax(largest, i % f->width < f->order ? fabs(f->rows[i]) : 0);
    }
    ecube_allreduce(&largest, &largest_of_all, 1, ECUBE_DOUBLE, ECUBE_MAX);
    for (size_t i = f->share; i-- > 0;) {
        size_t t = i * (size_t)ecube_size() + (size_t)ecube_rank();
        if (!(fabs(f->rows[i * f->width + t]) > tiny * largest_of_all)) {
            first = t;
        }
    }
    ecube_allreduce(&first, &first_of_all, 1, ECUBE_UINT64, ECUBE_MIN);
    return (size_t)first_of_all;
}

/* R x = b, from the last number on. */
static uint64_t substitute(struct factors *f, double *x, uint64_t *multiplied)
{
    struct meter meter = {.name = "back-substitution"};
    size_t size = (size_t)ecube_size(), rank = (size_t)ecube_rank();
    struct ecube_request request;

    for (size_t t = f->order; t-- > 0;) {
        const double *own = f->rows + t / size * f->width;
        if (t % size == rank) {
            x[t] = own[f->order] / own[t];
        }
        meter_begin(&meter);
        ecube_broadcast_start(x + t, sizeof *x, (int)(t % size), &request);
        meter_wait(&meter, &request, ECUBE_BROADCAST, (int)(t % size), 1);
        for (size_t i = 0; i < f->share && i * size + rank < t; i++) {
            f->rows[i * f->width + f->order] -= f->rows[i * f->width + t] * x[t];
            *multiplied += 1;
        }
    }
    return meter_report(&meter);
}

int main(int argc, char **argv)
{
    linear_begin("qr");
    size_t size = (size_t)ecube_size(), usual = size * (size > FEW ? 1 : 2);
    size_t order = linear_number(argc, argv, 1, usual, 1, ORDER_MAX);
    struct equations equations;
    uint64_t work[2] = {0, 0}, most[2];

    linear_equations(&equations, order, element);
    order = equations.order;
    struct factors f = {.order = order, .share = equations.share, .width = order + 1};
    size_t numbers = f.share * f.width;
    double *x = linear_vector(order), *direct = linear_vector(order);

    f.rows = linear_vector(numbers + f.width);
    f.came = linear_vector(f.width);
    for (size_t i = 0; i < numbers; i++) {
        f.rows[i] = equations.rows[i];
    }
    uint64_t wrong = decompose(&f);
    size_t singular = find_singular(&f);
    if (singular < order) {
        linear_refuse("the matrix is singular: column %lu depends on those before it",
                      (unsigned long)singular);
    }
    wrong += substitute(&f, x, &work[1]);
    work[0] = f.rotated;
    wrong += linear_solve(&equations, direct) < 0 ||
             linear_differs(x, direct, 0, order, order, tolerance) > 0;
    ecube_allreduce(work, most, 2, ECUBE_UINT64, ECUBE_MAX);
    if (ecube_rank() == 0) {
        printf("order %lu: solved, %s\n", (unsigned long)order,
               wrong ? "and wrong" : "as Gaussian elimination does");
        printf(
            "the busiest rank rotated %lu numbers, or waited, and multiplied %lu to substitute\n",
            (unsigned long)most[0], (unsigned long)most[1]);
    }
    free(equations.rows);
    free(f.rows);
    free(f.came);
    free(x);
    free(direct);
    return wrong > 0;
}
