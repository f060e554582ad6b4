/*
 * fake_loop.h - what stands in for the world around the host's mesh: the event loop, the QEMUs and
 * the program file.
 *
 * The functions of libuv, host/launcher.h, host/image.h, host/symbols.h and host/available.h that
 * the mesh calls are defined here: time passes when the fuzzer says so and timers fire in order,
 * nodes are the other ends of socketpairs, the program is a fixed array, and the machine is idle.
 * So a run is repeatable and starts nothing.
 *
 * Source   libuv 1.44, docs/src/timer.rst: a timer fires once, or again every repeat
 */
#pragma once

#include <stdint.h>

#include "host/machine.h"

enum { FAKE_TIMERS_MAX = 32, FAKE_IMAGE_BYTES = 300, FAKE_IMAGE_SENT = 200 };

struct fake_world {
    uint64_t now_ms;
    int node_fds[MACHINE_HOST_LINKS_MAX]; /* the nodes' ends of the host links; -1: none */
    uint32_t died;                        /* bit n: node n has ended and is to be reaped */
};

extern struct fake_world fake_world;

/* No timer, no node, time 0. */
void fake_world_begin(void);

/* Lets time pass: timers fire when they are due. */
void fake_world_pass(uint64_t ms);

/* The handles that were opened and not closed. */
unsigned fake_world_handles(void);
