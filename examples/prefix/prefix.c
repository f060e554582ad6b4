/*
 * prefix.c - prefix sums of an array that is spread over the nodes: element i becomes the sum of
 * the elements 0 to i.
 *
 *   prefix [ELEMENTS]      of each node, a power of two; default 8
 *
 * An ascend: with distances 1, 2, 4, ... each element adds what is so far below it. After the one
 * of distance 2^b it is the sum of 2^(b+1) elements, up to itself.
 *
 *     1 2 3 4 5    1 3 5 7 9    1 3 6 10 14    1 3 6 10 15
 *
 * Each node compares its part with sums that it works out alone. Exit status 1 when one is wrong.
 *
 * Source   Hillis & Steele, CACM 29(12), 1986, 1170-1183; in a pipeline: Hu, Optimal All-to-Some
 *          Personalized Communication on Hypercubes, section 4
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/words.h"

enum { ELEMENTS = 8, ELEMENTS_MAX = 4096 };

static uint64_t value_of(uint64_t index)
{
    return index * index % 1000 + 1;
}

static void add(void *context, const struct ecube_power *power, void *element, const void *above,
                const void *below)
{
    uint64_t *mine = element;

    (void)context;
    (void)above;
    if (power->index >= power->distance) {
        *mine += *(const uint64_t *)below;
    }
}

/* How many of a node's sums are wrong; the last of all is written down. */
static uint32_t count_wrong(const uint64_t *sums, uint32_t count, uint64_t first, uint64_t *last)
{
    uint64_t sum = 0;
    uint32_t wrong = 0;

    for (uint64_t i = 0; i < first; i++) {
        sum += value_of(i);
    }
    for (uint32_t i = 0; i < count; i++) {
        sum += value_of(first + i);
        wrong += sums[i] != sum;
    }
    *last = sum;
    return wrong;
}

int main(int argc, char **argv)
{
    uint32_t count = (uint32_t)words_power_of_two("prefix", argc, argv, 1, ELEMENTS, ELEMENTS_MAX);
    uint32_t wrong, all_wrong;
    const struct ecube_computation sums = {add, NULL};

    words_end("prefix", argc, argv, 2);
    static uint64_t elements[ELEMENTS_MAX];
    uint64_t first = (uint64_t)ecube_place(ecube_rank()) * count, last, total;
    for (uint32_t i = 0; i < count; i++) {
        elements[i] = value_of(first + i);
    }
    /* where nodes can do that; else by the cheapest */
    int pipelined = ecube_algorithm(ECUBE_ALL_TO_SOME, "Gray code") == ECUBE_OK;
    ecube_align();
    uint64_t start_ns = ecube_model_ns();
    int steps = ecube_ascend(elements, count, sizeof *elements, ecube_iterations(count), &sums);
    ecube_align();
    uint64_t took_ns = ecube_model_ns() - start_ns;
    wrong = count_wrong(elements, count, first, &last);
    ecube_allreduce(&wrong, &all_wrong, 1, ECUBE_UINT32, ECUBE_SUM);
    ecube_allreduce(&last, &total, 1, ECUBE_UINT64, ECUBE_MAX);
    if (ecube_rank() == 0) {
        printf("%lu elements on %d nodes: the last sum is %llu, %u are wrong\n",
               (unsigned long)count * (unsigned long)ecube_size(), ecube_size(),
               (unsigned long long)total, (unsigned)all_wrong);
        printf("%d steps, %.3f us\n", steps, (double)took_ns / 1e3);
        if (pipelined) {
            printf("4 (log M + M / N - 1) = %u\n",
                   (unsigned)(4 * (ecube_iterations(count) + count - 1)));
        }
    }
    return all_wrong > 0;
}
