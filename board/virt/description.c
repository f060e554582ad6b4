/*
 * description.c - this board as the tool has it. What Make adds of board.mk, BOARD_SELF (the name
 * of the struct), BOARD_NAME, BOARD_EMULATOR and BOARD_OPTIONS, comes before.
 *
 * Source   QEMU 7.2 -device virtio-serial-device, virtserialport, ivshmem-doorbell; -numa
 */
#include "board/description.h"

#include <stddef.h>

#include "board.h"
#include "drivers/link/shared_memory_layout.h"

static const char *const options[] = {BOARD_OPTIONS, NULL};

static const struct board_range bus[] = {
    {BOARD_FLASH_BASE, BOARD_FLASH_BYTES}, {BOARD_GIC_DISTRIBUTOR, BOARD_GIC_DISTRIBUTOR_BYTES},
    {BOARD_GIC_CPU, BOARD_GIC_CPU_BYTES},  {BOARD_GICV2M, BOARD_GICV2M_BYTES},
    {BOARD_UART, BOARD_UART_BYTES},        {BOARD_RTC, BOARD_RTC_BYTES},
    {BOARD_FW_CFG, BOARD_FW_CFG_BYTES},    {BOARD_VIRTIO_MMIO_BASE, BOARD_VIRTIO_MMIO_BYTES},
    {BOARD_RAM_BASE, BOARD_RAM_BYTES},
};

/* The slot that the kernel looks at is that of the first device: it comes before all others. */
static void add_serial_links(struct argv *command, const struct board_links *links)
{
    unsigned added = 0;

    for (unsigned p = 0; p < links->port_count; p++) {
        if (links->serial_fds[p] < 0) {
            continue; /* the end of a path, or a link in shared memory */
        }
        if (added++ == 0) {
            argv_add(command, "-device");
            argv_add(command, "virtio-serial-device,max_ports=%u",
                     links->port_count + 1); /* port 0 is QEMU's console port, not used */
        }
        argv_add(command, "-chardev");
        argv_add(command, "socket,id=c%u,fd=%d", p, links->serial_fds[p]);
        argv_add(command, "-device");
        argv_add(command, "virtserialport,chardev=c%u,name=l%u,nr=%u", p, p, p + 1);
    }
}

/* Link memories are nodes of a NUMA machine to QEMU: so each is a file of its own, and they lie
 * behind the node's own memory. */
static void add_shared_links(struct argv *command, const struct board_links *links)
{
    if (links->memory_count == 0) {
        return;
    }
    argv_add(command, "-m");
    argv_add(command, "%u", (BOARD_RAM_BYTES + links->memory_count * SHARED_LINK_BYTES) >> 20);
    argv_add(command, "-object");
    argv_add(command, "memory-backend-ram,id=own,size=%uM", BOARD_RAM_BYTES >> 20);
    argv_add(command, "-numa");
    argv_add(command, "node,cpus=0-1,memdev=own");
    for (unsigned i = 0; i < links->memory_count; i++) {
        argv_add(command, "-object");
        argv_add(command, "memory-backend-file,id=m%u,size=%uM,share=on,mem-path=/proc/self/fd/%d",
                 i, (unsigned)SHARED_LINK_BYTES >> 20, links->memory_fds[i]);
        argv_add(command, "-numa");
        argv_add(command, "node,memdev=m%u", i);
    }
    argv_add(command, "-chardev");
    argv_add(command, "socket,id=card,fd=%d", links->card_fd);
    argv_add(command, "-device");
    argv_add(command, "ivshmem-doorbell,chardev=card,vectors=1");
}

static void add_links(struct argv *command, const struct board_links *links)
{
    add_serial_links(command, links);
    add_shared_links(command, links);
}

extern const struct board BOARD_SELF;
const struct board BOARD_SELF = {
    .name = BOARD_NAME,
    .emulator = BOARD_EMULATOR,
    .options = options,
    .links_max = BOARD_LINKS_MAX,
    .shared_device = "ivshmem-doorbell",
    .ram_base = BOARD_RAM_BASE,
    .ram_bytes = BOARD_RAM_BYTES,
    .kernel_base = BOARD_KERNEL_BASE,
    .kernel_end = BOARD_KERNEL_BASE + BOARD_KERNEL_BYTES,
    .stack_base = BOARD_STACK_BASE,
    .stack_top = BOARD_STACK_BASE + BOARD_STACK_BYTES,
    .image_base = BOARD_IMAGE_BASE,
    .image_end = BOARD_PROGRAM_END,
    .record_base = BOARD_RECORD_BASE,
    .record_bytes = BOARD_RECORD_BYTES,
    .wake = BOARD_GIC_DISTRIBUTOR,
    .bus = bus,
    .bus_count = sizeof bus / sizeof bus[0],
    .add_links = add_links,
};
