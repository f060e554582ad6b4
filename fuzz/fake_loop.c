#include "fuzz/fake_loop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "drivers/check.h"
#include "host/image.h"
#include "host/launcher.h"
#include "host/symbols.h"

struct fake_world fake_world;

static struct timer {
    uv_timer_t *handle; /* NULL: not active */
    uv_timer_cb fire;
    uint64_t due_ms, repeat_ms;
} timers[FAKE_TIMERS_MAX];
static unsigned handles;

void fake_world_begin(void)
{
    memset(timers, 0, sizeof timers);
    handles = 0;
    fake_world = (struct fake_world){.now_ms = 1000};
    for (unsigned i = 0; i < TOPOLOGY_HOST_LINKS_MAX; i++)
        fake_world.node_fds[i] = -1;
}

unsigned fake_world_handles(void)
{
    return handles;
}

static struct timer *find(const uv_timer_t *handle)
{
    for (unsigned i = 0; i < FAKE_TIMERS_MAX; i++)
        if (timers[i].handle == handle)
            return &timers[i];
    return NULL;
}

void fake_world_pass(uint64_t ms)
{
    uint64_t end_ms = fake_world.now_ms + ms;

    for (;;) {
        struct timer *next = NULL;
        for (unsigned i = 0; i < FAKE_TIMERS_MAX; i++)
            if (timers[i].handle && timers[i].due_ms <= end_ms &&
                (!next || timers[i].due_ms < next->due_ms))
                next = &timers[i];
        if (!next)
            break;
        uv_timer_t *handle = next->handle;
        if (next->due_ms > fake_world.now_ms)
            fake_world.now_ms = next->due_ms;
        if (next->repeat_ms)
            next->due_ms += next->repeat_ms;
        else
            next->handle = NULL;
        next->fire(handle);
    }
    fake_world.now_ms = end_ms;
}

int uv_timer_init(uv_loop_t *loop, uv_timer_t *handle)
{
    handle->loop = loop;
    handles++;
    return 0;
}

int uv_timer_start(uv_timer_t *handle, uv_timer_cb fire, uint64_t timeout_ms, uint64_t repeat_ms)
{
    struct timer *timer = find(handle);

    if (!timer)
        timer = find(NULL);
    CHECK(timer && fire);
    *timer = (struct timer){handle, fire, fake_world.now_ms + timeout_ms, repeat_ms};
    return 0;
}

int uv_timer_stop(uv_timer_t *handle)
{
    struct timer *timer = find(handle);

    if (timer)
        timer->handle = NULL;
    return 0;
}

int uv_is_active(const uv_handle_t *handle)
{
    return find((const uv_timer_t *)handle) != NULL;
}

void uv_close(uv_handle_t *handle, uv_close_cb closed)
{
    CHECK(!closed && handles > 0);
    uv_timer_stop((uv_timer_t *)handle);
    handles--;
}

int uv_signal_init(uv_loop_t *loop, uv_signal_t *handle)
{
    handle->loop = loop;
    handles++;
    return 0;
}

int uv_signal_start(uv_signal_t *handle, uv_signal_cb fire, int number)
{
    (void)handle, (void)fire, (void)number;
    return 0;
}

int uv_poll_init(uv_loop_t *loop, uv_poll_t *handle, int fd)
{
    (void)fd;
    handle->loop = loop;
    handles++;
    return 0;
}

int uv_poll_start(uv_poll_t *handle, int events, uv_poll_cb fire)
{
    (void)handle, (void)events, (void)fire;
    return 0;
}

int uv_poll_stop(uv_poll_t *handle)
{
    (void)handle;
    return 0;
}

uint64_t uv_hrtime(void)
{
    return fake_world.now_ms * 1000000;
}

void uv_update_time(uv_loop_t *loop)
{
    (void)loop;
}

int launcher_start(struct launcher *launcher, const struct topology *topology,
                   const struct launcher_crossing *crossings, unsigned crossing_count,
                   const struct target *target, const struct rundir *rundir,
                   struct message *message)
{
    (void)crossings, (void)crossing_count, (void)target, (void)rundir, (void)message;
    *launcher = (struct launcher){.topology = *topology};
    for (unsigned i = 0; i < topology->dims + 1; i++) {
        int pair[2];
        CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
        launcher->host_fds[i] = pair[0];
        fake_world.node_fds[i] = pair[1];
    }
    return 0;
}

void launcher_reap(struct launcher *launcher, void (*died)(void *context, uint32_t node),
                   void *context)
{
    for (uint32_t node = 0; node < launcher->topology.nodes; node++)
        if (fake_world.died >> node & 1)
            died(context, node);
    fake_world.died = 0;
}

void launcher_describe(const struct launcher *launcher, uint32_t node, char text[LAUNCHER_NOTE_MAX])
{
    (void)launcher;
    snprintf(text, LAUNCHER_NOTE_MAX, "ended by the fuzzer, node %u", (unsigned)node);
}

bool launcher_cut(struct launcher *launcher, uint32_t a, uint32_t b)
{
    (void)launcher, (void)a, (void)b;
    return true;
}

bool launcher_kill(struct launcher *launcher, uint32_t number)
{
    (void)launcher, (void)number;
    return true;
}

void launcher_stop(struct launcher *launcher)
{
    for (unsigned i = 0; i < launcher->topology.dims + 1; i++) {
        close(launcher->host_fds[i]);
        close(fake_world.node_fds[i]);
    }
}

int image_read(struct image *image, const char *path, struct message *message)
{
    (void)path, (void)message;
    *image = (struct image){.base = target_memory.image_base,
                            .bytes = FAKE_IMAGE_SENT,
                            .bss_end = target_memory.image_base + FAKE_IMAGE_BYTES,
                            .entry = target_memory.image_base,
                            .data = malloc(FAKE_IMAGE_SENT)};
    CHECK(image->data);
    memset(image->data, 0x11, FAKE_IMAGE_SENT);
    return 0;
}

void image_free(struct image *image)
{
    free(image->data);
    image->data = NULL;
}

bool symbols_describe(const char *elf_path, uint32_t address, char text[SYMBOL_TEXT_MAX])
{
    CHECK(elf_path);
    snprintf(text, SYMBOL_TEXT_MAX, "function (file.c:%u)", (unsigned)address);
    return address & 2;
}
