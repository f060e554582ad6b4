/*
 * mesh.h - a running mesh as the host sees it: boot, download, run, failures.
 *
 * A state machine on the event loop: packets from nodes, ended processes and timers move it on.
 * What a user should see leaves as events (JSON objects, drawn up in README.md), what its owner
 * must act on by the two other functions.
 *
 *   boot -- all links --> ready -- mesh_load --> download -- receipts --> run -- exits --> ready
 *
 * A dead node or link breaks the mesh: the present phase ends within FAILURE_COLLECT_MS, later
 * loads are refused. Only when a debugger has reset all nodes does it boot anew (mesh_reset.c). How
 * long each phase may take is said in mesh_time.c.
 *
 * Units    model time in ns, wall time in us
 * Context  the thread of the loop
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "controller/download.h"
#include "host/host_link.h"
#include "host/image.h"
#include "host/jtag.h"
#include "host/launcher.h"
#include "host/line.h"
#include "host/message.h"
#include "host/report.h"
#include "wire/message.h"
#include "wire/report.h"
#include "wire/run.h"

_Static_assert((int)MACHINE_NODES_MAX <= (int)DOWNLOAD_MESSAGES_MAX,
               "every strategy is possible on QEMU");

enum {
    /* A longer line is shown in pieces. */
    CONSOLE_LINE_MAX = 1 << 20,
    LINE_ROOM_FIRST = 256,
    MESH_STREAMS = 2, /* a program's standard output and standard error */
    INJECTIONS_MAX = 8,
    FAILURE_COLLECT_MS = 300,
    QUERY_WAIT_MS = 1500,
    /* ps, a slow download, the watch for programs that wait, the end of --timeout */
    QUERY_WAITERS_MAX = 4,
    DEAD_LINKS_MAX = 64
};

enum mesh_phase { MESH_BOOT, MESH_READY, MESH_DOWNLOAD, MESH_RUN, MESH_PHASES };

struct mesh_text {
    char *data;
    uint32_t bytes, room;
};

/* What a node's program has printed; in bytes of text, modulo 2^32. */
struct mesh_console {
    struct mesh_text lines[MESH_STREAMS]; /* that have not ended */
    uint32_t received;
    uint32_t written; /* by the owner */
    uint32_t told;    /* to the node as taken */
};

struct mesh_node {
    bool dead; /* its process has ended */
    enum jtag_state debug;
    bool blank;                   /* started without a kernel, and never told to run */
    char holder[JTAG_HOLDER_MAX]; /* who debugs it; empty: nobody */
    bool was_reset;               /* through a debugger, since the boot began */
    bool reset_told;
    char resetter[JTAG_HOLDER_MAX]; /* who did that */
    bool links_told, links_complete, links_right;
    struct links_port ports[MACHINE_PORTS_MAX];
    bool receipted;
    uint64_t silent_us; /* since its last packet in a download, as mesh_time.c counts */
    bool running;       /* told to start, not ended */
    bool exited;
    int exit_status;  /* when it has exited */
    int exit_untold;  /* status other than 0 that the user has not been told of */
    bool state_known; /* since the last query */
    bool asked;       /* QUERY has been sent, STATE has not come */
    struct state_body state;
    unsigned report_count;
    struct mesh_console console;
};

/* A fault for a test: node `a` dies, or the cable a-b is cut, delay_ms after a phase has begun. */
struct mesh_injection {
    bool kill;
    bool fired;
    uint32_t a, b;
    enum mesh_phase phase;
    unsigned delay_ms;
};

struct mesh_options {
    struct network network;
    char network_name[NETWORK_NAME_MAX]; /* as users write it */
    struct profile profile;
    const char *profile_name;
    uint32_t patience_ms;      /* what is silent for longer is dead; 0: DEAD_AFTER_MS */
    uint32_t link_patience_ms; /* the same, of links; 0: patience_ms */
    bool chain;                /* ecube-jtag serves a JTAG chain */
    uint32_t timeout_ms; /* from the start on, to the end of the first job; 0: none but a job's */
    struct mesh_injection injections[INJECTIONS_MAX];
    unsigned injection_count;
    struct launcher_crossing crossings[INJECTIONS_MAX];
    unsigned crossing_count;
    bool verbose;
};

/* A program to load. Paths and arguments are copied. */
struct mesh_job_request {
    const char *path;
    const char *const *arguments;
    unsigned argument_count;
    enum strategy strategy;
    int x;
    uint32_t timeout_ms;
};

enum message_state { MESSAGE_OFFERED, MESSAGE_READY, MESSAGE_OPENED, MESSAGE_ACCEPTED };

struct mesh_job {
    char *path;
    struct image image;
    uint8_t *blocks; /* one private block per node, in rank order */
    uint32_t block_bytes;
    struct download_plan plan;
    enum message_state message_state[MACHINE_NODES_MAX];
    uint32_t message_match[MACHINE_NODES_MAX];
    unsigned message_next; /* the one to open, or whose answer is awaited */
    uint64_t clock_base_ns, clock_ns, clock_end_ns;
    uint64_t start_us, wall_us;
    uint64_t run_start_us, run_us; /* of the programs; 0: they have not begun, or ended */
    unsigned receipts;
    uint32_t timeout_ms;
    unsigned ended;
    bool cancelled; /* its end has been told: do not run it */
    int status;     /* the worst so far */
    unsigned exits_told;
    struct report_table reports;
};

struct mesh_dead_link {
    uint32_t node, peer; /* peer ID_HOST: a host link */
    uint8_t reason;
};

struct mesh;

/* Who has asked for the nodes' STATE. */
struct mesh_query {
    void (*done)(void *context, struct mesh *mesh);
    void *context;
};

/* What the owner is told. In `emit` and `print` it may look, and no more: whatever ends or begins
 * something waits until nothing is being told. */
