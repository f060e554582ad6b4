#include "router/recorder.h"

#include <stddef.h>
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "router/circuit.h"
#include "router/clock.h"
#include "router/due.h"
#include "router/identity.h"
#include "router/setup.h"
#include "router/state.h"
#include "wire/circuit.h"

uint64_t recorder_bytes(uint32_t records)
{
    return sizeof(struct recorder) + (uint64_t)records * sizeof(struct node_record);
}

struct recorder *recorder_begin(void *memory, uint64_t bytes, uint32_t records, uint8_t generation,
                                struct router *router)
{
    struct recorder *recorder = memory;

    router->recorder = NULL;
    if (bytes < recorder_bytes(1) || records == 0) {
        return NULL;
    }
    uint64_t room = (bytes - sizeof *recorder) / sizeof(struct node_record);
    memset(recorder, 0, sizeof *recorder);
    recorder->sign = RECORD_RING_SIGN;
    recorder->generation = generation;
    recorder->at = sizeof *recorder;
    recorder->records = (struct node_record *)(recorder + 1);
    recorder->room = room < records ? (uint32_t)room : records;
    recorder_open(recorder, router);
    return recorder;
}

void recorder_open(struct recorder *recorder, struct router *router)
{
    router->recorder = recorder;
    for (unsigned port = 0; port < router->port_count; port++) {
        const struct channel *channel = &router->ports[port].channel;
        recorder->links[port] = (struct recorder_link){.before = router->ports[port].setup_count,
                                                       .frames = channel->frames_sent,
                                                       .repeats = channel->counters.retransmissions,
                                                       .damaged = channel->counters.damaged};
    }
}

void recorder_write(struct recorder *recorder, const struct node_record *record)
{
    struct node_record *at = &recorder->records[recorder->written % recorder->room];

    *at = *record;
    if (record->kind != RECORD_MARK) {
        at->flow_ns = clock_max(at->begin_ns, at->flow_ns);
        at->end_ns = clock_max(at->flow_ns, at->end_ns);
    }
    recorder->written++;
}

void recorder_step_over(struct recorder *recorder)
{
    if (recorder->step.kind) {
        recorder_write(recorder, &recorder->step);
        recorder->step.kind = 0;
    }
}

void recorder_row(struct recorder *recorder, const struct node_record *row)
{
    struct node_record *step = &recorder->step;

    if (!step->kind || step->tag != row->tag || step->epoch != row->epoch) {
        recorder_step_over(recorder);
        *step = *row;
        return;
    }
    if (row->begin_ns < step->begin_ns) {
        step->begin_ns = row->begin_ns;
    }
    step->flow_ns = clock_max(step->flow_ns, row->flow_ns);
    step->end_ns = clock_max(step->end_ns, row->end_ns);
    step->bytes += row->bytes;
}

/* The links of the path of a circuit whose OPEN leaves by a port, as far as they are known here:
 * the way to the host may be another one than the network's. */
static uint16_t path_hops(const struct router *router, unsigned port, uint32_t dst, uint32_t hop,
                          uint8_t flags, const uint8_t *list)
{
    const struct network *network = &router->network;
    uint32_t next = ID_HOST;

    if (open_has_hops(flags)) {
        return (uint16_t)hop_list_count(list);
    }
    if (router->role == ROLE_HOST) {
        next = router->peers[port];
    } else if (port < network->ports) {
        next = network_neighbour(network, router->id, port);
    }
    if (next >= network->nodes || dst >= network->nodes) {
        return (uint16_t)(next == dst ? hop : 0);
    }
    return (uint16_t)(hop + network_distance(network, next, dst));
}

/* What an OPEN says of its circuit. */
static struct node_record record_of(enum record_kind kind, const uint8_t *packet)
{
    uint8_t flags = open_flags(packet);

    return (struct node_record){.kind = (uint8_t)kind,
                                .flags = flags,
                                .epoch = open_epoch(packet),
                                .bytes = open_charged(packet),
                                .tag = flags & OPEN_SCHEDULE ? open_match_step(open_match(packet))
                                                             : open_tag(packet)};
}

static struct node_record record_on_link(const struct router *router, unsigned port,
                                         const uint8_t *packet, const uint8_t *list)
{
    struct node_record record = record_of(RECORD_LINK, packet);

    record.port = (uint8_t)port;
    record.hop = (uint16_t)(packet_hops(packet) + 1);
    record.hops = path_hops(router, port, packet_dst(packet), record.hop, record.flags, list);
    record.peer = packet_src(packet);
    record.other = packet_dst(packet);
    record.begin_ns = open_clock(packet);
    record.flow_ns = clock_max(record.begin_ns, router->ports[port].free_ns);
    return record;
}

void recorder_passes(struct router *router, unsigned in, unsigned port, const uint8_t *packet)
{
    struct recorder_link *link = &router->recorder->links[port];
    const uint8_t *list = open_hops(packet);

    if (in == PORT_LOCAL) {
        list = source_hops(&router->sources[router->opening[router->opening_passed]]);
    }
    link->passing[(link->first + link->count++) % CIRCUITS_MAX] =
        record_on_link(router, port, packet, list);
}

/* An OPEN that passed right behind another of its source did not know yet how long that one would
 * have the link: the receiver adds it (circuit.c), and so does this. */
