/*
 * state.h - everything a controller knows; for those who give it a place, and for those who look.
 *
 * A node takes at most CONTROLLER_NODE_BYTES, whatever the machine's size. What is counted here is
 * counted when it changes, so that no event asks all nodes.
 *
 * Units    wall time in us; `passed` time is what controller_pass has said, in us; model time in ns
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "include/ecube/abi.h"
#include "router/state.h"
#include "wire/load.h"
#include "wire/parcel.h"

enum {
    CONTROLLER_NODE_BYTES = 128,
    FAILURE_COLLECT_MS = 300,
    CONTROLLER_HOST_LINKS_MAX = NETWORK_PORTS_MAX + 1,
    CONTROLLER_DEAD_LINKS_MAX = 64,
    /* Ports that are not as they should be, of all nodes. More are not told: nobody reads so many
     * lines. */
    CONTROLLER_FINDINGS_MAX = 1024,
    /* Events that one notice or request leaves, at most four, and what owners may do without taking
     * any. */
    CONTROLLER_EVENTS_MAX = 16,
    CONTROLLER_WORDS_MAX = 1536 /* why there is no plan */
};

static const uint32_t CONTROLLER_NO_NODE = UINT32_MAX;

enum controller_node_flag {
    NODE_DEAD = 1,
    NODE_HALTED = 2,     /* by a debugger; it does not answer */
    NODE_RESET = 4,      /* it has started anew since the boot began, and was known before */
    NODE_REPORTED = 8,   /* it has reported its links */
    NODE_RIGHT = 16,     /* and they are as they should be */
    NODE_RECEIPTED = 32, /* it holds what it was sent */
    NODE_RUNNING = 64,   /* its program was told to start and has not ended */
    NODE_ASKED = 128,    /* QUERY has been sent, or is owed, and STATE has not come */
    NODE_SILENT = 256,   /* it is in the list of those that are to answer in a download */
    NODE_REPAIR = 512,   /* added for each time that it was sent wrong segments again */
    NODE_REPAIRS = 3 * NODE_REPAIR,
    NODE_TRAFFIC = 2048 /* it has answered, and not told all of what its links have carried */
};

/* What the root of a message of a download has said. */
enum offer_state {
    OFFER_NONE,
    OFFER_SENT, /* sent at least once, no answer but RETRY */
    OFFER_READY,
    OFFER_OPENED,
    OFFER_MORE, /* has accepted a parcel, and has not said that it takes the next */
    OFFER_DONE
};

/* What a node is to be sent as soon as the router has room. */
enum packet_due {
    PACKET_DUE_QUERY = 1,
    PACKET_DUE_TAKEN = 2,
    PACKET_DUE_PLAN = 4,      /* of these two one at most: */
    PACKET_DUE_PREDICTED = 8, /* the answer to the node's question */
    PACKET_DUE_TRAFFIC = 16   /* a question for its links from traffic_next on */
};

/* What a node has last said of its program; as struct state_body. */
struct node_answer {
    uint8_t program, wait, transfer, requests;
    uint8_t stage, operation, flags, stored;
    uint32_t bytes;
    union {
        struct {
            int32_t peer, tag, status;
            uint32_t collective_bytes, root, partner;
            uint16_t step, steps;
            uint32_t left_ms; /* of one that sleeps */
        };
        char region[ECUBE_NAME_MAX]; /* with WAIT_REGION */
    };
};

/* What is known of a node in a download. */
struct node_load {
    uint16_t sent_from, sent_to;   /* the segments of the message that it answers */
    uint16_t wrong_from, wrong_to; /* in between are all that were wrong; equal: none was */
    union {
        struct {
            uint16_t told;    /* of its own segments so many have come in its receipt; */
            uint16_t segment; /* the next of them is this one, or behind it */
        };
        uint32_t repair_next; /* when it waits to be sent wrong segments again */
    };
};

struct controller_node {
    uint16_t flags;           /* enum controller_node_flag */
    uint8_t due;              /* enum packet_due; if any, the node is in the queue of those */
    uint8_t offer : 3;        /* enum offer_state */
    uint8_t traffic_next : 5; /* the first of its ports that it has not told of */
    uint16_t signs;           /* what it has shown of its links in the boot */
    uint16_t finding;         /* 1 + the first of its ports that are not right; 0: there is none */
    uint32_t due_next;
    uint32_t older, newer; /* in the list of the silent; `newer` also among deaths to be told */
    uint32_t question;     /* the node's own number of what it has asked for (wire/plan.h) */
    uint64_t heard_us;     /* passed time */
    uint64_t offer_us;     /* when the offer is to be repeated */
    uint32_t match;        /* the root's name for the receive */
    union {
        struct node_load load; /* before it runs */
        struct {               /* console text, modulo 2^32; credited: as the node knows */
            uint32_t received, taken, credited;
        };
        struct {
            uint32_t output_bytes, output_room; /* in a gather: what it has, and has room for */
        };
    };
    uint32_t answered;         /* number of the last question that it has answered */
    uint32_t mark, mark_entry; /* for who looks at all nodes: scratch */
    struct node_answer answer;
    uint32_t offset, request_bytes, request_choice; /* what it has asked for */
    uint16_t request_root;
    uint8_t request_operation, request_type;
};

