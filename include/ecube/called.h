/*
 * called.h - how a program says which call of ecube.h has ended it by an error; for lib/ and for
 * whoever reads the report of the fault.
 *
 * The trap of arch/armv7a/library/trap.S has the status in r0, the call's number in r1, and in r2
 * the address of a struct ecube_called, in the piece of the program's stack that the report
 * carries. The reader checks all three: a program may execute the trap with any values.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi.h"

enum ecube_called_number {
    ECUBE_CALLED_SEND = 1,
    ECUBE_CALLED_RECEIVE = 2,
    ECUBE_CALLED_SEND_RECEIVE = 3,
    ECUBE_CALLED_SEND_START = 4,
    ECUBE_CALLED_RECEIVE_START = 5,
    ECUBE_CALLED_WAIT = 6,
    ECUBE_CALLED_TEST = 7,
    ECUBE_CALLED_WAIT_ALL = 8,
    ECUBE_CALLED_WAIT_ANY = 9,
    ECUBE_CALLED_WAIT_SOME = 10,
    ECUBE_CALLED_CANCEL = 11,
    ECUBE_CALLED_PROBE = 12,
    ECUBE_CALLED_IPROBE = 13,
    ECUBE_CALLED_COMPUTE = 14,
    ECUBE_CALLED_REPORT = 15,
    ECUBE_CALLED_OUTPUT = 16,
    ECUBE_CALLED_REGION = 17,
    ECUBE_CALLED_REGION_WAIT = 18,
    ECUBE_CALLED_SEND_PARALLEL = 19,
    ECUBE_CALLED_SEND_PARALLEL_START = 20,
    ECUBE_CALLED_COLLECTIVE = 32, /* the operation is added */
    ECUBE_CALLED_START = 64,      /* likewise: the form with _start */
    ECUBE_CALLED_NUMBERS = ECUBE_CALLED_START + ECUBE_OPERATIONS
};

/* What a call was given, and how the request ended that has failed. */
struct ecube_called {
    uint32_t number; /* enum ecube_called_number */
    /* the number of the call that began the failed transfer (another call may have waited for it);
     * for send_receive the number of send or receive; 0: nothing was begun */
    uint32_t began;
    struct ecube_abi_result result; /* status 0: no request has failed, the call itself has */
    /* waits, tests and cancel: where the requests are, how many, which of them has failed */
    struct {
        uint32_t requests, count, index;
    } wait;
    union {
        /* of send_receive what is sent, what is received; of output and region what is named */
        struct ecube_abi_message message[2];
        struct ecube_abi_collective collective; /* of the collective that has failed */
        uint64_t ns;                            /* compute */
        char region[ECUBE_NAME_MAX];            /* region_wait: its name */
    };
};

/* "ecube_send"; NULL: it is no call's number. */
static inline const char *ecube_called_name(uint32_t number)
{
    static const char *const names[ECUBE_CALLED_NUMBERS] = {
        [ECUBE_CALLED_SEND] = "ecube_send",
        [ECUBE_CALLED_RECEIVE] = "ecube_receive",
        [ECUBE_CALLED_SEND_RECEIVE] = "ecube_send_receive",
        [ECUBE_CALLED_SEND_START] = "ecube_send_start",
        [ECUBE_CALLED_RECEIVE_START] = "ecube_receive_start",
        [ECUBE_CALLED_WAIT] = "ecube_wait",
        [ECUBE_CALLED_TEST] = "ecube_test",
        [ECUBE_CALLED_WAIT_ALL] = "ecube_wait_all",
        [ECUBE_CALLED_WAIT_ANY] = "ecube_wait_any",
        [ECUBE_CALLED_WAIT_SOME] = "ecube_wait_some",
        [ECUBE_CALLED_CANCEL] = "ecube_cancel",
        [ECUBE_CALLED_PROBE] = "ecube_probe",
        [ECUBE_CALLED_IPROBE] = "ecube_iprobe",
        [ECUBE_CALLED_COMPUTE] = "ecube_compute",
        [ECUBE_CALLED_REPORT] = "ecube_report",
        [ECUBE_CALLED_OUTPUT] = "ecube_output",
        [ECUBE_CALLED_REGION] = "ecube_region",
        [ECUBE_CALLED_REGION_WAIT] = "ecube_region_wait",
        [ECUBE_CALLED_SEND_PARALLEL] = "ecube_send_parallel",
        [ECUBE_CALLED_SEND_PARALLEL_START] = "ecube_send_parallel_start",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_BARRIER] = "ecube_barrier",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_BROADCAST] = "ecube_broadcast",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_SCATTER] = "ecube_scatter",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_GATHER] = "ecube_gather",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_EXCHANGE] = "ecube_exchange",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_ALLGATHER] = "ecube_allgather",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_REDUCE] = "ecube_reduce",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_ALIGN] = "ecube_align",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_ALLREDUCE] = "ecube_allreduce",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_REDUCE_SCATTER] = "ecube_reduce_scatter",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_SCAN] = "ecube_scan",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_SHIFT] = "ecube_shift",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_REVERSE] = "ecube_reverse",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_EXCHANGEV] = "ecube_exchangev",
        [ECUBE_CALLED_COLLECTIVE + ECUBE_ALL_TO_SOME] = "ecube_all_to_some",
        [ECUBE_CALLED_START + ECUBE_BARRIER] = "ecube_barrier_start",
        [ECUBE_CALLED_START + ECUBE_BROADCAST] = "ecube_broadcast_start",
        [ECUBE_CALLED_START + ECUBE_SCATTER] = "ecube_scatter_start",
        [ECUBE_CALLED_START + ECUBE_GATHER] = "ecube_gather_start",
        [ECUBE_CALLED_START + ECUBE_EXCHANGE] = "ecube_exchange_start",
        [ECUBE_CALLED_START + ECUBE_ALLGATHER] = "ecube_allgather_start",
        [ECUBE_CALLED_START + ECUBE_REDUCE] = "ecube_reduce_start",
        [ECUBE_CALLED_START + ECUBE_ALIGN] = "ecube_align_start",
        [ECUBE_CALLED_START + ECUBE_ALLREDUCE] = "ecube_allreduce_start",
        [ECUBE_CALLED_START + ECUBE_REDUCE_SCATTER] = "ecube_reduce_scatter_start",
        [ECUBE_CALLED_START + ECUBE_SCAN] = "ecube_scan_start",
        [ECUBE_CALLED_START + ECUBE_SHIFT] = "ecube_shift_start",
        [ECUBE_CALLED_START + ECUBE_REVERSE] = "ecube_reverse_start",
        [ECUBE_CALLED_START + ECUBE_EXCHANGEV] = "ecube_exchangev_start",
        [ECUBE_CALLED_START + ECUBE_ALL_TO_SOME] = "ecube_all_to_some_start"};

    return number < ECUBE_CALLED_NUMBERS ? names[number] : NULL;
}
