#include "board/platform.h"

#include "board.h"
#include "arch/armv7a/mmu.h"
#include "arch/armv7a/trap.h"
#include "drivers/check.h"
#include "drivers/timer/generic_timer.h"
#include "drivers/interrupt/gic.h"
#include "drivers/interrupt/gicv2m.h"
#include "drivers/link/shared_memory_link.h"
#include "drivers/link/virtio_serial.h"

_Static_assert(BOARD_LINKS_MAX <= PLATFORM_LINKS_MAX, "links");

enum {
    MEGABYTE = 1 << 20,
    GUARD_BYTES = 4096,
    PAGE_BYTES = 4096,
    TLB_PAGES_FIRST = 48, /* more than 70 % of 64 entries */
    TLB_PAGES_LAST = 768, /* ... of 1,024 */
    /* An alarm costs some looks at the clock. What the node does with an older time is done early:
     * an acknowledgement, a repetition, the death of a link that is silent for a second or more. */
    RECENT_US = 50000,
    LOOKS = 64, /* for news, between two at the clock */
    /* of receive buffers; a port has a link of one kind */
    SERIAL_BYTES = LINK_BUFFERS_MAX * LINK_BUFFER_BYTES,
    SHARED_BYTES = LINK_LONG_BUFFERS * LINK_LONG_BUFFER_BYTES,
    PORT_BYTES = (int)SERIAL_BYTES > (int)SHARED_BYTES ? SERIAL_BYTES : SHARED_BYTES
};

/*
 * Whether the time that was last seen may be given again. Under emulation each look at the counter
 * takes the lock that the devices' thread works under. So the time is kept as long as an alarm is
 * set that rings before it is old; where the kernel looks, the alarm shows as a pending interrupt.
 * The ring itself sets no other: a node for which nothing happens is left in peace.
 */
enum recent {
    RECENT_NONE,
    RECENT_ONCE, /* until the node sleeps, or the program goes on */
    RECENT_KEPT
};

/* From node.ld.S; only their addresses mean anything. */
extern char kernel_text_start[];
extern char kernel_rodata_start[];
extern char kernel_data_start[];
extern char kernel_guard_start[];
extern char kernel_end[];

const struct platform_program platform_program = {
    .start = BOARD_STACK_BASE,
    .end = BOARD_PROGRAM_END,
    .stack_top = BOARD_STACK_BASE + BOARD_STACK_BYTES,
    .image = BOARD_IMAGE_BASE,
    .guard_start = BOARD_GUARD_BASE,
    .guard_end = BOARD_GUARD_BASE + BOARD_GUARD_BYTES,
};

static const struct gic gic = {.distributor = BOARD_GIC_DISTRIBUTOR, .cpu = BOARD_GIC_CPU};

static struct generic_timer timer;
static uint64_t recent_us;
static enum recent recent;
static struct virtio_serial serial;
static struct virtio_serial_port ports[BOARD_LINKS_MAX];
static struct shared_memory_links shared;
static struct shared_memory_link shared_links[BOARD_LINKS_MAX];
static uint32_t bell_interrupt; /* 0: there are no links in shared memory */
static bool has_serial;
static bool listening; /* a bell that has rung is not ours to clear */
static struct link *links[BOARD_LINKS_MAX];
static int link_count;

/* Not cleared at boot: memory that no traffic has touched costs the emulator nothing. */
static _Alignas(64) uint8_t buffers[BOARD_LINKS_MAX][PORT_BYTES]
    __attribute__((section(".noinit")));

static _Alignas(4) uint8_t plans[BOARD_PLAN_BYTES] __attribute__((section(".noinit")));

const struct platform_plans platform_plans = {.memory = plans, .bytes = sizeof plans};

/* A node of a run without --trace never touches it. */
const struct platform_records platform_records = {.memory = (void *)BOARD_RECORD_BASE,
                                                  .bytes = BOARD_RECORD_BYTES};

/* The section-sized piece that holds a device's registers. */
static struct mmu_region device_region(uintptr_t address)
{
    uintptr_t start = address & ~(uintptr_t)(MEGABYTE - 1);
    return (struct mmu_region){start, start + MEGABYTE, MMU_DEVICE};
}

