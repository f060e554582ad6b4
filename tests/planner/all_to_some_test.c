/*
 * all_to_some_test.c - the lemmas and theorems of Hu, Optimal All-to-Some Personalized
 * Communication on Hypercubes, by enumeration, as they are true; its tables; and the plans that
 * follow from them.
 *
 * Where the paper's text is false the test shows both: where it fails, and what holds
 * (doc/errata.md). H and G are worked out here from the definition of the transition sequence.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

#include "collectives/movement.h"
#include "network/text.h"
#include "planner/algorithms/all_to_some.h"
#include "planner/algorithms/candidates.h"
#include "tests/networks.h"
#include "tests/planner/planned.h"
#include "tests/network/shapes.h"

enum { N_MAX = 10, PLACES_MAX = 1 << N_MAX, BYTES = 52, SMALL_NODES = 12 };

/* H_n and G_n of every n; phi and varphi as definitions 1 and 2 give them, mended. */
static unsigned changes[N_MAX + 1][PLACES_MAX], codes[N_MAX + 1][PLACES_MAX];

static unsigned places_of(unsigned n)
{
    return 1u << n;
}

/* T_1 = 0, T_n = T_(n-1) o n - 1 o T_(n-1), H_n = T_n o n - 1; G_n from it. */
static int make_sequences(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= N_MAX; n++) {
        unsigned *h = changes[n], length = 0;
        for (unsigned k = 0; k < n; k++) {
            h[length] = k;
            memcpy(h + length + 1, h, length * sizeof *h);
            length = 2 * length + 1;
        }
        assert_int_equal(length, places_of(n) - 1);
        h[length] = n - 1;
        for (unsigned i = 0; i + 1 < places_of(n); i++) {
            codes[n][i + 1] = codes[n][i] ^ 1u << h[i];
        }
    }
    return 0;
}

TEST_GROUP(make_sequences, NULL);

/* H_n at an index modulo 2^n, and G_n. */
static unsigned h(unsigned n, long i)
{
    return changes[n][(unsigned long)i & (places_of(n) - 1)];
}

static unsigned g(unsigned n, long i)
{
    return codes[n][(unsigned long)i & (places_of(n) - 1)];
}

/* floor(i / 2^(j-1)) 2^(j-1). */
static long below(unsigned i, unsigned j)
{
    return (long)(i >> (j - 1) << (j - 1));
}

static long half_of(unsigned j)
{
    return 1L << (j - 1);
}

/* The place to which a link leads. */
static unsigned over(unsigned n, unsigned i, unsigned link)
{
    unsigned place = 0;

    while (codes[n][place] != (codes[n][i] ^ 1u << link)) {
        place++;
    }
    return place;
}

/* A formula about one n, i and j: whether it is true there. */
typedef bool formula(unsigned n, unsigned i, unsigned j);

/* For how many of all i and j below n from j_min on a formula is false. */
static unsigned failures(unsigned n, unsigned j_min, formula *holds)
{
    unsigned count = 0;

    for (unsigned i = 0; i < places_of(n); i++) {
        for (unsigned j = j_min; j < n; j++) {
            count += !holds(n, i, j);
        }
    }
    return count;
}

static void holds_for_all(unsigned j_min, formula *holds)
{
    for (unsigned n = 1; n <= N_MAX; n++) {
        assert_int_equal(failures(n, j_min, holds), 0);
    }
}

static void fails_from(unsigned n_min, unsigned j_min, formula *holds)
{
    for (unsigned n = 1; n <= N_MAX; n++) {
        assert_true((failures(n, j_min, holds) > 0) == (n >= n_min));
    }
}

/* Section 2.2 ---------------------------------------------------------------------------------- */

static bool codes_as_defined(unsigned n, unsigned i, unsigned j)
{
    (void)j;
    return g(n, i) == (i ^ i >> 1) && __builtin_popcount(g(n, i) ^ g(n, (long)i + 1)) == 1;
}

