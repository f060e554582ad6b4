/*
 * planner.h - makes the plan of an operation for a network, proves it, says what it takes, and
 * writes it as the bytes that nodes read (wire/plan.h).
 *
 * For tool, tests and simulator. A plan is a list of circuits in one total order: by step, then by
 * place in the list. Every directed link serves circuits in that order, so do senders and
 * receivers. A plan that is invariant lists the circuits of node 0 alone; the others are their
 * translations (network_translate), each of which uses other links, or the same link in another
 * step.
 *
 *     plan_make      an algorithm lays down circuits, copies and the blocks they move
 *     plan_prove     turns; every promise of the operation; steps, hops, bytes. False: `fault` says
 *                    at which step, nodes and slot it fails
 *     plan_time      the model time for one size and profile, by replay of the rule of clock.h
 *     plan_part      the bytes for one node
 *
 * What is proved
 * - Every send has its receive in the same step, of as many blocks; one of each at a node, step and
 *   port. What comes in a step is neither sent nor written over in it.
 * - What a circuit or copy reads is there by then, and is what the operation's result needs; what
 *   it overwrites is not needed any more. At the end every promised slot holds its block, each
 *   contribution of a reduction exactly once (above 64 nodes by the sum of random 128-bit names).
 * - The turn of a hop is the number of circuits of the plan that its link carries before; `carries`
 *   counts them all. An invariant plan uses no directed link twice in a step.
 * - ahead: all that the circuit sends was there before the step that it overlaps, and nothing that
 *   is still being sent is overwritten; or it has left or come by then because a port serves one
 *   circuit at a time (one_port: its port terms must count, so it is no plan for all ports).
 *   after_received and after_sent stand where they must.
 * - An invariant plan is proved on node 0: what comes to a node is what its translated self sends.
 *   plan_expand makes the plan of all nodes of it, whose replay must say the same (tests).
 *
 * Time of a circuit of i hops and k elements: t = issue + xi; per hop t = max(t, link free) + tau;
 * begin = max(t, send port free, receiver ready, receive port free); done = begin + (i + k - 1)
 * elements. Issue and ready are the end of the node's earlier steps, or, ahead, the latest begin
 * among their circuits. A plan for p ports gives a node a circuit out, and one in, for each port in
 * a step; the ports of a circuit have one number at both its ends. A plan for all ports
 * (PORTS_ALL) leaves the port terms out; a machine with all ports executes either kind, one with p
 * the plans for up to p.
 *
 * Limits   paths of OPEN_HOPS_MAX hops, PLAN_STEPS_MAX steps, 65,535 circuits on a link;
 *          PLAN_CIRCUITS_MAX circuits in memory. What passes them is refused by name.
 * Units    ranks, slots, bytes; model time in ns
 * Errors   functions that can fail return false and fill a struct plan_fault
 * Context  host; memory from malloc, whose failure ends the process
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/operation.h"
#include "network/network.h"
#include "router/clock.h"
#include "wire/plan.h"

enum { PLAN_CIRCUITS_MAX = 1 << 26, PLAN_WORDS_MAX = 1536, ALGORITHM_WORDS_MAX = 192 };

/* Networks of so many nodes run in QEMU, and each node keeps so many bytes of parts there. The
 * planner's own plans fit. */
enum { PLAN_KEPT_NODES = 128, PLAN_KEPT_BYTES = 1 << 17 };

/* One circuit; with from == to a copy inside a node. Extents and ports lie in the plan's pools. */
struct plan_circuit {
    uint32_t step, from, to;
    uint32_t send_at, receive_at; /* first of its extents in plan.extents */
    uint8_t send_count, receive_count;
    uint8_t flags;     /* of enum row_flag: COMBINES, AHEAD, AFTER_RECEIVED, AFTER_SENT */
    uint8_t hops;      /* of its path; 0: a copy */
    uint8_t port;      /* that it leaves and comes by, [0, CLOCK_PORTS_MAX) */
    uint32_t ports_at; /* first of its ports in plan.ports; PLAN_DIMENSION_ORDER: the network's */
    uint32_t turns_at; /* first of its turns in plan.turns, which plan_prove fills */
    uint32_t blocks;   /* slots that it moves */
};

static const uint32_t PLAN_DIMENSION_ORDER = UINT32_MAX;

