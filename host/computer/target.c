#include "host/computer/target.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/virt/board.h"
#include "drivers/check.h"
#include "drivers/link/shared_memory_layout.h"

_Static_assert((int)MACHINE_PORTS_MAX <= BOARD_LINKS_MAX, "a node has room for its links");

const struct target_memory target_memory = {
    .kernel_base = BOARD_KERNEL_BASE,
    .kernel_end = BOARD_KERNEL_BASE + BOARD_KERNEL_BYTES,
    .stack_base = BOARD_STACK_BASE,
    .blocks_bytes = BOARD_BLOCKS_BYTES,
    .image_base = BOARD_IMAGE_BASE,
    .image_end = BOARD_PROGRAM_END,
};

/* What debuggers can reach on a node's bus: elsewhere QEMU says nothing of an access in vain. */
static const struct target_range {
    uint32_t base, bytes;
} bus[] = {
    {BOARD_FLASH_BASE, BOARD_FLASH_BYTES}, {BOARD_GIC_DISTRIBUTOR, BOARD_GIC_DISTRIBUTOR_BYTES},
    {BOARD_GIC_CPU, BOARD_GIC_CPU_BYTES},  {BOARD_GICV2M, BOARD_GICV2M_BYTES},
    {BOARD_UART, BOARD_UART_BYTES},        {BOARD_RTC, BOARD_RTC_BYTES},
    {BOARD_FW_CFG, BOARD_FW_CFG_BYTES},    {BOARD_VIRTIO_MMIO_BASE, BOARD_VIRTIO_MMIO_BYTES},
    {BOARD_RAM_BASE, BOARD_RAM_BYTES},
};

void target_ram(uint32_t *base, uint32_t *bytes)
{
    *base = BOARD_RAM_BASE;
    *bytes = BOARD_RAM_BYTES;
}

/* Finds what lies at one of `places` from the tool's directory; its name is that of the first. */
static int find_beside(char path[TARGET_PATH_MAX], const char *what, const char *remedy,
                       const char *const *places, int mode, struct message *message)
{
    char self[TARGET_PATH_MAX - 40];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (length <= 0) {
        return message_set(message, "cannot find out where the tool lies: %s", strerror(errno));
    }
    self[length] = '\0';
    slash = strrchr(self, '/');
    *(slash ? slash : self) = '\0';
    for (unsigned i = 0; places[i]; i++) {
        snprintf(path, TARGET_PATH_MAX, "%s/%s", self, places[i]);
        if (access(path, mode) == 0) {
            return 0;
        }
    }
    return message_set(message, "%s is missing: no %.200s/%s; %s", what, self, places[0], remedy);
}

/* build/ecube finds build/virt/kernel.elf, PREFIX/bin/ecube finds
 * PREFIX/lib/ecube/virt/kernel.elf. */
static int find_kernel(struct target *target, struct message *message)
{
    static const char *const places[] = {"virt/kernel.elf", "../lib/ecube/virt/kernel.elf",
                                         "../lib/ecube/kernel.elf", NULL};

    return find_beside(target->kernel, "the kernel image",
                       "build it with 'make', or name it with --kernel", places, R_OK, message);
}

int target_find_jtag(struct target *target, struct message *message)
{
    static const char *const places[] = {"ecube-jtag", "../lib/ecube/ecube-jtag", NULL};

    return find_beside(target->jtag, "the server of debuggers", "build it with 'make'", places,
                       X_OK, message);
}

int target_find_openocd_board(char path[TARGET_PATH_MAX], struct message *message)
{
    static const char *const places[] = {"virt/openocd.cfg", "../lib/ecube/openocd.cfg", NULL};

    return find_beside(path, "OpenOCD's configuration of the board", "build it with 'make'", places,
                       R_OK, message);
}