_Static_assert(sizeof(struct controller_node) <= CONTROLLER_NODE_BYTES, "65,536 nodes have room");

/* A port that is not as it should be. */
struct controller_finding {
    uint32_t node; /* CONTROLLER_NO_NODE: this place is free */
    uint32_t peer;
    uint16_t next; /* 1 + the next one of the node, or of those that are free; 0: there is none */
    uint8_t port, peer_port;
    uint8_t state; /* enum link_state */
};

struct controller_dead_link {
    uint32_t node, peer; /* peer ID_HOST: a host link; ID_UNKNOWN: its other end was not known */
    uint8_t reason;
};

/* What the answers to a question say together. */
struct controller_look {
    uint64_t digest; /* of states and progress: when it is the same twice, nothing has moved */
    bool waits;      /* every program that runs waits for another */
    bool delivered;  /* and nothing from before the last answers is on a link */
    bool polls;      /* some programs wait by testing */
    bool regions;    /* every program that runs waits at one region: */
    char region[ECUBE_NAME_MAX];
};

/* A message of a download that is under way: what of it is given to its circuit next. */
struct controller_feed {
    bool open;
    uint32_t name; /* of its offer */
    uint32_t root, count;
    uint32_t segment, to;  /* from this one on, and up to */
    uint64_t at;           /* bytes of the piece of `segment` that were given */
    uint64_t given;        /* in all, without the list */
    struct load_cut cut;   /* one parcel of it; .bytes 0: it goes whole */
    struct load_walk walk; /* behind what was given of the parcel; */
    uint32_t parcel;       /* its number */
};

/* The present question to all nodes. */
struct controller_question {
    bool open;
    bool traffic;      /* nodes are asked for their links too */
    bool over;         /* whoever has not answered is not waited for any more */
    uint8_t purposes;  /* enum question_purpose, internal.h */
    uint32_t number;   /* of this one, or the last */
    uint32_t next;     /* it has gone to the nodes before this one */
    uint32_t waiting;  /* for so many answers */
    uint32_t activity; /* when it began */
    uint64_t begun_us;
    uint64_t until_us; /* UINT64_MAX: only the watch waits for it, as long as it takes */
    struct controller_look look;
};

enum gathering { GATHER_MEASURING, GATHER_MEASURED, GATHER_COLLECTS };

/* One range after another of those that the host takes in over one port: all nodes, unless it has a
 * link for each of several ranges of nodes. */
struct gather_lane {
    bool granted; /* the present range's root has been told to send */
    bool receiving;
    uint8_t port;                      /* over this port of the host */
    uint32_t next, end;                /* COLLECT has gone to its nodes before this one; its end */
    uint32_t rank, count, range_bytes; /* the present range; rank == end: all are here */
    uint64_t data_at;                  /* where its outputs go */
};

/* Where a gather is; it goes on while the phase is PHASE_GATHER. */
struct controller_gather {
    uint8_t stage; /* enum gathering */
    uint32_t name;
    uint32_t next;    /* MEASURE has gone to the nodes before this one */
    uint32_t waiting; /* for so many MEASUREDs */
    uint32_t done;    /* the outputs of so many nodes are here */
    unsigned ahead;   /* ranges that were told to collect and are not here */
    struct gather_lane lanes[NETWORK_HOST_LINKS_MAX];
    uint64_t bytes; /* of all outputs */
    uint64_t base_ns, end_ns;
    uint64_t again_us; /* when COLLECT is to be repeated; UINT64_MAX */
    struct gather_plan plan;
    struct controller_outputs outputs;
};

enum meeting_stage {
    MEETING_NOTHING,
    MEETING_ATTENDING,
    MEETING_ATTENDED,
    MEETING_SCATTERING,
    MEETING_GATHERING,
    MEETING_LEAVING
};

/* A rendezvous with the programs at a region; it goes on while the phase is PHASE_RUN. */
struct controller_region {
    uint8_t stage; /* enum meeting_stage */
    uint8_t way;   /* enum ecube_region_way */
    bool granted;  /* node `rank` has been told to send */
    bool opening;  /* the circuit of node `rank` is being set up; of a gather, or comes */
    char region[ECUBE_NAME_MAX];
    uint32_t number, name;
    uint32_t next;           /* what all are sent has gone to the nodes before this one */
    uint32_t waiting, moved; /* for so many answers; so many parts */
    uint32_t rank;           /* whose part is next */
    uint64_t bytes, predicted_ns;
    uint64_t base_ns, clock_ns, end_ns;
    uint64_t again_us; /* when something is to be tried again; UINT64_MAX */
    struct controller_part *parts;
    void *scratch;
};

enum { FETCH_LANES = 8 };

/* A node whose records come. */
struct fetch_lane {
    uint32_t node;          /* CONTROLLER_NO_NODE: none */
    bool owed;              /* the question is to be sent as soon as there is room */
    bool heard;             /* it has answered */
    uint32_t left, damaged; /* records that it may still send; packets */
    uint64_t next;          /* the number of the record that comes next */
    uint64_t written, lost;
    uint64_t again_us, silent_us; /* when it is asked again, and given up */
};