struct plan {
    struct network network;
    uint32_t operation, root;
    uint8_t algorithm; /* place in the operation's list of candidates */
    uint32_t variant;  /* of the candidate */
    bool invariant;
    uint32_t segments, steps;
    uint32_t bytes_min, bytes_max; /* sizes for which it has been found the cheapest; */
    uint8_t type;                  /* ... of these elements; 0: whatever they are */
    uint32_t choice;               /* the request's */
    uint32_t *scratch;             /* slots of each node; invariant: [0] alone */
    uint32_t circuit_count, extent_count, port_count, turn_count;
    struct plan_circuit *circuits;
    struct plan_extent *extents;
    uint8_t *ports;
    uint16_t *turns;
    uint16_t *carries;     /* [node * network.ports + port]; invariant: [port] */
    uint64_t hops, blocks; /* of all circuits, added up; of one node's if invariant */
    uint32_t digest;
    bool one_port;       /* found by plan_prove: what it issues ahead holds as ports count */
    uint8_t node_ports;  /* that it is for; PORTS_ALL: links alone count. plan_prove, plan_suit */
    uint8_t port;        /* of the circuits that are laid down next */
    bool sums_apart;     /* nodes keep sums of others, which a written plan cannot name */
    const char *refused; /* by the planner: the limit that it passes; NULL: none */
    char *written, *written_source; /* whose it is, if no planner's; the plan's memory */
    /* circuits of each node, in their order: [node_at[node], node_at[node + 1]) of node_circuits;
     * NULL if invariant */
    uint32_t *node_at, *node_circuits;
    /* The same plan with slots by rank, where the network has a map and slots are anybody's: what
     * nodes get. NULL: this one. */
    struct plan *ranks;
};

static inline const struct plan *plan_given(const struct plan *plan)
{
    return plan->ranks ? plan->ranks : plan;
}

/* Where a plan fails, and why, in words for a person. */
struct plan_fault {
    uint32_t step, from, to, slot; /* UINT32_MAX: none */
    char words[PLAN_WORDS_MAX];
    /* of a slot: whose it is, in which space, and where in `words` it begins what is wrong there,
     * behind the slot's name; why_at 0: it is of no slot */
    uint32_t node, space, why_at;
};

struct plan_time {
    uint64_t model_ns; /* of the node that ends last, all having begun at 0 */
    uint64_t bound_ns; /* no plan with one port (or all, as the profile says) takes less */
};

/* What a plan is wanted for. */
struct plan_request {
    uint32_t operation, root;
    uint32_t bytes; /* of a block; of the whole vector */
    uint32_t type;  /* enum ecube_type, of operations that reduce */
    /* A candidate's name, with or without the words of a variant ("multiphase 4+3"); NULL: any. A
     * variant that is named is allowed for every size and root. */
    const char *algorithm;
    /* ecube_choice of the name, where a node has asked by number (the cache finds the name); 0: it
     * has not */
    uint32_t choice;
    uint32_t variant; /* for candidates' planners: which; and how many ports nodes have, the */
    uint8_t ports;    /* profile's (0: one) */
    /* The machine: of what is allowed the cheapest for these bytes (choose.h). NULL: the first
     * possible, for all sizes. */
    const struct profile *profile;
};

/* Whether there is an algorithm for a request on this network. Its plan may still pass a limit. */
bool plan_possible(const struct network *network, const struct plan_request *request,
                   struct plan_fault *fault);

/* Makes and proves the plan that is best for a request. */
struct plan *plan_make(const struct network *network, const struct plan_request *request,
                       struct plan_fault *fault);
void plan_free(struct plan *plan);

/* "binomial tree", ...: the algorithm's name, and where it is from. */
const char *plan_algorithm(const struct plan *plan);
const char *plan_source(const struct plan *plan);

/* What a plan is, in few words. */
struct plan_summary {
    uint32_t operation, root;
    uint32_t bytes_min, bytes_max; /* for these sizes; UINT32_MAX: and all above */
    /* as --algorithm takes it, "chain 8 segments"; of a written plan whose it is, maybe cut off */
    char algorithm[ALGORITHM_WORDS_MAX];
};
struct plan_summary plan_summary(const struct plan *plan);

bool plan_prove(struct plan *plan, struct plan_fault *fault);

/* Makes a proved plan one for all ports where the machine has them and ports need not count; else
 * it is for as many as it names. False: the machine (NULL: with one port) has fewer. */
bool plan_suit(struct plan *plan, const struct profile *profile);

/* Whether a machine has the ports that a proved plan is for. */
bool plan_is_for(const struct plan *plan, const struct profile *profile);

/* The same plan with the circuits of all nodes. */
struct plan *plan_expand(const struct plan *plan);

struct plan_time plan_time(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                           const struct profile *profile);
/* Its model_ns alone, which is quicker. */
uint64_t plan_model_ns(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                       const struct profile *profile);

/* The same where blocks have sizes of their own: bytes[from * nodes + to]. */
struct plan_time plan_time_sized(const struct plan *plan, const uint32_t *bytes,
                                 const struct profile *profile);

/* When each circuit is issued, begins to flow and is done, in their order; of an invariant plan
 * those of node 0. */
struct plan_moment {
    uint64_t issue_ns, begin_ns, done_ns;
};
struct plan_time plan_replay(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                             const struct profile *profile, struct plan_moment *moments);

/* What nothing takes less than, and why, as half a sentence. plan_bound is that of plan_time; on
 * cubes it leaves set-ups out where the papers do (proof/bound.h). plan_bound_full does not. */
struct plan_bound {
    uint64_t ns;
    const char *argument;
};
struct plan_bound plan_bound(const struct plan *plan, uint32_t bytes,
                             const struct profile *profile);
