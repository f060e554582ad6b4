/*
 * reduction_all_test.c - every operator on every type against arithmetic that is written otherwise:
 * integers bit by bit, sums and products of float and double by exact integers of 128 bits that are
 * rounded once, order by sign and magnitude.
 */
#include "tests/testing.h"

#include <string.h>

#include "reduction/reduction.h"

enum { TYPES = 15, OPERATORS = 13, COUNT = 4000, ELEMENT_MAX = 16, EXTREMES = 24 };

/* What the reference knows of a type. */
struct form {
    uint32_t bytes; /* of the number or value */
    bool is_signed, floats, pair;
    uint32_t precision, exponent_bits;
};

static const struct form forms[TYPES] = {
    [ECUBE_INT8] = {1, true, false, false, 0, 0},
    [ECUBE_INT16] = {2, true, false, false, 0, 0},
    [ECUBE_INT32] = {4, true, false, false, 0, 0},
    [ECUBE_INT64] = {8, true, false, false, 0, 0},
    [ECUBE_UINT8] = {1, false, false, false, 0, 0},
    [ECUBE_UINT16] = {2, false, false, false, 0, 0},
    [ECUBE_UINT32] = {4, false, false, false, 0, 0},
    [ECUBE_UINT64] = {8, false, false, false, 0, 0},
    [ECUBE_FLOAT] = {4, true, true, false, 24, 8},
    [ECUBE_DOUBLE] = {8, true, true, false, 53, 11},
    [ECUBE_INT32_INT32] = {4, true, false, true, 0, 0},
    [ECUBE_INT64_INT32] = {8, true, false, true, 0, 0},
    [ECUBE_FLOAT_INT32] = {4, true, true, true, 24, 8},
    [ECUBE_DOUBLE_INT32] = {8, true, true, true, 53, 11},
};

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static uint64_t read(const uint8_t *at, uint32_t bytes)
{
    uint64_t bits = 0;

    while (bytes-- > 0) {
        bits = bits << 8 | at[bytes];
    }
    return bits;
}

static void write(uint8_t *at, uint32_t bytes, uint64_t bits)
{
    for (uint32_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(bits >> 8 * i);
    }
}

static unsigned width(const struct form *form)
{
    return 8 * form->bytes;
}

/* Integers ------------------------------------------------------------------------------------ */

static signed_wide number_of(const struct form *form, uint64_t bits)
{
    signed_wide value = 0;

    for (unsigned i = 0; i < width(form); i++) {
        if (bits >> i & 1) {
            signed_wide place = (signed_wide)1 << i;
            value += form->is_signed && i + 1 == width(form) ? -place : place;
        }
    }
    return value;
}

static uint64_t integer(const struct form *form, uint32_t operator_, uint64_t a, uint64_t b)
{
    signed_wide x = number_of(form, a), y = number_of(form, b);
    uint64_t result = 0;

    switch (operator_) {
    case ECUBE_SUM: return (uint64_t)(x + y);
    case ECUBE_PRODUCT:
        for (unsigned i = 0; i < width(form); i++) {
            result += b >> i & 1 ? a << i : 0;
        }
        return result;
    case ECUBE_MIN: return x - y < 0 ? a : b;
    case ECUBE_MAX: return x - y > 0 ? a : b;
    case ECUBE_LOGICAL_AND: return x == 0 ? 0 : y == 0 ? 0 : 1;
    case ECUBE_LOGICAL_OR: return x == 0 && y == 0 ? 0 : 1;
    case ECUBE_LOGICAL_XOR: return (x == 0) + (y == 0) == 1;
    default:
        for (unsigned i = 0; i < width(form); i++) {
            unsigned set = (unsigned)(a >> i & 1) + (unsigned)(b >> i & 1);
            bool one = operator_ == ECUBE_BITWISE_AND  ? set == 2
                       : operator_ == ECUBE_BITWISE_OR ? set > 0
                                                       : set == 1;
            result |= (uint64_t)one << i;
        }
        return result;
    }
}

/* float and double --------------------------------------------------------------------------- */

