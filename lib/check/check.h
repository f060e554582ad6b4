/*
 * check.h - what the parts of the checking library share.
 *
 * Context  node programs
 */
#pragma once

#include <stdint.h>

#include "lib/check/blocks.h"
#include "wire/finding.h"

/* Where the program, in its own code, has called the C library or ecube last: check.S sets it. */
extern uint32_t ecube_check_place;

/* Ends the program by what was found: `count` packed findings on the stack; there were `all`, which
 * may be more; at_end: it has come to its end, else it is in a call. */
_Noreturn void ecube_check_trap(const uint8_t *list, uint32_t count, uint32_t all, uint32_t at_end);

/* The same of one. */
_Noreturn void ecube_check_tell(const struct finding *found);

/* The heap takes over all memory of the program behind its image. */
void ecube_check_heap_begin(uint32_t start, uint32_t end);
struct blocks *ecube_check_heap(void);

/* Ends the program if an open transfer uses memory that is to be freed. */
void ecube_check_spare(const void *memory, uint32_t bytes);
