/*
 * data.h - data files of a job: what of them each node gets, and their bytes.
 *
 * A file is looked at first (data_open), so that all that is wrong is known before anything starts,
 * and read when it is to be sent (data_read). Between the two it must not change. Its bytes are
 * copied: a mapped file that is cut short would end the tool.
 *
 * Of an input node i gets `window` bytes from i * step on:
 *
 *     --window 5 --stride 2   | 0 1 2 3 4 | 5 6 | 7 8 |    nodes 0, 1, 2: 0-4, 2-6, 4-8
 *     --window 2 --stride 3   | 0 1 | - | 3 4 | - | 6 7    2, 5 are nobody's: 0 1 3 4 6 7 is kept
 *
 * Threads read a load's data and write outputs (`struct aside`) and streams (`sink`): GiBs and slow
 * readers must not hold up `ps` or Ctrl-C. Refused: slices in the loop, which a slow disk stops all
 * the same; non-blocking streams, which others share.
 *
 * Units    bytes
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "host/console/message.h"
#include "host/job/request.h"

struct data_file {
    uint32_t kind; /* enum block_kind */
    char *path, *name;
    uint64_t file_bytes;     /* BLOCK_PRIVATE: of all files */
    uint32_t window, step;   /* of the string; step 0: all get all of it */
    uint64_t stride;         /* of the file */
    uint64_t bytes;          /* of the string */
    uint64_t unused_bytes;   /* of the file: in no window */
    uint64_t *starts;        /* where each node's begins, one more at the end; NULL: by `step` */
    uint8_t *string;         /* NULL: it has not been read */
    const atomic_bool *stop; /* of data_read */
};

int data_open(struct data_file *file, const struct job_data *data, uint32_t nodes,
              struct message *message);
/* Standard input has no length, so it is read to its end: until then it counts as empty. */
int data_read_stream(struct data_file *file, uint32_t nodes, struct message *message);
/* Reads it, in slices as long as `stop`, if there is one, is false. */
int data_read(struct data_file *file, uint32_t nodes, const atomic_bool *stop,
              struct message *message);
void data_close(struct data_file *file);

/* What of the string a node gets. */
uint64_t data_from(const struct data_file *file, uint32_t rank);
uint32_t data_bytes(const struct data_file *file, uint32_t rank);

/* Opens a file that has bytes to read; its descriptor, or -1. */
int data_open_path(const char *path, uint64_t *bytes, struct message *message);
