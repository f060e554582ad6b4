/*
 * host_fuzz.c - the host: the controller with its router, and what the tool makes of programs' text
 * and faults. The fuzzer is all nodes, the clock, the user and the debugger; on cube:2 or ring:4.
 *
 * The input's first byte says which network it is and how far the machine has come. An owner checks
 * that events come in an order that can be: it boots once, or again when all nodes were reset; only
 * what runs prints and ends; a job ends exactly once; and every phase ends in bounded time whatever
 * the nodes say or leave unsaid.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "controller/cables.h"
#include "controller/controller.h"
#include "controller/state.h"
#include "controller/waits.h"
#include "controller/words.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "fuzz/fuzz.h"
#include "fuzz/input.h"
#include "fuzz/neighbour.h"
#include "host/program/fault.h"
#include "host/program/findings.h"
#include "host/console/report.h"
#include "host/computer/target.h"
#include "host/console/tell.h"
#include "host/console/text_lines.h"
#include "network/network.h"
#include "node/sha256.h"
#include "router/channel.h"
#include "router/channel_state.h"
#include "tests/controller/fake_cache.h"
#include "wire/circuit.h"
#include "wire/load.h"
#include "wire/packet.h"
#include "wire/message.h"
#include "wire/plan.h"
#include "wire/record.h"

enum {
    NODES = 4,
    LINKS = 3,
    PHASES = 4, /* that an input can begin in */
    IMAGE_SENT = 200,
    IMAGE_BYTES = 300,
    BLOCK_BYTES = 32,
    SEGMENTS = 2, /* image, blocks */
    LIST_BYTES = LOAD_LIST_HEADER_BYTES + LOAD_PROGRAM_BYTES + SEGMENTS * LOAD_SEGMENT_BYTES,
    STEPS_MAX = 10000,
    EVENTS_MAX = 10000,
    TICK_US = 100 * 1000,
    ALL_ENDED_TICKS = 2000,
    FAULTS_MAX = 64,
    ROUTED_KINDS = PACKET_RECORDS + 1 - PACKET_ROUTED,
    PART_BYTES = 3000 /* of a plan: three packets */
};

enum action {
    DO_PUMP,
    DO_RAW,
    DO_FRAME,
    DO_PACKET,
    DO_ANSWER,
    DO_READY,
    DO_RECEIPT,
    DO_LINKS,
    DO_HELLO,
    DO_TIME,
    DO_LOAD,
    DO_QUERY,
    DO_CANCEL,
    DO_DEATH,
    DO_CUT,
    DO_REACH,
    DO_COUNT
};

enum reader { READS, READS_LATER, READS_NOTHING, READERS };
enum job_state { JOB_NONE, JOB_LOADS, JOB_LOADED, JOB_RUNS };

static const struct lie truth;

/* What the owner of the controller knows by its events. */
static struct owner {
    bool booting, broken, cancelled;
    enum job_state job;
    unsigned receipts, ended, right;
    bool receipted[NODES], running[NODES], dead[NODES], halted[NODES];
    unsigned report_count[NODES];
    struct text_lines text[NODES];
    uint32_t unread[NODES]; /* bytes of lines */
    struct report_table reports;
    uint32_t jobs;
    uint32_t frames; /* that links have carried: looked at, so that bytes that are not there show */
} owner;

static struct network network;
static struct controller controller;
static void *memory;
static struct plan_cache *cache;
static struct pipe pipes[LINKS];
static struct link *links[LINKS];
static struct neighbour neighbours[LINKS];
static uint64_t now_us;
static uint16_t incarnation;
static enum reader reader;
static struct teller teller;

/* A job's memory, which must stay until the controller reads it no more. */
static struct job {
    uint8_t *blocks, *image;
    uint8_t (*digests)[DIGEST_BYTES]; /* of the blocks; behind them, of the image and of the list */
    uint8_t list[LIST_BYTES];
    struct load_list open;
    const uint8_t *strings[SEGMENTS];
    const uint8_t (*segment_digests[SEGMENTS])[DIGEST_BYTES];
    struct download_plan plan;
} job;

