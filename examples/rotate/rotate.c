/*
 * rotate.c - a cyclic shift of an array that is spread over the nodes: element i goes to place
 * i + DISTANCE, modulo the elements of all.
 *
 *   rotate [DISTANCE [ELEMENTS]]      ELEMENTS of each node, a power of two; default 13, 8
 *
 * A descend: for each binary digit of the distance that is 1, all elements go as far as that says.
 * Exit status 1 when one is not where it belongs.
 *
 * Source   Nassimi, IEEE TPDS 4(12), 1993, 1372-1381; in a pipeline: Hu, Optimal All-to-Some
 *          Personalized Communication on Hypercubes, section 4
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { DISTANCE = 13, DISTANCE_MAX = 1000000000, ELEMENTS = 8, ELEMENTS_MAX = 4096, TEXT_MAX = 32 };

/* An element is a text that says where it began. */
struct word {
    char text[TEXT_MAX];
};

static struct word word_of(uint64_t index)
{
    struct word word = {""};

    snprintf(word.text, sizeof word.text, "number %llu", (unsigned long long)index);
    return word;
}

static void move(void *context, const struct ecube_power *power, void *element, const void *above,
                 const void *below)
{
    (void)above;
    if (*(const uint64_t *)context >> power->exponent & 1) {
        memcpy(element, below, sizeof(struct word));
    }
}

int main(int argc, char **argv)
{
    long distance = words_number("rotate", argc, argv, 1, DISTANCE, -DISTANCE_MAX, DISTANCE_MAX);
    long wanted = words_power_of_two("rotate", argc, argv, 2, ELEMENTS, ELEMENTS_MAX);
    static struct word words[ELEMENTS_MAX];

    words_end("rotate", argc, argv, 3);
    uint32_t count = (uint32_t)wanted, wrong = 0, all_wrong;
    long all = (long)ecube_size() * wanted;
    uint64_t by = (uint64_t)((distance % all + all) % all);
    uint64_t first = (uint64_t)ecube_place(ecube_rank()) * count;
    const struct ecube_computation shift = {move, &by};
    for (uint32_t i = 0; i < count; i++) {
        words[i] = word_of(first + i);
    }
    /* where nodes can do that; else by the cheapest */
    int pipelined = ecube_algorithm(ECUBE_ALL_TO_SOME, "Gray code") == ECUBE_OK;
    ecube_align();
    uint64_t start_ns = ecube_model_ns();
    int steps = ecube_descend(words, count, sizeof *words, ecube_iterations(count), &shift);
    ecube_align();
    uint64_t took_ns = ecube_model_ns() - start_ns;
    for (uint32_t i = 0; i < count; i++) {
        struct word right = word_of((first + i + (uint64_t)all - by) % (uint64_t)all);
        wrong += strcmp(words[i].text, right.text) != 0;
    }
    ecube_allreduce(&wrong, &all_wrong, 1, ECUBE_UINT32, ECUBE_SUM);
    if (ecube_rank() == 0) {
        printf("%ld elements on %d nodes, by %llu: element 0 is %s, %u are wrong\n", all,
               ecube_size(), (unsigned long long)by, words[0].text, (unsigned)all_wrong);
        printf("%d steps, %.3f us\n", steps, (double)took_ns / 1e3);
        if (pipelined) {
            printf("4 (log M + M / N - 1) = %u\n",
                   (unsigned)(4 * (ecube_iterations(count) + count - 1)));
        }
    }
    return all_wrong > 0;
}
