/*
 * errors.h - programs that an error of a call of ecube.h has ended: held for a moment, joined, and
 * told behind their cause.
 *
 * One cause often ends many programs: all that wait in a collective hear that one will never come.
 * So errors are not told as they arrive, but when it is known what they follow from:
 *
 *   an error of its own  a wrong argument, a message that is too long, ...: told
 *   E_PEER_GONE          the program of another rank has ended. When that has ended badly (a crash,
 *                        an error, a status other than 0), or collectives disagree, it is told
 *                        already, and the error adds nothing. When it has ended well: told, behind
 *                        a line that says who ended without the collective
 *   E_LINK_DEAD          a link or node is dead, which is told and ends the run: adds nothing
 *
 * Equal ones are one line: "ranks 0, 2-1023: ecube_allreduce in main (a.c:12)". What adds nothing
 * is held to the end: a run in which a program has failed never ends with status 0.
 *
 * Units    us of wall time
 * Context  the thread of the loop
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller/words.h"
#include "host/program/fault.h"
#include "host/console/tell.h"

/* How a program has ended. */
enum ending_kind {
    ENDING_NONE, /* it runs */
    ENDING_WELL, /* with status 0 */
    ENDING_BADLY
};

struct ending {
    uint8_t kind;            /* enum ending_kind */
    uint16_t collectives;    /* in which it took part, modulo 2^16 */
    struct fault_call *call; /* the error that has ended it, while it is held */
};

struct errors {
    struct teller *teller;
    uint32_t nodes;
    struct ending *endings;     /* of each node */
    bool fresh;                 /* there is something that has not been looked at */
    uint64_t first_us, last_us; /* of that */
    bool over, explained;       /* as errors_end says */
    bool all;                   /* all that is held is told, whatever it follows from */
    unsigned lines;             /* that have been told */
    unsigned more;              /* programs whose errors stand in no line */
    bool any;                   /* an error has been told */
    struct {                    /* what a collective has failed of, as last asked for */
        bool known;
        uint16_t number;
        uint8_t blame;
    } collective;

    bool disagreed;  /* collectives have failed, for a reason that is told or: */
    json_t *failure; /* the trouble that a rank could not enter one; NULL: it is told */
    char failure_text[WORDS_MAX];
    uint32_t failed_rank;
    int32_t failed_status; /* 0: all could */

    bool cause_told; /* who has ended without this collective: */
    uint16_t cause_number;
};

/* Of so many nodes; false: out of memory. */
bool errors_init(struct errors *errors, struct teller *teller, uint32_t nodes);
void errors_free(struct errors *errors);

/* Programs begin; what is held is forgotten. */
void errors_begin(struct errors *errors);

/* The program of a rank has ended: by its exit, or by a fault that is told. */
void errors_ended(struct errors *errors, uint32_t rank, bool well, uint16_t collectives,
                  uint64_t now_us);
/* ... or by an error. */
void errors_call(struct errors *errors, uint32_t rank, const struct fault_call *call,
                 uint16_t collectives, uint64_t now_us);
/* Collectives disagree, which is told. */
void errors_disagreed(struct errors *errors);
/* A rank could not enter a collective, which fails at all nodes. The trouble that says so is told
 * when no error of that rank says more. Takes over the members. */
void errors_failed(struct errors *errors, uint32_t rank, int32_t status, json_t *members,
                   const char *text, uint64_t now_us);

/* Time has passed: what can be told is told, when nothing has come for a while. */
void errors_pass(struct errors *errors, uint64_t now_us);

/* The run is over, with this status but for errors; `explained`: what has ended it is told, or was
 * its owner's request. Tells what is left; returns the run's status. */
int errors_end(struct errors *errors, bool explained, int status);
