#include "host/computer/placement.h"

#include <sched.h>

enum { SPIN_US = 100 /* a bell and the wake-up of two threads take 50 to 80 */ };

unsigned placement_of(uint32_t node, unsigned processors)
{
    unsigned sum = 0;

    for (uint32_t rest = node; processors > 1 && rest > 0; rest /= processors) {
        sum += rest % processors;
    }
    return processors > 1 ? sum % processors : 0;
}

/* How many processors this process may use; 0: it is not known. */
static unsigned usable_processors(cpu_set_t *usable)
{
    return sched_getaffinity(0, sizeof *usable, usable) == 0 ? (unsigned)CPU_COUNT(usable) : 0;
}

void placement_bind(uint32_t node, uint32_t nodes)
{
    cpu_set_t usable, one;
    unsigned processors = usable_processors(&usable), left;

    if (nodes <= processors || processors == 0) {
        return;
    }
    left = placement_of(node, processors);
    for (unsigned processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &usable) && left-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            (void)sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

uint32_t placement_spin_us(uint32_t nodes)
{
    cpu_set_t usable;

    return nodes <= usable_processors(&usable) ? SPIN_US : 0;
}
