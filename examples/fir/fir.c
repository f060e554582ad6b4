/*
 * fir.c - a long filter over a signal: each node computes a stretch of the result.
 *
 * A sample of the result is the sum over all taps of what lies that far behind. So a node needs as
 * many samples before its own stretch as there are taps, less one: windows that overlap by nearly
 * all of their length when the filter is long, and are sent once over every link all the same. The
 * taps are common data.
 *
 *   y[n] = sum over k of taps[k] x[n + count - 1 - k], in 32768ths
 *
 * Samples and taps are signed 16-bit numbers. `examples/data.sh fir` makes taps, cuts up a
 * recording, runs this, compares and draws the result.
 *
 * Source   Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *          nodes, section I: digital filters, overlap M - 1
 */
#include <ecube.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int16_t one(const int16_t *samples, const int16_t *taps, size_t count)
{
    int64_t sum = 0;

    for (size_t k = 0; k < count; k++) {
        sum += (int32_t)taps[k] * samples[count - 1 - k];
    }
    sum >>= 15;
    return (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
}

int main(void)
{
    size_t bytes, tap_bytes;
    const int16_t *samples = ecube_input(&bytes), *taps = ecube_common(&tap_bytes);
    size_t have = bytes / sizeof *samples, count = tap_bytes / sizeof *taps;

    if (!samples || !taps) {
        if (ecube_rank() == 0) {
            fprintf(stderr,
                    "fir: it wants a recording: examples/data.sh fir NETWORK IN.wav OUT.png\n");
            return 1;
        }
        return 0;
    }
    int16_t *made = have >= count ? malloc((have - count + 1) * sizeof *made) : NULL;
    if (!made) {
        fprintf(stderr, "fir: %u samples and %u taps: too few, or there is no memory\n",
                (unsigned)have, (unsigned)count);
        return 1;
    }
    for (size_t n = 0; n + count <= have; n++) {
        made[n] = one(samples + n, taps, count);
    }
    ecube_output(made, (have - count + 1) * sizeof *made);
    return 0;
}
