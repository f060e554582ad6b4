/*
 * fir.c - the host's side of the filter over a recording: reads a WAV file, makes the taps of a
 * low-pass filter, and draws the signal above what is left of it.
 *
 * Source   Multimedia Programming Interface and Data Specifications 1.0 (1991), WAVE; Oppenheim &
 *          Schafer, Discrete-Time Signal Processing, 7.2: windowed sinc, Hamming window
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/data/data.h"
#include "examples/data/picture.h"

enum { TAPS = 513, RATE = 44100, WAV_HEADER_BYTES = 44, PICTURE_WIDTH = 1200, HALF = 200 };

static const double pi = 3.14159265358979323846;

struct signal {
    int16_t *samples;
    size_t count;
};

static uint32_t get(const uint8_t *at, unsigned bytes)
{
    uint32_t value = 0;

    for (unsigned i = bytes; i-- > 0;) {
        value = value << 8 | at[i];
    }
    return value;
}

static void put(uint8_t *at, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

/* A tone that rises, with noise over it. */
static void make(const char *path)
{
    size_t count = 2 * RATE, bytes = WAV_HEADER_BYTES + 2 * count;
    uint8_t *file = get_memory(bytes);
    uint32_t seed = 1;

    memcpy(file, "RIFF", 4);
    put(file + 4, (uint32_t)bytes - 8, 4);
    memcpy(file + 8, "WAVEfmt ", 8);
    put(file + 16, 16, 4);
    put(file + 20, 1, 2);
    put(file + 22, 1, 2);
    put(file + 24, RATE, 4);
    put(file + 28, 2 * RATE, 4);
    put(file + 32, 2, 2);
    put(file + 34, 16, 2);
    memcpy(file + 36, "data", 4);
    put(file + 40, (uint32_t)(2 * count), 4);
    for (size_t i = 0; i < count; i++) {
        double t = (double)i / RATE, tone = sin(2 * pi * (100 + 1900 * t / 2) * t);
        seed = seed * 1664525u + 1013904223u;
        double noise = (double)(int32_t)seed / 2147483648.0;
        put(file + WAV_HEADER_BYTES + 2 * i,
            (uint32_t)(int32_t)(12000 * tone * sin(pi * t / 2) + 8000 * noise), 2);
    }
    write_file(path, file, bytes);
    free(file);
}

/* The first channel of 16-bit samples. */
static struct signal read_signal(const char *path)
{
    size_t bytes, at = 12, stride = 0;
    uint8_t *file = read_file(path, &bytes);
    struct signal signal = {0};

    if (bytes < WAV_HEADER_BYTES || memcmp(file, "RIFF", 4) != 0 ||
        memcmp(file + 8, "WAVE", 4) != 0) {
        fail("%s: not a WAV file", path);
    }
    while (at + 8 <= bytes && memcmp(file + at, "data", 4) != 0) {
        if (memcmp(file + at, "fmt ", 4) == 0 && at + 24 <= bytes) {
            stride = get(file + at + 20, 2);
            if (get(file + at + 8, 2) != 1 || get(file + at + 22, 2) != 16) {
                fail("%s: samples are not of 16 bits", path);
            }
        }
        at += 8 + (size_t)get(file + at + 4, 4);
    }
    if (at + 8 > bytes || stride < 2) {
        fail("%s: no samples", path);
    }
    size_t data_bytes = get(file + at + 4, 4), left = bytes - at - 8;
    signal.count = (data_bytes < left ? data_bytes : left) / stride;
    signal.samples = get_memory(signal.count * sizeof *signal.samples);
    for (size_t i = 0; i < signal.count; i++) {
        signal.samples[i] = (int16_t)get(file + at + 8 + i * stride, 2);
    }
    free(file);
    if (signal.count == 0) {
        fail("%s: no samples", path);
    }
    return signal;
}

/* A fifth of the band passes. */
static void make_taps(int16_t taps[TAPS])
{
    for (int k = 0; k < TAPS; k++) {
        double x = k - (TAPS - 1) / 2.0, cutoff = 0.1;
        double sinc = x == 0 ? 2 * cutoff : sin(2 * pi * cutoff * x) / (pi * x);
        double window = 0.54 - 0.46 * cos(2 * pi * k / (TAPS - 1));
        taps[k] = (int16_t)lrint(sinc * window * 32767);
    }
}

static size_t own_of(const struct signal *signal, unsigned nodes)
{
    return (signal->count + nodes - 1) / nodes;
}

/* The signal behind TAPS - 1 zeros, and zeros up to the end of the last window. */
static int16_t *padded(const struct signal *signal, unsigned nodes, size_t *count)
{
    *count = own_of(signal, nodes) * nodes + TAPS - 1;
    int16_t *samples = get_memory(*count * sizeof *samples);

    memcpy(samples + TAPS - 1, signal->samples, signal->count * sizeof *samples);
    return samples;
}

static void prepare(const struct data_job *job)
{
    struct signal signal = read_signal(job->from);
    size_t count, own = own_of(&signal, job->nodes);
    int16_t *samples = padded(&signal, job->nodes, &count), taps[TAPS];
    char input[PATH_BYTES], common[PATH_BYTES];

    make_taps(taps);
    write_file(work_path(job, "input", input), samples, count * sizeof *samples);
    write_file(work_path(job, "taps", common), taps, sizeof taps);
    printf("--input\n%s\n--window\n%zu\n--stride\n%zu\n--common\n%s\n--program\n", input,
           (own + TAPS - 1) * sizeof *samples, own * sizeof *samples, common);
    free(samples);
    free(signal.samples);
}

/* From the lowest to the highest sample of each column. */
static void draw(struct picture *p, unsigned top, const int16_t *samples, size_t count)
{
    for (unsigned x = 0; x < p->width; x++) {
        size_t from = count * x / p->width, to = count * (x + 1) / p->width;
        int low = INT16_MAX, high = INT16_MIN;

        for (size_t i = from; i < to || i == from; i++) {
            low = samples[i] < low ? samples[i] : low;
            high = samples[i] > high ? samples[i] : high;
        }
        for (int y = 0; y < HALF; y++) {
            int level = INT16_MAX - y * 65535 / HALF, next = INT16_MAX - (y + 1) * 65535 / HALF;
            if (low <= level && high >= next) {
                p->points[(top + (unsigned)y) * p->width + x] = 0;
            }
        }
    }
}

static void finish(const struct data_job *job)
{
    struct signal signal = read_signal(job->from);
    size_t count, all = own_of(&signal, job->nodes) * job->nodes;
    int16_t *samples = padded(&signal, job->nodes, &count), taps[TAPS];
    int16_t *made = get_memory(all * sizeof *made), *came;
    struct picture p = picture_make(PICTURE_WIDTH, 2 * HALF, 1);

    make_taps(taps);
    came = (int16_t *)(void *)read_output(job, all * sizeof *made);
    for (size_t n = 0; n < all; n++) {
        int64_t sum = 0;
        for (size_t k = 0; k < TAPS && k <= n; k++) {
            sum += (int64_t)taps[k] * samples[n + TAPS - 1 - k];
        }
        sum = (sum < 0 ? sum - 32767 : sum) / 32768;
        made[n] = (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
    }
    compare("filtered signal", made, came, all * sizeof *made);
    memset(p.points, 255, (size_t)p.width * p.height);
    draw(&p, 0, signal.samples, signal.count);
    draw(&p, HALF, came, signal.count);
    picture_write(&p, job->to);
    picture_free(&p);
    free(made);
    free(came);
    free(samples);
    free(signal.samples);
}

const struct data_example data_fir = {"fir", "", make, prepare, finish};
