#include "arch/armv7a/mmu.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"

enum {
    SECTION_BYTES = 1 << 20,
    PAGE_BYTES = 1 << 12,
    SECTIONS = 4096,
    PAGES = 256,
    PAGE_TABLES_MAX = 80, /* the program's megabytes, and what of the kernel ends within one */

    /* First level: a section, or the address of a page table. All of domain 0. */
    SECTION = 2,
    SECTION_SHIFT = 6, /* a page's AP, TEX and S bits lie six bits higher in a section */
    SECTION_PXN = 1 << 0,
    SECTION_XN = 1 << 4,
    TABLE = 1,
    TABLE_PXN = 1 << 2,

    /* Second level: a small page. With SCTLR.AFE, AP[0] is the access flag. */
    PAGE = 2,
    PAGE_XN = 1 << 0,
    B = 1 << 2,
    C = 1 << 3,
    ACCESS = 1 << 4,
    USER = 1 << 5, /* AP[1] */
    TEX_ALLOCATE = 1 << 6,
    READ_ONLY = 1 << 9, /* AP[2] */
    SHAREABLE = 1 << 10,

    NORMAL = TEX_ALLOCATE | C | B | SHAREABLE, /* write-back, write-allocate */
    DEVICE = B,                                /* shareable device */

    SCTLR_M = 1 << 0,
    SCTLR_C = 1 << 2,
    SCTLR_Z = 1 << 11,
    SCTLR_I = 1 << 12,
    SCTLR_TRE = 1 << 28,
    SCTLR_AFE = 1 << 29,
    ACTLR_SMP = 1 << 6,                   /* Cortex-A15: before caches and MMU go on */
    TTBR_WALK = 1 << 6 | 1 << 3 | 1 << 1, /* walks: write-back, write-allocate, shareable */
    DOMAIN_0_CLIENT = 1                   /* access rights are checked */
};

static _Alignas(16384) uint32_t section_table[SECTIONS];
static _Alignas(1024) uint32_t page_tables[PAGE_TABLES_MAX][PAGES];
static uint32_t page_table_count;
static struct mmu_region program_region; /* empty: there is none */
static enum mmu_kind program_born;       /* what a page of it is when it is touched */

static const uint32_t page_attributes[] = {
    [MMU_TEXT] = PAGE | ACCESS | READ_ONLY | NORMAL,
    [MMU_RODATA] = PAGE | ACCESS | READ_ONLY | NORMAL | PAGE_XN,
    [MMU_DATA] = PAGE | ACCESS | NORMAL | PAGE_XN,
    [MMU_DEVICE] = PAGE | ACCESS | DEVICE | PAGE_XN,
    [MMU_PROGRAM] = PAGE | ACCESS | USER | NORMAL | PAGE_XN,
    [MMU_PROGRAM_CODE] = PAGE | ACCESS | USER | READ_ONLY | NORMAL,
    [MMU_PROGRAM_CONSTANTS] = PAGE | ACCESS | USER | READ_ONLY | NORMAL | PAGE_XN,
    [MMU_PROGRAM_UNPROTECTED] = PAGE | ACCESS | USER | NORMAL,
};

static void map_section(uintptr_t address, enum mmu_kind kind)
{
    uint32_t page = page_attributes[kind];
    uint32_t section = SECTION | (uint32_t)address | (page & (B | C));
    section |= (page & (ACCESS | USER | TEX_ALLOCATE | READ_ONLY | SHAREABLE)) << SECTION_SHIFT;
    section |= (page & PAGE_XN) != 0 ? SECTION_XN : 0;
    section |= kind == MMU_TEXT ? 0 : SECTION_PXN;
    CHECK(section_table[address / SECTION_BYTES] == 0);
    section_table[address / SECTION_BYTES] = section;
}

/* Gives a megabyte an empty page table. PXN belongs to the whole table. */
static void map_table(uintptr_t address, uint32_t attributes)
{
    uint32_t *entry = &section_table[address / SECTION_BYTES];
    CHECK(*entry == 0 && page_table_count < PAGE_TABLES_MAX);
    *entry = (uint32_t)(uintptr_t)page_tables[page_table_count++] | TABLE | attributes;
}

