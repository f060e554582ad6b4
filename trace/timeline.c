/*
 * timeline.c - records in, events out; and what is no record: phases, measurements, faults.
 *
 * Slices of one track must lie apart or within each other. Steps may overlap, for one is issued
 * ahead of the end of another: each is drawn from the end of the one before on, and says when it
 * was issued. Circuits at their ends, and messages, may overlap too: they are drawn as asynchronous
 * events. What waits at the end is kept until that is known.
 *
 * Numbers of tracks are unique in the file, not only in their process: viewers take them for those
 * of a system's threads.
 */
#include "trace/timeline.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "network/text.h"
#include "wire/circuit.h"
#include "wire/frame.h"
#include "wire/report.h"

enum {
    PROCESS_MACHINE = 1, /* 0 is a special process for viewers */
    PROCESS_NODES = 2,
    THREAD_PHASES = 1,
    THREAD_MEASUREMENTS,
    THREAD_FAULTS,
    THREAD_FRAMES,
    THREAD_NODES, /* so many for each node: */
    NODE_PROGRAM = 0,
    NODE_COLLECTIVES,
    NODE_STEPS,
    NODE_CIRCUITS,
    NODE_LINKS, /* and one for each port */
    NODE_TRACKS = NODE_LINKS + NETWORK_PORTS_MAX + 1,
    NAME_MAX_BYTES = 64,
    WAITS_SHARE = 16, /* of the run's time, behind its end */
    WAITS_MIN_NS = 1000,
    ESCAPED_MAX = 6 * ECUBE_NAME_MAX + 1
};

struct timeline_node {
    uint64_t named; /* bit for each track */
    uint64_t step_end_ns;
};

/* What is drawn when the end is known. */
struct timeline_wait {
    uint32_t node;
    struct node_record record;
};

struct timeline {
    const struct network *network;
    struct profile profile;
    struct timeline_node *nodes; /* the host's is the last */
    uint64_t last_ns, ids;
    uint64_t phase_ns; /* begin of the last phase */
    struct timeline_wait *waiting;
    size_t wait_count, wait_room;
    struct trace_file file;
};

static const struct trace_track phase_track = {PROCESS_MACHINE, THREAD_PHASES};
static const struct trace_track measurement_track = {PROCESS_MACHINE, THREAD_MEASUREMENTS};
static const struct trace_track fault_track = {PROCESS_MACHINE, THREAD_FAULTS};
static const struct trace_track frame_track = {PROCESS_MACHINE, THREAD_FRAMES};

_Static_assert((int)NODE_TRACKS < 64, "a bit for each");

uint32_t timeline_host(const struct timeline *timeline)
{
    return timeline->network->nodes;
}

uint64_t timeline_last_ns(const struct timeline *timeline)
{
    return timeline->last_ns;
}

/* Tracks ------------------------------------------------------------------------------------- */

static const char *actor_name(const struct timeline *timeline, uint32_t actor, char text[16])
{
    if (actor >= timeline->network->nodes) {
        snprintf(text, 16, "host");
    } else {
        snprintf(text, 16, "%" PRIu32, actor);
    }
    return text;
}

/* Whom a link leads to. */
static uint32_t peer_at(const struct timeline *timeline, uint32_t node, unsigned port)
{
    const struct network *network = timeline->network;

    if (node >= network->nodes) {
        return port < network_host_links(network) ? network_host_node(network, port) : ID_UNKNOWN;
    }
    return port < network->ports ? network_neighbour(network, node, port) : ID_HOST;
}

static void link_name(const struct timeline *timeline, uint32_t node, unsigned port, char name[40])
{
    char from[16], to[16];

    snprintf(name, 40, "%s>%s", actor_name(timeline, node, from),
             actor_name(timeline, peer_at(timeline, node, port), to));
}

