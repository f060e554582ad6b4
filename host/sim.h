/*
 * sim.h - what the files of the verb `sim` share: its command line.
 */
#pragma once

#include <argp.h>

#include "host/options.h"
#include "host/topology.h"
#include "sim/mesh.h"

struct sim_arguments {
    struct mesh_arguments mesh;
    struct topology topology;
    struct sim_options options;
    const char *json, *trace;
    const char *faults[SIM_FAULTS_MAX]; /* read when the network is known */
    uint8_t fault_kinds[SIM_FAULTS_MAX];
    unsigned fault_count;
    int x;
};

extern const struct argp sim_argp;

/* Reads what needs the network: faults, scenario, sizes. */
int sim_arguments_finish(struct sim_arguments *arguments, struct message *message);