struct controller_fetch {
    bool active;
    bool closing;        /* before any of them: all nodes are told to note no more, */
    uint32_t closed;     /* so many have said that they do not, */
    uint64_t closed_us;  /* and are waited for until then */
    uint32_t next, done; /* nodes */
    struct fetch_lane lanes[FETCH_LANES];
};

struct controller {
    struct router router;
    struct controller_config config;
    struct controller_node *nodes;
    void *router_memory;
    uint32_t peers[CONTROLLER_HOST_LINKS_MAX];
    uint64_t now_us;    /* as last told */
    uint64_t passed_us; /* passed time */
    enum controller_phase phase;
    bool broken;          /* a node or link is gone, nodes were reset, or the boot has failed */
    bool restarts;        /* all nodes were reset: nothing goes on before controller_restart */
    uint64_t reported_ns; /* the latest model time that any node has reported */

    struct controller_event events[CONTROLLER_EVENTS_MAX];
    unsigned event_first, event_count;
    uint32_t due_first, due_last; /* nodes that are owed packets, in order */

    /* boot */
    uint32_t reported_count, right_count;
    uint32_t signs, signs_seen; /* of all nodes; with the host's links, at most so far */
    uint64_t quiet_us;          /* passed time without a new sign; of a run, without a word */
    uint64_t crossed_us;        /* when a boot with crossed cables is over; UINT64_MAX */
    bool crossed;
    struct controller_finding findings[CONTROLLER_FINDINGS_MAX];
    uint16_t finding_free; /* 1 + the first that is free */
    uint16_t finding_end;  /* those from here on have never been used */

    /* download */
    struct controller_load load;
    struct load_list list;   /* of it */
    uint8_t generation;      /* of the program */
    uint8_t stop_generation; /* of those that STOP goes to: the next is offered behind it */
    uint32_t name;           /* of the offer of message 0; those behind it follow */
    unsigned message_next;   /* the one to open, or whose answer is awaited */
    struct load_walk parcel; /* before the next of its parcels; */
    uint32_t parcels;        /* so many have been accepted */
    unsigned offered;        /* the messages before this one have been offered */
    uint64_t offers_us;      /* when one of them is to be repeated; UINT64_MAX */
    uint64_t clock_base_ns, clock_end_ns;
    uint64_t clocks_ns[NETWORK_HOST_LINKS_MAX]; /* of the host, for each range that it serves */
    uint64_t repair_end_ns;
    uint64_t given_bytes; /* to circuits, without lists */
    struct controller_feed feeds[SOURCES_MAX];
    uint32_t answers;                   /* to the first sending, right or wrong */
    uint32_t receipts;                  /* that are right */
    uint32_t repair_first, repair_last; /* nodes that wait to be sent wrong segments again */
    uint32_t repairing;                 /* the one whose message is next, or under way */
    unsigned repairs;                   /* messages to such nodes, so far */
    uint32_t repaired;                  /* nodes that were wrong, and are right */
    uint32_t oldest, newest;            /* of the silent: the first has been silent for longest */
    uint32_t unasked;      /* from here on they have not been asked since they were heard */
    bool silence_reported; /* of the present download: EVENT_LOAD_WAITS */

    /* run */
    uint32_t start_next;     /* START has gone to the nodes before this one */
    uint32_t stop_next;      /* so has STOP, to those that run; >= nodes: nobody is stopped */
    uint32_t stop_unstarted; /* from here on nobody had been started, and STOP goes there too */
    uint32_t running, ended;
    bool failed;       /* a program has ended with an error, or collectives disagree */
    bool cut_off;      /* one was ended for a dead link */
    bool ending;       /* all programs have ended, which is to be told */
    uint64_t end_us;   /* when it is; UINT64_MAX */
    uint32_t activity; /* words of programs */
    uint32_t activity_seen;
    uint64_t watch_us;       /* the next look; UINT64_MAX: when this one is over it is known */
    uint64_t watch_pause_us; /* until the one after it, if programs move */
    bool watch_follows;      /* it follows another without a pause */
    unsigned stall_count;
    uint64_t stall_digest;
    bool stall_polls;
    bool timing_out;
    uint32_t plans_refused;                /* operations whose lack of a plan has been told */
    char plan_words[CONTROLLER_WORDS_MAX]; /* of the event that tells it */

    struct controller_question question;
    uint32_t answers_cut; /* TRAFFIC that was too short, or not what was asked for */
    struct controller_gather gather;
    struct controller_region region;
    struct controller_fetch fetch;
    bool region_told; /* in this run: that programs wait at one */

    /* failure */
    uint32_t deaths, halted, resets, cuts; /* nodes; links without a carrier */
    uint32_t death_first, death_last;      /* nodes whose death is to be told */
    bool resets_due;
    uint64_t failure_us; /* when it is told; UINT64_MAX: there is none */
    bool failing;        /* it is being told */
    struct controller_dead_link dead_links[CONTROLLER_DEAD_LINKS_MAX];
    unsigned dead_link_count, dead_links_reported;
};
