/*
 * build.h - builds the rows of each operation's schedule for the cubes up to a given one.
 *
 * Errors   none; the operation must be one of enum ecube_operation, dims at most CUBE_DIMS_MAX
 *          (CHECK)
 * Context  host only
 * Source   exchange: algorithm AAP, Boppana & Raghavendra, CENG 90-20 (1990), section 3.2
 *          broadcast, scatter, gather: binomial tree, Ozveren, LIDS-P-1721 (1987), section 2.2,
 *          figure 6; the order of the scatter (largest subcube first) is that of Sharma & Wagh,
 *          Decremental Scattering, section III barrier: one empty exchange per dimension, lowest
 *          first
 */
#pragma once

#include <stdint.h>

#include "collectives/row.h"

enum { ROWS_MAX = (1 << CUBE_DIMS_MAX) - 1 };

/* Fills rows; the table that they make. */
struct schedule_table table_build(uint32_t operation, uint32_t dims,
                                  struct schedule_row rows[ROWS_MAX]);

/* The operation's name as a C identifier, and its algorithm and source for a reader. */
const char *rows_name(uint32_t operation);
const char *rows_source(uint32_t operation);
