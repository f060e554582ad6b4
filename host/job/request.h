/*
 * request.h - what a user wants to be loaded, before any file is looked at: programs and their
 * nodes, arguments, data; and the same as JSON, for the process that holds a machine.
 *
 * Units    bytes, ms
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller/download.h"
#include "host/console/message.h"
#include "host/job/map_choice.h"
#include "host/job/outputs.h"
#include "wire/run.h"

enum { JOB_PROGRAMS_MAX = 64, JOB_DATA_MAX = 64 };

struct job_program {
    const char *path;
    const char *nodes; /* "3,8-15"; NULL: all that no other program is for */
};

struct job_data {
    uint32_t kind;    /* enum block_kind */
    const char *path; /* of BLOCK_PRIVATE with %r for the rank */
    const char *name; /* as the user has given it; of BLOCK_FILE what its program opens, of
                       * BLOCK_STDIN "0" or "all" */
    uint64_t window;  /* of BLOCK_INPUT, as the two below: 0: an equal part for each node */
    uint64_t stride;  /* from window to window; 0: the window */
    bool pad;         /* behind the file's end zeros go on */
};

/* Paths and arguments are the caller's. */
struct job_request {
    struct job_program programs[JOB_PROGRAMS_MAX];
    unsigned program_count;
    const char *const *arguments; /* of all programs */
    unsigned argument_count;
    struct job_data data[JOB_DATA_MAX];
    unsigned data_count;
    enum strategy strategy;
    int x;
    bool explain; /* what each strategy would take is told */
    uint32_t timeout_ms;
    struct outputs_request outputs;
    const char *trace;     /* --trace; NULL: none is wanted */
    bool counts;           /* what links have carried is wanted */
    struct map_wanted map; /* of this load alone; NULL: the machine's */
};

/* The program that stands for the job: the one for all other nodes, or the last. */
const char *job_request_path(const struct job_request *request);

/* With whole paths, for a process in another directory; -1: a path, a name or an argument is no
 * UTF-8. */
int job_request_to_json(const struct job_request *request, json_t **json, struct message *message);

/* One piece of data; NULL: its path or name is no UTF-8. */
json_t *job_data_to_json(const struct job_data *data);
bool job_data_from_json(const json_t *json, struct job_data *data);

/* A path that another process can open: of what is no file (a pattern, a file that is to be
 * written, one that is missing, as its reader will say) the working directory and the path. NULL
 * stays null; NULL is returned when it is no UTF-8. */
json_t *job_whole_path(const char *path);

/* The texts are the JSON's. False: it is malformed. */
bool job_request_from_json(const json_t *json, struct job_request *request);
/* To be freed: the list of arguments that job_request_from_json has made. */
void job_request_free(struct job_request *request);

/* The member "data" of --json. */
json_t *job_request_describe_data(const struct job_request *request);
