#include "router/crc.h"

#include "router/frame_wire.h"

uint32_t crc32_add(uint32_t crc, const void *data, uint32_t bytes)
{
    const uint8_t *p = data;

    crc = ~crc;
    for (; bytes >= CRC_TABLES; bytes -= CRC_TABLES, p += CRC_TABLES) {
        crc ^= get32(p);
        crc = crc_tables[3][crc & 0xff] ^ crc_tables[2][crc >> 8 & 0xff] ^
              crc_tables[1][crc >> 16 & 0xff] ^ crc_tables[0][crc >> 24];
    }
    for (; bytes; bytes--)
        crc = crc_tables[0][(crc ^ *p++) & 0xff] ^ crc >> 8;
    return ~crc;
}
