/*
 * symbols.h - function, file and line of an address, from an ELF file's symbol table and debug
 * information.
 *
 * Source   elfutils libdwfl
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SYMBOL_TEXT_MAX = 200 };

/* Writes "function (file:line)", or what of it is known; false when nothing is. */
bool symbols_describe(const char *elf_path, uint32_t address, char text[SYMBOL_TEXT_MAX]);
