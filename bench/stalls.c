#include "bench/stalls.h"

#include <stdio.h>
#include <string.h>

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

json_t *stalls_run(const struct raw_bench *raw, unsigned runs)
{
    char without[1024];
    struct raw_bench kinds[2] = {{.qemu = raw->qemu, .image = raw->image},
                                 {.qemu = without, .image = raw->image}};
    static const char *const names[2] = {"with the board's -smp", "without it"};
    json_t *list = json_array();

    snprintf(without, sizeof without, "%s", raw->qemu);
    drop_smp(without);
    for (unsigned i = 0; i < runs; i++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            struct raw_stream stream;
            raw_run_stream(&kinds[kind], 0, STREAM_BYTES, &stream);
        }
        fprintf(stderr, "\r  %u of %u, stood still: %u with, %u without ", i + 1, runs,
                kinds[0].stood_still, kinds[1].stood_still);
    }
    puts("\n\nraw streams of 64 KiB segments                  runs  stood still");
    for (unsigned kind = 0; kind < 2; kind++) {
        printf("%-44s %7u %12u\n", names[kind], kinds[kind].runs, kinds[kind].stood_still);
        json_array_append_new(list, json_pack("{s:s, s:i, s:i}", "options", names[kind], "runs",
                                              (int)kinds[kind].runs, "stood_still",
                                              (int)kinds[kind].stood_still));
    }
    return list;
}
