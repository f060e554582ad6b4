/*
 * transfers.h - the memory of a program's open transfers, and what must not happen to it: what is
 * sent stays as it is, what is received is touched by nobody else.
 *
 * Units    bytes; places are addresses in the program
 * Errors   what a program did wrong is a finding
 * Context  node programs; reads only the memory that it is told of
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/ecube/abi.h"
#include "wire/finding.h"

/* From its first to its last byte; with 0 bytes it is nowhere. */
struct stretch {
    uintptr_t at;
    uint32_t bytes;
};

struct transfer {
    bool open;
    uint8_t call;      /* enum ecube_call */
    uint8_t operation; /* of a collective */
    uint32_t place;    /* of the call that began it */
    uint32_t bytes;    /* as it was asked for */
    int32_t peer, tag;
    struct stretch sends, receives;
    /* Where blocks have sizes of their own: tables for so many ranks, and where the buffers begin
     * from which they count; else NULL and 0. */
    const struct ecube_block *send_blocks, *receive_blocks;
    uintptr_t send_from, receive_from;
    uint32_t ranks;
    uint32_t sum, table_sum; /* of what it sends, and of the tables */
};

struct transfers {
    struct transfer list[ECUBE_REQUESTS_MAX]; /* by the kernel's numbers */
};

/* What a call begins. Memory outside of `all`, which is what a program may name, it leaves out: the
 * kernel refuses such a call. */
struct transfer ecube_transfer_message(uint32_t call, const struct ecube_abi_message *message,
                                       struct stretch all, uint32_t place);
struct transfer ecube_transfer_collective(const struct ecube_abi_collective *collective,
                                          uint32_t rank, uint32_t size, struct stretch all,
                                          uint32_t place);

/* Whether a transfer may begin beside those that are open. */
bool ecube_transfers_fit(const struct transfers *transfers, const struct transfer *transfer,
                         struct finding *found);

/* The kernel has given it a number. */
void ecube_transfers_begin(struct transfers *transfers, uint32_t number,
                           const struct transfer *transfer);

/* The kernel has said that it is complete. False: what it sent is not what it was. */
bool ecube_transfers_end(struct transfers *transfers, uint32_t number, struct finding *found);

/* Whether none that is open uses this memory, which is to be freed; *found says whose it is. */
bool ecube_transfers_spare(const struct transfers *transfers, struct stretch memory,
                           struct finding *found);

/* Whether none that is open uses memory of the stack, which ends at `stack_end`, below `sp`. */
bool ecube_transfers_in_frames(const struct transfers *transfers, uintptr_t sp, uintptr_t stack_end,
                               struct finding *found);

/* Those that are open; how many, and the first `room` of them. */
uint32_t ecube_transfers_open(const struct transfers *transfers, struct finding *found,
                              uint32_t room);
