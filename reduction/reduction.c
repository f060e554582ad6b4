/*
 * reduction.c - one loop for each operator, made for each type of numbers; one for what is ordered.
 *
 * Elements are copied out and in, as they may lie anywhere. Integers are combined as unsigned
 * numbers, which wrap. What a processor makes of a sum or product that is no number is its own
 * affair (sign and payload differ), so here every such result is the same quiet one.
 *
 * What is least or greatest of float, double and pairs is found without arithmetic: each value has
 * a key, an unsigned number, and of two values the one with the larger key wins.
 *
 *     for max, of double    -inf < ... < -0 < +0 < ... < +inf < no number      (all bits of a
 *     for min, of double    +inf < ... < +0 < -0 < ... < -inf < no number       negative inverted)
 *
 * Example  the doubles 1 + 2^-53 give 1: rounded to nearest, and to even when two are as near
 * Source   IEEE 754-2019, 4.3.1 (rounding), 6.2.3 (propagation is only recommended), 9.6
 */
#include "reduction/reduction.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"

static const uint64_t sign_bit = UINT64_C(1) << 63;
static const uint32_t float_infinity = UINT32_C(0x7f800000), float_none = UINT32_C(0x7fc00000);
static const uint64_t double_infinity = UINT64_C(0x7ff0000000000000),
                      double_none = UINT64_C(0x7ff8000000000000);

_Static_assert(sizeof(float) == sizeof(uint32_t), "a float is binary32");
_Static_assert(sizeof(double) == sizeof(uint64_t), "a double is binary64");

enum kind { KIND_NONE, KIND_INTEGER, KIND_FLOATING, KIND_PAIR };

static const struct {
    const char *name;
    uint8_t kind; /* enum kind */
} types[] = {
    [ECUBE_INT32] = {"int32", KIND_INTEGER},
    [ECUBE_DOUBLE] = {"double", KIND_FLOATING},
    [ECUBE_INT8] = {"int8", KIND_INTEGER},
    [ECUBE_INT16] = {"int16", KIND_INTEGER},
    [ECUBE_INT64] = {"int64", KIND_INTEGER},
    [ECUBE_UINT8] = {"uint8", KIND_INTEGER},
    [ECUBE_UINT16] = {"uint16", KIND_INTEGER},
    [ECUBE_UINT32] = {"uint32", KIND_INTEGER},
    [ECUBE_UINT64] = {"uint64", KIND_INTEGER},
    [ECUBE_FLOAT] = {"float", KIND_FLOATING},
    [ECUBE_INT32_INT32] = {"int32+int32", KIND_PAIR},
    [ECUBE_INT64_INT32] = {"int64+int32", KIND_PAIR},
    [ECUBE_FLOAT_INT32] = {"float+int32", KIND_PAIR},
    [ECUBE_DOUBLE_INT32] = {"double+int32", KIND_PAIR},
};

/* Which kinds of types an operator is for, a bit for each. */
enum {
    OF_INTEGERS = 1 << KIND_INTEGER,
    OF_NUMBERS = 1 << KIND_INTEGER | 1 << KIND_FLOATING,
    OF_PAIRS = 1 << KIND_PAIR
};

static const struct {
    const char *name;
    uint8_t kinds;
} operators[] = {
    [ECUBE_SUM] = {"sum", OF_NUMBERS},
    [ECUBE_MAX] = {"max", OF_NUMBERS},
    [ECUBE_PRODUCT] = {"product", OF_NUMBERS},
    [ECUBE_MIN] = {"min", OF_NUMBERS},
    [ECUBE_LOGICAL_AND] = {"logical-and", OF_INTEGERS},
    [ECUBE_LOGICAL_OR] = {"logical-or", OF_INTEGERS},
    [ECUBE_LOGICAL_XOR] = {"logical-xor", OF_INTEGERS},
    [ECUBE_BITWISE_AND] = {"bitwise-and", OF_INTEGERS},
    [ECUBE_BITWISE_OR] = {"bitwise-or", OF_INTEGERS},
    [ECUBE_BITWISE_XOR] = {"bitwise-xor", OF_INTEGERS},
    [ECUBE_MINLOC] = {"minloc", OF_PAIRS},
    [ECUBE_MAXLOC] = {"maxloc", OF_PAIRS},
};

