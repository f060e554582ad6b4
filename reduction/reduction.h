/*
 * reduction.h - element types and operators of reductions, and the arithmetic itself.
 *
 * A reduction combines vectors element by element. Which operand comes first is the plan's affair:
 * here `into` is the left one. Doubles are added as IEEE 754 says, rounded to nearest, so the same
 * operands give the same bits on every processor; a maximum of doubles is the larger one by
 * comparison, and the left one where neither is larger (equal, or not a number).
 *
 * Units    elements
 * Errors   reduction_possible says whether a pair is known; the others CHECK it
 * Context  any; pure
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/ecube/abi.h"

/* Whether there is such a type, with such an operator. */
bool reduction_possible(uint32_t type, uint32_t operator_);

/* Bytes of an element; 0: there is no such type. */
uint32_t reduction_element_bytes(uint32_t type);

/* into[i] = into[i] op from[i] for `count` elements; neither need be aligned. */
void reduction_combine(uint32_t type, uint32_t operator_, uint8_t *into, const uint8_t *from,
                       uint32_t count);

/* "int32", "double"; "sum", "max"; NULL: there is none. */
const char *reduction_type_name(uint32_t type);
const char *reduction_operator_name(uint32_t operator_);
