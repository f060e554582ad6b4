/*
 * claims.h - the claims of the papers, from claims.json, and what becomes of each when it is held
 * against all its cases.
 *
 *     {"id": "E1", "paper": "E", "place": "3.1", "claim": "...",
 *      "verdict": "holds with correction", "kind": "enumeration",
 *      "cases": "r = 2|4|8; c = 2|4|8; i = 1..r*c-1",     names, each by a range or a list
 *      "where": "r > 1",                                  cases that count; none: all
 *      "printed": "contention('PEX', r, c, i) == ...",    what the paper says of a case
 *      "corrected": "...",                                the same statement, put right
 *      "instead": "...",                                  what is true where it cannot be
 *      "shows": [["words", "formula"]]}                   numbers that belong to the evidence
 *
 * The verdict is what comes out: "holds" if `printed` is true of all cases, "holds with correction"
 * if it is not and `corrected` is, else "false". `verdict` in the file is what came out last; a
 * claim of which something else comes out has turned. An erratum of mere text has the kind "text"
 * and that verdict; nothing is worked out for it but `corrected`, if there is one, which must be
 * true.
 *
 * Errors   false: one line about what is wrong with the file
 * Context  host
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "papers/cases.h"

enum { CLAIM_ERROR_MAX = 512, CLAIM_SHOWS_MAX = 6 };

enum verdict { VERDICT_HOLDS, VERDICT_CORRECTED, VERDICT_FALSE, VERDICT_TEXT, VERDICTS };

/* "holds", "holds with correction", "false", "text". */
const char *verdict_words(enum verdict verdict);

struct claim {
    const char *id, *paper, *place, *claim, *kind;
    const char *cases, *where, *printed, *corrected, *instead; /* NULL: none */
    enum verdict verdict;                                      /* of the file */
    unsigned show_count;
    const char *show_words[CLAIM_SHOWS_MAX], *show[CLAIM_SHOWS_MAX];
};

struct claims {
    unsigned count;
    struct claim *claim;
    void *file;
};

bool claims_read(struct claims *claims, const char *path, char error[CLAIM_ERROR_MAX]);
void claims_free(struct claims *claims);
const struct claim *claims_find(const struct claims *claims, const char *id);

/* What has come out of a claim. */
struct finding {
    enum verdict verdict;
    uint64_t cases, against;           /* cases; of them against what is printed, */
    uint64_t against_other;            /* ... and against `corrected` or `instead` */
    char first[CASES_WORDS_MAX];       /* the first against what is printed: "n = 3, i = 1" */
    char first_other[CASES_WORDS_MAX]; /* the first against the other */
    double shown[CLAIM_SHOWS_MAX];
};

/* False: a formula is wrong. */
bool claim_find(const struct claim *claim, struct finding *finding, char error[FORMULA_ERROR_MAX]);

/* Whether all is as the file says: the verdict, and what is true instead. */
bool claim_stands(const struct claim *claim, const struct finding *finding);
