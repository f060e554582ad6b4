/*
 * state.h - everything a node knows, and what the files of this room share; not for other rooms.
 *
 * node.c steps and hands out notices; request.c keeps what the program has asked for; message.c
 * sends and match.c receives; collective.c begins collectives; load.c takes a download and passes
 * it on, pipeline.c does so in parcels, pieces.c says where its bytes lie, receipt.c says what is
 * held; gather.c brings back what programs have left; region.c lets the host fill and fetch memory
 * of a program that waits; call.c serves system calls; report.c reports to the host. Each file
 * begins with the states of what it moves.
 */
#pragma once

#include <stddef.h>

#include "collectives/engine.h"
#include "drivers/status.h"
#include "node/node.h"
#include "node/sha256.h"
#include "network/paths.h"
#include "router/port.h"
#include "router/state.h"
#include "wire/gather.h"
#include "wire/message.h"
#include "wire/parcel.h"
#include "wire/record.h"
#include "wire/report.h"
#include "wire/run.h"
#include "wire/traffic.h"

enum {
    UNEXPECTED_MAX = MESSAGES_STORED_MAX, /* in the unexpected-message queue */
    /* and one of the node to itself, and one that finds its receive at once (match.c) */
    UNEXPECTED_PLACES = UNEXPECTED_MAX + 2,
    POOL_MAX = UNEXPECTED_MAX + 1, /* buffers for eager messages; the last for one to oneself */
    POOL_BYTES = OPEN_INLINE_MAX,
    ASK_AGAIN_US = 300 * 1000,         /* an RTS, OFFER or COLLECT without an answer is repeated */
    ANSWER_RETRY_US = 2 * 1000,        /* next try after RETRY, or after a busy hop */
    SPREAD_DOUBLINGS = 7,              /* of that: to a quarter of a second */
    SOON_US = 100,                     /* after a hop that is still in a collective; */
    SOON_DOUBLINGS = 10,               /* doubled each time, for that may never be over */
    LINKS_REPORT_US = 3 * 1000 * 1000, /* a node that misses links says so after this */
    HASH_SLICE_BYTES = 32 * 1024,
    CLEAR_SLICE_BYTES = 256 * 1024,
    TEST_SOON_US = 10, /* a test that follows another sooner has had no work in between: */
    REST_US = 1000,    /* it rests so long, unless a request comes to its end before */
    REPLY_SLOTS =
        6, /* slots kept for answers: with fewer no RTS, OFFER or COLLECT is sent or taken */
    /* A program that ends leaves at most so many RTSs without a CTS. While one runs, only an RTS
     * that was repeated, because its answer was late, brings a CTS too many. */
    CANCELS_MAX = ECUBE_REQUESTS_MAX
};

enum request_kind { REQUEST_FREE, REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE };

enum request_state {
    STATE_QUEUED,  /* send: no RTS sent yet; receive: posted; collective: behind another */
    STATE_ASKED,   /* send: RTS sent, no answer yet */
    STATE_STORED,  /* send: in the receiver's unexpected-message queue */
    STATE_READY,   /* send: CTS has come */
    STATE_OPENING, /* send: its circuit is being set up */
    /* send: bytes are under way; receive: matched; collective: in its entry or steps */
    STATE_MOVING,
    STATE_DONE
};

struct request {
    uint8_t kind;       /* enum request_kind */
    uint8_t state;      /* enum request_state */
    uint8_t generation; /* tells this use of the entry from earlier ones */
    bool announce;      /* send: by an RTS of its own, for the receiver had no room */
    uint8_t early;      /* send: how often it was refused with E_BUSY, */
    uint8_t refusals;   /* and how often with E_REFUSED (message.c) */
    bool accepted, sent;
    bool cancelled;    /* receive: it is to take no other message than the one it has found */
    uint8_t tested;    /* struct node's `completions` when a test last said "not yet" */
    int32_t peer, tag; /* as the program gave them */
    int32_t status;
    uint8_t *data;
    uint32_t bytes;
    uint32_t match; /* the other end's name for it: send, of the CTS; receive, of the RTS */
    uint32_t stamp;
    uint32_t detail; /* as in struct ecube_abi_result */
    uint64_t issue_ns, done_ns, again_us;
    int32_t result_peer, result_tag;
    uint32_t result_bytes, result_steps;
    /* of a message over several paths (parallel.c): how many shares it has, 0: it is no such one;
     * those that have no answer yet, and those of which bytes may still move; receive: those that
     * have come, a bit for each, and their bytes */
    uint8_t shares, unanswered, moving;
    uint16_t shares_come;
    uint32_t share_bytes;
};

