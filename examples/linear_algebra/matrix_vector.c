/*
 * matrix_vector.c - a matrix times a vector, in each way that the matrix may be spread.
 *
 *   matrix_vector [ORDER]      default: 4 rows for each rank
 *
 * Rank p has numbers p m to p m + m - 1 of the vector x, and is to have those of the product y.
 *
 *   rows        all of x, and m rows: y's own part at once; for the next product all ranks get all
 *               of y (multinode broadcast: allgather)
 *   gathered    m columns: a part of every sum; each rank gets what all have for its numbers, and
 *               adds it up (multinode gather: exchange)
 *   summed      the same, added up on the way (multinode accumulation: reduce_scatter)
 *   diagonals   m columns: a rank adds its product to a part of a sum, and gives it to the rank
 *               below; after n - 1 shifts by one each sum has met every column and is at home
 *
 * Example of diagonals, 3 ranks and m = 1: rank p begins with a(p+1,p) x(p), the sum of row p + 1,
 * and gives it to rank p - 1, which adds a(p+1,p-1) x(p-1); rank p + 1 has it last.
 *
 * The sums are shifted: to shift x would multiply it by the wrong columns. Elements are small whole
 * numbers, so that every order of adding gives the same bits, those that each rank works out alone.
 * Exit status 1 when not, or when a time is not the predicted one.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 3.2
 */
#include "examples/linear_algebra/linear.h"

#include <stdio.h>
#include <stdlib.h>

enum { ORDER_MAX = 1 << 14 };

static size_t order, share, first;
static double *x; /* this rank's part alone is used, but by rows */
static double *direct;

/* A number of the product, of columns from `from` on. */
static double product(size_t row, size_t from, size_t count)
{
    double sum = 0;

    for (size_t column = from; column < from + count; column++) {
        sum += linear_element(row, column) * x[column];
    }
    return sum;
}

static uint64_t differs(const double *part, size_t begin, size_t count)
{
    return linear_differs(part, direct, begin, count, order, 0);
}

static uint64_t by_rows(void)
{
    struct meter meter = {.name = "rows"};
    double *part = linear_vector(share), *all = linear_vector(order);
    struct ecube_request request;

    for (size_t i = 0; i < share; i++) {
        part[i] = product(first + i, 0, order);
    }
    meter_begin(&meter);
    ecube_allgather_start(part, all, (uint32_t)(share * sizeof *part), &request);
    meter_wait(&meter, &request, ECUBE_ALLGATHER, 0, share);
    meter.wrong = differs(all, 0, order);
    free(part);
    free(all);
    return meter_report(&meter);
}

static uint64_t gathered(void)
{
    struct meter meter = {.name = "columns, gathered"};
    double *parts = linear_vector(order), *came = linear_vector(order);
    struct ecube_request request;

    for (size_t row = 0; row < order; row++) {
        parts[row] = product(row, first, share);
    }
    meter_begin(&meter);
    ecube_exchange_start(parts, came, (uint32_t)(share * sizeof *parts), &request);
    meter_wait(&meter, &request, ECUBE_EXCHANGE, 0, share);
    for (size_t i = share; i < order; i++) {
        came[i % share] += came[i];
    }
    meter.wrong = differs(came, first, share);
    free(parts);
    free(came);
    return meter_report(&meter);
}

static uint64_t summed(void)
{
    struct meter meter = {.name = "columns, summed"};
    double *parts = linear_vector(order), *sums = linear_vector(share);
    struct ecube_request request;

    for (size_t row = 0; row < order; row++) {
        parts[row] = product(row, first, share);
    }
    meter_begin(&meter);
    ecube_reduce_scatter_start(parts, sums, (uint32_t)share, ECUBE_DOUBLE, ECUBE_SUM, &request);
    meter_wait(&meter, &request, ECUBE_REDUCE_SCATTER, 0, share);
    meter.wrong = differs(sums, first, share);
    free(parts);
    free(sums);
    return meter_report(&meter);
}

static uint64_t by_diagonals(void)
{
    struct meter meter = {.name = "diagonals"};
    double *sums = linear_vector(share), *came = linear_vector(share), *other;
    size_t rank = (size_t)ecube_rank(), size = (size_t)ecube_size();
    struct ecube_request request;

    for (size_t k = size; k-- > 0;) { /* k ranks below, these sums will be at home */
        size_t home = (rank + size - k) % size;
        for (size_t i = 0; i < share; i++) {
            sums[i] += product(home * share + i, first, share);
        }
        if (k > 0) {
            meter_begin(&meter);
            ecube_shift_start(sums, came, (uint32_t)(share * sizeof *sums), -1, &request);
            meter_wait(&meter, &request, ECUBE_SHIFT, ecube_size() - 1, share);
            other = sums;
            sums = came;
            came = other;
        }
    }
    meter.wrong = differs(sums, first, share);
    free(sums);
    free(came);
    return meter_report(&meter);
}

int main(int argc, char **argv)
{
    linear_begin("matrix_vector");
    order = linear_number(argc, argv, 1, 4 * (size_t)ecube_size(), 1, ORDER_MAX);
    share = linear_share("a matrix", order);
    first = (size_t)ecube_rank() * share;
    x = linear_vector(order);
    direct = linear_vector(order);
    for (size_t i = 0; i < order; i++) {
        x[i] = linear_element(order, i);
    }
    for (size_t i = 0; i < order; i++) {
        direct[i] = product(i, 0, order);
    }
    uint64_t wrong = by_rows() + gathered() + summed() + by_diagonals();
    if (ecube_rank() == 0) {
        printf("order %lu: %lu wrong; each rank multiplied %lu times for each product\n",
               (unsigned long)order, (unsigned long)wrong, (unsigned long)(share * order));
    }
    free(x);
    free(direct);
    return wrong > 0;
}
