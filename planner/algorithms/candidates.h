/*
 * candidates.h - the algorithms that there are for each operation, best first.
 *
 * Context  host
 */
#pragma once

#include "planner/planner.h"

enum { VARIANT_WORDS_MAX = 160 };

/* In the place of a root where how many variants there are is asked for all of them. */
static const uint32_t CANDIDATE_ROOT_ANY = UINT32_MAX;

/* What a plan takes at least, in ns times its segments and the profile's element_bytes; convex in
 * the size, as replay.h says. */
struct candidate_least {
    uint64_t ns;
    uint32_t segments;
};

enum { MADE_OF_MAX = 2 };

/* What plans may be made of: those of an operation here that are not made of others themselves; of
 * another network there, also made of others' there, but not of a third network's; or those here
 * that may be a third network's. */
enum sources { SOURCES_HERE, SOURCES_THERE, SOURCES_MAPPED };

/* Another plan of which one is made: of another operation, or on another network. */
struct made_of {
    enum sources of;
    unsigned first; /* the variant that is made of the first of them */
    struct network network;
    struct plan_request request;
    /* the request is for `times` as many bytes as what is made of it (0: for none), in as many
     * `parts`, rounded up to whole elements */
    uint32_t times, parts;
};

struct candidate {
    uint8_t operation;
    const char *name, *source;
    const char *restriction; /* for people; NULL: every network */
    const char *closed_form; /* its model time, for people; NULL: none is known */
    /* A paper's, or the plain way: on nine networks of 8 to 64 nodes (cube:3, 4, 6, ring:8, 15,
     * mesh:4x4, 5x7, torus:4x4, 6x6), with 8, 1000 and 100,000 bytes, it was never chosen. */
    bool for_comparison;
    bool any_map;     /* of what ranks' order or places count for: whatever node a rank is at */
    bool wants_ports; /* no plan of it is better than others' where nodes have one port */
    /* Of one that wants a port for each of a node's links: the steps that it would take with fewer.
     * NULL: two are enough. */
    unsigned (*steps)(const struct network *network, unsigned ports);
    bool (*possible)(const struct network *network);
    /* Lays the plan down, in request->variant; what passes a limit is noted in it. */
    struct plan *(*plan)(const struct network *network, const struct plan_request *request);
    /* Plans of one algorithm that differ by a number: segments, phases. How many are worth a look,
     * and what one is called behind the name ("8 segments", "4+3"). NULL: there is one. A number
     * means the same plan for every size; how many there are may grow, or shrink, with the size,
     * not both between a power of two and the next. For CANDIDATE_ROOT_ANY as many as any root,
     * distance or mask has: each of them is a plan for every one. */
    unsigned (*variants)(const struct network *network, const struct plan_request *request);
    /* Of plans that are made of others (contained.c): of which; each other's cheapest plan is the
     * one worth a look. Returns how many; 0: not for this size. */
    unsigned (*made_of)(const struct network *network, const struct plan_request *request,
                        struct made_of others[MADE_OF_MAX]);
    /* Of plans of other networks (mapped.c): of how many. made_of answers for request->variant of
     * them, each of which has one that is worth a look. NULL: it is made of what is here. */
    unsigned (*networks)(const struct network *network);
    void (*variant_words)(const struct network *network, unsigned variant,
                          char words[VARIANT_WORDS_MAX]);
    /* The same of an algorithm that several operations have. */
    void (*operation_words)(const struct network *network, uint32_t operation, unsigned variant,
                            char words[VARIANT_WORDS_MAX]);
    /* No plan of request->variant takes less, on request->profile; so it need not be laid down to
     * see that another is cheaper. NULL: nothing is known. */
    struct candidate_least (*least)(const struct network *network,
                                    const struct plan_request *request);
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

/* What the plan of a variant takes at least for a request with a profile; 0 if nothing is known. */
struct candidate_least candidate_least(const struct candidate *candidate, unsigned variant,
                                       const struct network *network,
                                       const struct plan_request *request);
/* The same in ns, rounded down. */
uint64_t candidate_least_ns(const struct candidate *candidate, unsigned variant,
                            const struct network *network, const struct plan_request *request);

/* Lays down and proves the plan of a variant of candidate `number`; NULL: `fault` says why. */
struct plan *candidate_plan(const struct candidate *candidate, unsigned number, unsigned variant,
                            const struct network *network, const struct plan_request *request,
                            struct plan_fault *fault);

/* What candidates want that is not so here, a wish of several once: "exchange by AAP, AAP ahead
 * want a cube; by direct wants paths of at most 127 hops". False: none of those that are allowed
 * wants any such. Then more may be added. */
bool candidates_name_wishes(const struct network *network, const struct plan_request *request,
                            struct plan_fault *fault);
void plan_fault_add(struct plan_fault *fault, const char *before, const char *words,
                    const char *behind);

/* The variants that plans may be made of: those of an operation on a network, its candidates' one
 * after the other. How many there are; which of them a plan is; and the candidate that has one,
 * whose own number replaces it (NULL: none has). */
enum sources sources_for(uint32_t operation); /* of what plans of an operation are made here */
unsigned sources_count(uint32_t operation, const struct network *network, enum sources of);
unsigned sources_place(const struct plan *plan, enum sources of);
const struct candidate *sources_find(uint32_t operation, const struct network *network,
                                     enum sources of, unsigned *variant);

/* The same of a plan that its planner has laid down, which is the caller's no more; NULL: it is not
 * yet. */
struct plan *candidate_prove(const struct candidate *candidate, unsigned number, unsigned variant,
                             const struct network *network, const struct plan_request *request,
                             struct plan *laid, struct plan_fault *fault);

/* The first plan that is possible; of those that are made of others not every variant is. */
struct plan *candidate_first(const struct network *network, const struct plan_request *request,
                             struct plan_fault *fault);

/* What the planners may be called for. */
bool possible_always(const struct network *network);
bool possible_on_cubes(const struct network *network);
bool possible_with_rings(const struct network *network);
bool possible_directly(const struct network *network);
bool possible_on_meshes(const struct network *network);
bool possible_on_power_meshes(const struct network *network);
bool possible_on_other_meshes(const struct network *network);
bool possible_with_neighbours(const struct network *network);
bool possible_in_phases(const struct network *network);
bool possible_both_ways(const struct network *network);
bool possible_in_rounds(const struct network *network);
bool possible_by_gossip(const struct network *network);
bool possible_searched(const struct network *network);
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
bool possible_in_reversed_groups(const struct network *network);
bool possible_by_bruck(const struct network *network);
bool possible_in_pieces(const struct network *network);
bool possible_contained(const struct network *network);
bool possible_mapped(const struct network *network);
bool possible_in_order(const struct network *network);
bool possible_reversed(const struct network *network);
bool possible_composed(const struct network *network);
bool possible_rotated(const struct network *network);
bool possible_in_segments(const struct network *network);
bool possible_rotated_whole(const struct network *network);
bool possible_in_rounds_of_ports(const struct network *network);
bool possible_in_branches(const struct network *network);
bool possible_by_table(const struct network *network);
bool possible_in_threes(const struct network *network);
bool possible_by_necklaces(const struct network *network);
bool possible_by_exchange_table(const struct network *network);
bool possible_in_parts(const struct network *network);
bool possible_by_digits(const struct network *network);
bool possible_rarest_first(const struct network *network);
bool possible_relayed(const struct network *network);

/* From all to some: straight, and by neighbours along the Gray code. */
bool possible_on_gray_ring(const struct network *network);
struct plan *plan_direct_all_to_some(const struct network *network,
                                     const struct plan_request *request);
struct plan *plan_gray_all_to_some(const struct network *network,
                                   const struct plan_request *request);
struct plan *plan_gray_in_turn(const struct network *network, const struct plan_request *request);
unsigned gray_all_to_some_variants(const struct network *network,
                                   const struct plan_request *request);
unsigned gray_in_turn_variants(const struct network *network, const struct plan_request *request);
void gray_all_to_some_words(const struct network *network, unsigned variant,
                            char words[VARIANT_WORDS_MAX]);
unsigned gray_all_to_some_steps(const struct network *network, unsigned ports);

/* Blocks over all links of meshes. */
struct plan *plan_rarest_first(const struct network *network, const struct plan_request *request);
struct plan *plan_relayed(const struct network *network, const struct plan_request *request);

/* The prefix, with a part of the vector in each digit of ranks. */
struct plan *plan_scan_by_digits(const struct network *network, const struct plan_request *request);
unsigned digits_variants(const struct network *network, const struct plan_request *request);
void digits_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
struct candidate_least digits_least(const struct network *network,
                                    const struct plan_request *request);

/* For machines of several ports: parts rotated over dimensions, trees that share no link. */
struct plan *plan_rotated(const struct network *network, const struct plan_request *request);
unsigned rotated_variants(const struct network *network, const struct plan_request *request);
struct plan *plan_rotated_whole(const struct network *network, const struct plan_request *request);
unsigned rotated_whole_variants(const struct network *network, const struct plan_request *request);
void rotated_whole_words(const struct network *network, unsigned variant,
                         char words[VARIANT_WORDS_MAX]);
struct plan *plan_in_branches(const struct network *network, const struct plan_request *request);
struct plan *plan_aap_pairs(const struct network *network, const struct plan_request *request);
unsigned rounds_variants(const struct network *network, const struct plan_request *request);
void rounds_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
struct plan *plan_rounds_of_ports(const struct network *network,
                                  const struct plan_request *request);
struct plan *plan_by_table(const struct network *network, const struct plan_request *request);
struct plan *plan_in_threes(const struct network *network, const struct plan_request *request);
struct plan *plan_by_necklaces(const struct network *network, const struct plan_request *request);
struct plan *plan_exchange_by_table(const struct network *network,
                                    const struct plan_request *request);
void rotated_words(const struct network *network, uint32_t operation, unsigned variant,
                   char words[VARIANT_WORDS_MAX]);
struct plan *plan_in_parts(const struct network *network, const struct plan_request *request);
unsigned parts_variants(const struct network *network, const struct plan_request *request);
void parts_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
struct plan *plan_in_segments(const struct network *network, const struct plan_request *request);
unsigned segments_variants(const struct network *network, const struct plan_request *request);
void segments_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);

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
struct plan *plan_gossip(const struct network *, const struct plan_request *);
struct plan *plan_searched_rounds(const struct network *, const struct plan_request *);
struct plan *plan_gray_multiphase(const struct network *, const struct plan_request *);
struct plan *plan_mesh_pairs(const struct network *, const struct plan_request *);
struct plan *plan_shifted_mesh_pairs(const struct network *, const struct plan_request *);
struct plan *plan_mesh_shifts(const struct network *, const struct plan_request *);
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
struct plan *plan_of_allgather(const struct network *, const struct plan_request *);
struct plan *plan_of_allreduce(const struct network *, const struct plan_request *);
struct plan *plan_of_exchange(const struct network *, const struct plan_request *);
struct plan *plan_in_shares(const struct network *, const struct plan_request *);
struct plan *plan_as_wholes(const struct network *, const struct plan_request *);
unsigned rotation_variants(const struct network *network, const struct plan_request *request);
struct candidate_least direct_least(const struct network *network,
                                    const struct plan_request *request);
