/*
 * waiting.h - memory and processor time of a machine of 64 nodes that has booted and waits.
 *
 * The machine is ended even when the bench is interrupted.
 *
 * Units    MB of a node; % of a core for all nodes
 */
#pragma once

#include "bench/figure.h"

/* Adds a round to both figures, with links of that maker; one that fails when the machine does not
 * come up. */
void waiting_run(const char *build, const char *links, struct figure *memory, struct figure *idle);
