#include "tests/planner/shared_links.h"

#include <stdlib.h>

#include "planner/build.h"

bool steps_share_links(const struct plan *plan)
{
    uint32_t ports = plan->network.ports,
             *last = planner_memory((uint64_t)plan->network.nodes * ports, sizeof *last);
    bool shares = false;

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        uint32_t at = circuit->from;
        for (unsigned hop = 0; hop < circuit->hops; hop++) {
            unsigned port = circuit_port(plan, circuit, at, hop);
            shares = shares || last[at * ports + port] == circuit->step + 1;
            last[at * ports + port] = circuit->step + 1;
            at = network_neighbour(&plan->network, at, port);
        }
    }
    free(last);
    return shares;
}
