/*
 * testing.h - the part of cmocka's interface that unit tests use, for an image without an operating
 * system.
 *
 * Results go out by semihosting in the same TAP lines that cmocka writes on the host.
 *
 * Errors   a failed assertion ends its test; the image exits with 1 when any test failed
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Runs the tests of the image in the order of their lines; 0 when all passed. */
int testing_run(void);

/* Writes a comment line that ends in a number. */
void testing_note_number(const char *text, uint64_t number);

/* Ends the running test as failed, with the place and the text of what did not hold. */
_Noreturn void testing_fail(const char *file, int line, const char *what);

/* As testing_fail, with the two numbers that differ. */
_Noreturn void testing_differ(const char *file, int line, const char *what, uint64_t a, uint64_t b);

#define assert_true(x)         ((x) ? (void)0 : testing_fail(__FILE__, __LINE__, #x))
#define assert_false(x)        assert_true(!(x))
#define assert_null(x)         assert_true((x) == NULL)
#define assert_non_null(x)     assert_true((x) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_int_equal(a, b)                                                                     \
    ((uint64_t)(a) == (uint64_t)(b)                                                                \
         ? (void)0                                                                                 \
         : testing_differ(__FILE__, __LINE__, #a " == " #b, (uint64_t)(a), (uint64_t)(b)))
#define assert_int_not_equal(a, b) assert_true((uint64_t)(a) != (uint64_t)(b))
#define assert_in_range(v, low, high)                                                              \
    assert_true((uint64_t)(v) >= (uint64_t)(low) && (uint64_t)(v) <= (uint64_t)(high))
#define assert_memory_equal(a, b, n)     assert_true(memcmp((a), (b), (n)) == 0)
#define assert_memory_not_equal(a, b, n) assert_true(memcmp((a), (b), (n)) != 0)
#define assert_string_equal(a, b)        assert_true(strcmp((a), (b)) == 0)
#define fail_msg(...)                    testing_fail(__FILE__, __LINE__, "fail_msg")