/* An entry of the unexpected-message queue: a message that no receive has asked for yet. */
struct unexpected {
    uint32_t src, id, tag, bytes;
    uint64_t done_ns; /* pooled: model time of its arrival */
    uint8_t pool;     /* pool buffer; POOL_MAX: only its RTS is here */
};

enum load_state {
    LOAD_IDLE,
    LOAD_RECEIVING,
    LOAD_PIPING, /* parcels come and go */
    LOAD_SENDING,
    LOAD_HASHING,
    LOAD_CLEARING,
    LOAD_RECEIPT
};
enum child_state { CHILD_ASK, CHILD_ASKED, CHILD_READY, CHILD_OPENING, CHILD_WAITS };

/* How far a message to a range of ranks has been gone through (pieces.c). */
struct load_cursor {
    uint32_t first, count; /* the ranks */
    uint32_t segment;      /* of the list, which comes next */
    uint32_t done;         /* bytes of its piece that have been passed */
    uint32_t passed_on;    /* what this node only passes on of those before it */
};

/* The same of a parcel: its part for the nodes of the line from a rank on. */
struct parcel_cursor {
    struct load_walk walk;   /* behind the slice */
    struct load_slice slice; /* without bytes: before the first, or behind the last */
    uint32_t first;          /* the rank */
    uint32_t parcel;
    uint32_t done;      /* bytes of the slice's part */
    uint32_t passed_on; /* what this node only passes on of the slices before it; they lie in */
    uint32_t slot;
};

enum {
    FEEDS_MAX = SOURCES_MAX, /* messages to children that are under way */
    PARCELS_HELD = 3         /* that have come, or come, and have not gone */
};

/* What goes on with parcels (pipeline.c). Those that this node gets are counted from 0 on, whatever
 * their numbers in the line are; the parcel of count n has the place n % PARCELS_HELD. */
struct pipeline {
    struct load_walk take, give;     /* before the next to come, and to go */
    uint32_t take_bytes;             /* of it; 0: there is none */
    uint32_t give_bytes;             /* may be none of the first */
    struct parcel_cursor in, out;    /* of those that come and go now */
    uint64_t place_ns[PARCELS_HELD]; /* when what is there has come; empty: when it has gone */
    uint32_t parcels[PARCELS_HELD];  /* their numbers in the line */
    uint64_t came_ns, gone_ns;       /* when the last one has */
    uint32_t came, gone;             /* so many have; or the child does not need them */
    uint32_t given;                  /* circuits to the child that it has accepted */
    bool coming, giving;             /* circuits that stand, or are set up */
    bool gives;                      /* there is one for the child */
    bool granted;                    /* the parent may open the next circuit; */
    bool grant_due;                  /* and has not been told */
};

