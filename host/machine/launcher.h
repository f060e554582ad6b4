/*
 * launcher.h - the QEMU processes of a machine and its cables: shared memory (shared_links.h) or
 * socketpairs between nodes, socketpairs to the host.
 *
 * Every cable is made before the first QEMU starts. A QEMU inherits its own ends and no others. The
 * launcher keeps both ends of a cable between nodes: it can cut it, and when a node dies it shuts
 * that node's cables down, since a neighbour would see nothing while the launcher holds the dead
 * node's end, and nothing at all of shared memory. Of a host link it keeps the host's end. QEMUs
 * get SIGKILL when the tool dies, however it dies. What a node's process has started is killed when
 * that ends, and by the cleanup process (rundir.h) when the tool does.
 *
 * Source   QEMU 7.2 -chardev socket,fd=; prctl(2) PR_SET_PDEATHSIG; measured: two processes per
 *          cable, no races
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "host/console/message.h"
#include "host/machine/rundir.h"
#include "host/links/shared_links.h"
#include "host/computer/target.h"
#include "host/computer/limits.h"

enum { LAUNCHER_NOTE_MAX = 300 };

struct launcher_node {
    pid_t pid;     /* 0: never started, or reaped */
    int output_fd; /* what QEMU printed */
    int wait_status;
    bool killed, dead;               /* launcher_kill was called; its process has ended */
    int port_fds[MACHINE_PORTS_MAX]; /* this node's ends of serial lines; -1: none, or closed */
};

/* Two cables whose far ends are exchanged, for a test: a-d and c-b instead of a-b and c-d. */
struct launcher_crossing {
    uint32_t a, b, c, d;
};

struct launcher {
    struct network network;
    char run[OFFSPRING_RUN_BYTES]; /* what its processes are marked with */
    struct launcher_node *nodes;
    bool shared; /* links between nodes are in shared memory */
    struct shared_links links;
    int host_fds[MACHINE_HOST_LINKS_MAX]; /* the host's ends */
};

/* Whether this process may have the open files that a machine needs; raises its limit to that. */
int launcher_check_descriptors(const struct network *network, bool shared, struct message *message);

/* Makes the cables, crosses those listed, starts the nodes. On failure nothing is left running. */
int launcher_start(struct launcher *launcher, const struct network *network,
                   const struct launcher_crossing *crossings, unsigned crossing_count,
                   const struct target *target, const struct rundir *rundir,
                   struct message *message);

/* Reaps nodes that have ended, kills what they have started and shuts their cables down; calls died
 * for each. */
void launcher_reap(struct launcher *launcher, void (*died)(void *context, uint32_t node),
                   void *context);

/* What is known of a dead node: exit code or signal, and QEMU's last words. */
void launcher_describe(const struct launcher *launcher, uint32_t node,
                       char text[LAUNCHER_NOTE_MAX]);

/* Cuts the cable a-b; false when it is cut already, or one of its nodes is dead. */
bool launcher_cut(struct launcher *launcher, uint32_t a, uint32_t b);

/* Kills a node's process; launcher_reap will tell of it. False when it is dead already. */
bool launcher_kill(struct launcher *launcher, uint32_t number);

/* Ends all nodes, waits for them, closes the cables. */
void launcher_stop(struct launcher *launcher);
