/*
 * target.h - the board that the nodes are: where programs may lie, the kernel's image, QEMU and its
 * arguments.
 *
 * The one file of the host that reads board.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/console/message.h"
#include "host/computer/limits.h"

enum { TARGET_PATH_MAX = 512, TARGET_ARGUMENTS_MAX = 96 };

/* The memory of a node as a program image sees it. */
struct target_memory {
    uint32_t kernel_base, kernel_end;
    uint32_t stack_base;   /* lowest address of the stack, which grows down to it */
    uint32_t blocks_bytes; /* room for private blocks */
    uint32_t image_base, image_end;
};

struct target {
    char kernel[TARGET_PATH_MAX];
    char qemu[TARGET_PATH_MAX];
    char jtag[TARGET_PATH_MAX]; /* ecube-jtag, which serves nK.gdb then; empty: QEMU does */
    bool blank;                 /* without a kernel, and stopped */
    bool shared;                /* links between nodes are in shared memory, not serial lines */
};

/* argv of one QEMU, or of ecube-jtag, with the strings that it points to. */
struct target_command {
    char *arguments[TARGET_ARGUMENTS_MAX];
    unsigned count;
    char text[6000];
    unsigned text_bytes;
};

extern const struct target_memory target_memory;

/* The options of every node's QEMU, as board.mk has them: generated; NULL ends them. */
extern const char *const target_options[];

/* Finds the kernel image beside the tool and QEMU in PATH; kernel and qemu may be given, else
 * NULL. */
int target_find(struct target *target, const char *kernel, const char *qemu,
                struct message *message);

/* Where the memory of a node lies. */
void target_ram(uint32_t *base, uint32_t *bytes);

/* Finds ecube-jtag beside the tool. */
int target_find_jtag(struct target *target, struct message *message);

/* Finds OpenOCD's configuration of the board beside the tool. */
int target_find_openocd_board(char path[TARGET_PATH_MAX], struct message *message);

/* Finds a program in PATH; false: it is not there. */
bool target_find_program(char path[TARGET_PATH_MAX], const char *name);

/* What the links of a node are, as descriptors that its QEMU inherits. */
struct target_links {
    const int *serial_fds; /* of port p, or -1 */
    unsigned port_count;
    const int *memory_fds; /* of link memories, in the order of the node's card */
    unsigned memory_count; /* 0: no link in shared memory, and no card */
    int card_fd; /* where the card and whom to ring are told (host/links/shared_links.h) */
};

/* Makes the command line of a node. */
void target_make_command(struct target_command *command, const struct target *target,
                         const char *rundir, uint32_t node, const struct target_links *links);

/* Adds to a command what gives the node these links. */
void target_add_links(struct target_command *command, const struct target_links *links);

/* Makes the command line of ecube-jtag for so many nodes; chain: it shall serve one. It tells what
 * happens on an inherited descriptor. */
void target_make_jtag_command(struct target_command *command, const struct target *target,
                              const char *rundir, uint32_t nodes, bool chain, int notices_fd);
