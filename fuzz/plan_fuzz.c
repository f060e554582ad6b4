/*
 * plan_fuzz.c - plans that somebody has written: whatever a file holds, either one line says what
 * is wrong, or a plan that is proved once more, takes no less than its bound, and does on simulated
 * nodes what was proved, in the time that is predicted.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/check.h"
#include "fuzz/fuzz.h"
#include "host/plan/plan_file.h"
#include "tests/sim/execution.h"

enum { NODES_MAX = 256, EXECUTED_NODES_MAX = 16, BYTES = 96 };

/* On an iPSC/860 whose nodes have as many ports as the plan is for. */
static void execute(struct plan *plan, uint32_t type)
{
    char why[SIM_TEXT_MAX];
    const struct profile machine = {65425, 9575, 425, 1500, plan->node_ports, 1};
    bool right = execution_is_right(plan, &machine, BYTES, type, why);

    if (!right) {
        fprintf(stderr, "%s\n", why);
    }
    CHECK(right);
}

static void prove(const struct plan_file *file)
{
    static const struct profile profile = {.xi_ns = 100, .tau_ns = 10, .element_ns = 1};
    struct message message = {""};
    struct plan_fault fault;
    uint32_t element_bytes = plan_file_element_bytes(file);
    struct plan *plan = plan_file_prove(file, BYTES, element_bytes, &message);

    if (!plan) {
        CHECK(message.text[0] && !strchr(message.text, '\n'));
        return;
    }
    uint32_t digest = plan->digest;
    CHECK(plan_prove(plan, &fault) && plan->digest == digest);
    struct plan_time time = plan_time(plan, BYTES, element_bytes, &profile);
    CHECK(time.model_ns >= time.bound_ns);
    if (plan->network.nodes <= EXECUTED_NODES_MAX) {
        execute(plan, file->type);
    }
    plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct message message = {""};
    struct plan_file file;
    char path[40];

    if (fd < 0) {
        fd = memfd_create("plan", 0);
    }
    CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
    CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
    CHECK(snprintf(path, sizeof path, "/proc/self/fd/%d", fd) > 0);
    if (plan_file_read(&file, path, &message) != 0) {
        CHECK(message.text[0] && !strchr(message.text, '\n'));
        return 0;
    }
    if (file.named.network.nodes <= NODES_MAX) { /* larger ones only take longer */
        prove(&file);
    }
    plan_file_free(&file);
    return 0;
}