static uint64_t infinity(const struct form *form)
{
    return ((UINT64_C(1) << form->exponent_bits) - 1) << (form->precision - 1);
}

static uint64_t sign_of(const struct form *form)
{
    return UINT64_C(1) << (width(form) - 1);
}

static bool is_none(const struct form *form, uint64_t bits)
{
    return (bits & ~sign_of(form)) > infinity(form);
}

static uint64_t none(const struct form *form)
{
    return infinity(form) | UINT64_C(1) << (form->precision - 2);
}

/* The number mantissa 2^exponent, exponent counted from the least subnormal number's. */
struct exact {
    bool negative;
    wide mantissa;
    int exponent;
};

static struct exact exact_of(const struct form *form, uint64_t bits)
{
    uint64_t magnitude = bits & ~sign_of(form);
    uint64_t fraction = magnitude & ((UINT64_C(1) << (form->precision - 1)) - 1);
    int exponent = (int)(magnitude >> (form->precision - 1));

    if (exponent == 0) {
        return (struct exact){bits & sign_of(form), fraction, 0};
    }
    return (struct exact){bits & sign_of(form), fraction | UINT64_C(1) << (form->precision - 1),
                          exponent - 1};
}

/* Rounded to nearest, even at a tie. Counts bits from below, so small numbers are subnormal. */
static uint64_t rounded(const struct form *form, struct exact x)
{
    uint64_t sign = x.negative ? sign_of(form) : 0;
    int bits = 0;

    while (bits < 128 && x.mantissa >> bits) {
        bits++;
    }
    int shift = bits - (int)form->precision;
    if (x.exponent + shift < 0) {
        shift = -x.exponent;
    }
    wide mantissa = x.mantissa;
    if (shift >= 128) {
        mantissa = 0;
    } else if (shift > 0) {
        wide rest = x.mantissa & (((wide)1 << shift) - 1), half = (wide)1 << (shift - 1);
        mantissa = x.mantissa >> shift;
        mantissa += rest > half || (rest == half && (mantissa & 1));
    } else {
        mantissa <<= -shift;
    }
    if (mantissa == 0) {
        return sign;
    }
    wide encoded = ((wide)(unsigned)(x.exponent + shift) << (form->precision - 1)) + mantissa;
    return sign | (encoded < infinity(form) ? (uint64_t)encoded : infinity(form));
}

static uint64_t sum(const struct form *form, uint64_t a, uint64_t b)
{
    uint64_t low = ~sign_of(form);

    if ((a & low) == infinity(form) || (b & low) == infinity(form)) {
        return (a & low) != infinity(form)   ? b
               : (b & low) != infinity(form) ? a
               : a == b                      ? a
                                             : none(form);
    }
    struct exact x = exact_of(form, (a & low) < (b & low) ? b : a);
    struct exact y = exact_of(form, (a & low) < (b & low) ? a : b);
    if (x.mantissa == 0) {
        return a & b;
    }
    int apart = x.exponent - y.exponent;
    x.mantissa <<= 64;
    x.exponent -= 64;
    y.mantissa <<= 64;
    wide moved = apart < 128 ? y.mantissa >> apart : 0;
    bool rest = y.mantissa && (apart >= 128 || moved << apart != y.mantissa);
    x.mantissa += x.negative == y.negative ? moved : -(moved + rest);
    if (x.mantissa == 0) {
        return 0;
    }
    x.mantissa |= rest;
    return rounded(form, x);
}

static uint64_t product(const struct form *form, uint64_t a, uint64_t b)
{
    uint64_t low = ~sign_of(form), sign = (a ^ b) & sign_of(form);
    int bias = (1 << (form->exponent_bits - 1)) - 1;

    if ((a & low) == infinity(form) || (b & low) == infinity(form)) {
        return (a & low) == 0 || (b & low) == 0 ? none(form) : sign | infinity(form);
    }
    struct exact x = exact_of(form, a), y = exact_of(form, b);
    /* the least subnormal number is 2^(2 - bias - precision) */
    return rounded(form, (struct exact){sign != 0, x.mantissa * y.mantissa,
                                        x.exponent + y.exponent + 2 - bias - (int)form->precision});
}

