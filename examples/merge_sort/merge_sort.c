/*
 * merge_sort.c - sorts an array that is spread over the nodes by odd-even merges.
 *
 *   merge_sort [ELEMENTS]      of each node, a power of two; default 8
 *
 * Sorted runs of p = 1, 2, 4, ... elements become runs of 2 p. Each merge is a descend with the
 * distances p, p / 2, ..., 1: at distance d two elements change places if they are in the wrong
 * order, and both belong to a pair of it: in the first step the one of the lower run and the one of
 * the upper, in the next ones those behind the first d.
 *
 *     runs of 4    1 5 6 8 2 3 4 7    distance 4    1 3 4 7 2 5 6 8
 *                                              2    1 3 2 5 4 7 6 8
 *                                              1    1 2 3 4 5 6 7 8
 *
 * Each node sorts all keys alone as well, and compares its part. Exit status 1 when one is wrong.
 *
 * Source   Batcher, Sorting networks and their applications, AFIPS SJCC 32 (1968), 307-314; as a
 *          descend: Nassimi, IEEE TPDS 4(12), 1993, 1372-1381; in a pipeline: Hu, Optimal
 *          All-to-Some Personalized Communication on Hypercubes, section 4
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { ELEMENTS = 8, ELEMENTS_MAX = 1024 };

static uint32_t key_of(uint64_t index)
{
    return (uint32_t)((index * 2654435761u + 12345) % 99991);
}

/* Whether an element is the lower one of a pair. */
static int is_lower(const struct ecube_power *power, uint64_t run, uint64_t index)
{
    uint64_t distance = power->distance, skipped = distance % run;

    return index >= skipped && (index - skipped) % (2 * distance) < distance &&
           index + distance < power->elements &&
           index / (2 * run) == (index + distance) / (2 * run);
}

static void compare(void *context, const struct ecube_power *power, void *element,
                    const void *above, const void *below)
{
    uint64_t run = *(const uint64_t *)context;
    uint32_t *mine = element, up = *(const uint32_t *)above, down = *(const uint32_t *)below;

    if (is_lower(power, run, power->index)) {
        *mine = up < *mine ? up : *mine;
    } else if (power->index >= power->distance &&
               is_lower(power, run, power->index - power->distance)) {
        *mine = down > *mine ? down : *mine;
    }
}

static int by_key(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

    return a < b ? -1 : a > b;
}

/* Merge after merge; returns the steps of all. */
static int sort(uint32_t *keys, uint32_t count)
{
    uint64_t all = (uint64_t)ecube_size() * count, run = 1;
    const struct ecube_computation merge = {compare, &run};
    int steps = 0;

    for (uint32_t iterations = 1; run < all; run *= 2, iterations++) {
        steps += ecube_descend(keys, count, sizeof *keys, iterations, &merge);
    }
    return steps;
}

int main(int argc, char **argv)
{
    uint32_t wrong = 0, all_wrong,
             count =
                 (uint32_t)words_power_of_two("merge_sort", argc, argv, 1, ELEMENTS, ELEMENTS_MAX);

    words_end("merge_sort", argc, argv, 2);
    uint64_t all = (uint64_t)ecube_size() * count;
    uint64_t first = (uint64_t)ecube_place(ecube_rank()) * count;
    uint32_t *keys = malloc(count * sizeof *keys), *sorted = malloc(all * sizeof *sorted);
    if (!keys || !sorted) {
        fprintf(stderr, "merge_sort: there is no memory for it\n");
        return 1;
    }
    for (uint64_t i = 0; i < all; i++) {
        sorted[i] = key_of(i);
    }
    memcpy(keys, sorted + first, count * sizeof *keys);
    ecube_algorithm(ECUBE_ALL_TO_SOME, "Gray code"); /* where nodes can; else the cheapest */
    ecube_align();
    uint64_t start_ns = ecube_model_ns();
    int steps = sort(keys, count);
    ecube_align();
    uint64_t took_ns = ecube_model_ns() - start_ns;
    qsort(sorted, all, sizeof *sorted, by_key);
    for (uint32_t i = 0; i < count; i++) {
        wrong += keys[i] != sorted[first + i];
    }
    ecube_allreduce(&wrong, &all_wrong, 1, ECUBE_UINT32, ECUBE_SUM);
    if (ecube_rank() == 0) {
        printf("%lu keys on %d nodes, %u to %u: %u are wrong\n", (unsigned long)all, ecube_size(),
               (unsigned)sorted[0], (unsigned)sorted[all - 1], (unsigned)all_wrong);
        printf("%u merges, %d steps, %.3f us\n", (unsigned)ecube_iterations(count), steps,
               (double)took_ns / 1e3);
    }
    free(keys);
    free(sorted);
    return all_wrong > 0;
}
