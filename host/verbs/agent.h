/*
 * agent.h - the command line of `ecube agent`, which ecube-agent reads, and `ecube` knows.
 */
#pragma once

#include "host/verbs/run.h"

struct agent_words {
    struct run_arguments run;
    struct name_arguments name;
    const char *key_file;
    bool dry_run;
};

/* Fills it from the command line, as command_line_parse does. */
void agent_parse(struct agent_words *words, int argc, char **argv);
