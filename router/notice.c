/*
 * notice.c - the ring of notices: what the owner has not been told yet.
 */
#include "router/notice.h"

#include <stddef.h>

#include "drivers/check.h"
#include "router/channel_receive.h"
#include "router/port.h"
#include "router/state.h"

bool notice_room(const struct router *router)
{
    return router->notice_count < NOTICES_MAX;
}

bool notice_room_for_step(const struct router *router)
{
    return router->notice_count + NOTICES_SPARE <= NOTICES_MAX;
}

struct notice *notice_add(struct router *router)
{
    CHECK(notice_room(router));
    if (router->notice_count == 0) {
        router->notice_first = 0;
    }
    return &router->notices[(router->notice_first + router->notice_count++) % NOTICES_MAX];
}

/* Takes the first notice off, and gives back where its packet lies. */
static void drop(struct router *router)
{
    const struct notice *notice = &router->notices[router->notice_first];

    if (notice->kind == NOTICE_PACKET) {
        channel_release(&router->ports[notice->port].channel, &router->due, notice->buffer,
                        CREDIT_CONTROL, 0);
    }
    router->notice_first = (uint8_t)((router->notice_first + 1) % NOTICES_MAX);
    router->notice_count--;
    router->notice_taken = false;
}

const struct notice *notice_take(struct router *router)
{
    if (router->notice_taken) {
        drop(router);
    }
    if (router->notice_count == 0) {
        return NULL;
    }
    router->notice_taken = true;
    return &router->notices[router->notice_first];
}
