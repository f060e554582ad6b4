/*
 * testing.h - what a test includes, so that the same source runs on the host and on the target.
 *
 * On the host it is cmocka. On the target it is the part of cmocka's interface that our tests use,
 * in tests/target/testing.h, ended by a semihosting exit. A test is a function whose name is a
 * sentence that is true:
 *
 *     TEST(crc_of_123456789_is_e3069283)
 *     {
 *         assert_int_equal(crc32c(...), 0xe3069283);
 *     }
 *
 * That is all: the linker gathers the tests of a binary, which tests/main.c (on the target
 * tests/target/testing.c) runs in the order in which they stand. TEST_LONG is one that `make test`
 * leaves to `make test-long`; why stands beside it. TEST_SWEEP is one over more cases than a person
 * waits for: both run it, `make test` with a share of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct test {
    const char *name;
    int line;
    unsigned tiers; /* of TIER_SHORT, TIER_LONG: those that run it */
    void (*function)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};

#define TEST_OF(name, tiers, setup, teardown)                                                      \
    static void name(void **state);                                                                \
    static const struct test name##_test = {#name, __LINE__, tiers, name, setup, teardown};        \
    static const struct test *const name##_entry __attribute__((used, section("tests"))) =         \
        &name##_test;                                                                              \
    static void name(void **state __attribute__((unused)))

enum { TIER_SHORT = 1, TIER_LONG = 2 };

#define TEST(name)       TEST_OF(name, TIER_SHORT, NULL, NULL)
#define TEST_LONG(name)  TEST_OF(name, TIER_LONG, NULL, NULL)
#define TEST_SWEEP(name) TEST_OF(name, TIER_SHORT | TIER_LONG, NULL, NULL)

/* A test between setup and teardown, either of which may be NULL; `state` is what they share. */
#define TEST_WITH(name, setup, teardown) TEST_OF(name, TIER_SHORT, setup, teardown)

/* Sweeps (the Makefile's SWEEPS) are made twice: with sanitizers, which take five times as long,
 * they take one of so many of the cases that they take without. */
#ifdef __SANITIZE_ADDRESS__
enum { BUILD_SHARE = 5 };
#else
enum { BUILD_SHARE = 1 };
#endif

/* One of so many cases a sweep takes: BUILD_SHARE, in `make test` several times as many. */
unsigned sweep_share(void);

/* At most once in a binary: what comes before all its tests, and after them; either may be NULL. */
struct test_group {
    int (*setup)(void **state);
    int (*teardown)(void **state);
};
extern const struct test_group test_group;
#define TEST_GROUP(setup, teardown) const struct test_group test_group = {setup, teardown}

/* The tests of this binary, as the linker has gathered them: in no order. */
extern const struct test *const __start_tests[], *const __stop_tests[];

#ifdef __arm__
#include "tests/target/testing.h"
#else
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#endif
