#include "bench/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void figure_add(struct figure *figure, double value)
{
    CHECK(figure->name && figure->unit);
    figure->tried = true;
    if (value > 0 && figure->count < ROUNDS_MAX) {
        figure->values[figure->count++] = value;
        fprintf(stderr, "  %-6s %-36s %10.1f %s\n", figure->of ? figure->of : "", figure->name,
                value, figure->unit);
    } else {
        fprintf(stderr, "  %-6s %-36s failed\n", figure->of ? figure->of : "", figure->name);
    }
}

/* The round at a place in order of value; -1: there is none. */
static double at_place(const struct figure *figure, unsigned place)
{
    double sorted[ROUNDS_MAX];
    if (figure->count == 0) {
        return -1;
    }
    memcpy(sorted, figure->values, sizeof sorted);
    qsort(sorted, figure->count, sizeof sorted[0], compare);
    return sorted[place];
}

double figure_median(const struct figure *figure)
{
    return at_place(figure, figure->count / 2);
}

double figure_least(const struct figure *figure)
{
    return at_place(figure, 0);
}

static double quotient(const struct figure *a, const struct figure *b,
                       double value(const struct figure *))
{
    if (!a->tried || !b->tried) {
        return NAN;
    }
    return value(a) > 0 && value(b) > 0 ? value(a) / value(b) : -1;
}

double figure_quotient(const struct figure *a, const struct figure *b)
{
    return quotient(a, b, figure_median);
}

double figure_least_quotient(const struct figure *a, const struct figure *b)
{
    return quotient(a, b, figure_least);
}

static double figure_most(const struct figure *figure)
{
    return figure->count ? at_place(figure, figure->count - 1) : -1;
}

static void list_figure(const struct figure *figure, json_t *list)
{
    json_t *object =
        json_pack("{s:s, s:f, s:f, s:f, s:s, s:i}", "name", figure->name, "median",
                  figure_median(figure), "least", figure_least(figure), "most", figure_most(figure),
                  "unit", figure->unit, "rounds", (int)figure->count);
    if (figure->of) {
        json_object_set_new(object, "links", json_string(figure->of));
    }
    json_array_append_new(list, object);
}

static void show_figure(const struct figure *figure, json_t *list)
{
    if (figure->count == 0) {
        printf("%-44s %10s\n", figure->name, "failed");
    } else {
        printf("%-44s %10.2f %10.2f %10.2f  %s\n", figure->name, figure_median(figure),
               figure_least(figure), figure_most(figure), figure->unit);
    }
    list_figure(figure, list);
}

/* One side of a row: what was not tried stays empty. */
static void show_half(const struct figure *figure, json_t *list)
{
    if (!figure->tried) {
        printf(" %8s %8s %8s ", "-", "", "");
        return;
    }
    if (figure->count == 0) {
        printf(" %8s %8s %8s ", "failed", "", "");
    } else {
        printf(" %8.1f %8.1f %8.1f ", figure_median(figure), figure_least(figure),
               figure_most(figure));
    }
    list_figure(figure, list);
}

void figures_show_pairs(const struct figure *left, const struct figure *right, unsigned count,
                        json_t *list)
{
    unsigned shown = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!left[i].tried && !right[i].tried) {
            continue;
        }
        if (shown++ == 0) {
            printf("\n%-33s%9s%28s\n%-33s", "", left[i].of, right[i].of, "figure");
            printf(" %8s %8s %8s  %8s %8s %8s\n", "median", "least", "most", "median", "least",
                   "most");
        }
        printf("%-33s", left[i].name);
        show_half(&left[i], list);
        show_half(&right[i], list);
        printf(" %s\n", left[i].unit);
    }
}

void figures_show(const struct figure *figures, unsigned count, json_t *list)
{
    unsigned shown = 0;
    for (unsigned i = 0; i < count; i++) {
        if (figures[i].tried) {
            if (shown++ == 0) {
                printf("\n%-44s %10s %10s %10s\n", "figure", "median", "least", "most");
            }
            show_figure(&figures[i], list);
        }
    }
}

static bool is_met(const struct ratio *ratio)
{
    return ratio->value >= 0 &&
           (ratio->at_least ? ratio->value >= ratio->bound : ratio->value <= ratio->bound);
}

static void show_ratio(const struct ratio *ratio, json_t *list)
{
    char value[32] = "failed";
    if (ratio->value >= 0) {
        snprintf(value, sizeof value, "%.2f", ratio->value);
    }
    printf("%-62s %8s  %s %-5.2f %s\n", ratio->name, value,
           ratio->at_least ? ">=" : "<=", ratio->bound, is_met(ratio) ? "met" : "MISSED");
    json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:b, s:b}", "name", ratio->name, "value",
                                          ratio->value, "bound", ratio->bound, "at_least",
                                          ratio->at_least, "met", is_met(ratio)));
}

void ratios_show(const struct ratio *ratios, unsigned count, json_t *list)
{
    unsigned shown = 0, missed = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!isnan(ratios[i].value)) {
            if (shown++ == 0) {
                printf("\n%-62s %8s   bound\n", "ratio", "value");
            }
            show_ratio(&ratios[i], list);
            missed += !is_met(&ratios[i]);
        }
    }
    if (shown > 0) {
        printf("bounds missed: %u of %u\n", missed, shown);
    }
}
