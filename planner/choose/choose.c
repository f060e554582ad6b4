#include "planner/choose/choose.h"

#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/proof/digest.h"
#include "planner/proof/prove.h"
#include "drivers/check.h"
#include "reduction/reduction.h"

/* Circuits of plans that stay laid down; further ones are laid down anew when they are timed. */
enum { KEPT_CIRCUITS_MAX = 1 << 20 };

/* On so many nodes plans for every number of ports are asked for. */
enum { EACH_PORT_NODES = 64, PIECES = 32 };

__extension__ typedef __int128 wide; /* times times segments */

struct contest *contest_make(const struct network *network, const struct plan_request *request)
{
    struct contest *contest = planner_memory(1, sizeof *contest);

    CHECK(request->root < operation_roots(operation_of(request->operation), network));
    contest->network = *network;
    contest->operation = request->operation;
    contest->root = request->root;
    contest->ports = (uint8_t)(request->profile ? clock_ports(request->profile) : 1);
    contest->algorithm = request->algorithm ? strdup(request->algorithm) : NULL;
    contest->others = planner_memory(1, sizeof *contest->others);
    contest->makes = contest->maps = true;
    return contest;
}

struct contest *contest_again(struct contest *contest, const struct plan_request *request)
{
    struct contest *again = contest_make(&contest->network, request);
    struct others *fresh = again->others;

    again->others = contest->others;
    contest->others = fresh;
    others_forget_roots(again->others);
    contest_free(contest);
    return again;
}

void contest_free(struct contest *contest)
{
    if (!contest) {
        return;
    }
    for (uint32_t i = 0; i < contest->count; i++) {
        plan_free(contest->all[i].plan);
    }
    others_free(contest->others);
    contest_free(contest->fewer);
    plan_free(contest->own_plan);
    free(contest->entrants);
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

bool contest_prefers(const struct contestant *one, const struct contestant *other)
{
    return one->number != other->number ? one->number < other->number
                                        : one->variant < other->variant;
}

uint32_t contest_place(const struct contest *contest, unsigned number, unsigned variant)
{
    uint32_t place = 0;

    while (place < contest->count &&
           (contest->all[place].number != number || contest->all[place].variant != variant)) {
        place++;
    }
    return place;
}

static void add(struct contest *contest, const struct candidate *candidate, unsigned number,
                unsigned variant)
{
    const struct contestant one = {
        .candidate = candidate, .number = (uint8_t)number, .variant = variant};
    uint32_t at = contest->count++;

    contest->all = planner_grow(contest->all, at, sizeof *contest->all);
    for (; at > 0 && contest_prefers(&one, &contest->all[at - 1]); at--) {
        contest->all[at] = contest->all[at - 1];
    }
    contest->all[at] = one;
}

/* Whether a plan's words, and so its variant, have been asked for. */
static bool is_named(const struct contest *contest, const struct candidate *candidate)
{
    return contest->algorithm && strcmp(contest->algorithm, candidate->name) != 0;
}

bool contest_is_made(const struct contest *contest, const struct contestant *one)
{
    return one->candidate->made_of && !is_named(contest, one->candidate);
}

static void add_own(struct contest *contest, const struct plan_request *request)
{
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(contest->operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, &contest->network, request);
        for (unsigned v = 0; v < variants && !(candidate->made_of && !is_named(contest, candidate));
             v++) {
            if (candidate_is(candidate, &contest->network, v, contest->algorithm) &&
                contest_place(contest, i, v) == contest->count) {
                add(contest, candidate, i, v);
            }
        }
    }
}

/* Whether a contestant that is made of others has come for the request's size. */
static bool has_come(const struct contest *contest, const struct contestant *one,
                     const struct plan_request *request)
{
    CHECK(contest->has_entered && contest->entered_bytes == request->bytes);
    for (uint32_t i = 0; i < contest->entrant_count; i++) {
        const struct entrant *entrant = &contest->entrants[i];
        if (entrant->number == one->number && entrant->variant == one->variant &&
            entrant->coming == COMING_COMES) {
            return true;
        }
    }
    return false;
}

bool contest_allows(struct contest *contest, uint32_t number, const struct plan_request *request)
{
    const struct contestant *one = &contest->all[number];

    return !one->out &&
           one->variant < candidate_variants(one->candidate, &contest->network, request) &&
           (!contest_is_made(contest, one) || has_come(contest, one, request));
}

bool contest_is_large(const struct contest *contest, const struct contestant *one,
                      const struct plan_request *request)
{
    uint32_t scratch = one->scratch;
    const struct plan outline = {.network = contest->network,
                                 .operation = contest->operation,
                                 .root = contest->root,
                                 .invariant = true,
                                 .segments = one->segments,
                                 .scratch = &scratch};

    return one->segments && !contest->algorithm &&
           plan_is_large(&outline, request->bytes, reduction_element_bytes(request->type));
}

