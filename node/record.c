/*
 * record.c - what the node notes of its program's work (wire/record.h), and how the host gets it.
 *
 *     OFF --START with records--> ON --STOP, RECORDS_ASK--> KEPT --START--> OFF or ON
 *
 * The router, the engine and this room write as long as router.recorder is not NULL. From ON to
 * KEPT what is open is noted, with what it waits for. KEPT, nothing is written any more: what is
 * asked for stays where it is. A question is credit for so many
 * records, which go as packets as slots come free; asked again, the node begins again where the
 * question says.
 *
 * Invariants
 * - Nothing that is noted or asked changes a clock, a turn or what goes over a link in a run.
 * - Nobody takes records for the program's progress: one that only sets marks moves nothing.
 */
#include <string.h>

#include "collectives/engine_record.h"
#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"
#include "router/recorder.h"
#include "router/router.h"

void record_begin(struct node *node, uint32_t records)
{
    node->recording = (struct recording){
        .recorder = recorder_begin(node->config.records, node->config.records_bytes, records,
                                   node->load.generation, &node->router)};
}

void node_record(struct node *node, uint32_t records)
{
    record_begin(node, records);
    node->recording.always = true;
}

void record_start(struct node *node, uint32_t records)
{
    if (!node->recording.always) {
        record_begin(node, records);
    }
}

void record_load(struct node *node)
{
    if (node->recording.always && !node->router.recorder && node->recording.recorder) {
        recorder_open(node->recording.recorder, &node->router);
    }
}

const struct recorder *node_recorder(const struct node *node)
{
    return node->recording.recorder;
}

/* One that is about another program is not answered: its host has gone on. */
void record_asked(struct node *node, const struct notice *notice)
{
    struct recording *recording = &node->recording;
    struct records_ask_body ask;

    if (!records_ask_unpack(notice->body, notice->bytes, &ask) ||
        ask.generation != node->load.generation) {
        return;
    }
    node_close_records(node);
    recording->asked = true;
    recording->next = ask.from;
    recording->left = ask.count;
}

/* The next records that are wanted, as many as one packet holds; false: there was no slot. */
static bool send_some(struct node *node)
{
    struct recording *recording = &node->recording;
    const struct recorder *recorder = recording->recorder;
    struct records_body records = {.generation = node->load.generation};
    uint8_t body[PACKET_BODY_MAX];

    if (recorder) {
        uint64_t oldest = recorder_oldest(recorder);
        records.written = recorder->written;
        records.first = recording->next > oldest ? recording->next : oldest;
        records.first = records.first < records.written ? records.first : records.written;
        uint64_t there = records.written - records.first;
        records.count = recording->left < RECORDS_PACKET_MAX ? recording->left : RECORDS_PACKET_MAX;
        records.count = records.count < there ? records.count : (uint32_t)there;
    }
    uint8_t *at = body;
    at += records_pack(body, &(struct records_body){.first = records.first,
                                                    .written = records.written,
                                                    .generation = records.generation});
    for (uint32_t i = 0; i < records.count; i++, at += RECORD_BYTES) {
        record_pack(at, recorder_at(recorder, records.first + i));
    }
    if (router_send(&node->router, PACKET_RECORDS, ID_HOST, body, (uint32_t)(at - body)) != E_OK) {
        return false;
    }
    recording->next = records.first + records.count;
    recording->left -= records.count;
    recording->asked = recording->left > 0 && recording->next < records.written;
    return true;
}

/* A slot that comes free does so in a step, which comes here, so it needs no timer. */
void record_pump(struct node *node)
{
    while (node->recording.asked && send_some(node)) {
        ;
    }
}

/* A message's other end, as the program knows it. */
static uint32_t rank_of(const struct node *node, int32_t peer)
{
    return peer < 0 ? (uint32_t)peer : map_rank(node, (uint32_t)peer);
}

void record_message(struct node *node, const struct request *request)
{
    bool sent = request->kind == REQUEST_SEND;
    struct node_record record = {.kind = RECORD_MESSAGE,
                                 .about = sent ? RECORD_SENT : RECORD_RECEIVED,
                                 .status = (uint8_t)-request->status,
                                 .peer = rank_of(node, sent ? request->peer : request->result_peer),
                                 .begin_ns = request->issue_ns,
                                 .flow_ns = request->done_ns,
                                 .end_ns = request->done_ns,
                                 .bytes = sent ? request->bytes : request->result_bytes,
                                 .tag = (uint32_t)(sent ? request->tag : request->result_tag)};

    recorder_write(node->router.recorder, &record);
}

