/*
 * controller.h - the host of a machine as a state machine: boot check, download, run, questions,
 * failure, end.
 *
 * The tool feeds one from its event loop and the simulator from its own, as boot/ and the simulator
 * feed nodes. It sits on the host's router, which is part of it. Nothing here waits, allocates,
 * reads a clock or calls its owner.
 *
 *   BOOT -- all links right --> READY -- load --> DOWNLOAD -- all receipts --> LOADED
 *                                 ^                                              |   | load
 *                                 |  all exits, stop, time out, programs stand   |   v
 *                                 +------------------- RUN <------- run ---------+ DOWNLOAD
 *
 *   READY -- gather --> GATHER -- all outputs are here, or it has failed, or stop --> READY
 *
 * A dead node or link breaks the machine: FAILURE_COLLECT_MS later, when it is known what explains
 * what, EVENT_BROKEN ends the present phase, and nothing can be loaded any more. Only when all
 * nodes have been reset does it boot anew (EVENT_RESTART).
 *
 * After each controller_step, and after each request, the owner takes events until there are none.
 * While it handles one it may make any request.
 *
 * Units    time in us since any start (wall) and in ns (model); bytes
 * Errors   enum controller_refusal of a request that cannot be met now
 * Context  never called from within itself; its work per event does not depend on the number of
 *          nodes, but for the diagnoses of cables.h and waits.h
 * Source   Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *          nodes, section III (order and model time of a download's messages)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/download.h"
#include "controller/gather_plan.h"
#include "include/ecube/abi.h"
#include "network/network.h"
#include "router/clock.h"
#include "wire/report.h"
#include "wire/run.h"
#include "wire/traffic.h"

struct controller; /* state.h */
struct link;
struct plan_cache; /* planner/planner.h */

enum controller_phase {
    PHASE_BOOT,
    PHASE_READY,
    PHASE_DOWNLOAD,
    PHASE_LOADED,
    PHASE_RUN,
    PHASE_GATHER
};

struct controller_config {
    struct link **links;           /* links[i] leads to network_host_node(network, i) */
    const struct network *network; /* lives as long as the controller */
    struct profile profile;
    bool payload_checked;
    uint32_t dead_after_ms; /* of the links, as router.h says; 0: its default */
    uint16_t incarnation;   /* of the host's end of them; 0: not told apart */
    /* how long nothing new may show in a boot, and two thirds of how long a node may be silent in a
     * download; time as controller_pass counts it */
    uint64_t patience_us;
    uint64_t
        quiet_us;   /* without a word from programs, after which nodes are asked whether they stand;
                        * wall time; 0: 1 s */
    bool boot_held; /* the boot is not over before controller_release_boot */
    uint8_t paths;  /* that long messages go over, 0: as programs say */
    uint32_t records; /* that each node keeps of a run, as far as it has memory; 0: none */
    bool attended;    /* the owner may call controller_attend: programs may wait at regions */
    struct plan_cache *cache; /* makes the plans that nodes ask for, outlives the controller; NULL:
                             * they get none */
    void *memory;             /* controller_memory_bytes(network), 8-aligned */
};

/* How many records nodes keep of the runs that begin from now on. */
void controller_keep_records(struct controller *controller, uint32_t records);

/* Plans for a load whose program has its ranks elsewhere (network.h), between two loads: the map of
 * the network has changed with them. */
void controller_use_cache(struct controller *controller, struct plan_cache *cache);

size_t controller_memory_bytes(const struct network *network);

/* Begins the boot. */
void controller_init(struct controller *controller, const struct controller_config *config,
                     uint64_t now_us);

/* Takes what the links hold and does what can be done; true: it has more to do at once. */
bool controller_step(struct controller *controller, uint64_t now_us);

/* When controller_step wants to run though nothing arrives; UINT64_MAX: never. */
uint64_t controller_deadline(const struct controller *controller);

