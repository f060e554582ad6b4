/*
 * linear.h - what the programs of this folder share: numbers, systems of equations, the measured
 * and the predicted time of what they communicate.
 *
 * The programs are the applications of the paper: vectors and matrices that lie spread over the
 * ranks, and the operations that bring their parts together. A meter adds up the rounds of one
 * kind: each begins when all ranks have come (ecube_align), and ends with the last of them. What is
 * measured must be what is predicted, to the nanosecond, wherever something is predicted: for a
 * collective by the host (ecube_predict), for messages to neighbours by the profile's formula
 *
 *     xi + tau + k element      k elements over one hop, alone on its link
 *
 * and nothing where a message goes farther, as where a ring of ranks lies in another network.
 *
 * Units    sizes in numbers of 8 bytes, unless a name says bytes; times in ns
 * Errors   a program that cannot go on says why, at rank 0, and ends with status 2
 * Source   Ozveren, LIDS-P-1721 (1987), section 3
 * Names    the paper's N = m n: `order` is N, `share` m, ecube_size() n
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "include/ecube/ecube.h"

/* Rounds of communication of one kind. Zero but for its name before the first one. */
struct meter {
    const char *name; /* up to 23 characters, as the table of results shows it */
    uint64_t bytes;   /* of the longest block or message */
    uint64_t steps;   /* of collectives' plans, or of messages, one after the other */
    uint64_t model_ns, predicted_ns, bound_ns, wall_ns;
    uint64_t wrong; /* numbers of this rank that are not what is worked out directly */
    int apart;      /* some message goes over more than one hop, or shares its link */
    uint64_t began_ns, wall_began_ns;
    struct ecube_prediction asked; /* the last that the host was asked for, and what of */
    enum ecube_operation operation;
    int root;
    uint32_t asked_bytes;
    int has_asked;
};

/* A message that every rank sends at the same time as the others: to whom and from whom one comes,
 * -1 for nobody. All ranks have the same sizes. */
struct route {
    int to, from;
    const double *send;
    double *receive;
    size_t count;
};

/* Equations, spread by rows: each rank has `share` rows of order + 1 numbers, the last of which is
 * the right-hand side. */
struct equations {
    size_t order, share;
    double *rows;
};

/* Says which program this is. */
void linear_begin(const char *name);
/* Ends the run, which all ranks call for, with a line of rank 0 and status 2. */
__attribute__((noreturn, format(printf, 1, 2))) void linear_refuse(const char *format, ...);
/* The argument of an index, a number from `least` to `most`; `usual` if there is none. */
size_t linear_number(int argc, char **argv, int index, size_t usual, size_t least, size_t most);
/* Zeros. */
double *linear_vector(size_t count);
/* The part of a rank: order / ecube_size(); refuses what does not divide. */
size_t linear_share(const char *what, size_t order);
/* Some whole number from -4 to 4 for a place of a matrix: sums of products of them are exact in any
 * order, so that results are compared to the bit. */
double linear_element(size_t row, size_t column);

/*
 * The equations that the user gives (--input FILE: order rows of order + 1 doubles, each the row of
 * the matrix and its right-hand side), else those that `matrix` makes, of an order and with the
 * solution 1, 2, 3, 4, 5, 1, 2, ... Row i is the i-th, rank by rank.
 */
void linear_equations(struct equations *equations, size_t order,
                      double (*matrix)(size_t row, size_t column));
/*
 * What Gaussian elimination finds at rank 0, for the rows of all ranks together: the solution at
 * every rank. Returns 0, or -1: the matrix is singular.
 */
int linear_solve(const struct equations *equations, double *solution);
/* Of a part of a solution that begins at `first`: how many numbers are farther than `tolerance`,
 * times the largest of all, from what they should be. */
uint64_t linear_differs(const double *part, const double *solution, size_t first, size_t count,
                        size_t order, double tolerance);

/* Begins a round. */
void meter_begin(struct meter *meter);
/* Ends a round that was a collective, begun with a call with _start. */
void meter_wait(struct meter *meter, struct ecube_request *request, enum ecube_operation operation,
                int root, size_t count);
/*
 * Sends and receives: all messages at once on a machine whose nodes use all links at once, else a
 * round for each. The tag of routes[i] is i.
 */
void meter_messages(struct meter *meter, const struct route *routes, unsigned count);
/*
 * A line of the table of results; all ranks call it. Returns how much is wrong on all ranks: its
 * numbers, and a time that is not the predicted one.
 */
uint64_t meter_report(const struct meter *meter);
