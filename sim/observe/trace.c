/*
 * trace.c - circuits on links, from the frames that links are handed.
 *
 * Between two neighbours an answer has no name: it is for the oldest OPEN without one, so a queue
 * per directed link says which circuit an ACCEPT belongs to. Frames that are sent once more, after
 * a loss, are known by their number.
 */
#include "network/network.h"
#include "node/state.h"
#include "sim/observe/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "router/port.h"
#include "sim/observe/trace_internal.h"
#include "sim/core/state.h"
#include "wire/circuit.h"

static struct trace_link *link_of(const struct sim *sim, const struct sim_end *end)
{
    return &sim->trace->links[end - sim->ends];
}

static uint32_t process_of(uint32_t actor)
{
    return TRACE_PROCESS_NODES + actor;
}

struct trace_track trace_program_track(uint32_t rank)
{
    return (struct trace_track){process_of(rank), TRACE_THREAD_NODES + 2 * rank};
}

struct trace_track trace_step_track(uint32_t rank)
{
    return (struct trace_track){process_of(rank), TRACE_THREAD_NODES + 2 * rank + 1};
}

const char *trace_actor_name(const struct sim *sim, uint32_t actor, char text[16])
{
    if (actor >= sim->count) {
        snprintf(text, 16, "host");
    } else {
        snprintf(text, 16, "%" PRIu32, actor);
    }
    return text;
}

/* The host's process stands before the nodes'. */
static void name_process(const struct sim *sim, struct trace_track track, uint32_t actor)
{
    char number[16], name[32];

    if (sim->trace->named[actor]) {
        return;
    }
    sim->trace->named[actor] = true;
    trace_actor_name(sim, actor, number);
    snprintf(name, sizeof name, "%s%s", actor < sim->count ? "node " : "", number);
    trace_file_name_process(&sim->trace->file, track, name, actor < sim->count ? 2 + actor : 1);
}

static struct trace_track link_track(const struct sim *sim, const struct sim_end *end)
{
    struct trace_link *link = link_of(sim, end);
    struct trace_track track = {process_of(end->actor),
                                TRACE_THREAD_NODES + 2 * sim->count + (uint32_t)(end - sim->ends)};
    char from[16], to[16], name[40];

    if (!link->named) {
        link->named = true;
        name_process(sim, track, end->actor);
        snprintf(name, sizeof name, "%s>%s", trace_actor_name(sim, end->actor, from),
                 trace_actor_name(sim, end->peer->actor, to));
        trace_file_name_thread(&sim->trace->file, track, name, 2u + end->port);
    }
    return track;
}

void trace_name_node(const struct sim *sim, uint32_t rank)
{
    struct trace_node *node = &sim->trace->nodes[rank];

    if (node->named) {
        return;
    }
    node->named = true;
    name_process(sim, trace_program_track(rank), rank);
    trace_file_name_thread(&sim->trace->file, trace_program_track(rank), "program", 0);
    trace_file_name_thread(&sim->trace->file, trace_step_track(rank), "steps", 1);
}

/* NULL: there is no memory, and the timeline ends here. */
static struct trace_circuit *take_circuit(struct trace *trace)
{
    struct trace_circuit *circuit = trace->free;

    if (circuit) {
        trace->free = circuit->next;
        return circuit;
    }
    circuit = malloc(sizeof *circuit);
    if (!circuit) {
        trace->file.error = ENOMEM;
    }
    return circuit;
}

/* The links of a circuit's path, from an OPEN on one of them. */
static uint32_t hops_of(const struct sim *sim, const struct sim_end *end, const uint8_t *packet)
{
    uint32_t to = end->peer->actor, dst = packet_dst(packet);

    if (open_has_hops(open_flags(packet))) {
        return hop_list_count(open_hops(packet));
    }
    return packet_hops(packet) +
           (to < sim->count && dst < sim->count ? network_distance(sim_network(sim), to, dst) : 0);
}

static uint8_t kind_of(uint8_t flags)
{
    return flags & OPEN_SCHEDULE ? TRACE_STEP : flags & OPEN_IMAGE ? TRACE_IMAGE : TRACE_MESSAGE;
}