static void name_track(struct timeline *timeline, struct trace_track track, uint32_t node,
                       unsigned number)
{
    static const char *const names[] = {"program", "collectives", "steps", "circuits"};
    char name[40];

    if (number < NODE_LINKS) {
        snprintf(name, sizeof name, "%s", names[number]);
    } else {
        link_name(timeline, node, number - NODE_LINKS, name);
    }
    trace_file_name_thread(&timeline->file, track, name, number);
}

/* A track of a node, which is named when it is first used. */
static struct trace_track track_of(struct timeline *timeline, uint32_t node, unsigned number)
{
    uint32_t nodes = timeline->network->nodes;
    uint32_t actor = node < nodes ? node : nodes;
    struct timeline_node *entry = &timeline->nodes[actor];
    struct trace_track track = {PROCESS_NODES + actor, THREAD_NODES + actor * NODE_TRACKS + number};
    char text[16], name[32];

    if (entry->named == 0) {
        snprintf(name, sizeof name, "%s%s", actor < nodes ? "node " : "",
                 actor_name(timeline, actor, text));
        trace_file_name_process(&timeline->file, track, name, actor < nodes ? 2 + actor : 1);
    }
    if (!(entry->named >> number & 1)) {
        entry->named |= UINT64_C(1) << number;
        name_track(timeline, track, actor, number);
    }
    return track;
}

static struct trace_track link_track(struct timeline *timeline, uint32_t node, unsigned port)
{
    return track_of(timeline, node,
                    NODE_LINKS + (port < NETWORK_PORTS_MAX ? port : NETWORK_PORTS_MAX));
}

/* Circuits ------------------------------------------------------------------------------------ */

/* The name of a circuit between two, and what it is: members of an object. */
static void describe(const struct timeline *timeline, const struct node_record *record,
                     uint32_t src, uint32_t dst, char name[NAME_MAX_BYTES], char about[256])
{
    char from[16], to[16], rest[96];

    actor_name(timeline, src, from);
    actor_name(timeline, dst, to);
    if (record->flags & OPEN_SCHEDULE) {
        snprintf(name, NAME_MAX_BYTES, "%s>%s step %" PRIu32, from, to, record->tag);
        snprintf(rest, sizeof rest, "\"epoch\":%u,\"step\":%" PRIu32, record->epoch, record->tag);
    } else if (record->flags & OPEN_IMAGE) {
        snprintf(name, NAME_MAX_BYTES, "%s>%s image", from, to);
        snprintf(rest, sizeof rest, "\"image\":true");
    } else {
        snprintf(name, NAME_MAX_BYTES, "%s>%s message", from, to);
        snprintf(rest, sizeof rest, "\"tag\":%" PRIu32, record->tag);
    }
    snprintf(about, 256,
             "\"source\":\"%s\",\"destination\":\"%s\",\"bytes\":%" PRIu32 ",\"hops\":%u,%s", from,
             to, record->bytes, record->hops, rest);
}

static uint64_t tau_of(const struct timeline *timeline, uint32_t node, unsigned port)
{
    const struct profile *profile = &timeline->profile;
    bool host = node >= timeline->network->nodes || port >= timeline->network->ports;

    return host ? (uint64_t)profile->tau_ns * profile->sigma_permille / 1000 : profile->tau_ns;
}

static void add_link(struct timeline *timeline, uint32_t node, const struct node_record *record)
{
    char name[NAME_MAX_BYTES], about[256];
    struct trace_slice slice = {.track = link_track(timeline, node, record->port),
                                .name = name,
                                .category = "circuit",
                                .start_ns = record->flow_ns,
                                .end_ns = record->end_ns};
    uint64_t set_ns = record->flow_ns + tau_of(timeline, node, record->port);
    uint64_t transfer_ns = clock_transfer(&timeline->profile, record->hops, record->bytes);

    describe(timeline, record, record->peer, record->other, name, about);
    trace_file_slice(&timeline->file, &slice, "%s,\"hop\":%u,\"waited_us\":%" PRIu64 ".%03" PRIu64,
                     about, record->hop, (record->flow_ns - record->begin_ns) / 1000,
                     (record->flow_ns - record->begin_ns) % 1000);
    if (record->hops > 0 && record->end_ns >= set_ns + transfer_ns &&
        record->end_ns - transfer_ns > set_ns) {
        struct trace_slice reserved = {slice.track, "reserved", "reserved", set_ns,
                                       record->end_ns - transfer_ns};
        trace_file_slice(&timeline->file, &reserved, "%s", "");
    }
}

