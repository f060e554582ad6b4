/*
 * algorithm.h - --algorithm NAME: which operations a name is for, on which network.
 *
 * A name may stand in the tables of several operations ("halving tree"); then it is for all of
 * them. It is a candidate's, with or without the words of a variant ("chain 8 segments").
 *
 * Errors   a message that names the algorithms, or says what the one that is named wants
 */
#pragma once

#include "collectives/operation.h"
#include "host/console/message.h"
#include "network/network.h"

/* Fills the name in for each operation that has the algorithm, NULL for the others. A name of NULL
 * is for none. Returns 0, or -1 when no operation has it on this network. */
int algorithm_find(const struct network *network, const char *name,
                   const char *algorithms[OPERATIONS], struct message *message);

/* The planner has refused an algorithm's name (NULL: none): when it is near to one that the
 * operation has, the message says so in place of what it says. */
void algorithm_suggest(uint32_t operation, const char *name, struct message *message);
