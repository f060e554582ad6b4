/*
 * What debuggers have done to nodes, and how that is said, on cube:2.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "host/machine/debuggers.h"

enum { NODES = 4 };

static struct debuggers make(bool blank)
{
    struct debuggers debuggers;

    assert_true(debuggers_init(&debuggers, NODES, blank));
    return debuggers;
}

TEST(the_clocks_stand_while_any_node_is_halted)
{
    struct debuggers d = make(false);

    assert_false(debuggers_halt_any(&d));
    debuggers_changed(&d, 1, JTAG_HALTED, "gdb-multiarch (process 77)");
    assert_true(debuggers_halt(&d, 1));
    assert_false(debuggers_halt(&d, 2));
    debuggers_changed(&d, 2, JTAG_LOST, "");
    debuggers_changed(&d, 1, JTAG_RUNNING, "gdb-multiarch (process 77)");
    assert_true(debuggers_halt_any(&d));
    debuggers_changed(&d, 2, JTAG_RUNNING, "");
    assert_false(debuggers_halt_any(&d));
    debuggers_free(&d);
}

TEST(a_dead_node_stops_no_clock)
{
    struct debuggers d = make(false);

    debuggers_changed(&d, 3, JTAG_HALTED, "");
    assert_true(debuggers_halt_any(&d));
    debuggers_node_died(&d, 3);
    assert_false(debuggers_halt_any(&d));
    debuggers_free(&d);
}

TEST(a_halted_node_is_said_to_be_halted_and_by_whom)
{
    struct debuggers d = make(false);
    char text[DEBUG_TEXT_MAX];

    debuggers_changed(&d, 1, JTAG_HALTED, "gdb-multiarch (process 77)");
    assert_string_equal(debuggers_text(&d, 1, text), "halted by gdb-multiarch (process 77)");
    debuggers_changed(&d, 1, JTAG_HALTED, "");
    assert_string_equal(debuggers_text(&d, 1, text),
                        "halted; nobody debugs it: 'ecube debug 1' does");
    debuggers_changed(&d, 1, JTAG_LOST, "openocd (process 12)");
    assert_string_equal(debuggers_text(&d, 1, text),
                        "told to run where no memory is, by openocd (process 12)");
    debuggers_free(&d);
}

TEST(a_blank_node_is_blank_until_it_runs)
{
    struct debuggers d = make(true);
    char text[DEBUG_TEXT_MAX];

    assert_int_equal(debuggers_blank_count(&d), NODES);
    assert_true(debuggers_halt(&d, 0));
    debuggers_changed(&d, 0, JTAG_LOST, "openocd (process 12)");
    assert_int_equal(debuggers_blank_count(&d), NODES);
    assert_string_equal(debuggers_text(&d, 0, text),
                        "blank: it has no kernel yet, held by openocd (process 12)");
    debuggers_changed(&d, 0, JTAG_RUNNING, "openocd (process 12)");
    assert_int_equal(debuggers_blank_count(&d), NODES - 1);
    debuggers_free(&d);
}

static void assert_json(json_t *value, const char *expected)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    assert_string_equal(text, expected);
    free(text);
    json_decref(value);
}

TEST(what_debuggers_do_is_told_to_programs)
{
    struct debuggers d = make(false);

    assert_json(debuggers_describe(&d, 0), "null");
    debuggers_changed(&d, 0, JTAG_RUNNING, "gdb");
    assert_json(debuggers_describe(&d, 0), "{\"state\":\"running\",\"holder\":\"gdb\"}");
    debuggers_changed(&d, 0, JTAG_HALTED, "");
    assert_json(debuggers_describe(&d, 0), "{\"state\":\"halted\",\"holder\":null}");
    debuggers_free(&d);
}

TEST(nodes_that_were_reset_are_named_until_the_machine_boots_anew)
{
    struct debuggers d = make(false);
    char text[RESET_TEXT_MAX];

    assert_false(debuggers_reset_text(&d, text));
    debuggers_changed(&d, 1, JTAG_HALTED, "openocd (process 12)");
    debuggers_was_reset(&d, 3);
    debuggers_was_reset(&d, 1);
    assert_true(debuggers_reset_text(&d, text));
    assert_string_equal(text, "nodes 1, 3 were reset through a debugger (openocd (process 12))");
    assert_json(debuggers_reset_nodes(&d), "[1,3]");
    debuggers_was_reset(&d, 0);
    debuggers_was_reset(&d, 2);
    assert_true(debuggers_reset_text(&d, text));
    assert_string_equal(text, "all 4 nodes were reset through a debugger");
    debuggers_forget_resets(&d);
    assert_false(debuggers_reset_text(&d, text));
    assert_string_equal(d.nodes[1].holder, "openocd (process 12)");
    assert_true(debuggers_halt(&d, 1));
    debuggers_free(&d);
}

TEST(who_has_reset_a_node_may_be_told_behind_the_reset)
{
    struct debuggers d = make(false);
    char text[RESET_TEXT_MAX];

    debuggers_was_reset(&d, 2);
    debuggers_changed(&d, 2, JTAG_HALTED, "openocd (process 12)");
    assert_true(debuggers_reset_text(&d, text));
    assert_string_equal(text, "node 2 was reset through a debugger (openocd (process 12))");
    debuggers_free(&d);
}
