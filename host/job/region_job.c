#include "host/job/region_job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/job/digest.h"
#include "host/job/draft.h"

int region_name_check(const char *name, struct message *message)
{
    size_t length = strlen(name);

    return length > 0 && length < ECUBE_NAME_MAX && !strchr(name, '/')
               ? 0
               : message_set(message,
                             "'%.60s' is no region's name: it has 1 to %d characters, and no '/'",
                             name, ECUBE_NAME_MAX - 1);
}

json_t *region_request_to_json(const struct region_request *request)
{
    bool scatters = request->way == ECUBE_SCATTERED;
    json_t *data = scatters ? job_data_to_json(&request->data) : json_null();
    json_t *output = job_whole_path(request->output), *name = json_string(request->region);

    return json_pack("{s:s, s:o, s:o, s:o, s:i}", "verb", scatters ? "scatter" : "gather", "region",
                     name, "data", data, "output", output, "timeout_ms", (int)request->timeout_ms);
}

bool region_request_from_json(const json_t *json, struct region_request *request)
{
    const char *verb = json_string_value(json_object_get(json, "verb"));
    struct message message;

    *request = (struct region_request){
        .way = verb && strcmp(verb, "scatter") == 0 ? ECUBE_SCATTERED : ECUBE_GATHERED,
        .region = json_string_value(json_object_get(json, "region")),
        .output = json_string_value(json_object_get(json, "output")),
        .timeout_ms = (uint32_t)json_integer_value(json_object_get(json, "timeout_ms"))};
    return request->region && region_name_check(request->region, &message) == 0 &&
           (request->way == ECUBE_SCATTERED
                ? job_data_from_json(json_object_get(json, "data"), &request->data)
                : request->output != NULL);
}

/* Start and end ------------------------------------------------------------------------------- */

static int make(struct region_job *job, const struct region_request *request,
                const struct network *network, struct message *message)
{
    job->parts = calloc(network->nodes, sizeof *job->parts);
    job->scratch = malloc(gather_scratch_bytes(network));
    job->output = request->output ? strdup(request->output) : NULL;
    if (!job->parts || !job->scratch || (request->output && !job->output)) {
        return message_set(message, "out of memory");
    }
    if (job->way == ECUBE_GATHERED) {
        return 0;
    }
    if (data_open(&job->file, &request->data, network->nodes, message) != 0) {
        return -1;
    }
    for (uint32_t node = 0; node < job->nodes; node++) {
        job->parts[node].bytes = data_bytes(&job->file, network_rank(network, node));
    }
    return 0;
}

int region_job_make(struct region_job *job, const struct region_request *request,
                    const struct network *network, struct message *message)
{
    *job = (struct region_job){.way = request->way,
                               .nodes = network->nodes,
                               .network = network,
                               .timeout_ms = request->timeout_ms};
    strncpy(job->region, request->region, sizeof job->region - 1);
    if (make(job, request, network, message) != 0) {
        region_job_free(job);
        return -1;
    }
    return 0;
}

void region_job_free(struct region_job *job)
{
    data_close(&job->file);
    free(job->output);
    free(job->parts);
    free(job->scratch);
    free(job->memory);
    *job = (struct region_job){0};
}

/* Parts --------------------------------------------------------------------------------------- */

/* What all have is hashed once. */
int region_job_fill(struct region_job *job, const atomic_bool *stop, struct message *message)
{
    bool common = job->file.kind == BLOCK_COMMON;

    if (data_read(&job->file, job->nodes, stop, message) != 0) {
        return -1;
    }
    for (uint32_t node = 0; node < job->nodes; node++) {
        struct controller_part *part = &job->parts[node];

        part->data = job->file.string + data_from(&job->file, network_rank(job->network, node));
        part->wanted = true;
        job->bytes += part->bytes;
        if (common && node > 0) {
            memcpy(part->digest, job->parts[0].digest, DIGEST_BYTES);
        } else if (!digest_of(part->data, part->bytes, stop, part->digest)) {
            return message_set(message, "the data are not wanted any more");
        }
    }
    return 0;
}

int region_job_fits(const struct region_job *job, struct message *message)
{
    for (uint32_t rank = 0; rank < job->nodes; rank++) {
        const struct controller_part *part = &job->parts[rank];

        if (part->bytes > part->region_bytes) {
            return message_set(message,
                               "%" PRIu32 " bytes have no room in region %s of node %u (rank %u), "
                               "which has %" PRIu32,
                               part->bytes, job->region, (unsigned)rank,
                               (unsigned)network_rank(job->network, rank), part->region_bytes);
        }
    }
    return 0;
}

int region_job_give(struct region_job *job, struct message *message)
{
    uint64_t bytes = 0;

    if (job->memory) {
        return 0; /* damaged parts come again to where they were */
    }
    for (uint32_t rank = 0; rank < job->nodes; rank++) {
        bytes += job->parts[rank].region_bytes;
    }
    job->memory = bytes < SIZE_MAX ? malloc((size_t)bytes + 1) : NULL;
    if (!job->memory) {
        return message_set(message, "there is no memory for %" PRIu64 " bytes of region %s", bytes,
                           job->region);
    }
    uint8_t *at = job->memory;
    for (uint32_t rank = 0; rank < job->nodes; rank++) {
        struct controller_part *part = &job->parts[network_node(job->network, rank)];

        part->bytes = part->region_bytes;
        part->wanted = true;
        part->data = at;
        at += part->bytes;
    }
    job->bytes = bytes;
    return 0;
}

uint32_t region_job_compare(struct region_job *job)
{
    uint32_t damaged = 0;

    for (uint32_t rank = 0; rank < job->nodes; rank++) {
        struct controller_part *part = &job->parts[rank];
        uint8_t digest[DIGEST_BYTES];

        (void)digest_of(part->data, part->bytes, NULL, digest);
        part->wanted = memcmp(digest, part->digest, DIGEST_BYTES) != 0;
        damaged += part->wanted;
    }
    return damaged;
}

int region_job_write(const struct region_job *job, const atomic_bool *stop, struct message *message)
{
    struct draft draft;
    int error = draft_open(&draft, job->output, stop);

    if (!error) {
        error = draft_close(&draft, draft_add(&draft, job->memory, job->bytes));
    }
    return error ? message_set(message, "cannot write %.300s: %s", job->output, strerror(error))
                 : 0;
}

json_t *region_job_describe(const struct region_job *job)
{
    return json_pack("{s:s, s:s, s:i, s:I, s:f, s:f, s:f, s:i}", "way",
                     job->way == ECUBE_SCATTERED ? "scatter" : "gather", "region", job->region,
                     "nodes", (int)job->nodes, "bytes", (json_int_t)job->bytes, "model_us",
                     (double)job->model_ns / 1e3, "predicted_us", (double)job->predicted_ns / 1e3,
                     "wall_ms", (double)job->wall_us / 1e3, "repaired", (int)job->repaired);
}
