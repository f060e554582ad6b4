/*
 * tridiagonal.c - solves a tridiagonal system of equations by parallel cyclic reduction.
 *
 *   tridiagonal [ROWS [singular]]      ROWS of each node, a power of two; default 8
 *
 * Row i says a x(i-1) + b x(i) + c x(i+1) = d. An ascend: at each distance a row takes off what the
 * rows so far above and below it say of its two neighbours, which then stand twice as far away, and
 * in the end outside: then x = d / b.
 *
 *     distance 1:    row 2 speaks of x1, x2, x3; with rows 1 and 3 of x0, x2, x4; ...
 *
 * Each node solves the system alone as well, by elimination from the first row to the last. Exit
 * status 1 when an unknown differs by more than rounding; 2 when the system is singular, as one is
 * whose ends are free.
 *
 * Source   Hockney & Jesshope, Parallel Computers (1981), 5.4.3; in a pipeline: Hu, Optimal
 *          All-to-Some Personalized Communication on Hypercubes, section 4
 */
#include <ecube.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { ROWS = 8, ROWS_MAX = 1024 };

static const double SMALL = 1e-12;

struct row {
    double a, b, c, d;
};

/* Row `index` of `all`; with free ends only differences of unknowns are determined. */
static struct row row_of(uint64_t index, uint64_t all, int singular)
{
    double at = (double)(index % 17);
    struct row row = {-1 - at / 32, 4 + at / 16, -1 + at / 64, 1 + (double)(index % 5)};

    if (singular) {
        row = (struct row){-1, 2, -1, 1};
        row.b -= (index == 0) + (index + 1 == all);
    }
    row.a = index == 0 ? 0 : row.a;
    row.c = index + 1 == all ? 0 : row.c;
    return row;
}

static double without_zero(double pivot, int *singular)
{
    if (fabs(pivot) < SMALL) {
        *singular = 1;
        return 1;
    }
    return pivot;
}

static void reduce(void *context, const struct ecube_power *power, void *element, const void *above,
                   const void *below)
{
    struct row *row = element, up = *(const struct row *)above, down = *(const struct row *)below;
    struct row old = *row;

    if (power->index >= power->distance) {
        double times = -old.a / without_zero(down.b, context);
        row->a = times * down.a;
        row->b += times * down.c;
        row->d += times * down.d;
    }
    if (power->index + power->distance < power->elements) {
        double times = -old.c / without_zero(up.b, context);
        row->c = times * up.c;
        row->b += times * up.a;
        row->d += times * up.d;
    }
}

/* The unknowns of all rows, by one node. */
static void solve(double *x, double *factor, uint64_t all, int *singular)
{
    struct row row = row_of(0, all, 0);
    double pivot = without_zero(row.b, singular);

    factor[0] = row.c / pivot;
    x[0] = row.d / pivot;
    for (uint64_t i = 1; i < all; i++) {
        row = row_of(i, all, 0);
        pivot = without_zero(row.b - row.a * factor[i - 1], singular);
        factor[i] = row.c / pivot;
        x[i] = (row.d - row.a * x[i - 1]) / pivot;
    }
    for (uint64_t i = all - 1; i-- > 0;) {
        x[i] -= factor[i] * x[i + 1];
    }
}

/* The largest difference of a node's unknowns from those of the direct solution; -1: no memory. */
static double difference(const struct row *rows, uint32_t count, uint64_t first, uint64_t all)
{
    double *x = malloc(2 * all * sizeof *x), largest = 0;
    int singular = 0;

    if (!x) {
        return -1;
    }
    solve(x, x + all, all, &singular);
    for (uint32_t i = 0; i < count; i++) {
        double apart = fabs(rows[i].d / rows[i].b - x[first + i]);
        largest = apart > largest ? apart : largest;
    }
    free(x);
    return largest;
}

int main(int argc, char **argv)
{
    uint32_t count = (uint32_t)words_power_of_two("tridiagonal", argc, argv, 1, ROWS, ROWS_MAX);
    int free_ends = argc > 2 && strcmp(argv[2], "singular") == 0, singular = 0, any_singular;
    static struct row rows[ROWS_MAX];
    const struct ecube_computation reduction = {reduce, &singular};

    words_end("tridiagonal", argc, argv, free_ends ? 3 : 2);
    uint64_t all = (uint64_t)ecube_size() * count;
    uint64_t first = (uint64_t)ecube_place(ecube_rank()) * count;
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = row_of(first + i, all, free_ends);
    }
    /* where nodes can do that; else by the cheapest */
    int pipelined = ecube_algorithm(ECUBE_ALL_TO_SOME, "Gray code") == ECUBE_OK;
    ecube_align();
    uint64_t start_ns = ecube_model_ns();
    int steps = ecube_ascend(rows, count, sizeof *rows, ecube_iterations(count), &reduction);
    ecube_align();
    uint64_t took_ns = ecube_model_ns() - start_ns;
    for (uint32_t i = 0; i < count; i++) {
        (void)without_zero(rows[i].b, &singular);
    }
    ecube_allreduce(&singular, &any_singular, 1, ECUBE_INT32, ECUBE_MAX);
    if (any_singular) {
        words_refuse("tridiagonal", "the system is singular");
    }
    double apart = difference(rows, count, first, all), most = 0, least = 0, x = 0;
    ecube_allreduce(&apart, &most, 1, ECUBE_DOUBLE, ECUBE_MAX);
    ecube_allreduce(&apart, &least, 1, ECUBE_DOUBLE, ECUBE_MIN);
    x = rows[0].d / rows[0].b;
    if (ecube_rank() == 0) {
        printf("%lu unknowns on %d nodes: the first is %.6f, as by elimination: %s\n",
               (unsigned long)all, ecube_size(), x, most < SMALL && least >= 0 ? "yes" : "no");
        printf("%d steps, %.3f us\n", steps, (double)took_ns / 1e3);
        if (pipelined) {
            printf("4 (log M + M / N - 1) = %u\n",
                   (unsigned)(4 * (ecube_iterations(count) + count - 1)));
        }
    }
    return most >= SMALL || least < 0;
}