TEST(the_sequence_gives_the_gray_code_and_closes_the_ring)
{
    holds_for_all(0, codes_as_defined);
}

/* sum over l of the product of b_0 to b_l, for l up to `last`. */
static unsigned ones(unsigned i, unsigned last)
{
    unsigned sum = 0;

    for (unsigned l = 0; l <= last && (i >> l & 1); l++) {
        sum++;
    }
    return sum;
}

static bool lemma_1_printed(unsigned n, unsigned i, unsigned j)
{
    (void)j;
    return h(n, i) == ones(i, n - 1);
}

static bool lemma_1(unsigned n, unsigned i, unsigned j)
{
    (void)j;
    return h(n, i) == (n > 1 ? ones(i, n - 2) : 0) && h(n, i) == gray_change(n, i);
}

TEST(lemma_1_holds_when_the_sum_stops_at_n_minus_2)
{
    holds_for_all(0, lemma_1);
    for (unsigned n = 1; n <= N_MAX; n++) {
        assert_int_equal(failures(n, n - 1, lemma_1_printed), 1);
        assert_false(lemma_1_printed(n, places_of(n) - 1, 0));
    }
}

/* How often j stands in H_n, and whether this is once in each `period`, at its place 2^j - 1. */
static bool has_period(unsigned n, unsigned j, unsigned period)
{
    bool has = places_of(n) % period == 0;

    for (unsigned i = 0; i < places_of(n); i++) {
        has = has && (h(n, i) == j) == (i % period == (1u << j) - 1);
    }
    return has;
}

TEST(lemma_2_holds_for_all_j_but_the_last_whose_period_is_half)
{
    for (unsigned n = 1; n <= N_MAX; n++) {
        for (unsigned j = 0; j + 1 < n; j++) {
            assert_true(has_period(n, j, 2u << j));
        }
        assert_true(has_period(n, n - 1, 1u << (n - 1)));
        assert_false(has_period(n, n - 1, 1u << n));
    }
}

/* T_j is H_j without its last. */
TEST(lemmas_3_and_4_hold_but_for_the_last_j_where_neighbours_are_equal)
{
    for (unsigned n = 1; n <= N_MAX; n++) {
        for (unsigned j = 1; j < n; j++) {
            unsigned parts = places_of(n - j), equal = 0;
            for (unsigned i = 0; i < places_of(n); i++) {
                unsigned at = i % places_of(j);
                if (at + 1 < places_of(j)) {
                    assert_int_equal(h(n, i), h(j, at));
                } else {
                    assert_in_range(h(n, i), j, n - 1);
                    equal += h(n, i) == h(n, (long)i + (long)places_of(j));
                }
            }
            assert_int_equal(equal, j == n - 1 ? parts : 0);
        }
    }
}

static bool corollary_1(unsigned n, unsigned m, unsigned j)
{
    return m >= places_of(n - j) || h(n, ((long)m << j) - 1) >= j;
}

TEST(corollary_1_holds)
{
    holds_for_all(0, corollary_1);
}

/* Theorem 1 ------------------------------------------------------------------------------------ */

static bool differ_in(unsigned n, long i, long other, unsigned one, unsigned second)
{
    return (g(n, i) ^ g(n, other)) == (1u << one) + (1u << second);
}

static bool theorem_1_plus(unsigned n, unsigned i, unsigned j)
{
    return differ_in(n, i, (long)i + (1L << j), h(n, below(i, j) + 2 * half_of(j) - 1),
                     h(n, below(i, j) + half_of(j) - 1));
}

static bool theorem_1_plus_printed(unsigned n, unsigned i, unsigned j)
{
    return differ_in(n, i, (long)i + (1L << j), h(n, below(i, j) + 2 * half_of(j) - 1),
                     h(n, below(i, j) + 2 * half_of(j) - 2));
}

