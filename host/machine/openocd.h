/*
 * openocd.h - OpenOCD at a machine that is up with a JTAG chain: its configuration, and programming
 * blank nodes through it.
 *
 * Errors   message: one line, with OpenOCD's own last error where it is OpenOCD that has failed
 * Source   OpenOCD User's Guide 0.12; the board's openocd.cfg, which reads the variables
 */
#pragma once

#include <stdint.h>

#include "host/console/message.h"
#include "host/console/view.h"

#define OPENOCD_FILE "openocd.cfg"

/* More would make OpenOCD slow: split in machines, not in chains. */
enum { OPENOCD_PATH_MAX = 512 };

/* Writes DIRECTORY/openocd.cfg: sets the variables of the board's configuration, then reads it. */
int openocd_write_config(const char *directory, uint32_t nodes, const char *kernel,
                         struct message *message);

/* A word as Tcl takes it unchanged. */
void openocd_quote(char *quoted, size_t room, const char *word);

/* Finds OpenOCD in PATH. */
int openocd_find(char path[OPENOCD_PATH_MAX], struct message *message);

/* Puts the kernel into all nodes and starts them; shows progress. Returns when OpenOCD has
 * ended. */
int openocd_program(const char *directory, uint32_t nodes, const char *kernel, struct view *view,
                    struct message *message);
