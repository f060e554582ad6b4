/*
 * waits.h - who waits for whom: the graph, and a cycle in it.
 *
 * A place is where something waits: the program of a node, the oldest OPEN that an in-port holds,
 * or the oldest of a node's own circuits without an answer. Its edges lead to the places that must
 * move first, or nowhere: then it waits for what cannot come, or for what is under way. In a run
 * that moves no more a cycle of edges is a deadlock.
 *
 *   node 0: circuit 1>4 (step 2) waits for link 0>4, held by circuit 3>4 (step 0)
 *   node 4: circuit 3>4 (step 0) waits for node 4 to come to its step
 *   node 4 waits in step 1 of complete exchange for the circuit of node 0
 *   node 0 waits for ...
 *
 * It adds to what the controller finds (controller/waits.h), which knows programs and no circuits.
 * All but sim_tell_waits only reads the states of routers and nodes.
 *
 * Source   Coffman, Elphick & Shoshani, System deadlocks, Computing Surveys 3(2), 1971: circular
 * wait
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/port.h"
#include "sim/simulation.h"

enum {
    WAIT_PROGRAM = PORTS_MAX, /* `at` of a place that is no in-port: the node's program */
    WAIT_OWN,                 /* the node's own circuits */
    WAIT_NOWHERE,
    WAIT_PLACES, /* of each actor: a power of two is not needed */
    WAIT_EDGES_MAX = 24
};

struct wait_place {
    uint32_t actor; /* a node, or the host: the number of nodes */
    uint32_t at;    /* an in-port, or one of the above */
};

/* Why a place waits, and for which; `to.at` WAIT_NOWHERE: nothing here can make it go on. */
struct wait_edge {
    struct wait_place to;
    bool asks; /* it is complete when node to.actor has said whether it has opened `match` */
    uint32_t match;
    char text[SIM_TEXT_MAX];
};

enum { WAIT_CIRCUIT_MAX = 80 /* a circuit in words */ };

/* What only the process knows that steps a node (core/several.h), and all else follows from. */
enum wait_asked {
    ASKED_CIRCUIT, /* what a circuit waits for that is held at `at`, or the node's own */
    ASKED_HOLDER,  /* whose circuit is being set up over port `at` */
    ASKED_ONWARD,  /* where the circuit of in-port `at` has gone on */
    ASKED_OPENED,  /* whether its own circuit goes to `other` with this match */
    ASKED_PROGRAM, /* the edges of its program */
    ASKED_TASK,
    ASKED_NEXT /* of the nodes of each process the first whose circuit is next on a link */
};

struct wait_question {
    uint8_t kind; /* enum wait_asked */
    uint32_t actor, at, other;
    uint32_t match;
    uint16_t epoch, turn;
};

struct wait_answer {
    _Alignas(8) struct {
        uint8_t kind, out; /* as in struct router_wait */
        bool schedule;
        uint16_t epoch, hop_turn; /* of its OPEN */
        uint32_t turn;            /* of its link, in that epoch */
        char text[WAIT_CIRCUIT_MAX];
    } circuit;
    struct {
        unsigned port; /* PORT_NONE: nobody's */
        bool schedule;
        unsigned ports; /* of the router */
        bool own;       /* its own circuit is known: */
        char text[WAIT_CIRCUIT_MAX];
    } holder;
    unsigned onward;
    bool opened;
    struct {
        uint8_t state; /* enum task_state */
        uint32_t sent, sends, received;
    } task;
    struct {
        uint32_t src; /* ID_NONE: there is none */
        bool opened;
        uint32_t step;
        char text[WAIT_CIRCUIT_MAX];
    } next;
    unsigned edge_count;
    struct wait_edge edges[WAIT_EDGES_MAX];
};

/* Answers for the nodes of this process. */
void wait_answer(const struct sim *sim, const struct wait_question *question,
                 struct wait_answer *answer);
/* ... for all. */
void wait_ask(const struct sim *sim, const struct wait_question *question,
              struct wait_answer *answer);

/* The edges of a place; none: nothing waits there. */
unsigned wait_edges(const struct sim *sim, struct wait_place from,
                    struct wait_edge edges[WAIT_EDGES_MAX]);

struct wait_found {
    unsigned cycle;      /* places in the cycle; 0: there is none */
    unsigned line_count; /* its edges or, without a cycle, why those wait that others wait for */
    char lines[SIM_WAITS_MAX][SIM_TEXT_MAX];
};

/* Looks for a cycle from everything that waits; false when there was no memory for it. */
bool wait_search(const struct sim *sim, struct wait_found *found);

/* Tells of a run that stands who waits for whom, as troubles of the result. */
void sim_tell_waits(struct sim *sim);