uint32_t reduction_element_bytes(uint32_t type)
{
    return ecube_type_bytes(type);
}

const char *reduction_type_name(uint32_t type)
{
    return type < sizeof types / sizeof types[0] ? types[type].name : NULL;
}

const char *reduction_operator_name(uint32_t operator_)
{
    return operator_ < sizeof operators / sizeof operators[0] ? operators[operator_].name : NULL;
}

uint32_t reduction_type_named(const char *name)
{
    for (uint32_t type = 1; reduction_type_name(type); type++) {
        if (strcmp(reduction_type_name(type), name) == 0) {
            return type;
        }
    }
    return 0;
}

uint32_t reduction_operator_named(const char *name)
{
    for (uint32_t operator_ = 1; reduction_operator_name(operator_); operator_++) {
        if (strcmp(reduction_operator_name(operator_), name) == 0) {
            return operator_;
        }
    }
    return 0;
}

bool reduction_possible(uint32_t type, uint32_t operator_)
{
    return reduction_type_name(type) && reduction_operator_name(operator_) &&
           operators[operator_].kinds & 1u << types[type].kind;
}

/* One element after the other: a is the left operand, b the right one. */
#define EACH(type, result)                                                                         \
    for (; count > 0; count--, into += sizeof(type), from += sizeof(type)) {                       \
        type a, b;                                                                                 \
        memcpy(&a, into, sizeof a);                                                                \
        memcpy(&b, from, sizeof b);                                                                \
        a = (type)(result);                                                                        \
        memcpy(into, &a, sizeof a);                                                                \
    }                                                                                              \
    break

/* `wide` is unsigned and at least as wide as an int: what is narrower would be a signed one. */
#define INTEGERS(name, type, wide)                                                                 \
    static void combine_##name(uint32_t operator_, uint8_t *into, const uint8_t *from,             \
                               uint32_t count)                                                     \
    {                                                                                              \
        switch (operator_) {                                                                       \
        case ECUBE_SUM: EACH(type, (wide)a + (wide)b);                                             \
        case ECUBE_PRODUCT: EACH(type, (wide)a *(wide)b);                                          \
        case ECUBE_MIN: EACH(type, b < a ? b : a);                                                 \
        case ECUBE_MAX: EACH(type, b > a ? b : a);                                                 \
        case ECUBE_LOGICAL_AND: EACH(type, a &&b);                                                 \
        case ECUBE_LOGICAL_OR: EACH(type, a || b);                                                 \
        case ECUBE_LOGICAL_XOR: EACH(type, !a != !b);                                              \
        case ECUBE_BITWISE_AND: EACH(type, (wide)a &(wide)b);                                      \
        case ECUBE_BITWISE_OR: EACH(type, (wide)a | (wide)b);                                      \
        default: EACH(type, (wide)a ^ (wide)b);                                                    \
        }                                                                                          \
    }

INTEGERS(int8, int8_t, uint32_t)
INTEGERS(int16, int16_t, uint32_t)
INTEGERS(int32, int32_t, uint32_t)
INTEGERS(int64, int64_t, uint64_t)
INTEGERS(uint8, uint8_t, uint32_t)
INTEGERS(uint16, uint16_t, uint32_t)
INTEGERS(uint32, uint32_t, uint32_t)
INTEGERS(uint64, uint64_t, uint64_t)

