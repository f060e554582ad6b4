/*
 * host_fuzz.c - the host's side of a mesh: host/mesh*.c and the router below it, with the fuzzer
 * as all nodes of cube:2, as the clock and as the user.
 *
 * The input's first byte says how far the mesh has come. Every event must be a JSON object, a job
 * ends exactly once, and every phase ends in bounded time whatever the nodes say or leave unsaid.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "drivers/check.h"
#include "fuzz/fake_loop.h"
#include "fuzz/fuzz.h"
#include "fuzz/input.h"
#include "fuzz/neighbour.h"
#include "host/mesh.h"
#include "host/mesh_internal.h"
#include "network/network.h"
#include "node/sha256.h"
#include "router/channel.h"
#include "router/channel_state.h"
#include "wire/circuit.h"

enum { DIMS = 2, NODES = 4, LINKS = 3, TIMEOUT_S = 5, ALL_ENDED_S = 200 };

enum operation {
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
enum { RECEIPTS_MAX = 64 };

static const struct lie truth;

static struct mesh mesh;
static struct pipe pipes[LINKS]; /* what has not been written to the socket yet */
static struct neighbour neighbours[LINKS];
static unsigned boots, jobs_open;
static uv_loop_t loop;
static enum reader reader;
static struct line_receipt receipts[RECEIPTS_MAX];
static unsigned receipt_count;

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

static void on_emit(void *context, json_t *event)
{
    (void)context;
    CHECK(json_string_length(json_object_get(event, "event")) > 0);
    json_decref(event);
}

/* The reader takes lines at once, later, or never. */
static void on_print(void *context, const struct line *line)
{
    (void)context;
    CHECK(line->rank < NODES && line->bytes <= CONSOLE_LINE_MAX);
    CHECK(line->bytes == 0 || line->text[line->bytes - 1] != '\n');
    if (reader == READS)
        mesh_line_taken(&mesh, &line->receipt);
    else if (reader == READS_LATER && receipt_count < RECEIPTS_MAX)
        receipts[receipt_count++] = line->receipt;
}

static void read_lines(void)
{
    while (receipt_count > 0)
        mesh_line_taken(&mesh, &receipts[--receipt_count]);
}

static void on_booted(void *context, int status)
{
    (void)context;
    CHECK(status == 0 || status == STATUS_MESH || status == STATUS_TIMEOUT);
    CHECK(boots++ == 0);
}

static void on_ended(void *context, int status, json_t *result)
{
    (void)context, (void)status;
    CHECK(jobs_open == 1 && result);
    jobs_open = 0;
    json_decref(result);
}

static void on_query(void *context, struct mesh *asked)
{
    (void)context;
    json_decref(mesh_describe_nodes(asked));
}

/* Writes what waits to the sockets, reads what came, lets the host look. */
static void pump(void)
{
    uint8_t heard[4096];

    for (unsigned i = 0; i < LINKS; i++) {
        struct pipe *pipe = &pipes[i];
        ssize_t bytes = 0;
        if (pipe_waiting(pipe))
            bytes = send(fake_world.node_fds[i], pipe->in + pipe->in_first, pipe_waiting(pipe),
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        pipe->in_first += bytes > 0 ? (uint32_t)bytes : 0;
        if (bytes < 0)
            pipe->in_first = pipe->in_end;
    }
    host_links_pump(&mesh.host);
    for (unsigned i = 0; i < LINKS; i++)
        while (recv(fake_world.node_fds[i], heard, sizeof heard, MSG_DONTWAIT) > 0) {
        }
    host_links_pump(&mesh.host);
}

static struct neighbour *read_neighbour(struct input *input)
{
    return &neighbours[input_u8(input) % LINKS];
}

static void greet(unsigned link)
{
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .role = ROLE_NODE,
                          .port = DIMS,
                          .id = network_host_node(&mesh.options.network, link),
                          .network = NETWORK_CUBE,
                          .dims = DIMS,
                          .heard = HEARD_ALL,
                          .data_window = DATA_WINDOW,
                          .control_window = CONTROL_WINDOW,
                          .peer_id = ID_UNKNOWN,
                          .dead_after_ms = DEAD_AFTER_MS};

    neighbour_hello(&neighbours[link], &hello);
}

static void tell_links(uint32_t node)
{
    unsigned ports = machine_ports(&mesh.options.network, node);
    struct links_body links = {.port_count = (uint8_t)ports, .complete = true};
    uint8_t body[LINKS_BYTES_MAX];

    for (unsigned p = 0; p < ports; p++)
        links.ports[p] =
            (struct links_port){LINK_UP, (uint8_t)p, p == DIMS ? ID_HOST : node ^ 1u << p};
    neighbour_packet(&neighbours[node % LINKS], PACKET_LINKS, node, ID_HOST, body,
                     links_pack(body, &links), &truth);
}

