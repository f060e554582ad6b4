/*
 * plan_list.h - the plans of `--plan FILE`, which may be given more than once.
 *
 * Units    bytes
 * Errors   -1, and one line
 * Context  the tool
 */
#pragma once

#include "host/command/command_line.h"
#include "host/plan/plan_file.h"

enum { PLAN_LIST_MAX = 16 };

struct plan_list {
    const char *paths[PLAN_LIST_MAX];
    struct plan *plans[PLAN_LIST_MAX]; /* by path; proved, for the sizes that their files say */
    unsigned count;
};

/* What --plan does, whose target is a struct plan_list: notes a file. */
void plan_list_add(const struct option_row *option, char *path, void *target);

/* Reads and proves all of them, which must be of this machine, and of different collectives. */
int plan_list_read(struct plan_list *list, const struct network *network,
                   const struct profile *profile, struct message *message);
void plan_list_free(struct plan_list *list);

/* "alltoall of blocks of 100 bytes", "broadcast from node 3": what a plan is of. */
enum { PLAN_PURPOSE_MAX = 120 };
void plan_purpose(const struct plan *plan, char text[PLAN_PURPOSE_MAX]);

/* What is said of one that a run did not need. */
void plan_list_unused_text(const struct plan_list *list, unsigned i, char text[MESSAGE_MAX]);

/* Whether a plan that was read is for this machine; and, proved, right where its nodes have all
 * ports. */
int plan_file_fits(const struct plan_file *file, const struct network *network,
                   const struct profile *profile, struct message *message);
int plan_file_suits(const struct plan_file *file, struct plan *plan, const struct profile *profile,
                    struct message *message);
