/*
 * testing.h - what a unit test includes, so that the same source runs on the host and on the
 * target.
 *
 * On the host it is cmocka. On the target it is the part of cmocka's interface that our tests use,
 * in tests/target/testing.h, ended by a semihosting exit. A test is a function whose name is a
 * sentence that is true:
 *
 *     static void crc_of_123456789_is_e3069283(void **state) { ... assert_int_equal(...); }
 *     TEST_MAIN(cmocka_unit_test(crc_of_123456789_is_e3069283), ...)
 */
#pragma once

#ifdef __arm__
#include "tests/target/testing.h"
#else
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#endif

#ifdef __arm__
#define TEST_ENTRY testing_main
#else
#define TEST_ENTRY main
#endif

#define TEST_MAIN(...)                                                                             \
    int TEST_ENTRY(void)                                                                           \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }
