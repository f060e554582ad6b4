/*
 * job.c - makes all that a download needs before its first message leaves.
 *
 * Sizes are checked before memory is taken, digests are computed before the download begins. So
 * nothing here can fail when nodes have begun to wait.
 */
#include "host/job/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/computer/target.h"

static int read_images(struct job *job, struct image *image, struct message *message)
{
    job->image_count = job->records.path_count;
    job->images = calloc(job->image_count, sizeof *job->images);
    if (!job->images) {
        return message_set(message, "out of memory");
    }
    for (unsigned i = 0; i < job->image_count; i++) {
        job->images[i].path = strdup(job->records.paths[i]);
        if (!job->images[i].path) {
            return message_set(message, "out of memory");
        }
        if (image) {
            job->images[i].image = *image;
            *image = (struct image){0};
        } else if (image_read(&job->images[i].image, job->images[i].path, message) != 0) {
            return -1;
        }
        job->records.paths[i] = NULL; /* the request's, which goes */
    }
    return 0;
}

static void find_path(struct job *job, const struct job_request *request)
{
    const char *path = job_request_path(request);

    for (unsigned i = 0; i < job->image_count; i++) {
        if (strcmp(job->images[i].path, path) == 0) {
            job->path = job->images[i].path;
        }
    }
}

static int open_files(struct job *job, const struct job_request *request, uint32_t nodes,
                      struct message *message)
{
    if (request->data_count == 0) {
        return 0;
    }
    job->files = calloc(request->data_count, sizeof *job->files);
    if (!job->files) {
        return message_set(message, "out of memory");
    }
    for (; job->file_count < request->data_count; job->file_count++) {
        if (data_open(&job->files[job->file_count], &request->data[job->file_count], nodes,
                      message) != 0) {
            return -1;
        }
    }
    return 0;
}

/* NULL: there is none. */
static struct data_file *stream_of(const struct job *job)
{
    for (unsigned i = 0; i < job->file_count; i++) {
        if (job->files[i].kind == BLOCK_STDIN) {
            return &job->files[i];
        }
    }
    return NULL;
}

static int make_list(struct job *job, const struct job_request *request,
                     const struct network *network, struct message *message)
{
    const struct job_contents contents = {.request = request,
                                          .network = network,
                                          .records = &job->records,
                                          .images = job->images,
                                          .files = job->files};

    return job_list_make(&job->list, &contents, message);
}

static int make_plan(struct job *job, const struct job_request *request,
                     const struct network *network, const struct profile *profile,
                     struct message *message)
{
    struct download_costs costs = download_costs_of(profile, &job->list.list);

    costs.memory_end = target_board()->image_end;
    if (!download_make_plan(&job->plan, request->strategy, request->x, network, &costs,
                            message->text)) {
        return -1;
    }
    if (request->explain) {
        download_compare(job->choices, request->x, network, &costs);
        job->explained = true;
    }
    return 0;
}

/* List and plan. Without standard input first: it may be long, and it is gone when it was read. */
static int lay_out(struct job *job, const struct job_request *request,
                   const struct network *network, const struct profile *profile,
                   struct message *message)
{
    struct data_file *stream = stream_of(job);

    for (;; stream = NULL) {
        if (make_list(job, request, network, message) != 0 ||
            make_plan(job, request, network, profile, message) != 0) {
            return -1;
        }
        if (!stream) {
            return 0;
        }
        job_list_free(&job->list);
        if (data_read_stream(stream, network->nodes, message) != 0) {
            return -1;
        }
    }
}

int job_plan(struct job *job, struct image *image, const struct job_request *request,
             const struct network *network, const struct profile *profile, struct message *message)
{
    *job = (struct job){
        .timeout_ms = request->timeout_ms, .wanted = request->strategy, .counts = request->counts};
    if (request->map.map && map_add(&job->map, &request->map, network, message) == 0) {
        network = &job->map->network;
    }
    if ((request->map.map && !job->map) ||
        job_trace_open(&job->trace, request->trace, message) != 0 ||
        outputs_make(&job->outputs, &request->outputs, network, message) != 0 ||
        records_make(&job->records, request, network, message) != 0 ||
        read_images(job, image, message) != 0 ||
        open_files(job, request, network->nodes, message) != 0 ||
        lay_out(job, request, network, profile, message) != 0) {
        if (image) {
            image_free(image);
        }
        job_free(job);
        return -1;
    }
    find_path(job, request);
    return 0;
}

int job_fill(struct job *job, uint32_t nodes, const atomic_bool *stop, struct message *message)
{
    for (unsigned i = 0; i < job->file_count; i++) {
        if (data_read(&job->files[i], nodes, stop, message) != 0) {
            return -1;
        }
    }
    return job_list_fill(&job->list, stop, message);
}