json_t *__real_json_pack(const char *format, ...);
json_t *__wrap_json_pack(const char *format, ...);

/* Whatever nodes say, what the host makes of it is valid JSON. */
json_t *__wrap_json_pack(const char *format, ...)
{
    va_list arguments;
    json_error_t error;

    va_start(arguments, format);
    json_t *made = json_vpack_ex(&error, 0, format, arguments);
    va_end(arguments);
    CHECK(made);
    return made;
}

/* The owner ------------------------------------------------------------------------------------ */

static void on_emit(void *context, json_t *event)
{
    (void)context;
    CHECK(json_string_length(json_object_get(event, "event")) > 0);
    CHECK(json_string_length(json_object_get(event, "text")) > 0);
    json_decref(event);
}

/* The reader takes lines at once, later, or never. */
static void on_print(void *context, const struct line *line)
{
    (void)context;
    CHECK(line->rank < NODES && line->bytes <= TEXT_LINE_MAX);
    CHECK(line->bytes == 0 || line->text[line->bytes - 1] != '\n');
    owner.unread[line->rank] += line->receipt.bytes;
}

static void tell_taken(uint32_t rank)
{
    uint32_t taken;

    if (text_lines_due(&owner.text[rank], &taken)) {
        controller_taken(&controller, rank, taken);
    }
}

static void read_lines(uint32_t rank)
{
    text_lines_written(&owner.text[rank], owner.unread[rank]);
    owner.unread[rank] = 0;
    if (owner.running[rank]) {
        tell_taken(rank);
    }
}

static void take_text(const struct controller_event *event)
{
    struct text_lines *lines = &owner.text[event->rank];
    uint32_t before = lines->received;

    CHECK(owner.running[event->rank] && event->bytes > 0);
    text_lines_add(lines, &teller, (uint8_t)event->status, event->body, event->bytes);
    CHECK(lines->received == before + event->bytes); /* it is within the window */
    if (reader == READS) {
        read_lines(event->rank);
    }
    tell_taken(event->rank);
}

static void tell_words(const char *text)
{
    CHECK(text[0]);
    tell_trouble(&teller, tell_node_members("words", 0), "%s", text);
}

static void take_fault(const struct controller_event *event)
{
    struct image image = {.base = target_board()->image_base,
                          .bytes = IMAGE_SENT,
                          .bss_end = target_board()->image_base + IMAGE_BYTES,
                          .entry = target_board()->image_base,
                          .code_end = target_board()->image_base + PROTECTED_PAGE_BYTES,
                          .constants_end = target_board()->image_base + 2 * PROTECTED_PAGE_BYTES,
                          .data = job.image};
    struct fault_code code = {.image = &image,
                              .program = job.image ? "program" : NULL,
                              .kernel = "kernel",
                              .network = &network};
    struct findings findings = {.teller = &teller};
    char text[FAULT_TEXT_MAX];
    json_t *members = fault_describe(&code, event->rank, &event->fault, text);

    tell_trouble(&teller, members, "%s", text);
    findings_add(&findings, &code, event->rank, &event->fault, 0);
    findings_tell(&findings);
    CHECK(fault_status(&code, &event->fault) > 0);
    for (unsigned i = 0; i < FAULT_REGISTER_LINES; i++) {
        fault_registers_text(&code, event->rank, &event->fault, i, text);
        tell_words(text);
    }
}

static void tell_cables(void)
{
    struct cable_fault faults[FAULTS_MAX];
    unsigned count = cables_find(&controller, faults, FAULTS_MAX);
    char text[WORDS_MAX];

    for (unsigned i = 0; i < count && i < FAULTS_MAX; i++) {
        words_of_cable(&faults[i], text);
        tell_words(text);
    }
}

static void tell_waits(void)
{
    uint32_t ranks[NODES], length = waits_circle(&controller, ranks, NODES);
    char text[WORDS_MAX];

    CHECK(length <= NODES);
    for (uint32_t rank = 0; rank < NODES; rank++) {
        CHECK(waits_for(&controller, rank) < NODES && waits_missing(&controller, rank) < NODES);
        words_of_state(&controller, rank, text);
        tell_words(text);
        words_of_requests(&controller, rank, text);
    }
    for (uint32_t i = 0; i < length; i++) {
        CHECK(waits_for(&controller, ranks[i]) == ranks[(i + 1) % length]);
    }
}

