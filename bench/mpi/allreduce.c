/*
 * allreduce.c - allreduce [ROUNDS]: the sum of a vector of 1 KiB over all ranks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/mpi/names.h"

enum { NUMBERS = 256 };

int main(int argc, char **argv)
{
    int rank, size, send[NUMBERS], sums[NUMBERS], rounds = argc > 1 ? atoi(argv[1]) : 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < NUMBERS; i++) {
        send[i] = rank + i;
    }
    double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Allreduce(send, sums, NUMBERS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        printf("sum %d of %d time %.3f us\n", sums[NUMBERS - 1], size, 1e6 * (MPI_Wtime() - start));
    }
    MPI_Finalize();
    return 0;
}
