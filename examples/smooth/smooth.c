/*
 * smooth.c - smooth BYTES: a moving average over blocks of a signal, as they come.
 *
 * The program stays on the machine. Each round it waits until `ecube scatter in` has brought its
 * window of the next block, at most so many bytes, works, and waits until `ecube gather out` has
 * fetched the result. A window is a stretch of the result and TAPS - 1 samples before it, so
 * windows overlap; what is behind the block's end is zero (--pad). One that is shorter than the
 * filter ends the program.
 *
 *   y[n] = (x[n] + x[n + 1] + ... + x[n + TAPS - 1]) / TAPS
 *
 * Samples are signed 16-bit numbers. `examples/smooth.sh` runs it over files of yours.
 */
#include <ecube.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/words.h"

enum { TAPS = 8, BYTES_MAX = 16 << 20 };

static void smooth(const int16_t *samples, int16_t *made, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        int32_t sum = 0;

        for (size_t k = 0; k < TAPS; k++) {
            sum += samples[n + k];
        }
        made[n] = (int16_t)(sum / TAPS);
    }
}

int main(int argc, char **argv)
{
    long bytes = words_number("smooth", argc, argv, 1, 0, 1, BYTES_MAX);
    uint32_t came, rounds = 0;

    if (argc < 2) {
        if (ecube_rank() == 0) {
            printf("smooth: it wants a machine that is up: examples/smooth.sh NETWORK FILE...\n");
        }
        return 0;
    }
    int16_t *samples = malloc((size_t)bytes);
    int16_t *made = samples ? malloc((size_t)bytes) : NULL;
    if (!made) {
        fprintf(stderr, "smooth: there is no memory for two windows of %ld bytes\n", bytes);
        return 1;
    }
    ecube_region("in", samples, (uint32_t)bytes);
    while (ecube_region_wait("in", &came) == ECUBE_SCATTERED && came >= TAPS * sizeof *samples) {
        size_t count = came / sizeof *samples - (TAPS - 1);

        smooth(samples, made, count);
        ecube_region("out", made, (uint32_t)(count * sizeof *made));
        ecube_region_wait("out", NULL);
        rounds++;
    }
    if (ecube_rank() == 0) {
        printf("%u blocks\n", (unsigned)rounds);
    }
    return 0;
}
