/*
 * others.c - who competes with a plan that is made of others': of another operation's that contains
 * this one, of others that do the same one after the other, of another network's.
 *
 * That no operation is dearer than what it can be made of is the promise. So a plan is made of the
 * others' cheapest ones where those are cheaper than the cheapest own plan, and only there; where
 * nothing can be less for the others than an own plan takes, they are not even asked.
 *
 *     own plan     80 us   reduce, by a tree
 *     allreduce    60 us   bound: less than 80, so it is asked
 *                  75 us   its cheapest: the reduce that is cut out of it comes in
 *
 * Of another network, and of an operation whose result depends on the order of ranks, so that it is
 * not mapped itself, those plans count as well that are made of others by the other way.
 *
 * What an operation without plans made of others takes for a size is worked out once for each
 * network, with the sizes for which that is so.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/choose/choose.h"
#include "drivers/check.h"
#include "reduction/reduction.h"

enum { ANSWERS_MAX = 1024 };

static void other_free(struct other *other)
{
    contest_free(other->contest);
    free(other->answers);
    free(other);
}

void others_free(struct others *others)
{
    for (uint32_t i = 0; others && i < others->count; i++) {
        other_free(others->all[i]);
    }
    if (others) {
        free(others->all);
    }
    free(others);
}

void others_forget_roots(struct others *others)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < others->count; i++) {
        struct other *other = others->all[i];
        if (other->contest->root) {
            other_free(other);
        } else {
            others->all[kept++] = other;
        }
    }
    others->count = kept;
}

static bool same_network(const struct network *one, const struct network *other)
{
    bool same = one->kind == other->kind && one->dims == other->dims;

    for (unsigned i = 0; same && i < one->dims; i++) {
        same = one->dim[i].size == other->dim[i].size;
    }
    return same;
}

/* A contest for others, which are made of none themselves, but for one level of the other kind. */
static struct contest *contest_of(const struct contest *contest, const struct made_of *made_of)
{
    struct contest *other = contest_make(&made_of->network, &made_of->request);

    other->ports = contest->ports;
    other->makes = contest->makes && made_of->of == SOURCES_THERE;
    other->maps = contest->maps && made_of->of == SOURCES_MAPPED;
    if (!other->makes && !other->maps) {
        others_free(other->others);
        other->others = NULL;
    }
    return other;
}

/* What is known of another operation's, or network's, plans. */
static struct other *other_of(const struct contest *contest, const struct made_of *made_of)
{
    struct others *others = contest->others;

    for (uint32_t i = 0; i < others->count; i++) {
        struct other *other = others->all[i];
        if (other->of == made_of->of && other->contest->operation == made_of->request.operation &&
            other->contest->root == made_of->request.root &&
            same_network(&other->contest->network, &made_of->network)) {
            return other;
        }
    }
    struct other *other = planner_memory(1, sizeof *other);
    *other = (struct other){.of = made_of->of, .contest = contest_of(contest, made_of)};
    others->all = planner_grow(others->all, others->count, sizeof(struct other *));
    others->all[others->count++] = other;
    return other;
}

static bool answers(const struct answer *answer, const struct plan_request *request)
{
    return request->bytes >= answer->bytes_min && request->bytes <= answer->bytes_max &&
           (!answer->type || answer->type == request->type);
}

/* The other's cheapest plan. */
static struct answer ask(struct other *other, const struct plan_request *request)
{
    struct plan_fault fault;

    for (uint32_t i = 0; i < other->count; i++) {
        if (answers(&other->answers[i], request)) {
            return other->answers[i];
        }
    }
    struct plan *plan = contest_win(other->contest, request, &fault);
    struct answer answer = {.bytes_max = UINT32_MAX};
    if (plan) {
        answer = (struct answer){.bytes_min = plan->bytes_min,
                                 .bytes_max = plan->bytes_max,
                                 .type = plan->type,
                                 .found = true,
                                 .number = plan->algorithm,
                                 .variant = plan->variant,
                                 .place = sources_place(plan, other->of)};
    }
    plan_free(plan);
    other->count = other->count == ANSWERS_MAX ? 0 : other->count;
    other->answers = planner_grow(other->answers, other->count, sizeof answer);
    other->answers[other->count++] = answer;
    return answer;
}

