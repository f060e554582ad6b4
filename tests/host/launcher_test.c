/*
 * The part of a machine that a launcher has, and what a node's QEMU is told over its own line.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/machine/launcher.h"
#include "host/machine/monitor.h"
#include "tests/networks.h"

enum { DRAWS = 500, PARTS_MAX = 5 };

/* Of the parts of a machine no two have a link, and what none has leads from one to another. */
static void expect_links_divided(const struct network *network, const uint32_t *firsts,
                                 unsigned parts)
{
    uint32_t within = 0, between = 0;

    for (unsigned i = 0; i < parts; i++) {
        within += launcher_links_within(
            network,
            &(struct launcher_place){.first = firsts[i], .count = firsts[i + 1] - firsts[i]});
        for (uint32_t node = firsts[i]; node < firsts[i + 1]; node++) {
            for (unsigned p = 0; p < network->ports; p++) {
                uint32_t peer = network_neighbour(network, node, p);

                between += network_owns_link(network, node, p) &&
                           (peer < firsts[i] || peer >= firsts[i + 1]);
            }
        }
    }
    assert_int_equal(within + between, network_link_count(network));
}

TEST(each_link_is_within_one_part_of_a_machine_or_between_two)
{
    static const char *const names[] = {"cube:0",     "cube:5",   "ring:2",       "ring:17",
                                        "mesh:1x7",   "mesh:5x3", "torus:2x3x4",  "torus:5x5",
                                        "mesh:2x2x3", "cube:9",   "torus:16x2x2", "ring:1"};

    srand(1);
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        struct network network =
            network_of(names[(unsigned)rand() % (sizeof names / sizeof names[0])]);
        unsigned parts = 1 + (unsigned)rand() % PARTS_MAX;
        uint32_t firsts[PARTS_MAX + 1] = {0};

        for (unsigned i = 1; i < parts; i++) {
            firsts[i] = firsts[i - 1] + (uint32_t)rand() % (network.nodes - firsts[i - 1] + 1);
        }
        firsts[parts] = network.nodes;
        expect_links_divided(&network, firsts, parts);
    }
}

TEST(a_machine_that_is_here_as_a_whole_has_all_links)
{
    struct network network = network_of("torus:4x4");
    struct launcher_place whole = launcher_whole(&network);

    assert_true(whole.host);
    assert_int_equal(launcher_links_within(&network, &whole), network_link_count(&network));
}

/* A QEMU's end of its line, and the tool's. */
struct line_ends {
    int tool, qemu;
};

static struct line_ends open_line(void)
{
    struct message message;
    struct line_ends ends;

    assert_int_equal(monitor_open(&ends.tool, &ends.qemu, &message), 0);
    return ends;
}

static void close_line(const struct line_ends *ends)
{
    close(ends->tool);
    close(ends->qemu);
}

static void expect_words(int fd, const char *words)
{
    char got[256];
    ssize_t bytes = recv(fd, got, sizeof got - 1, MSG_DONTWAIT);

    assert_true(bytes >= 0);
    got[bytes] = '\0';
    assert_string_equal(got, words);
}

static void say(int fd, const char *words)
{
    assert_int_equal(write(fd, words, strlen(words)), strlen(words));
}

TEST(a_qemu_is_told_to_cut_a_carrier_in_lines_of_its_protocol)
{
    struct line_ends ends = open_line();

    expect_words(ends.qemu, "{\"execute\":\"qmp_capabilities\"}\n");
    assert_true(monitor_yank(ends.tool, 8));
    expect_words(ends.qemu,
                 "{\"execute\":\"yank\",\"arguments\":{\"instances\":[{\"type\":\"chardev\","
                 "\"id\":\"c8\"}]}}\n");
    close_line(&ends);
}

TEST(a_qemu_that_is_gone_cannot_be_told)
{
    struct line_ends ends = open_line();

    close(ends.qemu);
    assert_false(monitor_yank(ends.tool, 0));
    close(ends.tool);
}

TEST(of_all_that_a_qemu_says_the_answer_is_found_and_its_ports_without_carrier)
{
    struct line_ends ends = open_line();
    uint32_t ports = 0;

    assert_true(monitor_ask(ends.tool));
    say(ends.qemu,
        "{\"QMP\":{\"version\":{}}}\n{\"return\":{}}\n{\"event\":\"RESUME\"}\nno JSON\n");
    say(ends.qemu, "{\"id\":\"ask\",\"return\":["
                   "{\"label\":\"c0\",\"filename\":\"tcp:127.0.0.1:1 <-> 127.0.0.1:2\"},"
                   "{\"label\":\"c1\",\"filename\":\"disconnected:tcp:127.0.0.1:3\"},"
                   "{\"label\":\"c8\",\"filename\":\"disconnected:fd:7,server=on\"},"
                   "{\"label\":\"compat_monitor0\",\"filename\":\"disconnected:unix:/n0.qmp\"},"
                   "{\"label\":\"c1x\",\"filename\":\"disconnected:\"},{\"label\":\"c99\"},{}]}\n");
    assert_true(monitor_disconnected(ends.tool, INT64_MAX, &ports));
    assert_int_equal(ports, 1 << 1 | 1 << 8);
    close_line(&ends);
}

TEST(a_qemu_that_does_not_answer_is_not_waited_for)
{
    struct line_ends ends = open_line();
    uint32_t ports = 7;

    say(ends.qemu, "{\"QMP\":{}}\n{\"id\":\"ask\",\"ret");
    assert_false(monitor_disconnected(ends.tool, 0, &ports));
    assert_int_equal(ports, 7);
    close_line(&ends);
}
