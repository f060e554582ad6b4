#include "papers/claims.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words_of[VERDICTS] = {"holds", "holds with correction", "false", "text"};

const char *verdict_words(enum verdict verdict)
{
    return words_of[verdict];
}

static const char *member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static bool take_shows(struct claim *claim, const json_t *shows)
{
    size_t i;
    json_t *pair;

    json_array_foreach(shows, i, pair)
    {
        const char *words = json_string_value(json_array_get(pair, 0));
        const char *formula = json_string_value(json_array_get(pair, 1));
        if (i == CLAIM_SHOWS_MAX || !words || !formula) {
            return false;
        }
        claim->show_words[i] = words;
        claim->show[i] = formula;
        claim->show_count++;
    }
    return true;
}

/* A claim needs who says what and where; what can be worked out needs how. */
static bool take_claim(struct claim *claim, const json_t *object)
{
    const char *verdict = member(object, "verdict");

    *claim = (struct claim){.id = member(object, "id"),
                            .paper = member(object, "paper"),
                            .place = member(object, "place"),
                            .claim = member(object, "claim"),
                            .kind = member(object, "kind"),
                            .cases = member(object, "cases"),
                            .where = member(object, "where"),
                            .printed = member(object, "printed"),
                            .corrected = member(object, "corrected"),
                            .instead = member(object, "instead"),
                            .verdict = VERDICTS};
    for (unsigned i = 0; verdict && i < VERDICTS; i++) {
        claim->verdict = strcmp(verdict, words_of[i]) == 0 ? (enum verdict)i : claim->verdict;
    }
    return claim->id && claim->paper && claim->place && claim->claim && claim->kind &&
           claim->verdict != VERDICTS &&
           (claim->verdict == VERDICT_TEXT) == (strcmp(claim->kind, "text") == 0) &&
           (claim->verdict == VERDICT_TEXT) == !claim->printed &&
           take_shows(claim, json_object_get(object, "shows"));
}

bool claims_read(struct claims *claims, const char *path, char error[CLAIM_ERROR_MAX])
{
    json_error_t where;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where), *object;
    size_t i;

    *claims = (struct claims){.file = root};
    if (!root) {
        snprintf(error, CLAIM_ERROR_MAX, "%s, line %d: %s", path, where.line, where.text);
        return false;
    }
    claims->claim = calloc(json_array_size(root) + 1, sizeof *claims->claim);
    json_array_foreach(root, i, object)
    {
        struct claim *claim = &claims->claim[i];
        if (!claims->claim || !take_claim(claim, object) || claims_find(claims, claim->id)) {
            snprintf(error, CLAIM_ERROR_MAX, "%s: claim %zu (\"%.20s\") is not whole, or a second",
                     path, i + 1, claims->claim && claim->id ? claim->id : "?");
            return false;
        }
        claims->count++;
    }
    return true;
}

void claims_free(struct claims *claims)
{
    json_decref(claims->file);
    free(claims->claim);
    *claims = (struct claims){0};
}

const struct claim *claims_find(const struct claims *claims, const char *id)
{
    for (unsigned i = 0; i < claims->count; i++) {
        if (strcmp(claims->claim[i].id, id) == 0) {
            return &claims->claim[i];
        }
    }
    return NULL;
}

/* A claim's formulae while its cases are gone through. */
struct search {
    const struct cases *cases;
    struct formula *where, *printed, *other;
    struct finding *finding;
};

static bool visit(void *context, struct formula_names *names)
{
    struct search *search = context;
    struct finding *finding = search->finding;

    if (search->where && formula_number(search->where, names) == 0) {
        return true;
    }
    finding->cases++;
    if (search->printed && formula_number(search->printed, names) == 0 && finding->against++ == 0) {
        cases_words(search->cases, names, finding->first);
    }
    if (search->other && formula_number(search->other, names) == 0 &&
        finding->against_other++ == 0) {
        cases_words(search->cases, names, finding->first_other);
    }
    return true;
}

static bool parse(struct formula **formula, const char *text, struct formula_names *names,
                  char error[FORMULA_ERROR_MAX])
{
    *formula = text ? formula_parse(text, names, error) : NULL;
    return !text || *formula;
}

static bool show(const struct claim *claim, struct finding *finding, char error[FORMULA_ERROR_MAX])
{
    for (unsigned i = 0; i < claim->show_count; i++) {
        struct formula_names names = {0};
        struct formula *formula = formula_parse(claim->show[i], &names, error);
        if (!formula) {
            return false;
        }
        finding->shown[i] = formula_number(formula, &names);
        formula_free(formula);
    }
    return true;
}

static enum verdict verdict_of(const struct claim *claim, const struct finding *finding)
{
    if (!claim->printed) {
        return VERDICT_TEXT;
    }
    if (finding->against == 0) {
        return VERDICT_HOLDS;
    }
    return claim->corrected && finding->against_other == 0 ? VERDICT_CORRECTED : VERDICT_FALSE;
}

bool claim_find(const struct claim *claim, struct finding *finding, char error[FORMULA_ERROR_MAX])
{
    struct formula_names names = {0};
    struct search search = {.finding = finding};
    struct cases *cases = cases_parse(claim->cases, &names, error);
    const char *other = claim->corrected ? claim->corrected : claim->instead;

    *finding = (struct finding){0};
    search.cases = cases;
    bool right = cases && parse(&search.where, claim->where, &names, error) &&
                 parse(&search.printed, claim->printed, &names, error) &&
                 parse(&search.other, other, &names, error) && show(claim, finding, error);
    if (right && (search.printed || search.other)) {
        cases_walk(cases, &names, visit, &search);
        if (finding->cases == 0) {
            snprintf(error, FORMULA_ERROR_MAX, "there is no case");
            right = false;
        }
    }
    formula_free(search.where);
    formula_free(search.printed);
    formula_free(search.other);
    cases_free(cases);
    finding->verdict = verdict_of(claim, finding);
    return right;
}

bool claim_stands(const struct claim *claim, const struct finding *finding)
{
    return finding->verdict == claim->verdict && finding->against_other == 0;
}