/* The entry of a page whose megabyte has a page table. */
static uint32_t *page_at(uintptr_t address)
{
    uint32_t entry = section_table[address / SECTION_BYTES];
    CHECK((entry & 3) == TABLE);
    uint32_t *pages = (uint32_t *)(uintptr_t)(entry & ~1023u);
    return &pages[address % SECTION_BYTES / PAGE_BYTES];
}

static void map_page(uintptr_t address, enum mmu_kind kind)
{
    if (section_table[address / SECTION_BYTES] == 0) {
        map_table(address, 0);
    }
    uint32_t *page = page_at(address);
    CHECK(*page == 0);
    *page = (uint32_t)address | page_attributes[kind];
}

static void map_region(const struct mmu_region *region)
{
    CHECK(region->start % PAGE_BYTES == 0 && region->end % PAGE_BYTES == 0);
    if (region->kind == MMU_PROGRAM) {
        CHECK(region->start % SECTION_BYTES == 0 && region->end % SECTION_BYTES == 0 &&
              program_region.end == 0);
        program_region = *region;
        program_born = MMU_PROGRAM;
        for (uintptr_t a = region->start; a != region->end; a += SECTION_BYTES) {
            map_table(a, TABLE_PXN);
        }
    } else if (region->start % SECTION_BYTES == 0 && region->end % SECTION_BYTES == 0) {
        for (uintptr_t a = region->start; a != region->end; a += SECTION_BYTES) {
            map_section(a, region->kind);
        }
    } else {
        for (uintptr_t a = region->start; a != region->end; a += PAGE_BYTES) {
            map_page(a, region->kind);
        }
    }
}

enum cache_operation { CACHE_INVALIDATE, CACHE_CLEAN };

static uint32_t log2_ceiling(uint32_t value)
{
    uint32_t bits = 0;
    while (value > 1u << bits) {
        bits++;
    }
    return bits;
}

/* One data or unified cache level, line by line: set and way are packed as the operation wants
 * them. */
static void cache_level(uint32_t level, enum cache_operation operation)
{
    uint32_t geometry;
    __asm__ volatile("mcr p15, 2, %1, c0, c0, 0\n\tisb\n\tmrc p15, 1, %0, c0, c0, 0"
                     : "=r"(geometry)
                     : "r"(level << 1));
    uint32_t line_shift = (geometry & 7) + 4;
    uint32_t way_max = geometry >> 3 & 0x3ff;
    uint32_t set_max = geometry >> 13 & 0x7fff;
    uint32_t way_bits = log2_ceiling(way_max + 1);
    for (uint32_t way = 0; way <= way_max; way++) {
        for (uint32_t set = 0; set <= set_max; set++) {
            uint32_t line =
                (way_bits == 0 ? 0 : way << (32 - way_bits)) | set << line_shift | level << 1;
            if (operation == CACHE_INVALIDATE) {
                __asm__ volatile("mcr p15, 0, %0, c7, c6, 2" ::"r"(line) : "memory"); /* DCISW */
            } else {
                __asm__ volatile("mcr p15, 0, %0, c7, c10, 2" ::"r"(line) : "memory"); /* DCCSW */
            }
        }
    }
}

/*
 * Every level up to the point where instruction fetch and data meet (LoUU); what lies beyond is the
 * loader's to leave clean. By set and way the work depends on the cache's size, not on the
 * memory's.
 */
static void cache_all(enum cache_operation operation)
{
    uint32_t levels;
    __asm__ volatile("dsb\n\tmrc p15, 1, %0, c0, c0, 1" : "=r"(levels)::"memory"); /* CLIDR */
    uint32_t level_count = levels >> 27 & 7;
    for (uint32_t level = 0; level < level_count; level++) {
        if ((levels >> 3 * level & 7) >= 2) { /* has a data or unified cache */
            cache_level(level, operation);
        }
    }
    __asm__ volatile("dsb" ::: "memory");
}

static void instructions_invalidate(void)
{
    __asm__ volatile("mcr p15, 0, %0, c7, c5, 0\n\t" /* ICIALLU */
                     "mcr p15, 0, %0, c7, c5, 6\n\t" /* BPIALL */
                     "dsb\n\tisb" ::"r"(0)
                     : "memory");
}

