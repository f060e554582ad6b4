#include "host/computer/target.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/description.h"
#include "host/console/choice.h"

enum { PLACE_MAX = 80 };

static const struct board *chosen; /* NULL: the first of the table */

const struct board *target_board(void)
{
    return chosen ? chosen : boards[0];
}

const char *target_board_name(unsigned index)
{
    return boards[index] ? boards[index]->name : NULL;
}

int target_choose(const char *name, struct message *message)
{
    struct choice names;

    choice_begin(&names, name);
    for (unsigned i = 0; boards[i]; i++) {
        if (choice_offer(&names, boards[i]->name)) {
            chosen = boards[i];
            return 0;
        }
    }
    return choice_refuse(&names, "unknown board", message);
}

/* Finds what lies at one of `places` from the tool's directory; its name is that of the first. */
static int find_beside(char path[TARGET_PATH_MAX], const char *what, const char *remedy,
                       const char *const *places, int mode, struct message *message)
{
    char self[TARGET_PATH_MAX - PLACE_MAX];
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

/* Finds a file of the board: build/ecube finds it in build/BOARD, PREFIX/bin/ecube in
 * PREFIX/lib/ecube/BOARD. */
static int find_of_board(char path[TARGET_PATH_MAX], const char *file, const char *what,
                         const char *remedy, struct message *message)
{
    const char *name = target_board()->name;
    char built[PLACE_MAX], installed[PLACE_MAX];
    const char *const places[] = {built, installed, NULL};

    snprintf(built, sizeof built, "%s/%s", name, file);
    snprintf(installed, sizeof installed, "../lib/ecube/%s/%s", name, file);
    return find_beside(path, what, remedy, places, R_OK, message);
}

int target_find_jtag(struct target *target, struct message *message)
{
    static const char *const places[] = {"ecube-jtag", "../lib/ecube/ecube-jtag", NULL};

    return find_beside(target->jtag, "the server of debuggers", "build it with 'make'", places,
                       X_OK, message);
}

int target_find_openocd_board(char path[TARGET_PATH_MAX], struct message *message)
{
    return find_of_board(path, "openocd.cfg", "OpenOCD's configuration of the board",
                         "build it with 'make'", message);
}

int target_find_part(char path[TARGET_PATH_MAX], const char *what, const char *const *places,
                     struct message *message)
{
    return find_beside(path, what, "build it with 'make'", places, R_OK, message);
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
    const char *name = target_board()->emulator;

    return target_find_program(target->qemu, name)
               ? 0
               : message_set(message,
                             "%s is not in PATH: install Debian's package %s (make packages does)",
                             name, name);
}

/* A kernel file that is none would only show as silent nodes. */
static int check_kernel(const char *path, struct message *message)
{
    const struct board *board = target_board();
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
    if (header.e_entry < board->kernel_base || header.e_entry >= board->kernel_end) {
        return message_set(message,
                           "%.300s is no kernel image: it starts at 0x%08x, a kernel does from "
                           "0x%08x on; a node program goes without --kernel",
                           path, header.e_entry, board->kernel_base);
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
    if (kernel ? take_path(target->kernel, kernel, message)
               : find_of_board(target->kernel, "kernel.elf", "the kernel image",
                               "build it with 'make', or name it with --kernel", message)) {
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

void target_make_command(struct argv *command, const struct target *target, const char *rundir,
                         uint32_t node, const struct board_links *links)
{
    const struct board *board = target_board();

    *command = (struct argv){.count = 0};
    argv_add(command, "%s", target->qemu);
    for (const char *const *option = board->options; *option; option++) {
        argv_add(command, "%s", *option);
    }
    if (target->blank) {
        argv_add(command, "-S");
    } else {
        argv_add(command, "-kernel");
        argv_add(command, "%s", target->kernel);
    }
    board->add_links(command, links);
    argv_add(command, "-gdb");
    argv_add(command, "unix:%s/n%u.%s,server=on,wait=off", rundir, (unsigned)node,
             target->jtag[0] ? "stub" : "gdb");
    if (target->jtag[0]) {
        argv_add(command, "-qtest");
        argv_add(command, "unix:%s/n%u.qtest,server=on,wait=off", rundir, (unsigned)node);
        argv_add(command, "-qtest-log");
        argv_add(command, "none");
    }
    argv_add(command, "-qmp");
    argv_add(command, "unix:%s/n%u.qmp,server=on,wait=off", rundir, (unsigned)node);
}

static void add_range(struct argv *command, const char *option, uint32_t base, uint32_t bytes)
{
    argv_add(command, "%s", option);
    argv_add(command, "0x%x,0x%x", (unsigned)base, (unsigned)bytes);
}

void target_make_jtag_command(struct argv *command, const struct target *target, const char *rundir,
                              uint32_t nodes, bool chain, int notices_fd)
{
    const struct board *board = target_board();

    *command = (struct argv){.count = 0};
    argv_add(command, "%s", target->jtag);
    argv_add(command, "--directory");
    argv_add(command, "%s", rundir);
    argv_add(command, "--nodes");
    argv_add(command, "%u", (unsigned)nodes);
    if (chain) {
        argv_add(command, "--chain");
    }
    if (target->blank) {
        argv_add(command, "--blank");
    }
    add_range(command, "--ram", board->ram_base, board->ram_bytes);
    argv_add(command, "--wake");
    argv_add(command, "0x%x", (unsigned)board->wake);
    for (unsigned i = 0; i < board->bus_count; i++) {
        add_range(command, "--bus", board->bus[i].base, board->bus[i].bytes);
    }
    argv_add(command, "--notices");
    argv_add(command, "%d", notices_fd);
}
