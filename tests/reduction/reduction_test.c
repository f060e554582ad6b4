/* The arithmetic of reductions, bit by bit: host and target must give the same. */
#include "tests/testing.h"

#include <string.h>

#include "reduction/reduction.h"
#include "wire/crc.h"

enum { COUNT = 500, ROUNDS = 12 };

/* Check values of what all processors make of the same random elements of each type. */
static const uint32_t random_results[] = {
    0,          0x2a97737d, 0xf24b8352, 0xf0c0366b, 0x8bc0fd62, 0xec00c54a, 0xf9c2217d, 0xd7f01401,
    0xe1da2484, 0xea0036f1, 0x2cf4c8a5, 0x4809ac25, 0x1146c819, 0xcc4dc04c, 0x5a040202};

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

TEST(types_and_operators_go_together_or_not)
{
    for (uint32_t type = 0; type < 300; type++) {
        bool integer = type == ECUBE_INT32 || (type >= ECUBE_INT8 && type <= ECUBE_UINT64);
        bool floating = type == ECUBE_DOUBLE || type == ECUBE_FLOAT;
        bool pair = type >= ECUBE_INT32_INT32 && type <= ECUBE_DOUBLE_INT32;
        for (uint32_t operator_ = 0; operator_ < 300; operator_++) {
            bool order = operator_ >= ECUBE_SUM && operator_ <= ECUBE_MIN;
            bool truth = operator_ >= ECUBE_LOGICAL_AND && operator_ <= ECUBE_BITWISE_XOR;
            bool place = operator_ == ECUBE_MINLOC || operator_ == ECUBE_MAXLOC;
            bool known = integer ? order || truth : floating ? order : pair && place;
            assert_int_equal(reduction_possible(type, operator_), known);
        }
        assert_int_equal(reduction_element_bytes(type) > 0, integer || floating || pair);
        assert_int_equal(reduction_type_name(type) != NULL, integer || floating || pair);
    }
    for (uint32_t type = 1; reduction_type_name(type); type++) {
        assert_int_equal(reduction_type_named(reduction_type_name(type)), type);
    }
    for (uint32_t operator_ = 1; reduction_operator_name(operator_); operator_++) {
        assert_int_equal(reduction_operator_named(reduction_operator_name(operator_)), operator_);
    }
    assert_int_equal(reduction_operator_named("bitwise-xor"), ECUBE_BITWISE_XOR);
    assert_int_equal(reduction_operator_named("bitwise xor"), 0);
    assert_int_equal(reduction_operator_named("bitwise"), 0);
    assert_int_equal(reduction_operator_named("bitwise-xor-"), 0);
    assert_int_equal(reduction_operator_named("min-loc"), 0);
    assert_int_equal(reduction_type_named(""), 0);
    assert_string_equal(reduction_type_name(ECUBE_INT32), "int32");
    assert_string_equal(reduction_type_name(ECUBE_DOUBLE_INT32), "double+int32");
    assert_string_equal(reduction_operator_name(ECUBE_SUM), "sum");
    assert_string_equal(reduction_operator_name(ECUBE_MAXLOC), "maxloc");
    assert_null(reduction_operator_name(0));
    assert_null(reduction_operator_name(ECUBE_MAXLOC + 1));
    assert_int_equal(reduction_element_bytes(ECUBE_UINT8), 1);
    assert_int_equal(reduction_element_bytes(ECUBE_FLOAT_INT32), 8);
    assert_int_equal(reduction_element_bytes(ECUBE_DOUBLE_INT32), 16);
}

TEST(sums_of_int32_wrap_and_maxima_have_a_sign)
{
    assert_int_equal(combined_int32(ECUBE_SUM, 2, 3), 5);
    assert_int_equal(combined_int32(ECUBE_SUM, INT32_MAX, 1), INT32_MIN);
    assert_int_equal(combined_int32(ECUBE_SUM, INT32_MIN, INT32_MIN), 0);
    assert_int_equal(combined_int32(ECUBE_MAX, -1, 1), 1);
    assert_int_equal(combined_int32(ECUBE_MAX, 7, INT32_MIN), 7);
}

TEST(doubles_are_rounded_to_nearest_even)
{
    const uint64_t one = UINT64_C(0x3ff0000000000000), half_ulp = UINT64_C(0x3ca0000000000000);
    assert_int_equal(combined(ECUBE_SUM, bits_of(0.1), bits_of(0.2)), UINT64_C(0x3fd3333333333334));
    assert_int_equal(combined(ECUBE_SUM, one, half_ulp), one);
    assert_int_equal(combined(ECUBE_SUM, one + 1, half_ulp), one + 2);
    assert_int_equal(combined(ECUBE_SUM, one, half_ulp + 1), one + 1);
}

TEST(subnormal_doubles_count)
{
    const uint64_t least = 1, normal = UINT64_C(0x0010000000000000);
    assert_int_equal(combined(ECUBE_SUM, least, least), 2);
    assert_int_equal(combined(ECUBE_SUM, normal - 1, least), normal);
    assert_int_equal(combined(ECUBE_MAX, 0, least), least);
}

TEST(what_is_no_number_is_so_in_one_way)
{
    const uint64_t huge = UINT64_C(0x7fefffffffffffff), one = bits_of(1);
    assert_int_equal(combined(ECUBE_SUM, huge, huge), infinity);
    assert_int_equal(combined(ECUBE_SUM, infinity, minus_infinity), no_number);
    assert_int_equal(combined(ECUBE_SUM, signalling, one), no_number);
    assert_int_equal(combined(ECUBE_SUM, one, signalling), no_number);
}

