/*
 * rounds_search_test.c - searched rounds of the complete exchange: as few as there can be where
 * that is known to be found, the same each time, and what a shelf gives is looked at.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/rounds_search.h"
#include "planner/algorithms/symmetries.h"
#include "tests/networks.h"
#include "tests/planner/fake_shelf.h"
#include "tests/planner/planned.h"
#include "tests/planner/shared_links.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

static struct plan *planned(const char *name, uint32_t operation)
{
    const struct plan_request request = {.operation = operation, .algorithm = "searched rounds"};

    return planned_for(name, &request);
}

/* Symmetries ---------------------------------------------------------------------------------- */

TEST(groups_move_all_nodes_and_keep_all_links)
{
    static const char *const names[] = {"ring:3",    "ring:12",   "mesh:3x4",    "mesh:4x4",
                                        "torus:3x4", "torus:6x6", "torus:2x3x4", "mesh:2x2x2x2"};

    for (unsigned n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct network network = network_of(names[n]);
        uint64_t groups[512];
        unsigned count = symmetries_find(&network, groups, 512);
        assert_true(count > 1 && groups[count - 1] == 1);
        for (unsigned i = 0; i < count; i++) {
            for (uint32_t map = 0; map < network.nodes; map++) {
                for (uint32_t node = 0; node < network.nodes && groups[i] >> map & 1; node++) {
                    uint32_t image = symmetry_image(&network, map, node);
                    assert_true((image == node) == (map == 0));
                    for (unsigned port = 0; port < network.ports; port++) {
                        uint32_t next = network_neighbour(&network, node, port);
                        if (next == NETWORK_NO_NODE) {
                            continue;
                        }
                        unsigned moved = symmetry_port(&network, map, node, port);
                        assert_int_equal(network_neighbour(&network, image, moved),
                                         symmetry_image(&network, map, next));
                    }
                }
            }
        }
    }
}

/* A path of an odd number of nodes has one in its middle. */
TEST(what_has_a_middle_has_no_group)
{
    static const char *const names[] = {"mesh:1x5", "mesh:3x3", "mesh:3x3x5"};

    for (unsigned n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct network network = network_of(names[n]);
        uint64_t groups[2];
        assert_int_equal(symmetries_find(&network, groups, 2), 1);
    }
}

/* Rounds -------------------------------------------------------------------------------------- */

/* The bound is N - 1, or what some link carries. */
TEST(these_have_as_few_rounds_as_there_can_be)
{
    static const struct {
        const char *name;
        uint32_t rounds;
    } cases[] = {{"ring:3", 2},     {"ring:6", 5},     {"ring:8", 8},       {"ring:10", 13},
                 {"ring:12", 18},   {"ring:17", 36},   {"ring:32", 128},    {"ring:40", 200},
                 {"mesh:1x16", 64}, {"mesh:3x4", 12},  {"mesh:4x4", 16},    {"mesh:6x6", 54},
                 {"torus:4x4", 15}, {"torus:5x5", 24}, {"torus:6x6", 35},   {"torus:4x8", 32},
                 {"torus:8x8", 64}, {"torus:5x6", 29}, {"torus:3x3x3", 26}, {"torus:4x4x4", 63}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan *plan = planned(cases[i].name, ECUBE_EXCHANGE);
        assert_int_equal(rounds_bound(&plan->network), cases[i].rounds);
        if (plan->steps != cases[i].rounds) {
            fail_msg("%s takes %u rounds", cases[i].name, plan->steps);
        }
        plan_free(plan);
    }
}

/* Where the fewest are not found, there are never more than by lists. */
TEST(a_search_makes_nothing_worse)
{
    static const char *const names[] = {"ring:21", "ring:39", "mesh:5x5", "mesh:1x40", "torus:3x9"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct network network = network_of(names[i]);
        struct search s = {.network = &network, .at_once = 1};
        rounds_begin(&s);
        rounds_list(&s);
        struct plan *plan = planned(names[i], ECUBE_EXCHANGE);
        assert_in_range(plan->steps, rounds_bound(&network), s.best_rounds);
        plan_free(plan);
        rounds_end(&s);
    }
}

/* Every node gets every block, in the time that is said, and no two circuits of a round share a
 * link: then each would wait for the other's bytes. */
TEST(searched_rounds_do_what_they_promise)
{
    static const char *const names[] = {"ring:3",    "ring:7",     "ring:12",   "mesh:1x4",
                                        "mesh:4x4",  "mesh:3x5",   "torus:3x4", "torus:2x7",
                                        "torus:6x6", "torus:2x3x4"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (unsigned sized = 0; sized < 2; sized++) {
            struct plan *plan = planned(names[i], sized ? ECUBE_EXCHANGEV : ECUBE_EXCHANGE);
            const char *fault = machine_tries(plan, 100);
            if (fault) {
                fail_msg("%s: %s", names[i], fault);
            }
            assert_false(steps_share_links(plan));
            plan_free(plan);
        }
    }
}

