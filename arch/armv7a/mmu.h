/*
 * mmu.h - a flat map: virtual is physical, and a region's kind says who may do what there.
 *
 * Everything not listed is unmapped; so is page 0, and a null pointer faults. Regions that start
 * and end on a megabyte are mapped by sections, others by 4 KiB pages. A program's pages are absent
 * until they are touched, by whomever; then they are cleared and mapped. So a program finds zeros
 * or its own, whatever ran before it, and memory that no program touches costs the emulator
 * nothing. A device does not go through the map: its driver touches what it hands over.
 *
 *   kind       kernel       program           memory type
 *   TEXT       read, run    -                 normal, write-back
 *   RODATA     read         -                 normal, write-back
 *   DATA       read, write  -                 normal, write-back
 *   DEVICE     read, write  -                 device
 *   PROGRAM    read, write  read, write       normal, write-back; the kernel never runs from it
 *   its code   read         read, run
 *   constants  read         read              ... and data that is read-only
 *   unprotected read, write read, write, run
 *
 * A program's pages are born as PROGRAM, for its download is written there; mmu_protect makes of
 * them, before it starts, what its image says they are.
 *
 * Context  mmu_init once at boot, with MMU and caches off; mmu_touch in abort mode; the others in
 *          the kernel, interrupts masked
 * Errors   none; CHECK on regions that the map cannot hold
 * Source   ARM DDI 0406C, B3.5 (short descriptors), B3.7 (access permissions), B3.8 (memory
 *          attributes)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum mmu_kind {
    MMU_TEXT,
    MMU_RODATA,
    MMU_DATA,
    MMU_DEVICE,
    MMU_PROGRAM,
    MMU_PROGRAM_CODE,
    MMU_PROGRAM_CONSTANTS,
    MMU_PROGRAM_UNPROTECTED
};

struct mmu_region {
    uintptr_t start;
    uintptr_t end;
    enum mmu_kind kind;
};

/* Where what a program may not write begins and ends. */
struct mmu_ends {
    uintptr_t code_end, constants_end, data_start, data_end;
};

/* Maps the regions and turns on MMU, caches and branch prediction. */
void mmu_init(const struct mmu_region *regions, uint32_t region_count);

/* Makes the page of a PROGRAM region that holds an address present and clear; false when it lies in
 * none, or is present. */
bool mmu_touch(uintptr_t address);

/* Makes all pages of the PROGRAM region absent: what they hold is nobody's. */
void mmu_forget_program(void);

/* Protects a program: code is [image, code_end), constants are [code_end, constants_end) and
 * [data_start, data_end), all on pages. With constants that end at `image` nothing is protected:
 * all of the region may be written and run. The processor may remember the old rights:
 * mmu_forget_lookups. */
void mmu_protect(uintptr_t image, const struct mmu_ends *ends);

/* Makes instructions that were just written as data visible to instruction fetch. */
void mmu_sync_instructions(void);

/* Drops what the processor remembers of the tables: its TLB. */
void mmu_forget_lookups(void);
