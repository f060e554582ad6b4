#include "sim/parallel/outbox.h"

#include <stdlib.h>

enum { ROOM_FIRST = 64, BAG_FIRST = 4096 };

bool outbox_grow(struct outbox *outbox)
{
    uint32_t room = outbox->room ? outbox->room * 2 : (uint32_t)ROOM_FIRST;
    struct sending *sendings = realloc(outbox->sendings, room * sizeof *sendings);

    if (!sendings) {
        return false;
    }
    outbox->sendings = sendings;
    outbox->room = room;
    return true;
}

void outbox_free(struct outbox *outbox)
{
    free(outbox->sendings);
    *outbox = (struct outbox){0};
}

bool mailbag_grow(struct mailbag *bag, size_t bytes)
{
    size_t room = bag->room ? bag->room : (size_t)BAG_FIRST;

    while (room < bag->bytes + bytes) {
        room *= 2;
    }
    uint8_t *records = realloc(bag->records, room);
    if (!records) {
        return false;
    }
    bag->records = records;
    bag->room = room;
    return true;
}

void mailbag_free(struct mailbag *bag)
{
    free(bag->records);
    *bag = (struct mailbag){0};
}
