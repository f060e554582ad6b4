/*
 * candidates.h - the algorithms that there are for each operation, best first.
 *
 * Context  host
 */
#pragma once

#include "planner/planner.h"

enum { VARIANT_WORDS_MAX = 48 };

/* In the place of a root where how many variants there are is asked for all of them. */
static const uint32_t CANDIDATE_ROOT_ANY = UINT32_MAX;

struct candidate {
    uint8_t operation;
    const char *name, *source;
    const char *restriction; /* for people; NULL: every network */
    const char *closed_form; /* its model time, for people; NULL: none is known */
    /* A paper's, or the plain way: on nine networks of 8 to 64 nodes (cube:3, 4, 6, ring:8, 15,
     * mesh:4x4, 5x7, torus:4x4, 6x6), with 8, 1000 and 100,000 bytes, it was never chosen. */
    bool for_comparison;
    bool (*possible)(const struct network *network);
    /* Lays the plan down, in request->variant; what passes a limit is noted in it. */
    struct plan *(*plan)(const struct network *network, const struct plan_request *request);
    /* Plans of one algorithm that differ by a number: segments, phases. How many are worth a look,
     * and what one is called behind the name ("8 segments", "4+3"). NULL: there is one. A number
     * means the same plan for every size; how many there are may grow, or shrink, with the size,
     * not both between a power of two and the next. For CANDIDATE_ROOT_ANY as many as any root,
     * distance or mask has: each of them is a plan for every one. */
    unsigned (*variants)(const struct network *network, const struct plan_request *request);
    void (*variant_words)(const struct network *network, unsigned variant,
                          char words[VARIANT_WORDS_MAX]);
};

/* Candidate `number` of an operation; NULL: there are no more. */
const struct candidate *candidate_of(uint32_t operation, unsigned number);

/* A candidate's name and its variant's words: "multiphase 4+3". */
void candidate_words(const struct candidate *candidate, const struct network *network,
                     unsigned variant, char words[ALGORITHM_WORDS_MAX]);

/* Whether a request for an algorithm (NULL: any) is one for a variant of this one. */
bool candidate_is(const struct candidate *candidate, const struct network *network,
                  unsigned variant, const char *algorithm);

/* How many of its variants are worth a look for a request; 0: the network cannot have it. */
unsigned candidate_variants(const struct candidate *candidate, const struct network *network,
                            const struct plan_request *request);

/* Lays down and proves the plan of a variant of candidate `number`; NULL: `fault` says why. */
struct plan *candidate_plan(const struct candidate *candidate, unsigned number, unsigned variant,
                            const struct network *network, const struct plan_request *request,
                            struct plan_fault *fault);

/* What the planners may be called for. */
bool possible_always(const struct network *network);
bool possible_on_cubes(const struct network *network);
bool possible_with_rings(const struct network *network);
bool possible_directly(const struct network *network);
bool possible_with_neighbours(const struct network *network);
bool possible_in_phases(const struct network *network);
bool possible_both_ways(const struct network *network);
bool possible_in_rounds(const struct network *network);
bool possible_by_gray_code(const struct network *network);
bool possible_in_chain(const struct network *network);
bool possible_in_cycle(const struct network *network);
bool possible_by_lines(const struct network *network);
bool possible_in_pairs(const struct network *network);
bool possible_in_blocks(const struct network *network);
bool possible_as_chain(const struct network *network);
bool possible_by_rotation(const struct network *network);
bool possible_with_leaders(const struct network *network);
bool possible_in_groups(const struct network *network);
bool possible_in_groups_of_blocks(const struct network *network);
bool possible_by_bruck(const struct network *network);
bool possible_in_pieces(const struct network *network);