static void add_source(struct timeline *timeline, uint32_t node, const struct node_record *record)
{
    char name[NAME_MAX_BYTES], about[256];
    struct trace_slice slice = {.name = name,
                                .category = record->status ? "refused" : "sent",
                                .start_ns = record->begin_ns,
                                .end_ns = record->end_ns};

    describe(timeline, record, node, record->peer, name, about);
    if (record->status) {
        slice.track = link_track(timeline, node, record->port);
        trace_file_instant(&timeline->file, &slice, 't', "%s,\"status\":\"%s\"", about,
                           status_text(-(int)record->status));
        return;
    }
    slice.track = track_of(timeline, node, NODE_CIRCUITS);
    trace_file_async(&timeline->file, &slice, ++timeline->ids,
                     "%s,\"flows_us\":%" PRIu64 ".%03" PRIu64, about, record->flow_ns / 1000,
                     record->flow_ns % 1000);
}

static void add_sink(struct timeline *timeline, uint32_t node, const struct node_record *record)
{
    static const char *const deciders[] = {"links", "send port", "receive port", "receiver"};
    char name[NAME_MAX_BYTES], about[256];
    struct trace_slice slice = {.track = track_of(timeline, node, NODE_CIRCUITS),
                                .name = name,
                                .category = "received",
                                .start_ns = record->begin_ns,
                                .end_ns = record->end_ns};

    describe(timeline, record, record->peer, node, name, about);
    trace_file_async(&timeline->file, &slice, ++timeline->ids,
                     "%s,\"flows_us\":%" PRIu64 ".%03" PRIu64 ",\"decided\":\"%s\"", about,
                     record->flow_ns / 1000, record->flow_ns % 1000, deciders[record->about & 3]);
}

/* Programs ------------------------------------------------------------------------------------ */

static void add_collective(struct timeline *timeline, uint32_t node,
                           const struct node_record *record)
{
    char name[NAME_MAX_BYTES];
    struct trace_slice slice = {.track = track_of(timeline, node, NODE_COLLECTIVES),
                                .name = name,
                                .category = "collective",
                                .start_ns = record->begin_ns,
                                .end_ns = record->end_ns};

    snprintf(name, sizeof name, "%s, %" PRIu32 " bytes", operation_name(record->about),
             record->bytes);
    trace_file_slice(&timeline->file, &slice,
                     "\"bytes\":%" PRIu32 ",\"steps\":%u,\"root\":%" PRIu32
                     ",\"epoch\":%u,\"plan\":\"%08" PRIx32 "\",\"status\":\"%s\"",
                     record->bytes, record->hops, record->other, record->epoch, record->tag,
                     status_text(-(int)record->status));
}

/* "3"; null where there is nobody. */
static const char *peer_text(uint32_t peer, char text[16])
{
    snprintf(text, 16, peer == ID_UNKNOWN ? "null" : "%" PRIu32, peer);
    return text;
}