/* -infinity ... -0, 0 ... infinity as numbers that go up. */
static int64_t ordinal(const struct form *form, uint64_t bits)
{
    int64_t magnitude = (int64_t)(bits & ~sign_of(form));

    return bits & sign_of(form) ? -1 - magnitude : magnitude;
}

static uint64_t floating(const struct form *form, uint32_t operator_, uint64_t a, uint64_t b)
{
    if (is_none(form, a) || is_none(form, b)) {
        return none(form);
    }
    switch (operator_) {
    case ECUBE_SUM: return sum(form, a, b);
    case ECUBE_PRODUCT: return product(form, a, b);
    case ECUBE_MIN: return ordinal(form, a) < ordinal(form, b) ? a : b;
    default: return ordinal(form, a) > ordinal(form, b) ? a : b;
    }
}

/* Elements ----------------------------------------------------------------------------------- */

static uint64_t one_value(const struct form *form, uint32_t operator_, uint64_t a, uint64_t b)
{
    return form->floats ? floating(form, operator_, a, b) : integer(form, operator_, a, b);
}

/* Both are asked which value it is; of those that have it, the lower index. */
static void reference(uint32_t type, uint32_t operator_, uint8_t *into, const uint8_t *from)
{
    const struct form *form = &forms[type];
    uint64_t a = read(into, form->bytes), b = read(from, form->bytes);

    if (!form->pair) {
        write(into, form->bytes, one_value(form, operator_, a, b));
        return;
    }
    uint64_t best = one_value(form, operator_ == ECUBE_MINLOC ? ECUBE_MIN : ECUBE_MAX, a, b);
    int64_t i = (int32_t)read(into + form->bytes, 4), j = (int32_t)read(from + form->bytes, 4);
    bool none_best = form->floats && is_none(form, best);
    bool a_has = none_best ? is_none(form, a) : a == best;
    bool b_has = none_best ? is_none(form, b) : b == best;
    int64_t index = !b_has || (a_has && i < j) ? i : j;
    memset(into, 0, 2 * form->bytes);
    write(into, form->bytes, best);
    write(into + form->bytes, 4, (uint64_t)index);
}

/* The ends of the range, and what is special about floating ones. */
static uint64_t extreme(const struct form *form, unsigned which)
{
    uint64_t top = sign_of(form), inf = form->floats ? infinity(form) : top - 1;
    const uint64_t all[EXTREMES] = {
        0,
        1,
        2,
        3,
        top,
        top - 1,
        top + 1,
        top | 1,
        UINT64_MAX,
        UINT64_MAX - 1,
        top >> 1,
        UINT64_C(0x5555555555555555),
        inf,
        inf - 1,
        inf + 1,
        top | inf,
        top | (inf - 1),
        top | (inf + 5),
        inf | inf >> 1,
        form->floats ? UINT64_C(1) << (form->precision - 1) : 7,
        form->floats ? (UINT64_C(1) << (form->precision - 1)) - 1 : 10,
        form->floats ? (inf >> 1) & ~((UINT64_C(1) << (form->precision - 1)) - 1) : 100,
        top | 2,
        inf - 2};

    return all[which % EXTREMES];
}

static uint64_t drawn_value(const struct form *form)
{
    uint64_t bits = next(), exponent = 0;

    switch (next() % 4) {
    case 0: return extreme(form, (unsigned)(bits % EXTREMES));
    case 1: return bits;
    case 2:
        if (!form->floats) {
            return bits % 5 - 2;
        }
        exponent = (UINT64_C(1) << (form->exponent_bits - 1)) - 8 + next() % 16;
        break;
    default:
        if (!form->floats) {
            return extreme(form, (unsigned)(bits % EXTREMES)) + next() % 5 - 2;
        }
        exponent = next() % 2 ? next() % 3 : next() % (UINT64_C(1) << form->exponent_bits);
    }
    return (bits & ~infinity(form)) | exponent << (form->precision - 1);
}

static void draw(uint32_t type, uint8_t *at)
{
    const struct form *form = &forms[type];
    uint64_t index = next() % 3 ? next() % 4 : next();

    write(at, 8, next());
    write(at + 8, 8, next());
    write(at, form->bytes, drawn_value(form));
    if (form->pair) {
        write(at + form->bytes, 4, index);
    }
}

