/*
 * plan_file.h - a plan that a person or another tool has written: the file of `plan export`
 * (doc/json.md, doc/plans.md), read, given slots and proved.
 *
 *     plan_file_read     the file as it stands; what is damaged is told with its line
 *     plan_file_prove    the plan, proved against what its operation promises; what is wrong is
 *                        told with the step, the nodes and the block, and the circuit's line
 *
 * Units    bytes, ns
 * Errors   -1 or NULL, and one line
 * Context  the tool
 */
#pragma once

#include "planner/written/named.h"
#include "host/console/message.h"
#include "network/text.h"
#include "router/clock.h"

enum { ALGORITHM_TEXT_MAX = 100 };

static const uint64_t PLAN_FILE_UNSAID = UINT64_MAX;

struct plan_file {
    const char *path;
    char network_name[NETWORK_NAME_MAX];
    char algorithm[ALGORITHM_TEXT_MAX]; /* what the file calls it; "": nothing */
    struct named_plan named;
    bool has_bytes, has_profile;
    uint32_t bytes; /* of a block, or the vector, for which the plan is; else it is for all */
    uint32_t type;  /* of elements that are combined; 0: not said, or none are */
    struct profile profile;
    uint64_t predicted_ns;   /* PLAN_FILE_UNSAID */
    uint64_t *circuit_bytes; /* of each circuit, or PLAN_FILE_UNSAID */
    uint64_t *lines;         /* of each circuit */
};

int plan_file_read(struct plan_file *file, const char *path, struct message *message);
void plan_file_free(struct plan_file *file);

/* Every claim of the file is looked at that is made for `bytes` and elements of element_bytes. The
 * time is looked at where a profile is said. */
struct plan *plan_file_prove(const struct plan_file *file, uint32_t bytes, uint32_t element_bytes,
                             struct message *message);

/* Of its type; int32 where it says none; 1 where nothing is combined. */
uint32_t plan_file_element_bytes(const struct plan_file *file);
