/*
 * What the owner of the debug sockets tells whoever has started it.
 */
#include "tests/testing.h"

#include <string.h>

#include "jtag/daemon/notice.h"

TEST(a_notice_comes_out_of_its_line_as_it_went_in)
{
    static const char *const lines[] = {"ready\n", "reset 127\n", "node 0 running -\n",
                                        "node 5 halted gdb-multiarch (process 77)\n",
                                        "node 4294967295 lost openocd (process 123)\n"};
    struct notice notice;
    char line[NOTICE_LINE_MAX];

    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_true(notice_parse(&notice, lines[i]));
        assert_int_equal(notice_format(&notice, line), strlen(lines[i]));
        assert_string_equal(line, lines[i]);
    }
    assert_true(notice_parse(&notice, "node 5 halted a b c"));
    assert_int_equal(notice.kind, NOTICE_NODE);
    assert_int_equal(notice.node, 5);
    assert_int_equal(notice.state, NOTICE_HALTED);
    assert_string_equal(notice.holder, "a b c");
}

TEST(other_lines_are_none)
{
    static const char *const lines[] = {
        "",
        "\n",
        "ready ",
        "ready\nready\n",
        "reset",
        "reset ",
        "reset x",
        "reset 1 ",
        "reset 4294967296",
        "reset 99999999999999999999999",
        "node",
        "node 1",
        "node 1 running",
        "node 1 running ",
        "node 1 asleep -",
        "node -1 running -",
        "node 1 haltedx -",
        "node 1 halted 0123456789012345678901234567890123456789012345678901234567890123",
        "node 1 halted "
        "01234567890123456789012345678901234567890123456789012345678901234567890123456"
        "789012345678901234567890123456789012345678901234567890123456789",
    };
    struct notice notice;

    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (notice_parse(&notice, lines[i])) {
            fail_msg("taken: %s", lines[i]);
        }
    }
}