static void end_program(uint32_t rank, uint32_t done)
{
    CHECK(owner.job == JOB_RUNS && owner.running[rank]);
    owner.running[rank] = false;
    owner.ended++;
    CHECK(done == owner.ended);
}

static void end_job(void)
{
    CHECK(owner.job != JOB_NONE);
    owner.job = JOB_NONE;
    memset(owner.running, 0, sizeof owner.running);
}

static void run(void)
{
    owner.job = JOB_RUNS;
    owner.ended = 0;
    for (uint32_t rank = 0; rank < NODES; rank++) {
        owner.running[rank] = true;
        owner.unread[rank] = owner.report_count[rank] = 0;
        text_lines_begin(&owner.text[rank], owner.jobs, rank, rank);
    }
    controller_run(&controller, now_us);
}

static void take_loaded(const struct controller_event *event)
{
    CHECK(owner.job == JOB_LOADS && owner.receipts == NODES);
    CHECK(event->model_ns >= event->base_ns);
    owner.job = JOB_LOADED;
    if (owner.cancelled) {
        controller_stop(&controller, now_us);
        owner.job = JOB_NONE;
    } else {
        run();
    }
}

static void take_receipt(const struct controller_event *event)
{
    CHECK(owner.job == JOB_LOADS && !owner.receipted[event->rank]);
    owner.receipted[event->rank] = true;
    CHECK(++owner.receipts == event->done && event->done <= NODES);
}

static void take_broken(const struct controller_event *event)
{
    CHECK(owner.booting == (event->phase == PHASE_BOOT));
    CHECK((owner.job != JOB_NONE) == (event->phase == PHASE_DOWNLOAD || event->phase == PHASE_RUN));
    owner.booting = false;
    owner.broken = true;
    if (owner.job != JOB_NONE) {
        end_job();
    }
}

static void attach(unsigned i)
{
    pipe_init(&pipes[i]);
    links[i] = &pipes[i].link;
}

/* All nodes were reset. */
static void take_restart(void)
{
    for (uint32_t rank = 0; rank < NODES; rank++) {
        CHECK(!owner.dead[rank]);
    }
    if (owner.job != JOB_NONE) {
        end_job();
    }
    for (unsigned i = 0; i < LINKS; i++) {
        attach(i);
    }
    owner.booting = true;
    owner.broken = false;
    owner.right = 0;
    controller_restart(&controller, ++incarnation, now_us);
}

static void take_words(const struct controller_event *event)
{
    char text[WORDS_MAX];

    if (words_of_event(&controller, event, text)) {
        tell_words(text);
    }
}

/* The next ports of a node, all of which are there. */
static void take_traffic(const struct controller_event *event)
{
    const struct traffic_header *traffic = &event->traffic;

    CHECK(traffic->port_count <= network.ports + 1 &&
          traffic->first + traffic->told <= traffic->port_count);
    for (unsigned i = 0; i < traffic->told; i++) {
        owner.frames += traffic_port_at(event->body, i).frames;
    }
}

