/*
 * findings.h - what the checking library has found in the programs of a run: held for a moment, so
 * that what many ranks have in common is one line.
 *
 * Units    us of wall time
 * Context  the thread of the loop
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/program/fault.h"
#include "host/console/tell.h"

enum { FINDINGS_HELD_MAX = 64 }; /* different ones; more are counted */

struct held_finding {
    char text[FAULT_TEXT_MAX];
    const char *name;
    unsigned times;
    bool of[]; /* each node */
};

struct findings {
    struct teller *teller;
    uint32_t nodes;
    struct held_finding *held[FINDINGS_HELD_MAX];
    unsigned count, more;
    uint64_t last_us; /* when the last one came */
};

/* A run begins; what is held is forgotten. */
void findings_begin(struct findings *findings, struct teller *teller, uint32_t nodes);
void findings_forget(struct findings *findings);

/* What a fault of FAULT_FINDING tells; false: nothing. */
bool findings_add(struct findings *findings, const struct fault_code *code, uint32_t rank,
                  const struct fault_body *fault, uint64_t now_us);

/* Time has passed: what is held is told when nothing has come for a while. */
void findings_pass(struct findings *findings, uint64_t now_us);

/* Tells what is held. */
void findings_tell(struct findings *findings);
