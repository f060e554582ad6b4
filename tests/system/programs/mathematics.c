/* mathematics.c - digests of what the functions of mathematics give, to the last bit, for many
 * arguments: a line for each, of double and of float. NaN is one value: processors differ in its
 * bits. Then of numbers as text, random numbers and an unstable sort. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 20000, TEXT_BYTES = 64, SORTED = 4000 };

static uint64_t digest;

static void take(uint64_t word)
{
    digest = (digest ^ word) * UINT64_C(0x100000001b3);
    digest ^= digest >> 29;
}

static void take_double(double value)
{
    uint64_t bits = 1;
    if (!isnan(value)) {
        memcpy(&bits, &value, sizeof bits);
    }
    take(bits);
}

static void take_float(float value)
{
    uint32_t bits = 1;
    if (!isnan(value)) {
        memcpy(&bits, &value, sizeof bits);
    }
    take(bits);
}

static void tell(const char *name, const char *suffix)
{
    printf("%016" PRIx64 " %s%s\n", digest, name, suffix);
    digest = 0;
}

static uint64_t next_word(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double unit(uint64_t *state)
{
    return (double)(next_word(state) >> 11) / 9007199254740992.0;
}

static double doubles[ARGUMENTS], others[ARGUMENTS];
static float floats[ARGUMENTS], other_floats[ARGUMENTS];

/* Special ones first; then near 0, around 1, of medium size, large, and any bits. */
static void make_arguments(double *to, float *to_float, uint64_t state)
{
    static const double special[] = {0.0,   -0.0,    1.0,       -1.0,     0.5,      2.0,
                                     10.0,  0x1p-60, 0x1p-1040, 0x1p-149, INFINITY, -INFINITY,
                                     NAN,   709.78,  -745.13,   88.72,    -103.97,  1e22,
                                     1e300, 0x1p53,  3.0,       -7.0,     1e-300,   0x1.fffffep127};
    enum { SPECIAL = sizeof special / sizeof *special };

    for (int i = 0; i < ARGUMENTS; i++) {
        uint64_t bits = next_word(&state);
        double value = unit(&state) * 2 - 1;
        switch (i % 5) {
        case 0: break;
        case 1: value *= 10; break;
        case 2: value *= 800; break;
        case 3: value = ldexp(value, (int)(bits % 200) - 100); break;
        default: memcpy(&value, &bits, sizeof value); break;
        }
        to[i] = i < SPECIAL ? special[i] : value;
        to_float[i] = (float)to[i];
        if (i % 5 == 4 && i >= SPECIAL) {
            uint32_t half = (uint32_t)(bits >> 16);
            memcpy(&to_float[i], &half, sizeof half);
        }
    }
}

/* Functions of one argument, then of two, of double and of float. */
#define PAIR(name)                                                                                 \
    {                                                                                              \
#name, name, name##f                                                                       \
    }

static const struct {
    const char *name;
    double (*of_double)(double argument);
    float (*of_float)(float argument);
} of_one[] = {PAIR(sin),   PAIR(cos),      PAIR(tan),    PAIR(asin),   PAIR(acos),  PAIR(atan),
              PAIR(sinh),  PAIR(cosh),     PAIR(tanh),   PAIR(asinh),  PAIR(acosh), PAIR(atanh),
              PAIR(exp),   PAIR(exp2),     PAIR(expm1),  PAIR(log),    PAIR(log2),  PAIR(log10),
              PAIR(log1p), PAIR(logb),     PAIR(sqrt),   PAIR(cbrt),   PAIR(erf),   PAIR(erfc),
              PAIR(floor), PAIR(ceil),     PAIR(lgamma), PAIR(tgamma), PAIR(trunc), PAIR(round),
              PAIR(rint),  PAIR(nearbyint)};

static const struct {
    const char *name;
    double (*of_double)(double one, double other);
    float (*of_float)(float one, float other);
} of_two[] = {PAIR(pow),  PAIR(atan2), PAIR(hypot), PAIR(fmod),      PAIR(remainder),
              PAIR(fdim), PAIR(fmax),  PAIR(fmin),  PAIR(nextafter), PAIR(copysign)};