static void take_event(const struct controller_event *event)
{
    CHECK(event->rank < NODES || event->kind == EVENT_BROKEN || event->kind == EVENT_RESTART);
    take_words(event);
    switch (event->kind) {
    case EVENT_RECORDS: CHECK(event->bytes > 0 && event->bytes % RECORD_BYTES == 0); break;
    case EVENT_RECORDS_END: CHECK(event->done > 0 && event->done <= NODES); break;
    case EVENT_BOOT_PROGRESS:
        CHECK(owner.booting && event->done <= NODES);
        owner.right = event->done;
        break;
    case EVENT_BOOTED:
        CHECK(owner.booting && owner.right == NODES);
        owner.booting = false;
        break;
    case EVENT_BOOT_FAILED:
        CHECK(owner.booting);
        tell_cables();
        break;
    case EVENT_RECEIPT: take_receipt(event); break;
    case EVENT_LOADED: take_loaded(event); break;
    case EVENT_LOAD_WAITS:
    case EVENT_LOAD_FAILED: CHECK(owner.job == JOB_LOADS); break;
    case EVENT_TEXT: take_text(event); break;
    case EVENT_REPORT:
        CHECK(owner.running[event->rank]);
        report_add(&owner.reports, owner.report_count[event->rank]++, &event->report);
        break;
    case EVENT_EXIT: end_program(event->rank, event->done); break;
    case EVENT_FAULT:
        take_fault(event);
        end_program(event->rank, event->done);
        break;
    case EVENT_KERNEL_FAULT: take_fault(event); break;
    case EVENT_DISAGREE: CHECK(event->status != E_MISMATCH || event->peer < NODES); break;
    case EVENT_NO_PLAN: CHECK(strlen((const char *)event->body) == event->bytes); break;
    case EVENT_ENDED:
        CHECK(owner.job == JOB_RUNS && (event->reason != ENDED_BY_ITSELF || owner.ended == NODES));
        tell_waits();
        end_job();
        break;
    case EVENT_TRAFFIC: take_traffic(event); break;
    case EVENT_ANSWERED: tell_waits(); break;
    case EVENT_NODE_DIED: CHECK(owner.dead[event->rank]); break;
    case EVENT_BROKEN: take_broken(event); break;
    case EVENT_RESTART: take_restart(); break;
    default: break;
    }
}

static bool take_events(void)
{
    const struct controller_event *event;
    unsigned count = 0;

    while ((event = controller_event(&controller))) {
        take_event(event);
        CHECK(++count < EVENTS_MAX);
    }
    return count > 0;
}

/* Until all is quiet: in bounded steps, and then the deadline lies ahead. */
static void pump(void)
{
    unsigned steps = 0;
    bool more = true;

    take_events();
    while (more) {
        more = controller_step(&controller, now_us);
        more |= take_events();
        CHECK(++steps < STEPS_MAX);
    }
    CHECK(controller_deadline(&controller) > now_us);
}

/* Time passes, with a tick every 100 ms, and the controller is woken when it wants to be. */
static void pass(uint64_t us)
{
    uint64_t end_us = now_us + us;
    bool halted = false;

    for (uint32_t rank = 0; rank < NODES; rank++) {
        halted |= owner.halted[rank] && !owner.dead[rank];
    }
    while (now_us < end_us) {
        uint64_t tick_us = (now_us / TICK_US + 1) * TICK_US;
        uint64_t next_us = controller_deadline(&controller);

        next_us = next_us < tick_us ? next_us : tick_us;
        now_us = next_us < end_us ? next_us : end_us;
        if (now_us == tick_us && halted) {
            controller_forgive(&controller, now_us);
        } else if (now_us == tick_us) {
            controller_pass(&controller, TICK_US, now_us);
        }
        pump();
    }
}

/* Jobs ----------------------------------------------------------------------------------------- */

static void free_job(void)
{
    free(job.blocks);
    free(job.image);
    free(job.digests);
    job = (struct job){0};
}

static void make_list(void)
{
    uint32_t base = target_board()->image_base, top = base + 2 * PROTECTED_PAGE_BYTES;
    struct load_program program = {.count = NODES,
                                   .entry = base,
                                   .bss_end = base + IMAGE_BYTES,
                                   .code_end = base,
                                   .constants_end = base,
                                   .data_start = base + PROTECTED_PAGE_BYTES,
                                   .data_end = top,
                                   .top = top};
    struct load_segment image = {.count = NODES, .address = base, .bytes = IMAGE_SENT};
    struct load_segment block = {.count = NODES,
                                 .address = program.data_start,
                                 .bytes = BLOCK_BYTES,
                                 .step = BLOCK_BYTES,
                                 .flags = LOAD_BLOCK};

    load_list_pack(job.list, NODES, 1, SEGMENTS);
    load_program_pack(job.list, 0, &program);
    load_segment_pack(job.list, 0, &image);
    load_segment_pack(job.list, 1, &block);
    CHECK(load_list_open(&job.open, job.list, LIST_BYTES));
    sha256_of(job.list, LIST_BYTES, job.digests[NODES + 1]);
}

