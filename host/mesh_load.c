/*
 * mesh_load.c - the download: offers, circuits, receipts.
 *
 * All roots get their OFFER at once. Circuits are opened one after another, largest subcube first,
 * each issued at the model time at which the one before is complete: the host of the paper sends
 * one message at a time.
 */
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "host/mesh_internal.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"

enum {
    OFFER_RETRY_MS = 20,
    BLOCK_ALIGN = 8,
    WANT_MESSAGES = 256,
    ASK_US = 2 * 1000 * 1000,
    SILENCE_TOLD_US = 10 * 1000 * 1000 /* somebody may have a node in a debugger, and wonder */
};

static uint32_t want_of(const struct mesh *mesh, unsigned message)
{
    return mesh->job_number * WANT_MESSAGES + message;
}

static void free_job(struct mesh *mesh)
{
    struct mesh_job *job = &mesh->job;

    if (mesh->job_held) {
        free(job->path);
        image_free(&job->image);
        free(job->blocks);
        report_free(&job->reports);
        mesh->job_held = false;
    }
}

static void free_sent(struct mesh *mesh)
{
    if (mesh->sent_blocks) {
        image_free(&mesh->sent_image);
        free(mesh->sent_blocks);
        mesh->sent_blocks = NULL;
    }
}

/* Makes room for the next job. What this one sends stays until no circuit reads it any more: nodes
 * may say that they hold it all and never acknowledge it. False when an earlier one's is still
 * there. */
static bool put_job_away(struct mesh *mesh)
{
    if (host_links_quiet(&mesh->host)) {
        free_sent(mesh);
    } else if (mesh->sent_blocks) {
        return false;
    } else if (mesh->job_held) {
        mesh->sent_image = mesh->job.image;
        mesh->sent_blocks = mesh->job.blocks;
        mesh->job.image = (struct image){0};
        mesh->job.blocks = NULL;
    }
    free_job(mesh);
    return true;
}

void mesh_job_free(struct mesh *mesh)
{
    free_job(mesh);
    free_sent(mesh);
}

static void fill_block(uint8_t *block, uint32_t rank, uint32_t size,
                       const struct mesh_job_request *request)
{
    const char *name = strrchr(request->path, '/');
    uint8_t *text = block + BLOCK_HEADER_BYTES;

    block_pack(block, &(struct block_header){rank, size, request->argument_count + 1});
    name = name ? name + 1 : request->path;
    memcpy(text, name, strlen(name) + 1);
    text += strlen(name) + 1;
    for (unsigned i = 0; i < request->argument_count; i++) {
        memcpy(text, request->arguments[i], strlen(request->arguments[i]) + 1);
        text += strlen(request->arguments[i]) + 1;
    }
}