bool contest_lay_down(struct contest *contest, struct contestant *one)
{
    const struct plan_request request = {.operation = contest->operation,
                                         .root = contest->root,
                                         .variant = one->variant,
                                         .ports = contest->ports};

    if (one->plan) {
        return true;
    }
    one->plan = one->candidate->plan(&contest->network, &request);
    if (!one->plan->refused) {
        contest->kept += one->plan->circuit_count;
        one->segments = one->plan->segments;
        one->scratch = plan_scratch_most(one->plan);
        one->plan->node_ports = contest->ports == PORTS_ALL && !one->counts ? PORTS_ALL : 0;
        return true;
    }
    one->refused = one->plan->refused;
    plan_free(one->plan);
    one->plan = NULL;
    one->out = true;
    return false;
}

void contest_put_away(struct contest *contest, struct contestant *one)
{
    if (contest->kept <= KEPT_CIRCUITS_MAX) {
        return;
    }
    contest->kept -= one->plan->circuit_count;
    plan_free(one->plan);
    one->plan = NULL;
}

/* What its plan takes; it stays laid down. */
static bool time_of(struct contest *contest, struct contestant *one,
                    const struct plan_request *request, uint64_t *model_ns)
{
    if (!contest_allows(contest, (uint32_t)(one - contest->all), request) ||
        !contest_lay_down(contest, one)) {
        return false;
    }
    if (!contest->takes_large && contest_is_large(contest, one, request)) {
        contest_put_away(contest, one);
        return false;
    }
    *model_ns = plan_model_ns(one->plan, request->bytes, reduction_element_bytes(request->type),
                              request->profile);
    return true;
}

bool contest_time(struct contest *contest, uint32_t number, const struct plan_request *request,
                  uint64_t *model_ns)
{
    struct contestant *one = &contest->all[number];

    if (!time_of(contest, one, request, model_ns)) {
        return false;
    }
    contest_put_away(contest, one);
    return true;
}

/* The winner --------------------------------------------------------------------------------- */

/* A contestant and what it takes at least, in ns rounded down. */
struct runner {
    uint64_t least_ns;
    uint32_t place;
};

static int by_least(const void *one, const void *other)
{
    const struct runner *a = one, *b = other;

    if (a->least_ns != b->least_ns) {
        return a->least_ns < b->least_ns ? -1 : 1;
    }
    return a->place < b->place ? -1 : a->place > b->place;
}

uint32_t contest_find(struct contest *contest, const struct plan_request *request,
                      uint64_t below_ns, uint64_t *model_ns)
{
    struct runner *runners = planner_memory(contest->count, sizeof *runners);
    uint32_t best = contest->count, count = 0;

    *model_ns = below_ns;
    for (uint32_t i = 0; i < contest->count; i++) {
        const struct contestant *one = &contest->all[i];
        if (!contest_is_made(contest, one)) {
            uint64_t least_ns =
                candidate_least_ns(one->candidate, one->variant, &contest->network, request);
            runners[count++] = (struct runner){least_ns, i};
        }
    }
    qsort(runners, count, sizeof *runners, by_least);
    for (uint32_t i = 0; i < count && runners[i].least_ns <= *model_ns; i++) {
        uint32_t place = runners[i].place, dearer = place;
        uint64_t ns;
        if (!time_of(contest, &contest->all[place], request, &ns)) {
            continue;
        }
        if (ns < *model_ns || (ns == *model_ns && place < best && best < contest->count)) {
            dearer = best;
            best = place;
            *model_ns = ns;
        }
        if (dearer < contest->count) {
            contest_put_away(contest, &contest->all[dearer]);
        }
    }
    free(runners);
    return best;
}

/* The winner's plan, proved: one that would not stay laid down, or a new one. NULL: it is out, or
 * takes more than was thought, for its ports count. */
static struct plan *winner_plan(struct contest *contest, struct contestant *one,
                                const struct plan_request *request)
{
    struct plan *laid = NULL, *plan;

    if (contest->kept > KEPT_CIRCUITS_MAX) {
        laid = one->plan;
        contest->kept -= laid->circuit_count;
        one->plan = NULL;
    }
    plan = candidate_prove(one->candidate, one->number, one->variant, &contest->network, request,
                           laid, &contest->fault);
    if (plan && contest->ports == PORTS_ALL && plan->node_ports != PORTS_ALL && !one->counts) {
        plan_free(plan);
        one->counts = true;
        if (one->plan) {
            one->plan->node_ports = 0;
        }
        return NULL;
    }
    one->out = !plan;
    return plan;
}