static void make_job(enum strategy strategy)
{
    struct download_costs costs = {.beta_ns = 75000,
                                   .beta_host_ns = 112500,
                                   .hop_ns = 10425,
                                   .tau_ns = 425,
                                   .list = &job.open};
    char error[DOWNLOAD_ERROR_MAX];

    job.blocks = calloc(NODES, BLOCK_BYTES);
    job.image = malloc(IMAGE_SENT);
    job.digests = calloc(NODES + 2, sizeof *job.digests);
    CHECK(job.blocks && job.image && job.digests);
    make_list();
    CHECK(download_make_plan(&job.plan, strategy, DOWNLOAD_X_BEST, &network, &costs, error));
    for (unsigned i = 0; i < IMAGE_SENT; i++) {
        job.image[i] = i & 1 ? 0x47 : 0x80; /* BLX r0, whatever address is returned to */
    }
    for (uint32_t rank = 0; rank < NODES; rank++) {
        uint8_t *block = job.blocks + rank * BLOCK_BYTES;
        block_pack(block, &(struct block_header){rank, NODES, 1, 0});
        sha256_of(block, BLOCK_BYTES, job.digests[rank]);
    }
    sha256_of(job.image, IMAGE_SENT, job.digests[NODES]);
    job.strings[0] = job.image;
    job.strings[1] = job.blocks;
    job.segment_digests[0] = (const uint8_t(*)[DIGEST_BYTES])job.digests + NODES;
    job.segment_digests[1] = (const uint8_t(*)[DIGEST_BYTES])job.digests;
}

static void load(uint8_t strategy)
{
    bool possible = owner.job == JOB_NONE && !owner.booting && !controller.broken;
    struct controller_load load;

    if (job.blocks && (owner.job != JOB_NONE || !controller_quiet(&controller))) {
        return;
    }
    controller_fetch_stop(&controller);
    free_job();
    make_job(strategy == STRATEGY_PIPELINED ? STRATEGY_PIPELINED : strategy % STRATEGY_PIPELINED);
    load = (struct controller_load){.list = job.list,
                                    .list_bytes = LIST_BYTES,
                                    .list_digest = job.digests[NODES + 1],
                                    .strings = job.strings,
                                    .digests = job.segment_digests,
                                    .messages = job.plan.messages,
                                    .count = job.plan.count};
    CHECK((controller_load(&controller, &load, now_us) == CONTROLLER_OK) == possible);
    if (!possible) {
        free_job();
        return;
    }
    owner.job = JOB_LOADS;
    owner.jobs++;
    owner.cancelled = false;
    owner.receipts = 0;
    memset(owner.receipted, 0, sizeof owner.receipted);
    pump();
}

/* What a user may do to a job. */
static void cancel(bool times_out)
{
    if (owner.job == JOB_LOADS) {
        owner.cancelled = true;
    }
    if (times_out && !owner.booting) {
        controller_time_out(&controller, now_us);
    } else {
        controller_stop(&controller, now_us);
    }
    pump();
}

/* Nodes ---------------------------------------------------------------------------------------- */

static struct neighbour *read_neighbour(struct input *input)
{
    return &neighbours[input_u8(input) % LINKS];
}

/* The host link over which a node's packets come. */
static struct neighbour *way_of(uint32_t node)
{
    int link = network_host_link_of(&network, node);

    return &neighbours[link >= 0 ? link : LINKS - 1];
}

static void greet(unsigned link)
{
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .role = ROLE_NODE,
                          .port = network.ports,
                          .id = network_host_node(&network, link),
                          .network = network.kind,
                          .dims = network.dims,
                          .heard = HEARD_ALL,
                          .data_window = DATA_WINDOW,
                          .control_window = CONTROL_WINDOW,
                          .peer_id = ID_UNKNOWN,
                          .dead_after_ms = DEAD_AFTER_MS};

    if (network.kind == NETWORK_RING) {
        hello.last[0] = NODES - 1;
    }
    neighbour_hello(&neighbours[link], &hello);
}

