/*
 * page_table.h - which addresses a node maps, and what may be done there.
 *
 * The short-descriptor format: a first-level table of 4096 entries of 1 MiB; an entry is nothing, a
 * section of 1 MiB (or one of 16 that make 16 MiB), or leads to a second-level table of 256 entries
 * of 4 KiB (or 64 KiB in 16 of them).
 *
 * Units    bytes; addresses of 32 bits
 * Errors   page_table_walk: -1 when a table cannot be read, or there are too many ranges
 * Context  any; pure but for what `read` does
 * Source   ARM DDI 0406C, B3.5 (short-descriptor translation table format), B3.7 (access control)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAGE_RANGES_MAX = 4096 };

/* So many bytes from `address` on lie at `physical`. */
struct page_range {
    uint32_t address, physical, bytes;
    bool write, execute;
};

struct page_map {
    struct page_range ranges[PAGE_RANGES_MAX];
    unsigned count;
};

/* The processor's control registers, and what the emulator calls them. */
enum page_control { PAGE_SCTLR, PAGE_TTBR0, PAGE_TTBCR, PAGE_CONTROLS };

extern const char *const page_control_names[PAGE_CONTROLS];

struct page_source {
    void *context;
    /* Reads physical memory; false: there is none. */
    bool (*read)(void *context, uint32_t address, void *bytes, uint32_t count);
    uint32_t ram_base, ram_bytes; /* what lies elsewhere is left out: devices change when read */
};

/* With the MMU off, the whole memory at its own addresses. */
int page_table_walk(struct page_map *map, const uint32_t control[PAGE_CONTROLS],
                    const struct page_source *source);
