/*
 * stepped_ring.h - two ends of a link in shared memory, run against each other in every order.
 *
 * Each end does what shared_memory_link.c and its owner do: put, take, publish; when nothing moved
 * (or at once, `lazy`), sleep, barrier, second look, and if that shows nothing wait for a bell.
 * Every access to a word or byte of the memory is a step of its own. What an end writes lies in its
 * store buffer until it leaves it, which is a step too: in order (as on x86), or each word for
 * itself (`reordered`, as on ARM). A barrier is passed when the buffer is empty. Loads are done in
 * program order.
 *
 * The search visits every state that can be reached. A state is what lies in memory and buffers,
 * the private parts at the beginning of the call that each end is in, and what this call has loaded
 * so far: a call is run from its beginning again for each of its steps. Of states that were visited
 * 64-bit hashes are kept.
 *
 * Context  tests; include it first
 * Source   P. Sewell et al., x86-TSO, CACM 53(7), 2010; G. J. Holzmann, Design and Validation of
 *          Computer Protocols (1991), 11.3: hash-compact search
 */
#pragma once

#define SHARED_WORD_TESTED

#include <stdbool.h>
#include <stdint.h>

#include "drivers/link/shared_ring.h"

/* What one end sends and when it wants to be woken. */
struct stepped_script {
    uint32_t bytes;                     /* to send in all */
    uint32_t piece, bite;               /* at most, put and taken at once */
    uint32_t bytes_wanted, room_wanted; /* before it is woken, or what is still to come */
    bool lazy;                          /* it sleeps without a look after publishing */
};

/* What is left out of the code, or done wrong: the search must find the fault. */
enum stepped_mutant {
    MUTANT_NONE,
    MUTANT_NO_BARRIER_BEFORE_COUNTS, /* between bytes and counts */
    MUTANT_NO_BARRIER_BEFORE_LOOK,   /* between the counts and the look whether the other sleeps */
    MUTANT_NO_BARRIER_AFTER_SLEEP,
    MUTANT_NO_SECOND_LOOK,
    MUTANT_SAME_NUMBER,     /* a sleep takes the number of the one before */
    MUTANT_SILENT_AT_START, /* after a restart nobody is rung for what was published before */
    MUTANT_RUNG_BEFORE,     /* after a restart it takes the other's sleep as rung for */
    MUTANT_RINGS_AGAIN      /* it forgets whom it has rung for */
};

struct stepped_case {
    struct stepped_script ends[2];
    uint32_t first;    /* what all counts start at */
    bool reordered;    /* stores to different words leave the buffer in any order */
    unsigned restarts; /* bit s: side s starts again once, at any step */
    enum stepped_mutant mutant;
};

enum stepped_fault {
    STEPPED_RIGHT,
    STEPPED_STUCK,      /* both wait, or one does and the other is done */
    STEPPED_WRONG_BYTE, /* another byte than was sent at this place */
    STEPPED_TWO_BELLS,  /* for one sleep */
    STEPPED_BROKEN      /* an end takes the other for a liar */
};

struct stepped_outcome {
    enum stepped_fault fault;
    uint32_t states;
    uint32_t depth; /* steps of the longest run */
    uint32_t bells; /* on all runs to new states */
};

/* Searches until all is visited or the first fault. */
struct stepped_outcome stepped_search(const struct stepped_case *scenario);

/* What a fault is called. */
const char *stepped_fault_name(enum stepped_fault fault);