static void tell_links(uint32_t node)
{
    bool host_link = network_host_link_of(&network, node) >= 0;
    unsigned ports = network.ports + host_link;
    struct links_body told = {.port_count = (uint8_t)ports, .complete = true};
    uint8_t body[LINKS_BYTES_MAX];

    for (unsigned p = 0; p < network.ports; p++) {
        told.ports[p] = (struct links_port){LINK_UP, (uint8_t)network_far_port(&network, p),
                                            network_neighbour(&network, node, p)};
    }
    if (host_link) {
        told.ports[network.ports] =
            (struct links_port){LINK_UP, (uint8_t)network_host_link_of(&network, node), ID_HOST};
    }
    neighbour_packet(way_of(node), PACKET_LINKS, node, ID_HOST, body, links_pack(body, &told),
                     &truth);
}

static void tell_ready(unsigned index)
{
    struct cts_body ready = {.name = controller.name + index % NODES, .match = 77};
    uint8_t body[CTS_BYTES];
    uint32_t root = job.plan.messages[index % NODES].root;

    cts_pack(body, &ready);
    neighbour_packet(way_of(root), PACKET_CTS, root, ID_HOST, body, sizeof body, &truth);
}

/* Of all that a node holds, or as a node says that does not. */
static void tell_receipt(uint32_t node, int32_t status, uint8_t what)
{
    uint8_t digests[SEGMENTS * DIGEST_BYTES] = {0}, body[RECEIPT_BYTES + sizeof digests];
    struct receipt_body receipt = {.status = status,
                                   .held_bytes = IMAGE_SENT + BLOCK_BYTES,
                                   .model_ns = 1000000,
                                   .first = what >> 4 & 3,
                                   .count = what & 8 ? 1 : SEGMENTS,
                                   .last = !(what & 4),
                                   .digests = digests};

    if (job.digests) {
        memcpy(digests, job.digests[NODES], DIGEST_BYTES);
        memcpy(digests + DIGEST_BYTES, job.digests[node], DIGEST_BYTES);
        digests[0] ^= what & 1;
        digests[DIGEST_BYTES] ^= what >> 1 & 1;
    }
    neighbour_packet(way_of(node), PACKET_RECEIPT, node, ID_HOST, body,
                     receipt_pack(body, &receipt), &truth);
}

static void answer(struct neighbour *neighbour, bool accept, int32_t reason)
{
    uint8_t body[ANSWER_BYTES];

    if (accept) {
        accept_pack(body, &(struct accept_body){.done_ns = 5000000});
    } else {
        refuse_pack(body, &(struct refuse_body){reason});
    }
    neighbour_packet(neighbour, accept ? PACKET_ACCEPT : PACKET_REFUSE, 0, 0, body, sizeof body,
                     &truth);
}

/* Does what true nodes do up to a phase of the four. */
static void reach(unsigned phase)
{
    if (owner.booting && phase > 0) {
        for (uint32_t node = 0; node < NODES; node++) {
            if (node < LINKS) {
                greet(node);
            }
            pump();
            tell_links(node);
            pump();
        }
    }
    if (owner.job == JOB_NONE && phase > 1) {
        load(0);
    }
    if (owner.job != JOB_LOADS || phase < 3) {
        return;
    }
    for (unsigned i = 0; i < job.plan.count; i++) {
        tell_ready(i);
        pump();
        answer(way_of(job.plan.messages[i].root), true, 0);
        pump();
    }
    for (uint32_t node = 0; node < NODES; node++) {
        tell_receipt(node, 0, 0);
    }
    pump();
}

static struct lie read_lie(struct input *input)
{
    uint8_t what = input_u8(input);

    return lie_read(input, what < LIES_FIRST    ? 0
                           : what == LIES_FIRST ? LIE_FOR_OTHER
                                                : what & 0x1b);
}