/* Time has passed in which nodes that live would have been heard: what silence and standing
 * programs are measured by. The owner says so every 100 to 200 ms; less than the clock while the
 * machine it runs on is busy, nothing while it was stopped itself or a debugger holds a node. */
void controller_pass(struct controller *controller, uint64_t passed_us, uint64_t now_us);

/* Programs are known to have moved: they do not stand. (The simulator sees them.) */
void controller_active(struct controller *controller);

enum event_kind {
    EVENT_BOOT_PROGRESS, /* `rank` has reported its links; done nodes have all links right */
    EVENT_BOOTED,
    /* The boot has failed: reason says why, cables.h what is wrong. done nodes had all their links,
     * `peer` nodes have answered, status links are crossed, or beside those that
     * are (BOOT_UNSURE). The machine is broken. */
    EVENT_BOOT_FAILED,

    EVENT_RECEIPT, /* node `rank` holds what it was sent; done nodes do */
    /* All do: from base_ns to model_ns by the first sending; what was wrong at `repaired` nodes was
     * sent to them again, in repair_ns more. */
    EVENT_LOADED,
    EVENT_LOAD_WAITS,  /* `rank` has not answered for long; told once in a download */
    EVENT_LOAD_FAILED, /* at `rank`: reason, status; done have receipts. The machine is broken */

    EVENT_TEXT,   /* `rank` has printed `bytes` of text at body to stream `status` */
    EVENT_REPORT, /* `rank` reports a measurement: report */
    EVENT_EXIT,   /* the program of `rank` has exited with `status`; done have ended */
    EVENT_FAULT,  /* it was ended for a fault: fault; done have ended */
    /* `rank` and `peer` have entered different collectives, or (peer ID_UNKNOWN) a collective has
     * failed at `rank` and so at all: disagree */
    EVENT_DISAGREE,
    EVENT_NO_PLAN,      /* there is no plan for what `rank` has called: plan, status; the words at
                         * body, `bytes` and a zero byte */
    EVENT_KERNEL_FAULT, /* the kernel of `rank` has stopped: fault. The machine is broken */
    EVENT_ENDED,        /* the run is over: reason; of ENDED_STANDS and ENDED_TIMEOUT waits.h */

    /* What programs have left: gather.bytes of all nodes, since base_ns. The owner gives memory for
     * it (controller_collect), or stops it. */
    EVENT_MEASURED,
    EVENT_GATHER_PROGRESS, /* the outputs of done nodes are here */
    EVENT_GATHERED,        /* all are: from base_ns to model_ns; gather: bytes, predicted_ns */
    EVENT_GATHER_FAILED,   /* at `rank`: reason, status; those of done nodes are here */

    /* Of a rendezvous: all programs wait at the region, since base_ns. Parts say how large it is.
     * The owner moves bytes (controller_move), or gives up. */
    EVENT_REGION_ATTENDED,
    EVENT_REGION_PROGRESS, /* the parts of done nodes have moved */
    /* All have, or are still wanted, for what came was wrong: from base_ns to model_ns; gather:
     * bytes, predicted_ns; done parts are right */
    EVENT_REGION_MOVED,
    EVENT_REGION_LEFT, /* the programs have been told to go on: parts are not looked at any more */
    EVENT_REGION_FAILED, /* at `rank`: reason, status. It is over; the programs wait as before. Of
                          * REGION_UNKNOWN the names of its regions are at body, each with a zero
                          * byte */
    EVENT_REGION_WAITS,  /* programs wait at a region, its name is at body, and nobody is there;
                          * told once in a run */

    EVENT_RECORDS, /* records of node `rank`: `bytes` at body, RECORD_BYTES each (wire/record.h) */
    /* Node `rank` has no more: reason, records: how many there were and are lost, packets that were
     * damaged; done nodes have been asked */
    EVENT_RECORDS_END,
    EVENT_FETCHED, /* all have */

    EVENT_STATE,    /* `rank` has answered a question: state */
    EVENT_TRAFFIC,  /* it tells of its links: traffic; the ports at body, traffic_port_at */
    EVENT_ANSWERED, /* all have that live and are not halted, or the time for it is over; whoever
                     * asked, the controller itself included */

