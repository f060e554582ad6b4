/*
 * crc_gen.c - prints the tables of crc.c as C.
 *
 * Entry n of table t is the register after the byte n and t zero bytes behind it went through it,
 * lowest bit first; four bytes at once are the sum of one entry of each table.
 */
#include <stdint.h>
#include <stdio.h>

#include "wire/crc.h"

enum { BYTE_BITS = 8 };

static uint32_t zero_byte(uint32_t crc)
{
    for (unsigned bit = 0; bit < BYTE_BITS; bit++) {
        crc = crc & 1 ? UINT32_C(0x82f63b78) ^ crc >> 1 : crc >> 1;
    }
    return crc;
}

int main(void)
{
    printf("#include \"wire/crc.h\"\n\nconst uint32_t crc_tables[CRC_TABLES][256] = {\n");
    for (unsigned table = 0; table < CRC_TABLES; table++) {
        printf("    {");
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = byte;
            for (unsigned i = 0; i <= table; i++) {
                crc = zero_byte(crc);
            }
            printf("%s0x%08lx,", byte % 8 ? " " : "\n     ", (unsigned long)crc);
        }
        printf("\n    },\n");
    }
    printf("};\n");
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
