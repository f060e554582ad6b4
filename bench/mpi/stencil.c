/*
 * stencil.c - the five-point stencil on a torus of ranks: in each iteration a rank exchanges the
 * edges of its square with its four neighbours.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/mpi/names.h"

enum { SIDE = 16, NEIGHBOURS = 4 };

typedef double square[SIDE + 2][SIDE + 2];

struct edges {
    double send[NEIGHBOURS][SIDE], receive[NEIGHBOURS][SIDE];
};

static void take_edges(square *cells, struct edges *edges)
{
    for (int i = 0; i < SIDE; i++) {
        edges->send[0][i] = (*cells)[1][i + 1];
        edges->send[1][i] = (*cells)[SIDE][i + 1];
        edges->send[2][i] = (*cells)[i + 1][1];
        edges->send[3][i] = (*cells)[i + 1][SIDE];
    }
}

static void put_edges(square *cells, const struct edges *edges)
{
    for (int i = 0; i < SIDE; i++) {
        (*cells)[0][i + 1] = edges->receive[0][i];
        (*cells)[SIDE + 1][i + 1] = edges->receive[1][i];
        (*cells)[i + 1][0] = edges->receive[2][i];
        (*cells)[i + 1][SIDE + 1] = edges->receive[3][i];
    }
}

/* What comes from a neighbour was sent to the opposite one: its tag is that direction. */
static void exchange(struct edges *edges, const int neighbours[NEIGHBOURS])
{
    MPI_Request requests[2 * NEIGHBOURS];

    for (int i = 0; i < NEIGHBOURS; i++) {
        MPI_Irecv(edges->receive[i], SIDE, MPI_DOUBLE, neighbours[i], i ^ 1, MPI_COMM_WORLD,
                  &requests[i]);
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        MPI_Isend(edges->send[i], SIDE, MPI_DOUBLE, neighbours[i], i, MPI_COMM_WORLD,
                  &requests[NEIGHBOURS + i]);
    }
    MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
}

static void relax(square *cells, square *next)
{
    for (int i = 1; i <= SIDE; i++) {
        for (int j = 1; j <= SIDE; j++) {
            (*next)[i][j] =
                0.5 * (*cells)[i][j] + 0.125 * ((*cells)[i - 1][j] + (*cells)[i + 1][j] +
                                                (*cells)[i][j - 1] + (*cells)[i][j + 1]);
        }
    }
}

int main(int argc, char **argv)
{
    int rank, size, columns = 1, iterations = argc > 1 ? atoi(argv[1]) : 100;
    double sum = 0, total;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    square *cells = calloc(2, sizeof *cells);
    struct edges *edges = calloc(1, sizeof *edges);
    while (columns * columns < size) {
        columns *= 2;
    }
    int rows = size / columns, row = rank / columns, column = rank % columns;
    const int neighbours[NEIGHBOURS] = {
        (row + rows - 1) % rows * columns + column, (row + 1) % rows * columns + column,
        row * columns + (column + columns - 1) % columns, row * columns + (column + 1) % columns};
    cells[0][1][1] = 1 + rank;
    double start = MPI_Wtime();
    for (int i = 0; i < iterations; i++) {
        take_edges(&cells[i % 2], edges);
        exchange(edges, neighbours);
        put_edges(&cells[i % 2], edges);
        relax(&cells[i % 2], &cells[(i + 1) % 2]);
    }
    double time = MPI_Wtime() - start;
    for (int i = 1; i <= SIDE; i++) {
        for (int j = 1; j <= SIDE; j++) {
            sum += cells[iterations % 2][i][j];
        }
    }
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum %.6f time %.3f us\n", total, 1e6 * time);
    }
    free(cells);
    free(edges);
    MPI_Finalize();
    return 0;
}