static bool theorem_1_minus(unsigned n, unsigned i, unsigned j)
{
    return differ_in(n, i, (long)i - (1L << j), h(n, below(i, j) - 1),
                     h(n, below(i, j) - half_of(j) - 1));
}

static bool theorem_1_next(unsigned n, unsigned i, unsigned j)
{
    return j > 0 || ((g(n, i) ^ g(n, (long)i + 1)) == 1u << h(n, i) &&
                     (g(n, i) ^ g(n, (long)i - 1)) == 1u << h(n, (long)i - 1));
}

TEST(theorem_1_holds_with_its_second_exponent_mended)
{
    holds_for_all(0, theorem_1_next);
    holds_for_all(1, theorem_1_plus);
    holds_for_all(1, theorem_1_minus);
    fails_from(3, 1, theorem_1_plus_printed);
}

/* Lemmas 5 to 9 -------------------------------------------------------------------------------- */

/* Whether H_n at these places is different for all j from j_min on. */
static bool are_distinct(unsigned n, unsigned i, long (*place)(unsigned i, unsigned j))
{
    unsigned seen = 0;

    for (unsigned j = 1; j < n; j++) {
        unsigned bit = 1u << h(n, place(i, j));
        if (seen & bit) {
            return false;
        }
        seen |= bit;
    }
    return true;
}

static long far_above(unsigned i, unsigned j)
{
    return below(i, j) + 2 * half_of(j) - 1;
}

static long far_below(unsigned i, unsigned j)
{
    return below(i, j) - half_of(j) - 1;
}

static long near_above(unsigned i, unsigned j)
{
    return below(i, j) + half_of(j) - 1;
}

static long near_below(unsigned i, unsigned j)
{
    return below(i, j) - 1;
}

static bool all_distinct(unsigned n, long (*place)(unsigned i, unsigned j))
{
    bool distinct = true;

    for (unsigned i = 0; i < places_of(n); i++) {
        distinct = distinct && are_distinct(n, i, place);
    }
    return distinct;
}

static bool links_are_distinct(unsigned n, unsigned i, bool back)
{
    unsigned seen = 0;

    for (unsigned j = 0; j < n; j++) {
        seen |= 1u << all_to_some_link(n, i, j, back);
    }
    return seen == places_of(n) - 1;
}

TEST(lemma_5_holds_of_the_exponents_that_are_farther_away)
{
    for (unsigned n = 1; n <= N_MAX; n++) {
        assert_true(all_distinct(n, far_above));
        assert_true(all_distinct(n, far_below));
        assert_true(all_distinct(n, near_above) == (n < 3));
        assert_true(all_distinct(n, near_below) == (n < 3));
        for (unsigned i = 0; i < places_of(n); i++) {
            assert_true(links_are_distinct(n, i, false));
            assert_true(links_are_distinct(n, i, true));
        }
    }
}

static bool lemma_6(unsigned n, unsigned i, unsigned j)
{
    unsigned plus = g(n, i) ^ g(n, (long)i + (1L << j)),
             minus = g(n, i) ^ g(n, (long)i - (1L << j));

    return (unsigned)__builtin_ctz(plus) == j - 1 && (unsigned)__builtin_ctz(minus) == j - 1;
}

TEST(lemma_6_holds)
{
    holds_for_all(1, lemma_6);
}

static bool lemma_7(unsigned n, unsigned i, unsigned j)
{
    bool first = (i & (places_of(j) - 1)) < (unsigned)half_of(j);

    return first ? h(n, near_above(i, j)) == j - 1 && h(n, far_below(i, j)) == j - 1
                 : h(n, far_above(i, j)) == j - 1 && h(n, near_below(i, j)) == j - 1;
}

TEST(lemma_7_holds)
{
    holds_for_all(1, lemma_7);
}

/* i^k, the place over link k. */
static bool lemma_8(unsigned n, unsigned i, unsigned k)
{
    unsigned length = 2u << k;

    return over(n, i, k) == i / length * length + length - 1 - i % length;
}

