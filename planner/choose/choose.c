#include "planner/choose/choose.h"

#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/proof/prove.h"
#include "planner/proof/replay.h"
#include "drivers/check.h"
#include "reduction/reduction.h"

/* Circuits of plans that stay laid down; further ones are laid down anew when they are timed. */
enum { KEPT_CIRCUITS_MAX = 1 << 18 };

__extension__ typedef __int128 wide; /* times times segments times segments times sizes */

struct contest *contest_make(const struct network *network, const struct plan_request *request)
{
    struct contest *contest = planner_memory(1, sizeof *contest);

    CHECK(request->root < operation_roots(operation_of(request->operation), network));
    contest->network = *network;
    contest->operation = request->operation;
    contest->root = request->root;
    contest->algorithm = request->algorithm ? strdup(request->algorithm) : NULL;
    return contest;
}

void contest_free(struct contest *contest)
{
    if (!contest) {
        return;
    }
    for (uint32_t i = 0; i < contest->count; i++) {
        plan_free(contest->all[i].plan);
    }
    free(contest->all);
    free(contest->algorithm);
    free(contest);
}

bool contest_is_for(const struct contest *contest, const struct plan_request *request)
{
    const char *one = contest->algorithm, *other = request->algorithm;

    return contest->operation == request->operation && contest->root == request->root &&
           (one && other ? strcmp(one, other) == 0 : one == other);
}

/* Who competes ----------------------------------------------------------------------------------
 */

static bool is_here(const struct contest *contest, unsigned number, unsigned variant)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        if (contest->all[i].number == number && contest->all[i].variant == variant) {
            return true;
        }
    }
    return false;
}

/* In the order of candidates, and of variants of each: the first of equals wins. */
static void add(struct contest *contest, const struct candidate *candidate, unsigned number,
                unsigned variant)
{
    uint32_t at = contest->count++;

    contest->all = planner_grow(contest->all, at, sizeof *contest->all);
    for (; at > 0 &&
           (contest->all[at - 1].number > number ||
            (contest->all[at - 1].number == number && contest->all[at - 1].variant > variant));
         at--) {
        contest->all[at] = contest->all[at - 1];
    }
    contest->all[at] = (struct contestant){
        .candidate = candidate, .number = (uint8_t)number, .variant = (uint16_t)variant};
}

void contest_enter(struct contest *contest, const struct plan_request *request)
{
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(contest->operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, &contest->network, request);
        for (unsigned v = 0; v < variants; v++) {
            if (candidate_is(candidate, &contest->network, v, contest->algorithm) &&
                !is_here(contest, i, v)) {
                add(contest, candidate, i, v);
            }
        }
    }
}

bool contest_allows(const struct contest *contest, uint32_t number,
                    const struct plan_request *request)
{
    const struct contestant *one = &contest->all[number];

    return !one->out &&
           one->variant < candidate_variants(one->candidate, &contest->network, request);
}

/* Lays a contestant's plan down, unless it is there; false when it passes a limit. */
static bool lay_down(struct contest *contest, struct contestant *one)
{
    const struct plan_request request = {
        .operation = contest->operation, .root = contest->root, .variant = one->variant};

    if (one->plan) {
        return true;
    }
    one->plan = one->candidate->plan(&contest->network, &request);
    if (!one->plan->refused) {
        contest->kept += one->plan->circuit_count;
        return true;
    }
    plan_fails(&contest->fault, NULL, UINT32_MAX, "%s", one->plan->refused);
    plan_free(one->plan);
    one->plan = NULL;
    one->out = true;
    return false;
}

/* A plan has been timed: it stays if there is room. */
static void put_away(struct contest *contest, struct contestant *one)
{
    if (contest->kept <= KEPT_CIRCUITS_MAX) {
        return;
    }
    contest->kept -= one->plan->circuit_count;
    plan_free(one->plan);
    one->plan = NULL;
}

bool contest_time(struct contest *contest, uint32_t number, const struct plan_request *request,
                  uint64_t *model_ns)
{
    struct contestant *one = &contest->all[number];

    if (!contest_allows(contest, number, request) || !lay_down(contest, one)) {
        return false;
    }
    *model_ns = plan_time(one->plan, request->bytes, reduction_element_bytes(request->type),
                          request->profile)
                    .model_ns;
    put_away(contest, one);
    return true;
}

/* For which sizes -------------------------------------------------------------------------------
 */

/* The winner and what its range is found for. Sizes are counted in units. */
struct ranging {
    struct contest *contest;
    struct plan_request request;
    const struct plan *winner;
    uint32_t place; /* of the winner among the contestants */
    uint32_t unit;
};

static uint64_t limit_of(const struct ranging *r, const struct plan *plan, uint64_t size,
                         enum replay_side side)
{
    return replay_limit(plan, (uint32_t)(size * r->unit), r->unit, r->request.profile, side);
}

/* A rival against the winner between sizes x and y; times are multiplied by both plans' segments,
 * so that they compare. */
struct lines {
    uint64_t x, y;
    wide chord_x, chord_y; /* what the winner takes at most */
    wide at_x, at_y;       /* what the rival takes at least, */
    wide first, last;      /* and more for one unit more, behind x and before y */
    bool must_exceed;      /* the rival would win if it took the same */
};

