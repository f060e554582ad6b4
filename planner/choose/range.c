/*
 * range.c - around a size at which a plan has won, the sizes for which it is the cheapest.
 *
 * One level is held against another: what the winner takes at most against what a rival takes at
 * least. Where both are plans' it is done by lines (choose.h). What others are bound to, or take
 * where they are asked for a part of the size, is not convex, but it rises with the size, as all
 * does here: where it is more at one size than the winner at a larger one, it is more at all
 * between. Ranges are cut in pieces until that says enough.
 *
 *     time |         ___         what the others take at the first size of a piece is above what
 *          |     ___|   . '      the own plan takes at its last
 *          | ___|  .  '
 *          |  .  '
 *          +--------------- size
 */
#include <stdlib.h>

#include "planner/build.h"
#include "planner/choose/choose.h"
#include "drivers/check.h"
#include "reduction/reduction.h"

enum {
    KNOWN = 64,               /* sizes for which a level stays known */
    ROUGH_CIRCUITS = 1 << 18, /* of plans that are long to replay */
    ROUGH_PARTS = 16,
    CUTS_MAX = 5 /* a range is cut in two so often */
};

__extension__ typedef __int128 wide; /* times times segments times segments times sizes */

struct ranging;

/* What something takes at most, or at least, in ns times segments (which count the profile's
 * element_bytes here); it rises with the size. */
typedef struct candidate_least measure(struct ranging *r, const void *of, uint64_t size);

struct level {
    measure *measure;
    const void *of;
    bool bends; /* it is convex */
    struct {
        uint64_t size, ns;
        bool known;
    } at[KNOWN];
    uint32_t segments;
};

/* What a range is found for. Sizes are counted in units. */
struct ranging {
    struct contest *contest;
    struct plan_request request;
    const struct plan *winner;
    uint32_t place; /* of the winner among the contestants */
    uint32_t unit;
    /* of the claim that one level stays below another: */
    struct level *lower, *upper;
    bool must_exceed;                /* not even the same */
    const struct contestant *looked; /* of the claim that one's plan is large, or not, everywhere */
};

/* Levels ---------------------------------------------------------------------------------------
 */

static struct plan_request request_at(const struct ranging *r, uint64_t size)
{
    struct plan_request request = r->request;

    request.bytes = (uint32_t)(size * r->unit);
    return request;
}

static struct candidate_least limit_of(const struct ranging *r, const struct plan *plan,
                                       uint64_t size, enum replay_side side)
{
    return (struct candidate_least){
        replay_limit(plan, (uint32_t)(size * r->unit), r->unit, r->request.profile, side),
        plan->segments * clock_element_bytes(r->request.profile)};
}

static struct candidate_least plan_most(struct ranging *r, const void *plan, uint64_t size)
{
    return limit_of(r, plan, size, REPLAY_MOST);
}

static struct candidate_least plan_least(struct ranging *r, const void *plan, uint64_t size)
{
    return limit_of(r, plan, size, REPLAY_LEAST);
}

/* As the algorithm says, which is quicker than a replay. */
static struct candidate_least said_least(struct ranging *r, const void *contestant, uint64_t size)
{
    const struct contestant *one = contestant;
    struct plan_request request = request_at(r, size);

    struct candidate_least least =
        candidate_least(one->candidate, one->variant, &r->contest->network, &request);

    least.segments *= clock_element_bytes(request.profile);
    return least;
}

static struct candidate_least bound_least(struct ranging *r, const void *entrant, uint64_t size)
{
    struct plan_request request = request_at(r, size);

    return (struct candidate_least){others_bound(r->contest, entrant, &request), 1};
}

static struct candidate_least others_least(struct ranging *r, const void *entrant, uint64_t size)
{
    struct plan_request request = request_at(r, size);

    return others_limit(entrant, &request, REPLAY_LEAST);
}

static struct candidate_least others_most(struct ranging *r, const void *entrant, uint64_t size)
{
    struct plan_request request = request_at(r, size);

    return others_limit(entrant, &request, REPLAY_MOST);
}

static wide level_at(struct ranging *r, struct level *level, uint64_t size)
{
    /* bisections look at sizes that are alike in their lowest bits */
    uint64_t place = size * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (KNOWN - 1);

    if (!level->at[place].known || level->at[place].size != size) {
        struct candidate_least measured = level->measure(r, level->of, size);
        level->segments = measured.segments;
        level->at[place].ns = measured.ns;
        level->at[place].size = size;
        level->at[place].known = true;
    }
    return level->at[place].ns;
}