/* As the text before the lemma has it: the place of i xor k. */
static bool lemma_8_printed(unsigned n, unsigned i, unsigned k)
{
    return (i ^ k) == over(n, i, k);
}

TEST(lemma_8_holds_of_the_code_of_i_with_bit_k_changed)
{
    holds_for_all(0, lemma_8);
    fails_from(1, 0, lemma_8_printed);
}

static unsigned phi(unsigned n, long i, unsigned j)
{
    return all_to_some_link(n, (unsigned)((unsigned long)i & (places_of(n) - 1)), j, false);
}

/* Definition 2, and for j = 0 the link to the place before. */
static unsigned varphi(unsigned n, unsigned i, unsigned j)
{
    return j == 0 ? h(n, (long)i - 1) : h(n, far_below(i, j));
}

static bool definition_1(unsigned n, unsigned i, unsigned j)
{
    return phi(n, i, j) == (j == 0 ? h(n, i) : h(n, far_above(i, j)));
}

static bool lemma_9(unsigned n, unsigned i, unsigned j)
{
    return varphi(n, i, j) == phi(n, (long)places_of(n) - 1 - (long)i, j) &&
           varphi(n, i, j) == all_to_some_link(n, i, j, true);
}

static bool lemma_9_printed(unsigned n, unsigned i, unsigned j)
{
    return varphi(n, i, j) == phi(n, (long)places_of(n) / 2 - (long)i, j);
}

/* 2^(n-1-i), as the remark at table 2 has it; for i of n and more there is no such place. */
static bool lemma_9_remark(unsigned n, unsigned i, unsigned j)
{
    return i < n && varphi(n, i, j) == phi(n, 1L << (n - 1 - i), j);
}

TEST(lemma_9_holds_of_the_place_counted_from_the_other_end)
{
    holds_for_all(0, definition_1);
    holds_for_all(0, lemma_9);
    fails_from(2, 0, lemma_9_printed);
    assert_true(failures(2, 0, lemma_9_remark) > 0);
    fails_from(1, 0, lemma_9_remark);
}

/* The schedule --------------------------------------------------------------------------------- */

/* Links that all blocks cross together, of each node; movements are all, or (printed) +2^(n-1) and
 * -2^(n-1) as two. */
static unsigned links_crossed(unsigned n, bool printed)
{
    unsigned sum = 0, last = printed || n == 1 ? n : n - 1;

    for (unsigned j = 0; j < n; j++) {
        sum += (unsigned)__builtin_popcount(g(n, 0) ^ g(n, 1L << j));
    }
    for (unsigned j = 0; j < last && n > 1; j++) {
        sum += (unsigned)__builtin_popcount(g(n, 0) ^ g(n, -(1L << j)));
    }
    return sum;
}

TEST(theorem_2_holds_from_five_dimensions_on_and_of_three_and_four_with_a_movement_counted_twice)
{
    static const unsigned least[] = {1, 2, 3, 3, 4, 4, 4, 4, 4, 4};

    for (unsigned n = 1; n <= N_MAX; n++) {
        assert_int_equal((links_crossed(n, false) + n - 1) / n, least[n - 1]);
        assert_true(n < 3 || (links_crossed(n, true) + n - 1) / n == 4);
    }
}

/* Blocks that cross a dimension, whatever ways they take: those whose ends differ in it. */
static unsigned crossings(unsigned n, unsigned dimension)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < places_of(n); i++) {
        for (unsigned j = 0; j < n; j++) {
            sum += (g(n, i) ^ g(n, (long)i + (1L << j))) >> dimension & 1;
            if (j + 1 < n) {
                sum += (g(n, i) ^ g(n, (long)i - (1L << j))) >> dimension & 1;
            }
        }
    }
    return sum;
}

