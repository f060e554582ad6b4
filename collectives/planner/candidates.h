/*
 * candidates.h - the algorithms that there are for each operation, best first.
 *
 * Context  host
 */
#pragma once

#include "collectives/planner/planner.h"

enum { VARIANT_WORDS_MAX = 48, ALGORITHM_WORDS_MAX = 96 };

struct candidate {
    uint8_t operation;
    const char *name, *source;
    const char *restriction; /* for people; NULL: every network */
    const char *closed_form; /* its model time, for people; NULL: none is known */
    bool (*possible)(const struct network *network);
    /* Lays the plan down, in wish->variant; what passes a limit is noted in it. */
    struct plan *(*plan)(const struct network *network, const struct plan_wish *wish);
    /* Plans of one algorithm that differ by a number: segments, phases. How many are worth a look,
     * and what one is called behind the name ("8 segments", "4+3"). NULL: there is one. */
    unsigned (*variants)(const struct network *network, const struct plan_wish *wish);
    void (*variant_words)(const struct network *network, unsigned variant,
                          char words[VARIANT_WORDS_MAX]);
};

/* Candidate `number` of an operation; NULL: there are no more. */
const struct candidate *candidate_of(uint32_t operation, unsigned number);

/* A candidate's name and its variant's words: "multiphase 4+3". */
void candidate_words(const struct candidate *candidate, const struct network *network,
                     unsigned variant, char words[ALGORITHM_WORDS_MAX]);

/* What the planners may be called for. */
bool possible_always(const struct network *network);
bool possible_on_cubes(const struct network *network);
bool possible_with_rings(const struct network *network);
bool possible_directly(const struct network *network);
bool possible_with_neighbours(const struct network *network);
bool possible_in_chain(const struct network *network);

/* The planners, each in a file of its family. */
struct plan *plan_tree_broadcast(const struct network *, const struct plan_wish *);
struct plan *plan_tree_scatter(const struct network *, const struct plan_wish *);
struct plan *plan_tree_gather(const struct network *, const struct plan_wish *);
struct plan *plan_tree_reduce(const struct network *, const struct plan_wish *);
struct plan *plan_tree_allreduce(const struct network *, const struct plan_wish *);
struct plan *plan_tree_allgather(const struct network *, const struct plan_wish *);
struct plan *plan_tree_barrier(const struct network *, const struct plan_wish *);
struct plan *plan_cube_barrier(const struct network *, const struct plan_wish *);
struct plan *plan_ring_allgather(const struct network *, const struct plan_wish *);
struct plan *plan_cube_scan(const struct network *, const struct plan_wish *);
struct plan *plan_tree_scan(const struct network *, const struct plan_wish *);
struct plan *plan_chain_scan(const struct network *, const struct plan_wish *);
struct plan *plan_aap(const struct network *, const struct plan_wish *);
struct plan *plan_direct_exchange(const struct network *, const struct plan_wish *);
struct plan *plan_neighbour_exchange(const struct network *, const struct plan_wish *);

/* Segments by powers of two: what their variants are. */
unsigned chain_variants(const struct network *network, const struct plan_wish *wish);
void chain_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