int mesh_check_arguments(const struct mesh_job_request *request, uint32_t nodes,
                         uint32_t *block_bytes, struct message *message)
{
    size_t bytes = BLOCK_HEADER_BYTES + strlen(request->path) + 1;

    for (unsigned i = 0; i < request->argument_count; i++) {
        bytes += strlen(request->arguments[i]) + 1;
    }
    bytes = (bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
    if (bytes * nodes > target_memory.blocks_bytes) {
        return message_set(
            message, "the arguments are too long: %zu bytes, a mesh of %u nodes has room for %u",
            bytes, (unsigned)nodes, target_memory.blocks_bytes / (unsigned)nodes);
    }
    *block_bytes = (uint32_t)bytes;
    return 0;
}

/* The private blocks of all nodes: rank, size, argv with the program's name first. */
static int make_blocks(struct mesh *mesh, const struct mesh_job_request *request,
                       struct message *message)
{
    struct mesh_job *job = &mesh->job;
    uint32_t nodes = mesh->options.network.nodes;

    if (mesh_check_arguments(request, nodes, &job->block_bytes, message) != 0) {
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

static int make_job(struct mesh *mesh, const struct mesh_job_request *request,
                    struct message *message)
{
    struct mesh_job *job = &mesh->job;
    const struct profile *profile = &mesh->options.profile;
    struct download_costs costs = {.tau_ns = profile->element_ns};

    *job = (struct mesh_job){.timeout_ms = request->timeout_ms};
    mesh->job_held = true;
    job->path = strdup(request->path);
    if (image_read(&job->image, request->path, message) != 0 ||
        make_blocks(mesh, request, message) != 0) {
        return -1;
    }
    costs.beta_ns = (uint64_t)profile->xi_ns + profile->tau_ns;
    costs.beta_host_ns = (uint64_t)profile->xi_ns * profile->sigma_permille / 1000 +
                         (uint64_t)profile->tau_ns * profile->sigma_permille / 1000;
    costs.hop_ns = (uint64_t)profile->tau_ns + profile->element_ns;
    costs.common_bytes = job->image.bytes;
    costs.block_bytes = job->block_bytes;
    return download_make_plan(&job->plan, request->strategy, request->x, &mesh->options.network,
                              &costs, message->text)
               ? 0
               : -1;
}

/* Members of a trouble with one node, and with the error that it has told. */
static json_t *node_members(const char *kind, uint32_t node)
{
    return json_pack("{s:s, s:[i]}", "kind", kind, "nodes", (int)node);
}

static json_t *error_members(const char *kind, uint32_t node, int error)
{
    return json_pack("{s:s, s:[i], s:i}", "kind", kind, "nodes", (int)node, "error", error);
}

static void send_offer(struct mesh *mesh, unsigned index)
{
    const struct mesh_job *job = &mesh->job;
    struct offer_body offer = {.name = want_of(mesh, index),
                               .entry = job->image.entry,
                               .base = job->image.base,
                               .common_bytes = job->image.bytes,
                               .block_bytes = job->block_bytes,
                               .count = job->plan.messages[index].count,
                               .generation = (uint8_t)mesh->job_number,
                               .bss_end = job->image.bss_end};
    uint8_t body[OFFER_BYTES];

    offer_pack(body, &offer);
    mesh_send(mesh, PACKET_OFFER, job->plan.messages[index].root, body, sizeof body);
}

/* What the node shows that shows the least: it is asked, so that one which only waits for others
 * answers. The link to one that stands still dies first, where it is owed something. */
void mesh_load_tick(struct mesh *mesh, uint64_t passed_us)
{
    uint64_t patience_us = mesh_patience_us(mesh);

    for (uint32_t rank = 0; rank < mesh->options.network.nodes && !mesh->broken; rank++) {
        struct mesh_node *node = &mesh->nodes[rank];

        if (node->receipted || node->dead) {
            continue;
        }
        node->silent_us += passed_us;
        if (node->silent_us >= (patience_us < ASK_US * 4 ? patience_us / 4 : ASK_US)) {
            mesh_ask(mesh, rank);
        }
        if (node->silent_us >= SILENCE_TOLD_US && !mesh->silence_told) {
            mesh->silence_told = true;
            mesh_emit_trouble(mesh, node_members("download-waits", rank),
                              "the download waits: node %u (rank %u) does not answer%s",
                              (unsigned)rank, (unsigned)rank,
                              mesh->target.jtag[0] ? "" : " (is it stopped in a debugger?)");
        }
        if (node->silent_us >= patience_us + patience_us / 2) {
            mesh_fail(
                mesh,
                json_pack("{s:s, s:[i], s:i}", "kind", "download-timeout", "nodes", (int)rank,
                          "receipts", (int)mesh->job.receipts),
                "download failed: node %u (rank %u) has not answered for %.10g s (--patience), %u "
                "of %u receipts",
                (unsigned)rank, (unsigned)rank, (double)patience_us / 1e6, mesh->job.receipts,
                (unsigned)mesh->options.network.nodes);
        }
    }
    host_links_pump(&mesh->host);
}

/* What its circuits still send is the job's memory. */
static void end_before_download(struct mesh *mesh, int status)
{
    mesh->job.cancelled = true;
    mesh->job.status = status;
    mesh_unbound(mesh);
    mesh->owner.ended(mesh->owner.context, status, mesh_describe(mesh, status));
}

void mesh_load_timeout(struct mesh *mesh)
{
    mesh_emit_trouble(
        mesh, mesh_timeout_members(mesh, mesh->job.timeout_ms),
        "the run did not end within %.10g s: download, %u of %u receipts (--timeout sets "
        "it)",
        (double)mesh->job.timeout_ms / 1e3, mesh->job.receipts,
        (unsigned)mesh->options.network.nodes);
    end_before_download(mesh, STATUS_TIMEOUT);
}

bool mesh_frees(const struct mesh *mesh)
{
    return mesh->phase == MESH_READY
               ? !mesh->broken && mesh->sent_blocks && !host_links_quiet(&mesh->host)
               : mesh->phase == MESH_DOWNLOAD && mesh->job.cancelled;
}

void mesh_cancel(struct mesh *mesh, int status)
{
    if (mesh->phase == MESH_RUN) {
        mesh_job_end(mesh, status);
        host_links_pump(&mesh->host);
    } else if (mesh->phase == MESH_DOWNLOAD && !mesh->job.cancelled) {
        end_before_download(mesh, status);
    }
}

static int refuse_broken(const struct mesh *mesh, struct message *message)
{
    char text[MESH_RESET_TEXT_MAX];

    return mesh_reset_mends(mesh) && mesh_describe_reset(mesh, text)
               ? message_set(message,
                             "the mesh is broken, %s: reset all ('reset run' in OpenOCD), and it "
                             "boots anew, or end it with 'ecube down'",
                             text)
               : message_set(
                     message,
                     "the mesh is broken, a node or link is dead: end it with 'ecube down'");
}

int mesh_load(struct mesh *mesh, const struct mesh_job_request *request, struct message *message)
{
    CHECK(mesh->telling == 0);
    if (mesh->broken) {
        return refuse_broken(mesh, message);
    }
    if (mesh->phase == MESH_BOOT) {
        return message_set(message, "the mesh is still booting");
    }
    if (mesh->phase != MESH_READY) {
        return message_set(message, "the mesh is busy: another program is running");
    }
    if (!put_job_away(mesh)) {
        return message_set(message, "the mesh is busy: nodes have not acknowledged the programs "
                                    "before this one: try again, or end it with 'ecube down'");
    }
    if (make_job(mesh, request, message) != 0) {
        free_job(mesh);
        return -1;
    }
    for (uint32_t node = 0; node < mesh->options.network.nodes; node++) {
        mesh->nodes[node].receipted = mesh->nodes[node].exited = false;
    }
    json_array_clear(mesh->troubles);
    mesh->job_number++;
    mesh->job.start_us = uv_hrtime() / 1000;
    mesh->job.clock_base_ns = mesh->model_ns;
    mesh->job.clock_ns = mesh->model_ns;
    mesh_enter_phase(mesh, MESH_DOWNLOAD);
    if (!mesh->bounded) {
        mesh_bound(mesh, request->timeout_ms);
    }
    mesh_patience_begin(mesh);
    mesh_emit_progress(mesh, "download", 0, mesh->options.network.nodes);
    for (unsigned i = 0; i < mesh->job.plan.count; i++) {
        send_offer(mesh, i);
    }
    host_links_pump(&mesh->host);
    return 0;
}

/* Opens the circuit to the next root, when it is ready and the one before has been accepted. */
void mesh_load_advance(struct mesh *mesh)
{
    struct mesh_job *job = &mesh->job;
    unsigned index = job->message_next;
    const struct download_message *next = &job->plan.messages[index];
    struct circuit_source source;
    int status;

    if (mesh->phase != MESH_DOWNLOAD || mesh->broken || index >= job->plan.count ||
        job->message_state[index] != MESSAGE_READY) {
        return;
    }
    source = (struct circuit_source){
        .dst = next->root,
        .match = job->message_match[index],
        .flags = OPEN_IMAGE,
        .issue_ns = job->clock_ns,
        .data = {job->blocks + (size_t)next->root * job->block_bytes, job->image.data},
        .bytes = {job->block_bytes * next->count, job->image.bytes},
        .token = want_of(mesh, index),
    };
    status = router_open(&mesh->host.router, &source);
    if (status == E_OK) {
        job->message_state[index] = MESSAGE_OPENED;
    } else if (status != E_FULL) {
        mesh_fail(mesh, error_members("download-failed", next->root, status),
                  "download to node %u (rank %u) failed: %s", (unsigned)next->root,
                  (unsigned)next->root, status_text(status));
    }
}

void mesh_load_notice(struct mesh *mesh, const struct notice *notice)
{
    struct mesh_job *job = &mesh->job;
    unsigned index = notice->token - want_of(mesh, 0);

    if (mesh->phase != MESH_DOWNLOAD || index != job->message_next || index >= job->plan.count) {
        return;
    }
    if (notice->kind == NOTICE_ACCEPTED) {
        job->message_state[index] = MESSAGE_ACCEPTED;
        job->clock_ns = notice->done_ns;
        job->message_next++;
    } else if (notice->kind == NOTICE_REFUSED && !mesh->broken) {
        mesh_fail(
            mesh, error_members("download-refused", job->plan.messages[index].root, notice->status),
            "node %u (rank %u) refused the download: %s", (unsigned)job->plan.messages[index].root,
            (unsigned)job->plan.messages[index].root, status_text(notice->status));
    }
}

static void digest_of(const struct mesh_job *job, uint32_t rank, uint8_t digest[DIGEST_BYTES])
{
    struct sha256_ctx context;

    sha256_init(&context);
    sha256_update(&context, job->block_bytes, job->blocks + (size_t)rank * job->block_bytes);
    sha256_update(&context, job->image.bytes, job->image.data);
    sha256_digest(&context, DIGEST_BYTES, digest);
}

void mesh_load_receipt(struct mesh *mesh, uint32_t rank, const struct receipt_body *receipt)
{
    struct mesh_job *job = &mesh->job;
    struct mesh_node *node = &mesh->nodes[rank];
    int status = receipt->status;
    uint64_t model_ns = receipt->model_ns;
    uint8_t digest[DIGEST_BYTES];

    if (mesh->phase != MESH_DOWNLOAD || mesh->broken || node->receipted) {
        return;
    }
    if (status != E_OK) {
        mesh_fail(mesh, error_members("download-failed", rank, status),
                  "download to node %u (rank %u) failed: %s", (unsigned)rank, (unsigned)rank,
                  status_text(status));
        return;
    }
    digest_of(job, rank, digest);
    if (memcmp(digest, receipt->digest, DIGEST_BYTES) != 0) {
        mesh_fail(mesh, node_members("download-wrong", rank),
                  "download to node %u (rank %u) failed: the node holds other bytes than were sent",
                  (unsigned)rank, (unsigned)rank);
        return;
    }
    node->receipted = true;
    job->receipts++;
    job->clock_end_ns = model_ns > job->clock_end_ns ? model_ns : job->clock_end_ns;
    mesh->model_ns = model_ns > mesh->model_ns ? model_ns : mesh->model_ns;
    mesh_emit_progress(mesh, "download", job->receipts, mesh->options.network.nodes);
    if (job->receipts == mesh->options.network.nodes) {
        job->wall_us = uv_hrtime() / 1000 - job->start_us;
        mesh_run_begin(mesh);
    }
}

static void on_offer_retry(uv_timer_t *timer)
{
    struct mesh *mesh = timer->data;

    for (unsigned i = mesh->job.message_next; i < mesh->job.plan.count; i++) {
        if (mesh->job.message_state[i] == MESSAGE_OFFERED) {
            send_offer(mesh, i);
        }
    }
    host_links_pump(&mesh->host);
}

/* Whether a node answers for a message that it has been offered: which. */
static bool is_offered(const struct mesh *mesh, uint32_t rank, uint32_t want, unsigned *index)
{
    const struct mesh_job *job = &mesh->job;

    *index = want - want_of(mesh, 0);
    return mesh->phase == MESH_DOWNLOAD && *index < job->plan.count &&
           job->message_state[*index] == MESSAGE_OFFERED && rank == job->plan.messages[*index].root;
}

void mesh_load_ready(struct mesh *mesh, uint32_t rank, const struct cts_body *ready)
{
    unsigned index;

    if (is_offered(mesh, rank, ready->name, &index)) {
        mesh->job.message_match[index] = ready->match;
        mesh->job.message_state[index] = MESSAGE_READY;
    }
}

void mesh_load_word(struct mesh *mesh, uint32_t rank, uint8_t kind,
                    const struct rts_reply_body *word)
{
    unsigned index;

    if (!is_offered(mesh, rank, word->name, &index)) {
        return;
    }
    if (kind == PACKET_RETRY) {
        uv_timer_start(&mesh->tick_timer, on_offer_retry, OFFER_RETRY_MS, 0);
    } else if (kind == PACKET_CANCEL && !mesh->broken) {
        mesh_fail(mesh, node_members("download-refused", rank),
                  "node %u (rank %u) refused the download: it runs a program", (unsigned)rank,
                  (unsigned)rank);
    }
}
