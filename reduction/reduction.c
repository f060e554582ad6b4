/*
 * reduction.c - one loop for each pair of type and operator.
 *
 * Elements are copied out and in, as they may lie anywhere. A sum of int32 wraps. What a processor
 * makes of a sum that is no number is its own affair (sign and payload differ), so here every such
 * sum is the same quiet one; a maximum copies one of its operands, bit by bit.
 *
 * Example  the doubles 1 + 2^-53 give 1: rounded to nearest, and to even when two are as near
 * Source   IEEE 754-2008, 4.3.1 (rounding), 6.2.3 (propagation is only recommended)
 */
#include "reduction/reduction.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"

static const uint64_t no_number = UINT64_C(0x7ff8000000000000);

_Static_assert(sizeof(double) == sizeof(uint64_t), "a double is binary64");

uint32_t reduction_element_bytes(uint32_t type)
{
    switch (type) {
    case ECUBE_INT32: return sizeof(int32_t);
    case ECUBE_DOUBLE: return sizeof(double);
    default: return 0;
    }
}

const char *reduction_type_name(uint32_t type)
{
    switch (type) {
    case ECUBE_INT32: return "int32";
    case ECUBE_DOUBLE: return "double";
    default: return NULL;
    }
}

const char *reduction_operator_name(uint32_t operator_)
{
    switch (operator_) {
    case ECUBE_SUM: return "sum";
    case ECUBE_MAX: return "max";
    default: return NULL;
    }
}

bool reduction_possible(uint32_t type, uint32_t operator_)
{
    return reduction_type_name(type) && reduction_operator_name(operator_);
}

/* Unsigned, for it may wrap. */
static void add_int32(uint8_t *into, const uint8_t *from, uint32_t count)
{
    uint32_t a, b;

    for (size_t at = 0; count > 0; count--, at += sizeof a) {
        memcpy(&a, into + at, sizeof a);
        memcpy(&b, from + at, sizeof b);
        a += b;
        memcpy(into + at, &a, sizeof a);
    }
}

static void max_int32(uint8_t *into, const uint8_t *from, uint32_t count)
{
    int32_t a, b;

    for (size_t at = 0; count > 0; count--, at += sizeof a) {
        memcpy(&a, into + at, sizeof a);
        memcpy(&b, from + at, sizeof b);
        a = b > a ? b : a;
        memcpy(into + at, &a, sizeof a);
    }
}

static void add_double(uint8_t *into, const uint8_t *from, uint32_t count)
{
    double a, b;

    for (size_t at = 0; count > 0; count--, at += sizeof a) {
        memcpy(&a, into + at, sizeof a);
        memcpy(&b, from + at, sizeof b);
        a += b;
        if (a != a) {
            memcpy(&a, &no_number, sizeof a);
        }
        memcpy(into + at, &a, sizeof a);
    }
}

/* A comparison with what is no number is false: then the left one stays. */
static void max_double(uint8_t *into, const uint8_t *from, uint32_t count)
{
    double a, b;

    for (size_t at = 0; count > 0; count--, at += sizeof a) {
        memcpy(&a, into + at, sizeof a);
        memcpy(&b, from + at, sizeof b);
        if (b > a) {
            memcpy(into + at, from + at, sizeof a);
        }
    }
}

void reduction_combine(uint32_t type, uint32_t operator_, uint8_t *into, const uint8_t *from,
                       uint32_t count)
{
    bool sum = operator_ == ECUBE_SUM;

    CHECK(reduction_possible(type, operator_));
    if (type == ECUBE_INT32 && sum) {
        add_int32(into, from, count);
    } else if (type == ECUBE_INT32) {
        max_int32(into, from, count);
    } else if (sum) {
        add_double(into, from, count);
    } else {
        max_double(into, from, count);
    }
}
