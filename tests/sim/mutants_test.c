/*
 * mutants_test.c - what is accepted is executed: the part for which there is time with sanitizers.
 */
#include "tests/testing.h"

#include "tests/sim/mutants.h"

enum { ACCEPTED = 100 };

TEST(what_is_accepted_of_changed_plans_is_executed_as_predicted)
{
    struct mutants_tally tally = mutants_run(1, ACCEPTED);
    print_message("%u of %u changed plans were accepted\n", (unsigned)tally.accepted,
                  (unsigned)tally.drawn);
    assert_int_equal(tally.failed, 0);
    assert_true(tally.drawn > tally.accepted); /* else nothing was refused */
}
