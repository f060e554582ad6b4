/*
 * figure.h - the file of --svg, drawn by gnuplot with a script that lies beside the tool.
 *
 * gnuplot reads what the owner has written (data blocks, names) and then the script, from a file
 * that has no name, and draws to the descriptor of --svg.
 *
 * Errors   -1 and a message
 * Context  the tool
 */
#pragma once

#include <stdio.h>

#include "host/command/output.h"
#include "host/console/message.h"

/* Looks for gnuplot and for the script (its name without ".gp"), so that what is missing is told
 * before anything is measured; `path` is the word of --svg. */
int figure_find(const char *path, const char *script, struct message *message);

/* For what the script reads; NULL and a message: there is no room for it. */
FILE *figure_begin(const struct output *output, struct message *message);

/* Draws, and closes both. A file of --svg that is not drawn is the owner's to drop. */
int figure_draw(FILE *file, const char *script, struct output *output, struct message *message);
