/*
 * map_option.h - --map and --as on the command line: which rank is at which node, and what the
 * ranks form.
 *
 * Errors   -1 and one line
 * Context  the tool
 */
#pragma once

#include "host/command/command_line.h"
#include "host/job/map_choice.h"

extern const struct option_row options_map[]; /* into a struct map_wanted */

/* Whether the words can be a map at all, whatever the network. */
int map_check(const struct map_wanted *wanted, struct message *message);

/* Gives the network the map that was asked for, if one was: it stays as long as the process. */
int map_apply(const struct map_wanted *wanted, struct network *network, struct message *message);
