/*
 * shelf.h - what searches have found, kept by name: by this process, and by whoever has given it a
 * shelf (plan_use_shelf).
 *
 * What a shelf gives is looked at by who asks, and asked for anew if it is not right. So a plan is
 * the same with a shelf as without.
 *
 * Context  host; threads may share it
 */
#pragma once

#include "planner/planner.h"

/* What is kept under a name, which says all that it depends on. */
struct shelf_item {
    const char *name;
    /* Finds it; memory that is given away. */
    uint16_t *(*find)(const void *what, uint32_t *count);
    /* Whether words from elsewhere are such. */
    bool (*is_right)(const void *what, const uint16_t *words, uint32_t count);
    const void *what;
};

/* The words, which stay where they are as long as the process. */
const uint16_t *shelf_get(const struct shelf_item *item, uint32_t *count);

/* Says that something takes long. */
void shelf_tell(const char *words);
