#include "collectives/engine_copy.h"

#include <string.h>

#include "collectives/engine_cursor.h"
#include "reduction/reduction.h"

enum { COPY_BYTES = 32 * 1024 /* of a row that copies, in one step of the node */ };

void engine_move(const struct engine *e, bool combines, uint8_t *into, const uint8_t *from,
                 uint32_t bytes)
{
    if (combines) {
        reduction_combine(e->call.type, e->call.operator_, into, from,
                          bytes / reduction_element_bytes(e->call.type));
    } else {
        memcpy(into, from, bytes);
    }
}

bool engine_copy_some(struct engine *e, const struct router *router)
{
    uint32_t room = COPY_BYTES;

    if (e->send_bytes == 0) {
        return true;
    }
    while (room && cursor_stands(e, router, &e->from) && cursor_stands(e, router, &e->into)) {
        uint32_t bytes = engine_least(engine_least(e->from.left, e->into.left), room);
        engine_move(e, e->head.flags & ROW_COMBINES, e->into.at, e->from.at, bytes);
        cursor_pass(&e->from, bytes);
        cursor_pass(&e->into, bytes);
        room -= bytes;
    }
    return room > 0;
}
