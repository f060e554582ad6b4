/*
 * course.h - the judge of a run of circuits, one after the other: whether each may be, what it
 * takes, and who has heard of whom by it.
 *
 * It shares no code with the planner, the engine or the router. Two executors stand on it, and on
 * promise.h. planner/plan_machine.c executes nodes' parts, system/plan_replay.c exported files.
 * Each has a memory of its own, because a part moves slots and a file moves blocks by name. A slot
 * holds one value, which is moved early or late as the flags of waits allow. A file has neither
 * places nor waits, and a block of a prefix stands for two values there: the node's, and what it
 * keeps for others.
 *
 * Time of a circuit of i hops and k bytes: t = issue + xi; per hop t = max(t, link free) + tau;
 * begin = max(t, receiver ready, and where ports count: send port free, receive port free); done =
 * begin + (i + k - 1) elements. Issue and ready are when the node's circuits of earlier steps are
 * done, or, ahead, have begun.
 *
 * Units    ranks, bytes; ns
 * Errors   what is wrong is a sentence in `fault`, the first one
 */
#pragma once

#include "tests/judge/promise.h"

enum { COURSE_WORDS_MAX = 160 };

struct rule {
    uint64_t xi, tau, element, element_bytes;
    bool all_port; /* ports do not count */
};

struct course_circuit {
    unsigned step, port, from, to, hops; /* it leaves and comes by a port of that number */
    const unsigned *path;                /* hops + 1 nodes */
    const uint16_t *turns; /* of each hop: so many circuits go over the link before; NULL: any */
    bool ahead_from, ahead_to;
    uint64_t bytes;
};

enum { COURSE_PORTS_MAX = 16 };

/* A node: the last step in which it had a circuit, and the one before that; when it was through
 * with those before. */
struct traveller {
    long step, before;
    unsigned sent, received; /* masks of ports */
    uint64_t begun, ended, begun_now, ended_now;
    uint64_t send_free[COURSE_PORTS_MAX], receive_free[COURSE_PORTS_MAX];
};

/* All circuits of a run, one after the other. */
struct course {
    const struct task *task;
    struct rule rule;
    struct traveller *nodes;
    uint64_t *link_free; /* [node * SHAPE_PORTS_MAX + port], also of link_count */
    unsigned *link_count;
    unsigned *heard; /* [node * nodes + whose]: 0, not yet; 1, itself; s + 2, behind step s */
    uint64_t model_ns, hops;
    char fault[COURSE_WORDS_MAX];
};

void course_begin(struct course *course, const struct task *task, const struct rule *rule);
void course_free(struct course *course);
__attribute__((format(printf, 2, 3))) void course_fails(struct course *course, const char *format,
                                                        ...);

/* Whether it is a circuit's turn on every link of its path; a path that leads nowhere fails. */
bool course_turn(struct course *course, const struct course_circuit *circuit);
/* The circuit is accepted: its path, its step, its time, and what its receiver hears by it. */
void course_pass(struct course *course, const struct course_circuit *circuit);
/* Fails where a node leaves a barrier that others have not entered. */
void course_end(struct course *course);