/* The count over all links says 3 of four dimensions, that over the links of dimension 1 says 4. */
TEST(four_steps_are_the_least_from_four_dimensions_on_by_the_links_of_dimension_1)
{
    for (unsigned n = 3; n <= N_MAX; n++) {
        unsigned most = 0;
        for (unsigned k = 0; k < n; k++) {
            most = crossings(n, k) > most ? crossings(n, k) : most;
        }
        assert_int_equal((most + places_of(n) - 1) / places_of(n), n == 3 ? 3 : 4);
        assert_int_equal(2 * crossings(n, 1), (n == 3 ? 5 : 7) * places_of(n));
    }
}

/* The planner's bound is that: unit blocks over the busiest links. */
TEST(so_the_bound_of_plans_says_and_they_reach_it)
{
    static const struct profile all_ports = {0, 0, 1000, 1000, PORTS_ALL, 1};
    static const char *const names[] = {"cube:3", "cube:4", "cube:5", "cube:6"};
    static const unsigned least[] = {3, 4, 4, 4};

    for (unsigned i = 0; i < 4; i++) {
        struct network network = network_of(names[i]);
        struct plan_request request = {.operation = ECUBE_ALL_TO_SOME,
                                       .bytes = 1,
                                       .algorithm = "Gray code",
                                       .profile = &all_ports};
        struct plan_fault fault;
        struct plan *plan = plan_make(&network, &request, &fault);
        assert_non_null(plan);
        assert_int_equal(plan_bound_full(plan, 1, &all_ports).ns, 1000 * least[i]);
        assert_int_equal(plan_time(plan, 1, 1, &all_ports).model_ns, 1000 * least[i]);
        assert_int_equal(plan->steps, least[i]);
        plan_free(plan);
    }
}

static bool theorem_3(unsigned n, unsigned i, unsigned j)
{
    return phi(n, (long)over(n, i, varphi(n, i, j)), j) == varphi(n, i, j);
}

TEST(theorem_3_holds_what_comes_for_a_location_comes_over_the_link_of_the_other_table)
{
    holds_for_all(0, theorem_3);
}

static bool theorem_4(unsigned n, unsigned i, unsigned j)
{
    unsigned middle = over(n, i, phi(n, i, j));

    return phi(n, (long)middle, j) == h(n, near_above(i, j));
}

TEST(theorem_4_holds_of_the_other_exponent)
{
    holds_for_all(1, theorem_4);
}

/* In a step of a half each directed link carries one block at most, and all come home. */
static void half_is_right(unsigned n, bool back)
{
    static bool used[2][PLACES_MAX][N_MAX];

    memset(used, 0, sizeof used);
    for (unsigned i = 0; i < places_of(n); i++) {
        for (unsigned j = 0; j < n; j++) {
            unsigned at = i, hops = j > 0 ? 2 : 1;
            for (unsigned hop = 0; hop < hops; hop++) {
                unsigned link = all_to_some_link(n, at, j, back);
                assert_false(used[hop][at][link]);
                used[hop][at][link] = true;
                at = over(n, at, link);
            }
            long by = back ? -(1L << j) : 1L << j;
            assert_int_equal(at, (unsigned long)((long)i + by) & (places_of(n) - 1));
        }
        assert_false(used[1][i][all_to_some_link(n, i, 0, back)]);
    }
}

TEST(theorem_5_holds_and_leaves_the_neighbours_links_free_in_the_second_step)
{
    for (unsigned n = 1; n <= 8; n++) {
        half_is_right(n, false);
        half_is_right(n, true);
    }
}

/* Tables --------------------------------------------------------------------------------------- */

static const struct {
    unsigned n, j;
    const char *phi, *varphi;
} golden[] = {
#include "tests/golden/aspc_phi.txt"
};

TEST(the_schedule_tables_are_the_golden_ones)
{
    unsigned rows = 0;

    for (unsigned r = 0; r < sizeof golden / sizeof golden[0]; r++, rows++) {
        unsigned n = golden[r].n, j = golden[r].j;
        assert_int_equal(strlen(golden[r].phi), places_of(n));
        for (unsigned i = 0; i < places_of(n); i++) {
            assert_int_equal(all_to_some_link(n, i, j, false), golden[r].phi[i] - '0');
            assert_int_equal(all_to_some_link(n, i, j, true), golden[r].varphi[i] - '0');
        }
    }
    assert_int_equal(rows, 1 + 2 + 3 + 4 + 5 + 6);
}

