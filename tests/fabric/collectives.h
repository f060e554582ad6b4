/*
 * collectives.h - collectives that all nodes of a fabric call: what they send, what must come, and
 * what time it takes.
 *
 * Blocks and vectors are a function of who has them for whom; elements are int32, added up. Where
 * blocks have sizes of their own, they are alike all the same; one table says so of both sides.
 *
 * Units    bytes; model time in ns
 */
#pragma once

#include "tests/fabric/fabric.h"

enum { COLLECTIVE_NODES_MAX = 64 };

/* Fills what a node sends in a call, and what it is to receive with zeros. */
void collective_fill(struct fabric *fabric, uint32_t rank, const struct ecube_abi_collective *call);
/* Holds what a node has received against what must come. */
void collective_check(struct fabric *fabric, uint32_t rank,
                      const struct ecube_abi_collective *call);

/* All nodes call it, and wait: each ends with E_OK. */
void collective_all_call(struct fabric *fabric, const struct ecube_abi_collective *call);
/* The same, each with a call of its own (calls[rank]), and its scratch; each ends with `status`. */
void collective_all_end(struct fabric *fabric, const struct ecube_abi_collective *calls,
                        int status);
/* The same, of a collective that node `wrong` cannot take part in for this reason, or of whom some
 * cannot (COLLECTIVE_SOME): the others hear E_ELSEWHERE. */
enum { COLLECTIVE_SOME = 1 << 30 };
void collective_fails(struct fabric *fabric, const struct ecube_abi_collective *calls,
                      uint32_t wrong, int status);

/* What a program calls: an exchange with sizes, which are in its tables, goes by its one plan. */
struct ecube_abi_collective collective_called(const struct ecube_abi_collective *call);

/* What the host predicts for a call, with the host's plan. */
struct plan_time collective_predicted(struct fabric *fabric,
                                      const struct ecube_abi_collective *call);

/* The latest of all model clocks. */
uint64_t collective_latest_clock(struct fabric *fabric);
