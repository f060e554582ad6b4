/*
 * relations_test.c - no plan is dearer than what contains it, or than plans of other operations one
 * after the other: relations drawn from seeds. `make build/relations` prints any number of them.
 */
#include "tests/testing.h"

#include <stdio.h>

#include "collectives/operation.h"
#include "tests/planner/relations.h"

enum { DRAWS = 200, LONG_DRAWS = 2000, OPEN_PERCENT = 2, PERMILLE_MAX = 1100 };

/* What is open is printed, with the algorithm of the plan that takes too long. */
static void hold(unsigned first, unsigned draws)
{
    unsigned open = 0;

    for (unsigned seed = first; seed < first + draws; seed++) {
        struct relation relation = relation_draw(seed);
        if (relation.permille > 1000) {
            open++;
            print_error("seed %u, %s on %s, %u bytes, root %u: %llu of %llu ns, by %s\n", seed,
                        relation.name, relation.network, relation.bytes, relation.root,
                        (unsigned long long)relation.takes_ns,
                        (unsigned long long)relation.limit_ns, relation.algorithm);
        }
        assert_in_range(relation.permille, 0, PERMILLE_MAX);
    }
    assert_in_range(open, 0, draws * OPEN_PERCENT / 100);
}

TEST(no_plan_is_dearer_than_what_it_can_be_made_of)
{
    hold(1, DRAWS / sweep_share());
}

TEST_LONG(no_plan_is_dearer_for_any_of_many_draws)
{
    hold(DRAWS + 1, LONG_DRAWS);
}

/* A part of an exchange that is another network's. */
TEST(what_once_was_dearer_no_longer_is)
{
    assert_in_range(relation_draw(869).permille, 0, 1000);
}
