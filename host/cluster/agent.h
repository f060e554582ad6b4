/*
 * agent.h - an agent of rank 1 and more: it holds a range of a machine's nodes, as rank 0 says.
 *
 * It has a run directory and a cleanup process of its own, so another agent on the same computer is
 * none of its business. When rank 0 ends, or is silent for the link timeout, its nodes end.
 */
#pragma once

#include "host/cluster/introduction.h"
#include "host/cluster/peers.h"

/* How this agent's computer runs nodes. */
struct agent_options {
    const char *kernel, *qemu, *board; /* of the command line; NULL: not given */
    uint32_t patience_ms;
};

/* Holds nodes until rank 0 says that it is over. Returns the exit status: 0, STATUS_BAD_INPUT when
 * the machine could not be, or STATUS_MACHINE when rank 0 is gone. */
int agent_serve(const struct peers *peers, const struct agent_options *options);
