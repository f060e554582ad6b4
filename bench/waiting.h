/*
 * waiting.h - what a mesh of 64 nodes costs that has booted and waits: memory and processor time.
 *
 * The mesh is ended even when the bench is interrupted.
 *
 * Units    MB of a node; % of a core for all nodes
 */
#pragma once

#include "bench/figure.h"

/* Adds a round to both figures; one that fails when the mesh does not come up. */
void waiting_run(const char *build, struct figure *memory, struct figure *idle);
