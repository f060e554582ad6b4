/*
 * processor_test.c - calls in Thumb and ARM code, as GNU as encodes them, and fault status words.
 */
#include "arch/armv7a/host/processor.h"
#include "tests/testing.h"
#include "wire/bytes.h"

enum { THUMB = 1, NO_CALL = 1 };

/* What the code is that ends at an address, where a call would return to: the function called, 0
 * for a call by pointer, NO_CALL. */
static uint32_t called(uint32_t code, uint32_t return_address)
{
    uint8_t bytes[PROCESSOR_CALL_BYTES];
    uint32_t target;

    put32(bytes, code);
    return processor_is_call(bytes, return_address, &target) ? target : NO_CALL;
}

TEST(calls_of_thumb_code_lead_forward_back_and_to_arm_code)
{
    assert_int_equal(called(0xfffef7ff, 0x104 | THUMB), 0x100);
    assert_int_equal(called(0xff7cf000, 0x108 | THUMB), 0x1000);
    assert_int_equal(called(0xef7af001, 0x10c | THUMB), 0x2000);  /* BLX */
    assert_int_equal(called(0x47980000, 0x10e | THUMB), 0);       /* BLX r3, behind anything */
    assert_int_equal(called(0xbf77f000, 0x112 | THUMB), NO_CALL); /* B.W */
}

TEST(calls_of_arm_code_lead_forward_back_and_to_thumb_code)
{
    assert_int_equal(called(0xebfffffe, 0x2004), 0x2000);
    assert_int_equal(called(0xeb0003fd, 0x2008), 0x3000);
    assert_int_equal(called(0xfafffbfc, 0x200c), 0x1000); /* BLX */
    assert_int_equal(called(0xe12fff33, 0x2010), 0);      /* BLX r3 */
    assert_int_equal(called(0x0bfff839, 0x2018), 0x100);  /* BLEQ */
    assert_int_equal(called(0xeafffffa, 0x2014), NO_CALL);
}

TEST(a_call_lies_before_its_return_address_without_the_bit_for_thumb)
{
    assert_int_equal(processor_code_address(0x104 | THUMB), 0x104);
    assert_int_equal(processor_call_address(0x104 | THUMB), 0x102);
    assert_int_equal(processor_call_address(0x2004), 0x2002);
}

TEST(fault_status_tells_breakpoints_and_forbidden_pages)
{
    assert_int_equal(processor_abort_cause(0x002), ABORT_BREAKPOINT);
    assert_int_equal(processor_abort_cause(0x80f), ABORT_PERMISSION); /* of a write */
    assert_int_equal(processor_abort_cause(0x007), ABORT_OTHER);      /* nothing is mapped there */
    assert_int_equal(processor_abort_cause(0x402), ABORT_OTHER);      /* bit 10 is of the source */
}
