/*
 * data.h - what the examples on data need on the host: to cut data into windows before a run, and
 * to compare and draw what has come back.
 *
 * An example's `prepare` writes files to the work directory and prints the options and arguments of
 * the run, a word each line, with the program's name as --program; its `finish` computes the result
 * by itself, compares, and writes a picture.
 *
 * Errors   both end the process with a line and status 1, as all functions here do
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PATH_BYTES = 4096 };

struct data_job {
    const char *from, *work, *to; /* the user's file, the work directory, the picture */
    unsigned nodes;
    char **words; /* what else the user has said */
    int word_count;
};

struct data_example {
    const char *name;
    const char *usage;
    void (*make)(const char *path); /* writes a file that it can work on */
    void (*prepare)(const struct data_job *job);
    void (*finish)(const struct data_job *job);
};

extern const struct data_example data_fir, data_image, data_match;

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *get_memory(size_t bytes);
/* The bytes of a file; the caller frees them. */
uint8_t *read_file(const char *path, size_t *bytes);
void write_file(const char *path, const void *data, size_t bytes);
/* A file of the work directory. */
const char *work_path(const struct data_job *job, const char *name, char path[PATH_BYTES]);
/* What has come back: as many bytes as there must be. */
uint8_t *read_output(const struct data_job *job, size_t bytes);
/* Ends the process when two results differ. */
void compare(const char *what, const void *computed, const void *came, size_t bytes);
