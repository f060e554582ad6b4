/*
 * delta.c - what the complete exchanges took on an Intel Touchstone Delta, by tables 2 to 6 of the
 * paper, and its formula for them.
 *
 *     printed_s('PEX', 'mesh:4x4', 256)    seconds in the table; -1: it has no such mesh or size
 *     formula_s('PEX', 'mesh:4x4', 256)    sum over steps of alpha + L max(beta, f(i) beta_sat), f
 *                                          counted, with one fit of the constants for all tables
 *     best_ratio(0)                        beta / beta_sat with which the formula comes nearest to
 *                                          table 2, f counted; best_ratio(1): f by ceil, as printed
 *
 * A fit makes the sum of the squares of the relative errors least: alpha and beta_sat by normal
 * equations, their ratio by trying.
 *
 * Source   Thakur, Choudhary & Fox, "Complete exchange on a wormhole routed mesh" (1993), 2, 4
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers/functions.h"

enum { SIZES = 5, STEPS_MAX = 512, RATIO_FIRST = 10, RATIO_LAST = 60 };

static const double bytes_of[SIZES] = {256, 1024, 4096, 8192, 16384};

static const struct column {
    const char *algorithm, *mesh;
    double seconds[SIZES];
} columns[] = {
    {"PEX", "mesh:4x4", {0.004, 0.008, 0.023, 0.034, 0.064}},
    {"PEX", "mesh:8x8", {0.022, 0.064, 0.114, 0.228, 0.441}},
    {"PEX", "mesh:16x8", {0.045, 0.120, 0.355, 0.692, 1.413}},
    {"PEX", "mesh:16x16", {0.094, 0.290, 0.999, 2.068, 4.145}},
    {"PEX", "mesh:16x32", {0.203, 0.860, 3.218, 6.794, 13.61}},
    {"PEX-GEN", "mesh:4x5", {0.008, 0.017, 0.037, 0.073, 0.138}},
    {"PEX-GEN", "mesh:6x8", {0.019, 0.038, 0.091, 0.174, 0.333}},
    {"PEX-GEN", "mesh:16x9", {0.085, 0.191, 0.576, 1.188, 2.403}},
    {"PEX-GEN", "mesh:16x14", {0.092, 0.270, 0.977, 2.007, 4.056}},
    {"PEX-GEN", "mesh:16x30", {0.211, 0.899, 3.588, 7.616, 15.82}},
    {"PEX-GEN-SHIFT", "mesh:4x5", {0.008, 0.017, 0.036, 0.071, 0.129}},
    {"PEX-GEN-SHIFT", "mesh:6x8", {0.019, 0.038, 0.091, 0.170, 0.333}},
    {"PEX-GEN-SHIFT", "mesh:16x9", {0.085, 0.188, 0.543, 1.111, 2.242}},
    {"PEX-GEN-SHIFT", "mesh:16x14", {0.092, 0.263, 0.933, 1.948, 3.844}},
    {"PEX-GEN-SHIFT", "mesh:16x30", {0.211, 0.894, 3.526, 7.515, 15.74}},
    {"GEN", "mesh:4x4", {0.004, 0.008, 0.018, 0.037, 0.069}},
    {"GEN", "mesh:8x8", {0.016, 0.042, 0.145, 0.290, 0.576}},
    {"GEN", "mesh:16x8", {0.042, 0.123, 0.461, 0.933, 1.947}},
    {"GEN", "mesh:16x16", {0.089, 0.346, 1.220, 2.511, 5.052}},
    {"GEN", "mesh:16x32", {0.283, 1.217, 3.944, 8.007, 16.15}},
    {"GEN", "mesh:4x5", {0.004, 0.009, 0.025, 0.052, 0.098}},
    {"GEN", "mesh:6x8", {0.015, 0.027, 0.083, 0.186, 0.369}},
    {"GEN", "mesh:16x9", {0.046, 0.146, 0.527, 1.071, 2.182}},
    {"GEN", "mesh:16x14", {0.074, 0.285, 0.998, 2.011, 4.005}},
    {"GEN", "mesh:16x30", {0.246, 1.069, 3.706, 7.752, 15.94}},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], PEX_COLUMNS = 5 };

/* How often each f comes in the steps of a column; one of it less than 64. */
struct steps {
    double steps, with[64];
};

static double value_of(const char *name, const char *algorithm, const char *mesh, double step)
{
    struct formula_value arguments[] = {{.text = algorithm}, {.text = mesh}, {.number = step}};
    const struct formula_function *function = formula_function(name);

    return function->call(arguments, 3);
}

