/*
 * names.h - the few calls of MPI that the programs here make, so that the same source runs on
 * SimGrid (smpicc) and as a program of ours (ecube-cc, which finds ecube.h): there they are calls
 * of ecube.h.
 *
 * Source   MPI: A Message-Passing Interface Standard, version 3.1
 */
#pragma once

#if __has_include(<ecube.h>)
#include <ecube.h>
#include <stddef.h>

typedef struct ecube_request MPI_Request;

#define MPI_INT             ECUBE_INT32
#define MPI_DOUBLE          ECUBE_DOUBLE
#define MPI_SUM             ECUBE_SUM
#define MPI_STATUS_IGNORE   NULL
#define MPI_STATUSES_IGNORE NULL

#define MPI_Init(argc, argv)       ((void)(argc), (void)(argv))
#define MPI_Finalize()             ((void)0)
#define MPI_Comm_rank(world, rank) (*(rank) = ecube_rank())
#define MPI_Comm_size(world, size) (*(size) = ecube_size())
#define MPI_Wtime()                (1e-9 * (double)ecube_model_ns())
#define MPI_Barrier(world)         ecube_barrier()
#define MPI_Bytes(count, type)     ((uint32_t)(count)*ecube_type_bytes(type))
#define MPI_Send(data, count, type, to, tag, world)                                                \
    ecube_send(data, MPI_Bytes(count, type), to, tag)
#define MPI_Recv(data, count, type, from, tag, world, status)                                      \
    ecube_receive(data, MPI_Bytes(count, type), from, tag, status)
#define MPI_Isend(data, count, type, to, tag, world, request)                                      \
    ecube_send_start(data, MPI_Bytes(count, type), to, tag, request)
#define MPI_Irecv(data, count, type, from, tag, world, request)                                    \
    ecube_receive_start(data, MPI_Bytes(count, type), from, tag, request)
#define MPI_Waitall(count, requests, statuses) ecube_wait_all(requests, count, statuses)
#define MPI_Allreduce(send, receive, count, type, operation, world)                                \
    ecube_allreduce(send, receive, count, type, operation)
#elif __has_include(<mpi.h>)
#include <mpi.h>
#endif
