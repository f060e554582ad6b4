/*
 * job.c - makes all that a download needs before its first message leaves.
 *
 * Arguments are checked before memory is taken for them, digests are computed before the download
 * begins. So nothing here can fail when nodes have begun to wait, and a receipt is judged in
 * constant time.
 */
#include "host/job/job.h"

#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "host/computer/target.h"

enum { BLOCK_ALIGN = 8 };

static const char *name_of(const char *path)
{
    const char *name = strrchr(path, '/');

    return name ? name + 1 : path;
}

int job_check_arguments(const struct job_request *request, uint32_t nodes, uint32_t *block_bytes,
                        struct message *message)
{
    size_t bytes = BLOCK_HEADER_BYTES + strlen(request->path) + 1;

    for (unsigned i = 0; i < request->argument_count; i++) {
        bytes += strlen(request->arguments[i]) + 1;
    }
    bytes = (bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
    if (bytes * nodes > target_board()->blocks_bytes) {
        return message_set(
            message, "the arguments are too long: %zu bytes, a machine of %u nodes has room for %u",
            bytes, (unsigned)nodes, target_board()->blocks_bytes / (unsigned)nodes);
    }
    *block_bytes = (uint32_t)bytes;
    return 0;
}

static void fill_block(uint8_t *block, uint32_t rank, uint32_t size,
                       const struct job_request *request)
{
    const char *name = name_of(request->path);
    uint8_t *text = block + BLOCK_HEADER_BYTES;

    block_pack(block, &(struct block_header){rank, size, request->argument_count + 1});
    memcpy(text, name, strlen(name) + 1);
    text += strlen(name) + 1;
    for (unsigned i = 0; i < request->argument_count; i++) {
        memcpy(text, request->arguments[i], strlen(request->arguments[i]) + 1);
        text += strlen(request->arguments[i]) + 1;
    }
}

/* The private blocks of all nodes: rank, size, argv with the program's name first. */
static int make_blocks(struct job *job, const struct job_request *request, uint32_t nodes,
                       struct message *message)
{
    if (job_check_arguments(request, nodes, &job->block_bytes, message) != 0) {
        return -1;
    }
    job->blocks = calloc(nodes, job->block_bytes);
    if (!job->blocks) {
        return message_set(message, "out of memory");
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        fill_block(job->blocks + (size_t)rank * job->block_bytes, rank, nodes, request);
    }
    return 0;
}

static int make_digests(struct job *job, uint32_t nodes, struct message *message)
{
    struct sha256_ctx context;

    job->digests = calloc(nodes, sizeof *job->digests);
    if (!job->digests) {
        return message_set(message, "out of memory");
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        sha256_init(&context);
        sha256_update(&context, job->block_bytes, job->blocks + (size_t)rank * job->block_bytes);
        sha256_update(&context, job->image.bytes, job->image.data);
        sha256_digest(&context, DIGEST_BYTES, job->digests[rank]);
    }
    return 0;
}

static int make_plan(struct job *job, const struct job_request *request,
                     const struct network *network, const struct profile *profile,
                     struct message *message)
{
    struct download_costs costs = {.beta_ns = (uint64_t)profile->xi_ns + profile->tau_ns,
                                   .beta_host_ns =
                                       (uint64_t)profile->xi_ns * profile->sigma_permille / 1000 +
                                       (uint64_t)profile->tau_ns * profile->sigma_permille / 1000,
                                   .hop_ns = (uint64_t)profile->tau_ns + profile->element_ns,
                                   .tau_ns = profile->element_ns,
                                   .common_bytes = job->image.bytes,
                                   .block_bytes = job->block_bytes};

    return download_make_plan(&job->plan, request->strategy, request->x, network, &costs,
                              message->text)
               ? 0
               : -1;
}

int job_make_of(struct job *job, struct image *image, const struct job_request *request,
                const struct network *network, const struct profile *profile,
                struct message *message)
{
    *job = (struct job){
        .timeout_ms = request->timeout_ms, .path = strdup(request->path), .image = *image};
    *image = (struct image){0};
    if (!outputs_make(&job->outputs, &request->outputs, network->nodes) || !job->path) {
        job_free(job);
        return message_set(message, "out of memory");
    }
    if (make_blocks(job, request, network->nodes, message) != 0 ||
        make_digests(job, network->nodes, message) != 0 ||
        make_plan(job, request, network, profile, message) != 0) {
        job_free(job);
        return -1;
    }
    return 0;
}

int job_make(struct job *job, const struct job_request *request, const struct network *network,
             const struct profile *profile, struct message *message)
{
    struct image image;

    *job = (struct job){0};
    return image_read(&image, request->path, message) == 0
               ? job_make_of(job, &image, request, network, profile, message)
               : -1;
}

void job_free(struct job *job)
{
    free(job->path);
    image_free(&job->image);
    free(job->blocks);
    free(job->digests);
    report_free(&job->reports);
    outputs_free(&job->outputs);
    *job = (struct job){0};
}

struct controller_program job_program(const struct job *job)
{
    return (struct controller_program){.blocks = job->blocks,
                                       .image = job->image.data,
                                       .block_bytes = job->block_bytes,
                                       .image_bytes = job->image.bytes,
                                       .base = job->image.base,
                                       .entry = job->image.entry,
                                       .bss_end = job->image.bss_end,
                                       .code_end = job->image.code_end,
                                       .constants_end = job->image.constants_end,
                                       .digests = (const uint8_t(*)[DIGEST_BYTES])job->digests,
                                       .messages = job->plan.messages,
                                       .message_count = job->plan.count};
}

json_t *job_describe_download(const struct job *job, uint32_t nodes)
{
    const struct download_plan *plan = &job->plan;
    bool complete = job->receipts == nodes;

    return json_pack("{s:s, s:i, s:I, s:o, s:f, s:o, s:i}", "strategy",
                     download_strategy_name(plan->strategy), "x", (int)plan->x, "bytes",
                     (json_int_t)plan->bytes, "model_us",
                     complete ? json_real((double)job->model_ns / 1e3) : json_null(),
                     "predicted_us", (double)plan->predicted_ns / 1e3, "wall_ms",
                     complete && job->wall_us ? json_real((double)job->wall_us / 1e3) : json_null(),
                     "receipts", (int)job->receipts);
}
