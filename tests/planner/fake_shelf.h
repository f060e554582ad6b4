/*
 * fake_shelf.h - a shelf that holds one table, and counts what it is asked for.
 */
#pragma once

#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/planner.h"

struct fake {
    uint16_t words[8192];
    uint32_t count; /* 0: it holds nothing */
    char name[128];
    unsigned read, refused, kept;
};

static inline uint16_t *fake_read(void *context, const char *name, uint32_t *count)
{
    struct fake *fake = context;

    fake->read++;
    if (fake->count == 0 || strcmp(fake->name, name) != 0) {
        return NULL;
    }
    uint16_t *words = malloc(fake->count * sizeof *words);
    assert_non_null(words);
    memcpy(words, fake->words, fake->count * sizeof *words);
    *count = fake->count;
    return words;
}

static inline void fake_refuse(void *context, const char *name)
{
    struct fake *fake = context;

    assert_string_equal(fake->name, name);
    fake->refused++;
}

static inline void fake_keep(void *context, const char *name, const uint16_t *words, uint32_t count)
{
    struct fake *fake = context;

    assert_true(count <= sizeof fake->words / sizeof fake->words[0]);
    memcpy(fake->words, words, count * sizeof *words);
    fake->count = count;
    snprintf(fake->name, sizeof fake->name, "%s", name);
    fake->kept++;
}

/* The planner has it from now on, and nothing in memory. */
static inline void fake_use(struct fake *fake)
{
    const struct plan_shelf shelf = {fake, fake_read, fake_refuse, fake_keep, NULL};

    plan_use_shelf(&shelf);
}

/* FNV-1a of its words. */
static inline uint32_t fake_sum(const struct fake *fake)
{
    uint32_t sum = 2166136261;

    for (uint32_t i = 0; i < fake->count; i++) {
        sum = (sum ^ fake->words[i]) * 16777619;
    }
    return sum;
}