struct load {
    uint8_t state;      /* enum load_state */
    uint8_t child;      /* enum child_state of the node that is served now */
    uint8_t number;     /* of this download, counted here; 0: there was none. Tokens carry it */
    uint8_t generation; /* of its program, as the host counts: the same on all nodes */
    bool opened;        /* its circuit has been accepted */
    uint8_t feeds_used; /* of `feeds` */
    uint16_t from_segment, to_segment; /* as in OFFER: those of the list that are sent */
    uint32_t from, name;
    uint32_t count; /* nodes of the block of ranks that came here, this one first */
    uint32_t left;  /* those of them, this one first, that have not gone to a child */
    uint32_t list_bytes, message_bytes;
    uint32_t passed_on_bytes; /* of others, behind the list in free memory */
    uint32_t parcel_bytes;    /* 0: its messages are not cut */
    uint32_t head;            /* of the line of nodes, if they are */
    uint32_t top;             /* where free memory begins: the list lies there */
    /* of the program, as in struct node_start */
    uint32_t entry, code_end, constants_end, data_start, data_end, block, block_bytes;
    uint32_t map, map_bytes; /* its map; no bytes: it has none */
    uint32_t child_match;
    uint64_t clock_ns, again_us;
    uint32_t listed;     /* bytes of the list that have come and are hashed */
    uint32_t held_bytes; /* of the own segments that are sent */
    uint32_t segment;    /* own one that is hashed now; to_segment: all have been */
    uint32_t done;       /* bytes of it, or of free memory, that are hashed or cleared */
    uint16_t receipt_first, receipt_count; /* of the digests: own segments, those that are sent */
    int32_t status;
    struct sha256 sha;
    uint8_t list_digest[DIGEST_BYTES];
    struct load_cursor come; /* of what comes in */
    union {
        struct load_cursor feeds[FEEDS_MAX]; /* of what goes out, as long as any does */
        struct pipeline pipeline;
        uint8_t digests[RECEIPT_DIGESTS_MAX][DIGEST_BYTES];
    };
};

enum gather_state {
    GATHER_IDLE,
    GATHER_COLLECTING, /* the outputs of others come in, the own one is hashed */
    GATHER_OPENING,
    GATHER_SENDING,
    GATHER_DONE /* well or not */
};

/* What goes on with the outputs of programs (gather.c). */
struct gather {
    uint8_t state;    /* enum gather_state */
    uint8_t number;   /* of this one, counted here: its circuits' tokens carry it */
    bool measure_due; /* the host is to be told how much there is, under measure_name */
    bool granted;     /* whoever it collects for takes its circuit now */
    bool hashed;      /* row is complete */
    bool receiving;   /* the circuit of child `next` */
    bool region;      /* what the program waits at is fetched, in place of what one has left */
    uint8_t children, next;
    uint32_t begun; /* bit i: child i has said that it collects */
    uint32_t name, measure_name, from;
    uint32_t count; /* nodes of the range, this one first */
    uint32_t bytes; /* of the own output */
    int32_t status; /* of a failure of which the host has not been told */
    uint64_t base_ns, clock_ns, again_us;
    uint32_t placed[NETWORK_HALVINGS_MAX + 1]; /* where the message of each child begins; the end */
    uint32_t portion, left; /* of the own message: the next one; bytes that are not given yet */
    uint32_t hash_piece, hash_at;
    struct sha256 sha;
    uint8_t row[OUTPUT_ROW_BYTES];
};

enum region_state {
    REGION_IDLE,
    REGION_ASKED,     /* the host waits at a region */
    REGION_ATTENDING, /* so does the program, and the host knows */
    REGION_RECEIVING,
    REGION_HASHING
};

/* What the host does with a region of the program that waits (region.c). */
struct region {
    uint8_t state;  /* enum region_state */
    uint8_t number; /* of this one, counted here: its circuit's token carries it */
    uint8_t left;   /* enum ecube_region_way: the program may go on, by left_bytes; 0: not */
    char asked[ECUBE_NAME_MAX];
    uint32_t name;   /* the host's, of what goes on; 0: nothing does */
    uint32_t bytes;  /* of the circuit that has come last */
    uint32_t hashed; /* of these */
    uint32_t left_bytes;
    int32_t status;   /* of the circuit */
    uint64_t done_ns; /* the end of the program's own transfer */
    struct sha256 sha;
};

/* What must be reported once, and has found no slot yet: report_pump sends it when there is one. */
enum report_due {
    REPORT_DUE_LINKS = 1,
    REPORT_DUE_FAULT = 2,
    REPORT_DUE_EXIT = 4,
    REPORT_DUE_STATE = 8,
    REPORT_DUE_TRAFFIC = 16
};

