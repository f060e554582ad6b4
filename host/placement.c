#include "host/placement.h"

#include <sched.h>

unsigned placement_of(uint32_t node, unsigned processors)
{
    unsigned sum = 0;

    for (uint32_t rest = node; processors > 1 && rest > 0; rest /= processors) {
        sum += rest % processors;
    }
    return processors > 1 ? sum % processors : 0;
}

void placement_bind(uint32_t node, uint32_t nodes)
{
    cpu_set_t usable, one;
    unsigned left;

    if (sched_getaffinity(0, sizeof usable, &usable) != 0 ||
        nodes <= (uint32_t)CPU_COUNT(&usable)) {
        return;
    }
    left = placement_of(node, (unsigned)CPU_COUNT(&usable));
    for (unsigned processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &usable) && left-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            (void)sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}
