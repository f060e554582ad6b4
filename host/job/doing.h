/*
 * doing.h - what the programs of a machine do, by what their nodes have answered: in words, and as
 * JSON (doc/json.md).
 *
 * Context  any; only looks
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller/words.h"
#include "host/program/fault.h"

struct programs;

enum { DOING_TEXT_MAX = 2 * WORDS_MAX + PLACE_TEXT_MAX };

/* What a node does, in words, and where its program computes, as far as known; with_place false
 * leaves that out, for each place reads the program's debug information. */
void doing_text(const struct programs *programs, uint32_t rank, bool with_place,
                char text[DOING_TEXT_MAX]);

/* What a program that runs waits for, by its last answer; null when it computes. */
json_t *doing_wait(const struct programs *programs, uint32_t rank);

/* The collective that is under way at a node; null when none is. */
json_t *doing_collective(const struct programs *programs, uint32_t rank);
