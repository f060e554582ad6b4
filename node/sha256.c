/*
 * sha256.c - SHA-256, taken in slices of any size.
 *
 * A message is cut into blocks of 64 bytes; sha256_block() mixes each block into the state of eight
 * words. Bytes that do not fill a block are held in sha->block until the next slice or the end:
 * sha->bytes % 64 is their number, so no counter of its own can disagree with the length.
 *
 * Example  the message "abc" gives ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c
 *          b410ff61 f20015ad
 * Context  any; a slice costs time in proportion to its bytes, so its caller bounds it
 * Source   FIPS 180-4, section 5.1.1
 */
#include "node/sha256.h"

#include <string.h>

#include "drivers/sha256_block.h"

enum { BLOCK_BYTES = 64, LENGTH_AT = 56 };

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
            sha256_block(sha->state, p);
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
            sha256_block(sha->state, sha->block);
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
        sha256_block(sha->state, sha->block);
        held = 0;
    }
    memset(sha->block + held, 0, LENGTH_AT - held);
    for (unsigned i = 0; i < 8; i++) {
        sha->block[LENGTH_AT + i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    sha256_block(sha->state, sha->block);
    for (unsigned i = 0; i < 32; i++) {
        digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}