static void load(uint8_t strategy)
{
    static const char *const arguments[] = {"one", "two"};
    struct mesh_job_request request = {.path = "program",
                                       .arguments = arguments,
                                       .argument_count = 2,
                                       .strategy = strategy % 4,
                                       .x = DOWNLOAD_X_BEST,
                                       .timeout_ms = TIMEOUT_S * 1000};
    struct message message;

    if (mesh_load(&mesh, &request, &message) == 0)
        CHECK(jobs_open++ == 0);
}

static uint32_t link_to(uint32_t node)
{
    return node == 0 ? 0 : node == 1 ? 1 : 2;
}

static void tell_ready(unsigned index)
{
    const struct mesh_job *job = &mesh.job;
    struct cts_body ready = {.name = mesh.job_number * 256 + index % NODES, .match = 77};
    uint8_t body[CTS_BYTES];
    uint32_t root = job->plan.messages[index % NODES].root;

    cts_pack(body, &ready);
    neighbour_packet(&neighbours[link_to(root)], PACKET_CTS, root, ID_HOST, body, sizeof body,
                     &truth);
}

static void tell_receipt(uint32_t node, int32_t status)
{
    const struct mesh_job *job = &mesh.job;
    struct receipt_body receipt = {.status = status, .model_ns = 1000000};
    uint8_t body[RECEIPT_BYTES];
    struct sha256 sha;

    if (mesh.job_held && job->blocks && job->image.data) {
        sha256_begin(&sha);
        sha256_add(&sha, job->blocks + (size_t)node * job->block_bytes, job->block_bytes);
        sha256_add(&sha, job->image.data, job->image.bytes);
        sha256_end(&sha, receipt.digest);
    }
    receipt_pack(body, &receipt);
    neighbour_packet(&neighbours[link_to(node)], PACKET_RECEIPT, node, ID_HOST, body, sizeof body,
                     &truth);
}

static void answer(unsigned link, bool accept, int32_t reason)
{
    uint8_t body[ANSWER_BYTES];

    if (accept)
        accept_pack(body, &(struct accept_body){5000000});
    else
        refuse_pack(body, &(struct refuse_body){reason});
    neighbour_packet(&neighbours[link], accept ? PACKET_ACCEPT : PACKET_REFUSE, 0, 0, body,
                     sizeof body, &truth);
}

/* Does what true nodes do up to a phase. */
static void reach(enum mesh_phase phase)
{
    if (mesh.phase == MESH_BOOT && phase > MESH_BOOT)
        for (uint32_t node = 0; node < NODES; node++) {
            if (node < LINKS)
                greet(node);
            pump();
            tell_links(node);
            pump();
        }
    if (mesh.phase == MESH_READY && phase > MESH_READY && !mesh.broken)
        load(0);
    if (mesh.phase != MESH_DOWNLOAD || phase < MESH_RUN)
        return;
    for (unsigned i = 0; i < mesh.job.plan.count; i++) {
        tell_ready(i);
        pump();
        answer(link_to(mesh.job.plan.messages[i].root), true, 0);
        pump();
    }
    for (uint32_t node = 0; node < NODES; node++)
        tell_receipt(node, 0);
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
    uint32_t start = target_memory.stack_base + 4 * input_u8(input), bytes;
    const uint8_t *words = input_bytes(input, 16 + input_u8(input) % 200, &bytes);
    uint32_t stack[200];
    struct fault_body fault = {
        .kind = input_u8(input) % 8, .line = start, .tail = (const uint8_t *)stack};
    uint8_t body[FAULT_BYTES + sizeof stack];

    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t word =
            words[i] < 0x40 ? start + 4u * words[i] : target_memory.image_base + words[i];
        if (i < FAULT_REGISTERS)
            fault.registers[i] = word;
        else
            stack[i - FAULT_REGISTERS] = word;
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

    if (node & 0x80)
        dst = input_u32(input);
    neighbour_packet(neighbour, kind < 0xc0 ? (uint8_t)(PACKET_ROUTED + kind % 26) : kind, node & 7,
                     dst, body, bytes, &lie);
}

static void push_hello(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t what = input_u8(input);
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .role = what & 1,
                          .port = DIMS,
                          .heard = what >> 1 & 3,
                          .data_window = DATA_WINDOW,
                          .control_window = CONTROL_WINDOW,
                          .peer_id = ID_UNKNOWN,
                          .dead_after_ms = DEAD_AFTER_MS};

    hello.id = input_u8(input);
    if (what & 8)
        hello.data_window = input_u32(input);
    if (what & 16)
        hello.control_window = input_u16(input);
    neighbour_hello(neighbour, &hello);
}

