/* shapes.h - every network of all four kinds with at most so many nodes. */
#pragma once

#include "network/network.h"

enum { SHAPES_MAX = 8000 };

/* Cubes, rings, meshes and tori of up to four dimensions; none twice but by kind. Returns how many;
 * `shapes` has room for SHAPES_MAX. */
unsigned shapes_make(struct network *shapes, uint32_t nodes);
/* Tori without a ring as well, which are meshes. */
unsigned shapes_make_all(struct network *shapes, uint32_t nodes);
