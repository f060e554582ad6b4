/*
 * rom_table.h - what lies on the debug bus of a node (AP 1) beside its debug unit: the table in
 * which a debugger finds it.
 *
 *     0x80000000  ROM table: one entry, the debug unit; then zero, the end
 *     0x80010000  debug unit (debug_unit.h)
 *
 * Units    addresses of the debug bus; offsets in bytes from the table's beginning
 * Source   ARM IHI 0029E, B2 (component and peripheral identification), D5 (class 0x1 ROM tables)
 */
#pragma once

#include <stdint.h>

enum { ROM_TABLE_BYTES = 0x1000, DEBUG_UNIT_BYTES = 0x1000 };

#define ROM_TABLE_BASE  0x80000000u /* beyond what an enum holds */
#define DEBUG_UNIT_BASE 0x80010000u

/* The word of the table at an offset below ROM_TABLE_BYTES; what is not there reads as zero. */
uint32_t rom_table_read(uint32_t offset);
