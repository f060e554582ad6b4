/*
 * plan.h - what the files of the verb `plan` share: what was asked for, and the plan.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "planner/planner.h"
#include "host/console/message.h"
#include "host/command/output.h"
#include "host/profile/profiles.h"
#include "network/text.h"
#include "router/clock.h"

struct plan_command {
    struct network network;
    char network_name[NETWORK_NAME_MAX];
    struct profile profile;
    char profile_name[PROFILE_NAME_MAX];
    struct plan_request request;
    uint32_t element_bytes; /* of a reduction; else 1 */
};

/* Prints a plan for people: algorithm, rows, steps, times. */
void plan_show(const struct plan *plan, const struct plan_command *command);

/* Prints the operation's algorithms, of all operations for OPERATIONS. */
void plan_list(uint32_t operation);

/* Prints what each algorithm takes, and which one is chosen. -1: there is no plan. */
int plan_explain(const struct plan_command *command, struct message *message);

/* Prints the cheapest plan for each number of ports, and the bound. */
struct ports_wanted;
int plan_explain_ports(const struct plan_command *command, const struct ports_wanted *ports,
                       struct message *message);

/* Whether plan_figure can draw the operation, for --svg `path`; -1 and why not. */
int plan_figure_find(const struct plan_command *command, const char *path, struct message *message);
/* Draws what the algorithms take over the size to a file that output_open_as has opened. */
int plan_figure(const struct plan_command *command, struct output *output, struct message *message);

/* Prints what no plan can take less than, and why; and that it is not known whether another plan
 * takes less, where this one takes far more. */
void plan_print_bound(const struct plan *plan, const struct plan_command *command,
                      uint64_t model_ns);

/* Whether this computer has the memory to name the blocks of all circuits. */
int plan_export_check(const struct plan *plan, struct message *message);

/* Writes a plan as JSON (doc/json.md) to a file that output_open has opened, and closes it. */
int plan_export(const struct plan *plan, const struct plan_command *command, struct output *output,
                struct message *message);

/* Whether two plans of all nodes move the same blocks in the same circuits, in the same order: what
 * their exports say. They may keep blocks in other slots, and combine them sooner or later. */
bool plan_exports_alike(const struct plan *a, const struct plan *b);

/* Whether this computer has the memory to draw all circuits. */
int plan_page_check(const struct plan *plan, struct message *message);

/* Writes a plan as a page for a browser to a file that output_open_as has opened, and closes it. */
int plan_page(const struct plan *plan, const struct plan_command *command, struct output *output,
              struct message *message);

/* Reads the plan in a file, proves it and shows it; `bytes` where the file says no size, or the
 * command line does. */
struct machine_arguments;
struct plan_verify_request {
    const struct machine_arguments *machine;
    bool has_bytes;
    uint32_t bytes;
};
int plan_verify(const char *path, const struct plan_verify_request *request,
                struct message *message);

/* What has been proved of a plan, in words. */
const char *plan_promise(const struct plan *plan);
