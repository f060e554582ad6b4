/*
 * job_list.h - what a job loads as a list of segments (wire/load.h): where everything lies at each
 * node, where it is at the host, and what nodes must answer.
 *
 *   | image, bss | private block | map | common data, windows, files | private data | heap
 *                ^ data_start                            data_end ^ ^ page          ^ top, page
 *
 * Each piece of data begins at a multiple of DATA_ALIGN bytes. Programs of different sizes have
 * their data at different addresses.
 *
 * Units    bytes; addresses of a node
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "host/console/message.h"
#include "host/job/data.h"
#include "host/job/records.h"
#include "host/job/request.h"
#include "host/program/image.h"
#include "wire/load.h"
#include "wire/run.h"

/* A program and its image. */
struct job_image {
    char *path;
    struct image image;
};

/* Where a program has its data. */
struct job_place {
    uint32_t block, block_bytes;
    uint32_t map;                /* if the network has one */
    uint32_t data[JOB_DATA_MAX]; /* addresses */
    uint32_t data_start, data_end, top;
};

/* A segment, and its string: of memory that is there, or in a file's. */
struct job_part {
    struct load_segment segment;
    const uint8_t *string;
    const struct data_file *file; /* NULL: `string` */
    uint64_t from;                /* in the file's */
};

struct job_list {
    uint8_t *bytes;
    uint32_t byte_count;
    uint8_t digest[DIGEST_BYTES];
    struct load_list list;
    struct job_part *parts;
    unsigned part_count, part_room;
    uint8_t *blocks; /* of all nodes */
    uint8_t *map;    /* NULL: there is none */
    /* as struct controller_load has them; the list_fill's */
    const uint8_t **strings;
    const uint8_t (**digests)[DIGEST_BYTES];
    uint8_t (*digest_memory)[DIGEST_BYTES];
};

/* What a list is made of. The files need not have been read. */
struct job_contents {
    const struct job_request *request;
    const struct network *network; /* with its map */
    const struct records *records;
    const struct job_image *images;
    const struct data_file *files;
};

/* Whether a program takes so many arguments. */
int job_list_check_arguments(const struct job_request *request, struct message *message);

/* Makes the list and the blocks; on failure nothing is held. */
int job_list_make(struct job_list *list, const struct job_contents *contents,
                  struct message *message);
/* Finds strings and digests, as long as `stop`, if there is one, is false: files have been read. */
int job_list_fill(struct job_list *list, const atomic_bool *stop, struct message *message);
void job_list_free(struct job_list *list);
