/*
 * comparison.h - our plan for a size beside those of the algorithms that libraries select for it.
 *
 * All on one port, by the rule of router/clock.h.
 *
 * Units    bytes as in rivals.h, model time in ns
 * Errors   false with a fault filled: no plan of ours, or a rival's plan is none
 * Context  host
 */
#pragma once

#include "bench/rivals/rivals.h"
#include "planner/algorithms/candidates.h"

enum { SELECTED_MAX = 8, COMPARED_SIZES_MAX = 64 };

struct comparison {
    uint32_t bytes;
    char algorithm[ALGORITHM_WORDS_MAX]; /* ours */
    uint64_t ns;
    unsigned count;
    struct {
        const struct selection *selection;
        uint64_t ns;
    } selected[SELECTED_MAX];
};

/* The profile of all comparisons: the iPSC/860's. */
extern const struct profile compared_profile;

bool compare(const struct network *cube, uint32_t operation, uint32_t bytes,
             struct comparison *comparison, struct plan_fault *fault);

/* Our time over that of the fastest rival; 0: there is none. */
double comparison_ratio(const struct comparison *comparison);

/* The sizes at which to compare, ascending: 16, 100, 1000, 10000, 100000, and both ends of every
 * selection's range. A vector's size is made of whole elements. */
unsigned compared_sizes(uint32_t operation, uint32_t nodes, uint32_t sizes[COMPARED_SIZES_MAX]);

/* A rival's plan, proved. */
struct plan *rival_plan(const struct rival *rival, const struct network *cube, uint32_t bytes,
                        struct plan_fault *fault);