static void memory_init(void)
{
    const struct mmu_region regions[] = {
        {(uintptr_t)kernel_text_start, (uintptr_t)kernel_rodata_start, MMU_TEXT},
        {(uintptr_t)kernel_rodata_start, (uintptr_t)kernel_data_start, MMU_RODATA},
        {(uintptr_t)kernel_data_start, (uintptr_t)kernel_guard_start, MMU_DATA},
        {(uintptr_t)kernel_guard_start + GUARD_BYTES, (uintptr_t)kernel_end, MMU_DATA},
        {BOARD_STACK_BASE, BOARD_PROGRAM_END, MMU_PROGRAM},
        {BOARD_RECORD_BASE, BOARD_RECORD_BASE + BOARD_RECORD_BYTES, MMU_DATA},
        device_region(BOARD_GIC_DISTRIBUTOR), /* and the CPU interface, in the same megabyte */
        device_region(BOARD_VIRTIO_MMIO),
        device_region(BOARD_PCI_ECAM),
        device_region(BOARD_PCI_WINDOW),
        {BOARD_LINK_MEMORY_BASE, BOARD_LINK_MEMORY_BASE + BOARD_LINKS_MAX * SHARED_LINK_BYTES,
         MMU_DATA},
    };
    mmu_init(regions, sizeof(regions) / sizeof(regions[0]));
}

_Static_assert(BOARD_GIC_DISTRIBUTOR / MEGABYTE == BOARD_GIC_CPU / MEGABYTE,
               "one region maps both");

/* Links over virtual serial lines; returns one more than the highest port that has one. */
static int serial_init(void)
{
    const struct virtio_serial_config config = {
        .base = BOARD_VIRTIO_MMIO,
        .ports = ports,
        .port_count = BOARD_LINKS_MAX,
        .buffers = buffers[0],
        .port_bytes = PORT_BYTES,
        .buffer_count = LINK_BUFFERS_MAX,
    };
    gic_enable(&gic, BOARD_VIRTIO_INTERRUPT);
    return virtio_serial_init(&serial, &config);
}

/* Links in shared memory; the same. */
static int shared_init(void)
{
    const struct shared_memory_links_config config = {
        .ecam = BOARD_PCI_ECAM,
        .window = BOARD_PCI_WINDOW,
        .window_end = BOARD_PCI_WINDOW + BOARD_PCI_WINDOW_BYTES,
        .message_address = gicv2m_address(BOARD_GICV2M),
        .message_data = gicv2m_first(BOARD_GICV2M),
        .memories = (uint8_t *)BOARD_LINK_MEMORY_BASE,
        .memory_count = BOARD_LINKS_MAX,
        .links = shared_links,
        .link_count = BOARD_LINKS_MAX,
        .buffers = buffers[0],
        .port_bytes = PORT_BYTES,
        .buffer_count = LINK_LONG_BUFFERS,
    };
    gic_set_edge(&gic, config.message_data);
    gic_enable(&gic, config.message_data);
    int port_count = shared_memory_links_init(&shared, &config);
    bell_interrupt = port_count > 0 ? config.message_data : 0;
    return port_count;
}

/* A port has its link in shared memory if the card says so, else it may have a serial line. */
int platform_init(void)
{
    memory_init();
    gic_init(&gic);
    gic_enable(&gic, BOARD_TIMER_INTERRUPT);
    generic_timer_init(&timer);
    int shared_count = shared_init(), serial_count = serial_init();
    has_serial = serial_count > 0;
    link_count = serial_count > shared_count ? serial_count : shared_count;
    for (int i = 0; i < link_count; i++) {
        bool is_serial = i < serial_count && !shared_memory_has(&shared, (uint32_t)i);
        links[i] = is_serial ? virtio_serial_link(&serial, (uint32_t)i)
                             : shared_memory_link(&shared, (uint32_t)i);
    }
    return link_count;
}

struct link **platform_links(void)
{
    return links;
}

uint64_t platform_now_us(void)
{
    recent_us = generic_timer_now_us(&timer);
    return recent_us;
}

/* The kernel looks by itself: a bell that has rung says nothing more, and would hide an alarm. */
static void clear_bell(void)
{
    if (bell_interrupt != 0) {
        gic_clear_pending(&gic, bell_interrupt);
    }
}

/* Whether what is pending may be the alarm. While links are listened to, a bell stays pending: it
 * takes the kernel to them. */
static bool alarm_pending(void)
{
    if (trap_interrupt_pending() && bell_interrupt != 0 && !listening) {
        clear_bell();
    }
    return trap_interrupt_pending();
}

/* Looks at the clock, and answers the alarm if it has rung; whether it has. */
static bool alarm_rang(void)
{
    bool rang = platform_now_us() >= timer.alarm_us;
    if (rang) {
        generic_timer_interrupt(&timer);
    }
    return rang;
}

uint64_t platform_recent_us(void)
{
    if (recent == RECENT_NONE || alarm_pending()) {
        (void)alarm_rang();
        recent = RECENT_KEPT;
    }
    return recent_us;
}

