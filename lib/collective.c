/*
 * collective.c - the collectives as programs call them, on top of the kernel's schedules.
 *
 * The kernel scatters and gathers within one working buffer per node: the blocks of the node's
 * subtree in the binomial tree, 2^t of them from rank with its low t bits cleared, t being the
 * trailing zeros of rank ^ root. Here the working buffer is found: the program's own array at the
 * root and at the leaves, a scratch buffer between.
 *
 * Example, 8 nodes, root 0: node 4 holds the blocks of 4 5 6 7, nodes 2 and 6 two each, odd nodes
 * their own.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "include/ecube/ecube.h"
#include "lib/call.h"

static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static int collective_begin(const struct ecube_abi_collective *call, struct ecube_request *request)
{
    int32_t number = ecube_call(ECUBE_CALL_COLLECTIVE, (uintptr_t)call, 0);
    request->number = number;
    if (number < 0) {
        free(request->scratch);
        *request = (struct ecube_request){.number = number};
        return number;
    }
    return ECUBE_OK;
}

int ecube_barrier_start(struct ecube_request *request)
{
    struct ecube_abi_collective call = {.operation = ECUBE_BARRIER};
    *request = (struct ecube_request){0};
    return collective_begin(&call, request);
}

int ecube_broadcast_start(void *data, uint32_t bytes, int root, struct ecube_request *request)
{
    struct ecube_abi_collective call = {
        .operation = ECUBE_BROADCAST,
        .root = (uint32_t)root,
        .block_bytes = bytes,
        .send = address(data),
        .receive = address(data),
    };
    *request = (struct ecube_request){0};
    return collective_begin(&call, request);
}

static int refuse(struct ecube_request *request, int error)
{
    *request = (struct ecube_request){.number = error};
    return error;
}

/* Whether two arrays of a block for every node have bytes in common. */
static bool overlap(const void *one, const void *other, uint32_t block_bytes)
{
    uint64_t bytes = (uint64_t)ecube_size() * block_bytes;
    uint32_t low = address(one) < address(other) ? address(one) : address(other);
    return address(one) - low < bytes && address(other) - low < bytes;
}

int ecube_exchange_start(const void *send, void *receive, uint32_t block_bytes,
                         struct ecube_request *request)
{
    if (overlap(send, receive, block_bytes)) {
        return refuse(request, ECUBE_E_ARGUMENT);
    }
    struct ecube_abi_collective call = {
        .operation = ECUBE_EXCHANGE,
        .block_bytes = block_bytes,
        .send = address(send),
        .receive = address(receive),
    };
    *request = (struct ecube_request){0};
    int started = collective_begin(&call, request);
    if (started >= 0) {
        size_t own = (size_t)ecube_rank() * block_bytes;
        memcpy((char *)receive + own, (const char *)send + own, block_bytes);
    }
    return started;
}

/* The number of blocks in this node's subtree, a power of two. */
static uint32_t subtree_blocks(int root)
{
    uint32_t relative = (uint32_t)ecube_rank() ^ (uint32_t)root;
    return relative == 0 ? (uint32_t)ecube_size() : relative & (~relative + 1);
}

/*
 * Scatter and gather: finds the working buffer and starts. blocks is the root's array, block the
 * own block; inward is true for the gather, whose own block goes into the working buffer before the
 * start.
 */
static int subtree_begin(struct ecube_abi_collective *call, char *blocks, char *block, bool inward,
                         struct ecube_request *request)
{
    uint32_t count = subtree_blocks((int)call->root);
    uint32_t own_offset = ((uint32_t)ecube_rank() & (count - 1)) * call->block_bytes;
    bool is_root = (uint32_t)ecube_rank() == call->root;
    char *working = is_root ? blocks : block;
    *request = (struct ecube_request){0};
    /* The kernel would say so too, but memcpy comes before it: these two. */
    if ((uint64_t)ecube_size() * call->block_bytes > UINT32_MAX) {
        return refuse(request, ECUBE_E_ARGUMENT);
    }
    if (call->block_bytes > 0 && (!block || (is_root && !blocks))) {
        return refuse(request, ECUBE_E_FAULT);
    }
    if (!is_root && count > 1) {
        /* One byte more, so that NULL always means no memory. */
        working = malloc((size_t)count * call->block_bytes + 1);
        if (!working) {
            return refuse(request, ECUBE_E_FULL);
        }
        request->scratch = working;
        request->own = inward ? NULL : block;
        request->own_offset = own_offset;
        request->own_bytes = call->block_bytes;
    }
    if (inward && working + own_offset != block) {
        memcpy(working + own_offset, block, call->block_bytes);
    }
    if (is_root && !inward && block != working + own_offset) {
        memcpy(block, working + own_offset, call->block_bytes);
    }
    call->send = address(working);
    call->receive = address(working);
    return collective_begin(call, request);
}

int ecube_scatter_start(const void *blocks, void *block, uint32_t block_bytes, int root,
                        struct ecube_request *request)
{
    struct ecube_abi_collective call = {
        .operation = ECUBE_SCATTER, .root = (uint32_t)root, .block_bytes = block_bytes};
    return subtree_begin(&call, (char *)(uintptr_t)blocks, block, false, request);
}

int ecube_gather_start(const void *block, void *blocks, uint32_t block_bytes, int root,
                       struct ecube_request *request)
{
    struct ecube_abi_collective call = {
        .operation = ECUBE_GATHER, .root = (uint32_t)root, .block_bytes = block_bytes};
    return subtree_begin(&call, blocks, (char *)(uintptr_t)block, true, request);
}

/* The blocking forms: started, then waited for. */
static int finish(int started, struct ecube_request *request)
{
    int ended = started < 0 ? started : ecube_wait(request, NULL);
    return ended < 0 ? ended : ECUBE_OK;
}

int ecube_barrier(void)
{
    struct ecube_request request;
    return finish(ecube_barrier_start(&request), &request);
}

int ecube_broadcast(void *data, uint32_t bytes, int root)
{
    struct ecube_request request;
    return finish(ecube_broadcast_start(data, bytes, root, &request), &request);
}

int ecube_exchange(const void *send, void *receive, uint32_t block_bytes)
{
    struct ecube_request request;
    return finish(ecube_exchange_start(send, receive, block_bytes, &request), &request);
}

int ecube_scatter(const void *blocks, void *block, uint32_t block_bytes, int root)
{
    struct ecube_request request;
    return finish(ecube_scatter_start(blocks, block, block_bytes, root, &request), &request);
}

int ecube_gather(const void *block, void *blocks, uint32_t block_bytes, int root)
{
    struct ecube_request request;
    return finish(ecube_gather_start(block, blocks, block_bytes, root, &request), &request);
}
