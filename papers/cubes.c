/*
 * cubes.c - what formulae ask about cubes: Gray codes, necklaces, shifts of the Gray ring.
 *
 * Source   Hu, "Optimal all-to-some personalized communication on hypercubes", 2.2, 3;
 *          Ozveren, LIDS-P-1721 (1987), appendices A and B
 * Names    G, H, phi, varphi are the paper's; indices count modulo 2^n
 */
#include <math.h>
#include <stdlib.h>

#include "papers/functions.h"

enum { BITS_MAX = 20 };

static int64_t whole(double number)
{
    return (int64_t)floor(number + 1e-9);
}

static unsigned dims_of(const struct formula_value *argument)
{
    if (!(argument->number >= 1 && argument->number <= BITS_MAX)) {
        papers_refuse("a cube of 1 to 20 dimensions should stand here", "");
    }
    return (unsigned)argument->number;
}

static uint32_t gray(uint32_t i)
{
    return i ^ i >> 1;
}

static double call_gray(const struct formula_value *a, unsigned count)
{
    (void)count;
    return gray((uint32_t)whole(a[0].number));
}

/* The bit in which the codes of i and i + 1 differ. */
static unsigned change(unsigned n, int64_t i)
{
    uint32_t mask = (UINT32_C(1) << n) - 1, at = (uint32_t)i & mask;

    return (unsigned)__builtin_ctz(gray(at) ^ gray((at + 1) & mask));
}

static double call_change(const struct formula_value *a, unsigned count)
{
    (void)count;
    return change(dims_of(a), whole(a[1].number));
}

/* i without its last j - 1 bits, and 2^(j - 1); j > 0. */
static int64_t begin(int64_t i, int64_t j)
{
    int64_t range = INT64_C(1) << (j - 1), rest = i % range;

    return i - (rest < 0 ? rest + range : rest);
}

static double call_phi(const struct formula_value *a, unsigned count)
{
    int64_t i = whole(a[1].number), j = whole(a[2].number);

    (void)count;
    return j == 0 ? change(dims_of(a), i) : change(dims_of(a), begin(i, j) + (INT64_C(1) << j) - 1);
}

static double call_varphi(const struct formula_value *a, unsigned count)
{
    int64_t i = whole(a[1].number), j = whole(a[2].number);

    (void)count;
    return j == 0 ? change(dims_of(a), i - 1)
                  : change(dims_of(a), begin(i, j) - (INT64_C(1) << (j - 1)) - 1);
}

/* The place on the Gray ring of the neighbour of place i over link k. */
static double call_beside(const struct formula_value *a, unsigned count)
{
    uint32_t code = gray((uint32_t)whole(a[0].number)) ^ UINT32_C(1) << whole(a[1].number);

    (void)count;
    for (unsigned shift = 1; shift < 32; shift *= 2) {
        code ^= code >> shift;
    }
    return code;
}

static uint32_t turned(uint32_t word, unsigned d)
{
    return (word << 1 | word >> (d - 1)) & ((UINT32_C(1) << d) - 1);
}

/* The words of a class: of one word and all that come of turning it. */
static unsigned class_size(uint32_t word, unsigned d)
{
    unsigned size = 1;

    for (uint32_t other = turned(word, d); other != word; other = turned(other, d)) {
        if (other < word) {
            return 0; /* counted by its least word */
        }
        size++;
    }
    return size;
}

/* Classes of words of d bits, i of them ones; with `most` those of at most so many words. */
static double call_classes(const struct formula_value *a, unsigned count)
{
    unsigned d = dims_of(a), ones = (unsigned)a[1].number, found = 0;

    for (uint32_t word = 0; word < UINT32_C(1) << d; word++) {
        if ((unsigned)__builtin_popcount(word) == ones) {
            unsigned size = class_size(word, d);
            found += size && (count < 3 || size <= a[2].number);
        }
    }
    return found;
}

/* Whether a word of d bits, i of them ones, has a class of exactly j words. */
static double call_has_class(const struct formula_value *a, unsigned count)
{
    unsigned d = dims_of(a);

    (void)count;
    for (uint32_t word = 0; word < UINT32_C(1) << d; word++) {
        if (__builtin_popcount(word) == (int)a[1].number &&
            class_size(word, d) == (unsigned)a[2].number) {
            return 1;
        }
    }
    return 0;
}

/* The fewest hops of a shift by s on the ring of 2^d places, made of shifts by powers of two: one
 * hop for 1, two for others (Dijkstra's way by levels). */
static double call_shift_hops(const struct formula_value *a, unsigned count)
{
    static uint8_t hops[1 << BITS_MAX];
    static unsigned kept;
    unsigned d = dims_of(a);
    uint32_t size = UINT32_C(1) << d, goal = (uint32_t)whole(a[1].number) & (size - 1);

    (void)count;
    for (uint32_t i = 0; kept != d && i < size; i++) {
        hops[i] = i ? UINT8_MAX : 0;
    }
    for (unsigned level = 0; kept != d && level <= 2 * d; level++) {
        for (uint32_t at = 0; at < size; at++) {
            for (unsigned k = 0; hops[at] == level && k < d; k++) {
                uint32_t step = UINT32_C(1) << k, cost = level + (k ? 2 : 1);
                uint32_t ends[] = {(at + step) & (size - 1), (at - step) & (size - 1)};
                for (unsigned e = 0; e < 2; e++) {
                    hops[ends[e]] = cost < hops[ends[e]] ? (uint8_t)cost : hops[ends[e]];
                }
            }
        }
    }
    kept = d;
    return hops[goal];
}

enum { NEVER = 1000 };

/* The graph of appendix A, x[k + 1] = 2 x[k] + u[k]: the fewest u that are not 0 on a way to a
 * state of a level, which has the states 0 to 2^k; the first u is not -1. */
static unsigned fewest_shifts(unsigned level, int64_t state)
{
    if (state < 0 || state > INT64_C(1) << level) {
        return NEVER;
    }
    if (level == 0) {
        return (unsigned)state;
    }
    if (state % 2 == 0) {
        return fewest_shifts(level - 1, state / 2);
    }
    unsigned below = fewest_shifts(level - 1, state / 2),
             above = fewest_shifts(level - 1, state / 2 + 1);
    return 1 + (below < above ? below : above);
}

static double call_level_shifts(const struct formula_value *a, unsigned count)
{
    (void)count;
    return fewest_shifts((unsigned)a[0].number, whole(a[1].number));
}

const struct formula_function cube_functions[] = {{"G", 1, 1, call_gray},
                                                  {"H", 2, 2, call_change},
                                                  {"phi", 3, 3, call_phi},
                                                  {"varphi", 3, 3, call_varphi},
                                                  {"beside", 2, 2, call_beside},
                                                  {"classes", 2, 3, call_classes},
                                                  {"has_class", 3, 3, call_has_class},
                                                  {"shift_hops", 2, 2, call_shift_hops},
                                                  {"level_shifts", 2, 2, call_level_shifts},
                                                  {0}};
