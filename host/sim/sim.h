/*
 * sim.h - what the files of the verb `sim` share: its command line, and a run of it.
 */
#pragma once

#include <jansson.h>

#include "controller/download.h"
#include "host/computer/limits.h"
#include "host/command/options.h"
#include "host/command/output.h"
#include "host/plan/plan_list.h"
#include "host/report/run_report.h"
#include "host/sim/sim_program.h"
#include "sim/parallel/ranks.h"
#include "sim/simulation.h"

struct sim_arguments {
    struct machine_arguments machine;
    struct network network;
    char network_name[NETWORK_NAME_MAX];
    char profile_name[PROFILE_NAME_MAX];
    struct sim_options options;
    const char *json, *trace, *report, *parameter, *type, *operator_;
    const char *program;      /* NULL: a scenario */
    const char *const *words; /* for the program */
    unsigned word_count;
    const char *strategy; /* NULL: not given */
    bool explain;
    struct outputs_request outputs;
    struct data_arguments data; /* for the program */
    uint32_t timeout_ms;        /* 0: none */
    uint32_t memory_mb;         /* likewise */
    uint64_t available;         /* bytes, of all processes of a simulation; 0: there is one */
    unsigned reports;           /* lines that a program of the tool's own reports (view.h) */
    bool quiet, verbose, check, links;
    const char *faults[SIM_FAULTS_MAX]; /* read when the network is known */
    uint8_t fault_kinds[SIM_FAULTS_MAX];
    unsigned fault_count;
    struct plan_list written; /* of --plan */
    int x;
};

extern const struct command_line sim_line, sim_ranks_line;

/* Reads what needs the network: faults, scenario, sizes. */
int sim_arguments_finish(struct sim_arguments *arguments, struct message *message);

/* Memory that the simulation may take, in all its processes. */
uint64_t sim_available_bytes(const struct sim_arguments *arguments);

/* A run, and what it has come to. */
struct sim_run {
    struct sim_arguments arguments;
    struct sim_plans *plans;
    struct sim_program program; /* when there is one */
    struct sim_result result;
    int status; /* of the program; of a scenario it follows from the result */
    bool cut;   /* --timeout or a signal has ended it */
    struct output output, trace_output;
    struct run_report report;
    struct trace_result trace;
    json_t *traffic;                      /* NULL: not asked for */
    uint64_t begun_us[SIM_SIZES_MAX + 1]; /* when each line began; the last one ended */
    uint64_t start_us, end_us;
    uint64_t run_us;
    char history[SIM_HISTORY_MAX][SIM_TEXT_MAX];
    unsigned history_count;
    uint64_t predicted_ns; /* of the last download, as download_ns of the result */
    struct sim_rank ranks[RANKS_MAX];
    unsigned rank_count; /* 0: there is one process */
};

/* Simulates a program of the tool's own, as the verb does with its arguments (the others are
 * default), but prints no table. Returns the exit status; *result is the object of --json, NULL
 * after bad input, which has been told. */
int sim_run_own(const struct sim_arguments *arguments, json_t **result);

/* ecube-sim-mpi: the verb over several processes. `error`: the descriptor that standard error was,
 * of a rank that has said nothing so far; -1: it is as it was. Returns the exit status. */
int sim_run_ranks(int argc, char **argv, struct ranks *ranks, int error);

/* What the download of an image takes; x may be DOWNLOAD_X_BEST. */
struct sim_estimate {
    unsigned x;
    uint64_t predicted_ns, bound_ns;
};
struct sim_estimate sim_estimate(const struct sim_options *options, uint32_t image_bytes, int x);
/* Of the last one: of the scenario's image, or of the one before it. */
uint64_t sim_download_predicted_ns(const struct sim_run *run);
/* The object of --json. */
json_t *sim_describe(const struct sim_run *run, int status);
/* The members of a trouble of the simulation's own. */
json_t *sim_describe_about(const struct sim_about *about);
/* The digest of its trace. */
void sim_trace_digest_text(const struct trace_result *trace, char text[65]);
