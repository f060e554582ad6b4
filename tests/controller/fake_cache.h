/*
 * fake_cache.h - a cache whose plans are made up by a test, in place of the planner's: the test's
 * functions are taken before those of the rooms.
 */
#pragma once

#include <stdint.h>

#include "planner/planner.h"

struct plan_cache {
    uint32_t part_bytes; /* of every part */
    int status;          /* not E_OK: there is no plan, */
    const char *words;   /* for this reason; NULL: the name of the operation */
    unsigned asked;
    struct plan_request request; /* the last one, */
    uint32_t rank;               /* and of whom */
    uint8_t part[1 << 14];
};

struct plan_cache *fake_cache_make(void);
/* The byte of a part at an offset. */
uint8_t fake_cache_byte(uint32_t rank, uint32_t at);
