#include "wire/crc.h"

#include "wire/bytes.h"

uint32_t crc32_add(uint32_t crc, const void *data, uint32_t bytes)
{
    const uint8_t *p = data;

    crc = ~crc;
    for (; bytes >= CRC_TABLES; bytes -= CRC_TABLES, p += CRC_TABLES) {
        crc = crc32_word(crc, get32(p));
    }
    for (; bytes; bytes--) {
        crc = crc_tables[0][(crc ^ *p++) & 0xff] ^ crc >> 8;
    }
    return ~crc;
}
