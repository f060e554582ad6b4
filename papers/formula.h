/*
 * formula.h - formulae as text: what a claim of a paper says of each case, and what is measured.
 *
 *     xor(G(i), G(mod(i + 2^j, 2^n))) == if(j > 0, 2^H(n, a) + 2^H(n, b), 2^H(n, i))
 *     sum(i, 1, n, choose(n, i)) == 2^n - 1
 *
 * Numbers, names, strings in single quotes in which {formula} stands for its value, + - * / ^,
 * == != < <= > >=, and, or, not, calls. A comparison is 1 or 0; texts are equal or not. Functions
 * that bind a name count it from the second argument to the third, both included: sum, product,
 * count, all, any, least, most; `let(x, value, formula)` names a value. What else there is to call,
 * functions.c has.
 *
 *     struct formula_names names = {0};
 *     unsigned n = formula_name(&names, "n");
 *     struct formula *formula = formula_parse("2^n - 1", &names, error);
 *     names.value[n].number = 5;   formula_value(formula, &names) -> 31
 *
 * Errors   formula_parse: NULL, and `error` says what is wrong and where
 * Context  host
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FORMULA_NAMES_MAX = 96, FORMULA_NAME_MAX = 24, FORMULA_ERROR_MAX = 200, FORMULA_ARGS = 8 };

/* A number, or a text where that is not NULL. */
struct formula_value {
    double number;
    const char *text;
};

/* What is bound while formulae are parsed and worked out. */
struct formula_names {
    unsigned count;
    char name[FORMULA_NAMES_MAX][FORMULA_NAME_MAX];
    struct formula_value value[FORMULA_NAMES_MAX];
};

struct formula;

/* A function of functions.c; it gets as many values as it takes. */
struct formula_function {
    const char *name;
    unsigned least, most; /* arguments */
    double (*call)(const struct formula_value *arguments, unsigned count);
};

/* The function of a name; NULL: there is none. */
const struct formula_function *formula_function(const char *name);

/* Binds one name more; its place in names->value. */
unsigned formula_name(struct formula_names *names, const char *name);

struct formula *formula_parse(const char *text, struct formula_names *names,
                              char error[FORMULA_ERROR_MAX]);
void formula_free(struct formula *formula);

double formula_number(const struct formula *formula, struct formula_names *names);
/* A text without braces stays as long as the formula, others until 64 more have been made. */
struct formula_value formula_value(const struct formula *formula, struct formula_names *names);
