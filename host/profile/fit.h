/*
 * fit.h - the profile that comes nearest to what has been measured, by least squares.
 *
 * A message of b bytes over i hops, alone on the machine, takes
 *
 *     xi + i tau + (i + k - 1) e,    k = ceil(b / w) elements of w bytes
 *
 * (clock.h): linear in xi, tau and e. Those three are found that make the sum of the squares of the
 * errors least, none of them below 0: of all choices of which are 0 the best whose others are not
 * negative. That is the least of all, for the sum is convex. Then they are rounded to whole ns, and
 * the errors that are told are those of the rounded ones.
 *
 * Example  0, 100 and 1000 bytes over 1 hop in 75, 117.5 and 500 us, 0 bytes over 3 hops in 95 us:
 *          xi 65425, tau 9575, e 425 ns, no errors
 * Units    bytes, hops; times in ns
 * Errors   -1 and one line, which says what must be measured as well
 * Context  pure
 * Source   Lawson & Hanson, Solving Least Squares Problems (1974), chapters 19 (modified
 *          Gram-Schmidt) and 23 (no unknown below 0)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/console/message.h"
#include "router/clock.h"

/* A message that was measured. */
struct fit_row {
    uint32_t bytes, hops;
    double ns;
};

struct fit_request {
    const struct fit_row *rows;
    unsigned count;
    uint16_t element_bytes;
    double tau_ns; /* known beforehand; below 0: to be found */
};

struct fit {
    uint32_t xi_ns, tau_ns, element_ns;
    double exact_element_ns; /* before it was rounded */
    double rms_ns;           /* root of the mean of the squares of the errors */
    unsigned worst;          /* the row of the largest error */
    bool held_xi, held_tau;  /* it is 0 because it would have been negative */
};

int fit_profile(const struct fit_request *request, struct fit *fit, struct message *message);

/* What a message takes on a machine, alone. */
uint64_t fit_time_ns(const struct profile *profile, const struct fit_row *row);

/* The machine that was found, without sigma. */
struct profile fit_machine(const struct fit_request *request, const struct fit *fit);
