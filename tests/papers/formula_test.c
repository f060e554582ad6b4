/*
 * formula_test.c - formulae of claims: values, and what is refused.
 */
#include "tests/testing.h"

#include <math.h>
#include <string.h>

#include "papers/cases.h"

static double value(const char *text)
{
    struct formula_names names = {0};
    char error[FORMULA_ERROR_MAX];
    struct formula *formula = formula_parse(text, &names, error);

    if (!formula) {
        fail_msg("%s: %s", text, error);
    }
    double number = formula_number(formula, &names);
    formula_free(formula);
    return number;
}

TEST(formulae_have_these_values)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1 + 2 * 3", 7},
                 {"apart('torus:7x7', 0, 8)", 6},
                 {"apart('torus:3x5', 0, 6)", 5},
                 {"apart('cube:4', 0, 7)", 5},
                 {"golden('networks.txt', 'torus:3x5', 1)", 3},
                 {"golden('disjoint_paths.txt', 'torus:7x7 0 8', 2)", 6},
                 {"golden('networks.txt', 'torus:3', 1)", -1},
                 {"level_shifts(4, 11)", 3},
                 {"level_shifts(3, 7)", 2},
                 {"2 - 1 - 1", 0},
                 {"8 / 4 / 2", 1},
                 {"-2^2", -4},
                 {"2^3^2", 512},
                 {"2^-1", 0.5},
                 {"1 + 1 == 2 and not 3 < 2", 1},
                 {"0 and 1 or 1", 1},
                 {"1 <= 1", 1},
                 {"1 < 1.0000000000001", 0},
                 {"if(2 > 1, 5, 1 / 0)", 5},
                 {"sum(i, 1, 4, i^2)", 30},
                 {"product(i, 1, 4, i)", 24},
                 {"count(i, 1, 10, mod(i, 3) == 0)", 3},
                 {"all(i, 2, 3, prime(i)) and not all(i, 2, 4, prime(i))", 1},
                 {"any(i, 8, 10, prime(i))", 0},
                 {"least(i, 0, 3, (i - 2)^2)", 0},
                 {"most(i, 1, 0, i) < 0", 1},
                 {"let(x, 3, x * let(y, x + 1, y))", 12},
                 {"sum(i, 1, 2, sum(j, i, 2, 10 * i + j))", 45},
                 {"mod(-1, 8)", 7},
                 {"choose(10, 3)", 120},
                 {"totient(12)", 4},
                 {"gcd(12, 18)", 6},
                 {"xor(5, 3)", 6},
                 {"bits(7) + bits(4, 2)", 4},
                 {"item('3 1 4', 2)", 4},
                 {"item('3 1 4', 3)", -1},
                 {"'mesh' == 'mesh' and 'a' != 'b'", 1},
                 {"nodes('mesh:{1 + 1}x{3}')", 6},
                 {"hops('torus:3x3', 0, 8)", 2},
                 {"load_of_all('ring:8')", 10},
                 {"connectivity('cube:4')", 4},
                 {"H(4, 7)", 3},
                 {"G(5)", 7},
                 {"phi(3, 2, 1)", 2},
                 {"classes(8, 4)", 10},
                 {"shift_hops(5, 7)", 3},
                 {"partner('PEX-GEN-SHIFT', 6, 3, 3)", -1},
                 {"contention('PEX', 'mesh:4x4', 3)", 2},
                 /* two messages of the host, then one between two nodes */
                 {"scattered(2, 1, 10, 10, 100, 2, 50, 1)", 340}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double is = value(cases[i].text);
        if (fabs(is - cases[i].value) > 1e-12) {
            fail_msg("%s is %g, not %g", cases[i].text, is, cases[i].value);
        }
    }
}

TEST(what_is_no_formula_is_refused_in_words)
{
    static const struct {
        const char *text, *words;
    } cases[] = {{"", "should come"},
                 {"1 +", "should come"},
                 {"(1", "')'"},
                 {"x", "nothing has bound"},
                 {"nothing(1)", "no such function"},
                 {"mod(1)", "too few"},
                 {"floor(1, 2)", "too many"},
                 {"1 2", "should end"},
                 {"sum(i, 1)", "should come"},
                 {"sum(i, 1, 2, i) + i", "nothing has bound"},
                 {"'open", "without its end"},
                 {"nodes('{1')", "'}'"},
                 {"if(1, 2)", "three"},
                 {"let(1, 2, 3)", "should come"}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct formula_names names = {0};
        char error[FORMULA_ERROR_MAX] = "";
        struct formula *formula = formula_parse(cases[i].text, &names, error);
        if (formula || !strstr(error, cases[i].words)) {
            fail_msg("\"%s\": %s", cases[i].text, formula ? "is one" : error);
        }
    }
}

struct walked {
    const struct cases *cases;
    unsigned count;
    char last[CASES_WORDS_MAX];
};

static bool walk(void *context, struct formula_names *names)
{
    struct walked *walked = context;

    walked->count++;
    cases_words(walked->cases, names, walked->last);
    return true;
}

TEST(cases_are_ranges_and_lists_of_which_later_ones_know_earlier_ones)
{
    struct formula_names names = {0};
    struct walked walked = {0};
    char error[FORMULA_ERROR_MAX];
    struct cases *cases =
        cases_parse("n = 2..4; k = 1|2^n; net = 'a'|'b'; i = 1..n", &names, error);

    assert_non_null(cases);
    walked.cases = cases;
    assert_true(cases_walk(cases, &names, walk, &walked));
    assert_int_equal(walked.count, 4 * (2 + 3 + 4));
    assert_string_equal(walked.last, "n = 4, k = 16, net = b, i = 4");
    cases_free(cases);
    assert_null(cases_parse("n = 1..2..3", &names, error));
    assert_null(cases_parse("n", &names, error));
    assert_null(cases_parse("= 1..2", &names, error));
}