/* Sizes ---------------------------------------------------------------------------------------- */

static uint64_t unit_of(const struct made_of *of)
{
    uint32_t bytes = reduction_element_bytes(of->request.type);

    return bytes ? bytes : 1;
}

/* The other's request for a size, in whole elements, which may mean nothing to the other; false: it
 * is too large. */
static bool ask_for(const struct made_of *of, const struct plan_request *request,
                    struct plan_request *other)
{
    uint64_t unit = unit_of(of), bytes = (uint64_t)request->bytes * of->times;

    bytes = (bytes + of->parts - 1) / of->parts;
    bytes = (bytes + unit - 1) / unit * unit;
    *other = of->request;
    other->type = operation_of(of->request.operation)->reduces ? of->request.type : 0;
    other->bytes = bytes <= UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    return bytes <= UINT32_MAX;
}

void others_stay(const struct entrant *entrant, uint32_t *bytes_min, uint32_t *bytes_max)
{
    for (unsigned i = 0; i < entrant->count; i++) {
        const struct made_of *of = &entrant->of[i];
        const struct answer *answer = &entrant->answers[i];
        uint64_t unit = unit_of(of), least = 0, most = UINT32_MAX;
        if (of->times) {
            most = answer->bytes_max / unit * unit * of->parts / of->times;
        }
        if (of->times && answer->bytes_min) { /* more than what rounds up to the one below */
            least = ((uint64_t)answer->bytes_min - 1) / unit * unit * of->parts / of->times + 1;
        }
        *bytes_min = least > *bytes_min ? (uint32_t)least : *bytes_min;
        *bytes_max = most < *bytes_max ? (uint32_t)most : *bytes_max;
    }
}

/* Times ---------------------------------------------------------------------------------------- */

static uint64_t bound_of(const struct network *network, const struct plan_request *request)
{
    const struct plan any = {
        .network = *network, .operation = request->operation, .root = request->root, .segments = 1};

    return plan_bound_full(&any, request->bytes, request->profile).ns;
}

uint64_t others_bound(const struct contest *contest, const struct entrant *entrant,
                      const struct plan_request *request)
{
    uint64_t own_ns = bound_of(&contest->network, request), ns = 0;

    for (unsigned i = 0; i < entrant->count; i++) {
        struct plan_request other;
        ask_for(&entrant->of[i], request, &other);
        ns += bound_of(&entrant->of[i].network, &other);
    }
    return own_ns > ns ? own_ns : ns;
}

/* Of one port all arguments are straight lines but for that of an allreduce, which rounds. */
bool others_bound_bends(const struct contest *contest, const struct entrant *entrant,
                        const struct plan_request *request)
{
    bool bends = clock_ports(request->profile) == 1 && contest->operation != ECUBE_ALLREDUCE &&
                 clock_element_bytes(request->profile) == 1;

    for (unsigned i = 0; i < entrant->count; i++) {
        bends = bends && entrant->of[i].request.operation != ECUBE_ALLREDUCE &&
                entrant->of[i].parts == 1;
    }
    return bends;
}

static struct contestant *winner_of(const struct entrant *entrant, unsigned i)
{
    struct contest *contest = entrant->by[i]->contest;
    const struct answer *answer = &entrant->answers[i];

    return &contest->all[contest_place(contest, answer->number, answer->variant)];
}

static uint64_t time_of(const struct entrant *entrant, unsigned i,
                        const struct plan_request *request)
{
    struct contest *contest = entrant->by[i]->contest;
    struct contestant *winner = winner_of(entrant, i);

    CHECK(contest_lay_down(contest, winner)); /* it has been before */
    uint64_t ns = plan_model_ns(winner->plan, request->bytes,
                                reduction_element_bytes(request->type), request->profile);
    contest_put_away(contest, winner);
    return ns;
}

