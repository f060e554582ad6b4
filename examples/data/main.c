/*
 * main.c - data EXAMPLE make FILE | prepare FILE NODES WORK [WORD...] |
 *          finish FILE NODES WORK PICTURE [WORD...]: the host's side of the examples on data.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/data/data.h"

void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "data: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

void *get_memory(size_t bytes)
{
    void *memory = calloc(bytes ? bytes : 1, 1);

    if (!memory) {
        fail("no memory for %zu bytes", bytes);
    }
    return memory;
}

uint8_t *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 16, have = 0, got;
    uint8_t *data = get_memory(room);

    if (!file) {
        fail("%s: %s", path, strerror(errno));
    }
    while ((got = fread(data + have, 1, room - have, file)) > 0) {
        have += got;
        if (have == room) {
            room *= 2;
            data = realloc(data, room);
            if (!data) {
                fail("no memory for %zu bytes", room);
            }
        }
    }
    if (ferror(file)) {
        fail("%s: %s", path, strerror(errno));
    }
    fclose(file);
    *bytes = have;
    return data;
}

void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        fail("%s: %s", path, strerror(errno));
    }
}

const char *work_path(const struct data_job *job, const char *name, char path[PATH_BYTES])
{
    if (snprintf(path, PATH_BYTES, "%s/%s", job->work, name) >= PATH_BYTES) {
        fail("%s: too long a path", job->work);
    }
    return path;
}

uint8_t *read_output(const struct data_job *job, size_t bytes)
{
    char path[PATH_BYTES];
    size_t came;
    uint8_t *output = read_file(work_path(job, "output", path), &came);

    if (came != bytes) {
        fail("%zu bytes have come back, not %zu", came, bytes);
    }
    return output;
}

void compare(const char *what, const void *computed, const void *came, size_t bytes)
{
    const uint8_t *a = computed, *b = came;
    size_t wrong = 0, first = 0;

    for (size_t i = bytes; i-- > 0;) {
        if (a[i] != b[i]) {
            wrong++;
            first = i;
        }
    }
    if (wrong > 0) {
        fail("%zu of %zu bytes of %s are wrong, the first is byte %zu", wrong, bytes, what, first);
    }
    printf("%s: %zu bytes, as computed here\n", what, bytes);
}

static const struct data_example *const examples[] = {&data_fir, &data_image, &data_match};

static _Noreturn void usage(void)
{
    fprintf(stderr, "usage:\n");
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const char *name = examples[i]->name;
        fprintf(stderr,
                "  data %s make FILE\n  data %s prepare FILE NODES WORK%s\n"
                "  data %s finish FILE NODES WORK PICTURE%s\n",
                name, name, examples[i]->usage, name, examples[i]->usage);
    }
    exit(2);
}

int main(int argc, char **argv)
{
    const struct data_example *example = NULL;

    for (size_t i = 0; argc > 3 && i < sizeof examples / sizeof examples[0]; i++) {
        example = strcmp(examples[i]->name, argv[1]) == 0 ? examples[i] : example;
    }
    if (!example) {
        usage();
    }
    if (strcmp(argv[2], "make") == 0 && argc == 4) {
        example->make(argv[3]);
        return 0;
    }
    if (argc < 6) {
        usage();
    }
    struct data_job job = {.from = argv[3], .nodes = (unsigned)atoi(argv[4]), .work = argv[5]};
    if (strcmp(argv[2], "prepare") == 0 && job.nodes > 0) {
        job.words = argv + 6;
        job.word_count = argc - 6;
        example->prepare(&job);
    } else if (strcmp(argv[2], "finish") == 0 && job.nodes > 0 && argc > 6) {
        job.to = argv[6];
        job.words = argv + 7;
        job.word_count = argc - 7;
        example->finish(&job);
    } else {
        usage();
    }
    return 0;
}
