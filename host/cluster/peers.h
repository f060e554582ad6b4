/*
 * peers.h - which of the agents of a machine this one is, how many there are, and how rank 0 is
 * reached.
 *
 * PMIx tells it under mpirun and srun: rank 0 publishes its addresses, its port and the key that it
 * has made. The environment does by hand: ECUBE_RANK, ECUBE_SIZE and ECUBE_ROOT=HOST:PORT, where
 * rank 0 listens, with a key in a file.
 *
 * Errors   message: neither has been told, or what was told makes no sense; empty: another says it
 * Source   PMIx Standard 4.1: PMIx_Put, PMIx_Commit, PMIx_Fence, PMIx_Get
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/cluster/key.h"
#include "host/console/message.h"

enum { PEERS_ADDRESSES_MAX = 512, PEERS_PORT_MAX = 8 };

struct peers {
    unsigned rank, size;
    char addresses[PEERS_ADDRESSES_MAX]; /* of rank 0, with commas; others try them in order */
    char port[PEERS_PORT_MAX];
    struct key key;
    int listener; /* rank 0's; -1: others have none */
    bool wired;   /* by PMIx: rank 0 listens already */
};

/* This process's rank, before anything is known to be right; 0 where nothing says it. */
unsigned peers_rank(void);

/* Finds all out; rank 0 listens then. key_file: NULL: rank 0 makes one. */
int peers_find(struct peers *peers, const char *key_file, struct message *message);

/* A socket that is connected to rank 0 and does not block; -1: none of its addresses has answered
 * in that time. */
int peers_connect(const struct peers *peers, unsigned patience_ms, struct message *message);

/* Whether rank 0 is told so by PMIx, and what it does then. */
bool peers_pmix_told(void);
int peers_pmix_find(struct peers *peers, struct message *message);

/* Listens at any address, or at one; port NULL: a free one. */
int peers_listen(const char *host, const char *port, struct message *message);
/* The port that a socket listens at. */
uint16_t peers_port_of(int socket);
/* The address of this end of a connection, as text; false: it has none. */
bool peers_own_address(int socket, char text[64]);
bool peers_far_address(int socket, char text[64]);
/* Connects within that time; -1 with errno (0: unknown host). Time 0: does not wait, and use of the
 * socket shows what has come of it. */
int peers_dial(const char *host, const char *port, unsigned patience_ms);
