#include "planner/written/written.h"

bool written_suits(const struct plan *written, const struct plan_request *request)
{
    return !request->algorithm && written->operation == request->operation &&
           written->root == request->root && request->bytes >= written->bytes_min &&
           request->bytes <= written->bytes_max && plan_is_for(written, request->profile);
}

void written_cut(struct plan *plan, const struct plan *written, uint32_t bytes)
{
    if (written->operation != plan->operation || written->root != plan->root) {
        return;
    }
    if (written->bytes_min > bytes && written->bytes_min <= plan->bytes_max) {
        plan->bytes_max = written->bytes_min - 1;
    }
    if (written->bytes_max < bytes && written->bytes_max >= plan->bytes_min) {
        plan->bytes_min = written->bytes_max + 1;
    }
}
