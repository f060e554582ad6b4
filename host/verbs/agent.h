/*
 * agent.h - the command line of `ecube agent`, which ecube-agent reads, and `ecube` knows.
 */
#pragma once

#include "host/computer/target.h"
#include "host/verbs/run.h"

/* What is said of a machine over several computers. */
struct agent_arguments {
    const char *key_file;
    bool dry_run;
};

extern const struct option_row agent_options[]; /* sets a struct agent_arguments */

struct agent_words {
    struct run_arguments run;
    struct name_arguments name;
    struct agent_arguments agents;
};

/* Finds ecube-agent beside the tool. */
int agent_find(char path[TARGET_PATH_MAX], struct message *message);

/* Fills it from the command line, as command_line_parse does. */
void agent_parse(struct agent_words *words, int argc, char **argv);
