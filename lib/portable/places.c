/*
 * places.c - where ranks lie in the network that they form, and how far they are apart.
 *
 * A size of two has one link, which leads to the same node up and down where the ends are
 * neighbours.
 */
#include <stdbool.h>

#include "lib/portable/call.h"
#include "include/ecube/ecube.h"

/* How many ranks apart neighbours in a dimension are. */
static uint32_t stride_of(const struct ecube_abi_info *info, unsigned dimension)
{
    uint32_t stride = 1;

    for (unsigned i = 0; i < dimension; i++) {
        stride *= info->sizes[i];
    }
    return stride;
}

static uint32_t coordinate_of(const struct ecube_abi_info *info, uint32_t rank, unsigned dimension)
{
    return rank / stride_of(info, dimension) % info->sizes[dimension];
}

int ecube_coordinates(int rank, int *coordinates, int count)
{
    const struct ecube_abi_info *info = ecube_program_info();

    if (rank < 0 || rank >= ecube_size()) {
        return ECUBE_E_ARGUMENT;
    }
    for (unsigned i = 0; i < info->dimensions && (int)i < count; i++) {
        coordinates[i] = (int)coordinate_of(info, (uint32_t)rank, i);
    }
    return (int)info->dimensions;
}

/* The kernel knows at which node a rank is, and the way to it. */
int ecube_hops(int rank)
{
    return rank < 0 || rank >= ecube_size() ? ECUBE_E_ARGUMENT
                                            : ecube_call(ECUBE_CALL_HOPS, (uint32_t)rank, 0);
}

int ecube_neighbour(int dimension, int direction)
{
    const struct ecube_abi_info *info = ecube_program_info();

    if (direction != 1 && direction != -1) {
        return ECUBE_E_ARGUMENT;
    }
    if (dimension < 0 || (uint32_t)dimension >= info->dimensions) {
        return ECUBE_E_NETWORK;
    }
    uint32_t size = info->sizes[dimension], stride = stride_of(info, (unsigned)dimension),
             here = coordinate_of(info, info->rank, (unsigned)dimension),
             there = (here + size + (uint32_t)direction) % size;
    bool is_past_the_end = direction == 1 ? there == 0 : here == 0;

    if (size < 2 || (is_past_the_end && !info->wraps)) {
        return ECUBE_E_NETWORK;
    }
    return (int)(info->rank + (there - here) * stride);
}

/* On a cube the ring of places goes along the Gray code: place i is rank i XOR i / 2. */
int ecube_place(int rank)
{
    uint32_t place = (uint32_t)rank;

    if (rank < 0 || rank >= ecube_size()) {
        return ECUBE_E_ARGUMENT;
    }
    for (unsigned shift = 1; ecube_dims() >= 0 && shift < 32; shift *= 2) {
        place ^= place >> shift;
    }
    return (int)place;
}

int ecube_rank_at(int place)
{
    if (place < 0 || place >= ecube_size()) {
        return ECUBE_E_ARGUMENT;
    }
    return ecube_dims() >= 0 ? place ^ place >> 1 : place;
}
