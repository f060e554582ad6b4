/*
 * run.h - runs of programs that are the tool's own.
 */
#pragma once

#include <jansson.h>

#include "host/command/options.h"

/* Boots a machine, runs a program that reports load->reports lines, and ends the machine, as
 * `ecube run` does, but prints no table. Returns the exit status; *result is the object of --json,
 * NULL after bad input, which has been told. */
int run_own(const struct machine_arguments *machine, const struct load_arguments *load,
            json_t **result);
