/*
 * match.c - the host's side of the search for patterns: stretches of a text that overlap, the
 * search by itself, and a picture with a point for each character, dark where a pattern begins.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/data/data.h"
#include "examples/data/picture.h"

static void make(const char *path)
{
    static const char *const words[] = {"node", "link", "circuit", "hop", "message", "cube"};
    size_t room = 300000, at = 0;
    char *text = get_memory(room);
    uint32_t seed = 1;

    while (at + 16 < room) {
        seed = seed * 1664525u + 1013904223u;
        at += (size_t)sprintf(text + at, "%s%c",
                              words[seed >> 16 & 3 ? seed >> 20 & 3 : seed >> 28 & 5],
                              seed >> 24 & 7 ? ' ' : '\n');
    }
    write_file(path, text, at);
    free(text);
}

static size_t longest_of(const struct data_job *job)
{
    size_t longest = 0;

    for (int i = 0; i < job->word_count; i++) {
        size_t length = strlen(job->words[i]);
        if (length == 0 || strchr(job->words[i], '\n')) {
            fail("a pattern is empty or has more than one line");
        }
        longest = length > longest ? length : longest;
    }
    if (longest == 0 || job->word_count > 255) {
        fail("1 to 255 patterns are to be given");
    }
    return longest;
}

static size_t own_of(size_t bytes, unsigned nodes)
{
    return (bytes + nodes - 1) / nodes;
}

static void prepare(const struct data_job *job)
{
    size_t bytes, longest = longest_of(job), at = 0;
    uint8_t *text = read_file(job->from, &bytes);
    size_t own = own_of(bytes, job->nodes), all = own * job->nodes + longest - 1;
    char *patterns = get_memory((size_t)job->word_count * (longest + 1));
    uint8_t *input = get_memory(all);
    char input_path[PATH_BYTES], patterns_path[PATH_BYTES];

    if (bytes == 0) {
        fail("%s: empty", job->from);
    }
    memcpy(input, text, bytes);
    for (int i = 0; i < job->word_count; i++) {
        at += (size_t)sprintf(patterns + at, "%s\n", job->words[i]);
    }
    write_file(work_path(job, "input", input_path), input, all);
    write_file(work_path(job, "patterns", patterns_path), patterns, at);
    printf("--input\n%s\n--window\n%zu\n--stride\n%zu\n--common\n%s\n--program\n%zu\n", input_path,
           own + longest - 1, own, patterns_path, own);
    free(input);
    free(patterns);
    free(text);
}

/* Each pattern by itself, the longer ones over the shorter. */
static void search(const struct data_job *job, const uint8_t *text, size_t bytes, uint8_t *found)
{
    for (int i = 0; i < job->word_count; i++) {
        size_t length = strlen(job->words[i]);
        const uint8_t *at = text, *end = text + bytes;

        while ((at = memmem(at, (size_t)(end - at), job->words[i], length)) != NULL) {
            uint8_t *place = &found[at - text];
            if (*place == 0 || strlen(job->words[*place - 1]) < length) {
                *place = (uint8_t)(i + 1);
            }
            at++;
        }
    }
}

static void finish(const struct data_job *job)
{
    size_t bytes, places = 0;
    longest_of(job);
    uint8_t *text = read_file(job->from, &bytes);
    size_t all = own_of(bytes, job->nodes) * job->nodes;
    uint8_t *found = get_memory(all), *came = read_output(job, all);
    unsigned side = (unsigned)ceil(sqrt((double)bytes));
    struct picture p = picture_make(side, side, 1);

    search(job, text, bytes, found);
    compare("places", found, came, all);
    for (size_t i = 0; i < bytes; i++) {
        places += came[i] != 0;
        p.points[i] = (uint8_t)(came[i] ? 0 : text[i] <= ' ' ? 255 : 210);
    }
    picture_write(&p, job->to);
    printf("%zu places\n", places);
    picture_free(&p);
    free(came);
    free(found);
    free(text);
}

const struct data_example data_match = {"match", " PATTERN...", make, prepare, finish};