/* Whether the rival's lines stand above the chord at a size between, or at, the two. */
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

/* Whether the winner wins against a rival at all sizes from x to y. */
static bool wins_between(const struct ranging *r, const struct contestant *rival, uint64_t x,
                         uint64_t y)
{
    const struct plan *w = r->winner, *c = rival->plan;
    wide scale_w = c->segments, scale_c = w->segments;
    struct lines l = {.x = x, .y = y, .must_exceed = rival < &r->contest->all[r->place]};

    if (x == y) {
        return true;
    }
    l.at_x = limit_of(r, c, x, REPLAY_LEAST) * scale_c;
    l.at_y = limit_of(r, c, y, REPLAY_LEAST) * scale_c;
    l.chord_y = limit_of(r, w, y, REPLAY_MOST) * scale_w;
    if (l.at_x > l.chord_y) { /* less at no size between, for both rise */
        return true;
    }
    l.chord_x = limit_of(r, w, x, REPLAY_MOST) * scale_w;
    if (l.at_x < l.chord_x || l.at_y < l.chord_y) {
        return false;
    }
    l.first = limit_of(r, c, x + 1, REPLAY_LEAST) * scale_c - l.at_x;
    l.last = l.at_y - limit_of(r, c, y - 1, REPLAY_LEAST) * scale_c;
    return stands_above_all_along(&l);
}

/* Between `from` and `far` the size that is farthest away up to which a claim holds; it holds for
 * `from` alone, and for less where it holds for more. */
typedef bool claim(const struct ranging *r, const struct contestant *rival, uint64_t x, uint64_t y);

static uint64_t farthest(const struct ranging *r, const struct contestant *rival, uint64_t from,
                         uint64_t far, claim *holds)
{
    bool up = far > from;
    uint64_t good = from, bad = far;

    if (up ? holds(r, rival, from, far) : holds(r, rival, far, from)) {
        return far;
    }
    while (up ? bad - good > 1 : good - bad > 1) {
        uint64_t middle = good + (bad - good) / 2;
        if (!up) {
            middle = bad + (good - bad) / 2;
        }
        bool held = up ? holds(r, rival, from, middle) : holds(r, rival, middle, from);
        *(held ? &good : &bad) = middle;
    }
    return good;
}

/* Whether the same variants of all candidates are allowed at both sizes. */
static bool same_variants(const struct ranging *r, const struct contestant *rival, uint64_t x,
                          uint64_t y)
{
    const struct network *network = &r->contest->network;
    struct plan_request one = r->request, other = r->request;
    const struct candidate *candidate;

    (void)rival;
    one.bytes = (uint32_t)(x * r->unit);
    other.bytes = (uint32_t)(y * r->unit);
    for (unsigned i = 0; (candidate = candidate_of(one.operation, i)); i++) {
        if (candidate_variants(candidate, network, &one) !=
            candidate_variants(candidate, network, &other)) {
            return false;
        }
    }
    return true;
}

/* Narrows [*low, *high] around `size` to where the winner wins against a rival. */
static void push_away(const struct ranging *r, uint32_t place, uint64_t size, uint64_t *low,
                      uint64_t *high)
{
    struct contestant *rival = &r->contest->all[place];

    if (place == r->place || !contest_allows(r->contest, place, &r->request) ||
        !lay_down(r->contest, rival)) {
        return;
    }
    *high = farthest(r, rival, size, *high, wins_between);
    *low = farthest(r, rival, size, *low, wins_between);
    put_away(r->contest, rival);
}

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

static void find_range(struct contest *contest, uint32_t place, const struct plan_request *request,
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
    high = farthest(&r, NULL, size, high, same_variants);
    low = farthest(&r, NULL, size, low, same_variants);
    for (uint32_t i = 0; i < contest->count; i++) {
        push_away(&r, i, size, &low, &high);
    }
    winner->bytes_min = (uint32_t)(low * r.unit);
    winner->bytes_max = (uint32_t)(high * r.unit + (r.unit - 1));
    winner->type = (uint8_t)(reduces ? request->type : 0);
}

/* The winner --------------------------------------------------------------------------------- */

/* The place of the first of the cheapest; count: there is none. */
static uint32_t find_cheapest(struct contest *contest, const struct plan_request *request)
{
    uint32_t best = contest->count;
    uint64_t best_ns = UINT64_MAX, model_ns;

    for (uint32_t i = 0; i < contest->count; i++) {
        if (contest_time(contest, i, request, &model_ns) && model_ns < best_ns) {
            best = i;
            best_ns = model_ns;
        }
    }
    return best;
}

struct plan *contest_win(struct contest *contest, const struct plan_request *request,
                         struct plan_fault *fault)
{
    struct plan *plan = NULL;

    contest_enter(contest, request);
    while (!plan) {
        uint32_t place = find_cheapest(contest, request);
        if (place == contest->count) {
            *fault = contest->fault;
            return NULL;
        }
        struct contestant *one = &contest->all[place];
        plan = candidate_plan(one->candidate, one->number, one->variant, &contest->network, request,
                              &contest->fault);
        if (plan) {
            find_range(contest, place, request, plan);
        } else {
            one->out = true;
        }
    }
    return plan;
}
