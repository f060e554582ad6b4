/*
 * cell.h - numbers that stay inside the columns of a table for people.
 *
 * A number that is too long loses what matters least: decimals first, then digits. --json has all
 * of them.
 *
 * Units    columns
 * Errors   none
 */
#pragma once

enum { CELL_MAX = 32, CELL_COLUMNS_MIN = 5 };

/* With up to three decimals: 417922.100, 1829481234.6, 1.83e+15. Returns the cell. */
const char *cell_real(char cell[CELL_MAX], unsigned columns, double value);

/* A count, 0 or more: 65536, 4295M (millions). Returns the cell. */
const char *cell_count(char cell[CELL_MAX], unsigned columns, double count);