enum share_state { SHARE_WAITS, SHARE_OPENING, SHARE_STANDS };

struct share {
    uint8_t state;    /* enum share_state */
    uint8_t refusals; /* counted up to SPREAD_DOUBLINGS */
    uint8_t early;    /* refusals with E_BUSY, up to SOON_DOUBLINGS */
    uint32_t at, bytes;
    uint64_t again_us;
};

/* The message whose shares are being set up: one at a time (parallel.c). */
struct parallel {
    bool busy;
    bool listed;     /* a circuit that has no answer yet reads its hops here: */
    uint32_t reader; /* its token */
    uint8_t request, count;
    struct share share[NETWORK_PATHS_MAX];
    uint8_t list[HOP_LIST_BYTES_MAX];
};

/* What the node has noted since START (record.c). */
struct recording {
    struct recorder *recorder; /* NULL: nothing */
    bool always;               /* whatever START and the host say */
    bool asked;                /* the host is to be answered: */
    uint32_t left;             /* it has asked for so many more records, */
    uint64_t next;             /* from this number on */
};

/* A CANCEL that is owed for a CTS whose message is no more. */
struct cancel {
    uint32_t dst, name;
};

/* What every step looks at comes first, here and in what this is made of. */
struct node {
    uint8_t program; /* enum program_state */
    uint8_t due;     /* of enum report_due: what the host has not been told yet */
    bool start_due, links_reported;
    bool messages_move; /* a send or a posted receive may go on, or a CANCEL is owed */
    bool call_open;     /* a system call waits */
    bool program_moves; /* it may go on, or has ended */
    uint8_t request_count;
    uint8_t collectives_queued;
    bool load_due;           /* load_pump has something to do */
    bool gather_due;         /* so has gather_pump */
    bool region_due;         /* so has region_pump */
    bool attended;           /* a host may scatter into regions of the program, and gather them */
    bool memory_new;         /* a download has begun, and node_takes_memory has not told */
    uint8_t traffic_first;   /* the port that TRAFFIC begins with */
    uint32_t dead_due;       /* bit p: the host has not been told that link p is dead */
    uint32_t peers_reported; /* bit p: LINKS has told whom link p leads to */
    uint8_t collective_request; /* of the collective that is under way */
    uint64_t clock_ns;          /* the program's model clock */
    struct load load;
    int32_t exit_status;
    uint32_t stamp;
    uint8_t (*pool)[POOL_BYTES];
    uint32_t call_number;
    uint32_t call_arguments[4];
    uint8_t pool_free_count; /* of pool_free[] */
    unsigned unexpected_count;
    uint8_t dead_reason[PORTS_MAX];
    struct router router;
    struct engine engine;
    struct network_map map; /* of the program, whose guest alone is kept: the network's `map` */

    uint64_t now_us; /* of the present step or call: the only clock that this room reads */
    struct node_config config;
    uint32_t dropped_requests;
    uint32_t progress;    /* of COUNTER_PROGRESS, beside the router's */
    uint8_t completions;  /* requests that have ended and messages stored so far, and one */
    uint8_t probed;       /* `completions` when a probe last said "none" */
    uint64_t identity_us; /* when it learned its number */
    uint64_t tested_us;   /* the last test or probe in vain */
    uint64_t rest_us;     /* until when the present one rests; 0: it does not */
    uint32_t program_pc, program_lr;      /* at its last interrupt; 0: there was none yet */
    uint32_t console_sent, console_taken; /* bytes of the program's text, by it and by its reader */
    bool aborted;                         /* the program has ended, and with it the run */
    bool cut;      /* a request has ended with E_LINK_DEAD; links do not come back */
    uint8_t paths; /* that long messages of this program go over, 0: as it says */
    uint8_t cancel_count;
    struct cancel cancels[CANCELS_MAX];        /* oldest first */
    uint8_t request_order[ECUBE_REQUESTS_MAX]; /* those in use, oldest first */
    struct request requests[ECUBE_REQUESTS_MAX];
    struct unexpected unexpected[UNEXPECTED_PLACES]; /* in order of arrival */
    /* the table of pieces that the program has named, until the next download */
    uint32_t output_address, output_count;
    struct gather gather;
    struct region region;
    struct parallel parallel;
    struct recording recording;
    uint8_t pool_free[POOL_MAX]; /* free buffers, the next one last */
    union {
        struct ecube_abi_collective collective_arguments[ECUBE_REQUESTS_MAX];
        struct fault fault; /* while REPORT_DUE_FAULT: then no collective can be queued any more */
    };
};

