/*
 * report.h - what programs report about their measurements, merged over the nodes.
 *
 * The k-th report of every node belongs to one line: times, steps and bound are the worst of the
 * nodes, wrong bytes are added up.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "planner/planner.h"
#include "include/ecube/abi.h"
#include "router/clock.h"
#include "wire/run.h"

struct report {
    char name[ECUBE_NAME_MAX];
    uint64_t bytes, steps, model_ns, predicted_ns, bound_ns, wall_ns, wrong;
    bool unstepped; /* there is no schedule */
    bool unchecked; /* contents were not looked at */
};

struct report_table {
    struct report *reports;
    unsigned count, room;
};

/* Adds the k-th report of a node; false: too many, or out of memory. */
bool report_add(struct report_table *table, unsigned k, const struct report_body *told);
void report_free(struct report_table *table);

/* A count; one of 2^63 and more is a real number, for JSON integers have a sign. */
json_t *report_count(uint64_t count);

/* The list of the JSON output. Null is what was not looked at, and a prediction or bound of 0 for
 * what took time. */
json_t *report_to_json(const struct report_table *table);

/* Prints a list made by report_to_json as a table, null as "-". */
void report_print(FILE *file, const json_t *reports);

/* Prints what the strategies of a download would take (the member "strategies" of --json). */
void report_print_strategies(FILE *file, const json_t *strategies);

/* Plans that nodes were given: operation, root, bytes_min, bytes_max, algorithm. */
json_t *report_plans(const struct plan_summary *summaries, uint32_t count);

/* The machine whose times are modelled: name, xi_us, tau_us, element_us, element_bytes, sigma. */
json_t *report_profile(const char *name, const struct profile *profile);