static void add_step(struct timeline *timeline, uint32_t node, const struct node_record *record)
{
    uint64_t *end_ns = &timeline->nodes[node].step_end_ns;
    char name[32], to[16], from[16];
    struct trace_slice slice = {.track = track_of(timeline, node, NODE_STEPS),
                                .name = name,
                                .category = "step",
                                .start_ns = clock_max(record->begin_ns, *end_ns)};

    slice.end_ns = clock_max(record->end_ns, slice.start_ns);
    *end_ns = slice.end_ns;
    snprintf(name, sizeof name, "step %" PRIu32, record->tag);
    trace_file_slice(&timeline->file, &slice,
                     "\"step\":%" PRIu32 ",\"to\":%s,\"from\":%s,\"bytes\":%" PRIu32
                     ",\"collective\":\"%s\",\"epoch\":%u,\"issued_us\":%" PRIu64 ".%03" PRIu64,
                     record->tag, peer_text(record->peer, to), peer_text(record->other, from),
                     record->bytes, operation_name(record->about), record->epoch,
                     record->begin_ns / 1000, record->begin_ns % 1000);
}

static void add_message(struct timeline *timeline, uint32_t node, const struct node_record *record)
{
    bool sent = record->about == RECORD_SENT;
    char name[NAME_MAX_BYTES];
    struct trace_slice slice = {.track = track_of(timeline, node, NODE_PROGRAM),
                                .name = name,
                                .category = sent ? "message" : "receive",
                                .start_ns = record->begin_ns,
                                .end_ns = record->end_ns};

    snprintf(name, sizeof name, "%s %" PRId32 " message", sent ? "to" : "from",
             (int32_t)record->peer);
    trace_file_async(&timeline->file, &slice, ++timeline->ids,
                     "\"bytes\":%" PRIu32 ",\"tag\":%" PRId32 ",\"status\":\"%s\"", record->bytes,
                     (int32_t)record->tag, status_text(-(int)record->status));
}

static void add_activity(struct timeline *timeline, uint32_t node, const struct node_record *record)
{
    bool computes = record->about == ACTIVITY_COMPUTES;
    struct trace_slice slice = {.track = track_of(timeline, node, NODE_PROGRAM),
                                .name = computes ? "computes" : "waits",
                                .category = computes ? "compute" : "wait",
                                .start_ns = record->begin_ns,
                                .end_ns = record->end_ns};

    trace_file_slice(&timeline->file, &slice, "%s", "");
}

static void add_mark(struct timeline *timeline, uint32_t node, const struct node_record *record)
{
    char name[ESCAPED_MAX];
    struct trace_slice at = {.track = track_of(timeline, node, NODE_PROGRAM),
                             .name = name,
                             .category = "mark",
                             .start_ns = record->begin_ns};

    trace_file_escape(name, record->name);
    trace_file_instant(&timeline->file, &at, 't', "%s", "");
}

/* What waits --------------------------------------------------------------------------------- */

static const char *const waits[RECORD_WAITS] = {
    [WAITED_LINK] = "link",         [WAITED_TURN] = "turn",
    [WAITED_PORT] = "port",         [WAITED_ANSWER] = "answer",
    [WAITED_RECEIVER] = "receiver", [WAITED_SENDER] = "sender",
    [WAITED_BYTES] = "bytes",       [WAITED_NODE] = "node",
    [WAITED_PLAN] = "plan",         [WAITED_COLLECTIVE] = "collective",
    [WAITED_CALL] = "call",         [WAITED_END] = "end"};

/* "3", "any", "none" */
static const char *other_text(uint32_t other, char text[16])
{
    if (other == ID_UNKNOWN) {
        return "none";
    }
    if (other == (uint32_t)ECUBE_ANY) {
        return "any";
    }
    snprintf(text, 16, "%" PRIu32, other);
    return text;
}

