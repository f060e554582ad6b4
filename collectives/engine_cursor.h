/*
 * engine_cursor.h - where a call's slots and blocks lie in the program's memory, and how the bytes
 * of one side of a row are gone through, in their order.
 *
 * Units    slots, bytes
 * Context  the node's step; the call has been checked (engine_check.h)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/engine.h"

/* Where a slot of any space begins, in bytes. */
uint64_t engine_slot_at(const struct engine *e, uint64_t slot);

/* Where the block of a rank lies, as the program's table says at this moment. */
struct ecube_block engine_block_at(const struct engine *e, unsigned space, uint32_t rank);

/* Stands before the slots that the present row sends, or receives. */
void cursor_begin(const struct engine *e, struct engine_cursor *cursor, bool received);

/* Sees to it that the cursor stands at bytes; false at the end. Slots without bytes are passed,
 * each at once: without bytes there is nothing to go through. */
bool cursor_stands(const struct engine *e, const struct router *router,
                   struct engine_cursor *cursor);

static inline void cursor_pass(struct engine_cursor *cursor, uint32_t bytes)
{
    cursor->at += bytes;
    cursor->left -= bytes;
}

/* The bytes of the extents [from, to) of the present row. */
uint64_t engine_extents_bytes(const struct engine *e, unsigned from, unsigned to);
