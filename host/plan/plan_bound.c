/*
 * plan_bound.c - the lines of `plan show` and `plan explain` on what nothing can take less than.
 */
#include <inttypes.h>
#include <stdio.h>

#include "host/console/fold.h"
#include "host/plan/plan.h"

/* Up to so much of the bound, in thousandths, a plan is not called open. */
enum { NEAR_PERMILLE = 1250 };

static void print_line(const char *name, const struct plan_bound *bound)
{
    printf("%-12s  %c%" PRIu64 ".%03u us: %s\n", name, FOLD_HANG, bound->ns / 1000,
           (unsigned)(bound->ns % 1000), bound->argument);
}

void plan_print_bound(const struct plan *plan, const struct plan_command *command,
                      uint64_t model_ns)
{
    const struct profile *profile = &command->profile;
    struct plan_bound bound = plan_bound(plan, command->request.bytes, profile);
    struct plan_bound full = plan_bound_full(plan, command->request.bytes, profile);

    print_line("bound", &bound);
    if (bound.ns > 0) {
        printf("%-12s  %.3f\n", "ratio", (double)model_ns / (double)bound.ns);
    }
    if (full.ns > bound.ns) {
        print_line("with set-up", &full);
    }
    if (full.ns > 0 && (double)model_ns * 1000 > (double)full.ns * NEAR_PERMILLE) {
        printf("%-12s  %c%.3f times the bound%s: whether a plan takes less is not known\n", "open",
               FOLD_HANG, (double)model_ns / (double)full.ns,
               full.ns > bound.ns ? " with set-up" : "");
    }
}
