#include "bench/collectives.h"

#include <math.h>
#include <stdio.h>

#include "bench/rivals/comparison.h"
#include "bench/simgrid_run.h"
#include "network/text.h"

enum { CUBES = 3, SHOWN = 5, NAME_BYTES = 80, CELL_BYTES = 24 };

static const unsigned dims_of[CUBES] = {3, 5, 7};
static const uint32_t shown[SHOWN] = {16, 100, 1000, 10000, 100000};
static const uint32_t operations[COLLECTIVES_RATIOS] = {
    ECUBE_EXCHANGE, ECUBE_ALLGATHER, ECUBE_BROADCAST, ECUBE_ALLREDUCE, ECUBE_REDUCE_SCATTER};

/* SimGrid's times of one operation on one cube. */
struct simgrid_times {
    double us[LIBRARIES][SHOWN];
};

static struct network cube_of(unsigned dims)
{
    static const struct network_limits limits = {NETWORK_NODES_MAX, ""};
    struct network cube;
    char name[16], error[NETWORK_ERROR_MAX];

    snprintf(name, sizeof name, "cube:%u", dims);
    (void)network_parse(&cube, name, &limits, error);
    return cube;
}

static void ask_simgrid(const char *build, uint32_t operation, unsigned dims,
                        struct simgrid_times *times)
{
    const struct simgrid_bench bench = {.build = build, .profile = &compared_profile};

    for (unsigned i = 0; i < LIBRARIES; i++) {
        simgrid_collective(&bench, dims, libraries[i].selector, operation_name(operation), shown,
                           SHOWN, times->us[i]);
    }
}

static const char *cell(char text[CELL_BYTES], double us)
{
    snprintf(text, CELL_BYTES, us > 0 ? "%.1f" : "-", us);
    return text;
}

static json_t *show_rival(const struct comparison *c, unsigned i, double simgrid_us)
{
    const struct selection *selection = c->selected[i].selection;
    double us = (double)c->selected[i].ns / 1e3, ratio = (double)c->ns / 1e3 / us;
    const char *library = libraries[selection->library].name;
    const struct rival *rival = &rivals[selection->rival];
    char text[CELL_BYTES];

    printf("%44s %-9s %-27s %12.1f %6.3f %12s\n", "", library, rival->name, us, ratio,
           cell(text, simgrid_us));
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f}", "library", library, "algorithm", rival->name,
                     "source", rival->source, "model_us", us, "ratio", ratio, "simgrid_us",
                     simgrid_us);
}

static json_t *show_size(const struct comparison *c, uint32_t operation, uint32_t nodes,
                         const struct simgrid_times *times, unsigned size)
{
    json_t *list = json_array();

    printf("%7u %12.1f  %s\n", c->bytes, (double)c->ns / 1e3, c->algorithm);
    for (unsigned i = 0; i < c->count; i++) {
        json_array_append_new(list,
                              show_rival(c, i, times->us[c->selected[i].selection->library][size]));
    }
    return json_pack("{s:s, s:i, s:i, s:s, s:f, s:o}", "operation", operation_name(operation),
                     "nodes", (int)nodes, "bytes", (int)c->bytes, "algorithm", c->algorithm,
                     "model_us", (double)c->ns / 1e3, "libraries", list);
}

/* Our time over the fastest library's at one size, noted if it is the worst; says where we are
 * slower. False: it could not be had. */
static bool note(const struct network *cube, uint32_t operation, uint32_t bytes,
                 struct comparison *c, double *worst)
{
    struct plan_fault fault = {.words = ""};

    if (!compare(cube, operation, bytes, c, &fault)) {
        fprintf(stderr, "bench: %s of %u bytes on %u nodes: %s\n", operation_name(operation), bytes,
                cube->nodes, fault.words);
        return false;
    }
    double ratio = comparison_ratio(c);
    if (ratio > 1) {
        fprintf(stderr, "bench: %s of %u bytes on %u nodes is slower by %.3f\n",
                operation_name(operation), bytes, cube->nodes, ratio);
    }
    *worst = ratio > *worst ? ratio : *worst;
    return true;
}

/* All sizes of one operation on one cube. False: one could not be had. */
static bool run_cube(const char *build, uint32_t operation, unsigned dims, json_t *list,
                     double *worst)
{
    struct network cube = cube_of(dims);
    uint32_t sizes[COMPARED_SIZES_MAX];
    unsigned count = compared_sizes(operation, cube.nodes, sizes), next = 0;
    struct simgrid_times times;
    bool had = true;

    ask_simgrid(build, operation, dims, &times);
    printf("\n%s, %u nodes\n%7s %12s  %-21s %-9s %-27s %12s %6s %12s\n", operation_name(operation),
           cube.nodes, "bytes", "ours us", "", "library", "selects", "us", "ours/", "SimGrid us");
    for (unsigned i = 0; i < count; i++) {
        struct comparison c;
        bool got = note(&cube, operation, sizes[i], &c, worst);
        if (got && next < SHOWN && sizes[i] == shown[next]) {
            json_array_append_new(list, show_size(&c, operation, cube.nodes, &times, next));
        }
        next += next < SHOWN && sizes[i] == shown[next];
        had = had && got;
    }
    return had;
}

json_t *collectives_run(const char *build, struct ratio ratios[COLLECTIVES_RATIOS])
{
    static char names[COLLECTIVES_RATIOS][NAME_BYTES];
    json_t *list = json_array();

    for (unsigned i = 0; i < COLLECTIVES_RATIOS; i++) {
        double worst = 0;
        bool had = true;
        ratios[i].value = NAN;
        for (unsigned k = 0; k < CUBES; k++) {
            had = run_cube(build, operations[i], dims_of[k], list, &worst) && had;
        }
        snprintf(names[i], sizeof names[i], "%s: model time over the fastest library's, worst",
                 operation_name(operations[i]));
        ratios[i] = (struct ratio){names[i], had ? worst : -1, 1, false};
    }
    return list;
}