struct candidate_least others_limit(const struct entrant *entrant,
                                    const struct plan_request *request, enum replay_side side)
{
    struct candidate_least all = {0, 1};

    for (unsigned i = 0; i < entrant->count; i++) {
        struct contestant *winner = winner_of(entrant, i);
        struct plan_request other;
        ask_for(&entrant->of[i], request, &other);
        CHECK(contest_lay_down(entrant->by[i]->contest, winner)); /* it has been before */
        uint32_t segments = winner->plan->segments * clock_element_bytes(other.profile);
        uint64_t limit = replay_limit(winner->plan, other.bytes,
                                      reduction_element_bytes(other.type), other.profile, side);
        contest_put_away(entrant->by[i]->contest, winner);
        if (limit == UINT64_MAX) { /* more than can be counted */
            return (struct candidate_least){UINT64_MAX, 1};
        }
        all.ns = all.ns * segments + limit * all.segments;
        all.segments *= segments;
    }
    return all;
}

/* Who comes ------------------------------------------------------------------------------------ */

/* Asks the others one after the other, as long as they take less than the own plan. */
static enum coming find_coming(const struct contest *contest, struct entrant *entrant,
                               const struct plan_request *request)
{
    unsigned variant = 0;

    entrant->others_ns = others_bound(contest, entrant, request);
    if (entrant->others_ns >= contest->own_ns) {
        return COMING_BOUND;
    }
    entrant->others_ns = 0;
    for (unsigned i = 0; i < entrant->count; i++) {
        struct plan_request other;
        ask_for(&entrant->of[i], request, &other);
        entrant->by[i] = other_of(contest, &entrant->of[i]);
        entrant->answers[i] = ask(entrant->by[i], &other);
        if (!entrant->answers[i].found) {
            return COMING_NONE;
        }
        entrant->others_ns += time_of(entrant, i, &other);
        variant =
            variant * sources_count(other.operation, &entrant->of[i].network, entrant->of[i].of) +
            entrant->of[i].first + entrant->answers[i].place;
    }
    entrant->variant = variant;
    return entrant->others_ns < contest->own_ns ? COMING_COMES : COMING_DEARER;
}

/* In how many ways a candidate can be made of others, of which each is worth a look. */
static unsigned ways_of(const struct contest *contest, const struct candidate *candidate)
{
    if (!contest->others || !candidate->made_of || !candidate->possible(&contest->network)) {
        return 0;
    }
    if (candidate->networks) {
        return contest->maps ? candidate->networks(&contest->network) : 0;
    }
    return contest->makes;
}

/* Of how many others it can be made in one of these ways for the size; 0: not. */
static unsigned find_others(const struct contest *contest, const struct candidate *candidate,
                            unsigned way, const struct plan_request *request,
                            struct made_of of[MADE_OF_MAX])
{
    struct plan_request one = *request, other;
    bool can = true;

    one.variant = way;
    unsigned count = candidate->made_of(&contest->network, &one, of);
    for (unsigned i = 0; i < count; i++) {
        can = can && ask_for(&of[i], request, &other);
    }
    return can ? count : 0;
}

unsigned others_can(const struct contest *contest, const struct candidate *candidate,
                    const struct plan_request *request)
{
    struct made_of of[MADE_OF_MAX];
    unsigned ways = ways_of(contest, candidate), can = 0;

    for (unsigned way = 0; way < ways; way++) {
        can += find_others(contest, candidate, way, request, of) > 0;
    }
    return can;
}

void others_enter(struct contest *contest, const struct plan_request *request)
{
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(contest->operation, i)); i++) {
        bool is_asked = !contest->algorithm || strcmp(contest->algorithm, candidate->name) == 0;
        unsigned ways = is_asked ? ways_of(contest, candidate) : 0;
        for (unsigned way = 0; way < ways; way++) {
            struct entrant entrant = {.candidate = candidate, .number = (uint8_t)i};
            entrant.count = find_others(contest, candidate, way, request, entrant.of);
            entrant.coming = entrant.count ? find_coming(contest, &entrant, request) : COMING_NONE;
            contest->entrants =
                planner_grow(contest->entrants, contest->entrant_count, sizeof entrant);
            contest->entrants[contest->entrant_count++] = entrant;
        }
    }
}