/* The planners, each in a file of its family. */
struct plan *plan_tree_broadcast(const struct network *, const struct plan_request *);
struct plan *plan_tree_scatter(const struct network *, const struct plan_request *);
struct plan *plan_tree_gather(const struct network *, const struct plan_request *);
struct plan *plan_tree_reduce(const struct network *, const struct plan_request *);
struct plan *plan_tree_allreduce(const struct network *, const struct plan_request *);
struct plan *plan_tree_reduce_scatter(const struct network *, const struct plan_request *);
struct plan *plan_tree_allgather(const struct network *, const struct plan_request *);
struct plan *plan_tree_barrier(const struct network *, const struct plan_request *);
struct plan *plan_cube_barrier(const struct network *, const struct plan_request *);
struct plan *plan_ring_allgather(const struct network *, const struct plan_request *);
struct plan *plan_cube_scan(const struct network *, const struct plan_request *);
struct plan *plan_tree_scan(const struct network *, const struct plan_request *);
struct plan *plan_chain_scan(const struct network *, const struct plan_request *);
struct plan *plan_aap(const struct network *, const struct plan_request *);
struct plan *plan_aap_ahead(const struct network *, const struct plan_request *);
struct plan *plan_multiphase(const struct network *, const struct plan_request *);
struct plan *plan_standard_exchange(const struct network *, const struct plan_request *);
struct plan *plan_direct_exchange(const struct network *, const struct plan_request *);
struct plan *plan_both_ways(const struct network *, const struct plan_request *);
struct plan *plan_rounds(const struct network *, const struct plan_request *);
struct plan *plan_gray_multiphase(const struct network *, const struct plan_request *);
struct plan *plan_neighbour_exchange(const struct network *, const struct plan_request *);
struct plan *plan_cycle(const struct network *, const struct plan_request *);
struct plan *plan_lines(const struct network *, const struct plan_request *);
struct plan *plan_pairs(const struct network *, const struct plan_request *);
struct plan *plan_halving(const struct network *, const struct plan_request *);
struct plan *plan_leaders(const struct network *, const struct plan_request *);
struct plan *plan_leaders_barrier(const struct network *, const struct plan_request *);
struct plan *plan_leaders_of_blocks(const struct network *, const struct plan_request *);
struct plan *plan_bruck(const struct network *, const struct plan_request *);
struct plan *plan_bruck_allgather(const struct network *, const struct plan_request *);
struct plan *plan_pieces(const struct network *, const struct plan_request *);
struct plan *plan_spread(const struct network *, const struct plan_request *);
struct plan *plan_chain(const struct network *, const struct plan_request *);
struct plan *plan_rotation(const struct network *, const struct plan_request *);

/* The variants of rings (one way, both ways), of pairs (whole, in halves) and of allreduce by
 * halving and doubling (with so many steps of halving). */
unsigned ring_variants(const struct network *network, const struct plan_request *request);
void ring_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
unsigned pair_variants(const struct network *network, const struct plan_request *request);
void pair_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
unsigned halving_variants(const struct network *network, const struct plan_request *request);
void halving_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
/* The variants of groups (leaders and shares), of Bruck's exchange (one way, both ways), and of
 * vectors in pieces (how they are gathered). */
unsigned leaders_variants(const struct network *network, const struct plan_request *request);
void leaders_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
unsigned bruck_variants(const struct network *network, const struct plan_request *request);
void bruck_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
unsigned pieces_variants(const struct network *network, const struct plan_request *request);
void pieces_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
/* The variants of uneven trees (shares), and of pipelines (segments). */
unsigned spread_variants(const struct network *network, const struct plan_request *request);
void spread_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
unsigned pipeline_variants(const struct network *network, const struct plan_request *request);
void pipeline_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
struct plan *plan_direct_shift(const struct network *, const struct plan_request *);
struct plan *plan_hierarchical_shift(const struct network *, const struct plan_request *);
struct plan *plan_direct_reverse(const struct network *, const struct plan_request *);
struct plan *plan_hierarchical_reverse(const struct network *, const struct plan_request *);

/* Segments by powers of two: what their variants are. */
unsigned chain_variants(const struct network *network, const struct plan_request *request);
void chain_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);

/* Dimensions by phases of a complete exchange ("4+3"). */
unsigned multiphase_variants(const struct network *network, const struct plan_request *request);
void multiphase_words(const struct network *network, unsigned variant,
                      char words[VARIANT_WORDS_MAX]);
unsigned gray_variants(const struct network *network, const struct plan_request *request);
void gray_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
/* Of shifts and reversals: which way, and how far in a step. */
unsigned direct_shift_variants(const struct network *network, const struct plan_request *request);
unsigned hierarchical_shift_variants(const struct network *network,
                                     const struct plan_request *request);
void shift_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
unsigned reverse_variants(const struct network *network, const struct plan_request *request);
void reverse_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