static void mmu_enable(void)
{
    uint32_t control;
    uint32_t table = (uint32_t)(uintptr_t)section_table | TTBR_WALK;
    __asm__ volatile("mrc p15, 0, %0, c1, c0, 1\n\t" /* ACTLR */
                     "orr %0, %0, %1\n\t"
                     "mcr p15, 0, %0, c1, c0, 1\n\tisb"
                     : "=&r"(control)
                     : "r"(ACTLR_SMP)
                     : "memory");
    __asm__ volatile("mcr p15, 0, %0, c2, c0, 2\n\t" /* TTBCR: TTBR0 alone, short descriptors */
                     "mcr p15, 0, %1, c2, c0, 0\n\t" /* TTBR0 */
                     "mcr p15, 0, %2, c3, c0, 0\n\t" /* DACR */
                     "mcr p15, 0, %0, c8, c7, 0\n\t" /* TLBIALL */
                     "dsb\n\tisb" ::"r"(0),
                     "r"(table), "r"(DOMAIN_0_CLIENT)
                     : "memory");
    __asm__ volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(control)); /* SCTLR */
    control |= SCTLR_M | SCTLR_C | SCTLR_Z | SCTLR_I | SCTLR_AFE;
    control &= ~(uint32_t)SCTLR_TRE;
    __asm__ volatile("mcr p15, 0, %0, c1, c0, 0\n\tisb" ::"r"(control) : "memory");
}

void mmu_init(const struct mmu_region *regions, uint32_t region_count)
{
    for (uint32_t i = 0; i < region_count; i++) {
        map_region(&regions[i]);
    }
    cache_all(CACHE_INVALIDATE);
    instructions_invalidate();
    mmu_enable();
}

void mmu_sync_instructions(void)
{
    cache_all(CACHE_CLEAN);
    instructions_invalidate();
}

bool mmu_touch(uintptr_t address)
{
    if (address < program_region.start || address >= program_region.end) {
        return false;
    }
    uint32_t *entry = page_at(address);
    if (*entry != 0) {
        return false;
    }
    uintptr_t page = address & ~(uintptr_t)(PAGE_BYTES - 1);
    *entry = (uint32_t)page | page_attributes[program_born];
    __asm__ volatile("dsb\n\tisb" ::
                         : "memory"); /* the walk sees it; nothing absent is in the TLB */
    memset((void *)page, 0, PAGE_BYTES);
    return true;
}

void mmu_forget_lookups(void)
{
    __asm__ volatile("dsb\n\t"
                     "mcr p15, 0, %0, c8, c7, 0\n\t" /* TLBIALL */
                     "dsb\n\tisb" ::"r"(0)
                     : "memory");
}

void mmu_forget_program(void)
{
    uintptr_t megabytes = (program_region.end - program_region.start) / SECTION_BYTES;
    /* its tables lie behind each other, in the order of addresses */
    memset(page_at(program_region.start), 0, megabytes * sizeof page_tables[0]);
    program_born = MMU_PROGRAM;
    mmu_forget_lookups();
}

/* Gives pages their rights, also where they were not touched. */
static void change_pages(uintptr_t start, uintptr_t end, enum mmu_kind kind)
{
    for (uintptr_t a = start; a < end; a += PAGE_BYTES) {
        mmu_touch(a);
        *page_at(a) = (uint32_t)a | page_attributes[kind];
    }
}

static void unprotect(void)
{
    program_born = MMU_PROGRAM_UNPROTECTED;
    for (uintptr_t a = program_region.start; a < program_region.end; a += PAGE_BYTES) {
        uint32_t *entry = page_at(a);
        if (*entry != 0) {
            *entry = (uint32_t)a | page_attributes[program_born];
        }
    }
}

void mmu_protect(uintptr_t image, const struct mmu_ends *ends)
{
    if (ends->constants_end == image) {
        unprotect();
        return;
    }
    change_pages(image, ends->code_end, MMU_PROGRAM_CODE);
    change_pages(ends->code_end, ends->constants_end, MMU_PROGRAM_CONSTANTS);
    change_pages(ends->data_start, ends->data_end, MMU_PROGRAM_CONSTANTS);
}
