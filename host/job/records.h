/*
 * records.h - which node gets which program: runs of ranks, in the order of ranks.
 *
 * Example  --node 3,8-15 other.elf --node 0 root.elf worker.elf, on 16 nodes: root 0, worker 1-2,
 *          other 3, worker 4-7, other 8-15
 * Units    ranks
 */
#pragma once

#include <stdint.h>

#include "host/console/message.h"
#include "host/job/request.h"
#include "network/network.h"

struct record {
    uint32_t first, count;
    unsigned program; /* of `paths` */
};

struct records {
    unsigned count;
    struct record *records;
    const char *paths[JOB_PROGRAMS_MAX]; /* each program once; the request's */
    unsigned path_count;
};

/* What a request's lists of nodes come to on a network; to be freed. */
int records_make(struct records *records, const struct job_request *request,
                 const struct network *network, struct message *message);
void records_free(struct records *records);

/* The program of a node. */
unsigned records_program(const struct records *records, uint32_t rank);