    EVENT_NODE_DIED, /* `rank`, in `phase` */
    EVENT_LINK_DIED, /* of `rank` to `peer` (ID_HOST: a host link; ID_UNKNOWN): reason, `phase` */
    EVENT_RESET,     /* nodes were reset that break the machine by that, in `phase`: which, the
                      * owner knows */
    EVENT_BROKEN,    /* all that explains a failure has been told: `phase` is over, without another
                      * word of its end */
    EVENT_RESTART,   /* all nodes were reset, in `phase`, which is over: the owner makes its links
                      * anew and calls controller_restart */
    EVENT_KINDS
};

/* EVENT_BOOT_FAILED */
enum boot_failure { BOOT_SILENT = 1, BOOT_CROSSED, BOOT_UNSURE, BOOT_HELD };

/* EVENT_LOAD_FAILED */
enum load_failure {
    LOAD_SILENT = 1, /* it does not answer */
    LOAD_REFUSED,    /* it runs a program; or its circuit was refused: status */
    LOAD_ERROR,      /* it could not take or pass on the program: status */
    LOAD_WRONG       /* it holds other bytes than were sent, however often they are sent again */
};

/* EVENT_GATHER_FAILED. Its phase is PHASE_READY when the gather is over with it; one that breaks
 * the machine is over with EVENT_BROKEN. */
enum gather_failure {
    GATHER_SILENT = 1, /* it does not answer. The machine is broken */
    GATHER_REFUSED,    /* it cannot collect its range */
    GATHER_ERROR,      /* it could not take or pass on outputs: status; E_LINK_DEAD breaks, too */
    GATHER_WRONG,      /* it sends other outputs than it has said that it has */
    GATHER_STOPPED     /* by controller_stop */
};

/* EVENT_REGION_FAILED */
enum region_failure {
    REGION_UNKNOWN = 1, /* its program waits at another region, and has none of this name */
    REGION_GONE,        /* its program had ended before */
    REGION_ENDED,       /* its program has ended */
    REGION_ERROR,       /* it could not take its part, or send it: status */
    REGION_WRONG        /* it sends another part than it has said that it has */
};

/* EVENT_ENDED */
enum end_reason {
    ENDED_BY_ITSELF = 1,  /* all programs have exited, or were ended for a fault */
    ENDED_STOPPED,        /* by controller_stop */
    ENDED_STANDS,         /* the programs that are left wait for ever */
    ENDED_TIMEOUT,        /* by controller_time_out */
    ENDED_TIMEOUT_STANDS, /* ... and those that were left stood still */
    ENDED_ABORTED         /* by the program of `rank`, with `status`, whatever that is */
};

/* The exit status of a run that was aborted: what a shell shows of the status, never 0. */
static inline int controller_abort_status(int32_t status)
{
    return status & 0xff ? (int)(status & 0xff) : 1;
}

/* EVENT_RECORDS_END */
enum fetch_end {
    FETCH_WHOLE = 1, /* all that it has are here */
    FETCH_DEAD,
    FETCH_HALTED, /* by a debugger */
    FETCH_SILENT  /* it does not answer */
};

/* EVENT_RECORDS_END */
struct event_records {
    uint64_t written, lost;
    uint32_t damaged;
};

/* EVENT_NO_PLAN */
struct event_plan {
    uint32_t operation, bytes, root;
};

/* EVENT_MEASURED, EVENT_GATHERED */
struct event_gather {
    uint64_t bytes;        /* of all outputs */
    uint64_t predicted_ns; /* of the time from base_ns */
};

