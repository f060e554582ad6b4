/*
 * download.h - the messages that bring a load from the host into a network, and their model time.
 *
 * A load (wire/load.h) says what each node gets: M bytes, of which neighbours have some in common.
 * A message goes to the root of a block of ranks (network.h: halving), has what its nodes need,
 * what they have in common once, and the root scatters it by halving again. Decremental scattering
 * sends to the halves that node 0 would give away, the largest first, until its own block has x
 * halvings left, and that block last: the host works while roots scatter, and the last, small block
 * ends last. On a cube the blocks are subcubes of dimension d-1, d-2, ..., x and x.
 *
 * When the host has a link for each of several ranges (network.h), all this is of each range: it is
 * served like a network of its own, while the others are.
 *
 * Example  cube:3, x = 1: node 4 (nodes 4 to 7), node 2 (2 and 3), node 0 (0 and 1)
 *          ring:6, x = 0: node 3 (3 to 5), node 2, node 1, node 0
 * Units    bytes and ns of model time
 * Errors   false: `error` says in one line what is wrong
 * Source   Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *          nodes, section III; networks that are no cubes are ours
 * Names    beta, tau, sigma, M, Delta, x as in the paper; x = d, one root, is ours and is better
 *          when Delta is small
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"
#include "router/clock.h"
#include "wire/load.h"

enum strategy {
    STRATEGY_DECREMENTAL,
    STRATEGY_SEQUENTIAL,         /* a message to every node */
    STRATEGY_SCATTER,            /* one message to node 0 */
    STRATEGY_SEQUENTIAL_SCATTER, /* a block by scatter, the other nodes one by one */
    STRATEGY_PIPELINED,          /* blocks as in decremental, each a line of nodes (pipeline.h) */
    STRATEGY_AUTO                /* whichever takes the least time and has room */
};

enum {
    STRATEGIES = STRATEGY_PIPELINED + 1,
    STRATEGY_NAMES = STRATEGY_AUTO + 1,
    DOWNLOAD_X_BEST = -1,
    DOWNLOAD_MESSAGES_MAX = 4096, /* a message to each node is for machines of up to so many */
    DOWNLOAD_ERROR_MAX = 160
};

struct download_costs {
    uint64_t beta_ns;       /* start-up between nodes, one hop */
    uint64_t beta_host_ns;  /* start-up between the host and a node: sigma beta */
    uint64_t hop_ns;        /* each further hop; zero in the paper, whose host reaches every node */
    uint64_t tau_ns;        /* one element, on both kinds of link */
    uint16_t element_bytes; /* 0 and 1: an element is a byte */
    const struct load_list *list;
    /* Where the memory of a node ends, which holds what it passes on behind its program's top; 0:
     * everything has room. */
    uint32_t memory_end;
};

/* The bytes of a network's map, as a load brings them: load_map_bytes(nodes) of them. */
void download_write_map(uint8_t *table, const struct network *network);

/* What so many bytes of a message take. */
static inline uint64_t download_bytes_ns(const struct download_costs *costs, uint64_t bytes)
{
    return clock_elements(costs->element_bytes, bytes) * costs->tau_ns;
}

struct download_message {
    uint32_t root;
    uint32_t count;        /* nodes of its block: root and the ranks behind it */
    uint32_t parcel_bytes; /* 0: it goes whole, and its block scatters it by halving */
};

struct download_plan {
    enum strategy strategy; /* the one that was chosen, if AUTO was wanted */
    unsigned x;
    uint32_t parcel_bytes; /* of messages to more than one node; 0: they go whole */
    unsigned count;
    struct download_message messages[DOWNLOAD_MESSAGES_MAX];
    uint64_t bytes;        /* that the host sends, in all messages */
    uint64_t predicted_ns; /* download_replay_ns of them */
    bool contends;         /* they may meet on links, and then take longer than that */
};

/* Of a machine; memory_end is 0. */
struct download_costs download_costs_of(const struct profile *profile,
                                        const struct load_list *list);

/* Reads the name of a strategy; false: it is none's. */
bool download_parse_strategy(const char *text, enum strategy *strategy);
const char *download_strategy_name(enum strategy strategy);

/* Lists the messages of a strategy. x may be DOWNLOAD_X_BEST: the smallest of those that take the
 * least time and have room at all roots. Of sequential-scatter only those are taken whose messages
 * never wait for each other on a link; of one that the user chooses the prediction may be too
 * small. */
bool download_make_plan(struct download_plan *plan, enum strategy strategy, int x,
                        const struct network *network, const struct download_costs *costs,
                        char error[DOWNLOAD_ERROR_MAX]);

/* The messages of decremental scattering with this x; how many. */
unsigned download_decremental(const struct network *network, unsigned x,
                              struct download_message messages[DOWNLOAD_MESSAGES_MAX]);

/* What a strategy would do, for people who compare. */
struct download_choice {
    enum strategy strategy;
    unsigned x, count;
    uint32_t parcel_bytes; /* 0: it has none */
    uint64_t bytes, predicted_ns;
    bool sends; /* it has no more messages than a plan may have: else nothing else is known */
    bool fits;  /* all roots have room for what they pass on */
};

/* Of each strategy, with this x or its best one. */
void download_compare(struct download_choice choices[STRATEGIES], int x,
                      const struct network *network, const struct download_costs *costs);

/*
 * When the last node has its data: the host sends one message after another, each root scatters its
 * block as soon as it has all of it, and so do the roots of the halves that it gives away. Exact
 * for every list, every order of messages and every sigma.
 *
 * On 65,536 nodes it takes ms: where a range of nodes has the same segments throughout, a message's
 * bytes follow from the number of its nodes.
 */
uint64_t download_replay_ns(const struct download_costs *costs, const struct network *network,
                            const struct download_message *messages, unsigned count);

/* The same; UINT64_MAX: it is certainly later than `limit_ns`. */
uint64_t download_replay_limited_ns(const struct download_costs *costs,
                                    const struct network *network,
                                    const struct download_message *messages, unsigned count,
                                    uint64_t limit_ns);

/*
 * The same as a sum, when sigma is at least 1 and all nodes have the same segments, so that no half
 * that is given away ends later than the one that is kept. With b(i) bytes in message i, which goes
 * d(i) hops:
 *
 *     decremental, scatter   sum over the host's messages of  beta_host + (d - 1) hop + b tau
 *                          + sum over the last block's halvings of  beta + (d - 1) hop + b tau
 *     sequential             the first sum, of a message to each node
 *     sequential-scatter     the message of the block, then the longer of both sums: the block's
 *                            halvings, the host's other messages
 *
 * On a cube all d are 1, and b = M + (count - 1) Delta: so decremental is formula (9).
 *
 * With a host link for each of 2^l ranges of a cube of dimension D, it is (9) for dimension D - l,
 * and one hop more for each message but the last: the host reaches other nodes than a range's first
 * through that one.
 */
uint64_t download_closed_ns(const struct download_costs *costs, const struct network *network,
                            enum strategy strategy, unsigned x);

/* The least time of any strategy: all that the nodes of a range need once over the host's port. */
uint64_t download_bound_ns(const struct download_costs *costs, const struct network *network);
