/*
 * alltoall.c - alltoall BYTES: one complete exchange on SMPI; rank 0 prints "simulated_us TIME".
 *
 * The ranks of SMPI are threads of one process. They share one pair of buffers, for only the time
 * matters here: without that, 1,024 nodes carry 2 GB of blocks that nobody reads. So the program
 * must run without privatization (smpirun -no-privatize).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char *blocks, *received;

int main(int argc, char **argv)
{
    int bytes = argc > 1 ? atoi(argv[1]) : 0, ranks, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!blocks) {
        blocks = calloc((size_t)ranks, (size_t)bytes);
        received = calloc((size_t)ranks, (size_t)bytes);
    }
    if (bytes < 1 || !blocks || !received) {
        fprintf(stderr, "alltoall: needs a number of bytes, and memory for %d blocks\n", ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double start_s = MPI_Wtime(), end_s, own_s;
    MPI_Alltoall(blocks, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD);
    own_s = MPI_Wtime() - start_s;
    MPI_Reduce(&own_s, &end_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("simulated_us %.6f\n", end_s * 1e6);
    }
    MPI_Finalize();
    return 0;
}