struct controller_event {
    enum event_kind kind;
    enum controller_phase phase;
    uint32_t rank, peer;
    uint32_t done;
    int32_t status;
    uint8_t
        reason; /* of the kind's enum, of EVENT_EXIT that of a run; of a link: enum dead_reason */
    uint16_t collectives; /* EVENT_EXIT: in which the program took part, modulo 2^16 */
    uint32_t bytes;
    const uint8_t *body; /* valid until the next event is taken */
    uint64_t base_ns, model_ns;
    uint64_t repair_ns; /* these two of EVENT_LOADED */
    uint32_t repaired;
    union {
        struct report_body report;
        struct fault_body fault;
        struct state_body state;
        struct disagree_body disagree;
        struct event_plan plan;
        struct event_gather gather;
        struct traffic_header traffic;
        struct event_records records;
    };
};

/* The oldest event; NULL: there is none now. It stays until the next call. */
const struct controller_event *controller_event(struct controller *controller);

enum controller_refusal {
    CONTROLLER_OK,
    CONTROLLER_BOOTS,
    CONTROLLER_BUSY,   /* another program is being downloaded, or runs */
    CONTROLLER_BROKEN, /* a node or link is dead, or nodes were reset */
    CONTROLLER_IDLE    /* no program runs, or not everywhere yet */
};

/* What a load brings to the nodes, and by which messages. All memory stays the owner's, unchanged
 * until controller_quiet. */
struct controller_load {
    const uint8_t *list; /* wire/load.h; load_list_open has found that it may be */
    uint32_t list_bytes;
    const uint8_t *list_digest;    /* SHA-256 of it, DIGEST_BYTES */
    const uint8_t *const *strings; /* of each segment; NULL for those of LOAD_SAME */
    /* Of each segment the SHA-256 of what its nodes hold: one for each of them where step > 0, else
     * one for all. NULL for those of LOAD_SAME: the one before has it. */
    const uint8_t (*const *digests)[DIGEST_BYTES];
    const struct download_message *messages; /* in the order in which they are sent */
    unsigned count;
};

/* Downloads a program; then EVENT_LOADED, and controller_run starts it, controller_stop forgets it
 * and another load replaces it. */
enum controller_refusal controller_load(struct controller *controller,
                                        const struct controller_load *load, uint64_t now_us);
/* Asks what programs have left (wire/output.h), after their run: EVENT_MEASURED. */
enum controller_refusal controller_gather(struct controller *controller, uint64_t now_us);

/* Memory for what programs have left; the owner's until controller_quiet. */
struct controller_outputs {
    uint8_t
        *table; /* OUTPUT_ROW_BYTES for each node (wire/gather.h); the digests are to be compared */
    uint8_t *data; /* the outputs, in the order of ranks: as many bytes as EVENT_MEASURED says */
    void *scratch; /* gather_scratch_bytes(network), 8-aligned */
};

/* Collects it, in answer to EVENT_MEASURED: EVENT_GATHER_PROGRESS, EVENT_GATHERED. */
void controller_collect(struct controller *controller, const struct controller_outputs *outputs,
                        uint64_t now_us);

/* A node's part of what is moved; the owner's memory. */
struct controller_part {
    uint8_t *data; /* where the bytes are, or go */
    uint32_t bytes;
    bool wanted;  /* they are to be moved; then, that what came was wrong */
    bool attends; /* the program waits; then region_bytes is the size of its region */
    bool sent;    /* these two are the controller's: a circuit has taken so many of them */
    uint32_t given;
    uint32_t region_bytes;
    uint8_t
        digest[DIGEST_BYTES]; /* SHA-256: to be scattered, the right one; gathered, the node's */
    uint8_t row[8 + DIGEST_BYTES]; /* the controller's: a row of wire/gather.h */
};

/* Whom the programs meet at a region. Memory is the owner's until EVENT_REGION_LEFT or
 * EVENT_REGION_FAILED, the end of the run or controller_withdraw, and then until
 * controller_quiet. */
struct controller_rendezvous {
    const char *region;            /* its name: less than ECUBE_NAME_MAX characters */
    struct controller_part *parts; /* one for each node */
    void *scratch;                 /* gather_scratch_bytes(network), 8-aligned */
};