static void push_raw(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint32_t bytes;
    const uint8_t *raw = input_bytes(input, input_u8(input), &bytes);

    pipe_push(neighbour->pipe, raw, bytes);
}

static void kill_node(uint32_t node)
{
    if (mesh.nodes[node].dead)
        return;
    fake_world.died = 1u << node;
    launcher_reap(&mesh.launcher, mesh_node_died, &mesh);
}

/* Through a debugger: its links begin anew, and when all were reset, so does the mesh. */
static void reset_node(uint32_t node)
{
    bool booted = mesh.phase != MESH_BOOT;

    for (unsigned i = 0; i < LINKS; i++)
        neighbours[i].incarnation =
            (uint16_t)(neighbours[i].incarnation +
                       (network_host_node(&mesh.options.network, i) == node));
    mesh_was_reset(&mesh, node);
    if (booted && mesh.phase == MESH_BOOT)
        boots = 0;
}

static void operate(struct input *input)
{
    uint8_t a;

    switch (input_u8(input) % DO_COUNT) {
    case DO_PUMP: pump(); break;
    case DO_RAW: push_raw(input); break;
    case DO_FRAME: push_frame(input); break;
    case DO_PACKET: push_packet(input); break;
    case DO_ANSWER:
        a = input_u8(input);
        answer(a % LINKS, a & 0x80, (int8_t)input_u8(input));
        break;
    case DO_READY: tell_ready(input_u8(input)); break;
    case DO_RECEIPT:
        a = input_u8(input);
        tell_receipt(a % NODES, a & 0x80 ? (int8_t)input_u8(input) : 0);
        break;
    case DO_LINKS: tell_links(input_u8(input) % NODES); break;
    case DO_HELLO: push_hello(input); break;
    case DO_TIME:
        fake_world_pass(input_u16(input));
        read_lines();
        pump();
        break;
    case DO_LOAD: load(input_u8(input)); break;
    case DO_QUERY: mesh_query(&mesh, on_query, NULL); break;
    case DO_CANCEL: mesh_cancel(&mesh, STATUS_TIMEOUT); break;
    case DO_DEATH:
        a = input_u8(input);
        if (a & 0x80)
            reset_node(a % NODES);
        else
            kill_node(a % NODES);
        break;
    case DO_CUT: shutdown(fake_world.node_fds[input_u8(input) % LINKS], SHUT_RDWR); break;
    default: reach(input_u8(input) % MESH_PHASES); break;
    }
}

static void begin(uint32_t timeout_ms)
{
    struct mesh_options options = {.network_name = "cube:2",
                                   .profile = {65000, 10000, 425, 1000, 0},
                                   .timeout_ms = timeout_ms,
                                   .verbose = true};
    struct target target = {.kernel = "kernel.elf", .qemu = "qemu"};
    struct mesh_owner owner = {
        .emit = on_emit, .print = on_print, .booted = on_booted, .ended = on_ended};
    struct rundir rundir = {.path = "/nowhere"};
    struct message message;

    CHECK(network_make(&options.network, NETWORK_CUBE, NULL, DIMS));
    fake_world_begin();
    boots = jobs_open = 0;
    receipt_count = 0;
    CHECK(mesh_start(&mesh, &loop, &options, &target, &rundir, &owner, &message) == 0);
    for (unsigned i = 0; i < LINKS; i++) {
        pipe_init(&pipes[i]);
        neighbours[i] = (struct neighbour){
            .pipe = &pipes[i], .channel = &mesh.host.router.ports[i].channel, .incarnation = 1};
    }
    pump();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    uint8_t setup = input_u8(&input);

    reader = setup / MESH_PHASES % READERS;
    begin(setup >= 0xe0 ? TIMEOUT_S * 1000 : 0);
    reach(setup % MESH_PHASES);
    while (input.left > 0)
        operate(&input);
    pump();
    if (mesh.phase == MESH_BOOT && setup < 0xf0)
        kill_node(0); /* the time that a boot may take is long even here */
    for (unsigned s = 0; s < ALL_ENDED_S && mesh.phase != MESH_READY; s++)
        fake_world_pass(1000);
    CHECK(boots == 1 && mesh.phase == MESH_READY && jobs_open == 0);
    json_decref(mesh_describe(&mesh, 0));
    mesh_close(&mesh);
    CHECK(fake_world_handles() == 0);
    mesh_free(&mesh);
    return 0;
}
