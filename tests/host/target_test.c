/*
 * The command line of a node's QEMU.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

#include "host/computer/target.h"

static const struct target target = {.kernel = "kernel.elf", .qemu = "qemu"};

/* The word after `option`; "": the command has no such option. */
static const char *value_of(const struct argv *command, const char *option)
{
    for (unsigned i = 0; i + 1 < command->count; i++) {
        if (strcmp(command->words[i], option) == 0) {
            return command->words[i + 1];
        }
    }
    return "";
}

TEST(a_node_is_started_with_the_options_of_its_board)
{
    struct argv command;
    const int fds[] = {5, 6};
    const struct board_links links = {.serial_fds = fds, .port_count = 2, .card_fd = -1};
    char megabytes[16];

    target_make_command(&command, &target, "/run", 3, &links);
    snprintf(megabytes, sizeof megabytes, "%u", target_board()->ram_bytes >> 20);
    assert_string_equal(command.words[0], "qemu");
    for (unsigned i = 0; target_board()->options[i]; i++) {
        assert_string_equal(command.words[1 + i], target_board()->options[i]);
    }
    assert_string_equal(value_of(&command, "-m"), megabytes);
    assert_string_equal(value_of(&command, "-kernel"), "kernel.elf");
    assert_string_equal(value_of(&command, "-device"), "virtio-serial-device,max_ports=3");
    assert_string_equal(value_of(&command, "-gdb"), "unix:/run/n3.gdb,server=on,wait=off");
}

TEST(a_node_could_have_a_second_processor_so_that_qemu_keeps_memory_barriers)
{
    struct argv command;
    const int fds[] = {5};
    const struct board_links links = {.serial_fds = fds, .port_count = 1, .card_fd = -1};

    target_make_command(&command, &target, "/run", 0, &links);
    assert_string_equal(value_of(&command, "-smp"), "1,maxcpus=2");
}

TEST(a_node_can_have_as_many_links_as_its_board)
{
    struct argv command;
    int fds[MACHINE_PORTS_MAX];
    const struct board_links links = {
        .serial_fds = fds, .port_count = MACHINE_PORTS_MAX, .card_fd = -1};

    for (int i = 0; i < MACHINE_PORTS_MAX; i++) {
        fds[i] = 1000 + i;
    }
    target_make_command(&command, &target, "/run", 0, &links);
    assert_null(command.words[command.count]);
}

TEST(a_board_that_there_is_not_is_refused_and_the_nearest_named)
{
    const struct board *before = target_board();
    struct message message;
    char word[80];

    snprintf(word, sizeof word, "%sx", before->name);
    assert_int_not_equal(target_choose(word, &message), 0);
    assert_non_null(strstr(message.text, "did you mean"));
    assert_ptr_equal(target_board(), before);
    assert_int_equal(target_choose(before->name, &message), 0);
}
