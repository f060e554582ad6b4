/*
 * collectives.c - collectives NAME BYTES...: a collective on SMPI with each size; rank 0 prints
 * "collective NAME BYTES US", from the common start to the end of the last rank.
 *
 * Names and sizes are ours: bytes of a block, or of the whole vector; reductions add ints. The
 * ranks of SMPI are threads of one process and share one pair of buffers, for only the time
 * matters: so the program must run without privatization (smpirun -no-privatize). A communicator of
 * SMPI looks for ranks on one host when a collective first wants to know; that is not timed.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where every rank copies all blocks, in sum; more is left out. */
static const double COPIED_BYTES_MAX = 1 << 30;

/* The same for all ranks; nothing else may stand here. */
static char *given, *got;
static int ranks, *counts;

static void exchange(int bytes)
{
    MPI_Alltoall(given, bytes, MPI_BYTE, got, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void allgather(int bytes)
{
    MPI_Allgather(given, bytes, MPI_BYTE, got, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void broadcast(int bytes)
{
    MPI_Bcast(got, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allreduce(int bytes)
{
    MPI_Allreduce(given, got, bytes / (int)sizeof(int), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_scatter(int bytes)
{
    for (int i = 0; i < ranks; i++) {
        counts[i] = bytes / (int)sizeof(int);
    }
    MPI_Reduce_scatter(given, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(int bytes);
    int twice;  /* a first call may look for ranks on one host */
    int copies; /* every rank copies the blocks for all ranks */
} collectives[] = {{"exchange", exchange, 0, 0},
                   {"allgather", allgather, 0, 0},
                   {"broadcast", broadcast, 1, 0},
                   {"allreduce", allreduce, 1, 0},
                   {"reduce_scatter", reduce_scatter, 0, 1}};

/* All ranks go on at the same instant: a second after the last of them has come. */
static double start_together(void)
{
    double now_s = MPI_Wtime(), last_s;

    MPI_Allreduce(&now_s, &last_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double start_s = ceil(last_s) + 1, wait_s = start_s - MPI_Wtime();
    struct timespec wait = {(time_t)wait_s, (long)((wait_s - floor(wait_s)) * 1e9)};
    nanosleep(&wait, NULL);
    return start_s;
}

static void time_call(const char *name, void (*call)(int bytes), int bytes)
{
    double end_s, start_s = start_together();
    int rank;

    call(bytes);
    double own_s = MPI_Wtime() - start_s;
    MPI_Reduce(&own_s, &end_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("collective %s %d %.3f\n", name, bytes, end_s * 1e6);
        fflush(stdout);
    }
}

static int greatest(int argc, char **argv)
{
    int bytes = 1;

    for (int i = 2; i < argc; i++) {
        bytes = atoi(argv[i]) > bytes ? atoi(argv[i]) : bytes;
    }
    return bytes;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!given) {
        given = calloc((size_t)ranks, (size_t)greatest(argc, argv));
        got = calloc((size_t)ranks, (size_t)greatest(argc, argv));
        counts = calloc((size_t)ranks, sizeof *counts);
    }
    if (argc < 2 || !given || !got || !counts) {
        fprintf(stderr, "collectives: needs a name, and memory for %d blocks\n", ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (unsigned i = 0; i < sizeof collectives / sizeof collectives[0]; i++) {
        for (int k = 2; k < argc && strcmp(argv[1], collectives[i].name) == 0; k++) {
            int bytes = atoi(argv[k]);
            if (collectives[i].copies && (double)ranks * ranks * bytes > COPIED_BYTES_MAX) {
                continue;
            }
            if (collectives[i].twice) {
                collectives[i].call(bytes);
            }
            time_call(argv[1], collectives[i].call, bytes);
        }
    }
    MPI_Finalize();
    return 0;
}