void recorder_answered(struct router *router, unsigned port, int status, uint64_t done_ns)
{
    struct recorder_link *link = &router->recorder->links[port];
    uint64_t free_ns = router->ports[port].free_ns;

    if (link->before) {
        link->before--;
        return;
    }
    struct node_record *record = &link->passing[link->first];
    link->first = (uint8_t)((link->first + 1) % CIRCUITS_MAX);
    link->count--;
    if (status != E_OK) {
        return;
    }
    if (record->flow_ns < free_ns) {
        record->flow_ns = free_ns + (record->hop - 1u) * (uint64_t)router->profile.tau_ns;
    }
    record->end_ns = done_ns;
    recorder_write(router->recorder, record);
}

static struct node_record record_at_source(const struct router *router, const struct source *source)
{
    struct node_record record = record_of(RECORD_SOURCE, source->open + FRAME_HEADER_BYTES);

    record.port = source->out;
    record.peer = source->circuit.dst;
    record.hops = path_hops(router, source->out, record.peer, 1, record.flags, source_hops(source));
    record.begin_ns = record.flow_ns = record.end_ns = source->circuit.issue_ns;
    return record;
}

void recorder_source(struct router *router, const struct source *source, int status,
                     uint64_t done_ns)
{
    struct node_record record = record_at_source(router, source);

    record.status = (uint8_t)-status;
    if (status == E_OK) {
        record.end_ns = done_ns;
        record.flow_ns = record.hops
                             ? clock_begin(&router->profile, done_ns, record.hops, record.bytes)
                             : done_ns;
    }
    recorder_write(router->recorder, &record);
}

static struct node_record record_at_sink(unsigned port, const uint8_t *packet)
{
    struct node_record record = record_of(RECORD_SINK, packet);

    record.about = DECIDED_LINKS;
    record.port = (uint8_t)port;
    record.hop = record.hops = (uint16_t)packet_hops(packet);
    record.peer = packet_src(packet);
    return record;
}

void recorder_sink(struct router *router, unsigned port, const struct circuit_sink *sink,
                   uint64_t start_ns, uint64_t done_ns)
{
    const uint8_t *packet = circuit_open_at(router, port);
    unsigned place = identity_port(router, sink->port);
    struct node_record record = record_at_sink(port, packet);

    if (start_ns == open_free(packet)) {
        record.about = DECIDED_SEND_PORT;
    } else if (place < CLOCK_PORTS_MAX && start_ns == router->receive_free_ns[place]) {
        record.about = DECIDED_RECEIVE_PORT;
    } else if (start_ns == sink->ready_ns) {
        record.about = DECIDED_RECEIVER;
    }
    record.begin_ns = sink->ready_ns;
    record.flow_ns = start_ns;
    record.end_ns = done_ns;
    recorder_write(router->recorder, &record);
}

/* What is open ------------------------------------------------------------------------------- */

static void write_open(struct router *router, struct node_record record, enum record_wait waits)
{
    record.waits = (uint8_t)waits;
    recorder_write(router->recorder, &record);
}

/* Why an OPEN has not gone on yet. */
static enum record_wait wait_of(int verdict)
{
    return verdict == SETUP_NO_TURN || verdict == E_BUSY ? WAITED_TURN : WAITED_LINK;
}

static void close_links(struct router *router)
{
    for (unsigned port = 0; port < router->port_count; port++) {
        struct recorder_link *link = &router->recorder->links[port];
        for (unsigned i = 0; i < link->count; i++) {
            write_open(router, link->passing[(link->first + i) % CIRCUITS_MAX], WAITED_ANSWER);
        }
    }
}

/* Those that have come this far, of each in-port the oldest, and this node's own. */
static void close_held(struct router *router)
{
    struct waiting waiting;

    for (uint32_t left = setup_holders(router); left;) {
        unsigned in = due_next(&left);
        if (setup_waiting_at(router, in, &waiting) && waiting.out < router->port_count) {
            write_open(router, record_on_link(router, waiting.out, waiting.packet, waiting.hops),
                       wait_of(setup_verdict(router, in, &waiting)));
        }
    }
    for (unsigned port = 0; port < router->port_count; port++) {
        const uint8_t *packet = circuit_open_at(router, port);
        if (packet) {
            struct node_record record = record_at_sink(port, packet);
            record.begin_ns = open_clock(packet);
            write_open(router, record, WAITED_RECEIVER);
        }
    }
}

static void close_sources(struct router *router)
{
    struct waiting waiting;

    for (unsigned i = 0; i < router->opening_count; i++) {
        enum record_wait waits = i < router->opening_passed ? WAITED_ANSWER : WAITED_PORT;
        if (i == router->opening_passed && setup_waiting_at(router, PORT_LOCAL, &waiting)) {
            waits = wait_of(setup_verdict(router, PORT_LOCAL, &waiting));
        }
        write_open(router, record_at_source(router, &router->sources[router->opening[i]]), waits);
    }
}

static void close_frames(struct router *router)
{
    for (unsigned port = 0; port < router->port_count; port++) {
        const struct recorder_link *link = &router->recorder->links[port];
        const struct channel *channel = &router->ports[port].channel;
        struct node_record record = {.kind = RECORD_FRAMES,
                                     .port = (uint8_t)port,
                                     .bytes = channel->frames_sent - link->frames,
                                     .tag = channel->counters.retransmissions - link->repeats,
                                     .detail = channel->counters.damaged - link->damaged};
        if (record.tag || record.detail) {
            recorder_write(router->recorder, &record);
        }
    }
}

void recorder_close(struct router *router)
{
    recorder_step_over(router->recorder);
    close_sources(router);
    close_links(router);
    close_held(router);
    close_frames(router);
    router->recorder = NULL;
}
