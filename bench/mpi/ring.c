/*
 * ring.c - ring [ROUNDS]: a token goes round all ranks, and each adds its number.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/mpi/names.h"

int main(int argc, char **argv)
{
    int rank, size, token = 0, rounds = argc > 1 ? atoi(argv[1]) : 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int before = (rank + size - 1) % size, after = (rank + 1) % size;
    double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (rank > 0 || i > 0) {
            MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        token += rank;
        MPI_Send(&token, 1, MPI_INT, after, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("token %d time %.3f us\n", token, 1e6 * (MPI_Wtime() - start));
    }
    MPI_Finalize();
    return 0;
}
