/*
 * choose.h - the cheapest plan for a size, and the sizes for which it is.
 *
 * All variants of all candidates of an operation that a network allows compete: laid down once,
 * since plans are the same for every size, and timed by replay for the size that is asked for. The
 * first of the least wins, is proved, and carries [bytes_min, bytes_max]: sizes around the one
 * asked for at which no other is as cheap, or none before it and none behind it cheaper. So the
 * answer to a size never depends on what was asked before, and plan and cache give the same one.
 *
 * How the range is found: a plan's time is convex in the size (replay.h). Between two sizes x and y
 * the winner takes at most what its chord says, a rival at least what its first and last steps say,
 * drawn on as straight lines:
 *
 *     time |        r . '             chord w from x to y below both lines of r: the winner wins
 *          |   r .'    . ' w          everywhere between. They bend away from the chord most where
 *          |  .   . '                 they meet, so that is where it is looked
 *          |. '
 *          +--------------- size      x         y
 *
 * Ranges end with a power of two of units at the latest. There the search begins; a rival that the
 * lines do not exclude is pushed away by bisection. Where rivals' rests decide (segments that do
 * not divide a vector), ranges are short, down to the one size.
 *
 * Units    sizes: bytes; of what reduces whole elements, rounded down
 * Errors   no plan: NULL, and a fault that says why
 * Context  host
 */
#pragma once

#include "planner/algorithms/candidates.h"

/* Who competes: one variant of a candidate. */
struct contestant {
    const struct candidate *candidate;
    uint8_t number; /* of the candidate */
    uint16_t variant;
    bool out;          /* refused */
    struct plan *plan; /* laid down and not proved; NULL: not here at present */
};

struct contest {
    struct network network;
    uint32_t operation, root;
    char *algorithm; /* NULL: all are allowed */
    struct contestant *all;
    uint32_t count;
    uint64_t kept; /* circuits of all plans that are kept */
    struct plan_fault fault;
};

/* The request's operation, root and algorithm; its root is a node. */
struct contest *contest_make(const struct network *network, const struct plan_request *request);
void contest_free(struct contest *contest);

/* Whether a request is for what competes here. */
bool contest_is_for(const struct contest *contest, const struct plan_request *request);

/* Whether a contestant is allowed for the request's size; then the model time of its plan, in ns.
 * */
bool contest_allows(const struct contest *contest, uint32_t number,
                    const struct plan_request *request);
bool contest_time(struct contest *contest, uint32_t number, const struct plan_request *request,
                  uint64_t *model_ns);

/* Lets all come that are allowed for the request's size. */
void contest_enter(struct contest *contest, const struct plan_request *request);

/* The cheapest plan for the request's size, type and profile, proved; NULL: there is none. */
struct plan *contest_win(struct contest *contest, const struct plan_request *request,
                         struct plan_fault *fault);