/* What becomes of others' collectives with a program that has ended. */
static inline int node_gone(const struct node *node)
{
    return node->cut ? E_LINK_DEAD : E_PEER_GONE;
}

enum token_kind {
    TOKEN_REQUEST = 1,
    TOKEN_STEP = 2,
    TOKEN_IMAGE = 3,
    TOKEN_OUTPUT = 4,
    TOKEN_REGION = 5,
    TOKEN_SHARE = 6
};

static inline uint32_t token_make(enum token_kind kind, unsigned generation, unsigned index)
{
    return (uint32_t)kind << 24 | (generation & 0xff) << 8 | index;
}

/* The same of a share of a message, with its number. */
static inline uint32_t token_share(unsigned generation, unsigned index, unsigned number)
{
    return token_make(TOKEN_SHARE, generation, index) | number << 16;
}

static inline unsigned token_number(uint32_t token)
{
    return token >> 16 & 0xff;
}

/* A new request of the program; NULL when all are in use. */
struct request *request_make(struct node *node, enum request_kind kind);
void request_free(struct node *node, struct request *request);

/* The requests in use, oldest first, by number below node->request_count. */
static inline struct request *request_at(struct node *node, unsigned number)
{
    return &node->requests[node->request_order[number]];
}

/* The request that a name (index and generation) stands for; NULL when that use has ended. */
struct request *request_named(struct node *node, uint32_t name);
uint32_t request_name(const struct node *node, const struct request *request);
void request_finish(struct node *node, struct request *request, int status, uint64_t done_ns);

/* The kernel's pointer to program memory; NULL when [address, address + bytes) is not all the
 * program's. */
uint8_t *program_memory(const struct node *node, uint32_t address, uint32_t bytes);
/* A structure that a program names; NULL unless all of it lies in the program's memory, at an
 * address that its words may have. */
void *program_structure(const struct node *node, uint32_t address, uint32_t bytes);
/* The same two of what the kernel or a link is to write: NULL also where it touches the program's
 * code or constants. */
uint8_t *program_writable(const struct node *node, uint32_t address, uint32_t bytes);
void *program_answer(const struct node *node, uint32_t address, uint32_t bytes);
/* How many bytes from an address on are the program's, and how many of these may be written. */
uint32_t program_room(const struct node *node, uint32_t address);
uint32_t program_writable_room(const struct node *node, uint32_t address);

/* The system calls that wait for requests or messages, or give up a receive (wait.c). */
int wait_one(struct node *node, const uint32_t arguments[4], bool *blocked);
int wait_test(struct node *node, const uint32_t arguments[4], bool *blocked);
int wait_any(struct node *node, const uint32_t arguments[4], bool *blocked);
int wait_probe(struct node *node, const uint32_t arguments[4], bool *blocked);
int wait_cancel(struct node *node, const uint32_t arguments[4]);
/* The requests that the open WAIT, TEST or WAIT_ANY waits for; numbers has ECUBE_REQUESTS_MAX
 * places. Returns how many. */
unsigned wait_requests(const struct node *node, uint8_t numbers[ECUBE_REQUESTS_MAX]);
/* What the open PROBE waits for; false when the program has spoilt it. */
bool wait_probed(const struct node *node, struct ecube_abi_probe *probe);

void message_reset(struct node *node);
/* The program has ended: its requests are dropped, and those whose RTS is here get CANCEL. */
void message_end(struct node *node);
/* Turns the rank of a peer into its node. E_ARGUMENT: no message can have this peer and tag; `any`:
 * both may be ECUBE_ANY. */
