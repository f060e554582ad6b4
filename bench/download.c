#include "bench/download.h"

#include <stdint.h>
#include <stdio.h>

#include "bench/machine_run.h"

enum {
    ROUNDS = 5,
    MAKERS = 2,
    DATA_BYTES = 4 << 20,
    IMAGE_BYTES = 1 << 20,
    RAW_BYTES = 6000 * 65536, /* a start that is slow does not count */
    COPIES = 10,              /* one is too short a time */
    WORDS_BYTES = 80,
    PATH_BYTES = 300
};

enum figure_index {
    RAW_RATE,
    EQUAL,
    RAW_EQUAL,
    OVERLAP,
    RAW_OVERLAP,
    DIGESTS,
    COPY,
    GATHER,
    RAW_GATHER,
    EQUAL_64,
    RAW_EQUAL_64,
    GATHER_64,
    FIGURES
};

static const struct {
    const char *name, *unit;
} names[FIGURES] = {
    [RAW_RATE] = {"bare link, 64 KiB", "MB/s"},
    [EQUAL] = {"download, 16 equal parts", "ms"},
    [RAW_EQUAL] = {"bare link, bytes of the busiest", "ms"},
    [OVERLAP] = {"download, windows half in common", "ms"},
    [RAW_OVERLAP] = {"bare link, with half in common", "ms"},
    [DIGESTS] = {"digests of 16 equal parts", "ms"},
    [COPY] = {"one copy of 16 equal parts", "ms"},
    [GATHER] = {"4 MiB back from 16 nodes", "ms"},
    [RAW_GATHER] = {"bare link, half of it", "ms"},
    [EQUAL_64] = {"download, 64 equal parts", "ms"},
    [RAW_EQUAL_64] = {"bare link, with 64 nodes", "ms"},
    [GATHER_64] = {"4 MiB back from 64 nodes", "ms"},
};

static struct figure figures[MAKERS][FIGURES];

/* What one round measures of one maker's links. */
struct round {
    const char *build, *maker;
    struct figure *figures;
    double bytes_per_ms; /* of the bare link; -1: it failed */
};

static void add_raw(const struct round *round, enum figure_index index, double bytes)
{
    bool done = bytes > 0 && round->bytes_per_ms > 0;

    figure_add(&round->figures[index], done ? bytes / round->bytes_per_ms : -1);
}

/* Data of which no byte says where it lies. */
static bool write_data(const char *build)
{
    char path[PATH_BYTES];
    uint64_t seed = 1;

    snprintf(path, sizeof path, "%s/bench/load.bin", build);
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    for (unsigned i = 0; i < DATA_BYTES; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        putc((int)(seed >> 56), file);
    }
    return fclose(file) == 0;
}

static void download(const struct round *round, unsigned dims, const char *windows,
                     struct machine_result *result)
{
    machine_run(round->build, result,
                "--links %s --network cube:%u --strategy decremental --input %s/bench/load.bin %s"
                "--output %s/bench/load.out %s/bench/load.elf",
                round->maker, dims, round->build, windows, round->build, round->build);
}

/* What the host sends to half of the nodes, over one link. Each of its messages has the program
 * and what its nodes need of the data, which begin `step` bytes apart and are in common
 * but for that. */
static double busiest_bytes(const struct machine_result *result, unsigned dims, double window,
                            double step)
{
    double nodes = 1u << dims, common = window - step;

    if (result->host_bytes < 0 || result->host_sends < 2) {
        return -1;
    }
    double image = (result->host_bytes - nodes * step) / result->host_sends - common;
    return image + nodes / 2 * step + common;
}

/* Windows of two steps, so that they and their steps end where the data do, but for a few zeros. */
static unsigned windows_half_in_common(unsigned dims, char words[WORDS_BYTES])
{
    unsigned steps = (1u << dims) + 1, step = (DATA_BYTES + steps - 1) / steps;

    snprintf(words, WORDS_BYTES, "--window %u --stride %u --pad ", 2 * step, step);
    return step;
}

/* All nodes at once hash or copy as many bytes as each of them holds. */
static double work_ms(const struct round *round, const char *what, unsigned dims, unsigned count)
{
    struct machine_result result;

    machine_run(round->build, &result, "--links %s --network cube:%u %s/bench/load.elf %s %u %u",
                round->maker, dims, round->build, what, IMAGE_BYTES + (DATA_BYTES >> dims), count);
    return result.wall_us > 0 ? result.wall_us / 1e3 / count : -1;
}

static void measure(const struct round *round)
{
    struct figure *own = round->figures;
    struct machine_result result;
    char windows[WORDS_BYTES];

    figure_add(&own[RAW_RATE], round->bytes_per_ms / 1e3);
    download(round, 4, "", &result);
    figure_add(&own[EQUAL], result.download_ms);
    add_raw(round, RAW_EQUAL, busiest_bytes(&result, 4, DATA_BYTES / 16, DATA_BYTES / 16));
    figure_add(&own[GATHER], result.gather_ms);
    add_raw(round, RAW_GATHER, DATA_BYTES / 2);
    double step = windows_half_in_common(4, windows);
    download(round, 4, windows, &result);
    figure_add(&own[OVERLAP], result.download_ms);
    add_raw(round, RAW_OVERLAP, busiest_bytes(&result, 4, 2 * step, step));
    figure_add(&own[DIGESTS], work_ms(round, "hash", 4, 1));
    figure_add(&own[COPY], work_ms(round, "copy", 4, COPIES));
    download(round, 6, "", &result);
    figure_add(&own[EQUAL_64], result.download_ms);
    add_raw(round, RAW_EQUAL_64, busiest_bytes(&result, 6, DATA_BYTES / 64, DATA_BYTES / 64));
    figure_add(&own[GATHER_64], result.gather_ms);
}

static struct ratio ratio_of(const struct figure own[FIGURES], enum figure_index index,
                             const char *name)
{
    return (struct ratio){name, figure_quotient(&own[index], &own[index + 1]), 4, false};
}

void download_run(const char *build, const struct download_bench benches[MAKERS], json_t *measured,
                  struct ratio ratios[DOWNLOAD_RATIOS])
{
    for (unsigned maker = 0; maker < MAKERS; maker++) {
        for (unsigned i = 0; i < FIGURES; i++) {
            figures[maker][i] = (struct figure){
                .name = names[i].name, .unit = names[i].unit, .of = benches[maker].maker};
        }
    }
    if (!write_data(build)) {
        fprintf(stderr, "bench: cannot write %s/bench/load.bin\n", build);
        return;
    }
    for (unsigned i = 0; i < MAKERS * ROUNDS; i++) {
        unsigned maker = i % MAKERS;
        struct raw_stream stream;

        raw_run_stream(benches[maker].raw, 0, RAW_BYTES, &stream);
        measure(&(struct round){build, benches[maker].maker, figures[maker],
                                stream.bytes_per_us > 0 ? stream.bytes_per_us * 1e3 : -1});
    }
    figures_show_pairs(figures[0], figures[1], FIGURES, measured);
    ratios[0] = ratio_of(figures[0], EQUAL, "download, serial: against the bare link");
    ratios[1] = ratio_of(figures[1], EQUAL, "download, shared: against the bare ring");
    ratios[2] = ratio_of(figures[0], GATHER, "gather, serial: against the bare link");
    ratios[3] = ratio_of(figures[1], GATHER, "gather, shared: against the bare ring");
}