/* Before the kernel stops looking: sets the alarm for the node, and for the time that is kept. */
static void set_alarm(uint64_t deadline_us)
{
    uint64_t old_us = recent_us + RECENT_US;
    if (recent == RECENT_ONCE) {
        recent = RECENT_NONE;
    } else if (recent == RECENT_KEPT && old_us < deadline_us) {
        deadline_us = old_us;
    }
    generic_timer_set_alarm(&timer, deadline_us);
}

static void flush(void)
{
    virtio_serial_flush(&serial);
    shared_memory_flush(&shared);
}

void platform_quiet(void)
{
    virtio_serial_quiet(&serial);
    shared_memory_quiet(&shared);
    listening = false;
}

/* Looks so many times; true when a link has news. */
static bool links_news(unsigned looks)
{
    for (; looks > 0; looks--) {
        for (int i = 0; i < link_count; i++) {
            if (link_has_input(links[i])) {
                return true;
            }
        }
    }
    return false;
}

/* Nobody rings meanwhile; what has no bytes, a lost carrier or room in a ring, is seen when the
 * node listens. So are bytes that lie there already: perhaps nobody takes them, and listening tells
 * of them only once. */
bool platform_spin(uint64_t deadline_us)
{
    if (shared.spin_us == 0 || links_news(1)) {
        return false;
    }
    flush();
    uint64_t until_us = platform_now_us() + shared.spin_us;
    if (until_us > deadline_us) {
        until_us = deadline_us;
    }
    while (!links_news(LOOKS)) {
        if (alarm_pending() || platform_now_us() >= until_us) {
            return false;
        }
    }
    return true;
}

bool platform_listen(uint64_t deadline_us)
{
    set_alarm(deadline_us);
    listening = true;
    bool serial_news = virtio_serial_listen(&serial);
    bool news = shared_memory_listen(&shared) || serial_news;
    if (news) { /* no neighbour need ring meanwhile */
        shared_memory_quiet(&shared);
        listening = false;
    }
    return news;
}

void platform_mute(uint64_t until_us)
{
    flush();
    platform_quiet();
    clear_bell();
    generic_timer_set_alarm(&timer, until_us);
}

void platform_update(uint64_t deadline_us)
{
    set_alarm(deadline_us);
    flush();
}

void platform_interrupt(void)
{
    uint32_t interrupt = gic_acknowledge(&gic);
    if (interrupt == BOARD_VIRTIO_INTERRUPT) {
        virtio_serial_interrupt(&serial);
    } else if (interrupt == BOARD_TIMER_INTERRUPT) {
        generic_timer_interrupt(&timer);
        recent = RECENT_NONE;
    }
    if (interrupt < GIC_SPURIOUS_FIRST) {
        gic_end(&gic, interrupt);
    }
    shared_memory_interrupt(&shared);
    platform_quiet();
}

void platform_sleep(void)
{
    /* A masked interrupt ends it too, so there is no moment in which to miss one. A bell's pulse is
     * cleared, and the serial device's and the timer's lines are levels: once their sources are
     * answered nothing is pending, and the interrupt controller need not be asked what was. */
    trap_wait();
    platform_quiet();
    clear_bell();
    shared_memory_interrupt(&shared);
    if (has_serial && trap_interrupt_pending()) {
        virtio_serial_interrupt(&serial);
    }
    if (trap_interrupt_pending() && alarm_rang()) {
        recent = RECENT_ONCE;
    }
}

/*
 * QEMU's own TLB is larger or smaller as it was used, but changes only when the guest drops its
 * TLB: then it doubles if more than 70 % of it were used since. Rings, buffers and a program's
 * blocks take some 1,400 pages; it would stay at 256 entries for ever, and each page of each copy
 * would cost a walk.
 */
static void grow_tlb(void)
{
    for (unsigned pages = TLB_PAGES_FIRST; pages <= TLB_PAGES_LAST; pages *= 2) {
        for (unsigned page = 0; page < pages; page++) {
            (void)*(const volatile uint8_t *)(buffers[0] + page * (size_t)PAGE_BYTES);
        }
        mmu_forget_lookups();
    }
}

void platform_forget_program(void)
{
    mmu_forget_program();
}

void platform_prepare_program(const struct platform_ends *ends)
{
    const struct mmu_ends protected = {.code_end = ends->code_end,
                                       .constants_end = ends->constants_end,
                                       .data_start = ends->data_start,
                                       .data_end = ends->data_end};
    mmu_protect(platform_program.image, &protected);
    grow_tlb(); /* drops it, too */
    mmu_sync_instructions();
}
