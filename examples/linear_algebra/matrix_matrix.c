/*
 * matrix_matrix.c - the product of two matrices, C = A B, by broadcasts: one matrix times vector
 * for each column of B.
 *
 *   matrix_matrix [ORDER]      default: a row for each rank
 *
 * A lies spread by rows, and so will C. What a product wants is one whole column of B at all ranks:
 *
 *   B by rows      every rank has a part of the column: a multinode broadcast (allgather) for each
 *   B by columns   one rank has the whole column: a broadcast from it for each
 *
 * Either way each rank must get all that it has not of B, N - m of the N numbers of each column.
 * Elements are small whole numbers, so that C is the same to the bit as what one rank works out
 * alone. Exit status 1 when not, or when a time is not the predicted one.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 3.2
 */
#include "examples/linear_algebra/linear.h"

#include <stdio.h>
#include <stdlib.h>

enum { ORDER_MAX = 1 << 12, OTHER = 1 << 16 };

static size_t order, share, first;

static double a(size_t row, size_t column)
{
    return linear_element(row, column);
}

static double b(size_t row, size_t column)
{
    return linear_element(row + OTHER, column);
}

/* This rank's numbers of a column of C, with the column of B; how many are not what a direct
 * computation has. */
static uint64_t multiply(const double *column, size_t number)
{
    uint64_t wrong = 0;

    for (size_t i = 0; i < share; i++) {
        double sum = 0, direct = 0;
        for (size_t k = 0; k < order; k++) {
            sum += a(first + i, k) * column[k];
            direct += a(first + i, k) * b(k, number);
        }
        wrong += sum != direct;
    }
    return wrong;
}

static uint64_t b_by_rows(double *column)
{
    struct meter meter = {.name = "B by rows"};
    double *part = linear_vector(share);
    struct ecube_request request;

    for (size_t number = 0; number < order; number++) {
        for (size_t i = 0; i < share; i++) {
            part[i] = b(first + i, number);
        }
        meter_begin(&meter);
        ecube_allgather_start(part, column, (uint32_t)(share * sizeof *part), &request);
        meter_wait(&meter, &request, ECUBE_ALLGATHER, 0, share);
        meter.wrong += multiply(column, number);
    }
    free(part);
    return meter_report(&meter);
}

static uint64_t b_by_columns(double *column)
{
    struct meter meter = {.name = "B by columns"};
    struct ecube_request request;

    for (size_t number = 0; number < order; number++) {
        int owner = (int)(number / share);
        for (size_t k = 0; k < order; k++) {
            column[k] = owner == ecube_rank() ? b(k, number) : 0;
        }
        meter_begin(&meter);
        ecube_broadcast_start(column, (uint32_t)(order * sizeof *column), owner, &request);
        meter_wait(&meter, &request, ECUBE_BROADCAST, owner, order);
        meter.wrong += multiply(column, number);
    }
    return meter_report(&meter);
}

int main(int argc, char **argv)
{
    linear_begin("matrix_matrix");
    order = linear_number(argc, argv, 1, (size_t)ecube_size(), 1, ORDER_MAX);
    share = linear_share("a matrix", order);
    first = (size_t)ecube_rank() * share;
    double *column = linear_vector(order);
    uint64_t wrong = b_by_rows(column) + b_by_columns(column);

    if (ecube_rank() == 0) {
        printf("order %lu: C by %lu matrix-vector products, twice, %lu numbers wrong\n",
               (unsigned long)order, (unsigned long)order, (unsigned long)wrong);
    }
    free(column);
    return wrong > 0;
}
