#include "router/recorder.h"

#include <stddef.h>
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "router/circuit.h"
#include "router/clock.h"
#include "router/identity.h"
#include "router/state.h"
#include "wire/circuit.h"

uint64_t recorder_bytes(uint32_t records)
{
    return sizeof(struct recorder) + (uint64_t)records * sizeof(struct node_record);
}

struct recorder *recorder_begin(void *memory, uint64_t bytes, uint32_t records,
                                const struct router *router)
{
    struct recorder *recorder = memory;

    if (bytes < recorder_bytes(1) || records == 0) {
        return NULL;
    }
    uint64_t room = (bytes - sizeof *recorder) / sizeof(struct node_record);
    memset(recorder, 0, sizeof *recorder);
    recorder->records = (struct node_record *)(recorder + 1);
    recorder->room = room < records ? (uint32_t)room : records;
    for (unsigned port = 0; port < router->port_count; port++) {
        recorder->links[port].before = router->ports[port].setup_count;
    }
    return recorder;
}

void recorder_write(struct recorder *recorder, const struct node_record *record)
{
    struct node_record *at = &recorder->records[recorder->written++ % recorder->room];

    *at = *record;
    if (record->kind != RECORD_MARK) {
        at->flow_ns = clock_max(at->begin_ns, at->flow_ns);
        at->end_ns = clock_max(at->flow_ns, at->end_ns);
    }
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

void recorder_passes(struct router *router, unsigned in, unsigned port, const uint8_t *packet)
{
    struct recorder_link *link = &router->recorder->links[port];
    struct node_record *record = &link->passing[(link->first + link->count) % CIRCUITS_MAX];
    const uint8_t *list = open_hops(packet);

    if (in == PORT_LOCAL) {
        list = source_hops(&router->sources[router->opening[router->opening_passed]]);
    }
    *record = record_of(RECORD_LINK, packet);
    record->port = (uint8_t)port;
    record->hop = (uint16_t)(packet_hops(packet) + 1);
    record->hops =
        path_hops(router, port, packet_dst(packet), record->hop, open_flags(packet), list);
    record->peer = packet_src(packet);
    record->other = packet_dst(packet);
    record->begin_ns = open_clock(packet);
    record->flow_ns = clock_max(record->begin_ns, router->ports[port].free_ns);
    link->count++;
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

void recorder_source(struct router *router, const struct source *source, int status,
                     uint64_t done_ns)
{
    const uint8_t *packet = source->open + FRAME_HEADER_BYTES;
    uint64_t issue_ns = source->circuit.issue_ns;
    struct node_record record = record_of(RECORD_SOURCE, packet);

    record.status = (uint8_t)-status;
    record.port = source->out;
    record.peer = source->circuit.dst;
    record.hops = path_hops(router, source->out, record.peer, 1, record.flags, source_hops(source));
    record.begin_ns = record.flow_ns = record.end_ns = issue_ns;
    if (status == E_OK) {
        record.end_ns = done_ns;
        record.flow_ns = record.hops
                             ? clock_begin(&router->profile, done_ns, record.hops, record.bytes)
                             : done_ns;
    }
    recorder_write(router->recorder, &record);
}

void recorder_sink(struct router *router, unsigned port, const struct circuit_sink *sink,
                   uint64_t start_ns, uint64_t done_ns)
{
    const uint8_t *packet = circuit_open_at(router, port);
    unsigned place = identity_port(router, sink->port);
    struct node_record record = record_of(RECORD_SINK, packet);

    record.about = DECIDED_LINKS;
    if (start_ns == open_free(packet)) {
        record.about = DECIDED_SEND_PORT;
    } else if (place < CLOCK_PORTS_MAX && start_ns == router->receive_free_ns[place]) {
        record.about = DECIDED_RECEIVE_PORT;
    } else if (start_ns == sink->ready_ns) {
        record.about = DECIDED_RECEIVER;
    }
    record.port = (uint8_t)port;
    record.hop = record.hops = (uint16_t)packet_hops(packet);
    record.peer = packet_src(packet);
    record.begin_ns = sink->ready_ns;
    record.flow_ns = start_ns;
    record.end_ns = done_ns;
    recorder_write(router->recorder, &record);
}
