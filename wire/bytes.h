/*
 * bytes.h - little-endian numbers in bytes: how frames, packets and their bodies are written.
 *
 * p need not be aligned; put16 writes the low half of v.
 *
 * Context  any; pure
 */
#pragma once

#include <stdint.h>
#include <string.h>

/* Numbers are moved whole: not every compiler puts stores of single bytes together. */
enum { IS_LITTLE_ENDIAN = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

static inline uint16_t little16(uint16_t v)
{
    return IS_LITTLE_ENDIAN ? v : __builtin_bswap16(v);
}

static inline uint32_t little32(uint32_t v)
{
    return IS_LITTLE_ENDIAN ? v : __builtin_bswap32(v);
}

static inline uint64_t little64(uint64_t v)
{
    return IS_LITTLE_ENDIAN ? v : __builtin_bswap64(v);
}

static inline void put16(uint8_t *p, uint32_t v)
{
    uint16_t half = little16((uint16_t)v);
    memcpy(p, &half, sizeof half);
}

static inline void put32(uint8_t *p, uint32_t v)
{
    v = little32(v);
    memcpy(p, &v, sizeof v);
}

static inline void put64(uint8_t *p, uint64_t v)
{
    v = little64(v);
    memcpy(p, &v, sizeof v);
}

static inline uint16_t get16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return little16(v);
}

static inline uint32_t get32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return little32(v);
}

static inline uint64_t get64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return little64(v);
}