/* One below another ----------------------------------------------------------------------------
 */

/* Two levels between sizes x and y; times are multiplied by both's segments, so that they compare.
 */
struct lines {
    uint64_t x, y;
    wide chord_x, chord_y; /* of the lower one */
    wide at_x, at_y;       /* the upper one, */
    wide first, last;      /* and more for one unit more, behind x and before y */
    bool must_exceed;
};

/* Whether the upper one's lines stand above the chord at a size between, or at, the two. */
static bool stands_above(const struct lines *l, uint64_t size)
{
    wide from_x = (wide)(size - l->x), to_y = (wide)(l->y - size), width = (wide)(l->y - l->x);
    wide first = l->at_x + from_x * l->first, last = l->at_y - to_y * l->last;
    wide line = first > last ? first : last;
    wide over = line * width - (l->chord_x * to_y + l->chord_y * from_x);

    return l->must_exceed ? over > 0 : over >= 0;
}

static bool stands_above_all_along(const struct lines *l)
{
    wide bend = l->last - l->first, width = (wide)(l->y - l->x);
    wide ends_over = l->at_x - l->chord_x, y_over = l->at_y - l->chord_y;

    if (l->must_exceed ? ends_over <= 0 || y_over <= 0 : ends_over < 0 || y_over < 0) {
        return false;
    }
    if (width < 2) {
        return true;
    }
    wide meet = bend > 0 ? (width * l->last - (l->at_y - l->at_x)) / bend : 1;
    meet = meet < 1 ? 1 : meet > width - 1 ? width - 1 : meet;
    uint64_t at = l->x + (uint64_t)meet;
    return stands_above(l, l->x + 1) && stands_above(l, l->y - 1) && stands_above(l, at) &&
           (at + 1 >= l->y || stands_above(l, at + 1));
}

static wide lower_at(struct ranging *r, uint64_t size)
{
    wide ns = level_at(r, r->lower, size);

    level_at(r, r->upper, size);
    return ns * r->upper->segments;
}

static wide upper_at(struct ranging *r, uint64_t size)
{
    return level_at(r, r->upper, size) * r->lower->segments;
}

static bool is_below(const struct ranging *r, wide lower, wide upper)
{
    return r->must_exceed ? lower < upper : lower <= upper;
}

static bool is_below_in_pieces(struct ranging *r, uint64_t x, uint64_t y, unsigned cuts)
{
    uint64_t middle = x + (y - x) / 2;

    if (is_below(r, lower_at(r, y), upper_at(r, x))) {
        return true;
    }
    if (x == y || cuts == 0 || !is_below(r, lower_at(r, middle), upper_at(r, middle))) {
        return false;
    }
    return is_below_in_pieces(r, x, middle, cuts - 1) &&
           is_below_in_pieces(r, middle + 1, y, cuts - 1);
}

static bool is_below_by_lines(struct ranging *r, uint64_t x, uint64_t y)
{
    struct lines l = {.x = x, .y = y, .must_exceed = r->must_exceed};

    l.chord_y = lower_at(r, y);
    l.at_x = upper_at(r, x);
    if (l.at_x > l.chord_y) { /* less at no size between, for both rise */
        return true;
    }
    l.at_y = upper_at(r, y);
    l.chord_x = lower_at(r, x);
    if (l.at_x < l.chord_x || l.at_y < l.chord_y) {
        return false;
    }
    l.first = upper_at(r, x + 1) - l.at_x;
    l.last = l.at_y - upper_at(r, y - 1);
    return stands_above_all_along(&l);
}

/* Whether the lower level is below the upper one at all sizes from x to y; at the one asked for it
 * is. */
static bool stays_below(struct ranging *r, uint64_t x, uint64_t y)
{
    return x == y || (r->lower->bends && r->upper->bends ? is_below_by_lines(r, x, y)
                                                         : is_below_in_pieces(r, x, y, CUTS_MAX));
}

/* Between `from` and `far` the size that is farthest away up to which a claim holds, or, where it
 * is long to look, one not much nearer; it holds for `from` alone, and for less where it holds for
 * more. */
typedef bool claim(struct ranging *r, uint64_t x, uint64_t y);

