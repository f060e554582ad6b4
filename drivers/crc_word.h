/*
 * crc_word.h - a word's step of CRC-32C: the processor's instruction where it has one and the
 * compiler may use it, else tables.
 *
 * Context  any; pure
 */
#pragma once

#include <stdint.h>

#if defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

enum { CRC_TABLES = 4 }; /* one for each byte of a word */

/* Made at build time by gen/crc_gen.c. */
extern const uint32_t crc_tables[CRC_TABLES][256];

/* One word more, its first byte in the low bits; begins with all ones, ends with the complement. */
static inline uint32_t crc32_word(uint32_t crc, uint32_t word)
{
#if defined(__SSE4_2__)
    return __builtin_ia32_crc32si(crc, word);
#elif defined(__ARM_FEATURE_CRC32)
    return __crc32cw(crc, word);
#else
    crc ^= word;
    return crc_tables[3][crc & 0xff] ^ crc_tables[2][crc >> 8 & 0xff] ^
           crc_tables[1][crc >> 16 & 0xff] ^ crc_tables[0][crc >> 24];
#endif
}

/* Two words more, the first in the low half. */
static inline uint32_t crc32_words(uint32_t crc, uint64_t words)
{
#if defined(__SSE4_2__) && defined(__x86_64__)
    return (uint32_t)__builtin_ia32_crc32di(crc, words);
#elif defined(__ARM_FEATURE_CRC32)
    return __crc32cd(crc, words);
#else
    return crc32_word(crc32_word(crc, (uint32_t)words), (uint32_t)(words >> 32));
#endif
}
