/*
 * hosts.h - ecube run --hosts FILE: an agent on each of these computers, started by mpirun.
 *
 * mpirun has one standard error for its own words and those of the agents. So rank 0's agent marks
 * where its words begin and end: what stands between is shown as it comes. The rest is mpirun's,
 * kept, and shown when mpirun has failed itself.
 *
 *     words of mpirun   BEGINS   words of rank 0   ENDS 7   words of mpirun
 *
 * Errors   one line and STATUS_BAD_INPUT
 * Source   Open MPI 4.1, mpirun(1): --host, --mca plm_rsh_agent, -x
 */
#pragma once

#include "host/command/options.h"

/* Runs what the command line says, without its --hosts, as agents; hosts is the value of that.
 * Returns the exit status of rank 0. */
int hosts_run(const char *hosts, const struct data_arguments *data, int argc, char **argv);

/* ecube launch HOST COMMAND...: for mpirun, in place of ssh: what ssh, or ECUBE_LAUNCH, does.
 * Returns the exit status. */
int hosts_launch(int argc, char **argv);

/* For rank 0's agent: marks its words, if mpirun was started by hosts_run. */
void hosts_mark_begin(void);
void hosts_mark_end(int status);
