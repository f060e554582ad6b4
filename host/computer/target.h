/*
 * target.h - the board that the nodes are, the kernel's image, QEMU and its arguments.
 *
 * The one file of the host that has the table of boards. A process of the tool deals with one
 * machine, whose nodes are one board.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "board/description.h"
#include "host/console/message.h"
#include "host/computer/limits.h"

enum { TARGET_PATH_MAX = 512 };

struct target {
    char kernel[TARGET_PATH_MAX];
    char qemu[TARGET_PATH_MAX];
    char jtag[TARGET_PATH_MAX]; /* ecube-jtag, which serves nK.gdb then; empty: QEMU does */
    bool blank;                 /* without a kernel, and stopped */
    bool shared;                /* links between nodes are in shared memory, not serial lines */
};

/* The board of this process's machine: the one that the tool was made for, until target_choose. */
const struct board *target_board(void);

/* The boards of which nodes can be; NULL: there are fewer. */
const char *target_board_name(unsigned index);

/* Takes the board of that name. */
int target_choose(const char *name, struct message *message);

/* Finds the kernel image beside the tool and QEMU in PATH; kernel and qemu may be given, else
 * NULL. */
int target_find(struct target *target, const char *kernel, const char *qemu,
                struct message *message);

/* Finds ecube-jtag beside the tool. */
int target_find_jtag(struct target *target, struct message *message);

/* Finds OpenOCD's configuration of the board beside the tool. */
int target_find_openocd_board(char path[TARGET_PATH_MAX], struct message *message);

/* Finds a part of the installation, `what` it is, at one of these places from the tool's directory:
 * the built one, the installed one, NULL. */
int target_find_part(char path[TARGET_PATH_MAX], const char *what, const char *const *places,
                     struct message *message);

/* Finds a program in PATH; false: it is not there. */
bool target_find_program(char path[TARGET_PATH_MAX], const char *name);

/* Makes the command line of a node. */
void target_make_command(struct argv *command, const struct target *target, const char *rundir,
                         uint32_t node, const struct board_links *links);

/* Makes the command line of ecube-jtag for so many nodes; chain: it shall serve one. It tells what
 * happens on an inherited descriptor. */
void target_make_jtag_command(struct argv *command, const struct target *target, const char *rundir,
                              uint32_t nodes, bool chain, int notices_fd);
