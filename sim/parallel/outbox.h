/*
 * outbox.h - what a partition has sent in a round: frames to nodes of its own, and to another
 * partition or the host.
 *
 * Within a partition a frame goes as it lies in the partition's pool. To others it goes as records
 * of bytes, which name the end that they are for by its index: so who empties a mailbag looks at no
 * memory of the sender, and the bag may go to another process.
 *
 * Units    bytes; records begin at a multiple of 8
 * Errors   outbox_add returns false, and mailbag_add NULL, when there is no memory; what was sent
 *          is lost
 * Context  filled by its own partition in one half of a round, emptied by the other in the next
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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

struct mailbag {
    uint8_t *records;
    size_t bytes, room;
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

/* Room for so many bytes more; false when there is none. */
bool mailbag_grow(struct mailbag *bag, size_t bytes);
void mailbag_free(struct mailbag *bag);

/* What a record of so many bytes takes. */
static inline size_t mailbag_record(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* The place of a new record. */
static inline void *mailbag_add(struct mailbag *bag, size_t bytes)
{
    size_t taken = mailbag_record(bytes);

    if (bag->bytes + taken > bag->room && !mailbag_grow(bag, taken)) {
        return NULL;
    }
    bag->bytes += taken;
    return bag->records + bag->bytes - taken;
}
