/*
 * link_rows.h - links with what nodes have counted at them: the member "traffic" of --json.
 *
 *     [from, to, circuits, bytes, busy, waited, and the same four of downloads (circuits.h),
 *      load, refused, frames, repeats, damaged]
 *
 * What nodes count is complete, and takes the place of what was added up from records.
 *
 * Units    us of model time, bytes; a load in per cent; null: nobody has told it
 * Context  the tool
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "network/network.h"

/* Whether it is traffic of the network's links. */
bool link_rows_fit(const json_t *traffic, const struct network *network);
/* Links with it: new rows; the old ones stay as they are. */
json_t *link_rows_make(const json_t *links, const json_t *traffic, const struct network *network);