struct candidate_least mesh_pairs_least(const struct network *network,
                                        const struct plan_request *request);
struct candidate_least gossip_least(const struct network *network,
                                    const struct plan_request *request);
struct candidate_least searched_least(const struct network *network,
                                      const struct plan_request *request);
struct candidate_least chain_least(const struct network *network,
                                   const struct plan_request *request);
struct plan *plan_direct_shift(const struct network *, const struct plan_request *);
struct plan *plan_hierarchical_shift(const struct network *, const struct plan_request *);
struct plan *plan_direct_reverse(const struct network *, const struct plan_request *);
struct plan *plan_hierarchical_reverse(const struct network *, const struct plan_request *);
struct plan *plan_reverse_groups(const struct network *, const struct plan_request *);

/* Of plans that are made of another operation's: the other's variants. */
unsigned allgather_variants(const struct network *network, const struct plan_request *request);
unsigned made_of_allgather(const struct network *network, const struct plan_request *request,
                           struct made_of others[MADE_OF_MAX]);
void allgather_words(const struct network *network, uint32_t operation, unsigned variant,
                     char words[VARIANT_WORDS_MAX]);
unsigned allreduce_variants(const struct network *network, const struct plan_request *request);
unsigned made_of_allreduce(const struct network *network, const struct plan_request *request,
                           struct made_of others[MADE_OF_MAX]);
