/*
 * mmu.h - a flat map: virtual is physical, and a region's kind says who may do what there.
 *
 * Everything not listed is unmapped; so is page 0, and a null pointer faults. Regions that start
 * and end on a megabyte are mapped by sections, others by 4 KiB pages.
 *
 *   kind     kernel       program         memory type
 *   TEXT     read, run    -               normal, write-back
 *   RODATA   read         -               normal, write-back
 *   DATA     read, write  -               normal, write-back
 *   DEVICE   read, write  -               device
 *   PROGRAM  read, write  read, write, run  normal, write-back; the kernel never runs from it
 *
 * Context  once at boot, with MMU and caches off
 * Errors   none; CHECK on regions that the map cannot hold
 * Source   ARM DDI 0406C, B3.5 (short descriptors), B3.7 (access permissions), B3.8 (memory
 *          attributes)
 */
#pragma once

#include <stdint.h>

enum mmu_kind { MMU_TEXT, MMU_RODATA, MMU_DATA, MMU_DEVICE, MMU_PROGRAM };

struct mmu_region {
    uintptr_t start;
    uintptr_t end;
    enum mmu_kind kind;
};

/* Maps the regions and turns on MMU, caches and branch prediction. */
void mmu_init(const struct mmu_region *regions, uint32_t region_count);

/* Makes instructions that were just written as data visible to instruction fetch. */
void mmu_sync_instructions(void);
