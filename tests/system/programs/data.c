/*
 * data.c - data [write]: prints each piece of data that its node was given: kind, name, bytes, and
 * what cksum(1) prints of it; then adds one to each byte of private data. With `write` it writes to
 * all data.
 *
 * It reads the private block itself (wire/run.h), which begins on the page behind its own memory.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <ecube.h>

enum { PAGE = 4096, HEADER_BYTES = 16, ENTRY_BYTES = 16, KIND_PRIVATE = 3 };

struct entry {
    uint32_t kind, address, bytes, spare;
};

extern char program_bss_end[];

/* Addresses of a node are those of its window, where a program is simulated. */
static uint8_t *memory(uint32_t address)
{
    const uintptr_t here = (uintptr_t)program_bss_end;

    return (uint8_t *)(here - (uint32_t)here + address);
}

static uint32_t crc_add(uint32_t crc, uint8_t byte)
{
    crc ^= (uint32_t)byte << 24;
    for (int i = 0; i < 8; i++) {
        crc = crc & 0x80000000 ? crc << 1 ^ 0x04c11db7 : crc << 1;
    }
    return crc;
}

/* POSIX cksum: the bytes, then their number, least significant byte first. */
static uint32_t cksum(const uint8_t *data, uint32_t bytes)
{
    uint32_t crc = 0;

    for (uint32_t i = 0; i < bytes; i++) {
        crc = crc_add(crc, data[i]);
    }
    for (uint32_t left = bytes; left; left >>= 8) {
        crc = crc_add(crc, (uint8_t)left);
    }
    return ~crc;
}

static const char *text_at(const char *texts, uint32_t number)
{
    while (number-- > 0) {
        texts += strlen(texts) + 1;
    }
    return texts;
}

int main(int argc, char **argv)
{
    const uint32_t end = (uint32_t)(uintptr_t)program_bss_end;
    const uint8_t *block = memory((end + PAGE - 1) / PAGE * PAGE);
    const uint32_t *header = (const uint32_t *)block;
    const struct entry *entries = (const struct entry *)(block + HEADER_BYTES);
    const char *texts = (const char *)&entries[header[3]];

    if (header[0] != (uint32_t)ecube_rank() || header[1] != (uint32_t)ecube_size() ||
        header[2] != (uint32_t)argc) {
        printf("no private block\n");
        return 1;
    }
    for (uint32_t i = 0; i < header[3]; i++) {
        const struct entry *entry = &entries[i];
        uint8_t *data = memory(entry->address);

        printf("%" PRIu32 " %s %" PRIu32 " %" PRIu32 "%s\n", entry->kind,
               text_at(texts, header[2] + i), entry->bytes, cksum(data, entry->bytes),
               entry->address % 64 ? " not aligned" : "");
        for (uint32_t b = 0; b < entry->bytes && (entry->kind == KIND_PRIVATE || argc > 1); b++) {
            data[b]++;
        }
    }
    return argc > 1 && strcmp(argv[1], "write") != 0;
}