static void describe_call(const struct node_record *record, char name[NAME_MAX_BYTES],
                          char about[256])
{
    static const char *const calls[WAIT_KINDS] = {[WAIT_NOTHING] = "computes",
                                                  [WAIT_SEND] = "waits: send to",
                                                  [WAIT_RECEIVE] = "waits: receive from",
                                                  [WAIT_COLLECTIVE] = "waits: collective",
                                                  [WAIT_CONSOLE] = "waits: output",
                                                  [WAIT_SLEEP] = "sleeps",
                                                  [WAIT_READER] = "waits: output",
                                                  [WAIT_PLAN] = "waits: plan",
                                                  [WAIT_SEVERAL] = "waits: requests",
                                                  [WAIT_PROBE] = "waits: probe of",
                                                  [WAIT_REGION] = "waits: region"};
    const char *call = calls[record->detail < WAIT_KINDS ? record->detail : WAIT_NOTHING];
    bool message = record->detail == WAIT_SEND || record->detail == WAIT_RECEIVE ||
                   record->detail == WAIT_PROBE;
    char peer[16];

    snprintf(name, NAME_MAX_BYTES, "%s%s%s", call, message ? " " : "",
             message ? other_text(record->peer, peer) : "");
    if (message) {
        snprintf(about, 256, "\"bytes\":%" PRIu32 ",\"tag\":%" PRId32, record->bytes,
                 (int32_t)record->tag);
    } else {
        snprintf(about, 256, "\"bytes\":%" PRIu32, record->bytes);
    }
}

static void describe_wait(const struct timeline *timeline, uint32_t node,
                          const struct node_record *record, char name[NAME_MAX_BYTES],
                          char about[256])
{
    char to[16], from[16];

    switch (record->kind) {
    case RECORD_SOURCE: describe(timeline, record, node, record->peer, name, about); return;
    case RECORD_LINK: describe(timeline, record, record->peer, record->other, name, about); return;
    case RECORD_SINK: describe(timeline, record, record->peer, node, name, about); return;
    case RECORD_COLLECTIVE:
        snprintf(name, NAME_MAX_BYTES, "%s, %" PRIu32 " bytes", operation_name(record->about),
                 record->bytes);
        snprintf(
            about, 256,
            "\"bytes\":%" PRIu32 ",\"steps\":%u,\"root\":%" PRIu32 ",\"epoch\":%u,\"for\":\"%s\"",
            record->bytes, record->hops, record->other, record->epoch,
            record->waits == WAITED_COLLECTIVE ? "none" : actor_name(timeline, record->peer, to));
        return;
    case RECORD_STEP:
        snprintf(name, NAME_MAX_BYTES, "step %" PRIu32, record->tag);
        snprintf(about, 256,
                 "\"step\":%" PRIu32 ",\"to\":\"%s\",\"from\":\"%s\",\"bytes\":%" PRIu32
                 ",\"epoch\":%u",
                 record->tag, other_text(record->peer, to), other_text(record->other, from),
                 record->bytes, record->epoch);
        return;
    case RECORD_MESSAGE:
        snprintf(name, NAME_MAX_BYTES, "%s %s message",
                 record->about == RECORD_SENT ? "to" : "from", other_text(record->peer, to));
        snprintf(about, 256, "\"bytes\":%" PRIu32 ",\"tag\":%" PRId32, record->bytes,
                 (int32_t)record->tag);
        return;
    default: describe_call(record, name, about); return;
    }
}

static struct trace_track track_of_wait(struct timeline *timeline, uint32_t node,
                                        const struct node_record *record)
{
    switch (record->kind) {
    case RECORD_SOURCE:
    case RECORD_SINK: return track_of(timeline, node, NODE_CIRCUITS);
    case RECORD_LINK: return link_track(timeline, node, record->port);
    case RECORD_COLLECTIVE: return track_of(timeline, node, NODE_COLLECTIVES);
    case RECORD_STEP: return track_of(timeline, node, NODE_STEPS);
    default: return track_of(timeline, node, NODE_PROGRAM);
    }
}

