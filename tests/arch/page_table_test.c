/*
 * Page tables in a memory of two megabytes at 0x40000000.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "arch/armv7a/host/page_table.h"
#include "wire/bytes.h"

enum {
    RAM = 0x40000000,
    RAM_BYTES = 0x200000,
    FIRST = RAM,           /* 16 KiB */
    SECOND = RAM + 0x4000, /* 1 KiB */
    MMU_ON = 1
};

struct fixture {
    uint8_t ram[RAM_BYTES];
    struct page_map map;
    struct page_source source;
    uint32_t control[PAGE_CONTROLS];
};

static bool read_ram(void *context, uint32_t address, void *bytes, uint32_t count)
{
    struct fixture *f = context;

    if (address < RAM || address - RAM > RAM_BYTES - count) {
        return false;
    }
    memcpy(bytes, f->ram + (address - RAM), count);
    return true;
}

static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->source = (struct page_source){f, read_ram, RAM, RAM_BYTES};
    f->control[PAGE_SCTLR] = MMU_ON;
    f->control[PAGE_TTBR0] = FIRST | 0x4a;
    return f;
}

static void put(struct fixture *f, uint32_t table, uint32_t index, uint32_t entry)
{
    put32(f->ram + (table - RAM) + 4 * index, entry);
}

static void assert_range(const struct fixture *f, unsigned i, const struct page_range *wanted)
{
    const struct page_range *range = &f->map.ranges[i];

    assert_int_equal(range->address, wanted->address);
    assert_int_equal(range->physical, wanted->physical);
    assert_int_equal(range->bytes, wanted->bytes);
    assert_int_equal(range->write, wanted->write);
    assert_int_equal(range->execute, wanted->execute);
}

TEST(without_an_mmu_the_whole_memory_lies_at_its_own_addresses)
{
    struct fixture *f = make_fixture();

    f->control[PAGE_SCTLR] = 0;
    assert_int_equal(page_table_walk(&f->map, f->control, &f->source), 0);
    assert_int_equal(f->map.count, 1);
    assert_range(f, 0, &(struct page_range){RAM, RAM, RAM_BYTES, true, true});
    free(f);
}

TEST(sections_side_by_side_are_one_range_with_their_permissions)
{
    struct fixture *f = make_fixture();

    put(f, FIRST, 0x400, 0x40000c12); /* AP 011, XN */
    put(f, FIRST, 0x401, 0x40100c12);
    put(f, FIRST, 0x500, 0x40008402); /* AP 101: kernel reads, executable */
    put(f, FIRST, 0x080, 0x08000c12); /* a device */
    put(f, FIRST, 0x600, 0x40000012); /* AP 000: nobody */
    assert_int_equal(page_table_walk(&f->map, f->control, &f->source), 0);
    assert_int_equal(f->map.count, 2);
    assert_range(f, 0, &(struct page_range){RAM, RAM, RAM_BYTES, true, false});
    assert_range(f, 1, &(struct page_range){0x50000000, RAM, 0x100000, false, true});
    free(f);
}

TEST(pages_of_both_sizes_are_found)
{
    struct fixture *f = make_fixture();

    put(f, FIRST, 0x700, SECOND | 1);
    put(f, SECOND, 0, 0x40005033); /* small, AP 011, XN */
    put(f, SECOND, 1, 0x40006033);
    put(f, SECOND, 3, 0x40007232); /* read only, executable */
    for (unsigned i = 16; i < 32; i++) {
        put(f, SECOND, i, 0x40108031); /* large: bits 15:12 are not its address */
    }
    assert_int_equal(page_table_walk(&f->map, f->control, &f->source), 0);
    assert_int_equal(f->map.count, 3);
    assert_range(f, 0, &(struct page_range){0x70000000, 0x40005000, 0x2000, true, false});
    assert_range(f, 1, &(struct page_range){0x70003000, 0x40007000, 0x1000, false, true});
    assert_range(f, 2, &(struct page_range){0x70010000, RAM + 0x100000, 0x10000, true, false});
    free(f);
}

TEST(a_table_that_is_no_memory_is_an_error)
{
    struct fixture *f = make_fixture();

    put(f, FIRST, 0x700, 0x90000001);
    assert_int_equal(page_table_walk(&f->map, f->control, &f->source), -1);
    f->control[PAGE_TTBR0] = 0x90000000;
    assert_int_equal(page_table_walk(&f->map, f->control, &f->source), -1);
    free(f);
}

/* Every other page of all memory would be as many ranges. */
TEST(more_ranges_than_there_is_room_for_are_an_error)
{
    struct fixture *f = make_fixture();

    for (unsigned i = 0; i < 256; i += 2) {
        put(f, SECOND, i, 0x40005033);
    }
    for (unsigned i = 0; i < 4096; i++) {
        put(f, FIRST, i, SECOND | 1);
    }
    assert_int_equal(page_table_walk(&f->map, f->control, &f->source), -1);
    free(f);
}
