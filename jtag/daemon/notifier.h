/*
 * notifier.h - tells whoever has started the program what happens (notice.h), on a descriptor.
 *
 * Only the latest state of a node counts: whoever does not read gets that, and holds nobody up.
 *
 * Errors   the descriptor's other end was closed: `gone`
 * Context  the loop's thread
 */
#pragma once

#include <uv.h>

#include "jtag/daemon/notice.h"

enum { HERALD_NODES_MAX = 512 };

struct notifier {
    int fd; /* -1: nobody is told */
    uv_poll_t poll;
    void *context;
    void (*gone)(void *context);
    unsigned nodes;
    bool ready, is_ready_due;
    struct notice now[HERALD_NODES_MAX];
    bool is_due[HERALD_NODES_MAX], is_reset_due[HERALD_NODES_MAX];
    unsigned line_bytes, line_sent; /* a line that is on its way */
    char line[NOTICE_LINE_MAX];
};

/* `fd` -1: none. All nodes begin in `state`, held by nobody, which is not told. A negative libuv
 * status when the descriptor is none that can be waited for. */
int notifier_start(struct notifier *notifier, uv_loop_t *loop, int fd, unsigned nodes,
                   enum notice_state state, void *context, void (*gone)(void *context));

void notifier_tell_ready(struct notifier *notifier);

void notifier_tell_node(struct notifier *notifier, unsigned node, enum notice_state state,
                        const char *holder);

void notifier_tell_reset(struct notifier *notifier, unsigned node);
