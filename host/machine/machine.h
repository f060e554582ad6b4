/*
 * machine.h - a machine that this tool has started: its processes, its sockets, its clocks and its
 * controller, in one event loop.
 *
 * What the nodes say and what that means is the controller's (controller/controller.h). Here is
 * what moves it on: sockets, ended processes, debuggers, time; and here its events become what the
 * owner must act on (booted, ended) and, by announce.h, what a user sees.
 *
 * --timeout is the time by the clock for all of a run: from the start of the nodes, or of a load,
 * to the end of the last program. --patience is the stall limit of boot and download, as the
 * controller counts it, and the timeout of links. While a debugger has halted a node none of this
 * counts.
 *
 * Units    model time in ns, wall time in us
 * Context  the thread of the loop; never from within owner.emit or owner.print
 */
#pragma once

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "collectives/operation.h"
#include "controller/controller.h"
#include "host/machine/debuggers.h"
#include "host/links/host_link.h"
#include "host/job/programs.h"
#include "host/job/traffic.h"
#include "host/machine/jtag.h"
#include "host/machine/launcher.h"
#include "host/machine/meeting.h"
#include "host/console/message.h"
#include "host/machine/record_memory.h"
#include "host/machine/rundir.h"
#include "host/profile/profiles.h"
#include "host/computer/target.h"
#include "host/console/tell.h"

enum { INJECTIONS_MAX = 8 };

/* A fault for a test: node `a` dies, or the cable a-b is cut, delay_ms after a phase has begun. */
struct injection {
    bool kill;
    bool fired;
    uint32_t a, b;
    enum controller_phase phase;
    unsigned delay_ms;
};

/* What is to be done in the machine's loop, with its directory, before its nodes start: those on
 * other computers begin. */
struct machine_join {
    void *context;
    int (*join)(void *context, uv_loop_t *loop, const struct rundir *rundir,
                const struct target *target, struct message *message);
};

struct machine_options {
    struct network network;
    char network_name[NETWORK_NAME_MAX]; /* as users write it */
    struct profile profile;
    char profile_name[PROFILE_NAME_MAX];
    uint8_t paths;                      /* that long messages go over, 0: as programs say */
    const char *algorithms[OPERATIONS]; /* of --algorithm, for each operation; NULL: the cheapest */
    uint32_t patience_ms;               /* what is silent for longer is dead; 0: DEAD_AFTER_MS */
    uint32_t link_patience_ms;          /* the same, of links; 0: patience_ms */
    bool chain;                         /* ecube-jtag serves a JTAG chain */
    uint32_t timeout_ms; /* from the start on, to the end of the first job; 0: none but a job's */
    struct injection injections[INJECTIONS_MAX];
    unsigned injection_count;
    const struct launcher_place
        *place; /* the nodes that are here, as long as the machine; NULL: all */
    const struct machine_join *join; /* the same; NULL: nothing */
    struct launcher_crossing crossings[INJECTIONS_MAX];
    unsigned crossing_count;
    struct plan *const *plans; /* written ones, which stay as long as the machine */
    unsigned plan_count;
    bool verbose;
};

struct machine_owner {
    void *context;
    void (*emit)(void *context, json_t *event);            /* as tell.h says */
    void (*print)(void *context, const struct line *line); /* ... */
    void (*blank)(void *context); /* the nodes wait for debuggers to give them a kernel; or NULL */
    void (*booted)(void *context, int status);        /* 0, or why not; after each boot */
    void (*refused)(void *context, const char *text); /* a load that machine_load had taken */
    void (*ended)(void *context, int status, json_t *result); /* a job; takes over the reference */
    void (*answered)(void *context); /* the nodes have been asked what they do; or NULL */
    /* Of a scatter or gather: "progress", then "end" or "error", which ends it; takes over the
     * reference. NULL: nobody can scatter or gather. */
    void (*met)(void *context, json_t *event);
};

enum aside_kind { ASIDE_FILLS, ASIDE_WRITES, ASIDE_READS };

/* The data of a load are read and hashed on a thread, and so are outputs written, and records read
 * from the memory of nodes, for the machine must be looked after meanwhile. */
struct aside {
    uv_work_t work;
    enum aside_kind kind;
    bool active; /* the thread has the files and the list of the machine's job, or its outputs */
    atomic_bool stop;
    int status;
    struct message message; /* why the data cannot be had */
};

