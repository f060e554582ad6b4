/*
 * crc.h - CRC-32 (reflected 0x04c11db7, as in IEEE 802.3) of frame headers and payloads.
 *
 * Worked example: the nine bytes "123456789" give 0xcbf43926.
 *
 * Context  any; pure
 * Source   IEEE 802.3-2018, 3.2.9 (frame check sequence)
 */
#pragma once

#include <stdint.h>

enum { CRC_TABLES = 4 }; /* one for each byte of a word */

/* Made at build time by gen/crc_gen.c. */
extern const uint32_t crc_tables[CRC_TABLES][256];

/* One word more, its first byte in the low bits; begins with all ones, ends with the complement. */
static inline uint32_t crc32_word(uint32_t crc, uint32_t word)
{
    crc ^= word;
    return crc_tables[3][crc & 0xff] ^ crc_tables[2][crc >> 8 & 0xff] ^
           crc_tables[1][crc >> 16 & 0xff] ^ crc_tables[0][crc >> 24];
}

/* The CRC of bytes that continue those which gave `crc`; start with 0. */
uint32_t crc32_add(uint32_t crc, const void *data, uint32_t bytes);
