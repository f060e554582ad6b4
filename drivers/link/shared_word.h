/*
 * shared_word.h - access to words that two nodes share: each has one writer.
 *
 * A unit test that compiles with SHARED_WORD_TESTED brings its own: it runs the two sides step by
 * step, and delays what they write as a processor's store buffer does. Its rings are small.
 *
 * Context  any
 */
#pragma once

#include <stdint.h>

#if defined(SHARED_WORD_TESTED)

uint32_t shared_load(const volatile uint32_t *word);
void shared_store(volatile uint32_t *word, uint32_t value);
void shared_barrier(void);

#else

#include "drivers/mmio.h"

static inline uint32_t shared_load(const volatile uint32_t *word)
{
    return *word;
}

static inline void shared_store(volatile uint32_t *word, uint32_t value)
{
    *word = value;
}

/* What comes before is seen by the other side before what comes after, loads and stores alike. */
static inline void shared_barrier(void)
{
    mmio_barrier();
}

#endif
