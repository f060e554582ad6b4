#include "bench/rivals/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

const struct profile compared_profile = {
    .xi_ns = 65425, .tau_ns = 9575, .element_ns = 425, .sigma_permille = 1000};

static struct plan_request request_for(uint32_t operation, uint32_t bytes)
{
    return (struct plan_request){.operation = operation,
                                 .bytes = bytes,
                                 .type = operation_of(operation)->reduces ? RIVAL_TYPE : 0,
                                 .profile = &compared_profile};
}

static uint64_t time_of(const struct plan *plan, uint32_t bytes)
{
    return plan_time(plan, bytes, RIVAL_ELEMENT_BYTES, &compared_profile).model_ns;
}

struct plan *rival_plan(const struct rival *rival, const struct network *cube, uint32_t bytes,
                        struct plan_fault *fault)
{
    const struct plan_request request = request_for(rival->operation, bytes);
    struct plan *plan = rival->plan(cube, &request, rival->how);

    if (plan_prove(plan, fault)) {
        return plan;
    }
    plan_free(plan);
    return NULL;
}

static bool add_ours(const struct network *cube, uint32_t operation, struct comparison *comparison,
                     struct plan_fault *fault)
{
    const struct plan_request request = request_for(operation, comparison->bytes);
    struct plan *plan = plan_make(cube, &request, fault);

    if (!plan) {
        return false;
    }
    candidate_words(candidate_of(operation, plan->algorithm), cube, plan->variant,
                    comparison->algorithm);
    comparison->ns = time_of(plan, comparison->bytes);
    plan_free(plan);
    return true;
}

/* Several libraries may select the same: then its time is there already. */
static bool add_rival(const struct network *cube, const struct selection *selection,
                      struct comparison *comparison, struct plan_fault *fault)
{
    unsigned place = comparison->count++;

    CHECK(place < SELECTED_MAX);
    comparison->selected[place].selection = selection;
    for (unsigned i = 0; i < place; i++) {
        if (comparison->selected[i].selection->rival == selection->rival) {
            comparison->selected[place].ns = comparison->selected[i].ns;
            return true;
        }
    }
    struct plan *plan = rival_plan(&rivals[selection->rival], cube, comparison->bytes, fault);
    if (!plan) {
        return false;
    }
    comparison->selected[place].ns = time_of(plan, comparison->bytes);
    plan_free(plan);
    return true;
}

static bool is_about(const struct selection *selection, uint32_t operation, uint32_t nodes)
{
    return rivals[selection->rival].operation == operation && selection->nodes == nodes;
}

bool compare(const struct network *cube, uint32_t operation, uint32_t bytes,
             struct comparison *comparison, struct plan_fault *fault)
{
    const struct selection *selection;

    *comparison = (struct comparison){.bytes = bytes};
    if (!add_ours(cube, operation, comparison, fault)) {
        return false;
    }
    for (unsigned i = 0; (selection = selection_of(i)); i++) {
        if (is_about(selection, operation, cube->nodes) && bytes >= selection->bytes_first &&
            bytes <= selection->bytes_last && !add_rival(cube, selection, comparison, fault)) {
            return false;
        }
    }
    return true;
}

double comparison_ratio(const struct comparison *comparison)
{
    uint64_t least = 0;

    for (unsigned i = 0; i < comparison->count; i++) {
        if (least == 0 || comparison->selected[i].ns < least) {
            least = comparison->selected[i].ns;
        }
    }
    return least ? (double)comparison->ns / (double)least : 0;
}

/* Keeps sizes ascending, each once. */
static unsigned insert(uint32_t sizes[COMPARED_SIZES_MAX], unsigned count, uint32_t bytes)
{
    unsigned at = 0;

    while (at < count && sizes[at] < bytes) {
        at++;
    }
    if (at < count && sizes[at] == bytes) {
        return count;
    }
    CHECK(count < COMPARED_SIZES_MAX);
    memmove(sizes + at + 1, sizes + at, (count - at) * sizeof *sizes);
    sizes[at] = bytes;
    return count + 1;
}

unsigned compared_sizes(uint32_t operation, uint32_t nodes, uint32_t sizes[COMPARED_SIZES_MAX])
{
    static const uint32_t plain[] = {BYTES_LEAST, 100, 1000, 10000, BYTES_MOST};
    uint32_t element = operation_of(operation)->reduces ? RIVAL_ELEMENT_BYTES : 1;
    const struct selection *selection;
    unsigned count = 0;

    for (unsigned i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        count = insert(sizes, count, plain[i]);
    }
    for (unsigned i = 0; (selection = selection_of(i)); i++) {
        if (is_about(selection, operation, nodes)) {
            uint32_t first = (selection->bytes_first + element - 1) / element * element;
            uint32_t last = selection->bytes_last / element * element;
            count = insert(sizes, count, first);
            count = insert(sizes, count, last);
        }
    }
    return count;
}
