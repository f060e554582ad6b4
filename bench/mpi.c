#include "bench/mpi.h"

#include <stdio.h>
#include <string.h>

#include "bench/simgrid_run.h"
#include "bench/timed_run.h"

enum {
    PATH_BYTES = 300,
    LINE_BYTES = 200,
    NAME_BYTES = 64,
    CELL_BYTES = 16,
    SIZES = 3,
    ROUNDS = 5
};

enum side { PRIVATIZED, SHARING, OURS, SIDES };

static const char *const side_names[SIDES] = {"SimGrid", "SimGrid, no copies", "ecube sim"};

static const struct program {
    const char *words[2]; /* its name, and how often, or NULL */
    const char *shown;    /* what the table calls it */
    const char *option;   /* of SimGrid */
    bool timed;           /* the model times are the same, too */
    bool bounded;         /* it has a ratio */
} programs[] = {
    {{"nothing", NULL}, "nothing", NULL, true, false},
    {{"ring", "1"}, "ring, once", NULL, true, false},
    {{"ring", "100"}, "ring, 100", NULL, true, true},
    /* by what libraries select for the size: SimGrid's own has a step for each rank */
    {{"allreduce", "1"}, "sum, once", "--cfg=smpi/allreduce:rdb", false, false},
    {{"allreduce", "100"}, "sum, 100", "--cfg=smpi/allreduce:rdb", false, true},
    {{"stencil", "100"}, "stencil, 100", NULL, false, true},
};

enum { PROGRAMS = sizeof programs / sizeof programs[0], NOTHING = 0 };

static const unsigned dims_of[SIZES] = {6, 8, 10}, rounds_of[SIZES] = {5, 5, 3};

struct row {
    char names[SIDES][NAME_BYTES];
    struct figure wall_ms[SIDES], processor_ms[SIDES], peak_mib[SIDES];
};

static const struct profile ipsc860 = {
    .xi_ns = 65425, .tau_ns = 9575, .element_ns = 425, .sigma_permille = 1500};

/* The line that a program prints, without the rank before it; empty: there is none. */
static void read_line(const char *output, char line[LINE_BYTES])
{
    FILE *file = fopen(output, "r");
    bool found = false;

    while (file && !found && fgets(line, LINE_BYTES, file)) {
        found = strstr(line, " time ") != NULL;
    }
    if (file) {
        fclose(file);
    }
    line[found ? strcspn(line, "\n") : 0] = '\0';
    char *behind = strstr(line, "] ");
    if (behind) {
        memmove(line, behind + 2, strlen(behind + 2) + 1);
    }
}

/* Whether two lines say the same, with or without the time at their end. */
static bool agree(const char *a, const char *b, bool timed)
{
    size_t bytes = (size_t)(strstr(a, " time ") - a);

    return timed ? strcmp(a, b) == 0 : strncmp(a, b, bytes + 1) == 0;
}

static bool run_ours(const char *build, unsigned dims, const struct program *program,
                     const char *output, struct timed_run *run)
{
    char tool[PATH_BYTES], network[16], path[PATH_BYTES];
    const char *words[] = {tool, "sim", "-q", "--network", network, path, program->words[1], NULL};

    snprintf(tool, sizeof tool, "%s/ecube", build);
    snprintf(network, sizeof network, "cube:%u", dims);
    snprintf(path, sizeof path, "%s/bench/native/%s.so", build, program->words[0]);
    return timed_run(words, output, run);
}

static bool run_side(const char *build, enum side side, unsigned dims,
                     const struct program *program, const char *output, struct timed_run *run)
{
    const struct simgrid_bench simgrid = {.build = build, .profile = &ipsc860};

    return side == OURS ? run_ours(build, dims, program, output, run)
                        : simgrid_program(&simgrid, dims, program->words, program->option,
                                          side == PRIVATIZED, output, run);
}

/* One run of each; the first that ends says what the others must say. */
static void run_round(const char *build, struct row *row, unsigned dims,
                      const struct program *program)
{
    char output[PATH_BYTES], first[LINE_BYTES] = "", line[LINE_BYTES];

    snprintf(output, sizeof output, "%s/bench/mpi.out", build);
    for (enum side side = 0; side < SIDES; side++) {
        struct timed_run run;
        bool done = run_side(build, side, dims, program, output, &run);
        read_line(output, line);
        if (done && first[0] == '\0') {
            memcpy(first, line, sizeof first);
        }
        if (done && (first[0] == '\0' || !agree(first, line, program->timed))) {
            fprintf(stderr, "bench: %s: '%s', and '%s' before\n", row->names[side], line, first);
            done = false;
        }
        figure_add(&row->wall_ms[side], done ? 1e3 * run.wall_s : -1);
        if (done) {
            figure_add(&row->processor_ms[side], 1e3 * run.processor_s);
            figure_add(&row->peak_mib[side], run.peak_mib);
        }
    }
}

