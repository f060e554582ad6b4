/*
 * scatters.c - downloads of a cube by the host, message by message, for formulae to compare.
 *
 * The host sends to the roots of subcubes of d - 1, d - 2, ..., x, x dimensions, one after the
 * other; a root that has its part halves it on, a message to one child after the other. A message
 * for 2^i nodes has M + (2^i - 1) Delta elements, which take beta + elements tau on a link of the
 * cube, and beta_h + elements tau_h on that of the host.
 *
 *     scattered(d, x, M, Delta, beta_h, tau_h, beta, tau)      when the last node has its part
 *
 * Source   Sharma & Wagh, "Decremental scattering for data transport between host and hypercube
 *          nodes", III
 */
#include <math.h>

#include "papers/functions.h"

struct message {
    double cells, more; /* of one node; of each other */
    double beta, tau;
};

static double takes(const struct message *message, unsigned dims)
{
    double elements = message->cells + (exp2(dims) - 1) * message->more;

    return message->beta + elements * message->tau;
}

/* When the last node of a subcube has its part, whose root has it at `start`: the root gives halves
 * away one after the other, and each child does the same with its half. */
static double subcube_done(const struct message *message, unsigned dims, double start)
{
    double done = start, at = start;

    for (unsigned i = dims; i-- > 0;) {
        at += takes(message, i);
        done = fmax(done, subcube_done(message, i, at));
    }
    return done;
}

static double call_scattered(const struct formula_value *a, unsigned count)
{
    unsigned d = (unsigned)a[0].number, x = (unsigned)a[1].number;
    struct message host = {a[2].number, a[3].number, a[4].number, a[5].number};
    struct message cube = {a[2].number, a[3].number, a[6].number, a[7].number};
    double at = 0, done = 0;

    (void)count;
    if (d > 16 || x > d) {
        papers_refuse("0 <= x <= d <= 16 should hold", "scattered");
    }
    for (unsigned i = d; i-- > x;) {
        at += takes(&host, i);
        done = fmax(done, subcube_done(&cube, i, at));
    }
    at += takes(&host, x);
    return fmax(done, subcube_done(&cube, x, at));
}

const struct formula_function scatter_functions[] = {{"scattered", 8, 8, call_scattered}, {0}};
