#include "sim/parallel/outbox.h"

#include <stdlib.h>

enum { ROOM_FIRST = 64 };

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
