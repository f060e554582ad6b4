#include "papers/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANGES_MAX = 8, LIST_MAX = 32, TEXT_MAX = 512 };

struct range {
    unsigned name; /* its place */
    bool list;
    unsigned count; /* formulae: of a list; else from and to */
    struct formula *formula[LIST_MAX];
};

struct cases {
    unsigned count;
    struct range range[RANGES_MAX];
};

/* Adds formulae that `mark` parts. */
static bool parse_parts(struct range *range, char *text, const char *mark,
                        struct formula_names *names, char *error)
{
    for (char *at = text; at;) {
        char *end = strstr(at, mark);
        if (end) {
            *end = '\0';
        }
        if (range->count == LIST_MAX) {
            snprintf(error, FORMULA_ERROR_MAX, "more than %d values", LIST_MAX);
            return false;
        }
        range->formula[range->count] = formula_parse(at, names, error);
        if (!range->formula[range->count]) {
            return false;
        }
        range->count++;
        at = end ? end + strlen(mark) : NULL;
    }
    return true;
}

static bool parse_range(struct cases *cases, char *text, struct formula_names *names, char *error)
{
    struct range *range = &cases->range[cases->count];
    char name[FORMULA_NAME_MAX], *value = strchr(text, '=');

    if (cases->count == RANGES_MAX || !value || sscanf(text, " %20[a-zA-Z0-9_]", name) != 1) {
        snprintf(error, FORMULA_ERROR_MAX, "a name, '=' and values should stand in \"%.60s\"",
                 text);
        return false;
    }
    cases->count++;
    range->list = !strstr(value, "..");
    if (!parse_parts(range, value + 1, range->list ? "|" : "..", names, error)) {
        return false;
    }
    if (!range->list && range->count != 2) {
        snprintf(error, FORMULA_ERROR_MAX, "a range has two ends: \"%.60s\"", text);
        return false;
    }
    range->name = formula_name(names, name);
    return true;
}

static bool walk_on(const struct cases *cases, unsigned depth, struct formula_names *names,
                    bool (*visit)(void *, struct formula_names *), void *context)
{
    if (depth == cases->count) {
        return visit(context, names);
    }
    const struct range *range = &cases->range[depth];
    double from = range->list ? 0 : formula_number(range->formula[0], names);
    double to = range->list ? range->count - 1 : formula_number(range->formula[1], names);

    for (double x = from; x <= to; x++) {
        names->value[range->name] = range->list ? formula_value(range->formula[(unsigned)x], names)
                                                : (struct formula_value){.number = x};
        if (!walk_on(cases, depth + 1, names, visit, context)) {
            return false;
        }
    }
    return true;
}

void cases_free(struct cases *cases)
{
    for (unsigned r = 0; cases && r < cases->count; r++) {
        for (unsigned i = 0; i < cases->range[r].count; i++) {
            formula_free(cases->range[r].formula[i]);
        }
    }
    free(cases);
}

struct cases *cases_parse(const char *text, struct formula_names *names,
                          char error[FORMULA_ERROR_MAX])
{
    struct cases *cases = calloc(1, sizeof *cases);
    char copy[TEXT_MAX];
    bool right = cases != NULL;

    error[0] = '\0';
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (char *at = copy; right && at && *at;) {
        char *end = strchr(at, ';');
        if (end) {
            *end = '\0';
        }
        right = parse_range(cases, at, names, error);
        at = end ? end + 1 : NULL;
    }
    if (!right) {
        cases_free(cases);
        return NULL;
    }
    return cases;
}

bool cases_walk(const struct cases *cases, struct formula_names *names,
                bool (*visit)(void *context, struct formula_names *names), void *context)
{
    return walk_on(cases, 0, names, visit, context);
}

void cases_words(const struct cases *cases, const struct formula_names *names,
                 char words[CASES_WORDS_MAX])
{
    size_t length = 0;

    words[0] = '\0';
    for (unsigned r = 0; r < cases->count && length < CASES_WORDS_MAX; r++) {
        unsigned name = cases->range[r].name;
        struct formula_value value = names->value[name];
        const char *comma = r ? ", " : "";
        length +=
            (size_t)(value.text ? snprintf(words + length, CASES_WORDS_MAX - length, "%s%s = %s",
                                           comma, names->name[name], value.text)
                                : snprintf(words + length, CASES_WORDS_MAX - length, "%s%s = %.10g",
                                           comma, names->name[name], value.number));
    }
}