/* As the paper prints them; '?': an entry that is lost. */
TEST(tables_1_and_2_hold_but_for_what_is_lost_in_rows_1_to_4)
{
    static const char *const table_1[] = {"01020102", "10201020", "22112211"};
    static const char *const table_2[] = {
        "01020103010201040102010301020104", "1020103010201040102010301020104?",
        "2211331122114411221133112211441?", "3333222244442222333322224444222?",
        "4444444433333334444444443333332?"};
    unsigned wrong = 0, lost = 0;

    for (unsigned j = 0; j < 3; j++) {
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal(phi(3, i, j), table_1[j][i] - '0');
        }
    }
    for (unsigned j = 0; j < 4; j++) {
        for (unsigned i = 0; i < 32; i++) {
            bool is = table_2[j][i] != '?';
            lost += !is;
            wrong += is && phi(5, i, j) != (unsigned)(table_2[j][i] - '0');
        }
    }
    assert_int_equal(lost, 3);
    assert_int_equal(wrong, 0);
    /* row 4 prints 4 at place 15 where it is 3, and ends after 30 entries */
    static const char row_4[] = "444444443333333444444444333333";
    for (unsigned i = 0; i < 30; i++) {
        assert_true((phi(5, i, 4) == (unsigned)(row_4[i] - '0')) == (i != 15));
    }
    assert_int_equal(phi(5, 30, 4), 3);
    assert_int_equal(phi(5, 31, 4), 3);
}

/* Movements ------------------------------------------------------------------------------------ */

TEST(there_is_a_movement_for_each_power_of_two_and_half_of_the_ring_is_one)
{
    static const unsigned counts[] = {0, 0, 1, 4, 3, 6, 6, 6, 5, 8};

    for (unsigned nodes = 1; nodes < 10; nodes++) {
        assert_int_equal(ecube_movements(nodes), counts[nodes]);
    }
    assert_int_equal(ecube_movements(65536), 31);
}

TEST(a_movement_and_its_text_are_one)
{
    for (uint32_t movement = 0; movement < MOVEMENTS_MAX; movement++) {
        char text[MOVEMENT_TEXT_MAX];
        const char *end;
        movement_text(movement, text);
        assert_int_equal(movement_read(text, &end), movement);
        assert_int_equal(*end, 0);
    }
    const char *end;
    assert_int_equal(movement_read("+x", &end), MOVEMENTS_MAX);
    assert_int_equal(movement_read("3", &end), MOVEMENTS_MAX);
}

/* Plans ---------------------------------------------------------------------------------------- */

TEST(all_blocks_come_to_their_places_by_every_way_with_any_ports)
{
    static const uint8_t ports[] = {1, 2, PORTS_ALL};
    static struct network shapes[SHAPES_MAX];
    unsigned count = shapes_make(shapes, SMALL_NODES);
    const struct candidate *candidate;

    for (unsigned s = 0; s < count; s++) {
        for (unsigned i = 0; (candidate = candidate_of(ECUBE_ALL_TO_SOME, i)); i++) {
            struct plan_request request = {.operation = ECUBE_ALL_TO_SOME, .bytes = BYTES};
            uint32_t roots = operation_roots(operation_of(ECUBE_ALL_TO_SOME), &shapes[s]);
            bool made = candidate->made_of;
            for (; candidate->possible(&shapes[s]) && !made && request.root < roots;
                 request.root++) {
                for (unsigned p = 0; p < 3; p++) {
                    request.ports = candidate->steps ? PORTS_ALL : ports[p];
                    unsigned variants =
                        candidate->variants ? candidate->variants(&shapes[s], &request) : 1;
                    for (request.variant = 0; request.variant < variants; request.variant++) {
                        plan_free(tried(&shapes[s], candidate, &request));
                    }
                }
            }
        }
    }
}