bool target_find_program(char found[TARGET_PATH_MAX], const char *name)
{
    const char *path = getenv("PATH");

    for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
        size_t length = strcspn(p, ":");
        struct stat status;

        snprintf(found, TARGET_PATH_MAX, "%.*s/%s", (int)(length ? length : 1), length ? p : ".",
                 name);
        if (access(found, X_OK) == 0 && stat(found, &status) == 0 && S_ISREG(status.st_mode)) {
            return true;
        }
        p += length;
        p += *p == ':';
    }
    return false;
}

static int find_qemu(struct target *target, struct message *message)
{
    const char *name = "qemu-system-arm";

    return target_find_program(target->qemu, name)
               ? 0
               : message_set(message,
                             "%s is not in PATH: install Debian's package qemu-system-arm (make "
                             "packages does)",
                             name);
}

/* A kernel file that is none would only show as silent nodes. */
static int check_kernel(const char *path, struct message *message)
{
    Elf32_Ehdr header;
    FILE *file = fopen(path, "rb");
    size_t bytes;

    if (!file) {
        return message_set(message, "cannot read the kernel image %.300s: %s", path,
                           strerror(errno));
    }
    bytes = fread(&header, 1, sizeof header, file);
    fclose(file);
    if (bytes < sizeof header || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_machine != EM_ARM) {
        return message_set(message,
                           "%.300s is no kernel image for an ARM node: build it with 'make'", path);
    }
    if (header.e_entry < target_memory.kernel_base || header.e_entry >= target_memory.kernel_end) {
        return message_set(message,
                           "%.300s is no kernel image: it starts at 0x%08x, a kernel does from "
                           "0x%08x on; a node program goes without --kernel",
                           path, header.e_entry, target_memory.kernel_base);
    }
    return 0;
}

/* The whole path: a machine that stays runs in another directory. */
static int take_path(char path[TARGET_PATH_MAX], const char *given, struct message *message)
{
    char *here = given[0] == '/' ? NULL : getcwd(NULL, 0);
    int bytes = snprintf(path, TARGET_PATH_MAX, "%s%s%s", here ? here : "", here ? "/" : "", given);

    free(here);
    return bytes < TARGET_PATH_MAX ? 0
                                   : message_set(message, "%.80s...: the path is too long", given);
}

int target_find(struct target *target, const char *kernel, const char *qemu,
                struct message *message)
{
    struct stat status;

    target->jtag[0] = '\0';
    target->blank = target->shared = false;
    if (kernel ? take_path(target->kernel, kernel, message) : find_kernel(target, message)) {
        return -1;
    }
    if (check_kernel(target->kernel, message) != 0) {
        return -1;
    }
    if (!qemu) {
        return find_qemu(target, message);
    }
    if (take_path(target->qemu, qemu, message) != 0) {
        return -1;
    }
    if (access(target->qemu, X_OK) != 0) {
        return message_set(message, "cannot run %.300s: %s", qemu, strerror(errno));
    }
    if (stat(target->qemu, &status) != 0 || !S_ISREG(status.st_mode)) {
        return message_set(message, "cannot run %.300s: it is not a file", qemu);
    }
    return 0;
}

__attribute__((format(printf, 2, 3))) static void add(struct target_command *command,
                                                      const char *format, ...)
{
    va_list arguments;
    unsigned room = (unsigned)sizeof command->text - command->text_bytes;
    int bytes;

    va_start(arguments, format);
    bytes = vsnprintf(command->text + command->text_bytes, room, format, arguments);
    va_end(arguments);
    CHECK(bytes >= 0 && (unsigned)bytes < room && command->count + 1 < TARGET_ARGUMENTS_MAX);
    command->arguments[command->count++] = command->text + command->text_bytes;
    command->arguments[command->count] = NULL;
    command->text_bytes += (unsigned)bytes + 1;
}

/* The slot that the kernel looks at is that of the first device: it comes before all others. */
static void add_serial_links(struct target_command *command, const struct target_links *links)
{
    bool any = false;

    for (unsigned p = 0; p < links->port_count; p++) {
        if (links->serial_fds[p] < 0) {
            continue; /* the end of a path, or a link in shared memory */
        }
        if (!any) {
            add(command, "-device");
            add(command, "virtio-serial-device,max_ports=%u",
                links->port_count + 1); /* port 0 is QEMU's console port, not used */
            any = true;
        }
        add(command, "-chardev");
        add(command, "socket,id=c%u,fd=%d", p, links->serial_fds[p]);
        add(command, "-device");
        add(command, "virtserialport,chardev=c%u,name=l%u,nr=%u", p, p, p + 1);
    }
}

