/*
 * sources.c - the variants of an operation that plans are made of: its candidates', one after the
 * other, by number, so that the number of a plan that is made of one says which.
 *
 *     allgather: ring of neighbours, cycle one way, cycle both ways, ...
 *                0                   1              2
 */
#include "planner/algorithms/candidates.h"

/* What is mapped only where the order of ranks is kept, or never, may be made of what is mapped. */
enum sources sources_for(uint32_t operation)
{
    const struct operation *row = operation_of(operation);

    return row->prefix || row->parameter ? SOURCES_MAPPED : SOURCES_HERE;
}

static unsigned variants_of(const struct candidate *candidate, const struct network *network,
                            enum sources of)
{
    const struct plan_request least = {
        .operation = candidate->operation, .root = CANDIDATE_ROOT_ANY, .ports = PORTS_ALL};
    struct plan_request most = least;

    if (candidate->made_of && of != (candidate->networks ? SOURCES_MAPPED : SOURCES_THERE)) {
        return 0;
    }
    most.bytes = INT32_MAX;
    unsigned few = candidate_variants(candidate, network, &least);
    unsigned many = candidate_variants(candidate, network, &most);
    return few > many ? few : many;
}

unsigned sources_count(uint32_t operation, const struct network *network, enum sources of)
{
    const struct candidate *candidate;
    unsigned count = 0;

    for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
        count += variants_of(candidate, network, of);
    }
    return count;
}

unsigned sources_place(const struct plan *plan, enum sources of)
{
    unsigned place = plan->variant;

    for (unsigned i = 0; i < plan->algorithm; i++) {
        place += variants_of(candidate_of(plan->operation, i), &plan->network, of);
    }
    return place;
}

const struct candidate *sources_find(uint32_t operation, const struct network *network,
                                     enum sources of, unsigned *variant)
{
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
        unsigned variants = variants_of(candidate, network, of);
        if (*variant < variants) {
            return candidate;
        }
        *variant -= variants;
    }
    return NULL;
}
