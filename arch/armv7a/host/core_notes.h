/*
 * core_notes.h - the registers of a node in an ELF core: which there are, and where in its notes
 * they lie.
 *
 * Registers have the names that the emulator gives them. Bytes of a note that hold none are zero.
 *
 * Units    bytes, least significant first
 * Context  any; pure
 * Source   ELF gABI, chapter 5 (notes); Linux elf_prstatus of ARM (148 bytes), NT_ARM_VFP: 32
 *          double registers and FPSCR; bfd's NT_GDB_TDESC (include/elf/common.h); GDB manual,
 *          appendix G.5.3 (features of ARM targets)
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the ELF header. */
enum { CORE_MACHINE = EM_ARM, CORE_FLAGS = EF_ARM_EABI_VER5 };

enum core_note_kind { CORE_STATUS, CORE_VFP, CORE_NOTES };

enum { CORE_STATUS_THREAD = 24 }; /* in CORE_STATUS: the number of the thread, u32 */

struct core_note {
    const char *name;
    uint32_t type, bytes;
};

extern const struct core_note core_notes[CORE_NOTES];

struct core_register {
    char name[8];
    uint32_t at, bytes; /* in its note */
};

/* The register `i` of a note, in order; false: there is none. */
bool core_note_register(enum core_note_kind kind, unsigned i, struct core_register *out);

/* Which registers there are, for GDB, which takes none for floating point without: the text of a
 * note of the name "GDB" and this type. Returns its bytes, with the zero at its end. */
#define CORE_NOTE_DESCRIPTION 0xff000000U
enum { CORE_DESCRIPTION_MAX = 3600 };
uint32_t core_description(char text[CORE_DESCRIPTION_MAX]);