static void push_frame(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t type = input_u8(input), flags = input_u8(input);
    struct lie lie = read_lie(input);
    uint32_t bytes;
    const uint8_t *payload = input_bytes(input, input_u8(input), &bytes);

    neighbour_frame(neighbour, type % 8, flags, payload, bytes, &lie);
}

/* A program's fault: its registers and the words of its stack lie in stack or code, as a byte of
 * the input says of each. */
static void push_fault(struct input *input, struct neighbour *neighbour, uint8_t node)
{
    uint32_t start = target_board()->stack_base + 4 * input_u8(input), bytes;
    const uint8_t *words = input_bytes(input, 16 + input_u8(input) % 200, &bytes);
    uint32_t stack[200];
    struct fault_body fault = {
        .kind = input_u8(input) % 8, .line = start, .tail = (const uint8_t *)stack};
    uint8_t body[FAULT_BYTES + sizeof stack];

    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t word =
            words[i] < 0x40 ? start + 4u * words[i] : target_board()->image_base + words[i];
        if (i < FAULT_REGISTERS) {
            fault.registers[i] = word;
        } else {
            stack[i - FAULT_REGISTERS] = word;
        }
    }
    fault.tail_bytes = bytes < FAULT_REGISTERS ? 0 : 4 * (bytes - FAULT_REGISTERS);
    neighbour_packet(neighbour, PACKET_FAULT, node & 3, ID_HOST, body, fault_pack(body, &fault),
                     &truth);
}

/* Any packet of a node, its body from the input. */
static void push_packet(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t kind = input_u8(input), node = input_u8(input);
    if (kind >= 0xc0 && node & 0x40) {
        push_fault(input, neighbour, node);
        return;
    }
    struct lie lie = read_lie(input);
    uint32_t bytes, wanted = input_u8(input), dst = ID_HOST;
    const uint8_t *body = input_bytes(input, wanted, &bytes);

    if (node & 0x80) {
        dst = input_u32(input);
    }
    if (kind == 0xff) {
        kind = PACKET_TRAFFIC;
    } else if (kind < 0xc0) {
        kind = (uint8_t)(PACKET_ROUTED + kind % ROUTED_KINDS);
    }
    neighbour_packet(neighbour, kind, node & 7, dst, body, bytes, &lie);
}

static void push_hello(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t what = input_u8(input);
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .role = what & 1,
                          .port = network.ports,
                          .heard = what >> 1 & 3,
                          .data_window = DATA_WINDOW,
                          .control_window = CONTROL_WINDOW,
                          .peer_id = ID_UNKNOWN,
                          .dead_after_ms = DEAD_AFTER_MS};

    hello.id = input_u8(input);
    if (what & 8) {
        hello.data_window = input_u32(input);
    }
    if (what & 16) {
        hello.control_window = input_u16(input);
    }
    neighbour_hello(neighbour, &hello);
}

static void push_raw(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint32_t bytes;
    const uint8_t *raw = input_bytes(input, input_u8(input), &bytes);

    pipe_push(neighbour->pipe, raw, bytes);
}

/* Its process has ended. */
static void kill_node(uint32_t node)
{
    if (!owner.dead[node]) {
        owner.dead[node] = true;
        controller_node_died(&controller, node, now_us);
        pump();
    }
}

/* Through a debugger: its links begin anew, and when all were reset, so does the machine. */
static void reset_node(uint32_t node)
{
    int link = network_host_link_of(&network, node);

    if (link >= 0) {
        neighbours[link].incarnation++;
    }
    controller_was_reset(&controller, node, now_us);
    pump();
}

static void halt_node(uint32_t node, bool halted)
{
    owner.halted[node] = halted;
    controller_halted(&controller, node, halted);
    pump();
}

/* What happens to a node from outside. */
static void befall(uint8_t what)
{
    switch (what >> 6) {
    case 0: kill_node(what % NODES); break;
    case 1: halt_node(what % NODES, what & 32); break;
    default: reset_node(what % NODES); break;
    }
}

