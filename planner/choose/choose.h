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
 * Plans that are made of others (others.c) compete where they must: where the other operation, or
 * the others one after the other, or the same on another network are cheaper than all own plans. Of
 * each other it is the cheapest plan alone; that one is made of no other, but that another
 * network's may be made of other operations' there: one level of each kind is deep enough.
 *
 * What wants much memory (memory.c) is chosen where it is named, or all want that.
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
#include "planner/proof/replay.h"

/* Who competes: one variant of a candidate. */
struct contestant {
    const struct candidate *candidate;
    uint8_t number; /* of the candidate */
    uint32_t variant;
    bool out;            /* it cannot be */
    const char *refused; /* for this limit, when it was laid down */
    bool proved;
    bool counts;                /* its plan is right where ports count, and it is none for all */
    uint32_t scratch, segments; /* of its plan; segments 0: it has never been laid down */
    struct plan *plan;          /* laid down and not proved; NULL: not here at present */
};

struct contest;

/* What a contest has come to: for sizes of a type, which plan is the cheapest. */
struct answer {
    uint32_t bytes_min, bytes_max, type; /* type 0: any */
    bool found;
    uint8_t number;
    uint32_t variant;
    unsigned place; /* among what plans may be made of: sources_place */
};

/* Another operation, or network, of which plans are made. */
struct other {
    enum sources of;
    struct contest *contest;
    struct answer *answers;
    uint32_t count;
};

struct others {
    struct other **all;
    uint32_t count;
};

/* How a candidate that is made of others comes in. */
enum coming {
    COMING_NONE,   /* not on this network */
    COMING_BOUND,  /* no: nothing takes less for the others than what they are bound to */
    COMING_DEARER, /* no: the others' cheapest plans are dearer than an own one */
    COMING_COMES
};

struct entrant {
    const struct candidate *candidate;
    uint8_t number;
    uint32_t variant;
    enum coming coming;
    unsigned count; /* of the others */
    struct made_of of[MADE_OF_MAX];
    struct other *by[MADE_OF_MAX];
    struct answer answers[MADE_OF_MAX]; /* but for COMING_BOUND */
    uint64_t others_ns;                 /* what they take, or are bound to */
};

struct contest {
    struct network network;
    uint32_t operation, root;
    uint8_t ports;   /* of the machine */
    char *algorithm; /* NULL: all are allowed */
    struct contestant *all;
    uint32_t count;
    uint64_t kept;         /* circuits of all plans that are kept */
    struct others *others; /* NULL: no plans are made of others */
    bool makes, maps;      /* plans are made of other operations', of other networks' */
    struct contest *fewer; /* the same for nodes with fewer ports; NULL: not yet, or there is one */
    /* for the size and type that were entered last: the first of the cheapest own plans (count:
     * there is none), what it takes, itself if it has been made; and who comes of others */
    struct entrant *entrants;
    uint32_t entrant_count, entered_bytes, entered_type, own;
    uint64_t own_ns;
    struct plan *own_plan;
    bool has_entered;
    bool takes_large; /* plans that want much memory (memory.c), for there are no others */
    struct plan_fault fault;
};

/* The request's operation, root and algorithm; its root is a node. */
struct contest *contest_make(const struct network *network, const struct plan_request *request);
void contest_free(struct contest *contest);

/* The same for another root, distance or mask: what is known of other operations stays. */
struct contest *contest_again(struct contest *contest, const struct plan_request *request);

/* Whether a request is for what competes here. */
bool contest_is_for(const struct contest *contest, const struct plan_request *request);

/* Whether a contestant is allowed for the request's size; then the model time of its plan, in ns.
 * */
bool contest_allows(struct contest *contest, uint32_t number, const struct plan_request *request);
bool contest_time(struct contest *contest, uint32_t number, const struct plan_request *request,
                  uint64_t *model_ns);

/* Lets all come that are allowed for the request's size. */
void contest_enter(struct contest *contest, const struct plan_request *request);

/* The cheapest plan for the request's size, type and profile, proved; NULL: there is none. */
struct plan *contest_win(struct contest *contest, const struct plan_request *request,
                         struct plan_fault *fault);

/* The place of a candidate's variant among those who compete; count: it does not. */
uint32_t contest_place(const struct contest *contest, unsigned number, unsigned variant);

/* In the order of candidates, and of variants of each: the first of equals wins. */
bool contest_prefers(const struct contestant *one, const struct contestant *other);

/* Whether a contestant's plan is made of others'. */
bool contest_is_made(const struct contest *contest, const struct contestant *one);

/* Whether a contestant's plan is larger than what is chosen (memory.c), if it was laid down. */
bool contest_is_large(const struct contest *contest, const struct contestant *one,
                      const struct plan_request *request);

/* Lays a contestant's plan down, unless it is there; false when it passes a limit. Afterwards it
 * may be put away: it stays if there is room. */
bool contest_lay_down(struct contest *contest, struct contestant *one);
void contest_put_away(struct contest *contest, struct contestant *one);

/* Of those that are made of no others the first of the cheapest that take less than `below_ns`, and
 * its time; count: none does. Who takes more at least is not laid down; the cheapest stays so. */
uint32_t contest_find(struct contest *contest, const struct plan_request *request,
                      uint64_t below_ns, uint64_t *model_ns);

/* Who comes of others, when the cheapest own plan is known (others.c). */
void others_enter(struct contest *contest, const struct plan_request *request);
void others_free(struct others *others);

/* Forgets what was asked for one root alone, of which there may be many. */
void others_forget_roots(struct others *others);

/* In how many ways a candidate can be made of others for the request's size. */
unsigned others_can(const struct contest *contest, const struct candidate *candidate,
                    const struct plan_request *request);

/* What the others of an entrant take at least for a size, as they are bound to; and, one after the
 * other, by their plans. */
uint64_t others_bound(const struct contest *contest, const struct entrant *entrant,
                      const struct plan_request *request);
/* Whether the former is convex in the size. */
bool others_bound_bends(const struct contest *contest, const struct entrant *entrant,
                        const struct plan_request *request);

struct candidate_least others_limit(const struct entrant *entrant,
                                    const struct plan_request *request, enum replay_side side);

/* Narrows [*bytes_min, *bytes_max] to where the others' cheapest plans are the same. */
void others_stay(const struct entrant *entrant, uint32_t *bytes_min, uint32_t *bytes_max);

/* Around the request's size, at which it has won, the sizes for which a contestant's plan is the
 * cheapest (range.c). */
void range_find(struct contest *contest, uint32_t place, const struct plan_request *request,
                struct plan *winner);