static void take_open(const struct sim *sim, const struct sim_end *end, const uint8_t *packet)
{
    struct trace_link *link = link_of(sim, end);
    struct trace_circuit *circuit = take_circuit(sim->trace);
    uint32_t src = packet_src(packet);

    if (!circuit) {
        return;
    }
    *circuit = (struct trace_circuit){.src = src == ID_HOST ? sim->count : src,
                                      .dst = packet_dst(packet),
                                      .bytes = open_charged(packet),
                                      .step = open_flags(packet) & OPEN_SCHEDULE
                                                  ? open_match_step(open_match(packet))
                                                  : open_match(packet),
                                      .tag = open_tag(packet),
                                      .epoch = open_epoch(packet),
                                      .kind = kind_of(open_flags(packet)),
                                      .hop = (uint16_t)packet_hops(packet),
                                      .hops = (uint16_t)hops_of(sim, end, packet),
                                      .set_ns = open_clock(packet)};
    if (circuit->kind == TRACE_STEP && src < sim->count) {
        circuit->operation = (uint8_t)sim_node(sim, src)->engine.call.operation;
    }
    *(link->first ? &link->last->next : &link->first) = circuit;
    link->last = circuit;
}

/* Where a circuit stands, its name, and what it is: text of the arguments. */
static void describe(const struct sim *sim, const struct trace_circuit *circuit, char name[48],
                     char about[240])
{
    char from[16], to[16], rest[96];

    trace_actor_name(sim, circuit->src, from);
    trace_actor_name(sim, circuit->dst, to);
    switch (circuit->kind) {
    case TRACE_STEP:
        snprintf(name, 48, "%s>%s step %" PRIu32, from, to, circuit->step);
        snprintf(rest, sizeof rest, "\"collective\":\"%s\",\"epoch\":%u,\"step\":%" PRIu32,
                 operation_name(circuit->operation), circuit->epoch, circuit->step);
        break;
    case TRACE_IMAGE:
        snprintf(name, 48, "%s>%s image", from, to);
        snprintf(rest, sizeof rest, "\"image\":true");
        break;
    default:
        snprintf(name, 48, "%s>%s message", from, to);
        snprintf(rest, sizeof rest, "\"tag\":%" PRIu32, circuit->tag);
        break;
    }
    snprintf(about, 240,
             "\"source\":\"%s\",\"destination\":\"%s\",\"bytes\":%" PRIu32
             ",\"hop\":%u,\"hops\":%u,%s",
             from, to, circuit->bytes, circuit->hop, circuit->hops, rest);
}

/* The circuit at both its ends: a message by its name, a step of a node. */
static void note_ends(const struct sim *sim, const struct sim_end *end,
                      const struct trace_circuit *circuit, const struct trace_slice *slice)
{
    struct trace *trace = sim->trace;
    bool begins = circuit->hop == 1 && circuit->src < sim->count;
    bool ends = end->peer->actor == circuit->dst;

    if (circuit->kind == TRACE_STEP) {
        if (begins) {
            trace_note_step(sim, circuit->src, circuit, slice->end_ns);
        }
        if (ends) {
            trace_note_step(sim, circuit->dst, circuit, slice->end_ns);
        }
    } else if (circuit->kind == TRACE_MESSAGE && begins) {
        struct trace_slice message = *slice;
        trace_name_node(sim, circuit->src);
        message.track = trace_program_track(circuit->src);
        message.category = "message";
        trace_file_async(&trace->file, &message, ++trace->messages,
                         "\"bytes\":%" PRIu32 ",\"tag\":%" PRIu32, circuit->bytes, circuit->tag);
    }
}

/* The circuit has its answer: the link is its until done_ns. */
static void note_accepted(const struct sim *sim, const struct sim_end *end,
                          const struct trace_circuit *circuit, uint64_t done_ns)
{
    struct trace *trace = sim->trace;
    struct trace_link *link = link_of(sim, end);
    const struct profile *profile = &sim->options.profile;
    uint64_t tau_ns = profile->tau_ns, set_ns = circuit->set_ns;
    char name[48], about[240];

    if (circuit->src >= sim->count) {
        tau_ns = tau_ns * (circuit->hop == 1 ? profile->sigma_permille : 1000u) / 1000;
    }
    /* Its OPEN passed right behind that of its source's message before, when nobody here knew how
     * long that one would hold the link; the receiver has counted it so (router_accept). */
    if (circuit->kind == TRACE_MESSAGE && circuit->src == link->src &&
        set_ns < link->free_ns + tau_ns) {
        set_ns = link->free_ns + circuit->hop * tau_ns;
    }
    uint64_t flows_ns = done_ns - clock_transfer(profile, circuit->hops, circuit->bytes);
    describe(sim, circuit, name, about);
    struct trace_slice slice = {.track = link_track(sim, end),
                                .name = name,
                                .category = "circuit",
                                .start_ns = set_ns - tau_ns,
                                .end_ns = done_ns};
    trace_file_slice(&trace->file, &slice, "%s,\"status\":\"ok\"", about);
    note_ends(sim, end, circuit, &slice);
    if (flows_ns > set_ns) {
        struct trace_slice reserved = {slice.track, "reserved", "reserved", set_ns, flows_ns};
        trace_file_slice(&trace->file, &reserved, "%s", "");
    }
    link->free_ns = done_ns;
    link->src = circuit->src;
    trace->last_ns = clock_max(trace->last_ns, done_ns);
}

