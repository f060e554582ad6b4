/*
 * link_counters.h - what circuits have taken of a node's links, outwards.
 *
 * A directed link is counted by the node that sends on it. Only set-ups that were accepted count,
 * when the answer passes: then it is known until when the circuit keeps the link. By the rule of
 * clock.h a circuit comes to a link at t, takes it at max(t, f) and keeps it until `done`:
 *
 *     waited  max(t, f) - t        busy  done - max(t, f)
 *
 * Messages that follow each other on one path pass a hop before f of the one ahead is known there;
 * at hop h (from 0) such a one really comes at f + h tau, as the receiver's clock has it too
 * (circuit.c). So no number depends on when answers come.
 *
 * Example  iPSC/860, tau 9.575 us: A keeps link 1>3 until 500 us. B comes there at 400 us and is
 *          done at 900 us: it has waited for 100 us, and the link was busy with it for 400 us. The
 *          busy times of a link do not overlap
 *
 * A job's circuits begin at 0 with its download; the host's (downloads, gathers, regions) are never
 * put back.
 *
 * Units    bytes of whole circuits; ns of model time; counts modulo 2^32
 * Errors   none
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/port.h"
#include "router/state.h"

/* Whose circuit: of a program, messages and collectives; or the host's with the program's memory.
 */
enum link_user { LINK_OF_PROGRAM, LINK_OF_HOST, LINK_USERS };

struct link_use {
    uint64_t bytes, busy_ns, waited_ns;
    uint32_t circuits;
    uint32_t refused; /* set-ups that were refused for want of this link (setup.c) */
};

/* A set-up over the link that has no answer yet. */
struct link_setup {
    uint64_t came_ns;
    uint32_t src, dst, length;
    uint16_t hop;       /* how many links it had passed */
    uint8_t generation; /* of its program */
    uint8_t user;       /* enum link_user */
    bool chains;        /* behind another message, maybe */
};

struct link_counters {
    struct link_use uses[LINK_USERS];
    /* the same places as the answers that the port waits for, oldest first */
    struct link_setup setups[CIRCUITS_MAX];
    uint8_t first;
    uint8_t generation;          /* of the program that is counted */
    uint32_t last_src, last_dst; /* of the circuit that the link was last free after */
};

/* A program of this generation is about to come: its links have carried nothing for it, unless its
 * first messages were here sooner. */
void link_counters_begin(struct router *router, uint8_t generation);

/* These three are for setup.c, where the router has counters: an OPEN is about to pass, before
 * anything of it or the port changes; its answer is, likewise; it is refused at the link. */
void link_counters_pass(struct router *router, unsigned port, const uint8_t *packet);
void link_counters_answer(struct router *router, unsigned port, bool accepted, uint64_t done_ns);
void link_counters_refuse(struct router *router, unsigned port, const uint8_t *packet);
