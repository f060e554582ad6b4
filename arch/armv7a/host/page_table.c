#include "arch/armv7a/host/page_table.h"

#include "wire/bytes.h"

enum {
    SCTLR_M = 1 << 0,
    SCTLR_AFE = 1 << 29,
    TTBCR_N = 7,
    SMALL_BYTES = 4096,
    LARGE_BYTES = 16 * SMALL_BYTES,
    SECTION_BYTES = 1 << 20,
    FIRST_ENTRIES = 4096,
    SECOND_ENTRIES = 256,
    ENTRY_BYTES = 4,
    ENTRY_TYPE = 3,
    ENTRY_TABLE = 1,
    SECTION_XN = 1 << 4,
    SECTION_SUPER = 1 << 18,
    LARGE_XN = 1 << 15
};

const char *const page_control_names[PAGE_CONTROLS] = {"SCTLR", "TTBR0_EL1", "TTBCR"};

struct walk {
    struct page_map *map;
    const struct page_source *source;
};

/* Adds to the range before it what goes on there. */
static int add(struct walk *walk, const struct page_range *next)
{
    const struct page_source *source = walk->source;
    struct page_map *map = walk->map;
    struct page_range *last = map->count ? &map->ranges[map->count - 1] : NULL;

    if (next->physical < source->ram_base ||
        next->physical - source->ram_base > source->ram_bytes - next->bytes) {
        return 0;
    }
    if (last && last->address + last->bytes == next->address &&
        last->physical + last->bytes == next->physical && last->write == next->write &&
        last->execute == next->execute) {
        last->bytes += next->bytes;
        return 0;
    }
    if (map->count == PAGE_RANGES_MAX) {
        return -1;
    }
    map->ranges[map->count++] = *next;
    return 0;
}

/* AP[2] forbids all writes; AP[1:0] 00 forbids everything, which the kernel uses for guards. */
static bool may_access(uint32_t ap, bool afe)
{
    return afe || (ap & 3) != 0;
}

static int walk_second(struct walk *walk, uint32_t table, uint32_t address, bool afe)
{
    uint8_t entries[SECOND_ENTRIES * ENTRY_BYTES];

    if (!walk->source->read(walk->source->context, table, entries, sizeof entries)) {
        return -1;
    }
    for (uint32_t i = 0; i < SECOND_ENTRIES; i++) {
        uint32_t entry = get32(entries + i * ENTRY_BYTES);
        bool small = entry & 2;
        uint32_t ap = (entry >> 4 & 3) | (entry >> 7 & 4);
        uint32_t offset = small ? 0 : i % 16 * SMALL_BYTES;
        struct page_range range = {
            .address = address + i * SMALL_BYTES,
            .physical = (entry & ~(uint32_t)((small ? SMALL_BYTES : LARGE_BYTES) - 1)) + offset,
            .bytes = SMALL_BYTES,
            .write = !(ap & 4),
            .execute = small ? !(entry & 1) : !(entry & LARGE_XN)};

        if ((entry & ENTRY_TYPE) != 0 && may_access(ap, afe) && add(walk, &range) != 0) {
            return -1;
        }
    }
    return 0;
}

static int take_section(struct walk *walk, uint32_t entry, uint32_t index, bool afe)
{
    uint32_t ap = (entry >> 10 & 3) | (entry >> 13 & 4);
    bool super = entry & SECTION_SUPER;
    struct page_range range = {.address = index * SECTION_BYTES,
                               .physical = super ? (entry & 0xff000000) + index % 16 * SECTION_BYTES
                                                 : entry & 0xfff00000,
                               .bytes = SECTION_BYTES,
                               .write = !(ap & 4),
                               .execute = !(entry & SECTION_XN)};

    return may_access(ap, afe) ? add(walk, &range) : 0;
}

int page_table_walk(struct page_map *map, const uint32_t control[PAGE_CONTROLS],
                    const struct page_source *source)
{
    struct walk walk = {.map = map, .source = source};
    uint32_t count = FIRST_ENTRIES >> (control[PAGE_TTBCR] & TTBCR_N);
    uint32_t table = control[PAGE_TTBR0] & ~(count * ENTRY_BYTES - 1);
    bool afe = control[PAGE_SCTLR] & SCTLR_AFE;
    uint8_t entry_bytes[ENTRY_BYTES];
    int status = 0;

    map->count = 0;
    if (!(control[PAGE_SCTLR] & SCTLR_M)) {
        struct page_range all = {source->ram_base, source->ram_base, source->ram_bytes, true, true};

        return add(&walk, &all);
    }
    for (uint32_t i = 0; i < count && status == 0; i++) {
        if (!source->read(source->context, table + i * ENTRY_BYTES, entry_bytes, ENTRY_BYTES)) {
            return -1;
        }
        uint32_t entry = get32(entry_bytes);
        if ((entry & ENTRY_TYPE) == ENTRY_TABLE) {
            status = walk_second(&walk, entry & 0xfffffc00, i * SECTION_BYTES, afe);
        } else if ((entry & ENTRY_TYPE) != 0) {
            status = take_section(&walk, entry, i, afe);
        }
    }
    return status;
}