/* It is begun only for what it could be best at, and never takes less than it says. */
TEST(searched_rounds_take_no_less_than_they_say)
{
    static const char *const names[] = {"ring:6", "ring:12", "mesh:3x5", "torus:5x5"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct plan *plan = planned(names[i], ECUBE_EXCHANGE);
        for (uint32_t bytes = 0; bytes < 1000000; bytes = 7 * bytes + 3) {
            for (unsigned all = 0; all < 2; all++) {
                struct profile profile = ipsc860;
                profile.ports = all ? PORTS_ALL : 1;
                struct plan_request request = {.bytes = bytes, .profile = &profile};
                struct candidate_least least = searched_least(&plan->network, &request);
                assert_true(plan_model_ns(plan, bytes, 1, &profile) >= least.ns);
            }
        }
        plan_free(plan);
    }
}

/* The shelf ----------------------------------------------------------------------------------- */

/* Plans anew, with a shelf. */
static uint32_t digest_with(struct fake *fake, const char *name)
{
    fake_use(fake);
    struct plan *plan = planned(name, ECUBE_EXCHANGE);
    uint32_t digest = plan->digest;
    plan_free(plan);
    plan_use_shelf(NULL);
    return digest;
}

TEST(a_search_finds_the_same_each_time)
{
    struct fake one = {.count = 0}, other = {.count = 0};

    for (unsigned i = 0; i < 2; i++) {
        const char *name = i ? "torus:3x5" : "mesh:4x4";
        assert_int_equal(digest_with(&one, name), digest_with(&other, name));
        assert_int_equal(one.count, other.count);
        assert_memory_equal(one.words, other.words, one.count * sizeof one.words[0]);
    }
}

/* Whoever changes what is found gives the search another version, or a shelf would have plans that
 * are not found without it. */
TEST(this_is_what_version_1_finds)
{
    static const struct {
        const char *name;
        uint32_t sum; /* of the table */
    } cases[] = {{"ring:12", 0x040a2137},
                 {"mesh:4x4", 0xb7ddc867},
                 {"torus:6x6", 0xa5aadefa},
                 {"mesh:5x5", 0xb1f2ec70}};

    assert_int_equal(ROUNDS_SEARCH_VERSION, 1);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake fake = {.count = 0};
        digest_with(&fake, cases[i].name);
        uint32_t sum = fake_sum(&fake);
        if (sum != cases[i].sum) {
            fail_msg("%s: %#x", cases[i].name, (unsigned)sum);
        }
    }
}

TEST(what_a_shelf_has_is_used_and_asked_for_once)
{
    struct fake fake = {.count = 0};
    uint32_t digest = digest_with(&fake, "ring:8");

    assert_int_equal(fake.read, 1);
    assert_int_equal(fake.kept, 1);
    fake_use(&fake);
    for (unsigned i = 0; i < 3; i++) {
        struct plan *plan = planned("ring:8", i == 1 ? ECUBE_EXCHANGEV : ECUBE_EXCHANGE);
        assert_true(i == 1 || plan->digest == digest);
        plan_free(plan);
    }
    plan_use_shelf(NULL);
    assert_int_equal(fake.read, 2);
    assert_int_equal(fake.refused, 0);
    assert_int_equal(fake.kept, 1);
}

/* Every word made another one: of another round or way, or damaged. All that is used is right. */
TEST(a_damaged_table_is_refused_and_found_anew)
{
    struct fake whole = {.count = 0};
    uint32_t digest = digest_with(&whole, "ring:5");
    unsigned refused = 0;

    for (uint32_t at = 0; at < whole.count; at++) {
        for (unsigned change = 0; change < 2; change++) {
            struct fake fake = whole;
            fake.words[at] = change ? UINT16_MAX : fake.words[at] + 1;
            fake.refused = 0;
            uint32_t other = digest_with(&fake, "ring:5");
            refused += fake.refused;
            assert_true(fake.refused ? other == digest : at == 0);
            assert_true(!fake.refused || fake.count == whole.count);
        }
    }
    assert_true(refused >= 2 * (whole.count - 1));
}

TEST(a_table_that_is_cut_off_or_too_long_is_refused)
{
    struct fake whole = {.count = 0};
    uint32_t digest = digest_with(&whole, "ring:5");

    for (uint32_t count = 1; count < whole.count + 2; count++) {
        struct fake fake = whole;
        fake.count = count;
        fake.refused = 0;
        assert_int_equal(digest_with(&fake, "ring:5"), digest);
        assert_int_equal(fake.refused, count != whole.count);
    }
}

TEST(a_table_of_another_network_is_refused)
{
    struct fake fake = {.count = 0};

    digest_with(&fake, "ring:7");
    char name[sizeof fake.name];
    snprintf(name, sizeof name, "%s", fake.name);
    struct fake other = {.count = 0};
    uint32_t digest = digest_with(&other, "mesh:1x7");
    memcpy(fake.name, other.name, sizeof fake.name);
    assert_string_not_equal(name, other.name);
    assert_int_equal(digest_with(&fake, "mesh:1x7"), digest);
    assert_int_equal(fake.refused, 1);
}
