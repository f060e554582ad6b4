/*
 * introduction.h - what an agent says of itself and its computer: the first line of its control
 * connection.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/computer/target.h"
#include "host/console/message.h"

enum { COMPUTER_NAME_MAX = 64, DIGEST_HEX = 65 };

struct introduction {
    unsigned rank;
    char computer[COMPUTER_NAME_MAX];
    char boot[40]; /* of the kernel of this computer: two agents with the same share its memory */
    char version[24], tool[DIGEST_HEX], kernel[DIGEST_HEX]; /* of the files */
    uint64_t memory_bytes;
    char refusal[MESSAGE_MAX]; /* why it cannot hold nodes; empty: it can */
};

/* The name of this computer, by which users know it. */
void introduction_name(unsigned rank, char computer[COMPUTER_NAME_MAX]);

/* Of this process; target NULL: it cannot hold nodes, the refusal says why. */
void introduction_make(struct introduction *self, unsigned rank, const struct target *target,
                       const char *refusal);

json_t *introduction_to_json(const struct introduction *self);
bool introduction_from_json(struct introduction *other, const json_t *line);

/* Fails when the two cannot be parts of one machine; the message names the other's computer. */
int introduction_compare(const struct introduction *self, const struct introduction *other,
                         struct message *message);
