/*
 * key.h - the secret that the agents of a machine share: made by rank 0, or in a file of a user's.
 *
 * Whoever has it may join the machine and is believed; nobody else may. It is never on a command
 * line or in an environment.
 */
#pragma once

#include "host/console/message.h"

enum { KEY_BYTES = 32, KEY_BYTES_MIN = 16, KEY_HEX_MAX = 2 * 64 + 1 };

/* What the key's holders are called in TLS. */
#define KEY_USER "ecube"

struct key {
    char hex[KEY_HEX_MAX]; /* empty: there is none */
};

int key_make(struct key *key, struct message *message);

/* Reads one from a file that nobody else can read. */
int key_read(struct key *key, const char *path, struct message *message);
