/*
 * cases.h - the cases that a claim, a table or a figure goes through: "n = 2..8; k = 16|100|1000".
 *
 * Each name has a range, both ends included, or a list; later ones may use earlier names. They are
 * bound in names, so that formulae parsed behind cases_parse can use them.
 *
 * Errors   cases_parse: NULL, and `error` says what is wrong
 * Context  host
 */
#pragma once

#include "papers/formula.h"

enum { CASES_WORDS_MAX = 160 };

struct cases;

struct cases *cases_parse(const char *text, struct formula_names *names,
                          char error[FORMULA_ERROR_MAX]);
void cases_free(struct cases *cases);

/* Visits each case, the last name counting fastest; false: a visit was. Without names there is one
 * case. */
bool cases_walk(const struct cases *cases, struct formula_names *names,
                bool (*visit)(void *context, struct formula_names *names), void *context);

/* The present case: "n = 3, k = 16". */
void cases_words(const struct cases *cases, const struct formula_names *names,
                 char words[CASES_WORDS_MAX]);
