/*
 * profiles.h - the machines whose time the model clock shows: those that are built in, and the one
 * that a word on the command line names.
 *
 * A word is the name of one that is built in, or else the path of a file (profile_file.h), "-" for
 * standard input. A built in name goes first: a file of that name is ./NAME.
 *
 * Units    as router/clock.h
 * Errors   -1 and one line
 * Context  the tool
 */
#pragma once

#include "host/console/message.h"
#include "router/clock.h"

enum { PROFILE_NAME_MAX = 64, PROFILE_WORDS_MAX = 512, PROFILE_SIGMA_MAX = 60 };

struct machine_profile {
    char name[PROFILE_NAME_MAX];
    struct profile profile;
    char source[PROFILE_WORDS_MAX]; /* where the numbers are from; "": not said */
    char note[PROFILE_WORDS_MAX];   /* what of the machine they do not show; "": nothing */
};

extern const char profile_default[]; /* the name of the one that is meant when none is named */

/* Number `index` of those that are built in; NULL: there are no more. */
const struct machine_profile *profile_built_in(unsigned index);

/* The profile that a word names. */
int profile_find(const char *word, struct machine_profile *found, struct message *message);
