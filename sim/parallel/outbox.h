/*
 * outbox.h - what a partition has sent in a round to the nodes of one partition, or to the host.
 *
 * It holds frames, not the ends that sent them: who empties it looks at no end of the sender's
 * partition, so their lines of the cache stay where they are.
 *
 * Errors   outbox_add returns false when there is no memory; what was sent is lost
 * Context  filled by its own partition in one half of a round, emptied by the other in the next
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct chunk;
struct sim_end;

/* A frame to an end, from `first` to first->last. */
struct sending {
    struct sim_end *to;
    struct chunk *first;
};

struct outbox {
    struct sending *sendings;
    uint32_t count, room;
};

bool outbox_grow(struct outbox *outbox);
void outbox_free(struct outbox *outbox);

static inline bool outbox_add(struct outbox *outbox, struct sending sending)
{
    if (outbox->count == outbox->room && !outbox_grow(outbox)) {
        return false;
    }
    outbox->sendings[outbox->count++] = sending;
    return true;
}