void record_activity(struct node *node, enum record_activity activity, uint64_t begin_ns)
{
    if (node->router.recorder && node->clock_ns > begin_ns) {
        recorder_write(node->router.recorder, &(struct node_record){.kind = RECORD_PROGRAM,
                                                                    .about = (uint8_t)activity,
                                                                    .begin_ns = begin_ns,
                                                                    .flow_ns = node->clock_ns,
                                                                    .end_ns = node->clock_ns});
    }
}

/* A name that is longer than a record holds is cut. */
int record_mark(struct node *node, uint32_t address, uint32_t bytes)
{
    struct node_record record = {.kind = RECORD_MARK, .begin_ns = node->clock_ns};
    uint32_t kept = bytes < ECUBE_NAME_MAX - 1 ? bytes : ECUBE_NAME_MAX - 1;
    const uint8_t *name = program_memory(node, address, kept);

    if (!name) {
        return E_FAULT;
    }
    memcpy(record.name, name, kept);
    if (node->router.recorder) {
        recorder_write(node->router.recorder, &record);
    }
    return E_OK;
}

/* What is open ------------------------------------------------------------------------------- */

static enum record_wait wait_of_send(const struct node *node, const struct request *request)
{
    switch (request->state) {
    case STATE_STORED: return WAITED_RECEIVER;
    case STATE_MOVING: return WAITED_BYTES;
    case STATE_ASKED:
    case STATE_OPENING: return WAITED_ANSWER;
    default: break; /* it is to be sent, or to be sent again after a refusal */
    }
    if (request->again_us <= node->now_us) {
        return WAITED_PORT;
    }
    return request->early ? WAITED_TURN : request->refusals ? WAITED_LINK : WAITED_RECEIVER;
}

static struct node_record open_message(const struct node *node, const struct request *request)
{
    bool sent = request->kind == REQUEST_SEND;
    struct state_body state = {0};

    report_message(request, &state);
    return (struct node_record){.kind = RECORD_MESSAGE,
                                .about = sent ? RECORD_SENT : RECORD_RECEIVED,
                                .waits =
                                    (uint8_t)(sent ? wait_of_send(node, request)
                                              : request->state == STATE_MOVING ? WAITED_BYTES
                                                                               : WAITED_SENDER),
                                .peer = rank_of(node, state.peer),
                                .begin_ns = request->issue_ns,
                                .bytes = state.bytes,
                                .tag = (uint32_t)state.tag};
}

/* One that waits behind the one under way, which the engine notes. */
static struct node_record open_collective(const struct node *node, const struct request *request)
{
    const struct ecube_abi_collective *call = &node->collective_arguments[request - node->requests];

    return (struct node_record){.kind = RECORD_COLLECTIVE,
                                .about = (uint8_t)call->operation,
                                .waits = WAITED_COLLECTIVE,
                                .begin_ns = request->issue_ns,
                                .other = call->root,
                                .bytes = call->block_bytes,
                                .detail = call->choice};
}

static struct node_record open_program(const struct node *node)
{
    struct state_body state = {0};

    report_wait(node, &state);
    return (struct node_record){.kind = RECORD_PROGRAM,
                                .about =
                                    state.wait == WAIT_NOTHING ? ACTIVITY_COMPUTES : ACTIVITY_WAITS,
                                .waits = state.wait == WAIT_NOTHING ? WAITED_END : WAITED_CALL,
                                .peer = rank_of(node, state.peer),
                                .begin_ns = node->clock_ns,
                                .bytes = state.bytes,
                                .tag = (uint32_t)state.tag,
                                .detail = state.wait};
}

/* The oldest requests first. */
static void write_requests(struct node *node)
{
    for (unsigned i = 0; i < node->request_count; i++) {
        const struct request *request = request_at(node, i);
        bool collective = request->kind == REQUEST_COLLECTIVE;
        if (request->state == STATE_DONE || (collective && request->state == STATE_MOVING)) {
            continue;
        }
        struct node_record record =
            collective ? open_collective(node, request) : open_message(node, request);
        recorder_write(node->router.recorder, &record);
    }
}

void node_close_records(struct node *node)
{
    if (!node->router.recorder) {
        return;
    }
    if (node->program == PROGRAM_RUNNING) {
        struct node_record record = open_program(node);
        recorder_write(node->router.recorder, &record);
        write_requests(node);
    }
    engine_record_open(&node->engine, &node->router);
    recorder_close(&node->router);
}

void record_dropped(struct node *node)
{
    for (unsigned i = 0; node->router.recorder && i < node->request_count; i++) {
        const struct request *request = request_at(node, i);
        if (request->state != STATE_DONE && request->kind != REQUEST_COLLECTIVE) {
            struct node_record record = open_message(node, request);
            record.waits = 0;
            record.status = (uint8_t)-E_CANCELLED;
            record.flow_ns = record.end_ns = node->clock_ns;
            recorder_write(node->router.recorder, &record);
        }
    }
}
