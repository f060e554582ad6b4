#include "host/job/job_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/check.h"
#include "host/program/ranks.h"
#include "wire/record.h"

enum { STATUS_UNWRITTEN = 2 };

static int cannot_write(const char *path, int error, struct message *message)
{
    return message_set(message, "cannot write the trace %.300s: %s", path, strerror(error));
}

int job_trace_check(const char *path, struct message *message)
{
    struct job_trace trace = {0};

    if (path && strcmp(path, "-") == 0) {
        return message_set(message, "--trace -: name a file, for standard output has what programs "
                                    "print");
    }
    int status = job_trace_open(&trace, path, message);
    job_trace_free(&trace);
    return status;
}

/* A pipe without a reader is refused, not waited for. */
static int open_file(struct job_trace *trace, struct message *message)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK;
    struct stat state;

    trace->fd = open(trace->path, flags);
    if (trace->fd < 0 && errno == ENOENT) {
        trace->fd = open(trace->path, flags | O_CREAT | O_EXCL, 0666);
        trace->made = trace->fd >= 0;
    }
    if (trace->fd < 0) {
        return cannot_write(trace->path, errno, message);
    }
    if (fstat(trace->fd, &state) == 0 && S_ISFIFO(state.st_mode)) {
        fcntl(trace->fd, F_SETFL, fcntl(trace->fd, F_GETFL) & ~O_NONBLOCK);
    }
    return 0;
}

int job_trace_open(struct job_trace *trace, const char *path, struct message *message)
{
    *trace = (struct job_trace){.fd = -1};
    if (!path) {
        return 0;
    }
    trace->path = strdup(path);
    CHECK(trace->path);
    if (open_file(trace, message) != 0) {
        job_trace_free(trace);
        return -1;
    }
    return 0;
}

void job_trace_free(struct job_trace *trace)
{
    timeline_free(trace->timeline);
    if (trace->path && trace->fd >= 0) {
        close(trace->fd);
        if (trace->made && !trace->written) {
            unlink(trace->path);
        }
    }
    free(trace->path);
    free(trace->nodes);
    *trace = (struct job_trace){.fd = -1};
}

/* What stood in the file is gone only now. Devices and pipes have nothing to cut. */
bool job_trace_begin(struct job_trace *trace, const struct network *network,
                     const struct profile *profile)
{
    if (ftruncate(trace->fd, 0) != 0 && errno != EINVAL) {
        trace->result.error = errno;
    }
    trace->written = true;
    trace->network = network;
    trace->nodes = calloc(trace->network->nodes, sizeof *trace->nodes);
    trace->timeline = timeline_make(trace->fd, trace->network, profile, "");
    return trace->nodes && trace->timeline;
}

static void take_records(struct job_trace *trace, uint32_t node, const uint8_t *records,
                         uint32_t count)
{
    struct node_record record;

    trace->nodes[node].came += count;
    for (uint32_t i = 0; i < count; i++) {
        if (record_unpack(records + (size_t)i * RECORD_BYTES, &record)) {
            timeline_record(trace->timeline, node, &record);
        } else {
            trace->damaged++;
        }
    }
}

static void take_fault(struct job_trace *trace, const struct controller_event *event,
                       uint64_t now_us)
{
    if (trace->loaded_us && trace->fault_count < JOB_TRACE_FAULTS) {
        trace->faults[trace->fault_count++] = (struct job_trace_fault){
            event->kind, event->rank, event->peer, now_us - trace->loaded_us};
    }
}

void job_trace_take(struct job_trace *trace, const struct controller_event *event, uint64_t now_us)
{
    switch (event->kind) {
    case EVENT_LOADED:
        trace->base_ns = event->base_ns;
        trace->loaded_ns = event->model_ns;
        trace->loaded_us = now_us;
        break;
    case EVENT_NODE_DIED:
    case EVENT_LINK_DIED:
    case EVENT_FAULT: take_fault(trace, event, now_us); break;
    default: break;
    }
    if (trace->timeline && event->kind == EVENT_RECORDS) {
        take_records(trace, event->rank, event->body, event->bytes / (uint32_t)RECORD_BYTES);
    } else if (trace->timeline && event->kind == EVENT_RECORDS_END) {
        trace->nodes[event->rank].lost = event->records.lost;
        trace->nodes[event->rank].end = event->reason;
        trace->damaged += event->records.damaged;
    }
}

