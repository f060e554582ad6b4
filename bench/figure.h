/*
 * figure.h - a number measured in several rounds, and a ratio that a bound speaks of.
 *
 * A figure is the median of its rounds. One that was never tried is not shown; one that was tried
 * and failed is -1.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

enum { ROUNDS_MAX = 200 };

struct figure {
    const char *name;
    const char *unit;
    const char *of; /* whose, when there are several of the name; else NULL */
    double values[ROUNDS_MAX];
    unsigned count;
    bool tried;
};

struct ratio {
    const char *name;
    double value, bound; /* value: NAN when nobody asked for it, negative when it failed */
    bool at_least;
};

/* Adds a round's value to a figure, which must have name and unit, and says it on stderr; at most 0
 * is a round that failed. */
void figure_add(struct figure *figure, double value);

/* The median of the rounds; -1: none succeeded. */
double figure_median(const struct figure *figure);

/* The least of the rounds; -1: none succeeded. */
double figure_least(const struct figure *figure);

/* a over b, by medians and by the least of their rounds; NAN when one was not tried, -1 when one
 * failed. */
double figure_quotient(const struct figure *a, const struct figure *b);
double figure_least_quotient(const struct figure *a, const struct figure *b);

/* Prints a table of the figures of two, side by side, as far as one of each pair was tried, and
 * appends those that were to `list`. */
void figures_show_pairs(const struct figure *left, const struct figure *right, unsigned count,
                        json_t *list);

/* Prints a table of the figures that were tried and appends them to `list`. */
void figures_show(const struct figure *figures, unsigned count, json_t *list);

/* Prints a table of the ratios that were tried, each with its bound and whether it is met, and how
 * many are not; appends them to `list`. */
void ratios_show(const struct ratio *ratios, unsigned count, json_t *list);