static uint64_t farthest(struct ranging *r, uint64_t from, uint64_t far, claim *holds, bool rough)
{
    bool up = far > from;
    uint64_t good = from, bad = far, apart = up ? far - from : from - far;
    uint64_t near = rough ? apart / ROUGH_PARTS + 1 : 1;

    if (up ? holds(r, from, far) : holds(r, far, from)) {
        return far;
    }
    while (up ? bad - good > near : good - bad > near) {
        uint64_t middle = good + (bad - good) / 2;
        if (!up) {
            middle = bad + (good - bad) / 2;
        }
        bool held = up ? holds(r, from, middle) : holds(r, middle, from);
        *(held ? &good : &bad) = middle;
    }
    return good;
}

/* Narrows [*low, *high] around `size` to where one level stays below another. */
static void stay_below(struct ranging *r, struct level *lower, struct level *upper,
                       bool must_exceed, uint64_t size, uint64_t *low, uint64_t *high)
{
    bool rough = r->winner->circuit_count > ROUGH_CIRCUITS || !lower->bends || !upper->bends;

    r->lower = lower;
    r->upper = upper;
    r->must_exceed = must_exceed;
    *high = farthest(r, size, *high, stays_below, rough);
    *low = farthest(r, size, *low, stays_below, rough);
}

/* Rivals ---------------------------------------------------------------------------------------
 */

/* Narrows [*low, *high] around `size` to where a level stays below what a contestant takes: as its
 * algorithm says, unless that says too little, then by replay. */
static void stay_below_one(struct ranging *r, struct level *lower, struct contestant *rival,
                           bool must_exceed, uint64_t size, uint64_t *low, uint64_t *high)
{
    struct level said = {.measure = said_least, .of = rival, .bends = true};
    uint64_t up = *high, down = *low;

    if (rival->candidate->least) {
        stay_below(r, lower, &said, must_exceed, size, &down, &up);
        if ((up != size || *high == size) && (down != size || *low == size)) {
            *high = up;
            *low = down;
            return;
        }
    }
    if (contest_lay_down(r->contest, rival)) {
        struct level upper = {.measure = plan_least, .of = rival->plan, .bends = true};
        stay_below(r, lower, &upper, must_exceed, size, low, high);
        contest_put_away(r->contest, rival);
    }
}

static bool is_as_large(struct ranging *r, uint64_t x, uint64_t y)
{
    struct plan_request one = request_at(r, x), other = request_at(r, y);

    return contest_is_large(r->contest, r->looked, &one) ==
           contest_is_large(r->contest, r->looked, &other);
}

/* Narrows it to where a plan is large, or is not, as at the size. */
static void stay_as_large(struct ranging *r, const struct contestant *one, uint64_t size,
                          uint64_t *low, uint64_t *high)
{
    r->looked = one;
    *high = farthest(r, size, *high, is_as_large, false);
    *low = farthest(r, size, *low, is_as_large, false);
}

/* Narrows it to where the winner wins against all that compete. */
static void push_away(struct ranging *r, uint64_t size, uint64_t *low, uint64_t *high)
{
    struct level lower = {.measure = plan_most, .of = r->winner, .bends = true};
    struct contestant *all = r->contest->all;

    stay_as_large(r, &all[r->place], size, low, high);
    for (uint32_t i = 0; i < r->contest->count; i++) {
        bool rivals = i != r->place && contest_allows(r->contest, i, &r->request);
        if (rivals && contest_is_large(r->contest, &all[i], &r->request)) {
            stay_as_large(r, &all[i], size, low, high);
            rivals = r->contest->takes_large;
        }
        if (rivals) {
            stay_below_one(r, &lower, &all[i], contest_prefers(&all[i], &all[r->place]), size, low,
                           high);
        }
    }
}

/* Whether the same variants of all candidates are allowed at both sizes, and others can be asked.
 */
static bool same_variants(struct ranging *r, uint64_t x, uint64_t y)
{
    const struct network *network = &r->contest->network;
    struct plan_request one = request_at(r, x), other = request_at(r, y);
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(one.operation, i)); i++) {
        if (candidate_variants(candidate, network, &one) !=
                candidate_variants(candidate, network, &other) ||
            others_can(r->contest, candidate, &one) != others_can(r->contest, candidate, &other)) {
            return false;
        }
    }
    return true;
}

/* Others ---------------------------------------------------------------------------------------
 */

static bool all_bend(const struct entrant *entrant)
{
    bool bend = true;

    for (unsigned i = 0; i < entrant->count; i++) {
        bend = bend && entrant->of[i].parts == 1;
    }
    return bend;
}