int message_peer(const struct node *node, int32_t *peer, int32_t tag, bool any);
int message_send(struct node *node, const struct ecube_abi_message *message);
/* How long a circuit waits that a hop has refused; counts the refusal. */
uint32_t message_spread_us(const struct node *node, uint8_t *refusals);

/* How many shares a message of this node goes in over at most so many paths; 0: in none. */
unsigned parallel_shares(const struct node *node, uint32_t peer, uint32_t bytes, unsigned paths);
/* Sets up circuits of a message whose receive stands ready. */
void parallel_pump(struct node *node, struct request *request);
/* Word of the circuit of a share, of a send or a receive. */
void parallel_notice(struct node *node, const struct notice *notice);
/* The circuit of a share has come for a receive: it is accepted or refused. */
void parallel_open(struct node *node, unsigned port, const uint8_t *packet,
                   struct request *request);
/* The sender has given a message up of which shares have come; false: none have, or all. */
bool parallel_cancel(struct node *node, struct request *request);
/* The program has ended. */
void parallel_reset(struct node *node);
int message_receive(struct node *node, const struct ecube_abi_message *message);
/* Gives up a receive, if no message has found it. */
void message_cancel(struct node *node, struct request *request);
/* An answer to an RTS, an OFFER or a COLLECT of this node; CANCEL also to one of its CTSs. */
struct answer {
    uint8_t kind; /* PACKET_QUEUED, PACKET_RETRY, PACKET_CTS or PACKET_CANCEL */
    uint32_t src, name;
    uint32_t match; /* of CTS */
};

void message_answer(struct node *node, const struct answer *answer);
void message_notice(struct node *node, const struct notice *notice);
/* Whether no message moves, or will without another call of a program: a send that its receiver has
 * not asked for, and a receive that nothing has come for, are at rest. */
bool message_is_at_rest(const struct node *node);
void message_pump(struct node *node);
uint64_t message_deadline(const struct node *node);

/* A download begins: the next program's collectives are counted anew. */
void collective_reset(struct node *node);
/* Empties the unexpected-message queue. */
void match_reset(struct node *node);
/* Looks in the unexpected-message queue for a message for a posted receive. */
void match_receive(struct node *node, struct request *request);
/* The first message of the queue that a receive posted now would take; NULL: there is none. */
const struct unexpected *match_probe(const struct node *node, int32_t peer, int32_t tag);
/* All bytes of a receive's message are in its buffer, as far as they fit. */
void match_finish(struct node *node, struct request *request, uint64_t done_ns);
/* Owes CANCEL to a receiver: the message that its CTS names is no more. */
void match_deny(struct node *node, uint32_t dst, uint32_t name);
/* Joins a message of this node to itself with its receive, or stores it if there is room. */
void match_self(struct node *node, struct request *request);
/* Takes an RTS. */
void match_rts(struct node *node, const struct notice *notice);
/* Moves the RTSs of other nodes to the front of the queue; returns how many there are. */
unsigned match_announced(struct node *node);
/* Sends the CANCELs that are owed: for CTSs whose message is no more, and for RTSs to a program
 * that has ended. True when some are still owed. */
bool match_send_cancels(struct node *node);
void match_open(struct node *node, unsigned port, const uint8_t *packet);

int collective_start(struct node *node, const struct ecube_abi_collective *arguments);
/* True when it has more to do at once. */
bool collective_pump(struct node *node);
/* The system calls PLAN and PREDICT. */
int collective_plan(struct node *node, struct ecube_abi_plan *plan, bool *blocked);
int collective_predict(struct node *node, struct ecube_abi_plan *plan, bool *blocked);

/* A run of bytes in the program's memory. */
struct load_run {
    uint8_t *at;
    uint32_t bytes;
};

/* Whether the list that has come, all of it, may be, is the one that was offered, and fits this
 * node. Then what it says of the node's program is in node->load; else a status. */
