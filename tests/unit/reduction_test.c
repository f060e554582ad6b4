/* The arithmetic of reductions, bit by bit: host and target must give the same. */
#include "tests/unit/testing.h"

#include <string.h>

#include "reduction/reduction.h"
#include "wire/crc.h"

enum { COUNT = 500, ROUNDS = 20 };

/* Check values of what all processors make of the same random doubles. */
static const uint32_t random_sums = 0x98d82c80, random_maxima = 0xdf932faa;

static const uint64_t infinity = UINT64_C(0x7ff0000000000000),
                      minus_infinity = UINT64_C(0xfff0000000000000),
                      no_number = UINT64_C(0x7ff8000000000000),
                      signalling = UINT64_C(0xfff4000000000123);

static uint64_t combined(uint32_t operator_, uint64_t into, uint64_t from)
{
    reduction_combine(ECUBE_DOUBLE, operator_, (uint8_t *)&into, (const uint8_t *)&from, 1);
    return into;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int32_t combined_int32(uint32_t operator_, int32_t into, int32_t from)
{
    reduction_combine(ECUBE_INT32, operator_, (uint8_t *)&into, (const uint8_t *)&from, 1);
    return into;
}

static void two_types_and_two_operators_are_known(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 300; type++) {
        for (uint32_t operator_ = 0; operator_ < 300; operator_++) {
            bool known = (type == ECUBE_INT32 || type == ECUBE_DOUBLE) &&
                         (operator_ == ECUBE_SUM || operator_ == ECUBE_MAX);
            assert_int_equal(reduction_possible(type, operator_), known);
        }
    }
    assert_string_equal(reduction_type_name(ECUBE_INT32), "int32");
    assert_string_equal(reduction_type_name(ECUBE_DOUBLE), "double");
    assert_string_equal(reduction_operator_name(ECUBE_SUM), "sum");
    assert_string_equal(reduction_operator_name(ECUBE_MAX), "max");
    assert_null(reduction_type_name(0));
    assert_null(reduction_operator_name(0));
    assert_int_equal(reduction_element_bytes(ECUBE_INT32), 4);
    assert_int_equal(reduction_element_bytes(ECUBE_DOUBLE), 8);
    assert_int_equal(reduction_element_bytes(0), 0);
}

static void sums_of_int32_wrap_and_maxima_have_a_sign(void **state)
{
    (void)state;
    assert_int_equal(combined_int32(ECUBE_SUM, 2, 3), 5);
    assert_int_equal(combined_int32(ECUBE_SUM, INT32_MAX, 1), INT32_MIN);
    assert_int_equal(combined_int32(ECUBE_SUM, INT32_MIN, INT32_MIN), 0);
    assert_int_equal(combined_int32(ECUBE_MAX, -1, 1), 1);
    assert_int_equal(combined_int32(ECUBE_MAX, 7, INT32_MIN), 7);
}

static void doubles_are_rounded_to_nearest_even(void **state)
{
    (void)state;
    const uint64_t one = UINT64_C(0x3ff0000000000000), half_ulp = UINT64_C(0x3ca0000000000000);
    assert_int_equal(combined(ECUBE_SUM, bits_of(0.1), bits_of(0.2)), UINT64_C(0x3fd3333333333334));
    assert_int_equal(combined(ECUBE_SUM, one, half_ulp), one);
    assert_int_equal(combined(ECUBE_SUM, one + 1, half_ulp), one + 2);
    assert_int_equal(combined(ECUBE_SUM, one, half_ulp + 1), one + 1);
}

static void subnormal_doubles_count(void **state)
{
    (void)state;
    const uint64_t least = 1, normal = UINT64_C(0x0010000000000000);
    assert_int_equal(combined(ECUBE_SUM, least, least), 2);
    assert_int_equal(combined(ECUBE_SUM, normal - 1, least), normal);
    assert_int_equal(combined(ECUBE_MAX, 0, least), least);
}

