/*
 * paths.c - one message over one path, and over several at once: to the first rank at each distance
 * from rank 0, alone on the machine.
 *
 *     build/ecube run --network cube:4 --ports all build/examples/paths.elf 10000
 *
 * Over one path of i hops k bytes take xi + i tau + (i + k - 1) element. Over several that share no
 * link each carries a part of them; all parts end together. On a machine of one port both are the
 * same. The argument is the number of bytes.
 *
 * Exit status 1 when a byte is wrong, when one path takes another time than that, or several take
 * longer.
 *
 * Source   Ozveren 1987, 2.2.1
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { BYTES = 10000, BYTES_MAX = 10000000, TAG = 1 };

static unsigned char byte_of(uint32_t i)
{
    return (unsigned char)(i * 7 + (i >> 8));
}

/* What one path takes. */
static uint64_t formula_ns(uint32_t bytes, int hops)
{
    const struct ecube_profile *profile = ecube_profile();
    uint32_t size = profile->element_bytes > 1 ? profile->element_bytes : 1;
    uint64_t elements = ((uint64_t)bytes + size - 1) / size;

    return profile->xi_ns + (uint64_t)hops * profile->tau_ns +
           ((uint64_t)hops + elements - 1) * profile->element_ns;
}

/* Rank 0 sends to one; the time that both know behind it. Adds to *wrong. */
static uint64_t send(unsigned char *data, uint32_t bytes, int to, int several, int32_t *wrong)
{
    ecube_align();
    uint64_t before_ns = ecube_model_ns();
    if (ecube_rank() == 0 && several) {
        ecube_send_parallel(data, bytes, to, TAG);
    } else if (ecube_rank() == 0) {
        ecube_send(data, bytes, to, TAG);
    } else if (ecube_rank() == to) {
        memset(data, 0, bytes);
        ecube_receive(data, bytes, 0, TAG, NULL);
        for (uint32_t i = 0; i < bytes; i++) {
            *wrong += data[i] != byte_of(i);
        }
    }
    ecube_align();
    return ecube_model_ns() - before_ns;
}

/* The first rank so many hops from rank 0, which all agree on; -1: there is none. */
static int rank_at(int hops)
{
    int32_t mine = ecube_hops(0) == hops ? ecube_rank() : ecube_size(), first;

    ecube_allreduce(&mine, &first, 1, ECUBE_INT32, ECUBE_MIN);
    return first < ecube_size() ? first : -1;
}

int main(int argc, char **argv)
{
    long bytes = words_number("paths", argc, argv, 1, BYTES, 1, BYTES_MAX);
    int32_t wrong = 0, all_wrong, to;

    unsigned char *data = malloc((size_t)bytes);
    if (!data) {
        fprintf(stderr, "paths: there is no memory for %ld bytes\n", bytes);
        return 1;
    }
    for (long i = 0; i < bytes; i++) {
        data[i] = byte_of((uint32_t)i);
    }
    for (int hops = 1; (to = rank_at(hops)) > 0; hops++) {
        uint64_t one_ns = send(data, (uint32_t)bytes, to, 0, &wrong);
        uint64_t several_ns = send(data, (uint32_t)bytes, to, 1, &wrong);
        wrong += one_ns != formula_ns((uint32_t)bytes, hops) || several_ns > one_ns;
        if (ecube_rank() == 0) {
            printf("%ld bytes over %d hop%s: %.3f us, over several paths %.3f us\n", bytes, hops,
                   hops == 1 ? "" : "s", (double)one_ns / 1e3, (double)several_ns / 1e3);
        }
    }
    free(data);
    ecube_allreduce(&wrong, &all_wrong, 1, ECUBE_INT32, ECUBE_SUM);
    if (all_wrong > 0 && ecube_rank() == 0) {
        printf("wrong: %d bytes or times\n", (int)all_wrong);
    }
    return all_wrong > 0;
}