/* The present collective, step and call of a node follow those before; the rest may overlap. */
static void add_wait(struct timeline *timeline, const struct timeline_wait *wait, uint64_t end_ns)
{
    const struct node_record *record = &wait->record;
    bool call = record->kind == RECORD_PROGRAM;
    char name[NAME_MAX_BYTES], about[256], full[NAME_MAX_BYTES + 32];
    struct trace_slice slice = {.track = track_of_wait(timeline, wait->node, record),
                                .name = full,
                                .category = "waiting",
                                .start_ns = record->begin_ns,
                                .end_ns = end_ns};

    describe_wait(timeline, wait->node, record, name, about);
    snprintf(full, sizeof full, call ? "%s" : "%s, waits: %s", name, waits[record->waits]);
    if (record->kind == RECORD_STEP) {
        slice.start_ns = clock_max(record->begin_ns, timeline->nodes[wait->node].step_end_ns);
    }
    if (call || record->kind == RECORD_STEP ||
        (record->kind == RECORD_COLLECTIVE && record->waits != WAITED_COLLECTIVE)) {
        trace_file_slice(&timeline->file, &slice, "%s,\"waits\":\"%s\"", about,
                         waits[record->waits]);
    } else {
        trace_file_async(&timeline->file, &slice, ++timeline->ids, "%s,\"waits\":\"%s\"", about,
                         waits[record->waits]);
    }
}

static void keep_wait(struct timeline *timeline, uint32_t node, const struct node_record *record)
{
    if (timeline->wait_count == timeline->wait_room) {
        timeline->wait_room = 2 * timeline->wait_room + 64;
        timeline->waiting =
            realloc(timeline->waiting, timeline->wait_room * sizeof *timeline->waiting);
        CHECK(timeline->waiting);
    }
    timeline->waiting[timeline->wait_count++] = (struct timeline_wait){node, *record};
}

/* They have no model time: they stand at the end of the run. */
static void add_frames(struct timeline *timeline, const struct timeline_wait *link)
{
    char name[40];
    struct trace_slice at = {
        .track = frame_track, .name = name, .category = "frames", .start_ns = timeline->last_ns};

    link_name(timeline, link->node, link->record.port, name);
    trace_file_instant(&timeline->file, &at, 't',
                       "\"frames\":%" PRIu32 ",\"repeats\":%" PRIu32 ",\"damaged\":%" PRIu32,
                       link->record.bytes, link->record.tag, link->record.detail);
}

static void add_waits(struct timeline *timeline)
{
    uint64_t last_ns = timeline->last_ns;
    uint64_t run_ns = last_ns > timeline->phase_ns ? last_ns - timeline->phase_ns : 0;
    uint64_t end_ns = last_ns + clock_max(run_ns / WAITS_SHARE, WAITS_MIN_NS);

    for (size_t i = 0; i < timeline->wait_count; i++) {
        if (timeline->waiting[i].record.kind == RECORD_FRAMES) {
            add_frames(timeline, &timeline->waiting[i]);
        } else {
            add_wait(timeline, &timeline->waiting[i], end_ns);
        }
    }
    timeline->wait_count = 0;
}

void timeline_record(struct timeline *timeline, uint32_t node, const struct node_record *record)
{
    timeline->last_ns = clock_max(timeline->last_ns,
                                  record->kind == RECORD_MARK ? record->begin_ns : record->end_ns);
    if ((record->waits && record->kind != RECORD_MARK) || record->kind == RECORD_FRAMES) {
        keep_wait(timeline, node, record);
        return;
    }
    switch (record->kind) {
    case RECORD_SOURCE: add_source(timeline, node, record); break;
    case RECORD_LINK: add_link(timeline, node, record); break;
    case RECORD_SINK: add_sink(timeline, node, record); break;
    case RECORD_COLLECTIVE: add_collective(timeline, node, record); break;
    case RECORD_STEP: add_step(timeline, node, record); break;
    case RECORD_MESSAGE: add_message(timeline, node, record); break;
    case RECORD_PROGRAM: add_activity(timeline, node, record); break;
    case RECORD_MARK: add_mark(timeline, node, record); break;
    default: break;
    }
}

/* The machine --------------------------------------------------------------------------------- */