static void what_is_no_number_is_so_in_one_way(void **state)
{
    (void)state;
    const uint64_t huge = UINT64_C(0x7fefffffffffffff), one = bits_of(1);
    assert_int_equal(combined(ECUBE_SUM, huge, huge), infinity);
    assert_int_equal(combined(ECUBE_SUM, infinity, minus_infinity), no_number);
    assert_int_equal(combined(ECUBE_SUM, signalling, one), no_number);
    assert_int_equal(combined(ECUBE_SUM, one, signalling), no_number);
}

static void a_maximum_is_the_left_one_where_neither_is_larger(void **state)
{
    (void)state;
    const uint64_t zero = 0, minus_zero = UINT64_C(1) << 63, one = bits_of(1);
    assert_int_equal(combined(ECUBE_MAX, zero, minus_zero), zero);
    assert_int_equal(combined(ECUBE_MAX, minus_zero, zero), minus_zero);
    assert_int_equal(combined(ECUBE_MAX, one, signalling), one);
    assert_int_equal(combined(ECUBE_MAX, signalling, one), signalling);
    assert_int_equal(combined(ECUBE_MAX, bits_of(-2), bits_of(-1)), bits_of(-1));
    assert_int_equal(combined(ECUBE_MAX, infinity, one), infinity);
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* Any bits, or doubles whose exponents lie close together. */
static void fill(uint64_t *seed, bool close, uint8_t *at)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t bits = next(seed);
        if (close) {
            bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (1000 + (bits >> 52 & 63)) << 52;
        }
        memcpy(at + i * sizeof bits, &bits, sizeof bits);
    }
}

static uint32_t check_value(uint32_t operator_)
{
    static uint8_t into[COUNT * 8 + 8], from[COUNT * 8 + 8];
    uint64_t seed = 88172645463325252u;
    uint32_t crc = 0;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint8_t *a = into + round % 8, *b = from + round / 8;
        fill(&seed, round & 1, a);
        fill(&seed, round & 1, b);
        reduction_combine(ECUBE_DOUBLE, operator_, a, b, COUNT);
        crc = crc32_add(crc, a, COUNT * 8);
    }
    return crc;
}

static void ten_thousand_doubles_give_the_same_bits_everywhere(void **state)
{
    (void)state;
    assert_int_equal(check_value(ECUBE_SUM), random_sums);
    assert_int_equal(check_value(ECUBE_MAX), random_maxima);
}

static void elements_may_lie_anywhere_and_nothing_else_is_touched(void **state)
{
    (void)state;
    uint8_t into[8 * 5 + 8], from[8 * 5 + 8], before[sizeof into];
    for (uint32_t type = ECUBE_INT32; type <= ECUBE_DOUBLE; type++) {
        uint32_t element = reduction_element_bytes(type);
        for (uint32_t at = 0; at < 8; at++) {
            memset(into, 0x11, sizeof into);
            memset(from, 0x22, sizeof from);
            memcpy(before, into, sizeof into);
            reduction_combine(type, ECUBE_MAX, into + at, from + 7 - at, 5);
            assert_memory_equal(into, before, at);
            assert_memory_equal(into + at, from, 5 * element);
            assert_memory_equal(into + at + 5 * element, before, sizeof into - at - 5 * element);
        }
    }
}

TEST_MAIN(cmocka_unit_test(two_types_and_two_operators_are_known),
          cmocka_unit_test(sums_of_int32_wrap_and_maxima_have_a_sign),
          cmocka_unit_test(doubles_are_rounded_to_nearest_even),
          cmocka_unit_test(subnormal_doubles_count),
          cmocka_unit_test(what_is_no_number_is_so_in_one_way),
          cmocka_unit_test(a_maximum_is_the_left_one_where_neither_is_larger),
          cmocka_unit_test(ten_thousand_doubles_give_the_same_bits_everywhere),
          cmocka_unit_test(elements_may_lie_anywhere_and_nothing_else_is_touched))
