/*
 * description.h - what the tool knows of a board: its memory, its emulator, and the options that
 * give a node its links.
 *
 * Each board's description.c fills one in; the tool has those of all boards. What the nodes
 * themselves know of their board is in platform.h.
 *
 * Units    bytes and addresses of a node
 */
#pragma once

#include <stdint.h>

#include "board/argv.h"

struct board_range {
    uint32_t base, bytes;
};

/* What the links of a node are, as descriptors that its emulator inherits. */
struct board_links {
    const int *serial_fds; /* of port p, or -1 */
    unsigned port_count;
    const int *memory_fds; /* of link memories, in the order of the node's card */
    unsigned memory_count; /* 0: no link in shared memory, and no card */
    int card_fd; /* where the card and whom to ring are told (host/links/shared_links.h) */
};

struct board {
    const char *name;
    const char *emulator;       /* the program */
    const char *const *options; /* of every node; NULL ends them */
    unsigned links_max;         /* of a node, the host link included */
    /* The emulator's device that links in shared memory need; NULL: the board's links are serial
     * lines. */
    const char *shared_device;
    uint32_t ram_base, ram_bytes;
    uint32_t kernel_base, kernel_end;
    uint32_t stack_base, stack_top;     /* a program's memory begins with its stack, */
    uint32_t image_base, image_end;     /* and holds its image, data and heap there */
    uint32_t record_base, record_bytes; /* where a node keeps its records; 0 bytes: it keeps none */
    uint32_t wake;                      /* of the interrupt controller: ecube-jtag's --wake */
    /* What debuggers can reach on a node's bus: elsewhere the emulator says nothing of an access in
     * vain. */
    const struct board_range *bus;
    unsigned bus_count;
    /* Adds the options that give a node these links: the first devices of its command. */
    void (*add_links)(struct argv *command, const struct board_links *links);
};

/* All boards, the one that the tool was made for first; NULL ends them. Generated. */
extern const struct board *const boards[];