static void functions(void)
{
    for (size_t k = 0; k < sizeof of_one / sizeof *of_one; k++) {
        for (int i = 0; i < ARGUMENTS; i++) {
            take_double(of_one[k].of_double(doubles[i]));
        }
        tell(of_one[k].name, "");
        for (int i = 0; i < ARGUMENTS; i++) {
            take_float(of_one[k].of_float(floats[i]));
        }
        tell(of_one[k].name, "f");
    }
    for (size_t k = 0; k < sizeof of_two / sizeof *of_two; k++) {
        for (int i = 0; i < ARGUMENTS; i++) {
            take_double(of_two[k].of_double(doubles[i], others[i]));
        }
        tell(of_two[k].name, "");
        for (int i = 0; i < ARGUMENTS; i++) {
            take_float(of_two[k].of_float(floats[i], other_floats[i]));
        }
        tell(of_two[k].name, "f");
    }
}

static void parts(void)
{
    for (int i = 0; i < ARGUMENTS; i++) {
        int power = 0;
        double whole = 0;
        take_double(frexp(doubles[i], &power));
        take((uint64_t)(isfinite(doubles[i]) ? power : 0));
        take_double(modf(doubles[i], &whole));
        take_double(whole);
        take_double(fma(doubles[i], others[i], doubles[ARGUMENTS - 1 - i]));
        take_double(ldexp(doubles[i], i % 300 - 150));
        take_float(fmaf(floats[i], other_floats[i], floats[ARGUMENTS - 1 - i]));
        if (fabs(doubles[i]) < 1e9) {
            take((uint64_t)lrint(doubles[i]));
            take((uint64_t)llround(doubles[i]));
        }
    }
    tell("parts", "");
}

/* Plain arithmetic, as a compiler might fuse it. */
static void arithmetic(void)
{
    double sum = 0;
    float small = 0;
    for (int i = 0; i < ARGUMENTS; i++) {
        if (i % 5 < 3 && i >= 24) {
            sum = sum * 0.75 + doubles[i] * others[i] - doubles[i] / (others[i] + 1000.5);
            small = small * 0.75f + floats[i] * other_floats[i];
            take_double(sum);
            take_float(small);
            take_float((float)sum);
        }
    }
    tell("arithmetic", "");
}

static void texts(void)
{
    char text[TEXT_BYTES];
    for (int i = 0; i < ARGUMENTS; i++) {
        if (isnan(doubles[i])) {
            continue;
        }
        snprintf(text, sizeof text, "%.17g %.3e %g", doubles[i], doubles[i], (double)floats[i]);
        for (const char *at = text; *at; at++) {
            take((uint8_t)*at);
        }
        take_double(strtod(text, NULL));
        take_float(strtof(text, NULL));
        text[6] = '\0';
        take_double(atof(text));
    }
    tell("text", "");
}

static int by_tens(const void *one, const void *other)
{
    return *(const int *)one / 10 - *(const int *)other / 10;
}

static void numbers(void)
{
    static int sorted[SORTED];
    srand(7);
    for (int i = 0; i < SORTED; i++) {
        sorted[i] = rand() % 10000;
        take((uint64_t)rand());
    }
    tell("rand", "");
    qsort(sorted, SORTED, sizeof *sorted, by_tens);
    for (int i = 0; i < SORTED; i++) {
        take((uint64_t)sorted[i]);
    }
    tell("qsort", "");
    srand48(11);
    for (int i = 0; i < SORTED; i++) {
        take_double(drand48());
        take((uint64_t)lrand48());
    }
    tell("drand48", "");
    srandom(5);
    for (int i = 0; i < SORTED; i++) {
        take((uint64_t)random());
    }
    tell("random", "");
}

int main(void)
{
    make_arguments(doubles, floats, UINT64_C(0x9e3779b97f4a7c15));
    make_arguments(others, other_floats, UINT64_C(0xd1b54a32d192ed03));
    functions();
    parts();
    arithmetic();
    texts();
    numbers();
    return 0;
}
