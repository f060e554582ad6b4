/*
 * The command line of a node's QEMU.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

#include "board/virt/board.h"
#include "host/computer/target.h"

static const struct target target = {.kernel = "kernel.elf", .qemu = "qemu"};

/* The word after `option`; "": the command has no such option. */
static const char *value_of(const struct target_command *command, const char *option)
{
    for (unsigned i = 0; i + 1 < command->count; i++) {
        if (strcmp(command->arguments[i], option) == 0) {
            return command->arguments[i + 1];
        }
    }
    return "";
}

TEST(a_node_is_started_with_the_options_of_its_board)
{
    struct target_command command;
    const int fds[] = {5, 6};
    const struct target_links links = {.serial_fds = fds, .port_count = 2, .card_fd = -1};
    char megabytes[16];

    target_make_command(&command, &target, "/run", 3, &links);
    snprintf(megabytes, sizeof megabytes, "%u", BOARD_RAM_BYTES >> 20);
    assert_string_equal(command.arguments[0], "qemu");
    assert_string_equal(value_of(&command, "-M"), "virt,highmem=off,gic-version=2,acpi=off");
    assert_string_equal(value_of(&command, "-m"), megabytes);
    assert_string_equal(value_of(&command, "-kernel"), "kernel.elf");
    assert_string_equal(value_of(&command, "-device"), "virtio-serial-device,max_ports=3");
    assert_string_equal(value_of(&command, "-gdb"), "unix:/run/n3.gdb,server=on,wait=off");
}

TEST(a_node_could_have_a_second_processor_so_that_qemu_keeps_memory_barriers)
{
    struct target_command command;
    const int fds[] = {5};
    const struct target_links links = {.serial_fds = fds, .port_count = 1, .card_fd = -1};

    target_make_command(&command, &target, "/run", 0, &links);
    assert_string_equal(value_of(&command, "-smp"), "1,maxcpus=2");
}

TEST(a_node_can_have_as_many_links_as_its_board)
{
    struct target_command command;
    int fds[BOARD_LINKS_MAX];
    const struct target_links links = {
        .serial_fds = fds, .port_count = BOARD_LINKS_MAX, .card_fd = -1};

    for (int i = 0; i < BOARD_LINKS_MAX; i++) {
        fds[i] = 1000 + i;
    }
    target_make_command(&command, &target, "/run", 0, &links);
    assert_null(command.arguments[command.count]);
}