/* Link memories are nodes of a NUMA machine to QEMU: so each is a file of its own, and they lie
 * behind the node's own memory. */
static void add_shared_links(struct target_command *command, const struct target_links *links)
{
    if (links->memory_count == 0) {
        return;
    }
    add(command, "-m");
    add(command, "%u", (BOARD_RAM_BYTES + links->memory_count * SHARED_LINK_BYTES) >> 20);
    add(command, "-object");
    add(command, "memory-backend-ram,id=own,size=%uM", BOARD_RAM_BYTES >> 20);
    add(command, "-numa");
    add(command, "node,cpus=0-1,memdev=own");
    for (unsigned i = 0; i < links->memory_count; i++) {
        add(command, "-object");
        add(command, "memory-backend-file,id=m%u,size=%uM,share=on,mem-path=/proc/self/fd/%d", i,
            (unsigned)SHARED_LINK_BYTES >> 20, links->memory_fds[i]);
        add(command, "-numa");
        add(command, "node,memdev=m%u", i);
    }
    add(command, "-chardev");
    add(command, "socket,id=card,fd=%d", links->card_fd);
    add(command, "-device");
    add(command, "ivshmem-doorbell,chardev=card,vectors=1");
}

void target_add_links(struct target_command *command, const struct target_links *links)
{
    add_serial_links(command, links);
    add_shared_links(command, links);
}

void target_make_command(struct target_command *command, const struct target *target,
                         const char *rundir, uint32_t node, const struct target_links *links)
{
    command->count = 0;
    command->text_bytes = 0;
    add(command, "%s", target->qemu);
    for (const char *const *option = target_options; *option; option++) {
        add(command, "%s", *option);
    }
    if (target->blank) {
        add(command, "-S");
    } else {
        add(command, "-kernel");
        add(command, "%s", target->kernel);
    }
    target_add_links(command, links);
    add(command, "-gdb");
    add(command, "unix:%s/n%u.%s,server=on,wait=off", rundir, (unsigned)node,
        target->jtag[0] ? "stub" : "gdb");
    if (target->jtag[0]) {
        add(command, "-qtest");
        add(command, "unix:%s/n%u.qtest,server=on,wait=off", rundir, (unsigned)node);
        add(command, "-qtest-log");
        add(command, "none");
    }
    add(command, "-qmp");
    add(command, "unix:%s/n%u.qmp,server=on,wait=off", rundir, (unsigned)node);
}

static void add_range(struct target_command *command, const char *option, uint32_t base,
                      uint32_t bytes)
{
    add(command, "%s", option);
    add(command, "0x%x,0x%x", (unsigned)base, (unsigned)bytes);
}

void target_make_jtag_command(struct target_command *command, const struct target *target,
                              const char *rundir, uint32_t nodes, bool chain, int notices_fd)
{
    command->count = 0;
    command->text_bytes = 0;
    add(command, "%s", target->jtag);
    add(command, "--directory");
    add(command, "%s", rundir);
    add(command, "--nodes");
    add(command, "%u", (unsigned)nodes);
    if (chain) {
        add(command, "--chain");
    }
    if (target->blank) {
        add(command, "--blank");
    }
    add_range(command, "--ram", BOARD_RAM_BASE, BOARD_RAM_BYTES);
    add(command, "--wake");
    add(command, "0x%x", (unsigned)BOARD_GIC_DISTRIBUTOR);
    for (unsigned i = 0; i < sizeof bus / sizeof bus[0]; i++) {
        add_range(command, "--bus", bus[i].base, bus[i].bytes);
    }
    add(command, "--notices");
    add(command, "%d", notices_fd);
}