void timeline_phase(struct timeline *timeline, const char *name, uint64_t begin_ns, uint64_t end_ns,
                    uint64_t wall_us)
{
    struct trace_slice slice = {.track = phase_track,
                                .name = name,
                                .category = "phase",
                                .start_ns = begin_ns,
                                .end_ns = clock_max(begin_ns, end_ns)};

    timeline->phase_ns = begin_ns;
    trace_file_slice(&timeline->file, &slice, "\"wall_us\":%" PRIu64, wall_us);
}

void timeline_measurement(struct timeline *timeline, const char *name, uint64_t begin_ns,
                          uint64_t end_ns, uint32_t bytes, uint32_t steps)
{
    struct trace_slice slice = {.track = measurement_track,
                                .name = name,
                                .category = "measurement",
                                .start_ns = begin_ns,
                                .end_ns = end_ns};

    trace_file_slice(&timeline->file, &slice, "\"bytes\":%" PRIu32 ",\"steps\":%" PRIu32, bytes,
                     steps);
}

static void add_fault(struct timeline *timeline, struct trace_track track, const char *name,
                      uint64_t at_ns, char scope, const char *format, va_list arguments)
{
    char about[512];
    struct trace_slice at = {.track = track, .name = name, .category = "fault", .start_ns = at_ns};

    vsnprintf(about, sizeof about, format, arguments);
    trace_file_instant(&timeline->file, &at, scope, "%s", about);
}

void timeline_fault(struct timeline *timeline, const char *name, uint64_t at_ns,
                    const char *arguments, ...)
{
    va_list list;

    va_start(list, arguments);
    add_fault(timeline, fault_track, name, at_ns, 'g', arguments, list);
    va_end(list);
}

void timeline_link_fault(struct timeline *timeline, uint32_t node, unsigned port, const char *name,
                         uint64_t at_ns, const char *arguments, ...)
{
    va_list list;

    va_start(list, arguments);
    add_fault(timeline, link_track(timeline, node, port), name, at_ns, 't', arguments, list);
    va_end(list);
}

/* Begin and end ------------------------------------------------------------------------------- */

struct timeline *timeline_make(int fd, const struct network *network, const struct profile *profile,
                               const char *about)
{
    struct timeline *timeline = calloc(1, sizeof *timeline);
    char name[NETWORK_NAME_MAX], text[NETWORK_NAME_MAX + 256];

    if (!timeline) {
        return NULL;
    }
    timeline->network = network;
    timeline->profile = *profile;
    timeline->nodes = calloc(network->nodes + 1, sizeof *timeline->nodes);
    if (!timeline->nodes) {
        free(timeline);
        return NULL;
    }
    network_name(network, name);
    snprintf(text, sizeof text, "{\"clock\":\"model time\",\"network\":\"%s\"%s}", name, about);
    trace_file_begin(&timeline->file, fd, text);
    trace_file_name_process(&timeline->file, phase_track, "machine", 0);
    trace_file_name_thread(&timeline->file, phase_track, "phases", 0);
    trace_file_name_thread(&timeline->file, measurement_track, "measurements", 1);
    trace_file_name_thread(&timeline->file, fault_track, "faults", 2);
    trace_file_name_thread(&timeline->file, frame_track, "frames", 3);
    return timeline;
}

struct trace_result timeline_end(struct timeline *timeline)
{
    struct trace_result result = {0};

    add_waits(timeline);
    trace_file_end(&timeline->file, result.digest);
    result.events = timeline->file.events;
    result.bytes = timeline->file.bytes;
    result.error = timeline->file.error;
    return result;
}

void timeline_abandon(const struct timeline *timeline)
{
    trace_file_abandon(&timeline->file);
}

void timeline_free(struct timeline *timeline)
{
    if (timeline) {
        free(timeline->nodes);
        free(timeline->waiting);
        free(timeline);
    }
}
