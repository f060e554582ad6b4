/*
 * plan.h - what the files of the verb `plan` share: what was asked for, and the plan.
 */
#pragma once

#include <stdint.h>

#include "collectives/planner/planner.h"
#include "host/message.h"
#include "host/output.h"
#include "network/text.h"
#include "router/clock.h"

struct plan_request {
    struct network network;
    char network_name[NETWORK_NAME_MAX];
    struct profile profile;
    const char *profile_name;
    struct plan_wish wish;
    uint32_t element_bytes; /* of a reduction; else 1 */
};

/* Prints a plan for people: algorithm, rows, steps, times. */
void plan_show(const struct plan *plan, const struct plan_request *request);

/* Whether this computer has the memory to name the blocks of all circuits. */
int plan_export_check(const struct plan *plan, struct message *message);

/* Writes a plan as JSON (doc/json.md) to a file that output_open has opened, and closes it. */
int plan_export(const struct plan *plan, const struct plan_request *request, struct output *output,
                struct message *message);
