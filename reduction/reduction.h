/*
 * reduction.h - element types and operators of reductions, and the arithmetic itself.
 *
 * A reduction combines vectors element by element. The plan says which operands meet, and in which
 * order; here `into` is the left one. The same operands give the same bits on every
 * processor, and in either order:
 *
 *   integers          sums and products wrap, as two's complement does; a logical result is 0 or 1
 *   float, double     sums and products as IEEE 754 has them, rounded to nearest, even at a tie,
 *                     subnormal numbers kept; min and max are its minimum and maximum: -0 is less
 *                     than +0, and a NaN wins. Every NaN becomes the same quiet one
 *   pairs             value, index (int32), spare bytes up to a power of two. The lesser
 *                     (greater) value wins, of equal values the lower index; spare becomes 0
 *
 * All but sums and products of float and double are associative too, so their result does not
 * depend on the plan.
 *
 * Units    elements
 * Errors   reduction_possible says whether a pair is known; the others CHECK it
 * Context  any; pure
 * Source   IEEE 754-2019, 4.3.1 (rounding), 9.6 (minimum, maximum)
 * Names    operators and pair types are MPI's (MPI 4.0, 6.9.2 and 6.9.4): int32+int32 is its
 *          MPI_2INT, float+int32 MPI_FLOAT_INT, double+int32 MPI_DOUBLE_INT
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/ecube/abi.h"

/* Whether there is such a type, with such an operator. */
bool reduction_possible(uint32_t type, uint32_t operator_);

/* Bytes of an element, a power of two; 0: there is no such type. */
uint32_t reduction_element_bytes(uint32_t type);

/* into[i] = into[i] op from[i] for `count` elements; neither need be aligned. */
void reduction_combine(uint32_t type, uint32_t operator_, uint8_t *into, const uint8_t *from,
                       uint32_t count);

/* "int32", "double+int32"; "sum", "bitwise-and"; NULL: there is none. Numbers go up from 1 without
 * a gap. */
const char *reduction_type_name(uint32_t type);
const char *reduction_operator_name(uint32_t operator_);

/* The number of such a name; 0: there is none. */
uint32_t reduction_type_named(const char *name);
uint32_t reduction_operator_named(const char *name);
