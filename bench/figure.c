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
        fprintf(stderr, "  %-36s %10.1f %s\n", figure->name, value, figure->unit);
    } else {
        fprintf(stderr, "  %-36s failed\n", figure->name);
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

void figure_show(const struct figure *figure, json_t *list)
{
    if (!figure->tried) {
        return;
    }
    printf("%-44s %10.2f %s\n", figure->name, figure_median(figure), figure->unit);
    json_array_append_new(list, json_pack("{s:s, s:f, s:s, s:i}", "name", figure->name, "median",
                                          figure_median(figure), "unit", figure->unit, "rounds",
                                          (int)figure->count));
}

void ratio_show(const struct ratio *ratio, json_t *list)
{
    if (isnan(ratio->value)) {
        return;
    }
    bool met = ratio->value > 0 &&
               (ratio->at_least ? ratio->value >= ratio->bound : ratio->value <= ratio->bound);
    printf("%-62s %8.2f  %s %-5.2f %s\n", ratio->name, ratio->value,
           ratio->at_least ? ">=" : "<=", ratio->bound, met ? "met" : "MISSED");
    json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:b, s:b}", "name", ratio->name, "value",
                                          ratio->value, "bound", ratio->bound, "at_least",
                                          ratio->at_least, "met", met));
}
