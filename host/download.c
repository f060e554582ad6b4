#include "host/download.h"

#include <string.h>

#include "drivers/check.h"

static const char *const names[] = {
    [STRATEGY_DECREMENTAL] = "decremental",
    [STRATEGY_SEQUENTIAL] = "sequential",
    [STRATEGY_SCATTER] = "scatter",
    [STRATEGY_SEQUENTIAL_SCATTER] = "sequential-scatter",
};

int download_parse_strategy(const char *text, enum strategy *strategy, struct message *message)
{
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *strategy = (enum strategy)i;
            return 0;
        }
    }
    return message_set(
        message,
        "unknown strategy '%.40s': use decremental, sequential, scatter or sequential-scatter",
        text);
}

const char *download_strategy_name(enum strategy strategy)
{
    return names[strategy];
}

unsigned download_best_x(const struct download_costs *costs, unsigned dims)
{
    for (unsigned x = 0; x < dims; x++) {
        if ((costs->block_bytes << x) * costs->tau_ns + costs->beta_ns >= costs->beta_host_ns) {
            return x;
        }
    }
    return dims;
}

static uint64_t set_bytes(const struct download_costs *costs) /* M */
{
    return costs->common_bytes + costs->block_bytes;
}

uint64_t download_sequential_ns(const struct download_costs *costs, unsigned dims)
{
    return (UINT64_C(1) << dims) * (costs->beta_host_ns + set_bytes(costs) * costs->tau_ns);
}

const char *download_note(uint64_t model_ns, uint64_t predicted_ns)
{
    return model_ns > predicted_ns ? "; formula (9) is too small below sigma 1" : "";
}

uint64_t download_bound_ns(const struct download_costs *costs, unsigned dims)
{
    return (costs->common_bytes + (costs->block_bytes << dims)) * costs->tau_ns;
}

uint64_t download_scatter_ns(const struct download_costs *costs, unsigned dims)
{
    uint64_t nodes = UINT64_C(1) << dims;

    return costs->beta_host_ns + set_bytes(costs) * nodes * costs->tau_ns + dims * costs->beta_ns +
           set_bytes(costs) * (nodes - 1) * costs->tau_ns;
}

uint64_t download_sequential_scatter_ns(const struct download_costs *costs, unsigned dims,
                                        unsigned x)
{
    uint64_t inside = UINT64_C(1) << x;
    uint64_t outside = (UINT64_C(1) << dims) - inside;
    uint64_t host = outside * (costs->beta_host_ns + set_bytes(costs) * costs->tau_ns);
    uint64_t scatter = x * costs->beta_ns + set_bytes(costs) * (inside - 1) * costs->tau_ns;

    return costs->beta_host_ns + set_bytes(costs) * inside * costs->tau_ns +
           (host > scatter ? host : scatter);
}

/* The time that the root of a subcube needs to scatter: step i moves the common part and
 * 2^(t-i-1) blocks. */
static uint64_t subcube_scatter_ns(const struct download_costs *costs, unsigned dims)
{
    return dims * (costs->beta_ns + costs->common_bytes * costs->tau_ns) +
           ((UINT64_C(1) << dims) - 1) * costs->block_bytes * costs->tau_ns;
}

uint64_t download_decremental_ns(const struct download_costs *costs, unsigned dims, unsigned x)
{
    uint64_t messages = dims - x + 1;

    return messages * (costs->beta_host_ns + costs->common_bytes * costs->tau_ns) +
           (costs->block_bytes << dims) * costs->tau_ns + subcube_scatter_ns(costs, x);
}

static void add_message(struct download_plan *plan, const struct download_costs *costs,
                        uint32_t root, unsigned dims)
{
    CHECK(plan->count < TOPOLOGY_NODES_MAX);
    plan->messages[plan->count++] = (struct download_message){.root = root, .dims = dims};
    plan->bytes += (costs->block_bytes << dims) + costs->common_bytes;
}

/* One message to each node from `first` on; returns the host's time. A node whose number has b
 * bits set is reached over a host link and b - 1 links of the cube. */
static uint64_t add_single_nodes(struct download_plan *plan, const struct download_costs *costs,
                                 unsigned dims, uint32_t first)
{
    uint64_t ns = 0;

    for (uint32_t node = first; node < UINT32_C(1) << dims; node++) {
        unsigned bits = (unsigned)__builtin_popcount(node);

        add_message(plan, costs, node, 0);
        ns += costs->beta_host_ns + set_bytes(costs) * costs->tau_ns +
              (bits > 1 ? bits - 1 : 0) * costs->hop_ns;
    }
    return ns;
}

int download_make_plan(struct download_plan *plan, enum strategy strategy, int x, unsigned dims,
                       const struct download_costs *costs, struct message *message)
{
    uint64_t host, scatter;

    if (x != DOWNLOAD_X_BEST && (x < 0 || (unsigned)x > dims)) {
        return message_set(message, "--x %d: a subcube of cube:%u has a dimension from 0 to %u", x,
                           dims, dims);
    }
    *plan = (struct download_plan){.strategy = strategy};
    plan->x = x == DOWNLOAD_X_BEST ? download_best_x(costs, dims) : (unsigned)x;
    switch (strategy) {
    case STRATEGY_SCATTER:
        plan->x = dims; /* decremental scattering with one root */
        __attribute__((fallthrough));
    case STRATEGY_DECREMENTAL:
        for (unsigned t = dims; t-- > plan->x;) {
            add_message(plan, costs, UINT32_C(1) << t, t);
        }
        add_message(plan, costs, 0, plan->x);
        plan->predicted_ns = download_decremental_ns(costs, dims, plan->x);
        break;
    case STRATEGY_SEQUENTIAL:
        plan->x = 0;
        plan->predicted_ns = add_single_nodes(plan, costs, dims, 0);
        break;
    case STRATEGY_SEQUENTIAL_SCATTER:
        add_message(plan, costs, 0, plan->x);
        scatter = subcube_scatter_ns(costs, plan->x);
        host = add_single_nodes(plan, costs, dims, UINT32_C(1) << plan->x);
        plan->predicted_ns =
            costs->beta_host_ns +
            (costs->common_bytes + (costs->block_bytes << plan->x)) * costs->tau_ns +
            (host > scatter ? host : scatter);
        break;
    }
    return 0;
}