static void operate(struct input *input)
{
    uint8_t a;
    int32_t status;

    switch (input_u8(input) % DO_COUNT) {
    case DO_PUMP: pump(); break;
    case DO_RAW: push_raw(input); break;
    case DO_FRAME: push_frame(input); break;
    case DO_PACKET: push_packet(input); break;
    case DO_ANSWER:
        a = input_u8(input);
        answer(&neighbours[a % LINKS], a & 0x80, (int8_t)input_u8(input));
        break;
    case DO_READY: tell_ready(input_u8(input)); break;
    case DO_RECEIPT:
        a = input_u8(input);
        status = a & 0x80 ? (int8_t)input_u8(input) : 0;
        tell_receipt(a % NODES, status, a & 0x40 ? input_u8(input) : 0);
        break;
    case DO_LINKS: tell_links(input_u8(input) % NODES); break;
    case DO_HELLO: push_hello(input); break;
    case DO_TIME:
        pass(input_u16(input) * UINT64_C(1000));
        for (uint32_t rank = 0; rank < NODES && reader == READS_LATER; rank++) {
            read_lines(rank);
        }
        pump();
        break;
    case DO_LOAD: load(input_u8(input)); break;
    case DO_QUERY:
        if (input->left & 1) {
            controller_ask_traffic(&controller, now_us);
        } else {
            controller_ask(&controller, now_us);
        }
        (void)controller_fetch(&controller, now_us); /* refused, but between two runs */
        pump();
        break;
    case DO_CANCEL: cancel(input->left & 1); break;
    case DO_DEATH: befall(input_u8(input)); break;
    case DO_CUT: pipes[input_u8(input) % LINKS].link.carrier = CARRIER_LOST; break;
    default: reach(input_u8(input) % PHASES); break;
    }
}

static void begin(bool ring)
{
    static const uint32_t size[] = {NODES};
    struct controller_config config = {.links = links,
                                       .network = &network,
                                       .profile = {65000, 10000, 425, 1000, 0, 1},
                                       .incarnation = incarnation = 1,
                                       .patience_us = DEAD_AFTER_MS * UINT64_C(1000)};

    CHECK(ring ? network_make(&network, NETWORK_RING, size, 1)
               : network_make(&network, NETWORK_CUBE, NULL, 2));
    CHECK(network.nodes == NODES && network_host_links(&network) == LINKS);
    owner = (struct owner){.booting = true};
    teller = (struct teller){.emit = on_emit, .print = on_print, .troubles = json_array()};
    now_us = TICK_US;
    memory = malloc(controller_memory_bytes(&network));
    config.memory = memory;
    /* On a ring this one has no plans. */
    config.cache = cache = fake_cache_make();
    cache->part_bytes = PART_BYTES;
    cache->status = ring ? E_NETWORK : E_OK;
    for (unsigned i = 0; i < LINKS; i++) {
        attach(i);
    }
    controller_init(&controller, &config, now_us);
    for (unsigned i = 0; i < LINKS; i++) {
        neighbours[i] = (struct neighbour){
            .pipe = &pipes[i], .channel = &controller.router.ports[i].channel, .incarnation = 1};
    }
    pump();
}

static void end(void)
{
    for (uint32_t rank = 0; rank < NODES; rank++) {
        text_lines_begin(&owner.text[rank], 0, rank, rank);
    }
    json_decref(report_to_json(&owner.reports));
    report_free(&owner.reports);
    json_decref(teller.troubles);
    free_job();
    free(memory);
    free(cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    uint8_t setup = input_u8(&input);

    reader = setup / PHASES % READERS;
    begin(setup / (PHASES * READERS) % 2);
    reach(setup % PHASES);
    while (input.left > 0) {
        operate(&input);
    }
    pump();
    for (uint32_t rank = 0; rank < NODES; rank++) {
        halt_node(rank, false);
    }
    if (owner.job == JOB_RUNS) { /* programs may run for ever */
        cancel(setup & 0x80);
    }
    for (unsigned s = 0; s < ALL_ENDED_TICKS && (owner.booting || owner.job != JOB_NONE); s++) {
        pass(TICK_US);
    }
    CHECK(!owner.booting && owner.job == JOB_NONE);
    CHECK(controller.phase == PHASE_READY);
    end();
    return 0;
}
