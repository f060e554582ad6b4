/*
 * clock.c - model and wall clock, and the report of what they measured.
 */
#include <string.h>

#include "include/ecube/ecube.h"
#include "lib/portable/call.h"

static struct ecube_abi_clock clock_read(void)
{
    struct ecube_abi_clock now = {0, 0};
    ecube_call(ECUBE_CALL_CLOCK, ecube_address(&now), 0);
    return now;
}

uint64_t ecube_model_ns(void)
{
    return clock_read().model_ns;
}

uint64_t ecube_wall_ns(void)
{
    return clock_read().wall_ns;
}

int ecube_compute(uint64_t ns)
{
    struct ecube_called called = {.number = ECUBE_CALLED_COMPUTE, .ns = ns};
    return ecube_returns(&called,
                         ecube_call(ECUBE_CALL_ADVANCE, (uint32_t)ns, (uint32_t)(ns >> 32)));
}

void ecube_mark(const char *name)
{
    if (ecube_program_info()->records && name) {
        ecube_call(ECUBE_CALL_MARK, ecube_address(name), (uint32_t)strlen(name));
    }
}

int ecube_report(const struct ecube_report *report)
{
    struct ecube_called called = {.number = ECUBE_CALLED_REPORT};
    struct ecube_abi_report wire = {
        .bytes = report->bytes,
        .steps = report->steps,
        .model_ns = report->model_ns,
        .predicted_ns = report->predicted_ns,
        .bound_ns = report->bound_ns,
        .wall_ns = report->wall_ns,
        .wrong = report->wrong,
    };
    strncpy(wire.name, report->name, ECUBE_NAME_MAX - 1);
    return ecube_returns(&called, ecube_call(ECUBE_CALL_REPORT, ecube_address(&wire), 0));
}
