/*
 * collectives.c - collectives [BYTES]: every collective from and to every root, every byte checked,
 * and reported; then calls that are impossible.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

static uint8_t pattern(uint32_t from, uint32_t to, uint32_t index)
{
    return (uint8_t)(from * 131 + to * 17 + index * 7 + 3);
}

static uint32_t bytes;
static uint8_t *blocks, *answer, *block;

static void fill(uint8_t *memory, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < bytes; i++) {
        memory[i] = pattern(from, to, i);
    }
}

static uint32_t differences(const uint8_t *memory, uint32_t from, uint32_t to)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        wrong += memory[i] != pattern(from, to, i);
    }
    return wrong;
}

/* Runs one collective with this root; returns wrong bytes, or all of them when it failed. */
static uint32_t run(uint32_t operation, uint32_t root)
{
    const uint32_t rank = (uint32_t)ecube_rank(), size = (uint32_t)ecube_size();
    uint32_t wrong = 0;
    int status = 0;
    for (uint32_t i = 0; i < size; i++) {
        fill(blocks + i * bytes, rank, i);
    }
    memset(answer, 0xee, (size_t)size * bytes);
    fill(block, rank, root);
    switch (operation) {
    case ECUBE_BROADCAST:
        fill(block, rank, 0);
        status = ecube_broadcast(block, bytes, (int)root);
        wrong = differences(block, root, 0);
        break;
    case ECUBE_SCATTER:
        status = ecube_scatter(blocks, block, bytes, (int)root);
        wrong = differences(block, root, rank);
        break;
    case ECUBE_GATHER:
        status = ecube_gather(block, answer, bytes, (int)root);
        for (uint32_t i = 0; rank == root && i < size; i++) {
            wrong += differences(answer + i * bytes, i, root);
        }
        break;
    case ECUBE_EXCHANGE:
        status = ecube_exchange(blocks, answer, bytes);
        for (uint32_t i = 0; i < size; i++) {
            wrong += differences(answer + i * bytes, i, rank);
        }
        break;
    default: status = ecube_barrier(); break;
    }
    if (status < 0) {
        printf("operation %u, root %u: %s\n", (unsigned)operation, (unsigned)root,
               ecube_error_text(status));
        return bytes * size;
    }
    return wrong;
}

/* Returns how many of the calls did not end with that error. */
static uint32_t count_others(const int *results, unsigned count, int wanted)
{
    uint32_t others = 0;

    for (unsigned i = 0; i < count && bytes > 0; i++) {
        if (results[i] != wanted) {
            printf("impossible call %u: %s, not %s\n", i, ecube_error_text(results[i]),
                   ecube_error_text(wanted));
            others++;
        }
    }
    return others;
}

/* Calls that no node may take for possible; returns how many did not end with the right error. */
static uint32_t run_impossible(void)
{
    const uint32_t size = (uint32_t)ecube_size(), all = size * bytes;
    const int arguments[] = {
        ecube_exchange(blocks, blocks, bytes),
        ecube_exchange(blocks, blocks + all - 1, bytes),
        ecube_exchange(blocks + all - 1, blocks, bytes),
        size > 1 ? ecube_gather(block, blocks, UINT32_MAX, 0) : ECUBE_E_ARGUMENT,
        size > 1 ? ecube_scatter(blocks, block, UINT32_MAX / 2 + 1, 0) : ECUBE_E_ARGUMENT,
    };
    const int pointers[] = {
        bytes > 0 ? ecube_gather(NULL, blocks, bytes, 0) : 0,
        bytes > 0 ? ecube_gather(block, NULL, bytes, ecube_rank()) : 0,
        bytes > 0 ? ecube_scatter(blocks, NULL, bytes, 0) : 0,
        bytes > 0 ? ecube_scatter(NULL, block, bytes, ecube_rank()) : 0,
    };

    return count_others(arguments, sizeof arguments / sizeof arguments[0], ECUBE_E_ARGUMENT) +
           count_others(pointers, sizeof pointers / sizeof pointers[0], ECUBE_E_FAULT);
}

/* A barrier that is begun, and waited for or tested: returns how much its status says wrong. */
static uint32_t run_begun(int tested)
{
    struct ecube_request request;
    struct ecube_status status;
    int ended = ecube_barrier_start(&request);

    while (ended == 0 && tested) {
        ended = ecube_test(&request, &status);
    }
    if (ended == 0) {
        ended = ecube_wait(&request, &status);
    }
    uint32_t wrong = (uint32_t)(ended != tested) + (status.source != ECUBE_ANY) +
                     (status.tag != ECUBE_ANY) + (status.bytes != 0) +
                     (status.steps != (uint32_t)ecube_dims()) + (status.done_ns > ecube_model_ns());

    if (wrong) {
        printf("a begun barrier: %d, source %d, tag %d\n", ended, status.source, status.tag);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const uint32_t size = (uint32_t)ecube_size();
    uint32_t wrong = 0;
    bytes = argc > 1 ? (uint32_t)atoi(argv[1]) : 100;
    blocks = malloc((size_t)size * bytes + 1);
    answer = malloc((size_t)size * bytes + 1);
    block = malloc(bytes + 1);
    for (uint32_t operation = ECUBE_BARRIER; operation <= ECUBE_EXCHANGE; operation++) {
        for (uint32_t root = 0; root < size; root++) {
            wrong += run(operation, root);
        }
    }
    wrong += run_impossible() + run_begun(0) + run_begun(1);
    if (wrong) {
        printf("%u wrong bytes or calls\n", (unsigned)wrong);
    }
    return wrong ? 1 : 0;
}