void allreduce_words(const struct network *network, uint32_t operation, unsigned variant,
                     char words[VARIANT_WORDS_MAX]);
unsigned exchange_variants(const struct network *network, const struct plan_request *request);
unsigned made_of_exchange(const struct network *network, const struct plan_request *request,
                          struct made_of others[MADE_OF_MAX]);
void exchange_words(const struct network *network, uint32_t operation, unsigned variant,
                    char words[VARIANT_WORDS_MAX]);

/* Of plans of other networks: those networks; their variants, one network's after the other's. */
struct plan *plan_mapped(const struct network *, const struct plan_request *);
unsigned mapped_networks(const struct network *network);
unsigned mapped_variants(const struct network *network, const struct plan_request *request);
unsigned made_of_mapped(const struct network *network, const struct plan_request *request,
                        struct made_of others[MADE_OF_MAX]);
void mapped_words(const struct network *network, uint32_t operation, unsigned variant,
                  char words[VARIANT_WORDS_MAX]);

/* Of plans of two operations, one after the other: the pairs of their variants. */
unsigned shares_variants(const struct network *network, const struct plan_request *request);
unsigned wholes_variants(const struct network *network, const struct plan_request *request);
unsigned made_of_shares(const struct network *network, const struct plan_request *request,
                        struct made_of others[MADE_OF_MAX]);
unsigned made_of_wholes(const struct network *network, const struct plan_request *request,
                        struct made_of others[MADE_OF_MAX]);
void broadcast_shares_words(const struct network *network, unsigned variant,
                            char words[VARIANT_WORDS_MAX]);
void reduce_shares_words(const struct network *network, unsigned variant,
                         char words[VARIANT_WORDS_MAX]);
void allreduce_shares_words(const struct network *network, unsigned variant,
                            char words[VARIANT_WORDS_MAX]);
void scan_shares_words(const struct network *network, unsigned variant,
                       char words[VARIANT_WORDS_MAX]);
void wholes_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);

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
unsigned reverse_group_variants(const struct network *network, const struct plan_request *request);
void reverse_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX]);
void reverse_group_words(const struct network *network, unsigned variant,
                         char words[VARIANT_WORDS_MAX]);