/* Where the winner is made of others, these must stay cheaper than all own plans. */
static void stay_cheaper(struct ranging *r, const struct entrant *entrant, uint64_t size,
                         uint64_t *low, uint64_t *high)
{
    struct level lower = {.measure = others_most, .of = entrant, .bends = all_bend(entrant)};

    for (uint32_t i = 0; i < r->contest->count; i++) {
        struct contestant *own = &r->contest->all[i];
        if (!contest_is_made(r->contest, own) && contest_allows(r->contest, i, &r->request)) {
            stay_below_one(r, &lower, own, true, size, low, high);
        }
    }
}

/* Narrows it to where the others' cheapest plans are the same. */
static void stay_the_same(const struct ranging *r, const struct entrant *entrant, uint64_t *low,
                          uint64_t *high)
{
    uint32_t bytes_min = 0, bytes_max = UINT32_MAX;

    others_stay(entrant, &bytes_min, &bytes_max);
    uint64_t first = ((uint64_t)bytes_min + r->unit - 1) / r->unit, last = bytes_max / r->unit;
    *low = *low > first ? *low : first;
    *high = *high < last ? *high : last;
}

/* Narrows it to where who comes of others, and who does not, stays so, as far as that decides. */
static void stay_with_others(struct ranging *r, uint64_t size, uint64_t *low, uint64_t *high)
{
    struct contest *contest = r->contest;
    const struct contestant *winner = &contest->all[r->place];
    struct level own = {.measure = plan_most, .bends = true};

    if (contest->entrant_count == 0) {
        return;
    }
    if (contest->own < contest->count && contest_lay_down(contest, &contest->all[contest->own])) {
        own.of = contest->all[contest->own].plan;
        stay_as_large(r, &contest->all[contest->own], size, low, high);
    }
    for (uint32_t i = 0; i < contest->entrant_count; i++) {
        const struct entrant *entrant = &contest->entrants[i];
        struct level bound = {.measure = bound_least,
                              .of = entrant,
                              .bends = others_bound_bends(contest, entrant, &r->request)};
        struct level others = {.measure = others_least, .of = entrant, .bends = all_bend(entrant)};
        switch (entrant->coming) {
        case COMING_NONE: break;
        case COMING_BOUND: stay_below(r, &own, &bound, false, size, low, high); break;
        case COMING_DEARER:
            stay_the_same(r, entrant, low, high);
            stay_below(r, &own, &others, false, size, low, high);
            break;
        case COMING_COMES:
            stay_the_same(r, entrant, low, high);
            if (entrant->number == winner->number && entrant->variant == winner->variant) {
                stay_cheaper(r, entrant, size, low, high);
            }
            break;
        }
    }
    if (own.of) {
        contest_put_away(contest, &contest->all[contest->own]);
    }
}

/* The range ------------------------------------------------------------------------------------
 */

/* Whether size matters: several compete at this one or at another. */
static bool is_contested(const struct contest *contest)
{
    const struct operation *operation = operation_of(contest->operation);
    const struct candidate *candidate;

    if (operation->span[SPACE_SEND] == SPAN_NONE && operation->span[SPACE_RECEIVE] == SPAN_NONE) {
        return false;
    }
    if (contest->count > 1) {
        return true;
    }
    for (unsigned i = 0; (candidate = candidate_of(contest->operation, i)); i++) {
        if (candidate->variants && candidate->possible(&contest->network)) {
            return true;
        }
    }
    return false;
}

void range_find(struct contest *contest, uint32_t place, const struct plan_request *request,
                struct plan *winner)
{
    bool reduces = operation_of(request->operation)->reduces;
    struct ranging r = {.contest = contest, .request = *request, .winner = winner, .place = place};

    if (!is_contested(contest)) {
        return;
    }
    r.unit = reduces ? reduction_element_bytes(request->type) : 1;
    uint64_t size = request->bytes / r.unit, low = 0, high = 0, most = UINT32_MAX / r.unit;
    if (size > 0) {
        for (low = 1, high = 1; high < size; high = 2 * high + 1) {
            low = high + 1;
        }
    }
    high = high < most ? high : most;
    high = farthest(&r, size, high, same_variants, false);
    low = farthest(&r, size, low, same_variants, false);
    stay_with_others(&r, size, &low, &high);
    push_away(&r, size, &low, &high);
    winner->bytes_min = (uint32_t)(low * r.unit);
    winner->bytes_max = (uint32_t)(high * r.unit + (r.unit - 1));
    winner->type = (uint8_t)(reduces ? request->type : 0);
}