/* 2^ceil(lg max(i mod c, i div c)), as printed. */
static double by_ceil(const char *mesh, unsigned i)
{
    unsigned rows, c;

    if (sscanf(mesh, "mesh:%ux%u", &rows, &c) != 2) {
        papers_refuse("this is no mesh of two sides", mesh);
    }
    return exp2(ceil(log2(i % c > i / c ? i % c : i / c)));
}

static struct steps count_steps(const struct column *column, bool ceiled)
{
    struct formula_value mesh = {.text = column->mesh};
    unsigned nodes = papers_network(&mesh)->nodes, end = nodes;
    struct steps counted = {0};

    while (strcmp(column->algorithm, "GEN") != 0 && (end & (end - 1)) != 0) {
        end++;
    }
    for (unsigned i = 1; i < end && i < STEPS_MAX; i++) {
        double f = ceiled ? by_ceil(column->mesh, i)
                          : value_of("contention", column->algorithm, column->mesh, i);
        counted.with[(unsigned)f]++;
        counted.steps++;
    }
    return counted;
}

/* The sum over the steps of max(ratio, f). */
static double loads(const struct steps *counted, double ratio)
{
    double sum = 0;

    for (unsigned f = 0; f < 64; f++) {
        sum += counted->with[f] * fmax(ratio, f);
    }
    return sum;
}

struct fit {
    double alpha, beta_sat, ratio, error;
};

/* The best alpha and beta_sat for a ratio. */
static struct fit fit_with(const struct steps *counted, unsigned count, double ratio)
{
    double aa = 0, ab = 0, bb = 0, at = 0, bt = 0;
    struct fit fit = {.ratio = ratio};

    for (unsigned c = 0; c < count; c++) {
        for (unsigned s = 0; s < SIZES; s++) {
            double t = columns[c].seconds[s];
            double a = counted[c].steps / t, b = bytes_of[s] * loads(&counted[c], ratio) / t;
            aa += a * a;
            ab += a * b;
            bb += b * b;
            at += a;
            bt += b;
        }
    }
    fit.alpha = (at * bb - bt * ab) / (aa * bb - ab * ab);
    fit.beta_sat = (aa * bt - ab * at) / (aa * bb - ab * ab);
    for (unsigned c = 0; c < count; c++) {
        for (unsigned s = 0; s < SIZES; s++) {
            double t = fit.alpha * counted[c].steps +
                       fit.beta_sat * bytes_of[s] * loads(&counted[c], ratio);
            fit.error += pow(t / columns[c].seconds[s] - 1, 2);
        }
    }
    return fit;
}

static struct fit best_fit(unsigned count, bool ceiled)
{
    struct steps counted[COLUMNS];
    struct fit best = {.error = INFINITY};

    for (unsigned c = 0; c < count; c++) {
        counted[c] = count_steps(&columns[c], ceiled);
    }
    for (unsigned tenths = RATIO_FIRST; tenths <= RATIO_LAST; tenths++) {
        struct fit fit = fit_with(counted, count, tenths / 10.0);
        best = fit.error < best.error ? fit : best;
    }
    return best;
}

static const struct column *column_of(const struct formula_value *a)
{
    for (unsigned c = 0; a[0].text && a[1].text && c < COLUMNS; c++) {
        if (strcmp(columns[c].algorithm, a[0].text) == 0 &&
            strcmp(columns[c].mesh, a[1].text) == 0) {
            return &columns[c];
        }
    }
    return NULL;
}

static double call_printed(const struct formula_value *a, unsigned count)
{
    const struct column *column = column_of(a);

    (void)count;
    for (unsigned s = 0; column && s < SIZES; s++) {
        if (bytes_of[s] == a[2].number) {
            return column->seconds[s];
        }
    }
    return -1;
}

static double call_formula(const struct formula_value *a, unsigned count)
{
    static struct fit fit;
    const struct column *column = column_of(a);

    (void)count;
    if (!column) {
        return -1;
    }
    if (fit.ratio == 0) {
        fit = best_fit(COLUMNS, false);
    }
    struct steps counted = count_steps(column, false);
    return fit.alpha * counted.steps + fit.beta_sat * a[2].number * loads(&counted, fit.ratio);
}

static double call_best_ratio(const struct formula_value *a, unsigned count)
{
    (void)count;
    return best_fit(PEX_COLUMNS, a[0].number != 0).ratio;
}

static double call_fit_error(const struct formula_value *a, unsigned count)
{
    (void)count;
    return sqrt(best_fit(PEX_COLUMNS, a[0].number != 0).error / (PEX_COLUMNS * SIZES));
}

const struct formula_function delta_functions[] = {{"printed_s", 3, 3, call_printed},
                                                   {"formula_s", 3, 3, call_formula},
                                                   {"best_ratio", 1, 1, call_best_ratio},
                                                   {"fit_error", 1, 1, call_fit_error},
                                                   {0}};
