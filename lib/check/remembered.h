/*
 * remembered.h - the functions of which it is remembered where a program has called them: what
 * takes and frees memory, and what begins a transfer. For the check.S of a processor.
 */
#pragma once

#define REMEMBERED_MEMORY                                                                          \
    malloc, calloc, realloc, reallocf, memalign, aligned_alloc, posix_memalign, free, strdup,      \
        strndup, asprintf, vasprintf

#define REMEMBERED_CALLS                                                                           \
    ecube_send, ecube_receive, ecube_send_receive, ecube_barrier, ecube_align, ecube_broadcast,    \
        ecube_scatter, ecube_gather, ecube_allgather, ecube_exchange, ecube_exchangev,             \
        ecube_reduce, ecube_allreduce, ecube_reduce_scatter, ecube_scan, ecube_shift,              \
        ecube_reverse, ecube_all_to_some, ecube_pm2i, ecube_descend, ecube_ascend, ecube_output,   \
        ecube_send_parallel

#define REMEMBERED_STARTS                                                                          \
    ecube_send_start, ecube_receive_start, ecube_barrier_start, ecube_align_start,                 \
        ecube_broadcast_start, ecube_scatter_start, ecube_gather_start, ecube_allgather_start,     \
        ecube_exchange_start, ecube_exchangev_start, ecube_reduce_start, ecube_allreduce_start,    \
        ecube_reduce_scatter_start, ecube_scan_start, ecube_shift_start, ecube_reverse_start,      \
        ecube_all_to_some_start, ecube_pm2i_start, ecube_send_parallel_start