/* The cheapest own plan; where others may come it is proved first, for against it they are held. */
static void find_own(struct contest *contest, const struct plan_request *request)
{
    contest->takes_large = false;
    for (;;) {
        contest->own = contest_find(contest, request, UINT64_MAX, &contest->own_ns);
        if (contest->own == contest->count && !contest->takes_large) {
            contest->takes_large = true;
            continue;
        }
        if (contest->own == contest->count || !contest->others) {
            return;
        }
        struct contestant *one = &contest->all[contest->own];
        if (one->proved) {
            return;
        }
        contest->own_plan = winner_plan(contest, one, request);
        one->proved = contest->own_plan;
        if (one->proved) {
            return;
        }
    }
}

void contest_enter(struct contest *contest, const struct plan_request *request)
{
    if (contest->has_entered && contest->entered_bytes == request->bytes &&
        contest->entered_type == request->type) {
        return;
    }
    plan_free(contest->own_plan);
    contest->own_plan = NULL;
    contest->entrant_count = 0;
    contest->has_entered = true;
    contest->entered_bytes = request->bytes;
    contest->entered_type = request->type;
    add_own(contest, request);
    find_own(contest, request);
    if (!contest->others) {
        return;
    }
    const struct contestant own = contest->own < contest->count ? contest->all[contest->own]
                                                                : (struct contestant){.number = 0};
    bool has_own = contest->own < contest->count;
    others_enter(contest, request);
    for (uint32_t i = 0; i < contest->entrant_count; i++) {
        const struct entrant *entrant = &contest->entrants[i];
        if (entrant->coming == COMING_COMES &&
            contest_place(contest, entrant->number, entrant->variant) == contest->count) {
            add(contest, entrant->candidate, entrant->number, entrant->variant);
        }
    }
    contest->own = has_own ? contest_place(contest, own.number, own.variant) : contest->count;
}

/* The first of the cheapest of all; count: there is none. */
static uint32_t find_winner(struct contest *contest, const struct plan_request *request)
{
    uint32_t best = contest->own;
    uint64_t best_ns = contest->own_ns, model_ns;

    for (uint32_t i = 0; i < contest->entrant_count; i++) {
        const struct entrant *entrant = &contest->entrants[i];
        if (entrant->coming != COMING_COMES) {
            continue;
        }
        uint32_t place = contest_place(contest, entrant->number, entrant->variant);
        if (contest_time(contest, place, request, &model_ns) && model_ns < best_ns) {
            best = place;
            best_ns = model_ns;
        }
    }
    return best;
}

/* What those want that have not come, and which limits those have met that have. */
static void name_limits(const struct contest *contest, const struct plan_request *request,
                        struct plan_fault *fault)
{
    const char *before =
        candidates_name_wishes(&contest->network, request, fault) ? "; by " : " by ";

    for (uint32_t i = 0; i < contest->count; i++) {
        const struct contestant *one = &contest->all[i], *last = i ? one - 1 : NULL;
        if (one->refused &&
            !(last && last->number == one->number && last->refused == one->refused)) {
            plan_fault_add(fault, before, one->candidate->name, ": ");
            plan_fault_add(fault, "", one->refused, "");
            before = "; by ";
        }
    }
    if (contest->fault.words[0]) {
        plan_fault_add(fault, "; ", contest->fault.words, "");
    }
}

/* Nobody wins: what is named may be made of others, but not of their cheapest plans. Then it is the
 * first that is possible, for this size. */
static struct plan *find_first(struct contest *contest, const struct plan_request *request,
                               struct plan_fault *fault)
{
    struct plan *plan =
        contest->algorithm ? candidate_first(&contest->network, request, fault) : NULL;

    if (!plan) {
        name_limits(contest, request, fault);
        return NULL;
    }
    plan->bytes_min = plan->bytes_max = request->bytes;
    plan->type = (uint8_t)(operation_of(request->operation)->reduces ? request->type : 0);
    return plan;
}

static struct plan *win(struct contest *contest, const struct plan_request *request,
                        struct plan_fault *fault)
{
    struct plan *plan = NULL;

    while (!plan) {
        contest_enter(contest, request);
        uint32_t place = find_winner(contest, request);
        if (place == contest->count) {
            return find_first(contest, request, fault);
        }
        struct contestant *one = &contest->all[place];
        if (place == contest->own && contest->own_plan) {
            plan = contest->own_plan;
            plan->choice = request->choice;
            contest->own_plan = NULL;
        } else if (contest_lay_down(contest, one)) {
            plan = winner_plan(contest, one, request);
        }
        if (plan) {
            range_find(contest, place, request, plan);
        } else {
            contest->has_entered = false;
        }
    }
    return plan;
}