bool job_trace_lacks(const struct job_trace *trace, uint32_t node)
{
    return trace->nodes[node].end == FETCH_SILENT;
}

/* Without what has come before the node fell silent. */
void job_trace_remember(struct job_trace *trace, uint32_t node, const uint8_t *records,
                        uint32_t count, uint64_t lost)
{
    struct job_trace_node *entry = &trace->nodes[node];
    uint64_t next = entry->lost + entry->came;
    uint64_t known = next > lost ? next - lost : 0;

    known = known < count ? known : count;
    entry->lost = entry->came ? entry->lost : lost;
    entry->end = JOB_TRACE_READ;
    take_records(trace, node, records + known * RECORD_BYTES, count - (uint32_t)known);
}

/* Ranks whose records have ended in this way; to be freed. */
static struct ranks *ranks_of(const struct job_trace *trace, uint8_t end)
{
    struct ranks *ranks = ranks_make(trace->network->nodes);

    for (uint32_t rank = 0; rank < trace->network->nodes; rank++) {
        if (trace->nodes[network_node(trace->network, rank)].end == end) {
            ranks->rank[ranks->count++] = rank;
        }
    }
    return ranks;
}

/* Tells whose records are not here, and marks it in the file. */
static void tell_missing(struct job_trace *trace, uint8_t end, const char *why,
                         struct teller *teller)
{
    struct ranks *ranks = ranks_of(trace, end);
    char text[RANKS_TEXT_MAX];

    if (ranks->count > 0) {
        ranks_text(ranks, text);
        tell_trouble(teller, ranks_members("records-missing", ranks),
                     "the trace has no, or not all, records of %s: %s", text, why);
        char name[RANKS_TEXT_MAX + 16];
        snprintf(name, sizeof name, "no records of %s", text);
        timeline_fault(trace->timeline, name, timeline_last_ns(trace->timeline), "\"why\":\"%s\"",
                       why);
    }
    free(ranks);
}

/* It stays a node that something is wrong with. */
static void tell_read(struct job_trace *trace, struct teller *teller)
{
    struct ranks *ranks = ranks_of(trace, JOB_TRACE_READ);
    char text[RANKS_TEXT_MAX];

    if (ranks->count > 0) {
        ranks_text(ranks, text);
        tell_trouble(
            teller, ranks_members("records-read", ranks),
            "the records of %s are out of its memory, by its debugger: it does not answer; "
            "what was open there is not in the trace",
            text);
    }
    free(ranks);
}

/* The host knows no model time of them: they stand at the end, and say when they were heard of. */
static void add_faults(struct job_trace *trace)
{
    const struct network *network = trace->network;

    for (unsigned i = 0; i < trace->fault_count; i++) {
        const struct job_trace_fault *fault = &trace->faults[i];
        uint32_t rank = network_rank(network, fault->node);
        char name[64];
        if (fault->kind == EVENT_LINK_DIED && fault->peer < network->nodes) {
            snprintf(name, sizeof name, "link %u-%u died", (unsigned)rank,
                     (unsigned)network_rank(network, fault->peer));
        } else if (fault->kind == EVENT_LINK_DIED) {
            snprintf(name, sizeof name, "link host-%u died", (unsigned)rank);
        } else {
            snprintf(name, sizeof name, "%s %u %s",
                     fault->kind == EVENT_FAULT ? "program of rank" : "node", (unsigned)rank,
                     fault->kind == EVENT_FAULT ? "failed" : "died");
        }
        timeline_fault(trace->timeline, name, timeline_last_ns(trace->timeline),
                       "\"wall_us\":%" PRIu64, fault->wall_us);
    }
}