/* The steps with p ports: those of each half need n and n - 1 links, then n - 1 and n - 2. */
TEST(with_fewer_ports_than_links_it_is_refused_with_the_steps_that_it_would_take)
{
    static const struct {
        const char *network, *words;
        uint8_t ports;
    } cases[] = {{"cube:4", "all ports of a cube (with 1: 12 steps)", 1},
                 {"cube:4", "all ports of a cube (with 2: 7 steps)", 2},
                 {"cube:4", "all ports of a cube (with 3: 5 steps)", 3},
                 {"cube:6", "all ports of a cube (with 5: 5 steps)", 5}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct network network = network_of(cases[i].network);
        struct profile profile = {65425, 9575, 425, 1000, cases[i].ports, 1};
        struct plan_request request = {.operation = ECUBE_ALL_TO_SOME,
                                       .bytes = BYTES,
                                       .algorithm = "Gray code",
                                       .profile = &profile};
        struct plan_fault fault = {.words = ""};
        assert_null(plan_make(&network, &request, &fault));
        assert_non_null(strstr(fault.words, cases[i].words));
    }
}

/* As nodes execute it: a movement more, +1 and -1 again, needs the fourth. */
TEST(a_3_cube_takes_three_steps_and_four_with_a_movement_twice)
{
    static const struct profile all_ports = {65425, 9575, 425, 1000, PORTS_ALL, 1};
    struct network network = network_of("cube:3");
    struct plan_request request = {.operation = ECUBE_ALL_TO_SOME,
                                   .bytes = 1000,
                                   .algorithm = "Gray code",
                                   .profile = &all_ports};

    for (request.root = 0; request.root < 2; request.root++) {
        unsigned steps = request.root == 0 ? 3 : 4;
        struct plan_fault fault;
        struct plan *plan = plan_make(&network, &request, &fault);
        assert_non_null(plan);
        assert_null(machine_tries(plan, BYTES));
        assert_int_equal(plan->steps, steps);
        assert_true(plan_time(plan, 1000, 1, &all_ports).model_ns <=
                    steps * (UINT64_C(65425) + 9575 + 1000 * 425));
        plan_free(plan);
    }
}

TEST(four_steps_take_their_closed_form_and_one_movement_two)
{
    static const struct profile all_ports = {65425, 9575, 425, 1000, PORTS_ALL, 1};
    static const struct profile one_port = {65425, 9575, 425, 1000, 1, 1};
    uint64_t step_ns = 65425 + 9575 + 1000 * 425;

    for (unsigned n = 3; n <= 7; n++) {
        char name[16];
        struct plan_fault fault;
        snprintf(name, sizeof name, "cube:%u", n);
        struct network network = network_of(name);
        struct plan_request request = {.operation = ECUBE_ALL_TO_SOME,
                                       .bytes = 1000,
                                       .ports = PORTS_ALL,
                                       .profile = &all_ports};
        for (request.root = 0; request.root < 2; request.root++) {
            struct plan *plan = plan_gray_all_to_some(&network, &request);
            assert_true(plan_prove(plan, &fault) && plan_suit(plan, &all_ports));
            assert_int_equal(plan->steps, 4);
            assert_int_equal(plan_model_ns(plan, 1000, 1, &all_ports), 4 * step_ns);
            plan_free(plan);
        }
        for (; request.root < 2 + ecube_movements(network.nodes); request.root++) {
            struct plan *plan = plan_gray_in_turn(&network, &request);
            unsigned hops = request.root < 4 ? 1 : 2;
            assert_true(plan_prove(plan, &fault));
            assert_int_equal(plan->steps, hops);
            assert_int_equal(plan_model_ns(plan, 1000, 1, &one_port), hops * step_ns);
            plan_free(plan);
        }
    }
}
