/*
 * transpose.c - transposes a square matrix that is spread over the nodes by rows, with one complete
 * exchange.
 *
 *   transpose [rows per node]      default: 8
 *
 * Node i holds rows i*b to i*b + b - 1 of the M x M matrix A(r, c) = r * M + c, M = N * b. Block j
 * of its rows, b x b numbers, goes to node j; what comes from node j, turned over, is block j of
 * the transposed rows.
 *
 * Example, N = 2, b = 1:  node 0: 0 1   node 1: 2 3   becomes   node 0: 0 2   node 1: 1 3
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/words.h"

enum { ROWS_MAX = 1024 };

static double element(size_t row, size_t column, size_t order)
{
    return (double)(row * order + column);
}

/* Cuts the node's rows into blocks, one for each node. */
static void pack(const double *rows, double *blocks, size_t b, size_t order)
{
    for (size_t row = 0; row < b; row++) {
        for (size_t column = 0; column < order; column++) {
            blocks[column / b * b * b + row * b + column % b] = rows[row * order + column];
        }
    }
}

/* Puts the blocks that came side by side, each turned over. */
static void unpack(const double *blocks, double *rows, size_t b, size_t order)
{
    for (size_t row = 0; row < b; row++) {
        for (size_t column = 0; column < order; column++) {
            rows[row * order + column] = blocks[column / b * b * b + column % b * b + row];
        }
    }
}

int main(int argc, char **argv)
{
    size_t b = (size_t)words_number("transpose", argc, argv, 1, 8, 1, ROWS_MAX);
    size_t order = (size_t)ecube_size() * b;
    size_t first = (size_t)ecube_rank() * b;
    double *rows = calloc(b * order, sizeof *rows);
    double *send = calloc(b * order, sizeof *send);
    double *receive = calloc(b * order, sizeof *receive);
    if (!rows || !send || !receive) {
        fprintf(stderr, "transpose: no memory for a matrix of order %lu\n", (unsigned long)order);
        return 1;
    }
    for (size_t row = 0; row < b; row++) {
        for (size_t column = 0; column < order; column++) {
            rows[row * order + column] = element(first + row, column, order);
        }
    }
    pack(rows, send, b, order);
    ecube_exchange(send, receive, (uint32_t)(b * b * sizeof *rows));
    unpack(receive, rows, b, order);
    size_t wrong = 0;
    for (size_t row = 0; row < b; row++) {
        for (size_t column = 0; column < order; column++) {
            wrong += rows[row * order + column] != element(column, first + row, order);
        }
    }
    if (ecube_rank() == 0) {
        printf("order %lu: element (0, 1) is now %g\n", (unsigned long)order,
               order > 1 ? rows[1] : 0.0);
    }
    if (wrong > 0) {
        printf("%lu wrong elements\n", (unsigned long)wrong);
    }
    free(rows);
    free(send);
    free(receive);
    return wrong > 0;
}
