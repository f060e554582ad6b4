/*
 * claims_test.c - claims of the papers: each erratum has a row, a verdict turns with its formula,
 * the report says what the file says, and what can be worked out quickly stands.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers/claims.h"

enum { REPORT_BYTES = 1 << 20, LETTERS = 5 };

static struct claims claims;

static int read_claims(void **state)
{
    char error[CLAIM_ERROR_MAX];

    (void)state;
    if (!claims_read(&claims, "papers/claims.json", error)) {
        fail_msg("%s", error);
    }
    return 0;
}

static int free_claims(void **state)
{
    (void)state;
    claims_free(&claims);
    return 0;
}

TEST_GROUP(read_claims, free_claims);

static struct finding found(const struct claim *claim)
{
    struct finding finding;
    char error[FORMULA_ERROR_MAX];

    if (!claim_find(claim, &finding, error)) {
        fail_msg("%s: %s", claim->id, error);
    }
    return finding;
}

/* How many errata doc/errata.md has of each paper. */
TEST(every_erratum_has_a_row)
{
    static const struct {
        char letter;
        unsigned count;
    } errata[LETTERS] = {{'A', 7}, {'B', 10}, {'C', 27}, {'D', 5}, {'E', 6}};
    char id[16];

    for (unsigned p = 0; p < LETTERS; p++) {
        for (unsigned i = 1; i <= errata[p].count; i++) {
            snprintf(id, sizeof id, "%c%u", errata[p].letter, i);
            if (!claims_find(&claims, id)) {
                fail_msg("erratum %s has no row in papers/claims.json", id);
            }
        }
        snprintf(id, sizeof id, "%c%u", errata[p].letter, errata[p].count + 1);
        assert_null(claims_find(&claims, id));
    }
}

TEST(a_verdict_turns_when_a_formula_is_changed)
{
    struct claim e1 = *claims_find(&claims, "E1"), d1 = *claims_find(&claims, "D1");
    struct claim b6 = *claims_find(&claims, "B6"), text = *claims_find(&claims, "B5");

    /* fewer cases of each: a second at most */
    e1.cases = "r = 2|4; c = 4|8; i = 1..r*c-1";
    e1.show_count = 0;
    d1.cases = "z = 1..200";
    b6.cases = "n = 2..6; i = 0..2^n-1; j = 0..n-1";
    assert_int_equal(found(&e1).verdict, VERDICT_CORRECTED);
    assert_int_equal(found(&d1).verdict, VERDICT_HOLDS);
    assert_int_equal(found(&b6).verdict, VERDICT_CORRECTED);

    const char *printed = e1.printed;
    e1.printed = e1.corrected; /* as if floor had been printed */
    struct finding finding = found(&e1);
    assert_int_equal(finding.verdict, VERDICT_HOLDS);
    assert_false(claim_stands(&e1, &finding));
    e1.printed = e1.corrected = printed;
    finding = found(&e1);
    assert_int_equal(finding.verdict, VERDICT_FALSE);
    assert_false(claim_stands(&e1, &finding));

    b6.corrected = "varphi(n, i, j) == phi(n, 2^n - i, j)";
    assert_int_equal(found(&b6).verdict, VERDICT_FALSE);

    d1.printed = "scattered(3, 1, 10, z, 20, 1, 10, 1) == 0";
    finding = found(&d1);
    assert_int_equal(finding.verdict, VERDICT_FALSE);
    assert_false(claim_stands(&d1, &finding));
    assert_int_equal(finding.against, finding.cases);
    assert_string_equal(finding.first, "z = 1");

    text.cases = "n = 2..4; i = 0..2^n-1; j = 0..n-1";
    finding = found(&text);
    assert_true(claim_stands(&text, &finding));
    text.corrected = "varphi(n, i, j) == j";
    finding = found(&text);
    assert_false(claim_stands(&text, &finding));
}

TEST(a_claim_without_cases_that_count_is_an_error)
{
    struct claim claim = *claims_find(&claims, "B2");
    struct finding finding;
    char error[FORMULA_ERROR_MAX];

    claim.where = "n > 99";
    assert_false(claim_find(&claim, &finding, error));
    claim.where = "n >";
    assert_false(claim_find(&claim, &finding, error));
}

TEST(a_file_that_is_not_whole_is_refused)
{
    static const char *const bad[] = {"[", "[{}]",
                                      "[{\"id\": \"A1\", \"paper\": \"A\", \"place\": \"1\", "
                                      "\"claim\": \"c\", \"kind\": \"enumeration\","
                                      " \"verdict\": \"perhaps\", \"printed\": \"1\"}]",
                                      "[{\"id\": \"A1\", \"paper\": \"A\", \"place\": \"1\", "
                                      "\"claim\": \"c\", \"kind\": \"enumeration\","
                                      " \"verdict\": \"holds\"}]"};
    char path[] = "/tmp/claims_test.XXXXXX", error[CLAIM_ERROR_MAX];
    int file = mkstemp(path);

    assert_true(file >= 0);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct claims read;
        FILE *stream = fopen(path, "w");
        fputs(bad[i], stream);
        fclose(stream);
        assert_false(claims_read(&read, path, error));
        assert_non_null(strstr(error, path));
        claims_free(&read);
    }
    remove(path);
}

/* make papers has been run since the file was changed. */
TEST(the_report_has_every_claim_with_its_verdict)
{
    static char report[REPORT_BYTES];
    FILE *file = fopen("doc/papers.md", "r");
    char heading[256];

    assert_non_null(file);
    size_t length = fread(report, 1, sizeof report - 1, file);
    fclose(file);
    report[length] = '\0';
    for (unsigned i = 0; i < claims.count; i++) {
        const struct claim *claim = &claims.claim[i];
        snprintf(heading, sizeof heading, "\n### %s (%s): %s\n", claim->id, claim->place,
                 verdict_words(claim->verdict));
        if (!strstr(report, heading)) {
            fail_msg("doc/papers.md has no \"### %s (%s): %s\": run make papers", claim->id,
                     claim->place, verdict_words(claim->verdict));
        }
    }
}

/* All but those that run the tool; large cases, with sanitizers. */
TEST_LONG(every_claim_by_enumeration_stands)
{
    for (unsigned i = 0; i < claims.count; i++) {
        const struct claim *claim = &claims.claim[i];
        if (strcmp(claim->kind, "simulator") != 0) {
            struct finding finding = found(claim);
            if (!claim_stands(claim, &finding)) {
                fail_msg("%s has turned: %s", claim->id, verdict_words(finding.verdict));
            }
        }
    }
}