static void combine_one(uint32_t type, uint32_t operator_, uint8_t *into, const uint8_t *from)
{
    reduction_combine(type, operator_, into, from, 1);
}

static void differs(uint32_t type, uint32_t operator_, const uint8_t *a, const uint8_t *b,
                    const uint8_t *got, const uint8_t *wanted)
{
    uint32_t bytes = forms[type].bytes;

    fail_msg("%s of %s: %#llx, %#llx: %#llx, not %#llx", reduction_operator_name(operator_),
             reduction_type_name(type), (unsigned long long)read(a, bytes),
             (unsigned long long)read(b, bytes), (unsigned long long)read(got, bytes),
             (unsigned long long)read(wanted, bytes));
}

static void each(void (*try)(uint32_t type, uint32_t operator_))
{
    unsigned pairs = 0;

    for (uint32_t type = 1; type < TYPES; type++) {
        for (uint32_t operator_ = 1; operator_ < OPERATORS; operator_++) {
            if (reduction_possible(type, operator_)) {
                try(type, operator_);
                pairs++;
            }
        }
    }
    assert_int_equal(pairs, 8 * 10 + 2 * 4 + 4 * 2);
}

static void try_reference(uint32_t type, uint32_t operator_)
{
    uint8_t a[ELEMENT_MAX], b[ELEMENT_MAX], got[ELEMENT_MAX], wanted[ELEMENT_MAX];

    for (unsigned i = 0; i < COUNT; i++) {
        draw(type, a);
        draw(type, b);
        if (i < EXTREMES * EXTREMES) {
            write(a, forms[type].bytes, extreme(&forms[type], i % EXTREMES));
            write(b, forms[type].bytes, extreme(&forms[type], i / EXTREMES));
        }
        memcpy(got, a, sizeof a);
        memcpy(wanted, a, sizeof a);
        combine_one(type, operator_, got, b);
        reference(type, operator_, wanted, b);
        if (memcmp(got, wanted, reduction_element_bytes(type)) != 0) {
            differs(type, operator_, a, b, got, wanted);
        }
    }
}

TEST(every_operator_of_every_type_is_what_the_reference_says)
{
    each(try_reference);
}

static void try_other_way_round(uint32_t type, uint32_t operator_)
{
    uint8_t a[ELEMENT_MAX], b[ELEMENT_MAX], ab[ELEMENT_MAX], ba[ELEMENT_MAX];

    for (unsigned i = 0; i < COUNT; i++) {
        draw(type, a);
        draw(type, b);
        memcpy(ab, a, sizeof a);
        memcpy(ba, b, sizeof b);
        combine_one(type, operator_, ab, b);
        combine_one(type, operator_, ba, a);
        if (memcmp(ab, ba, reduction_element_bytes(type)) != 0) {
            differs(type, operator_, a, b, ab, ba);
        }
    }
}

TEST(either_operand_may_be_the_left_one)
{
    each(try_other_way_round);
}

static void try_other_brackets(uint32_t type, uint32_t operator_)
{
    uint8_t a[ELEMENT_MAX], b[ELEMENT_MAX], c[ELEMENT_MAX], left[ELEMENT_MAX], right[ELEMENT_MAX];

    if (forms[type].floats && (operator_ == ECUBE_SUM || operator_ == ECUBE_PRODUCT)) {
        return;
    }
    for (unsigned i = 0; i < COUNT; i++) {
        draw(type, a);
        draw(type, b);
        draw(type, c);
        memcpy(left, a, sizeof a);
        combine_one(type, operator_, left, b);
        combine_one(type, operator_, left, c);
        memcpy(right, b, sizeof b);
        combine_one(type, operator_, right, c);
        combine_one(type, operator_, right, a);
        if (memcmp(left, right, reduction_element_bytes(type)) != 0) {
            differs(type, operator_, a, b, left, right);
        }
    }
}

TEST(but_for_rounded_ones_brackets_do_not_matter)
{
    each(try_other_brackets);
}
