/*
 * figures.c - tables and figures of the papers, from figures.json:
 *
 *     {"name": "boppana-eta", "title": "...", "x": "k", "x_title": "...", "y_title": "...",
 *      "cases": "n = 3|4|7; k = 1|16|100", "series": "n", "scale": "log x" or "log xy",
 *      "columns": [["T_aap", "formula"], ["T1", "formula", "once"], ...]}
 *
 * A table has a row for each case, first the case's names, then its columns. With "x" it is drawn
 * as well: a line for each column, and for each value of `series`, which has a colour; "once": one
 * line, for this column is the same for all of them.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/report.h"

enum { COLUMNS_MAX = 16, SERIES_MAX = 16, PATH_BYTES = 512, CELL = 18 };

struct figure {
    const char *name, *title, *cases, *where, *x, *x_title, *y_title, *series, *scale;
    unsigned count;
    const char *column[COLUMNS_MAX];
    bool once[COLUMNS_MAX];
    struct formula *formula[COLUMNS_MAX], *where_formula;
    struct cases *parsed;
    struct formula_names names;
    unsigned bound; /* names of the cases */
    FILE *table, *data;
    double last; /* the series' value */
    unsigned blocks;
    char block[SERIES_MAX][CELL];
};

static const char *member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static bool fail(const struct figure *figure, const char *error)
{
    fprintf(stderr, "papers: figure %s: %s\n", figure->name ? figure->name : "?", error);
    return false;
}

static bool take(struct figure *figure, const json_t *object)
{
    char error[FORMULA_ERROR_MAX];
    json_t *pair;
    size_t i;

    *figure = (struct figure){.name = member(object, "name"),
                              .title = member(object, "title"),
                              .cases = member(object, "cases"),
                              .where = member(object, "where"),
                              .x = member(object, "x"),
                              .x_title = member(object, "x_title"),
                              .y_title = member(object, "y_title"),
                              .series = member(object, "series"),
                              .scale = member(object, "scale")};
    if (!figure->name || !figure->title || !figure->cases) {
        return fail(figure, "name, title and cases should be there");
    }
    figure->parsed = cases_parse(figure->cases, &figure->names, error);
    if (!figure->parsed) {
        return fail(figure, error);
    }
    figure->bound = figure->names.count;
    if (figure->where) {
        figure->where_formula = formula_parse(figure->where, &figure->names, error);
        if (!figure->where_formula) {
            return fail(figure, error);
        }
    }
    json_array_foreach(json_object_get(object, "columns"), i, pair)
    {
        const char *text = json_string_value(json_array_get(pair, 1));
        if (i == COLUMNS_MAX || !text) {
            return fail(figure, "columns are at most 16 pairs of words");
        }
        figure->column[i] = json_string_value(json_array_get(pair, 0));
        figure->once[i] = json_array_size(pair) > 2;
        figure->formula[i] = formula_parse(text, &figure->names, error);
        if (!figure->formula[i]) {
            return fail(figure, error);
        }
        /* a later column may name an earlier one */
        formula_name(&figure->names, figure->column[i]);
        figure->count++;
    }
    return true;
}

