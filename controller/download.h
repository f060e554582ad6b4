/*
 * download.h - the messages that bring an image from the host into a network, and their model time.
 *
 * Every node gets M bytes: a part that is common to all and a private block of Delta. A message
 * goes to the root of a block of ranks (network.h: halving), carries the private blocks of its
 * nodes and the common part once, and the root scatters it by halving again. Decremental scattering
 * sends to the halves that node 0 would give away, the largest first, until its own block has x
 * halvings left, and that block last: the host works while roots scatter, and the last, small block
 * ends last. On a cube the blocks are subcubes of dimension d-1, d-2, ..., x and x.
 *
 * Example  cube:3, x = 1: node 4 (nodes 4 to 7), node 2 (2 and 3), node 0 (0 and 1)
 *          ring:6, x = 0: node 3 (3 to 5), node 2, node 1, node 0
 * Units    bytes and ns of model time; an element is a byte
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

enum strategy {
    STRATEGY_DECREMENTAL,       /* formula (9) */
    STRATEGY_SEQUENTIAL,        /* formula (6): a message to every node */
    STRATEGY_SCATTER,           /* formula (7): one message to node 0 */
    STRATEGY_SEQUENTIAL_SCATTER /* formula (8): a block by scatter, the other nodes one by one */
};

enum {
    STRATEGIES = STRATEGY_SEQUENTIAL_SCATTER + 1,
    DOWNLOAD_X_BEST = -1,
    DOWNLOAD_MESSAGES_MAX = 128, /* a message to each node is for machines of up to so many */
    DOWNLOAD_ERROR_MAX = 160
};

struct download_costs {
    uint64_t beta_ns;      /* start-up between nodes, one hop */
    uint64_t beta_host_ns; /* start-up between the host and a node: sigma beta */
    uint64_t hop_ns;       /* each further hop; zero in the paper, whose host reaches every node */
    uint64_t tau_ns;       /* one byte, on both kinds of link */
    uint64_t common_bytes; /* M - Delta */
    uint64_t block_bytes;  /* Delta */
};

struct download_message {
    uint32_t root;
    uint32_t count; /* nodes of its block: root and the ranks behind it */
};

struct download_plan {
    enum strategy strategy;
    unsigned x;
    unsigned count;
    struct download_message messages[DOWNLOAD_MESSAGES_MAX];
    uint64_t bytes;        /* that the host sends, in all messages */
    uint64_t predicted_ns; /* by the strategy's formula */
};

/* Reads the name of a strategy. */
bool download_parse_strategy(const char *text, enum strategy *strategy,
                             char error[DOWNLOAD_ERROR_MAX]);
const char *download_strategy_name(enum strategy strategy);

/* The smallest x with the least time of decremental scattering. On a cube: the smallest with
 * 2^x Delta tau >= beta_host - beta, for T4(x+1) - T4(x) is their difference. */
unsigned download_best_x(const struct download_costs *costs, const struct network *network);

/* Formulae (6) to (8) of the paper, for cubes; (8) for one x. All take every node to be one hop
 * from the host. */
uint64_t download_sequential_ns(const struct download_costs *costs, unsigned dims);
uint64_t download_scatter_ns(const struct download_costs *costs, unsigned dims);
uint64_t download_sequential_scatter_ns(const struct download_costs *costs, unsigned dims,
                                        unsigned x);

/*
 * Formula (9), for any network. With h halvings in all, message i to a root at d_i hops from the
 * host and c_i nodes in its block, and the last block's own halvings j, to c_j nodes at d_j hops:
 *
 *     sum over h - x + 1 messages of  beta_host + (d_i - 1) hop + (common + c_i Delta) tau
 *   + sum over x halvings of          beta + (d_j - 1) hop + (common + c_j Delta) tau
 *
 * On a cube all d are 1. With sigma of at least 1 no block before the last ends later: the half
 * that a root keeps is never smaller, nor its way shorter, than the one that it gives away.
 */
uint64_t download_decremental_ns(const struct download_costs *costs, const struct network *network,
                                 unsigned x);

/* What is to be said of a download that took longer than formula (9) gives; "": nothing. With sigma
 * below 1 a subcube before the last may be the last to end. */
const char *download_note(uint64_t model_ns, uint64_t predicted_ns);

/* The least time of any strategy: every block and the common part once over the host's one port. */
uint64_t download_bound_ns(const struct download_costs *costs, uint32_t nodes);

/* Lists the messages of a strategy; x may be DOWNLOAD_X_BEST. */
bool download_make_plan(struct download_plan *plan, enum strategy strategy, int x,
                        const struct network *network, const struct download_costs *costs,
                        char error[DOWNLOAD_ERROR_MAX]);
