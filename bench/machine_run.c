#include "bench/machine_run.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/timed_run.h"

enum { TEXT_BYTES = 1024, PATH_BYTES = 300, WORDS_MAX = 40 };

/* What the tool has written, without its progress ("2 of 4 nodes ..."). */
static void show_output(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[TEXT_BYTES];

    while (file && fgets(line, sizeof line, file)) {
        const char *of = strstr(line, " of ");
        if (!of || of[4] < '0' || of[4] > '9') {
            fputs(line, stderr);
        }
    }
    if (file) {
        fclose(file);
    }
}

static bool run_words(const char *build, double *processor_us, const char *arguments)
{
    char text[2 * TEXT_BYTES], output[PATH_BYTES];
    const char *words[WORDS_MAX] = {NULL};
    struct timed_run run;

    snprintf(text, sizeof text, "%s/ecube %s", build, arguments);
    snprintf(output, sizeof output, "%s/bench/run.out", build);
    char *word = strtok(text, " ");
    for (unsigned i = 0; word && i + 1 < WORDS_MAX; i++) {
        words[i] = word;
        word = strtok(NULL, " ");
    }
    int status = timed_run_within(MACHINE_RUN_SECONDS, words, output, &run);
    if (processor_us) {
        *processor_us = 1e6 * run.processor_s;
    }
    if (status != 0) {
        fprintf(stderr, "bench: failed%s: ecube %s\n",
                status == TIMED_RUN_LATE ? " (took too long)" : "", arguments);
        show_output(output);
    }
    return status == 0;
}

bool machine_run_tool(const char *build, double *processor_us, const char *words, ...)
{
    char text[TEXT_BYTES];
    va_list list;

    va_start(list, words);
    vsnprintf(text, sizeof text, words, list);
    va_end(list);
    return run_words(build, processor_us, text);
}

/* A number of an object; -1: it has none. */
static double number_of(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);
    return json_is_number(number) ? json_number_value(number) : -1;
}

bool machine_run(const char *build, struct machine_result *result, const char *words, ...)
{
    char text[TEXT_BYTES], path[PATH_BYTES];
    va_list list;

    *result = (struct machine_result){-1, -1, -1, -1, -1, -1, -1, -1};
    snprintf(path, sizeof path, "%s/bench/run.json", build);
    int used = snprintf(text, sizeof text, "run --json %s ", path);
    va_start(list, words);
    vsnprintf(text + used, sizeof text - (size_t)used, words, list);
    va_end(list);
    unlink(path);
    if (!run_words(build, &result->processor_us, text)) {
        result->processor_us = -1;
        return false;
    }
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *reports = json_object_get(root, "reports");
    const json_t *report = json_array_get(reports, json_array_size(reports) - 1);
    const json_t *download = json_object_get(root, "download");
    result->boot_ms = number_of(root, "boot_ms");
    result->download_ms = number_of(download, "wall_ms");
    result->host_bytes = number_of(download, "bytes");
    result->host_sends = number_of(download, "sends");
    result->gather_ms = number_of(json_object_get(root, "outputs"), "wall_ms");
    result->bytes = number_of(report, "bytes");
    result->wall_us = number_of(report, "wall_us");
    json_decref(root);
    unlink(path);
    return true;
}
