/*
 * all_to_some.h - over which links the blocks of an exchange from all to some go on a cube.
 *
 * Units    places of the Gray ring, dimensions
 * Context  host; pure
 * Source   Hu, Optimal All-to-Some Personalized Communication on Hypercubes, section 3, definitions
 *          1 and 2, corrected as doc/errata.md says
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The dimension in which the Gray code changes from place i to place i + 1 modulo 2^n, n > 0:
 * H_n(i) of section 2.2. */
unsigned gray_change(unsigned n, uint32_t place);

/* The dimension of the link over which a block at a place goes that is to go by 2^j, or (back) by
 * -2^j, or is half way: phi_i(j), varphi_i(j). */
unsigned all_to_some_link(unsigned n, uint32_t place, unsigned j, bool back);