struct machine {
    struct machine_options options;
    struct machine_owner owner;
    struct teller teller;
    struct target target;
    struct launcher launcher;
    struct host_links links;
    struct jtag jtag;
    struct debuggers debuggers;
    struct controller controller;
    void *controller_memory;
    struct plan_cache *cache; /* the plans of its network, with its own map */
    struct network network;   /* with its own map, if any: what loads are planned for */
    uint16_t incarnation;     /* of the host's ends of its links */

    uv_loop_t *loop;
    uv_signal_t child_signal;
    uv_timer_t bound_timer; /* --timeout */
    uv_timer_t tick_timer; /* what silence is measured by, or, while debuggers halt nodes, is not */
    uv_timer_t injection_timers[INJECTIONS_MAX];
    bool handles_open;
    bool pumping;

    struct programs programs;            /* of the present job, and their nodes */
    struct traffic traffic;              /* of their links */
    unsigned deaths_untold, deaths_told; /* of nodes */
    uint64_t start_us, boot_us;
    unsigned nodes_right;   /* in the boot: that have all their links */
    bool debug_ready;       /* debuggers can connect */
    bool stands;            /* a debugger has halted a node: the clocks stand still */
    bool bounded;           /* --timeout counts */
    uint64_t bound_left_ms; /* of it, while the clocks stand still */
    int cut_status;         /* STATUS_TIMEOUT, or of who has interrupted it; 0: nobody has */
    unsigned ticks;
    unsigned halt_ticks; /* of a download that waits for a halted node */
    bool wait_told;

    uint32_t job_number;
    struct job job;
    bool job_held; /* job holds memory, and no thread has it */
    struct aside aside;
    bool fetching;                  /* the records of the run that is over; then it goes on with */
    bool gathers;                   /* its outputs, or it ends: */
    bool asking;                    /* then what its links have carried, by question number: */
    uint32_t asked;                 /* or a later one */
    int fetched_status;             /* that of the run */
    struct record_memory *memories; /* of nodes that do not answer, while a thread reads them */
    uint32_t memory_count;
    char rundir[RUNDIR_PATH_MAX];
    struct job sent; /* an earlier one, whose memory circuits may still read */
    bool sent_held;
    struct meeting meeting;
};

/* Starts the nodes. */
int machine_start(struct machine *machine, uv_loop_t *loop, const struct machine_options *options,
                  const struct target *target, const struct rundir *rundir,
                  const struct machine_owner *owner, struct message *message);

/* Reads the data of a job that was planned for this machine, downloads and starts it; owner.ended
 * tells the end, or owner.refused that the data could not be read. Takes the job over, on failure
 * too. */
int machine_load(struct machine *machine, struct job *job, struct message *message);

/* A line has been written out, or thrown away. */
void machine_line_taken(struct machine *machine, const struct line_receipt *receipt);

/* Ends the present job: programs are stopped, owner.ended gets the status. */
void machine_cancel(struct machine *machine, int status);

/* Ends what goes on with this status, and says how far it has come: of a run also what its programs
 * do, when they have been asked. Then booted or ended is called, soon or at once. False: there is
 * nothing to wait for; so when it is called a second time. */
bool machine_interrupt(struct machine *machine, int status);

/* Whether a job that has ended keeps the machine from the next for a moment: its circuits still
 * read its memory, so a download that has begun goes on; or a thread is to let it go. */
bool machine_frees(const struct machine *machine);

/* Asks every node for its STATE; owner.answered is called when all have answered, or after a
 * while. Whoever asks while the answers to another come in gets those. */
void machine_ask(struct machine *machine);
/* The same, and for what its links have carried: `traffic` has it in owner.answered. */
void machine_ask_traffic(struct machine *machine);

/* Lets the controller do all that it can now: somebody has asked it for something. */
void machine_move_on(struct machine *machine);

bool machine_is_booting(const struct machine *machine);
/* Whether a node or link is dead, or nodes were reset: it takes no program. */
bool machine_is_broken(const struct machine *machine);

/* Ends the nodes and closes the loop's handles; machine_free after the loop has run out. */
void machine_close(struct machine *machine);
void machine_free(struct machine *machine);
