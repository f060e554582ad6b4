/* shared_links.h - whether circuits of a plan get into each other's way. */
#pragma once

#include "planner/planner.h"

/* Whether two circuits of a step go over the same link, the same way. */
bool steps_share_links(const struct plan *plan);