int load_take_list(struct node *node);
/* The list, when it has been taken. */
struct load_list load_list_of(const struct node *node);
/* Stands before the data of a message to some of the ranks that this node serves. */
struct load_cursor load_cursor_at(const struct node *node, uint32_t first, uint32_t count);
/* Passes the next bytes of that data that lie side by side in this node's memory: where. */
struct load_run load_next_run(const struct node *node, struct load_cursor *cursor);
/* How the message to the line of nodes is cut. */
struct load_cut load_cut_of(const struct node *node);
/* The same two of the parcel before which a walk stands, for the line from a rank on; what this
 * node only passes on lies in that slot of its free memory. */
struct parcel_cursor parcel_cursor_at(const struct load_walk *walk, uint32_t first, uint32_t slot);
struct load_run parcel_next_run(const struct node *node, struct parcel_cursor *cursor);
/* The number of the next of the node's own segments, `index` or behind it, that is sent;
 * to_segment: there is none. */
uint32_t load_own_from(const struct node *node, uint32_t index);
/* Where the bytes of one of these lie in the end, and where they came to: another place when
 * several have the same. */
struct load_run load_own_place(const struct node *node, uint32_t index, const uint8_t **came);

/* The child that gets the next half, or what parcels have for others, while more than this node is
 * left. */
uint32_t load_child(const struct node *node);
/* Where free memory begins: the list lies there. */
uint8_t *load_free_memory(const struct node *node);
/* The state of the download changes. */
void load_enter(struct node *node, enum load_state state);
/* The download is over for this node: the host is told why. */
void load_fail(struct node *node, int status);
/* Says that the receive of this name stands ready; false: there is no slot for it now. */
bool load_say_cts(struct node *node, uint32_t dst, uint32_t name);
/* Offers the child what it is to get, when it is time to. */
void load_ask_child(struct node *node);
/* A circuit to the child has been refused. */
void load_refused(struct node *node, int status);
/* All has been taken and sent on: what is held is hashed, what was passed on cleared, the host
 * told. */
void receipt_begin(struct node *node);
/* True when it has more to do at once. */
bool receipt_pump(struct node *node);

/* The list has come, amid the first parcel. */
void pipeline_begin(struct node *node);
/* Where the next bytes of the parcel that comes go. */
struct load_run pipeline_room(struct node *node);
void pipeline_open(struct node *node, unsigned port, const uint8_t *packet);
/* The circuit of a parcel has come to its end. */
void pipeline_received(struct node *node, int status);
/* The bytes of the first circuit to the child, with the list. */
uint32_t pipeline_first_bytes(const struct node *node);
/* The name of the receive for which the child says CTS next. */
uint32_t pipeline_next_name(const struct node *node);
/* An OFFER has come again: it is answered again. */
void pipeline_answer(struct node *node);
/* Word of a circuit to the child. */
void pipeline_notice(struct node *node, const struct notice *notice);
void pipeline_pump(struct node *node);

void load_offer(struct node *node, const struct notice *notice);
/* True when it is an answer to an OFFER of the download under way, and so no message's. */
bool load_answer(struct node *node, const struct answer *answer);
void load_open(struct node *node, unsigned port, const uint8_t *packet);
void load_notice(struct node *node, const struct notice *notice);
/* True when it has more to do at once. */
bool load_pump(struct node *node);
uint64_t load_deadline(const struct node *node);

/* The system call OUTPUT. */
int gather_name_output(struct node *node, uint32_t address, uint32_t count);
void gather_measure(struct node *node, const struct notice *notice);
void gather_collect(struct node *node, const struct notice *notice);
/* True when it is an answer to a COLLECT of this node. */
bool gather_answer(struct node *node, const struct answer *answer);
void gather_open(struct node *node, unsigned port, const uint8_t *packet);
void gather_notice(struct node *node, const struct notice *notice);
/* The host has given it up: nothing more begins. */
void gather_drop(struct node *node);
/* No region is fetched any more: what is under way ends as it can. */
void gather_drop_region(struct node *node);
/* The program's memory is about to be overwritten: it has left nothing. */
void gather_reset(struct node *node);
/* True when it has more to do at once. */
bool gather_pump(struct node *node);
uint64_t gather_deadline(const struct node *node);
/* Every circuit's end is in the clocks of the two ports that it had: the latest of this node. */
uint64_t node_busy_until(const struct node *node);

