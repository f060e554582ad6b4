#include "fuzz/fake_loop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "drivers/check.h"
#include "host/available.h"
#include "host/image.h"
#include "host/jtag.h"
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
    for (unsigned i = 0; i < MACHINE_HOST_LINKS_MAX; i++)
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

uint64_t uv_timer_get_due_in(const uv_timer_t *handle)
{
    const struct timer *timer = find(handle);

    return timer && timer->due_ms > fake_world.now_ms ? timer->due_ms - fake_world.now_ms : 0;
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

int launcher_start(struct launcher *launcher, const struct network *network,
                   const struct launcher_crossing *crossings, unsigned crossing_count,
                   const struct target *target, const struct rundir *rundir,
                   struct message *message)
{
    (void)crossings, (void)crossing_count, (void)target, (void)rundir, (void)message;
    *launcher = (struct launcher){.network = *network};
    for (unsigned i = 0; i < network_host_links(network); i++) {
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
    for (uint32_t node = 0; node < launcher->network.nodes; node++)
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
    for (unsigned i = 0; i < network_host_links(&launcher->network); i++) {
        close(launcher->host_fds[i]);
        close(fake_world.node_fds[i]);
    }
}

int jtag_start(struct jtag *jtag, uv_loop_t *loop, const struct target *target,
               const struct jtag_options *options, const struct rundir *rundir,
               const struct jtag_owner *owner, struct message *message)
{
    (void)loop, (void)target, (void)options, (void)rundir, (void)message;
    *jtag = (struct jtag){.owner = *owner};
    return 0;
}

void jtag_reap(struct jtag *jtag)
{
    (void)jtag;
}

void jtag_stop(struct jtag *jtag)
{
    (void)jtag;
}

unsigned available_share_permille(void)
{
    return 1000;
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
    for (unsigned i = 0; i < FAKE_IMAGE_SENT; i++) {
        image->data[i] = i & 1 ? 0x47 : 0x80; /* BLX r0, whatever address is returned to */
    }
    return 0;
}

void image_free(struct image *image)
{
    free(image->data);
    image->data = NULL;
}

/* An ELF file that says something of every address, each time another thing. */
struct symbols *symbols_open(const char *elf_path)
{
    static char nothing;

    CHECK(elf_path);
    return (struct symbols *)(void *)&nothing;
}

void symbols_close(struct symbols *symbols)
{
    CHECK(symbols);
}

unsigned symbols_places(struct symbols *symbols, uint32_t address, struct symbol_place *places,
                        unsigned room)
{
    unsigned count = address & 3;

    CHECK(symbols);
    count = count < room ? count : room;
    for (unsigned i = 0; i < count; i++) {
        places[i] = (struct symbol_place){.line = (int)address, .library = address >> 4 & 1};
        memset(places[i].function, 'f', address >> 5 & (SYMBOL_NAME_MAX - 1));
        memset(places[i].file, 'a', address >> 6 & (SYMBOL_NAME_MAX - 1));
    }
    return count;
}

uint32_t symbols_function(struct symbols *symbols, uint32_t address)
{
    CHECK(symbols);
    return address & 4 ? address & ~(uint32_t)0xff : 0;
}

bool symbols_frame(struct symbols *symbols, uint32_t address, struct symbol_frame *frame)
{
    CHECK(symbols);
    frame->cfa_register = address & 8 ? 13 : address >> 3 & 15;
    frame->cfa_offset = (int32_t)(address & 0x40 ? address << 8 : address & 0x3c);
    for (unsigned i = 0; i < ARM_REGISTERS; i++) {
        frame->registers[i].kept = (uint8_t)((address >> i & 3) % 3);
        frame->registers[i].offset = address & 0x80 ? (int32_t)(address << i) : -4 * (int32_t)i;
    }
    return address & 0x10;
}

void symbols_text(const struct symbol_place *place, char text[SYMBOL_TEXT_MAX])
{
    snprintf(text, SYMBOL_TEXT_MAX, "%s (%s:%d)", place->function, place->file, place->line);
}
