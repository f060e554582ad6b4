/*
 * sha256.c - SHA-256, taken in slices of any size.
 *
 * A message is cut into blocks of 64 bytes; compress() mixes each block into the state of eight
 * words. Bytes that do not fill a block are held in sha->block until the next slice or the end:
 * sha->bytes % 64 is their number, so no counter of its own can disagree with the length.
 *
 * Example  the message "abc" gives ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c
 *          b410ff61 f20015ad
 * Context  any; a slice costs time in proportion to its bytes, so its caller bounds it
 * Source   FIPS 180-4, sections 4.1.2, 5.1.1, 6.2
 * Names    the standard's W is w[], K is constants[], T1 is `first`, a to h are a to h
 */
#include "node/sha256.h"

#include <string.h>

enum { BLOCK_BYTES = 64, LENGTH_AT = 56 };

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

/* ROTR of the standard; n is 1 to 31, so neither shift is by 32, which C leaves undefined. */
static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* The standard's words are big-endian, the node is little-endian, and p may lie at any address: a
 * program's image is hashed where it lies. */
static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The message schedule: w[0..15] are the block, each later word is made of four words before it.
 * The lower-case sigmas of the standard rotate twice and shift once. */
static void schedule(uint32_t w[64], const uint8_t *block)
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

static void compress(uint32_t state[8], const uint8_t *block)
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

/* The initial state: the first 32 bits of the fractional parts of the square roots of the first
 * eight primes. */
void sha256_begin(struct sha256 *sha)
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    memcpy(sha->state, initial, sizeof initial);
    sha->bytes = 0;
}

void sha256_add(struct sha256 *sha, const void *data, uint32_t bytes)
{
    const uint8_t *p = data;
    uint32_t held = (uint32_t)(sha->bytes % BLOCK_BYTES);

    sha->bytes += bytes;
    while (bytes) {
        /* Whole blocks are read where they lie: a download is hashed without a copy. */
        if (held == 0 && bytes >= BLOCK_BYTES) {
            compress(sha->state, p);
            p += BLOCK_BYTES;
            bytes -= BLOCK_BYTES;
            continue;
        }
        /* Else the block is filled up first: with all bytes, or with as many as it lacks. */
        uint32_t take = BLOCK_BYTES - held < bytes ? BLOCK_BYTES - held : bytes;
        memcpy(sha->block + held, p, take);
        held += take;
        p += take;
        bytes -= take;
        if (held == BLOCK_BYTES) {
            compress(sha->state, sha->block);
            held = 0;
        }
    }
}

/* Pads: a 1 bit, zeros, and the length in bits as the last eight bytes of a block. When fewer than
 * eight bytes are left behind the 1 bit, the length goes into a block of its own. */
void sha256_end(struct sha256 *sha, uint8_t digest[32])
{
    uint64_t bits = sha->bytes * 8;
    uint32_t held = (uint32_t)(sha->bytes % BLOCK_BYTES);

    /* The block always has a place for this byte: one that is full has been mixed in already. */
    sha->block[held++] = 0x80;
    if (held > LENGTH_AT) {
        memset(sha->block + held, 0, BLOCK_BYTES - held);
        compress(sha->state, sha->block);
        held = 0;
    }
    memset(sha->block + held, 0, LENGTH_AT - held);
    for (unsigned i = 0; i < 8; i++) {
        sha->block[LENGTH_AT + i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    compress(sha->state, sha->block);
    for (unsigned i = 0; i < 32; i++) {
        digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}