struct plan_bound plan_bound_full(const struct plan *plan, uint32_t bytes,
                                  const struct profile *profile);

/* Bytes of one circuit's message; only reductions have elements of more than a byte. */
uint64_t plan_circuit_bytes(const struct plan *plan, const struct plan_circuit *circuit,
                            uint32_t bytes, uint32_t element_bytes);

/* Slots of scratch at the node that needs most; working memory there, beside the call's own
 * buffers; and the most that these take at a node. */
uint32_t plan_scratch_most(const struct plan *plan);
uint64_t plan_memory(const struct plan *plan, uint32_t bytes, uint32_t element_bytes);
uint64_t plan_buffers(const struct plan *plan, uint32_t bytes, uint32_t element_bytes);

/* Whether a plan wants more than the planner takes by itself: working memory above 1 MiB and twice
 * the buffers. */
bool plan_is_large(const struct plan *plan, uint32_t bytes, uint32_t element_bytes);

/* What a plan makes of the bytes of all nodes: those of SEND and RECEIVE of each, NULL where the
 * node has none. Elements are combined in the plan's order, so these are the bits that nodes get:
 * what lies in a slot is the left operand, what comes the right one, by step and place in it. */
struct plan_data {
    uint32_t bytes; /* of a block; of the whole vector */
    uint32_t type, operator_;
    const uint8_t *const *send;
    uint8_t *const *receive;
};
void plan_perform(const struct plan *plan, const struct plan_data *data);

/* The same order in words, of what a node gets in a segment: "(0 1) (2 3)" are the operands of
 * ranks 0 and 1, those of 2 and 3, and what they give. False: it has no room and is cut off. */
bool plan_order(const struct plan *plan, uint32_t rank, uint32_t segment, char *words, size_t room);

/* The part of a node: its bytes, written to `part` if it is not NULL. An invariant plan has one
 * part for all. */
uint32_t plan_part(const struct plan *plan, uint32_t rank, uint8_t *part);

/* The name of the algorithm, or of its variant on a network, that has a number (ecube_choice),
 * written to `words`; NULL: none has. */
const char *plan_algorithm_of(const struct network *network, uint32_t operation, uint32_t choice,
                              char words[ALGORITHM_WORDS_MAX]);

/*
 * Where what searches have found is kept, for planners that search: words under a name, which says
 * all that they depend on. What is read is proved, and refused if it is not right, so a plan is the
 * same without a shelf. Functions may be NULL, and are called by one thread at a time.
 */
struct plan_shelf {
    void *context;
    /* What is kept under a name, memory that is given away; NULL: nothing. */
    uint16_t *(*read)(void *context, const char *name, uint32_t *count);
    /* What was read last is not right, and will be kept anew. */
    void (*refuse)(void *context, const char *name);
    void (*keep)(void *context, const char *name, const uint16_t *words, uint32_t count);
    /* A search that is long goes on: what it is for. */
    void (*tell)(void *context, const char *words);
};

/* The shelf of the process from now on; NULL: none. What it keeps in memory is forgotten. */
void plan_use_shelf(const struct plan_shelf *shelf);

/*
 * The plans of one machine, the cheapest for each size, made at first use and kept: what a host
 * answers PLAN_ASK from.
 */
struct plan_cache;
struct plan_cache *plan_cache_make(const struct network *network, const struct profile *profile);
void plan_cache_free(struct plan_cache *cache);

/* From now on an operation's plans are made by this algorithm, where a request names none; NULL: by
 * the cheapest. */
void plan_cache_force(struct plan_cache *cache, uint32_t operation, const char *algorithm);

/* The part of a node and its bytes; NULL: there is no such plan, *status says why (E_ARGUMENT,
 * E_NETWORK: a limit) and *words, until the next call, in what respect. It stays where it is
 * until many other requests have been answered. */
const uint8_t *plan_cache_part(struct plan_cache *cache, const struct plan_request *request,
                               uint32_t rank, uint32_t *bytes, int *status, const char **words);

/* A proved plan for all requests of its operation, root and sizes that name no algorithm. To be put
 * before anybody has asked; it must stay as long as the cache. */
void plan_cache_put(struct plan_cache *cache, struct plan *plan);

/* Whether somebody has asked for such a plan. */
bool plan_cache_used(const struct plan_cache *cache, const struct plan *plan);

/* The plans of which nodes have been given parts, as long as they are kept: written ones, then the
 * planner's, the oldest first. Writes as many as there is room for; returns how many there are. */
uint32_t plan_cache_given(struct plan_cache *cache, struct plan_summary *summaries, uint32_t room);

/* Time and steps for a request of a program; false as above. Of an operation whose blocks have
 * sizes of their own it is what blocks of the request's size take by the plan that its calls go by,
 * the one for ECUBE_EXCHANGEV_BYTES. */
bool plan_cache_predict(struct plan_cache *cache, const struct plan_request *request,
                        struct plan_time *time, uint32_t *steps, int *status);
