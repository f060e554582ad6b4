/*
 * trees.c - broadcast, scatter and gather from every root in turn, each byte checked, each against
 * its prediction.
 *
 *   trees [bytes per block]      default: 1000
 *
 * Three lines of the run's result table, for root 0; the last one says whether all roots were
 * right.
 */
#include <ecube.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { BYTES_MAX = 1 << 24 };

static uint32_t wrong_count;

static unsigned char pattern(int node, int root, uint32_t at)
{
    return (unsigned char)(node * 37 + root * 101 + (int)(at * 7 + at / 256));
}

static void fill(unsigned char *block, uint32_t bytes, int node, int root)
{
    for (uint32_t at = 0; at < bytes; at++) {
        block[at] = pattern(node, root, at);
    }
}

static void check(const unsigned char *block, uint32_t bytes, int node, int root)
{
    for (uint32_t at = 0; at < bytes; at++) {
        wrong_count += block[at] != pattern(node, root, at);
    }
}

/* The nodes begin and finish at different model times: aligned clocks show the latest. */
static uint64_t aligned_ns(void)
{
    ecube_align();
    return ecube_model_ns();
}

/* At node 0: one line of the result table. */
static void report(enum ecube_operation operation, const char *name, uint32_t bytes,
                   uint64_t model_ns, uint64_t wall_ns)
{
    if (ecube_rank() != 0) {
        return;
    }
    struct ecube_prediction prediction;
    ecube_predict(operation, 0, bytes, 0, &prediction);
    struct ecube_report line = {
        .name = name,
        .bytes = bytes,
        .steps = prediction.steps,
        .model_ns = model_ns,
        .predicted_ns = prediction.model_ns,
        .bound_ns = prediction.bound_ns,
        .wall_ns = wall_ns,
        .wrong = wrong_count,
    };
    ecube_report(&line);
}

static void run_broadcast(unsigned char *block, uint32_t bytes, int root)
{
    if (ecube_rank() == root) {
        fill(block, bytes, root, root);
    } else {
        memset(block, 0, bytes);
    }
    uint64_t start_ns = aligned_ns();
    uint64_t wall_ns = ecube_wall_ns();
    ecube_broadcast(block, bytes, root);
    wall_ns = ecube_wall_ns() - wall_ns;
    uint64_t model_ns = aligned_ns() - start_ns;
    check(block, bytes, root, root);
    if (root == 0) {
        report(ECUBE_BROADCAST, "broadcast", bytes, model_ns, wall_ns);
    }
}

static void run_scatter(unsigned char *all, unsigned char *block, uint32_t bytes, int root)
{
    for (int node = 0; node < ecube_size() && ecube_rank() == root; node++) {
        fill(all + (size_t)node * bytes, bytes, node, root);
    }
    memset(block, 0, bytes);
    uint64_t start_ns = aligned_ns();
    uint64_t wall_ns = ecube_wall_ns();
    ecube_scatter(all, block, bytes, root);
    wall_ns = ecube_wall_ns() - wall_ns;
    uint64_t model_ns = aligned_ns() - start_ns;
    check(block, bytes, ecube_rank(), root);
    if (root == 0) {
        report(ECUBE_SCATTER, "scatter", bytes, model_ns, wall_ns);
    }
}

static void run_gather(unsigned char *all, unsigned char *block, uint32_t bytes, int root)
{
    fill(block, bytes, ecube_rank(), root);
    memset(all, 0, (size_t)ecube_size() * bytes);
    uint64_t start_ns = aligned_ns();
    uint64_t wall_ns = ecube_wall_ns();
    ecube_gather(block, all, bytes, root);
    wall_ns = ecube_wall_ns() - wall_ns;
    uint64_t model_ns = aligned_ns() - start_ns;
    for (int node = 0; node < ecube_size() && ecube_rank() == root; node++) {
        check(all + (size_t)node * bytes, bytes, node, root);
    }
    if (root == 0) {
        report(ECUBE_GATHER, "gather", bytes, model_ns, wall_ns);
    }
}

int main(int argc, char **argv)
{
    uint32_t bytes = (uint32_t)words_number("trees", argc, argv, 1, 1000, 0, BYTES_MAX);
    unsigned char *all = malloc((size_t)ecube_size() * bytes + 1);
    unsigned char *block = malloc(bytes + 1);
    if (!all || !block) {
        fprintf(stderr, "trees: no memory for blocks of %lu bytes\n", (unsigned long)bytes);
        return 1;
    }
    for (int root = 0; root < ecube_size(); root++) {
        run_broadcast(block, bytes, root);
        run_scatter(all, block, bytes, root);
        run_gather(all, block, bytes, root);
    }
    if (wrong_count > 0) {
        printf("%lu wrong bytes\n", (unsigned long)wrong_count);
    } else if (ecube_rank() == 0) {
        printf("broadcast, scatter and gather are right from %s%d root%s\n",
               ecube_size() > 1 ? "all " : "", ecube_size(), ecube_size() > 1 ? "s" : "");
    }
    return wrong_count > 0;
}
