/*
 * root.h - rank 0's side of a machine over several computers: it gathers the agents, gives each its
 * nodes, and is to the launcher what the others do (launcher_far).
 *
 *   gather   every agent has connected and said what it is
 *   divide   who holds which nodes
 *   place    every agent knows its nodes, and their cables to other agents' nodes are joined
 *   join     in the machine's loop: the agents start their nodes, and are heard from then on
 *   end      the agents end their nodes, and themselves
 *
 * Each agent has one control connection, with a line of JSON a second at least. What takes bytes
 * (a host link, a cable, a node's debug sockets) is a connection of its own (stream.h), which the
 * agent opens to the same port.
 *
 * The connections have an event loop of their own, which another one turns when it is joined to it:
 * a machine begins its loop when all agents have been placed.
 *
 * Errors   message: names the computer; then nothing has been started, root_end tells the others
 * Context  one thread; root_join's loop is that of the machine
 * Source   libuv, "Embedding libuv's event loop": uv_backend_fd
 */
#pragma once

#include <uv.h>

#include "host/cluster/arrivals.h"
#include "host/cluster/connection.h"
#include "host/cluster/far_cables.h"
#include "host/cluster/introduction.h"
#include "host/cluster/peers.h"
#include "host/machine/launcher.h"
#include "host/machine/machine.h"

enum member_state {
    MEMBER_ABSENT,
    MEMBER_PRESENT,
    MEMBER_PLACED,
    MEMBER_CHECKED,
    MEMBER_RUNS,
    MEMBER_GONE
};

struct member {
    struct root *root;
    struct connection *connection; /* NULL: rank 0 itself, absent or gone */
    enum member_state state;
    struct introduction self;
    char address[64];      /* at which the others reach it */
    char root_address[64]; /* at which it reaches rank 0 */
    struct node_range range;
    uint16_t port; /* at which it takes cables */
    unsigned silent_ticks, share;
    char words[200];  /* why it has gone */
    uint32_t speaker; /* of its nodes, when they were lost: the first that lived */
};

struct far_node {
    bool dead, told, killed, lost;
    uint32_t cut; /* bits: ports */
    char words[LAUNCHER_NOTE_MAX];
};

struct root {
    const struct peers *peers;
    struct tls_keys keys;
    uv_loop_t loop;
    struct arrivals arrivals;
    uv_timer_t timer;
    struct member members[DIVISION_COMPUTERS_MAX];
    unsigned ticks, patience_ticks;
    char refusal[MESSAGE_MAX]; /* why the machine cannot be; empty: it can */

    struct network network;
    struct far_node *nodes;
    struct far_cables cables;
    struct launcher_far far;
    struct launcher_place place;
    int host_fds[MACHINE_HOST_LINKS_MAX]; /* our end of what the launcher has; -1: none yet */
    struct connection *host_streams[MACHINE_HOST_LINKS_MAX]; /* that nobody has asked for yet */
    struct tap *taps; /* the sockets of nodes elsewhere, in our run directory */
    struct opening *openings;
    unsigned tap_count, opening_number;
    char directory[RUNDIR_PATH_MAX];

    bool joined;
    uv_poll_t turn; /* in the machine's loop */
    uv_prepare_t prepare;
    uv_timer_t tick;
    void (*news)(void *context);
    void *news_context;
};

int root_gather(struct root *root, const struct peers *peers, const struct introduction *self,
                unsigned patience_ms, struct message *message);

int root_divide(struct root *root, const struct network *network, struct message *message);

/* What `run` or `up` would start, and how. */
struct root_start {
    const char *name;  /* of a machine that stays; empty: it does not */
    const char *links; /* of --links; NULL: not given */
    const char *board;
    bool debug; /* ecube-jtag serves the debug sockets */
};
int root_place(struct root *root, const struct root_start *start, struct message *message);

/* To be called with the machine's loop and directory, before its launcher starts. */
int root_join(struct root *root, uv_loop_t *loop, const char *directory, bool debug,
              struct message *message);

/* The nodes that are here, and what the launcher asks of the others; as long as the root. */
const struct launcher_place *root_launcher_place(struct root *root);

/* Ends all agents with this status, and says why, if they do not know; waits for them. */
void root_end(struct root *root, int status, const char *why);

/* The links between two agents' ranges. */
unsigned root_links_between(const struct root *root, unsigned a, unsigned b);
