/*
 * fake_ivshmem.h - nodes' ivshmem devices in plain memory, and the memories of the links between
 * them: what shared_memory_link.c finds on a board.
 *
 * Plain memory that is asked for the size of a region says sixteen bytes: as many as the registers
 * have, and the one entry of the MSI-X table. The card lies behind them.
 *
 * Context  tests
 */
#pragma once

#include "drivers/link/shared_memory_link.h"

enum {
    FAKE_SLOT = 1,
    FAKE_BUFFERS = 4,
    FAKE_LINKS = 3,
    FAKE_ECAM_BYTES = 1 << 20,
    FAKE_WINDOW_BYTES = 1 << 16,
    FAKE_MESSAGE_ADDRESS = 0x8020040,
    FAKE_MESSAGE_DATA = 81,
    FAKE_NOT_RUNG = 0x5a5a
};

struct fake_node {
    uint32_t *configuration;     /* of its device, by words */
    uint8_t *window;             /* below 4 GiB */
    volatile uint32_t *doorbell; /* where the driver finds it */
    volatile uint32_t *message;  /* the entry of the MSI-X table */
    struct shared_card *card;
    struct shared_memory_links_config config;
    struct shared_memory_links links;
    struct shared_memory_link link[FAKE_LINKS];
};

/* Link memories, all zero but for the carrier; FAKE_LINKS of them. */
struct shared_memory *fake_memories(void);

/* A node on one side of all of them: its port n is link n, and rings neighbour n + 1. */
void fake_node_make(struct fake_node *node, struct shared_memory *memories, uint8_t side);
void fake_node_free(struct fake_node *node);

/* Starts its driver, the first time or again. */
int fake_node_start(struct fake_node *node);

/* Whether it has rung the neighbour of this port since it was asked last. */
bool fake_node_rang(struct fake_node *node, uint32_t port);