static void note_refused(const struct sim *sim, const struct sim_end *end,
                         const struct trace_circuit *circuit, int32_t status)
{
    struct trace_slice at = {
        .track = link_track(sim, end), .category = "refused", .start_ns = circuit->set_ns};
    char name[48], about[240];

    describe(sim, circuit, name, about);
    at.name = name;
    trace_file_instant(&sim->trace->file, &at, 't', "%s,\"status\":\"%s\"", about,
                       status_text(status));
    sim->trace->last_ns = clock_max(sim->trace->last_ns, at.start_ns);
}

/* An answer: it goes the other way, against the circuit. */
static void take_answer(const struct sim *sim, const struct sim_end *end, const uint8_t *packet,
                        uint32_t body_bytes)
{
    const uint8_t *body = packet_body(packet);
    struct trace_link *link = link_of(sim, end->peer);
    struct trace_circuit *circuit = link->first;
    struct accept_body accept;
    struct refuse_body refuse;

    if (!circuit) {
        return;
    }
    if (packet_kind(packet) == PACKET_ACCEPT && accept_unpack(body, body_bytes, &accept)) {
        note_accepted(sim, end->peer, circuit, accept.done_ns);
    } else if (packet_kind(packet) == PACKET_REFUSE && refuse_unpack(body, body_bytes, &refuse)) {
        note_refused(sim, end->peer, circuit, refuse.reason);
    } else {
        return;
    }
    link->first = circuit->next;
    circuit->next = sim->trace->free;
    sim->trace->free = circuit;
}

void trace_frame(const struct sim *sim, const struct sim_end *end, const uint8_t *frame,
                 uint32_t bytes)
{
    struct trace_link *link = link_of(sim, end);
    const uint8_t *packet = frame + FRAME_HEADER_BYTES;
    uint16_t number = frame_seq(frame);

    if (sim->trace->file.error ||
        (frame_type(frame) != FRAME_PACKET && frame_type(frame) != FRAME_DATA)) {
        return;
    }
    if (link->seen && (int16_t)(number - link->number) <= 0) {
        return; /* sent once more */
    }
    link->seen = true;
    link->number = number;
    if (frame_type(frame) == FRAME_DATA) {
        if (frame_flags(frame) & FLAG_ABORT) {
            trace_file_instant(&sim->trace->file,
                               &(struct trace_slice){.track = link_track(sim, end),
                                                     .name = "cut short",
                                                     .category = "cut",
                                                     .start_ns = sim->now_ns},
                               't', "%s", "");
        }
    } else if (packet_kind(packet) == PACKET_OPEN && bytes >= FRAME_HEADER_BYTES + OPEN_BYTES) {
        take_open(sim, end, packet);
    } else if (bytes >= FRAME_HEADER_BYTES + PACKET_HEADER_BYTES) {
        take_answer(sim, end, packet, bytes - FRAME_HEADER_BYTES - PACKET_HEADER_BYTES);
    }
}

/* Circuits that have no answer when all is over. */
void trace_note_unanswered(const struct sim *sim)
{
    for (size_t i = 0; i < sim->trace->link_count; i++) {
        const struct sim_end *end = &sim->ends[i];
        const struct trace_circuit *circuit = sim->trace->links[i].first;
        for (; circuit; circuit = circuit->next) {
            char name[48], about[240];
            describe(sim, circuit, name, about);
            struct trace_slice at = {.track = link_track(sim, end),
                                     .name = name,
                                     .category = "unanswered",
                                     .start_ns = circuit->set_ns};
            trace_file_instant(&sim->trace->file, &at, 't', "%s,\"status\":\"no answer\"", about);
        }
    }
}

void trace_damage(const struct sim *sim, const char *what)
{
    const struct sim_end *end = sim->partitions[0].filling.end;

    if (!sim->trace) {
        return;
    }
    trace_file_instant(&sim->trace->file,
                       &(struct trace_slice){.track = link_track(sim, end),
                                             .name = what,
                                             .category = "fault",
                                             .start_ns = sim->now_ns},
                       't', "\"frame\":%" PRIu64, sim->partitions[0].link_events);
}