static uint64_t lost_of(const struct job_trace *trace)
{
    uint64_t lost = 0;

    for (uint32_t node = 0; trace->nodes && node < trace->network->nodes; node++) {
        lost += trace->nodes[node].lost;
    }
    return lost;
}

static void tell_lost(const struct job_trace *trace, struct teller *teller)
{
    uint64_t lost = lost_of(trace);
    struct ranks *ranks = ranks_make(trace->network->nodes);
    char text[RANKS_TEXT_MAX];

    for (uint32_t rank = 0; rank < trace->network->nodes; rank++) {
        if (trace->nodes[network_node(trace->network, rank)].lost > 0) {
            ranks->rank[ranks->count++] = rank;
        }
    }
    if (lost > 0) {
        json_t *members = ranks_members("records-lost", ranks);
        json_object_set_new(members, "records", json_integer((json_int_t)lost));
        ranks_text(ranks, text);
        tell_trouble(teller, members,
                     "the oldest %" PRIu64 " records of %s are lost: their nodes had no room for "
                     "all; the trace has the rest",
                     lost, text);
    }
    free(ranks);
}

int job_trace_end(struct job_trace *trace, uint64_t boot_us, uint64_t load_us, uint64_t run_us,
                  struct teller *teller)
{
    struct timeline *timeline = trace->timeline;
    int error = trace->result.error;

    if (!timeline) {
        return 0;
    }
    timeline_phase(timeline, "boot", 0, 0, boot_us);
    timeline_phase(timeline, "download", trace->base_ns, trace->loaded_ns, load_us);
    timeline_phase(timeline, "run", trace->loaded_ns, timeline_last_ns(timeline), run_us);
    add_faults(trace);
    tell_read(trace, teller);
    tell_missing(trace, FETCH_DEAD, "the node is dead", teller);
    tell_missing(trace, FETCH_HALTED, "a debugger has halted the node", teller);
    tell_missing(trace, FETCH_SILENT, "the node does not answer", teller);
    tell_missing(trace, 0, "the run was ended before they came", teller);
    tell_lost(trace, teller);
    if (trace->damaged > 0) {
        tell_trouble(teller,
                     json_pack("{s:s, s:[], s:I}", "kind", "records-damaged", "nodes", "records",
                               (json_int_t)trace->damaged),
                     "%u records came damaged, and are not in the trace", (unsigned)trace->damaged);
    }
    trace->result = timeline_end(timeline);
    trace->result.error = error ? error : trace->result.error;
    timeline_free(timeline);
    trace->timeline = NULL;
    if (trace->result.error) {
        tell_trouble(
            teller,
            json_pack("{s:s, s:[], s:s}", "kind", "trace-unwritten", "nodes", "path", trace->path),
            "cannot write the trace %.300s: %s", trace->path, strerror(trace->result.error));
        return STATUS_UNWRITTEN;
    }
    return 0;
}

json_t *job_trace_describe(const struct job_trace *trace)
{
    char digest[2 * sizeof trace->result.digest + 1];
    json_t *missing = json_array();

    if (!trace->written || trace->timeline || trace->result.error) {
        json_decref(missing);
        return json_null();
    }
    for (size_t i = 0; i < sizeof trace->result.digest; i++) {
        snprintf(digest + 2 * i, 3, "%02x", trace->result.digest[i]);
    }
    for (uint32_t node = 0; node < trace->network->nodes; node++) {
        if (trace->nodes[node].end != FETCH_WHOLE && trace->nodes[node].end != JOB_TRACE_READ) {
            json_array_append_new(missing, json_integer(node));
        }
    }
    return json_pack("{s:s, s:I, s:I, s:s, s:I, s:o}", "file", trace->path, "events",
                     (json_int_t)trace->result.events, "bytes", (json_int_t)trace->result.bytes,
                     "sha256", digest, "lost", (json_int_t)lost_of(trace), "missing", missing);
}