static int place(const struct figure *figure, const char *name)
{
    for (unsigned i = 0; name && i < figure->names.count; i++) {
        if (strcmp(figure->names.name[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static void cell(char text[CELL], struct formula_value value)
{
    if (value.text) {
        snprintf(text, CELL, "%s", value.text);
    } else {
        snprintf(text, CELL, "%.7g", value.number);
    }
}

/* The data begin a block where the series goes on. */
static void begin_block(struct figure *figure)
{
    int at = place(figure, figure->series);
    char text[CELL] = "";

    if (at >= 0) {
        cell(text, figure->names.value[at]);
    }
    if (figure->blocks == 0 ||
        (strcmp(figure->block[figure->blocks - 1], text) != 0 && figure->blocks < SERIES_MAX)) {
        fprintf(figure->data, "%s# %s\n", figure->blocks ? "\n\n" : "", text);
        snprintf(figure->block[figure->blocks++], CELL, "%s", text);
    }
}

static bool visit(void *context, struct formula_names *names)
{
    struct figure *figure = context;
    char text[CELL];

    if (figure->where_formula && formula_number(figure->where_formula, names) == 0) {
        return true;
    }
    for (unsigned i = 0; i < figure->bound; i++) {
        if (names->name[i][0]) {
            cell(text, names->value[i]);
            fprintf(figure->table, "%-*s", CELL, text);
        }
    }
    if (figure->data) {
        begin_block(figure);
        cell(text, names->value[place(figure, figure->x)]);
        fprintf(figure->data, "%s", text);
    }
    for (unsigned i = 0; i < figure->count; i++) {
        struct formula_value value = formula_value(figure->formula[i], names);
        names->value[place(figure, figure->column[i])] = value;
        cell(text, value);
        fprintf(figure->table, "%-*s", CELL, text);
        if (figure->data) {
            fprintf(figure->data, " %s", text);
        }
    }
    fputc('\n', figure->table);
    if (figure->data) {
        fputc('\n', figure->data);
    }
    return true;
}

/* A line of a column and a block: marks by column, colours by block. */
static void write_line(const struct figure *figure, FILE *file, const char *folder, unsigned block,
                       unsigned column)
{
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#666666"};
    unsigned count = sizeof colours / sizeof colours[0];
    bool once = figure->once[column] || !figure->series;
    const char *colour = figure->series ? colours[once ? count - 1 : block % (count - 1)]
                                        : colours[column % (count - 1)];

    fprintf(file,
            "\"%s/%s.dat\" index %u using 1:%u with linespoints linecolor rgb \"%s\" dashtype %u "
            "pointtype %u title \"%s",
            folder, figure->name, block, column + 2, colour, column % 5 + 1, 2 * (column % 6) + 4,
            figure->column[column]);
    if (!once) {
        fprintf(file, ", %s = %s", figure->series, figure->block[block]);
    }
    fputc('"', file);
}

static void write_drawing(const struct figure *figure, FILE *file, const char *folder)
{
    const char *before = "plot ";

    fprintf(
        file,
        "set terminal svg noenhanced size 960,560 font \"DejaVu Sans,14\" background \"#ffffff\"\n"
        "set output \"%s/%s.svg\"\nset title \"%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\n"
        "set grid\nset key outside right Left reverse\nset format \"%%.12g\"\n"
        "set autoscale yfix\n",
        folder, figure->name, figure->title, figure->x_title ? figure->x_title : figure->x,
        figure->y_title ? figure->y_title : "");
    if (figure->scale) {
        fprintf(file, "set logscale %s\n",
                strstr(figure->scale, "xy")  ? "xy"
                : strchr(figure->scale, 'y') ? "y"
                                             : "x");
    }
    for (unsigned b = 0; b < figure->blocks; b++) {
        for (unsigned i = 0; i < figure->count; i++) {
            if (b == 0 || !figure->once[i]) {
                fputs(before, file);
                write_line(figure, file, folder, b, i);
                before = ", \\\n    ";
            }
        }
    }
    fputc('\n', file);
}

static FILE *open_file(const char *folder, const struct figure *figure, const char *end)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s.%s", folder, figure->name, end);
    return fopen(path, "w");
}

static bool write_figure(struct figure *figure, const char *folder)
{
    FILE *drawing = figure->x ? open_file(folder, figure, "gp") : NULL;

    figure->table = open_file(folder, figure, "txt");
    figure->data = figure->x ? open_file(folder, figure, "dat") : NULL;
    if (!figure->table || (figure->x && (!drawing || !figure->data))) {
        return fail(figure, "its files cannot be written");
    }
    if (figure->x && place(figure, figure->x) < 0) {
        return fail(figure, "its x is no name of its cases");
    }
    fprintf(figure->table, "%s\n\n", figure->title);
    for (unsigned i = 0; i < figure->names.count; i++) {
        if (figure->names.name[i][0]) {
            fprintf(figure->table, "%-*s", CELL, figure->names.name[i]);
        }
    }
    fputc('\n', figure->table);
    cases_walk(figure->parsed, &figure->names, visit, figure);
    bool written = fclose(figure->table) == 0;
    if (figure->x) {
        write_drawing(figure, drawing, folder);
        written = fclose(figure->data) == 0 && fclose(drawing) == 0 && written;
    }
    printf("%s/%s.%s\n", folder, figure->name, figure->x ? "svg" : "txt");
    fflush(stdout);
    return written;
}

bool figures_write(const char *path, const char *folder)
{
    json_error_t where;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where), *object;
    bool right = root != NULL;
    size_t i;

    if (!root) {
        fprintf(stderr, "papers: %s, line %d: %s\n", path, where.line, where.text);
    }
    json_array_foreach(root, i, object)
    {
        struct figure figure;
        right = take(&figure, object) && write_figure(&figure, folder) && right;
        for (unsigned k = 0; k < figure.count; k++) {
            formula_free(figure.formula[k]);
        }
        formula_free(figure.where_formula);
        cases_free(figure.parsed);
    }
    json_decref(root);
    return right;
}