static void measure(const char *build, struct row *row, unsigned size,
                    const struct program *program)
{
    const unsigned dims = dims_of[size];

    for (enum side side = 0; side < SIDES; side++) {
        snprintf(row->names[side], NAME_BYTES, "%s, %s, %u", program->shown, side_names[side],
                 1U << dims);
        row->wall_ms[side] = (struct figure){.name = row->names[side], .unit = "ms"};
        row->processor_ms[side] = (struct figure){.name = row->names[side], .unit = "ms used"};
        row->peak_mib[side] = (struct figure){.name = row->names[side], .unit = "MiB"};
    }
    for (unsigned round = 0; round < rounds_of[size]; round++) {
        run_round(build, row, dims, program);
    }
}

static const char *cell(char text[CELL_BYTES], double value, int decimals)
{
    snprintf(text, CELL_BYTES, "%.*f", decimals, value);
    return value > 0 ? text : "-";
}

static double wall_quotient(const struct row *row, enum side side)
{
    return figure_quotient(&row->wall_ms[side], &row->wall_ms[OURS]);
}

static double processor_quotient(const struct row *row, enum side side)
{
    return figure_quotient(&row->processor_ms[side], &row->processor_ms[OURS]);
}

static void print_figure(const struct figure *figure, int width)
{
    char text[CELL_BYTES];

    printf(" %*s", width, cell(text, figure_median(figure), 0));
}

static void print_row(const struct row *row, const struct row *nothing,
                      const struct program *program, unsigned dims)
{
    char text[4][CELL_BYTES];

    printf("%-12s %5u", program->shown, 1U << dims);
    for (enum side side = 0; side < SIDES; side++) {
        print_figure(&row->wall_ms[side], 7);
        if (side == OURS) {
            print_figure(&nothing->wall_ms[side], 5);
        }
        print_figure(&row->processor_ms[side], 6);
        if (side != SHARING) {
            print_figure(&row->peak_mib[side], 4);
        }
    }
    printf(" %6s %4s %5s %4s\n", cell(text[0], wall_quotient(row, PRIVATIZED), 1),
           cell(text[1], processor_quotient(row, PRIVATIZED), 1),
           cell(text[2], wall_quotient(row, SHARING), 1),
           cell(text[3], processor_quotient(row, SHARING), 1));
}

static json_t *row_to_json(const struct row *row, const struct program *program, unsigned dims)
{
    static const char *const keys[SIDES] = {"simgrid", "simgrid_no_privatize", "ecube"};
    json_t *object = json_pack("{s:s, s:s, s:i}", "program", program->words[0], "argument",
                               program->words[1] ? program->words[1] : "", "ranks", 1 << dims);

    for (enum side side = 0; side < SIDES; side++) {
        json_object_set_new(object, keys[side],
                            json_pack("{s:f, s:f, s:f, s:f, s:i}", "wall_ms",
                                      figure_median(&row->wall_ms[side]), "fastest_wall_ms",
                                      figure_least(&row->wall_ms[side]), "processor_ms",
                                      figure_median(&row->processor_ms[side]), "peak_mib",
                                      figure_median(&row->peak_mib[side]), "rounds",
                                      (int)row->wall_ms[side].count));
    }
    return object;
}

static void fill_ratio(struct ratio *ratio, const struct row *row, const struct program *program,
                       unsigned dims)
{
    static char names[MPI_RATIOS][NAME_BYTES];
    static unsigned count;
    char *name = names[count++];

    snprintf(name, NAME_BYTES, "programs: SimGrid's wall time over ours, %s, %u ranks",
             program->words[0], 1U << dims);
    *ratio = (struct ratio){name, wall_quotient(row, PRIVATIZED), 3, true};
}

json_t *mpi_run(const char *build, struct ratio ratios[MPI_RATIOS])
{
    static struct row rows[PROGRAMS][SIZES];
    json_t *list = json_array();
    unsigned count = 0;

    for (unsigned p = 0; p < PROGRAMS; p++) {
        for (unsigned i = 0; i < SIZES; i++) {
            measure(build, &rows[p][i], i, &programs[p]);
        }
    }
    printf("\nprograms, the same source on both; ms by the clock and of processors, MiB\n"
           "                          SimGrid      no copies                     ours"
           "         SimGrid/ours\n"
           "program      ranks    wall   used  MiB    wall   used    wall start   used  MiB"
           "   wall used no copies\n");
    for (unsigned p = 0; p < PROGRAMS; p++) {
        for (unsigned i = 0; i < SIZES; i++) {
            print_row(&rows[p][i], &rows[NOTHING][i], &programs[p], dims_of[i]);
            json_array_append_new(list, row_to_json(&rows[p][i], &programs[p], dims_of[i]));
            if (programs[p].bounded && count < MPI_RATIOS) {
                fill_ratio(&ratios[count++], &rows[p][i], &programs[p], dims_of[i]);
            }
        }
    }
    return list;
}