/* Whether a plan takes no more at size `to` than another at `from`, a smaller one: so it does at no
 * size between; if `less`, it takes less. */
static bool stays_below(const struct plan *plan, const struct plan *other,
                        const struct plan_request *request, uint32_t from, uint32_t to, bool less)
{
    uint32_t element_bytes = reduction_element_bytes(request->type);
    wide most = replay_limit(plan, to, element_bytes, request->profile, REPLAY_MOST);
    wide least = replay_limit(other, from, element_bytes, request->profile, REPLAY_LEAST);

    most *= other->segments;
    least *= plan->segments;
    return less ? most < least : most <= least;
}

/* Narrows a plan's sizes to those, around the request's, at which the other is no cheaper. They are
 * looked at in pieces. */
static void stay_below(struct plan *plan, const struct plan *other,
                       const struct plan_request *request, bool less)
{
    uint32_t element_bytes = reduction_element_bytes(request->type);
    uint32_t unit = element_bytes ? element_bytes : 1;
    uint32_t low = request->bytes / unit, high = low;
    uint32_t first = (plan->bytes_min + unit - 1) / unit, last = plan->bytes_max / unit;
    uint32_t piece = (last - first) / PIECES + 1;
    bool goes_on = true;

    while (goes_on && high < last) {
        uint32_t to = last - high > piece ? high + piece : last;
        goes_on = stays_below(plan, other, request, high * unit, to * unit, less);
        high = goes_on ? to : high;
    }
    goes_on = true;
    while (goes_on && low > first) {
        uint32_t from = low - first > piece ? low - piece : first;
        goes_on = stays_below(plan, other, request, from * unit, low * unit, less);
        low = goes_on ? from : low;
    }
    plan->bytes_min = low > first ? low * unit : plan->bytes_min;
    plan->bytes_max = high < last ? high * unit + (unit - 1) : plan->bytes_max;
}

/* Whether two plans differ at most in the ports that they count. */
static bool have_same_circuits(const struct plan *plan, const struct plan *other)
{
    struct plan alike = *other;

    alike.node_ports = plan->node_ports;
    return plan_digest_of(&alike) == plan_digest_of(plan);
}

/* What is made of others is made of what is cheapest for nodes with so many ports, searches find
 * what they find, and a step of several ports waits for the last of them: so a plan may be dearer
 * than one for fewer ports. An own plan for any ports competes in both, so it is looked at already;
 * else the sizes are looked at. */
static struct plan *cheaper_of(const struct plan_request *request, struct plan *plan,
                               struct plan *fewer)
{
    uint32_t element_bytes = reduction_element_bytes(request->type);

    if (!plan || !fewer) {
        return plan ? plan : fewer;
    }
    const struct candidate *candidate = candidate_of(fewer->operation, fewer->algorithm);
    bool open = candidate->made_of || candidate->wants_ports;
    bool less = plan_model_ns(fewer, request->bytes, element_bytes, request->profile) <
                plan_model_ns(plan, request->bytes, element_bytes, request->profile);
    struct plan *winner = less ? fewer : plan, *other = less ? plan : fewer;
    winner->bytes_min = other->bytes_min > winner->bytes_min ? other->bytes_min : winner->bytes_min;
    winner->bytes_max = other->bytes_max < winner->bytes_max ? other->bytes_max : winner->bytes_max;
    if (less || (open && !have_same_circuits(plan, fewer))) {
        stay_below(winner, other, request, less);
        if (operation_of(winner->operation)->reduces) {
            winner->type = (uint8_t)request->type;
        }
    }
    plan_free(other);
    return winner;
}

/* The next number of ports below that a plan may be for: all, then as many as a node has links, and
 * so on; on large networks, where plans take long, one. */
static uint8_t fewer_ports(const struct contest *contest)
{
    unsigned links = contest->network.ports, ports = contest->ports;

    if (contest->network.nodes > EACH_PORT_NODES || links < 2) {
        return 1;
    }
    return (uint8_t)(ports > links ? links : ports - 1);
}

struct plan *contest_win(struct contest *contest, const struct plan_request *request,
                         struct plan_fault *fault)
{
    struct plan *plan = win(contest, request, fault);

    if (contest->ports == 1 || !contest->makes || !contest->maps || contest->algorithm) {
        return plan;
    }
    struct profile profile = *request->profile;
    struct plan_request with_fewer = *request;
    struct plan_fault none;
    profile.ports = fewer_ports(contest);
    with_fewer.profile = &profile;
    if (!contest->fewer) {
        contest->fewer = contest_make(&contest->network, &with_fewer);
    }
    return cheaper_of(request, plan, contest_win(contest->fewer, &with_fewer, &none));
}