TEST(zeros_have_an_order_and_no_number_wins)
{
    const uint64_t zero = 0, minus_zero = UINT64_C(1) << 63, one = bits_of(1);
    assert_int_equal(combined(ECUBE_MAX, zero, minus_zero), zero);
    assert_int_equal(combined(ECUBE_MAX, minus_zero, zero), zero);
    assert_int_equal(combined(ECUBE_MIN, zero, minus_zero), minus_zero);
    assert_int_equal(combined(ECUBE_MIN, minus_zero, zero), minus_zero);
    assert_int_equal(combined(ECUBE_MAX, one, signalling), no_number);
    assert_int_equal(combined(ECUBE_MAX, signalling, infinity), no_number);
    assert_int_equal(combined(ECUBE_MIN, signalling, minus_infinity), no_number);
    assert_int_equal(combined(ECUBE_MAX, bits_of(-2), bits_of(-1)), bits_of(-1));
    assert_int_equal(combined(ECUBE_MIN, bits_of(-2), bits_of(-1)), bits_of(-2));
    assert_int_equal(combined(ECUBE_MAX, infinity, one), infinity);
    assert_int_equal(combined(ECUBE_PRODUCT, zero, infinity), no_number);
    assert_int_equal(combined(ECUBE_PRODUCT, 1, bits_of(0.5)), zero);
    assert_int_equal(combined(ECUBE_PRODUCT, 3, bits_of(0.5)), 2);
}

TEST(of_equal_values_the_lower_index_wins)
{
    const struct pair {
        double value;
        int32_t index, spare;
    } low = {2.5, -7, 0}, high = {2.5, 4, 0}, less = {-1, 9, 5}, none = {0.0 / 0.0, 8, 0};
    struct pair into = high;
    uint32_t type = ECUBE_DOUBLE_INT32;

    reduction_combine(type, ECUBE_MAXLOC, (uint8_t *)&into, (const uint8_t *)&low, 1);
    assert_memory_equal(&into, &low, sizeof into);
    reduction_combine(type, ECUBE_MAXLOC, (uint8_t *)&into, (const uint8_t *)&high, 1);
    assert_memory_equal(&into, &low, sizeof into);
    reduction_combine(type, ECUBE_MINLOC, (uint8_t *)&into, (const uint8_t *)&less, 1);
    assert_true(into.value == -1 && into.index == 9 && into.spare == 0);
    reduction_combine(type, ECUBE_MINLOC, (uint8_t *)&into, (const uint8_t *)&none, 1);
    assert_true(into.value != into.value && into.index == 8);
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* Any bits; or numbers whose exponents lie close together, of double or of float. */
static void fill(uint64_t *seed, uint32_t round, uint8_t *at)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t bits = next(seed);
        if (round % 3 == 1) {
            bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (1000 + (bits >> 52 & 63)) << 52;
        } else if (round % 3 == 2) {
            const uint64_t exponents = UINT64_C(0x3800000038000000);
            bits = (bits & ~UINT64_C(0x7c0000007c000000)) | exponents;
        }
        memcpy(at + i * sizeof bits, &bits, sizeof bits);
    }
}

/* Of all operators that the type has. */
static uint32_t check_value(uint32_t type)
{
    static uint8_t into[COUNT * 8 + 8], from[COUNT * 8 + 8];
    uint32_t count = COUNT * 8 / reduction_element_bytes(type), crc = 0;
    uint64_t seed = 88172645463325252u;

    for (uint32_t operator_ = 0; operator_ <= ECUBE_MAXLOC; operator_++) {
        for (uint32_t round = 0; round < ROUNDS && reduction_possible(type, operator_); round++) {
            uint8_t *a = into + round % 8, *b = from + round / 3;
            fill(&seed, round, a);
            fill(&seed, round, b);
            reduction_combine(type, operator_, a, b, count);
            crc = crc32_add(crc, a, COUNT * 8);
        }
    }
    return crc;
}

TEST(random_elements_give_the_same_bits_everywhere)
{
    for (uint32_t type = 1; reduction_type_name(type); type++) {
        assert_int_equal(check_value(type), random_results[type]);
    }
}

TEST(elements_may_lie_anywhere_and_nothing_else_is_touched)
{
    uint8_t into[16 * 5 + 16], from[16 * 5 + 16], whole[16 * 5], other[16 * 5], before[sizeof into];
    uint64_t seed = 1;
    for (uint32_t type = 1; reduction_type_name(type); type++) {
        uint32_t bytes = 5 * reduction_element_bytes(type);
        uint32_t operator_ = reduction_possible(type, ECUBE_MAX) ? ECUBE_MAX : ECUBE_MAXLOC;
        for (uint32_t at = 0; at < 16; at++) {
            for (uint32_t i = 0; i < sizeof into; i++) {
                into[i] = (uint8_t)next(&seed);
                from[i] = (uint8_t)next(&seed);
            }
            memcpy(before, into, sizeof into);
            memcpy(whole, into + at, bytes);
            memcpy(other, from + 15 - at, bytes);
            reduction_combine(type, operator_, whole, other, 5);
            reduction_combine(type, operator_, into + at, from + 15 - at, 5);
            assert_memory_equal(into, before, at);
            assert_memory_equal(into + at, whole, bytes);
            assert_memory_equal(into + at + bytes, before + at + bytes, sizeof into - at - bytes);
        }
    }
}
