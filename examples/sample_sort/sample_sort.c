/*
 * sample_sort.c - sorts numbers that lie on all nodes, so that each node ends with the next range
 * of them: a complete exchange in which every pair has a size of its own.
 *
 *   sample_sort [numbers]      on each node; default: 2000
 *
 * 1. Each node sorts its own numbers and takes size - 1 of them at regular places: its samples.
 * 2. All samples are gathered at all nodes; sorted, they give size - 1 splitters, the same
 *    everywhere. Node i is to have what lies between splitters i - 1 and i.
 * 3. Each node knows how many numbers it has for each other one. An exchange of these counts says
 *    to everybody how many will come; then the numbers themselves move.
 * 4. Each node sorts what has come. A shift by one says to each node where the one before it ends.
 *
 * Source   Shi & Schaeffer, Parallel sorting by regular sampling, JPDC 14(4), 1992, 361-372: no
 *          node ends with more than about twice its share
 *
 * Example, 3 numbers on each of 2 nodes: 5 1 9 | 2 8 4, splitter 4: 1 2 4 | 5 8 9.
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { NUMBERS_MAX = 1 << 22 };

static void *memory(size_t bytes)
{
    void *at = malloc(bytes ? bytes : 1);

    if (!at) {
        fprintf(stderr, "sample_sort: there is no memory for %lu bytes\n", (unsigned long)bytes);
        exit(1);
    }
    return at;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Numbers that differ from node to node and are the same in every run. */
static void draw(uint32_t *numbers, uint32_t count, uint32_t seed)
{
    for (uint32_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        numbers[i] = seed >> 4;
    }
}

/* The splitters: of the samples of all nodes every size-th. */
static uint32_t *find_splitters(const uint32_t *numbers, uint32_t count, uint32_t size)
{
    uint32_t *mine = memory(size * sizeof *mine), *all = memory(size * size * sizeof *all);

    for (uint32_t i = 0; i < size; i++) {
        mine[i] = count ? numbers[(uint64_t)i * count / size] : UINT32_MAX;
    }
    ecube_allgather(mine, all, size * sizeof *mine);
    qsort(all, size * size, sizeof *all, compare);
    for (uint32_t i = 0; i + 1 < size; i++) {
        mine[i] = all[(i + 1) * size];
    }
    free(all);
    return mine;
}

/* How many of the sorted numbers each node is to have, in bytes: they lie one behind the other. */
static void cut(const uint32_t *numbers, uint32_t count, const uint32_t *splitters, uint32_t size,
                struct ecube_block *blocks)
{
    uint32_t at = 0;

    for (uint32_t to = 0; to < size; to++) {
        uint32_t first = at;
        while (at < count && (to + 1 == size || numbers[at] < splitters[to])) {
            at++;
        }
        blocks[to] = (struct ecube_block){first * 4, (at - first) * 4};
    }
}

/* Tells all nodes how much comes from this one, and hears how much comes from each. */
static uint32_t exchange_sizes(const struct ecube_block *send, uint32_t size,
                               struct ecube_block *receive)
{
    uint32_t *out = memory(size * sizeof *out), *in = memory(size * sizeof *in), bytes = 0;

    for (uint32_t to = 0; to < size; to++) {
        out[to] = send[to].bytes;
    }
    ecube_exchange(out, in, sizeof *out);
    for (uint32_t from = 0; from < size; from++) {
        receive[from] = (struct ecube_block){bytes, in[from]};
        bytes += in[from];
    }
    free(out);
    free(in);
    return bytes;
}

/* Whether this node's numbers are in order, and none is below the last one of the node before. */
static int is_sorted(const uint32_t *numbers, uint32_t count)
{
    uint32_t last = count ? numbers[count - 1] : 0, before;

    ecube_scan(&last, &before, 1, ECUBE_UINT32, ECUBE_MAX);
    last = before;
    ecube_shift(&last, &before, sizeof last, 1);
    if (ecube_rank() == 0) {
        before = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (numbers[i] < before) {
            return 0;
        }
        before = numbers[i];
    }
    return 1;
}

/* Exclusive or of all numbers, wherever they are: what it was at first, it must be at the end. */
static uint32_t mixed(const uint32_t *numbers, uint32_t count)
{
    uint32_t all, mine = 0;

    for (uint32_t i = 0; i < count; i++) {
        mine ^= numbers[i] * 0x9e3779b1u;
    }
    ecube_allreduce(&mine, &all, 1, ECUBE_UINT32, ECUBE_BITWISE_XOR);
    return all;
}

static uint32_t reduced(uint32_t mine, enum ecube_operator operator_)
{
    uint32_t all = 0;

    ecube_allreduce(&mine, &all, 1, ECUBE_UINT32, operator_);
    return all;
}

int main(int argc, char **argv)
{
    uint32_t count = (uint32_t)words_number("sample_sort", argc, argv, 1, 2000, 1, NUMBERS_MAX);
    uint32_t rank = (uint32_t)ecube_rank(), size = (uint32_t)ecube_size();
    uint32_t *numbers = memory(count * sizeof *numbers);
    struct ecube_block *send = memory(size * sizeof *send);
    struct ecube_block *receive = memory(size * sizeof *receive);

    draw(numbers, count, rank * 7919 + 1);
    uint32_t before = mixed(numbers, count);
    qsort(numbers, count, sizeof *numbers, compare);
    uint32_t *splitters = find_splitters(numbers, count, size);
    cut(numbers, count, splitters, size, send);

    uint32_t bytes = exchange_sizes(send, size, receive);
    uint32_t *sorted = memory(bytes), got = bytes / 4;
    ecube_align();
    uint64_t begin_ns = ecube_model_ns();
    ecube_exchangev(numbers, send, sorted, receive);
    uint32_t us = (uint32_t)((ecube_model_ns() - begin_ns) / 1000);
    qsort(sorted, got, sizeof *sorted, compare);

    uint32_t wrong = reduced(!is_sorted(sorted, got), ECUBE_SUM);
    wrong += reduced(got, ECUBE_SUM) != size * count || mixed(sorted, got) != before;
    uint32_t most = reduced(got, ECUBE_MAX), longest_us = reduced(us, ECUBE_MAX);
    if (rank == 0) {
        printf("%lu numbers on %lu nodes are %s; the fullest node has %lu of them\n",
               (unsigned long)size * count, (unsigned long)size, wrong ? "NOT sorted" : "sorted",
               (unsigned long)most);
        printf("the exchange took %lu us of model time\n", (unsigned long)longest_us);
    }
    return wrong != 0;
}