/* Waits, however long, until all programs wait at a region: EVENT_REGION_ATTENDED. */
enum controller_refusal controller_attend(struct controller *controller,
                                          const struct controller_rendezvous *rendezvous,
                                          uint64_t now_us);
/* Moves the parts that are wanted, one after the other in the order of ranks: EVENT_REGION_MOVED.
 * Those that are wanted then may be moved again, after another controller_attend. */
void controller_move(struct controller *controller, enum ecube_region_way way, uint64_t now_us);
/* The programs go on, with what has moved last: EVENT_REGION_LEFT. */
void controller_leave(struct controller *controller, uint64_t now_us);
/* Gives up without an event, but for programs that leave already. They wait as before; of what was
 * scattered parts may lie in their regions. */
void controller_withdraw(struct controller *controller, uint64_t now_us);

/* Fetches what nodes have noted of a run that is over, in a broken machine too, as far as links
 * reach: EVENT_RECORDS, EVENT_RECORDS_END of each node, EVENT_FETCHED. Nothing can be loaded
 * meanwhile. controller_fetch_stop gives it up, without an event. */
enum controller_refusal controller_fetch(struct controller *controller, uint64_t now_us);
void controller_fetch_stop(struct controller *controller);

/* Only in LOADED. */
void controller_run(struct controller *controller, uint64_t now_us);

/* Ends a run: programs that run are told to stop, in a broken machine as far as that reaches.
 * Forgets what is loaded. In a download nothing: it goes on, for its circuits read the program's
 * memory; the owner does not run it then. A gather is given up: EVENT_GATHER_FAILED. */
void controller_stop(struct controller *controller, uint64_t now_us);
/* The same, when it has been found out whether programs stand still: EVENT_ENDED with one of the
 * two reasons for a time out. A boot is given up at once, without an event: the machine is broken.
 */
void controller_time_out(struct controller *controller, uint64_t now_us);

/* Whether no circuit reads the memory of a program any more. */
bool controller_quiet(const struct controller *controller);

/* So many bytes of the text of node `rank`'s present program have been read, in all; more than the
 * last time. The node may print that much more. */
void controller_taken(struct controller *controller, uint32_t rank, uint32_t bytes);

/* Asks every node for its STATE: EVENT_STATE for each answer, then EVENT_ANSWERED. While a question
 * is open its answers serve whoever asks. Nobody answers in a boot. */
void controller_ask(struct controller *controller, uint64_t now_us);
/* The same, and for what its links have carried: EVENT_TRAFFIC, one or more, behind each STATE. */
void controller_ask_traffic(struct controller *controller, uint64_t now_us);
/* Whether `rank` has answered the question that is open, else the last one. */
bool controller_answered(const struct controller *controller, uint32_t rank);

/* What the owner knows of nodes from elsewhere. */
void controller_node_died(struct controller *controller, uint32_t rank, uint64_t now_us);
/* A debugger has halted a node, or lets it run: one that is halted is not asked. While any is,
 * owners do not call controller_pass, but controller_forgive. */
void controller_halted(struct controller *controller, uint32_t rank, bool halted);
/* The silence of the host's links until now does not count. */
void controller_forgive(struct controller *controller, uint64_t now_us);
/* A node has started anew. That breaks the machine, unless it boots; when all have since the boot
 * began, and no node is dead and no cable cut, EVENT_RESTART. */
void controller_was_reset(struct controller *controller, uint32_t rank, uint64_t now_us);
/* Boots anew over links that are so, too. */
void controller_restart(struct controller *controller, uint16_t incarnation, uint64_t now_us);
void controller_release_boot(struct controller *controller, uint64_t now_us);

/* Whether a reset of all nodes would mend the machine: no node is dead and no cable cut. */
bool controller_reset_mends(const struct controller *controller);
bool controller_link_is_dead(const struct controller *controller, uint32_t a, uint32_t b);
/* Whether a dead link (state.h) is one that no dead or reset node explains. */
struct controller_dead_link;
bool controller_reports_link(const struct controller *controller,
                             const struct controller_dead_link *link);
