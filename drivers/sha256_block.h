/*
 * sha256_block.h - one block of SHA-256: the processor's instructions where it has them and the
 * compiler may use them, else C.
 *
 * Context  any; pure
 * Source   FIPS 180-4, sections 4.1.2, 6.2; Intel 64 and IA-32 Architectures Software Developer's
 *          Manual, volume 2: SHA256RNDS2, SHA256MSG1, SHA256MSG2
 * Names    the standard's W is w[], K is constants[], T1 is `first`, a to h are a to h
 */
#pragma once

#include <stdint.h>

#if defined(__SHA__) && defined(__SSE4_1__)
#include <immintrin.h>
#endif

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#if defined(__SHA__) && defined(__SSE4_1__)
/* Four words of W, made of the sixteen before them, the oldest first. */
static inline __m128i next_words(__m128i w0, __m128i w4, __m128i w8, __m128i w12)
{
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w4), _mm_alignr_epi8(w12, w8, 4));
    return _mm_sha256msg2_epu32(sum, w12);
}

/* Mixes a block of 64 bytes into the state. The instructions take the eight variables as a, b, e, f
 * and c, d, g, h, the first in the highest word; one of them makes two rounds. */
static inline void sha256_block(uint32_t state[8], const uint8_t *block)
{
    const __m128i swapped = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i *halves = (__m128i *)(void *)state, w[16];
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(&halves[0]), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(&halves[1]), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    const __m128i abef_before = abef, cdgh_before = cdgh;

#pragma GCC unroll 16 /* w lies in registers then */
    for (unsigned i = 0; i < 16; i++) {
        w[i] = i < 4
                   ? _mm_shuffle_epi8(
                         _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i)), swapped)
                   : next_words(w[i - 4], w[i - 3], w[i - 2], w[i - 1]);
        __m128i added =
            _mm_add_epi32(w[i], _mm_loadu_si128((const __m128i *)(const void *)&constants[4 * i]));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
    }
    abef = _mm_shuffle_epi32(_mm_add_epi32(abef, abef_before), 0x1b);
    cdgh = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdgh_before), 0xb1);
    _mm_storeu_si128(&halves[0], _mm_blend_epi16(abef, cdgh, 0xf0));
    _mm_storeu_si128(&halves[1], _mm_alignr_epi8(cdgh, abef, 8));
}
#else
/* ROTR of the standard; n is 1 to 31, so neither shift is by 32, which C leaves undefined. */
static inline uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* The standard's words are big-endian, the node is little-endian, and p may lie at any address: a
 * program's image is hashed where it lies. */
static inline uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The message schedule: w[0..15] are the block, each later word is made of four words before it.
 * The lower-case sigmas of the standard rotate twice and shift once. */
static inline void schedule(uint32_t w[64], const uint8_t *block)
{
    for (unsigned t = 0; t < 16; t++) {
        w[t] = big_endian(block + 4 * t);
    }
    for (unsigned t = 16; t < 64; t++) {
        uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[t - 7] +
               (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
    }
}

/* One round. The standard moves all eight variables one place on after each round. Here nothing
 * moves: the caller names the variables one place on instead, so only d and h are written. That is
 * a third fewer instructions on a node. */
static inline __attribute__((always_inline)) void one_round(uint32_t a, uint32_t b, uint32_t c,
                                                            uint32_t *d, uint32_t e, uint32_t f,
                                                            uint32_t g, uint32_t *h, uint32_t added)
{
    /* Sigma1(e) + Ch(e, f, g): the last term is Ch with one operation less. */
    uint32_t first =
        *h + added + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g)));

    *d += first;
    /* Sigma0(a) + Maj(a, b, c). */
    *h = first + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
}

/* Mixes a block of 64 bytes into the state. */
static inline void sha256_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    schedule(w, block);
    /* After eight rounds each name stands for its own variable again. */
    for (unsigned t = 0; t < 64; t += 8) {
        one_round(a, b, c, &d, e, f, g, &h, constants[t] + w[t]);
        one_round(h, a, b, &c, d, e, f, &g, constants[t + 1] + w[t + 1]);
        one_round(g, h, a, &b, c, d, e, &f, constants[t + 2] + w[t + 2]);
        one_round(f, g, h, &a, b, c, d, &e, constants[t + 3] + w[t + 3]);
        one_round(e, f, g, &h, a, b, c, &d, constants[t + 4] + w[t + 4]);
        one_round(d, e, f, &g, h, a, b, &c, constants[t + 5] + w[t + 5]);
        one_round(c, d, e, &f, g, h, a, &b, constants[t + 6] + w[t + 6]);
        one_round(b, c, d, &e, f, g, h, &a, constants[t + 7] + w[t + 7]);
    }
    const uint32_t mixed[8] = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < 8; i++) {
        state[i] += mixed[i];
    }
}
#endif
