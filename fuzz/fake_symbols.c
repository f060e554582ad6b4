/*
 * fake_symbols.c - host/program/symbols.h without a file: it says something of every address, each
 * time another thing.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/check.h"
#include "host/program/symbols.h"

struct symbols *symbols_open(const char *elf_path)
{
    static char nothing;

    CHECK(elf_path);
    return (struct symbols *)(void *)&nothing;
}

void symbols_close(struct symbols *symbols)
{
    (void)symbols;
}

unsigned symbols_places(struct symbols *symbols, uint32_t address, struct symbol_place *places,
                        unsigned room)
{
    unsigned count = address & 3;

    CHECK(symbols);
    count = count < room ? count : room;
    for (unsigned i = 0; i < count; i++) {
        places[i] = (struct symbol_place){.line = (int)address, .library = address >> 4 & 1};
        memset(places[i].function, 'f', address >> 5 & (SYMBOL_NAME_MAX - 1));
        memset(places[i].file, 'a', address >> 6 & (SYMBOL_NAME_MAX - 1));
    }
    return count;
}

uint32_t symbols_function(struct symbols *symbols, uint32_t address)
{
    CHECK(symbols);
    return address & 4 ? address & ~(uint32_t)0xff : 0;
}

bool symbols_frame(struct symbols *symbols, uint32_t address, struct symbol_frame *frame)
{
    CHECK(symbols);
    frame->cfa_register = address & 8 ? 13 : address >> 3 & 15;
    frame->cfa_offset = (int32_t)(address & 0x40 ? address << 8 : address & 0x3c);
    for (unsigned i = 0; i < PROCESSOR_REGISTERS; i++) {
        frame->registers[i].kept = (uint8_t)((address >> i & 3) % 3);
        frame->registers[i].offset = address & 0x80 ? (int32_t)(address << i) : -4 * (int32_t)i;
    }
    return address & 0x10;
}

void symbols_text(const struct symbol_place *place, char text[SYMBOL_TEXT_MAX])
{
    snprintf(text, SYMBOL_TEXT_MAX, "%s (%s:%d)", place->function, place->file, place->line);
}