/* Takes the map of the program that starts, or says what is wrong with it (map.c). */
struct load_map_fault map_take(struct node *node);
/* The node of a rank, or NETWORK_NO_NODE; the rank at a node; the system call HOPS. */
uint32_t map_node(const struct node *node, uint32_t rank);
uint32_t map_rank(const struct node *node, uint32_t at);
int map_hops(const struct node *node, uint32_t rank);

/* The system call REGION. */
int region_wait(struct node *node, bool *blocked);
/* The region that the program waits at, for people; false: at none. */
bool region_waits(const struct node *node, char name[ECUBE_NAME_MAX], uint32_t *bytes);
/* The region that the program waits at, if the host knows so under this name; NULL: it does not, or
 * it is no memory that the program may write. */
uint8_t *region_memory(const struct node *node, uint32_t name, struct ecube_abi_piece *piece);
/* ATTEND, LEAVE. */
void region_attend(struct node *node, const struct notice *notice);
void region_leave(struct node *node, const struct notice *notice);
void region_open(struct node *node, unsigned port, const uint8_t *packet);
void region_notice(struct node *node, const struct notice *notice);
/* It has been fetched under this name, by a circuit that ends at that time. */
void region_moved(struct node *node, uint32_t name, uint64_t done_ns);
/* The program is over. */
void region_end(struct node *node);
/* True when it has more to do at once. */
bool region_pump(struct node *node);

/* What is noted of the program that starts, at most so many records. */
void record_start(struct node *node, uint32_t records);
void record_begin(struct node *node, uint32_t records);
/* A download begins: a node that always notes does so again, if it had been stopped. */
void record_load(struct node *node);
/* The program has ended by itself: messages that it has left open go with it. */
void record_dropped(struct node *node);
/* RECORDS_ASK; sends what has been asked for. */
void record_asked(struct node *node, const struct notice *notice);
void record_pump(struct node *node);
/* Where there is a recorder: a send or receive is over. */
void record_message(struct node *node, const struct request *request);
/* The program has done so from then until now, if that was any time. */
void record_activity(struct node *node, enum record_activity activity, uint64_t begin_ns);
/* The system call MARK. */
int record_mark(struct node *node, uint32_t address, uint32_t bytes);

/* How much text the program may send until its reader has taken some. */
static inline uint32_t console_room(const struct node *node)
{
    return CONSOLE_WINDOW - (node->console_sent - node->console_taken);
}

void report_notice(struct node *node, const struct notice *notice);
/* What STATE says of the program's call, and of a send or a receive. */
void report_wait(const struct node *node, struct state_body *state);
void report_message(const struct request *request, struct state_body *state);
void report_pump(struct node *node);
/* TRAFFIC_ASK has come. */
void report_traffic(struct node *node, const struct notice *notice);
/* What TRAFFIC says of a port. */
struct traffic_port report_port(const struct node *node, unsigned port);
uint64_t report_deadline(const struct node *node);

/* Handles notices and moves what can move; true when more is waiting. */
bool node_work(struct node *node);

/* Whether the last program is over in every way: nothing of it takes model time any more. */
bool node_is_over(const struct node *node);

/* Sends QUEUED, RETRY or CANCEL, which have only a name. E_FULL: no slot now. */
int node_reply(struct node *node, uint8_t kind, uint32_t dst, uint32_t name);
/* Answers an RTS, an OFFER or a COLLECT at once, or not at all: it is repeated until it has been
 * answered. */
void node_answer(struct node *node, uint8_t kind, uint32_t dst, uint32_t name);

/* Ends the program: drops its requests and tells those who wait for it. */
void program_end(struct node *node, enum program_state state, int32_t status);
