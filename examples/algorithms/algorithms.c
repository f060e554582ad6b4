/*
 * algorithms.c - how long each algorithm of allreduce takes for vectors of several sizes, and what
 * the choice of the host takes, predicted and run.
 *
 *   algorithms [name]...      default: those below; `ecube plan list allreduce` has all names
 *
 * A short vector goes best in few steps, each of the whole vector; a long one in many, of which
 * each moves a part. So the lines cross, and where they do depends on network and machine.
 *
 * Exit status 1 when a sum is wrong, a run takes another model time than predicted, or the choice
 * is slower than an algorithm (as it may be with `ecube run --algorithm`).
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/words.h"

enum { SIZES = 4, COUNT_MAX = 16384 };

static const uint32_t counts[SIZES] = {1, 64, 1024, COUNT_MAX};

/* An algorithm or prediction that cannot be had is no error: who asks gets an answer. */
static void check_answer(const char *what, int status)
{
    if (status < 0) {
        words_refuse("algorithms", "%s: %s", what, ecube_error_text(status));
    }
}

/* The latest model time of all nodes. */
static uint64_t aligned_ns(void)
{
    ecube_align();
    return ecube_model_ns();
}

/* One allreduce with the algorithm that has been asked for. Returns its model time; 0: it was not
 * as predicted, or a sum is wrong. */
static uint64_t run(uint32_t count)
{
    static int32_t mine[COUNT_MAX], sum[COUNT_MAX];
    struct ecube_prediction prediction;
    int32_t size = ecube_size(), ranks = size * (size - 1) / 2;

    check_answer("predict", ecube_predict(ECUBE_ALLREDUCE, 0, count * (uint32_t)sizeof mine[0],
                                          ECUBE_INT32, &prediction));
    for (uint32_t i = 0; i < count; i++) {
        mine[i] = ecube_rank() + (int32_t)i;
        sum[i] = -1;
    }
    uint64_t start_ns = aligned_ns();
    ecube_allreduce(mine, sum, count, ECUBE_INT32, ECUBE_SUM);
    uint64_t model_ns = aligned_ns() - start_ns;
    for (uint32_t i = 0; i < count; i++) {
        if (sum[i] != ranks + size * (int32_t)i) {
            return 0;
        }
    }
    return model_ns == prediction.model_ns ? model_ns : 0;
}

/* A line of the table, of an algorithm or (NULL) of the choice; `least` is the least so far.
 * Returns how many of its runs were wrong. */
static int compare(const char *name, uint64_t least[SIZES])
{
    char line[100];
    size_t used = (size_t)snprintf(line, sizeof line, "%-28.28s", name ? name : "the choice");
    int wrong = 0, status = ecube_algorithm(ECUBE_ALLREDUCE, name);

    if (status == ECUBE_E_NETWORK) {
        used += (size_t)snprintf(line + used, sizeof line - used, " not on this network");
    } else {
        check_answer(name ? name : "algorithm", status);
        for (int i = 0; i < SIZES; i++) {
            uint64_t model_ns = run(counts[i]);
            wrong += model_ns == 0 && ecube_size() > 1;
            if (!name && model_ns > least[i] && ecube_rank() == 0) {
                printf("the choice for %lu bytes is not the cheapest\n",
                       (unsigned long)(counts[i] * sizeof(int32_t)));
            }
            wrong += !name && model_ns > least[i];
            least[i] = model_ns < least[i] ? model_ns : least[i];
            used += (size_t)snprintf(line + used, sizeof line - used, " %13.3f",
                                     (double)model_ns / 1e3);
        }
    }
    if (ecube_rank() == 0) {
        printf("%s\n", line);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static char *defaults[] = {"", "reduce and broadcast", "halving and doubling", "cycle",
                               "lines"};
    char **names = argc > 1 ? argv : defaults;
    int count = argc > 1 ? argc : (int)(sizeof defaults / sizeof defaults[0]), wrong = 0;
    uint64_t least[SIZES];

    if (ecube_rank() == 0) {
        printf("%-28s", "us of model time");
    }
    for (int i = 0; i < SIZES; i++) {
        least[i] = UINT64_MAX;
        if (ecube_rank() == 0) {
            printf(" %7lu bytes", (unsigned long)(counts[i] * sizeof(int32_t)));
        }
    }
    if (ecube_rank() == 0) {
        printf("\n");
    }
    for (int i = 1; i < count; i++) {
        wrong += compare(names[i], least);
    }
    wrong += compare(NULL, least);
    if (wrong > 0) {
        printf("wrong: %d sums, times or choices\n", wrong);
    }
    return wrong > 0;
}
