/*
 * ring.c - a token visits the nodes and comes home. On a cube it goes in the order of a Gray code,
 * so that every hop is one link, as it is on a ring.
 *
 *   ring [rounds]      default: 1
 *
 * Each node adds its rank to the token. The model time of a round on N nodes of a cube or a ring is
 * N messages of one hop.
 */
#include <ecube.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/words.h"

enum { TAG_TOKEN = 7, ROUNDS_MAX = 1000000 };

/* The rank at a place of the tour. */
static int rank_at(int place)
{
    return ecube_dims() < 0 ? place : place ^ place >> 1;
}

static int place_of(int rank)
{
    int place = 0;
    if (ecube_dims() < 0) {
        return rank;
    }
    for (; rank > 0; rank >>= 1) {
        place ^= rank;
    }
    return place;
}

int main(int argc, char **argv)
{
    int size = ecube_size();
    int rounds = (int)words_number("ring", argc, argv, 1, 1, 1, ROUNDS_MAX);
    int place = place_of(ecube_rank());
    int next = rank_at((place + 1) % size);
    int previous = rank_at((place + size - 1) % size);
    uint64_t token = 0;
    ecube_align(); /* before it the clocks of nodes may differ */
    uint64_t start_ns = ecube_model_ns();
    for (int round = 0; round < rounds && size > 1; round++) {
        if (ecube_rank() != 0) {
            ecube_receive(&token, sizeof token, previous, TAG_TOKEN, NULL);
        }
        token += (uint64_t)ecube_rank();
        ecube_send(&token, sizeof token, next, TAG_TOKEN);
        if (ecube_rank() == 0) {
            ecube_receive(&token, sizeof token, previous, TAG_TOKEN, NULL);
        }
    }
    if (ecube_rank() == 0) {
        uint64_t expected = (uint64_t)rounds * (uint64_t)size * (uint64_t)(size - 1) / 2;
        printf("token %llu, expected %llu, %d messages, %llu ns model time\n",
               (unsigned long long)token, (unsigned long long)expected,
               size > 1 ? rounds * size : 0, (unsigned long long)(ecube_model_ns() - start_ns));
        return token == expected ? 0 : 1;
    }
    return 0;
}
