/*
 * fault.h - what goes wrong in a simulation: on links at random, at a time, or at an event.
 *
 * Rates are chances: `drop` and `duplicate` for each frame, `flip` for each byte. A dropped frame
 * loses all or a run of its bytes, a duplicated one has all or a run of them twice, a flip turns
 * one bit. A killed node stops and all its links lose their carrier, a cut link loses it at both
 * ends; over a one-way link from a to b nothing arrives at b.
 *
 * The host (ID_HOST) can be slow too, be stopped for a time, and die. When it dies its links lose
 * their carrier, and so do those of one that is killed by its process's end; when it starts anew at
 * once they do not. A second later another host boots at the same links. A user may stop a program
 * and load it again.
 *
 * A program can abort: it ends, and by it the whole run (ecube_abort). It does so whatever it waits
 * for, as one does that has begun it and computes; one that has not started yet as the first thing.
 *
 * Units    ns; times of faults count from the start of their phase, in model time
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sim;

enum {
    SIM_FAULTS_MAX = 64,
    SIM_STOP_MS = 2000,  /* how long a host is stopped at a link event */
    SIM_ABORT_STATUS = 1 /* with which a program aborts */
};

enum sim_fault_kind { SIM_KILL, SIM_CUT, SIM_ONEWAY, SIM_SLOW, SIM_STOP, SIM_ABORT };

enum sim_phase { SIM_BOOT, SIM_DOWNLOAD, SIM_RUN, SIM_OVER };

struct sim_fault {
    uint8_t kind;  /* enum sim_fault_kind */
    uint8_t phase; /* enum sim_phase: when the time begins */
    /* nodes; a alone for KILL, SLOW and ABORT; one may be ID_HOST: the other's host link, or the
     * host; of STOP it is the host */
    uint32_t a, b;
    uint64_t at_ns;
    uint64_t slow_ns; /* SLOW: from arrival until the node looks; STOP: for how long */
};

/* Its name, as on a command line: "kill". */
const char *sim_fault_name(enum sim_fault_kind kind);

/* What happens to the frame of one link event. */
enum sim_action {
    SIM_NOTHING,
    SIM_DROP_FRAME,
    SIM_FLIP_BIT,
    SIM_DUPLICATE_FRAME,
    SIM_KILL_SENDER,
    SIM_CUT_LINK,
    SIM_STOP_HOST,
    SIM_KILL_HOST,
    SIM_RESTART_HOST,
    SIM_CANCEL_PROGRAM,
    SIM_ACTIONS
};

/* Whether it damages bytes; the others break something, or need not be noticed at all. */
static inline bool sim_action_damages(uint8_t action)
{
    return action >= SIM_DROP_FRAME && action <= SIM_DUPLICATE_FRAME;
}

struct sim_faults {
    double drop, flip, duplicate;
    uint64_t delay_ns;   /* added to every frame */
    uint64_t jitter_ns;  /* at most so much more, at random */
    uint64_t rate;       /* bytes per second of a link; 0: unlimited */
    uint64_t fail_event; /* link event, counted from 1, to which `action` happens; 0: none */
    uint8_t action;      /* enum sim_action */
    struct sim_fault list[SIM_FAULTS_MAX];
    unsigned count;
};

/* Whether bytes can be lost or damaged, so that payloads must be checked. */
static inline bool sim_faults_damage(const struct sim_faults *faults)
{
    return faults->drop > 0 || faults->flip > 0 || faults->duplicate > 0 ||
           (faults->fail_event && sim_action_damages(faults->action));
}

/* What happens to the frame that has just been handed over; false: all of it is lost. */
bool fault_frame(struct sim *sim);
/* Lets a fault of the list happen. */
void fault_apply(struct sim *sim, const struct sim_fault *fault);
/* Takes the faults that belong to the phase that begins. */
void fault_phase(struct sim *sim);