struct mesh_owner {
    void *context;
    void (*emit)(void *context, json_t *event); /* takes over the reference */
    /* A program has printed a line; mesh_line_taken is owed for it. */
    void (*print)(void *context, const struct line *line);
    void (*blank)(void *context); /* the nodes wait for debuggers to give them a kernel */
    void (*booted)(void *context, int status); /* 0, or STATUS_MESH; after each boot */
    void (*ended)(void *context, int status, json_t *result); /* takes over the reference */
};

struct mesh {
    uv_loop_t *loop;
    struct mesh_options options;
    struct mesh_owner owner;
    struct target target;
    struct launcher launcher;
    struct host_links host;
    struct jtag jtag;
    uv_signal_t child_signal;
    uv_timer_t bound_timer;    /* --timeout */
    uv_timer_t patience_timer; /* ticks in boot and download */
    uv_timer_t failure_timer;
    uv_timer_t tick_timer; /* boot grace, repeated offers, watching for stalls */
    uv_timer_t query_timer;
    uv_timer_t stand_timer; /* ticks while debuggers have stopped nodes */
    uv_timer_t injection_timers[INJECTIONS_MAX];
    bool handles_open;

    enum mesh_phase phase;
    bool broken;      /* a node or link is gone */
    bool crossed;     /* a node has told of a crossed cable in the boot */
    bool debug_ready; /* debuggers can connect */
    bool debug_gone;  /* and no more */
    bool stands;      /* a debugger has stopped a node: the clocks stand still */
    unsigned stand_ticks;
    bool bounded;           /* --timeout counts */
    uint64_t bound_left_ms; /* of it, while the clocks stand still */
    struct mesh_node *nodes;
    struct mesh_dead_link dead_links[DEAD_LINKS_MAX];
    unsigned dead_link_count, dead_links_told;
    json_t *troubles; /* told since the boot, or since the load of the present job */
    unsigned deaths;  /* of nodes; those told of, when the failure has been told */
    uint64_t start_us, boot_us;
    unsigned nodes_right;
    unsigned shown;     /* how much nodes have shown of themselves in the boot */
    uint64_t silent_us; /* since they have shown more, as mesh_time.c counts */
    bool silence_told;
    uint32_t job_number; /* makes the wants of a job its own */
    uint64_t model_ns;   /* the latest model time that any node has told */
    struct mesh_job job;
    bool job_held;           /* job holds memory */
    struct image sent_image; /* of an earlier job, whose circuits may still send them */
    uint8_t *sent_blocks;    /* NULL: there is none */
    uint64_t activity, activity_seen;
    unsigned ticks, quiet_ticks;
    uint64_t stall_digest;
    unsigned stall_count;
    bool stall_polls;
    bool query_open;
    bool timed_out;
    unsigned telling; /* calls of owner.emit and owner.print under way */
    struct mesh_query query_waiters[QUERY_WAITERS_MAX];
    unsigned query_waiter_count;
};

/* Starts the nodes. */
int mesh_start(struct mesh *mesh, uv_loop_t *loop, const struct mesh_options *options,
               const struct target *target, const struct rundir *rundir,
               const struct mesh_owner *owner, struct message *message);

/* Whether a request's arguments fit a mesh of so many nodes; the bytes of each node's block of
 * them. */
int mesh_check_arguments(const struct mesh_job_request *request, uint32_t nodes,
                         uint32_t *block_bytes, struct message *message);

/* Downloads a program and starts it; owner.ended tells the end. */
int mesh_load(struct mesh *mesh, const struct mesh_job_request *request, struct message *message);

/* A line has been written out, or thrown away. */
void mesh_line_taken(struct mesh *mesh, const struct line_receipt *receipt);

/* Ends the present job: programs are stopped, owner.ended gets the status. */
void mesh_cancel(struct mesh *mesh, int status);

/* Whether a job that has ended keeps the mesh from the next for a moment: its circuits still hold
 * its memory, so a download that has begun goes on. */
bool mesh_frees(const struct mesh *mesh);

/* Asks every node for its STATE; done is called when all have answered, or after QUERY_WAIT_MS.
 * Whoever asks while the answers to another come in gets those, and once only. */
void mesh_query(struct mesh *mesh, void (*done)(void *context, struct mesh *mesh), void *context);

/* The object of --json. */
json_t *mesh_describe(const struct mesh *mesh, int status);

/* The nodes as the last query found them: what ps shows. */
json_t *mesh_describe_nodes(const struct mesh *mesh);

/* The dead nodes, and the dead links between nodes that live: "node 3", "link 0-1". */
json_t *mesh_describe_dead(const struct mesh *mesh);

/* What debuggers do to a node: state (running, halted, lost, blank), holder; null: nothing. */
json_t *mesh_describe_debug(const struct mesh *mesh, uint32_t rank);

/* The same in words: "halted by gdb-multiarch (process 77)". */
enum { MESH_HALTED_TEXT_MAX = 160 };
const char *mesh_debug_text(const struct mesh *mesh, uint32_t rank,
                            char text[MESH_HALTED_TEXT_MAX]);

/* Whether a debugger has stopped the node, or any node: then the tool's clocks stand still. */
bool mesh_is_halted(const struct mesh *mesh, uint32_t rank);
bool mesh_stands(const struct mesh *mesh);

/* How many nodes have no kernel yet. */
unsigned mesh_blank_count(const struct mesh *mesh);

/* Whether a link is known to be dead. */
bool mesh_link_is_dead(const struct mesh *mesh, uint32_t a, uint32_t b);

/* Ends the nodes and closes the loop's handles; mesh_free after the loop has run out. */
void mesh_close(struct mesh *mesh);
void mesh_free(struct mesh *mesh);
