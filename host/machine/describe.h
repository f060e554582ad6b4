/*
 * describe.h - a machine, its nodes and its results in words and as JSON (doc/json.md).
 *
 * Context  any; only looks
 */
#pragma once

#include <jansson.h>

struct machine;

enum { DEAD_TEXT_MAX = 240 };

/* The object of --json. */
json_t *describe_result(const struct machine *machine, int status);

/* The nodes as they have answered: what ps shows. */
json_t *describe_nodes(const struct machine *machine);

/* The dead nodes, and the dead links between nodes that live: "node 3", "link 0-1". */
json_t *describe_dead(const struct machine *machine);
/* "the machine is broken, dead: node 3 and link 0-1" */
void describe_dead_text(const struct machine *machine, char text[DEAD_TEXT_MAX]);
