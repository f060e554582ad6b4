/*
 * random.h - a seeded generator: every choice of a simulation comes from here.
 *
 * Context  any; no state but the caller's
 * Source   Vigna, An experimental exploration of Marsaglia's xorshift generators, scrambled (2016):
 *          the finaliser is that of splitmix64
 */
#pragma once

#include <stdint.h>

/* A well mixed function of x. */
static inline uint64_t random_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The next number of a sequence. */
static inline uint64_t random_next(uint64_t *seed)
{
    uint64_t x = *seed;

    *seed += UINT64_C(0x9e3779b97f4a7c15);
    return random_mix(x);
}

/* A number below `bound`, which is not 0. */
static inline uint32_t random_below(uint64_t *seed, uint32_t bound)
{
    return (uint32_t)((random_next(seed) >> 32) * bound >> 32);
}
