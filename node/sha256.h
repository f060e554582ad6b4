/*
 * sha256.h - SHA-256 of what a node holds, taken in slices.
 *
 * Context  any; no state but the caller's
 * Source   FIPS 180-4, sections 4.1.2, 5.1.1, 6.2
 */
#pragma once

#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, uint32_t bytes);
void sha256_end(struct sha256 *sha, uint8_t digest[32]);

/* Of all that is hashed at once. */
static inline void sha256_of(const void *data, uint32_t bytes, uint8_t digest[32])
{
    struct sha256 sha;

    sha256_begin(&sha);
    sha256_add(&sha, data, bytes);
    sha256_end(&sha, digest);
}
