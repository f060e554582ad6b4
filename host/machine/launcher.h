/*
 * launcher.h - the QEMU processes of a machine and its cables: shared memory (shared_links.h) or
 * socketpairs between nodes, socketpairs to the host and to what carries a cable elsewhere.
 *
 * Every cable is made before the first QEMU starts. A QEMU inherits its own ends and no others. The
 * launcher keeps both ends of a cable between nodes: it can cut it, and when a node dies it shuts
 * that node's cables down, since a neighbour would see nothing while the launcher holds the dead
 * node's end, and nothing at all of shared memory. Of a host link it keeps the host's end. QEMUs
 * get SIGKILL when the tool dies, however it dies. What a node's process has started is killed when
 * that ends, and by the cleanup process (rundir.h) when the tool does.
 *
 * A machine over several computers has a launcher on each, for a range of nodes that follow one
 * another (struct launcher_place). What a caller does to a node or cable elsewhere, the launcher
 * has done by the others (struct launcher_far). A cable between two ranges is a socketpair at both
 * ends, whose other halves somebody joins: what ends one of them ends the other.
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

/* A computer that was lost with all its nodes: one of them stands for it. */
struct launcher_lost {
    uint32_t node, first, count;
    char text[LAUNCHER_NOTE_MAX]; /* "computer b, nodes 50-99: no answer for 15 s" */
};

/* What the launchers of other computers do. `context` is the first argument of all. Where the host
 * is not, the first two are enough: the others' callers are there. */
struct launcher_far {
    void *context;
    /* The end of the cable at a port of a node here whose neighbour is elsewhere: a socket, which
     * the launcher takes over. */
    int (*cable)(void *context, uint32_t node, unsigned port, int *fd, struct message *message);
    /* A socket for host link `index`, which the launcher takes over: where the host is, its end,
     * and network_host_node(index) is elsewhere; else the end of the node, which is here. */
    int (*host_link)(void *context, unsigned index, int *fd, struct message *message);
    bool (*kill)(void *context, uint32_t node); /* one elsewhere; false: it is dead already */
    bool (*cut)(void *context, uint32_t a,
                uint32_t b); /* both elsewhere; false: it is cut already */
    void (*describe)(void *context, uint32_t node, char text[LAUNCHER_NOTE_MAX]);
    bool (*lost)(void *context, uint32_t node, struct launcher_lost *lost); /* NULL: none is */
    /* Calls died once for each node that has died elsewhere. */
    void (*reap)(void *context, void (*died)(void *died_context, uint32_t node),
                 void *died_context);
    /* From now on calls news when launcher_reap has something. NULL: the owner knows. */
    void (*listen)(void *context, void (*news)(void *news_context), void *news_context);
    unsigned (*share_permille)(void *context); /* available_share_permille, the least elsewhere */
    void (*stop)(void *context);               /* all that is elsewhere */
};

/* The part of a machine that is here. */
struct launcher_place {
    uint32_t first, count;          /* nodes */
    bool host;                      /* the host's ends of all host links are here */
    const struct launcher_far *far; /* NULL: all of it is here */
};

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
    struct launcher_place place;
    char run[OFFSPRING_RUN_BYTES];        /* what its processes are marked with */
    struct launcher_node *nodes;          /* of all; what is elsewhere is empty but for `dead` */
    bool shared;                          /* links between nodes are in shared memory */
    struct shared_links links;            /* its nodes are counted from place.first */
    int host_fds[MACHINE_HOST_LINKS_MAX]; /* the host's ends, if it is here */
};

/* The place of a machine that is here as a whole. */
struct launcher_place launcher_whole(const struct network *network);

/* The links between two nodes of a place. */
uint32_t launcher_links_within(const struct network *network, const struct launcher_place *place);

/* Whether this process may have the open files that its place needs; raises its limit to that. */
int launcher_check_descriptors(const struct network *network, const struct launcher_place *place,
                               bool shared, struct message *message);

/* Makes the cables, crosses those listed, starts the nodes of the place; NULL: all. On failure
 * nothing is left running. */
int launcher_start(struct launcher *launcher, const struct network *network,
                   const struct launcher_crossing *crossings, unsigned crossing_count,
                   const struct target *target, const struct rundir *rundir,
                   const struct launcher_place *place, struct message *message);

/* Calls news when a node has died elsewhere: launcher_reap tells then. Of nodes that die here a
 * SIGCHLD tells. */
void launcher_listen(struct launcher *launcher, void (*news)(void *context), void *context);

/* Reaps nodes that have ended, here and elsewhere, kills what they have started and shuts their
 * cables down; calls died for each. */
void launcher_reap(struct launcher *launcher, void (*died)(void *context, uint32_t node),
                   void *context);

/* What is known of a dead node: exit code or signal, and QEMU's last words. */
void launcher_describe(const struct launcher *launcher, uint32_t node,
                       char text[LAUNCHER_NOTE_MAX]);

/* Whether a dead node is one of a computer that was lost. */
bool launcher_lost(const struct launcher *launcher, uint32_t node, struct launcher_lost *lost);

/* Cuts the cable a-b; false when it is cut already, or one of its nodes is dead. */
bool launcher_cut(struct launcher *launcher, uint32_t a, uint32_t b);

/* Kills a node's process; launcher_reap will tell of it. False when it is dead already. */
bool launcher_kill(struct launcher *launcher, uint32_t number);

/* A node elsewhere has died: our ends of its cables are cut. For owners without launcher_far.reap.
 */
void launcher_died_far(struct launcher *launcher, uint32_t node);

/* The part of a processor that nodes get, in thousandths: the least of all computers. */
unsigned launcher_share_permille(const struct launcher *launcher);

/* Ends all nodes, waits for those that are here, closes the cables. */
void launcher_stop(struct launcher *launcher);
