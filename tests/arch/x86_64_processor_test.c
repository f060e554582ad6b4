/*
 * x86_64_processor_test.c - what a crash of a program in the simulator is, by its trap and error
 * code.
 */
#include "tests/testing.h"

#include "arch/armv7a/host/processor.h"
#include "arch/processor.h"

/* As a report has them: number of the trap, low byte of its error code. */
static enum abort_cause cause(uint32_t trap, uint32_t error)
{
    return processor_x86_64.abort_cause(trap << 8 | error);
}

TEST(trap_and_error_code_say_why_an_abort_came)
{
    assert_int_equal(cause(14, 4), ABORT_OTHER);      /* read where nothing is */
    assert_int_equal(cause(14, 6), ABORT_OTHER);      /* written there */
    assert_int_equal(cause(14, 7), ABORT_PERMISSION); /* written to constants */
    assert_int_equal(cause(14, 0x15), ABORT_PERMISSION);
    assert_int_equal(cause(3, 0), ABORT_BREAKPOINT);
    assert_int_equal(cause(13, 0), ABORT_FORBIDDEN);
    assert_int_equal(cause(13, 0x80),
                     ABORT_ELSEWHERE); /* returned to an address that none can be */
    assert_int_equal(cause(14, 0x87), ABORT_ELSEWHERE);
    assert_int_equal(cause(6, 0), ABORT_OTHER);
}

TEST(the_registers_that_a_report_has_are_named)
{
    for (unsigned i = 0; i < PROCESSOR_NAMES; i++) {
        bool known = i == PROCESSOR_SP || i == PROCESSOR_PC;

        assert_true((processor_x86_64.names[i] != NULL) == known);
        assert_non_null(processor_armv7a.names[i]);
    }
}

TEST(a_call_stands_before_its_return_address)
{
    assert_int_equal(processor_x86_64.call_bytes, 1); /* of any length: its last byte */
    assert_int_equal(processor_armv7a.call_bytes, 2);
}

TEST(an_odd_address_is_one_of_code_only_where_it_means_thumb)
{
    assert_int_equal(0x1001 & processor_x86_64.code_mask, 0x1001);
    assert_int_equal(0x1001 & processor_armv7a.code_mask, 0x1000);
}
