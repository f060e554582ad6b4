/*
 * collectives.h - our collectives beside those of other libraries: model times as plans, and what
 * SimGrid simulates with the library's selector.
 *
 * Shown are five sizes on cubes of 8, 32 and 128 nodes; the ratios are the worst of all sizes of
 * bench/rivals/comparison.h. Model times are exact and the same in every run; so are SimGrid's,
 * which has no ports: there a node that does not wait sends to all at once, and messages that meet
 * share a link.
 *
 * Errors   what fails is said on stderr and shows as "-", its ratio as missed
 */
#pragma once

#include <jansson.h>

#include "bench/figure.h"

enum { COLLECTIVES_RATIOS = 5 };

/* Prints the tables and fills the ratios; the tables' rows. `build` holds SimGrid's program. */
json_t *collectives_run(const char *build, struct ratio ratios[COLLECTIVES_RATIOS]);
