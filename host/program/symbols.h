/*
 * symbols.h - what an ELF file says about an address: function, file and line, and how the code
 * there keeps its caller's registers; from symbol table and debug information.
 *
 * Source   elfutils libdw, libdwfl; DWARF 5, section 6.4 (call frame information)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/armv7a/host/processor.h"

enum { SYMBOL_NAME_MAX = 64, SYMBOL_TEXT_MAX = 2 * SYMBOL_NAME_MAX + 20 };

struct symbols;

struct symbol_place {
    char function[SYMBOL_NAME_MAX]; /* "": not known */
    char file[SYMBOL_NAME_MAX];     /* without folders; "": not known */
    int line;
    bool library; /* code that ecube-cc adds, not the user's */
};

/* Where a function's caller finds a register again. */
enum symbol_kept { REGISTER_KEPT, REGISTER_SAVED, REGISTER_LOST };

/* The frame at an address: cfa, what sp was before the call, is a register plus an offset; saved
 * registers lie at offsets from cfa. That of lr is the return address. */
struct symbol_frame {
    uint8_t cfa_register;
    int32_t cfa_offset;
    struct {
        uint8_t kept; /* enum symbol_kept */
        int32_t offset;
    } registers[PROCESSOR_REGISTERS];
};

/* NULL when the file cannot be read. */
struct symbols *symbols_open(const char *elf_path);
void symbols_close(struct symbols *symbols); /* NULL: nothing */

/* The function at an address, and before it those that were inlined there, innermost first; how
 * many they are, 0 when nothing is known. */
unsigned symbols_places(struct symbols *symbols, uint32_t address, struct symbol_place *places,
                        unsigned room);

/* Where the function at an address begins; 0 when there is none. */
uint32_t symbols_function(struct symbols *symbols, uint32_t address);

/* The frame of the code at an address; false when the file does not tell. */
bool symbols_frame(struct symbols *symbols, uint32_t address, struct symbol_frame *frame);

/* Writes "function (file:line)", or what of it is known; of the library the function only. */
void symbols_text(const struct symbol_place *place, char text[SYMBOL_TEXT_MAX]);