#define FLOATING(type, none)                                                                       \
    static type settled_##type(type x)                                                             \
    {                                                                                              \
        if (x != x)                                                                                \
            memcpy(&x, &(none), sizeof x);                                                         \
        return x;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static void combine_##type(uint32_t operator_, uint8_t *into, const uint8_t *from,             \
                               uint32_t count)                                                     \
    {                                                                                              \
        switch (operator_) {                                                                       \
        case ECUBE_SUM: EACH(type, settled_##type(a + b));                                         \
        default: EACH(type, settled_##type(a *b));                                                 \
        }                                                                                          \
    }

FLOATING(float, float_none)
FLOATING(double, double_none)

/* Of what has a key: a value that stands alone, or in a pair. */
struct value {
    uint64_t bits, key;
    uint32_t bytes; /* of the value; an index stands behind it, if there is one */
};

static uint64_t integer_key(int64_t number)
{
    return (uint64_t)number ^ sign_bit;
}

/* The bits of a float stand in the upper half. */
static uint64_t floating_key(uint64_t bits)
{
    return bits & sign_bit ? ~bits : bits | sign_bit;
}

static struct value floating_value(uint64_t bits, bool is_double, bool least)
{
    uint64_t places = is_double ? bits : bits << 32;
    uint64_t infinity = is_double ? double_infinity : (uint64_t)float_infinity << 32;
    uint64_t key = floating_key(places);
    struct value value = {bits, least ? ~key : key, is_double ? sizeof(double) : sizeof(float)};

    if ((places & ~sign_bit) > infinity) {
        value.bits = is_double ? double_none : float_none;
        value.key = UINT64_MAX;
    }
    return value;
}

static struct value value_at(uint32_t type, const uint8_t *at, bool least)
{
    uint32_t bytes = ecube_type_bytes(type) / (types[type].kind == KIND_PAIR ? 2 : 1);
    uint64_t bits = 0;

    memcpy(&bits, at, bytes);
    if (type == ECUBE_INT32_INT32 || type == ECUBE_INT64_INT32) {
        uint64_t key = integer_key(type == ECUBE_INT32_INT32 ? (int32_t)bits : (int64_t)bits);
        return (struct value){bits, least ? ~key : key, bytes};
    }
    return floating_value(bits, bytes == sizeof(double), least);
}

/* Least or greatest of float and double. */
static void choose(uint32_t type, bool least, uint8_t *into, const uint8_t *from, uint32_t count)
{
    uint32_t bytes = ecube_type_bytes(type);

    for (; count > 0; count--, into += bytes, from += bytes) {
        struct value a = value_at(type, into, least), b = value_at(type, from, least);
        memcpy(into, b.key > a.key ? &b.bits : &a.bits, bytes);
    }
}

/* ... of pairs. */
static void choose_pair(uint32_t type, bool least, uint8_t *into, const uint8_t *from,
                        uint32_t count)
{
    uint32_t bytes = ecube_type_bytes(type);
    int32_t index, other;

    for (; count > 0; count--, into += bytes, from += bytes) {
        struct value a = value_at(type, into, least), b = value_at(type, from, least);
        memcpy(&index, into + a.bytes, sizeof index);
        memcpy(&other, from + b.bytes, sizeof other);
        if (b.key > a.key || (b.key == a.key && other < index)) {
            a = b;
            index = other;
        }
        memset(into, 0, bytes);
        memcpy(into, &a.bits, a.bytes);
        memcpy(into + a.bytes, &index, sizeof index);
    }
}

void reduction_combine(uint32_t type, uint32_t operator_, uint8_t *into, const uint8_t *from,
                       uint32_t count)
{
    bool least = operator_ == ECUBE_MIN || operator_ == ECUBE_MINLOC;

    CHECK(reduction_possible(type, operator_));
    if (types[type].kind == KIND_PAIR) {
        choose_pair(type, least, into, from, count);
        return;
    }
    if (types[type].kind == KIND_FLOATING && (least || operator_ == ECUBE_MAX)) {
        choose(type, least, into, from, count);
        return;
    }
    switch (type) {
    case ECUBE_INT8: combine_int8(operator_, into, from, count); break;
    case ECUBE_INT16: combine_int16(operator_, into, from, count); break;
    case ECUBE_INT32: combine_int32(operator_, into, from, count); break;
    case ECUBE_INT64: combine_int64(operator_, into, from, count); break;
    case ECUBE_UINT8: combine_uint8(operator_, into, from, count); break;
    case ECUBE_UINT16: combine_uint16(operator_, into, from, count); break;
    case ECUBE_UINT32: combine_uint32(operator_, into, from, count); break;
    case ECUBE_UINT64: combine_uint64(operator_, into, from, count); break;
    case ECUBE_FLOAT: combine_float(operator_, into, from, count); break;
    default: combine_double(operator_, into, from, count); break;
    }
}
