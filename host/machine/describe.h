/*
 * describe.h - a machine, its nodes and its results in words and as JSON (doc/json.md).
 *
 * Context  any; only looks
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "controller/words.h"
#include "host/program/fault.h"

struct machine;

enum { DOING_TEXT_MAX = 2 * WORDS_MAX + PLACE_TEXT_MAX, DEAD_TEXT_MAX = 240 };

/* The object of --json. */
json_t *describe_result(const struct machine *machine, int status);

/* The nodes as they have answered: what ps shows. */
json_t *describe_nodes(const struct machine *machine);

/* The dead nodes, and the dead links between nodes that live: "node 3", "link 0-1". */
json_t *describe_dead(const struct machine *machine);
/* "the machine is broken, dead: node 3 and link 0-1" */
void describe_dead_text(const struct machine *machine, char text[DEAD_TEXT_MAX]);

/* What a node does, in words, and where its program computes, as far as known. */
void describe_doing(const struct machine *machine, uint32_t rank, char text[DOING_TEXT_MAX]);
/* What a program that runs waits for, by its last answer; null when it computes. */
json_t *describe_wait(const struct machine *machine, uint32_t rank);

/* What the nodes run: of whom places in the source are looked up. */
struct fault_code describe_code(const struct machine *machine);
