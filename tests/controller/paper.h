/*
 * paper.h - the paper's formulae for the time of a download, against which plans are held.
 *
 * Its machine is a cube whose host reaches every node. Data sets have M bytes, each begins Delta on
 * from the one before. In (6) to (8) each node's set goes whole, with all that it has in common
 * with its neighbours.
 *
 * Units    bytes and ns of model time; an element is a byte
 * Source   Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *          nodes, section III
 * Names    beta, tau, M, Delta, x, d as in the paper
 */
#pragma once

#include <stdint.h>

struct download_paper {
    uint64_t beta_ns, beta_host_ns, tau_ns;
    uint64_t set_bytes;  /* M */
    uint64_t step_bytes; /* Delta */
};

/* (6): the host does all, one node after another. */
static inline uint64_t download_formula_6_ns(const struct download_paper *paper, unsigned dims)
{
    return (UINT64_C(1) << dims) * (paper->beta_host_ns + paper->set_bytes * paper->tau_ns);
}

/* (7): one message to node 0, which halves d times. */
static inline uint64_t download_formula_7_ns(const struct download_paper *paper, unsigned dims)
{
    uint64_t nodes = UINT64_C(1) << dims;

    return paper->beta_host_ns + paper->set_bytes * nodes * paper->tau_ns + dims * paper->beta_ns +
           paper->set_bytes * (nodes - 1) * paper->tau_ns;
}

/* (8): the subcube of node 0 by one message, then the host serves the others one by one. Host and
 * root work at the same time; whoever is later ends it. */
static inline uint64_t download_formula_8_ns(const struct download_paper *paper, unsigned dims,
                                             unsigned x)
{
    uint64_t inside = UINT64_C(1) << x, outside = (UINT64_C(1) << dims) - inside;
    uint64_t host = outside * (paper->beta_host_ns + paper->set_bytes * paper->tau_ns);
    uint64_t scatter = x * paper->beta_ns + paper->set_bytes * (inside - 1) * paper->tau_ns;

    return paper->beta_host_ns + paper->set_bytes * inside * paper->tau_ns +
           (host > scatter ? host : scatter);
}

/* (9): d - x + 1 messages, then x halvings of the last subcube. */
static inline uint64_t download_formula_9_ns(const struct download_paper *paper, unsigned dims,
                                             unsigned x)
{
    uint64_t sent = dims - x + 1, common = paper->set_bytes - paper->step_bytes;
    uint64_t host = sent * (paper->beta_host_ns + common * paper->tau_ns) +
                    paper->step_bytes * (UINT64_C(1) << dims) * paper->tau_ns;
    uint64_t scatter = x * (paper->beta_ns + common * paper->tau_ns) +
                       paper->step_bytes * ((UINT64_C(1) << x) - 1) * paper->tau_ns;

    return host + scatter;
}
