/*
 * several.h - a simulation over several processes (parallel/ranks.h): what each tells the others.
 *
 * Every rank has the whole layout, and touches only its own nodes. The first of the partitions that
 * are not its own stands for all others: it has what they have told of their first half of the
 * round, so whoever adds up partitions knows all. In a round in which something was sent, or the
 * host has acted, that is not the last word, so another round follows at the same time; when nobody
 * has anything to do in it, it does not count.
 *
 *     every rank: act | exchange: words of all, parcels | merge |
 *     rank 0:     the host acts | broadcast: what it has changed; parcels | meet
 *     the others:               | hear it                                 | meet
 *
 * Context  the loop, while no partition runs
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sim;
struct partition;
struct wait_question;
struct wait_answer;

/* False: there is no memory. */
bool several_make(struct sim *sim);
void several_free(struct sim *sim);
/* The last that all do: rank 0 goes on no more, or the simulation is over; it learns what the
 * others have counted. */
void several_leave(struct sim *sim);

/* Before a round: notes whether this rank has something to do in it. */
void several_begin(struct sim *sim);
/* After its first half: all know what all have done. False: rank 0 goes on no more. */
bool several_exchange(struct sim *sim);
/* The host has acted: rank 0 tells what it has changed; the others hear it. */
void several_tell(struct sim *sim);
void several_hear(struct sim *sim);
/* Takes what other ranks have sent to a partition. */
void several_meet(struct partition *partition);
/* Whether any rank says so. */
bool several_any(const struct sim *sim, bool own);

/* A program has ended: rank 0 is to know with what. It was left, or a fault has ended it: ... and
 * where. */
void several_ended(struct partition *partition, uint32_t node, int32_t status);
void several_stopped_at(struct partition *partition, uint32_t node);
/* Has a question of rank 0 answered where the node is, or by all: the lowest rank that knows. */
void several_ask(const struct sim *sim, const struct wait_question *question,
                 struct wait_answer *answer);
/* The host gives up all programs that have not ended. */
void several_give_up(struct sim *sim);
