#include "tests/sim/execution.h"

#include <inttypes.h>
#include <stdio.h>

#include "drivers/check.h"

enum { ADVANCE_EVENTS = 10000, EVENTS_MAX = 2 * 1000 * 1000, IMAGE_BYTES = 16 };

/* One measurement: all nodes, all bytes, the time. */
static bool is_right(const struct sim_options *options, const struct sim_result *result,
                     char why[SIM_TEXT_MAX])
{
    const struct sim_line *line = &result->lines[0];

    why[0] = '\0';
    if (result->verdict != SIM_GOOD || result->trouble_count) {
        snprintf(why, SIM_TEXT_MAX, "verdict %d: %.300s", (int)result->verdict,
                 result->trouble_count ? result->troubles[0] : "nothing is told");
    } else if (result->questions) {
        snprintf(why, SIM_TEXT_MAX, "nothing moved until the host asked");
    } else if (result->line_count != 1 || line->nodes != options->network.nodes ||
               !result->checked) {
        snprintf(why, SIM_TEXT_MAX, "not all nodes have measured and checked");
    } else if (line->wrong) {
        snprintf(why, SIM_TEXT_MAX, "%" PRIu64 " wrong bytes", line->wrong);
    } else if (line->model_ns != line->predicted_ns) {
        snprintf(why, SIM_TEXT_MAX, "it takes %" PRIu64 " ns, and %" PRIu64 " are predicted",
                 line->model_ns, line->predicted_ns);
    }
    return !why[0];
}

/* What a scenario calls a plan's root: a rank. */
static uint32_t root_of(const struct plan *plan)
{
    return operation_of(plan->operation)->rooted ? network_rank(&plan->network, plan->root)
                                                 : plan->root;
}

bool execution_is_right(struct plan *plan, const struct profile *profile, uint32_t bytes,
                        uint32_t type, char why[SIM_TEXT_MAX])
{
    struct plan *written[] = {plan};
    const struct sim_options options = {.network = plan->network,
                                        .profile = *profile,
                                        .scenario = (enum sim_scenario)plan->operation,
                                        .sizes = {bytes},
                                        .size_count = 1,
                                        .asked = true,
                                        .root = root_of(plan),
                                        .type = (uint8_t)type,
                                        .seed = 1,
                                        .scrub = true,
                                        .contents = SIM_CHECKED,
                                        .image_bytes = IMAGE_BYTES,
                                        .stop_at = EVENTS_MAX,
                                        .written = written,
                                        .written_count = 1};
    struct sim *sim = sim_make(&options);
    struct sim_result result;

    CHECK(sim);
    while (sim_advance(sim, ADVANCE_EVENTS)) {
        ;
    }
    sim_result(sim, &result);
    sim_free(sim);
    return is_right(&options, &result, why);
}
