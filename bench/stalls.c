#include "bench/stalls.h"

#include <stdio.h>
#include <string.h>

#include "drivers/check.h"

enum { KINDS_MAX = 4 };

static const uint64_t STREAM_BYTES = UINT64_C(6000) * 65536;

/* The command without its option -smp and the value of it. */
static void drop_smp(char *command)
{
    char *option = strstr(command, " -smp ");
    if (option) {
        const char *value = option + strlen(" -smp ");
        const char *rest = value + strcspn(value, " ");
        memmove(option, rest, strlen(rest) + 1);
    }
}

static void add_kind(struct raw_bench *kind, const struct raw_bench *raw, const char *qemu)
{
    *kind = (struct raw_bench){.qemu = qemu, .image = raw->image, .shared = raw->shared};
}

static void show_kind(const struct raw_bench *bench, const char *options, json_t *list)
{
    const char *links = bench->shared ? "shared" : "serial";

    printf("%-10s %-33s %7u %12u\n", links, options, bench->runs, bench->stood_still);
    json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:i}", "links", links, "options",
                                          options, "runs", (int)bench->runs, "stood_still",
                                          (int)bench->stood_still));
}

json_t *stalls_run(const struct raw_bench *raw, unsigned count, unsigned runs)
{
    char without[1024];
    struct raw_bench kinds[KINDS_MAX];
    unsigned kind_count = 0;
    json_t *list = json_array();

    CHECK(2 * count <= KINDS_MAX);
    snprintf(without, sizeof without, "%s", raw->qemu);
    drop_smp(without);
    for (unsigned i = 0; i < count; i++) {
        add_kind(&kinds[kind_count++], &raw[i], raw->qemu);
        if (!raw[i].shared) { /* with such links QEMU must know of a second processor */
            add_kind(&kinds[kind_count++], &raw[i], without);
        }
    }
    for (unsigned i = 0; i < runs; i++) {
        for (unsigned kind = 0; kind < kind_count; kind++) {
            struct raw_stream stream;
            raw_run_stream(&kinds[kind], 0, STREAM_BYTES, &stream);
        }
        fprintf(stderr, "\r  %u of %u ", i + 1, runs);
    }
    printf("\n\n%-44s %7s %12s\n", "bare streams of 64 KiB segments", "runs", "stood still");
    for (unsigned kind = 0; kind < kind_count; kind++) {
        show_kind(&kinds[kind],
                  kinds[kind].qemu == without ? "without it" : "with the board's -smp", list);
    }
    return list;
}
