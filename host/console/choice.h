/*
 * choice.h - a word that should be one of several names: whether it is one, and what to say if not.
 *
 *     unknown operation 'brodcast': did you mean broadcast?
 *     unknown profile 'cray': use ipsc860, ipsc2, delta, t800, unit
 *
 * A name is near when few letters must be put in, left out, changed or exchanged with their
 * neighbour (one for three letters, two up to seven, three for more; capitals do not count), or
 * when the word is its beginning.
 *
 * Source   Damerau, CACM 7(3), 1964, 171-176; the restricted distance, in which no letter is
 *          changed twice
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "host/console/message.h"

struct choice {
    const char *word;
    char names[MESSAGE_MAX]; /* offered so far, "a, b (or c)"; cut when there are too many */
    size_t used;
    const char *near; /* the nearest name; NULL: none is near */
    unsigned distance;
};

void choice_begin(struct choice *choice, const char *word);

/* Whether the word is this name. The name is kept until the choice is over. */
bool choice_offer(struct choice *choice, const char *name);

/* The same of another name for what was offered last. */
bool choice_offer_alias(struct choice *choice, const char *name);

/* Fills the message: `what` and the word, then the near name, or all; returns -1. */
int choice_refuse(const struct choice *choice, const char *what, struct message *message);
