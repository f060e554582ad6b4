#include "papers/functions.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network/text.h"

const char *papers_build = "build";

_Noreturn void papers_refuse(const char *what, const char *text)
{
    fprintf(stderr, "papers: %s: `%s`\n", what, text);
    exit(2);
}

const struct network *papers_network(const struct formula_value *argument)
{
    static struct network network;
    static char name[NETWORK_NAME_MAX];
    const struct network_limits limits = {PAPERS_NODES_MAX, "here"};
    char error[NETWORK_ERROR_MAX];

    if (!argument->text) {
        papers_refuse("a network should stand here, no number", "");
    }
    if (strcmp(name, argument->text) != 0) {
        if (!network_parse(&network, argument->text, &limits, error)) {
            papers_refuse(error, argument->text);
        }
        snprintf(name, sizeof name, "%s", argument->text);
    }
    return &network;
}

static uint64_t whole(double number)
{
    return (uint64_t)llrint(number);
}

static double call_floor(const struct formula_value *a, unsigned count)
{
    (void)count;
    return floor(a[0].number + 1e-9);
}

static double call_ceil(const struct formula_value *a, unsigned count)
{
    (void)count;
    return ceil(a[0].number - 1e-9);
}

static double call_lg(const struct formula_value *a, unsigned count)
{
    (void)count;
    return log2(a[0].number);
}

static double call_abs(const struct formula_value *a, unsigned count)
{
    (void)count;
    return fabs(a[0].number);
}

static double call_min(const struct formula_value *a, unsigned count)
{
    double value = a[0].number;

    for (unsigned i = 1; i < count; i++) {
        value = fmin(value, a[i].number);
    }
    return value;
}

static double call_max(const struct formula_value *a, unsigned count)
{
    double value = a[0].number;

    for (unsigned i = 1; i < count; i++) {
        value = fmax(value, a[i].number);
    }
    return value;
}

/* Never negative. */
static double call_mod(const struct formula_value *a, unsigned count)
{
    double rest = fmod(a[0].number, a[1].number);

    (void)count;
    return rest < 0 ? rest + a[1].number : rest;
}

static double call_gcd(const struct formula_value *a, unsigned count)
{
    uint64_t x = whole(a[0].number), y = whole(a[1].number);

    (void)count;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return (double)x;
}

static double call_choose(const struct formula_value *a, unsigned count)
{
    double n = a[0].number, k = a[1].number, value = 1;

    (void)count;
    if (k < 0 || k > n) {
        return 0;
    }
    for (double i = 1; i <= k; i++) {
        value = value * (n - k + i) / i;
    }
    return round(value);
}

/* How many of 1 to n have no divisor in common with n. */
static double call_totient(const struct formula_value *a, unsigned count)
{
    uint64_t n = whole(a[0].number), left = n, value = n;

    (void)count;
    for (uint64_t p = 2; p <= left; p++) {
        if (left % p == 0) {
            value -= value / p;
            while (left % p == 0) {
                left /= p;
            }
        }
    }
    return (double)value;
}

static double call_prime(const struct formula_value *a, unsigned count)
{
    uint64_t n = whole(a[0].number);

    (void)count;
    for (uint64_t p = 2; p * p <= n; p++) {
        if (n % p == 0) {
            return 0;
        }
    }
    return n > 1;
}

static double call_xor(const struct formula_value *a, unsigned count)
{
    (void)count;
    return (double)(whole(a[0].number) ^ whole(a[1].number));
}

static double call_and(const struct formula_value *a, unsigned count)
{
    (void)count;
    return (double)(whole(a[0].number) & whole(a[1].number));
}

/* Ones in a number; with a second argument, whether that bit is one. */
static double call_bits(const struct formula_value *a, unsigned count)
{
    uint64_t number = whole(a[0].number);

    return count == 2 ? (double)(number >> whole(a[1].number) & 1)
                      : (double)__builtin_popcountll(number);
}

/* Word `i` of a printed row as a number, from 0 on; -1: it has not so many. */
static double call_item(const struct formula_value *a, unsigned count)
{
    const char *at = a[0].text ? a[0].text : "";
    char *end;

    (void)count;
    for (uint64_t i = whole(a[1].number);; i--) {
        double value = strtod(at, &end);
        if (end == at) {
            return -1;
        }
        if (i == 0) {
            return value;
        }
        at = end;
    }
}

/* Of the row of a file of tests/golden that begins with these words, number `i` behind them; -1:
 * there is no such row. */
static double call_golden(const struct formula_value *a, unsigned count)
{
    char path[256], line[512];
    double value = -1;

    (void)count;
    snprintf(path, sizeof path, "tests/golden/%s", a[0].text ? a[0].text : "");
    FILE *file = fopen(path, "r");
    if (!file || !a[1].text) {
        papers_refuse("there is no such file, or a number where the words of a row should stand",
                      path);
    }
    size_t length = strlen(a[1].text);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, a[1].text, length) == 0 && line[length] == ' ') {
            const struct formula_value rest[] = {{.text = line + length}, a[2]};
            value = call_item(rest, 2);
        }
    }
    fclose(file);
    return value;
}

/* A whole number from a to b that depends on the first argument alone (SplitMix64). */
static double call_random(const struct formula_value *a, unsigned count)
{
    uint64_t z = whole(a[0].number) * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x9e3779b97f4a7c15);

    (void)count;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return a[1].number + (double)(z % (whole(a[2].number - a[1].number) + 1));
}

const struct formula_function arithmetic_functions[] = {{"floor", 1, 1, call_floor},
                                                        {"ceil", 1, 1, call_ceil},
                                                        {"lg", 1, 1, call_lg},
                                                        {"abs", 1, 1, call_abs},
                                                        {"min", 1, FORMULA_ARGS, call_min},
                                                        {"max", 1, FORMULA_ARGS, call_max},
                                                        {"mod", 2, 2, call_mod},
                                                        {"gcd", 2, 2, call_gcd},
                                                        {"choose", 2, 2, call_choose},
                                                        {"totient", 1, 1, call_totient},
                                                        {"prime", 1, 1, call_prime},
                                                        {"xor", 2, 2, call_xor},
                                                        {"common", 2, 2, call_and},
                                                        {"bits", 1, 2, call_bits},
                                                        {"item", 2, 2, call_item},
                                                        {"golden", 3, 3, call_golden},
                                                        {"random", 3, 3, call_random},
                                                        {0}};

const struct formula_function *formula_function(const char *name)
{
    static const struct formula_function *const subjects[] = {
        arithmetic_functions, network_functions,  apart_functions,   mesh_functions, cube_functions,
        scatter_functions,    measured_functions, program_functions, delta_functions};

    for (unsigned i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        for (const struct formula_function *f = subjects[i]; f->name; f++) {
            if (strcmp(f->name, name) == 0) {
                return f;
            }
        }
    }
    return NULL;
}
