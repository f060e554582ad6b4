#include "host/profile/fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "host/profile/profile_file.h"

enum { XI, TAU, ELEMENT, UNKNOWNS };

/* Below this part of its length a column says nothing that those before it have not said. */
static const long double TOLD_MIN = 1e-8L;

/* The unknowns of a choice, and the sum of squares that they leave. */
struct solution {
    long double unknown[UNKNOWNS];
    long double squares;
    bool free[UNKNOWNS]; /* not 0, or known, from the beginning */
};

static long double coefficient(const struct fit_request *request, unsigned row, unsigned unknown)
{
    const struct fit_row *r = &request->rows[row];

    switch (unknown) {
    case XI: return 1;
    case TAU: return r->hops;
    default:
        return (long double)r->hops - 1 +
               (long double)clock_elements(request->element_bytes, r->bytes);
    }
}

/* What is left of a row's time when what is known is taken away. */
static long double wanted(const struct fit_request *request, unsigned row)
{
    const struct fit_row *r = &request->rows[row];
    long double known = request->tau_ns > 0 ? (long double)request->tau_ns * r->hops : 0;

    return (long double)r->ns - known;
}

static long double product(const long double *a, const long double *b, unsigned count)
{
    long double sum = 0;

    for (unsigned i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void take_away(long double *from, const long double *what, long double times, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        from[i] -= times * what[i];
    }
}

/* Columns of the free unknowns become orthogonal, one after the other, and what they hold of the
 * times is taken out of these: the errors are left. False: a column depends on the others. */
static bool solve(const struct fit_request *request, struct solution *s, long double *memory)
{
    unsigned count = request->count, used = 0, of[UNKNOWNS];
    long double *column[UNKNOWNS], *times = memory + UNKNOWNS * (size_t)count;
    long double right[UNKNOWNS][UNKNOWNS] = {{0}}, part[UNKNOWNS];

    for (unsigned u = 0; u < UNKNOWNS; u++) {
        s->unknown[u] = 0;
        if (s->free[u]) {
            column[used] = memory + used * (size_t)count;
            of[used] = u;
            for (unsigned i = 0; i < count; i++) {
                column[used][i] = coefficient(request, i, u);
            }
            used++;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        times[i] = wanted(request, i);
    }
    for (unsigned j = 0; j < used; j++) {
        long double whole = product(column[j], column[j], count);
        for (unsigned before = 0; before < j; before++) {
            right[before][j] = product(column[before], column[j], count) /
                               product(column[before], column[before], count);
            take_away(column[j], column[before], right[before][j], count);
        }
        long double left = product(column[j], column[j], count);
        if (left <= whole * TOLD_MIN * TOLD_MIN) {
            return false;
        }
        part[j] = product(column[j], times, count) / left;
        take_away(times, column[j], part[j], count);
    }
    for (unsigned j = used; j-- > 0;) {
        for (unsigned behind = j + 1; behind < used; behind++) {
            part[j] -= right[j][behind] * part[behind];
        }
        s->unknown[of[j]] = part[j];
    }
    s->squares = product(times, times, count);
    return true;
}

/* Whether all rows have the same number in a column. */
static bool is_constant(const struct fit_request *request, unsigned unknown)
{
    for (unsigned i = 1; i < request->count; i++) {
        if (coefficient(request, i, unknown) != coefficient(request, 0, unknown)) {
            return false;
        }
    }
    return true;
}

/* Why the unknowns cannot be told from each other. */
static int refuse(const struct fit_request *request, struct message *message)
{
    bool tau = request->tau_ns < 0;

    if (request->count < (tau ? 3u : 2u)) {
        return message_set(message, "it has %u row%s: at least %d are needed", request->count,
                           request->count == 1 ? "" : "s", tau ? 3 : 2);
    }
    if (tau && is_constant(request, TAU)) {
        return message_set(message,
                           "all rows go over %u hop%s: measure another number of hops as well, or "
                           "say the set-up of a hop with --tau-ns",
                           (unsigned)request->rows[0].hops, request->rows[0].hops == 1 ? "" : "s");
    }
    return message_set(message,
                       "its sizes and hops change together: measure several sizes over the same "
                       "number of hops%s",
                       tau ? ", and one size over several" : "");
}

/* Rounds what was found, where it is within what a profile may have. */
static int round_to(const struct solution *s, const struct fit_request *request, struct fit *fit,
                    struct message *message)
{
    long double tau = request->tau_ns < 0 ? s->unknown[TAU] : (long double)request->tau_ns;
    long double element = s->unknown[ELEMENT];

    if (s->unknown[XI] > PROFILE_START_MAX_NS || tau > PROFILE_START_MAX_NS ||
        element > PROFILE_ELEMENT_MAX_NS) {
        return message_set(message,
                           "a start-up of %.0f ns, %.0f ns for each hop and %.0f ns for each "
                           "element of %u bytes are more than a profile may have",
                           (double)s->unknown[XI], (double)tau, (double)element,
                           (unsigned)request->element_bytes);
    }
    if (element < 0.5L) {
        return message_set(
            message, "an element of %u byte%s takes %.3f ns, less than a profile can say: %s",
            (unsigned)request->element_bytes, request->element_bytes == 1 ? "" : "s",
            (double)element,
            element > 0 ? "use larger ones (--element-bytes)" : "times do not grow with sizes");
    }
    fit->xi_ns = (uint32_t)llroundl(s->unknown[XI]);
    fit->tau_ns = (uint32_t)llroundl(tau);
    fit->element_ns = (uint32_t)llroundl(element);
    fit->exact_element_ns = (double)element;
    return 0;
}

static void find_errors(const struct fit_request *request, struct fit *fit)
{
    const struct profile machine = fit_machine(request, fit);
    double squares = 0, worst = -1;

    for (unsigned i = 0; i < request->count; i++) {
        double error = request->rows[i].ns - (double)fit_time_ns(&machine, &request->rows[i]);
        squares += error * error;
        if (fabs(error) > worst) {
            worst = fabs(error);
            fit->worst = i;
        }
    }
    fit->rms_ns = sqrt(squares / request->count);
}

int fit_profile(const struct fit_request *request, struct fit *fit, struct message *message)
{
    bool tau = request->tau_ns < 0;
    struct solution best = {.squares = -1}, full = {.free = {true, tau, true}};
    long double *memory = calloc((UNKNOWNS + 1) * (size_t)request->count + 1, sizeof *memory);

    CHECK(memory);
    *fit = (struct fit){0};
    if (request->count < (tau ? 3u : 2u) || !solve(request, &full, memory)) {
        free(memory);
        return refuse(request, message);
    }
    for (unsigned choice = 0; choice < 1u << UNKNOWNS; choice++) {
        struct solution s = {.free = {choice & 1, tau && (choice >> 1 & 1), choice >> 2 & 1}};
        bool positive = solve(request, &s, memory);
        for (unsigned u = 0; u < UNKNOWNS; u++) {
            positive = positive && s.unknown[u] >= 0;
        }
        if (positive && (best.squares < 0 || s.squares < best.squares)) {
            best = s;
        }
    }
    free(memory);
    fit->held_xi = full.unknown[XI] < 0 && best.unknown[XI] <= 0;
    fit->held_tau = tau && full.unknown[TAU] < 0 && best.unknown[TAU] <= 0;
    if (round_to(&best, request, fit, message) != 0) {
        return -1;
    }
    find_errors(request, fit);
    return 0;
}

uint64_t fit_time_ns(const struct profile *profile, const struct fit_row *row)
{
    return profile->xi_ns + (uint64_t)row->hops * profile->tau_ns +
           clock_transfer(profile, row->hops, row->bytes);
}

struct profile fit_machine(const struct fit_request *request, const struct fit *fit)
{
    return (struct profile){.xi_ns = fit->xi_ns,
                            .tau_ns = fit->tau_ns,
                            .element_ns = fit->element_ns,
                            .element_bytes = request->element_bytes};
}
