/*
 * complete_exchange.c - every node sends every other node a block of its own, at several sizes, and
 * checks each byte.
 *
 *   complete_exchange [bytes per pair]...      default: 16 100 1000 10000 65536
 *
 * Each size is one line of the run's result table: model time measured against the prediction for
 * the network's plan (the cheapest for this size, or `--algorithm`'s) and against the lower bound,
 * wall time, wrong bytes on all nodes together. Exit status 1 when a byte is wrong.
 *
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), section 3.2
 */
#include <ecube.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

/* A generator of test words, different for every pair and size (xorshift32; never zero). */
static uint32_t pattern_seed(uint32_t source, uint32_t destination, uint32_t bytes)
{
    uint32_t seed =
        (source + 1) * UINT32_C(2654435761) ^ (destination + 1) * UINT32_C(2246822519) ^ bytes;
    return seed == 0 ? 1 : seed;
}

static uint32_t pattern_next(uint32_t word)
{
    word ^= word << 13;
    word ^= word >> 17;
    word ^= word << 5;
    return word;
}

static void fill(unsigned char *block, uint32_t bytes, uint32_t word)
{
    for (uint32_t at = 0; at < bytes; at += sizeof word) {
        uint32_t left = bytes - at;
        word = pattern_next(word);
        memcpy(block + at, &word, left < sizeof word ? left : sizeof word);
    }
}

/* The number of bytes of the block that are not the pattern's. */
static uint32_t count_wrong(const unsigned char *block, uint32_t bytes, uint32_t word)
{
    uint32_t wrong = 0;
    for (uint32_t at = 0; at < bytes; at += sizeof word) {
        uint32_t left = bytes - at < sizeof word ? bytes - at : sizeof word;
        word = pattern_next(word);
        if (memcmp(block + at, &word, left) != 0) {
            for (uint32_t i = 0; i < left; i++) {
                wrong += block[at + i] != (unsigned char)(word >> 8 * i);
            }
        }
    }
    return wrong;
}

enum { NODES_MAX = 512, BYTES_MAX = 1 << 24 };

/* What a node has measured. */
struct outcome {
    uint64_t model_ns;
    uint64_t wall_ns;
    uint64_t wrong;
};

/*
 * At node 0: one line of the result table, with the time of the slowest node and the wrong bytes of
 * all.
 */
static void report(struct outcome mine, uint32_t bytes, uint32_t steps)
{
    static struct outcome all[NODES_MAX];
    ecube_gather(&mine, all, sizeof mine, 0);
    if (ecube_rank() != 0) {
        return;
    }
    for (int node = 0; node < ecube_size(); node++) {
        mine.model_ns = all[node].model_ns > mine.model_ns ? all[node].model_ns : mine.model_ns;
        mine.wall_ns = all[node].wall_ns > mine.wall_ns ? all[node].wall_ns : mine.wall_ns;
        mine.wrong += node == 0 ? 0 : all[node].wrong;
    }
    struct ecube_prediction prediction;
    ecube_predict(ECUBE_EXCHANGE, 0, bytes, 0, &prediction);
    struct ecube_report line = {
        .name = "complete exchange",
        .bytes = bytes,
        .steps = steps,
        .model_ns = mine.model_ns,
        .predicted_ns = prediction.model_ns,
        .bound_ns = prediction.bound_ns,
        .wall_ns = mine.wall_ns,
        .wrong = mine.wrong,
    };
    ecube_report(&line);
}

/* One exchange; returns 0 when every byte that came here is right, else -1. */
static int exchange(unsigned char *send, unsigned char *receive, uint32_t bytes)
{
    uint32_t rank = (uint32_t)ecube_rank();
    uint32_t size = (uint32_t)ecube_size();
    for (uint32_t node = 0; node < size; node++) {
        fill(send + (size_t)node * bytes, bytes, pattern_seed(rank, node, bytes));
    }
    memset(receive, 0xee, (size_t)size * bytes);

    ecube_align();
    uint64_t model_ns = ecube_model_ns();
    uint64_t wall_ns = ecube_wall_ns();
    struct ecube_request request;
    struct ecube_status status;
    ecube_exchange_start(send, receive, bytes, &request);
    ecube_wait(&request, &status);
    struct outcome mine = {.model_ns = ecube_model_ns() - model_ns,
                           .wall_ns = ecube_wall_ns() - wall_ns};
    /* Nobody checks while others still exchange: the nodes share the processors that they are
     * emulated on. */
    ecube_barrier();
    for (uint32_t node = 0; node < size; node++) {
        mine.wrong +=
            count_wrong(receive + (size_t)node * bytes, bytes, pattern_seed(node, rank, bytes));
    }
    report(mine, bytes, status.steps);
    return mine.wrong == 0 ? 0 : -1;
}

static int run_size(uint32_t bytes)
{
    size_t total = (size_t)ecube_size() * bytes;
    unsigned char *send = malloc(total + 1);
    unsigned char *receive = malloc(total + 1);
    int done = -1;
    if (send && receive) {
        done = exchange(send, receive, bytes);
    } else {
        fprintf(stderr, "complete_exchange: no memory for 2 x %lu bytes\n", (unsigned long)total);
    }
    free(send);
    free(receive);
    return done;
}

int main(int argc, char **argv)
{
    static char *defaults[] = {"", "16", "100", "1000", "10000", "65536"};
    char **sizes = argc > 1 ? argv : defaults;
    int count = argc > 1 ? argc : (int)(sizeof defaults / sizeof defaults[0]);
    for (int i = 1; i < count; i++) {
        if (run_size((uint32_t)words_read("complete_exchange", sizes[i], 0, BYTES_MAX)) < 0) {
            return 1;
        }
    }
    return 0;
}