void job_free(struct job *job)
{
    for (unsigned i = 0; job->images && i < job->image_count; i++) {
        free(job->images[i].path);
        image_free(&job->images[i].image);
    }
    for (unsigned i = 0; i < job->file_count; i++) {
        data_close(&job->files[i]);
    }
    free(job->images);
    free(job->files);
    records_free(&job->records);
    job_list_free(&job->list);
    report_free(&job->reports);
    outputs_free(&job->outputs);
    job_trace_free(&job->trace);
    json_decref(job->traffic);
    map_free(job->map);
    *job = (struct job){0};
}

struct controller_load job_load(const struct job *job)
{
    const struct job_list *list = &job->list;

    return (struct controller_load){.list = list->bytes,
                                    .list_bytes = list->byte_count,
                                    .list_digest = list->digest,
                                    .strings = list->strings,
                                    .digests = list->digests,
                                    .messages = job->plan.messages,
                                    .count = job->plan.count};
}

unsigned job_program_of(const struct job *job, uint32_t rank)
{
    return records_program(&job->records, rank);
}

struct load_program job_memory_of(const struct job *job, uint32_t rank)
{
    return load_program_of(&job->list.list, rank);
}

/* What is told. ------------------------------------------------------------------------------ */

static void tell_unused(const struct data_file *file, struct teller *teller)
{
    json_t *members = json_pack("{s:s, s:[], s:I}", "kind", "data-unused", "nodes", "bytes",
                                (json_int_t)file->unused_bytes);

    tell_trouble(teller, members,
                 "--input %.300s: %" PRIu64 " of its %" PRIu64 " bytes are in no node's window",
                 file->name, file->unused_bytes, file->file_bytes);
}

/* Null: messages go whole. */
static json_t *parcel_json(uint32_t bytes)
{
    return bytes > 0 ? json_integer(bytes) : json_null();
}

/* x is null where there is no choice of it. */
static json_t *describe_choice(const struct download_choice *choice, bool chosen)
{
    const char *strategy = download_strategy_name(choice->strategy);

    if (!choice->sends) {
        return json_pack("{s:s, s:n, s:n, s:n, s:n, s:n, s:b, s:b}", "strategy", strategy, "x",
                         "sends", "parcel_bytes", "bytes", "predicted_us", "fits", false, "chosen",
                         false);
    }
    return json_pack("{s:s, s:i, s:i, s:o, s:I, s:f, s:b, s:b}", "strategy", strategy, "x",
                     (int)choice->x, "sends", (int)choice->count, "parcel_bytes",
                     parcel_json(choice->parcel_bytes), "bytes", (json_int_t)choice->bytes,
                     "predicted_us", (double)choice->predicted_ns / 1e3, "fits", choice->fits,
                     "chosen", chosen);
}

static json_t *describe_choices(const struct job *job)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < STRATEGIES; i++) {
        json_array_append_new(list, describe_choice(&job->choices[i], job->choices[i].strategy ==
                                                                          job->plan.strategy));
    }
    return list;
}

void job_tell(const struct job *job, struct teller *teller)
{
    for (unsigned i = 0; i < job->file_count; i++) {
        if (job->files[i].unused_bytes > 0) {
            tell_unused(&job->files[i], teller);
        }
    }
    if (job->explained) {
        tell_event(teller, json_pack("{s:s, s:o}", "event", "strategies", "strategies",
                                     describe_choices(job)));
    }
}

json_t *job_describe_download(const struct job *job, uint32_t nodes)
{
    const struct download_plan *plan = &job->plan;
    bool complete = job->receipts == nodes;
    json_t *download =
        json_pack("{s:s, s:b, s:i, s:i, s:o, s:I, s:o, s:f, s:b, s:o, s:i, s:i, s:o}", "strategy",
                  download_strategy_name(plan->strategy), "auto", job->wanted == STRATEGY_AUTO, "x",
                  (int)plan->x, "sends", (int)plan->count, "parcel_bytes",
                  parcel_json(plan->parcel_bytes), "bytes", (json_int_t)plan->bytes, "model_us",
                  complete ? json_real((double)job->model_ns / 1e3) : json_null(), "predicted_us",
                  (double)plan->predicted_ns / 1e3, "contends", plan->contends, "wall_ms",
                  complete && job->wall_us ? json_real((double)job->wall_us / 1e3) : json_null(),
                  "receipts", (int)job->receipts, "repaired", (int)job->repaired, "repair_us",
                  job->repaired ? json_real((double)job->repair_ns / 1e3) : json_null());

    if (job->explained) {
        json_object_set_new(download, "strategies", describe_choices(job));
    }
    return download;
}
