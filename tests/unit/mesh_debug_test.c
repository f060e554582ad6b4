/*
 * What the host makes of what debuggers do to nodes, on cube:2.
 */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "host/mesh_internal.h"
#include "router/router.h"

enum { NODES = 4, TIMEOUT_MS = 60000 };

struct fixture {
    uv_loop_t loop;
    struct mesh mesh;
    char text[MESSAGE_MAX]; /* the last trouble */
};

static void take_event(void *context, json_t *event)
{
    struct fixture *f = context;
    const char *text = json_string_value(json_object_get(event, "text"));

    if (text) {
        snprintf(f->text, sizeof f->text, "%s", text);
    }
    json_decref(event);
}

static void open_timers(struct fixture *f)
{
    uv_timer_t *timers[] = {&f->mesh.bound_timer, &f->mesh.stand_timer,    &f->mesh.failure_timer,
                            &f->mesh.tick_timer,  &f->mesh.patience_timer, &f->mesh.query_timer};

    for (unsigned i = 0; i < sizeof timers / sizeof timers[0]; i++) {
        uv_timer_init(&f->loop, timers[i]);
        timers[i]->data = &f->mesh;
    }
}

static struct fixture *make_fixture(enum mesh_phase phase)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct message message;

    uv_loop_init(&f->loop);
    assert_true(network_parse(&f->mesh.options.network, "cube:2", &machine_limits, message.text));
    f->mesh.loop = &f->loop;
    f->mesh.owner = (struct mesh_owner){.context = f, .emit = take_event};
    f->mesh.nodes = calloc(NODES, sizeof *f->mesh.nodes);
    f->mesh.troubles = json_array();
    f->mesh.phase = phase;
    f->mesh.debug_ready = true;
    open_timers(f);
    return f;
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    uv_close(handle, NULL);
}

static void free_fixture(struct fixture *f)
{
    uv_walk(&f->loop, close_handle, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    json_decref(f->mesh.troubles);
    free(f->mesh.nodes);
    free(f);
}

static bool timeout_counts(const struct fixture *f)
{
    return uv_is_active((const uv_handle_t *)&f->mesh.bound_timer);
}

static void while_any_node_is_halted_the_timeout_stands_still(void **state)
{
    struct fixture *f = make_fixture(MESH_RUN);

    (void)state;
    mesh_bound(&f->mesh, TIMEOUT_MS);
    assert_true(timeout_counts(f));
    mesh_debug_changed(&f->mesh, 1, JTAG_HALTED, "gdb-multiarch (process 77)");
    assert_false(timeout_counts(f));
    mesh_debug_changed(&f->mesh, 2, JTAG_HALTED, "");
    mesh_debug_changed(&f->mesh, 1, JTAG_RUNNING, "gdb-multiarch (process 77)");
    assert_false(timeout_counts(f));
    mesh_debug_changed(&f->mesh, 2, JTAG_RUNNING, "");
    assert_true(timeout_counts(f));
    assert_in_range(uv_timer_get_due_in(&f->mesh.bound_timer), 1, TIMEOUT_MS);
    free_fixture(f);
}

static void a_timeout_that_begins_while_a_node_is_halted_waits_for_it(void **state)
{
    struct fixture *f = make_fixture(MESH_READY);

    (void)state;
    mesh_debug_changed(&f->mesh, 3, JTAG_LOST, "");
    mesh_bound(&f->mesh, TIMEOUT_MS);
    assert_false(timeout_counts(f));
    mesh_debug_changed(&f->mesh, 3, JTAG_RUNNING, "");
    assert_true(timeout_counts(f));
    mesh_unbound(&f->mesh);
    mesh_debug_changed(&f->mesh, 3, JTAG_HALTED, "");
    mesh_debug_changed(&f->mesh, 3, JTAG_RUNNING, "");
    assert_false(timeout_counts(f));
    free_fixture(f);
}

static void a_dead_node_stops_no_clock(void **state)
{
    struct fixture *f = make_fixture(MESH_RUN);

    (void)state;
    mesh_debug_changed(&f->mesh, 3, JTAG_HALTED, "");
    assert_true(mesh_stands(&f->mesh));
    f->mesh.nodes[3].dead = true;
    assert_false(mesh_stands(&f->mesh));
    free_fixture(f);
}

static void a_halted_node_is_said_to_be_halted_and_by_whom(void **state)
{
    struct fixture *f = make_fixture(MESH_RUN);
    char text[MESH_HALTED_TEXT_MAX];

    (void)state;
    mesh_debug_changed(&f->mesh, 1, JTAG_HALTED, "gdb-multiarch (process 77)");
    assert_string_equal(mesh_debug_text(&f->mesh, 1, text), "halted by gdb-multiarch (process 77)");
    mesh_debug_changed(&f->mesh, 1, JTAG_HALTED, "");
    assert_string_equal(mesh_debug_text(&f->mesh, 1, text),
                        "halted; nobody debugs it: 'ecube debug 1' does");
    mesh_debug_changed(&f->mesh, 1, JTAG_LOST, "openocd (process 12)");
    assert_string_equal(mesh_debug_text(&f->mesh, 1, text),
                        "told to run where no memory is, by openocd (process 12)");
    mesh_debug_changed(&f->mesh, 99, JTAG_HALTED, "");
    free_fixture(f);
}

static void a_link_that_dies_of_a_debugger_is_told_so(void **state)
{
    struct fixture *f = make_fixture(MESH_READY);

    (void)state;
    mesh_debug_changed(&f->mesh, 1, JTAG_HALTED, "gdb-multiarch (process 77)");
    mesh_link_died(&f->mesh, 0, 1, DEAD_TIMEOUT);
    mesh_on_failure_timer(&f->mesh.failure_timer);
    assert_string_equal(f->text, "link 0-1 (dimension 0) died during idle: node 1 is halted by "
                                 "gdb-multiarch (process 77), for longer than --patience, told by "
                                 "node 0 (rank 0)");
    mesh_debug_changed(&f->mesh, 3, JTAG_HALTED, "openocd (process 12)");
    mesh_debug_was_reset(&f->mesh, 3);
    mesh_debug_changed(&f->mesh, 3, JTAG_RUNNING, "");
    mesh_link_died(&f->mesh, 2, 3, DEAD_PROTOCOL);
    mesh_on_failure_timer(&f->mesh.failure_timer);
    assert_string_equal(f->text, "link 2-3 (dimension 0) died during idle: node 3 was reset "
                                 "through a debugger (openocd (process 12)), told by node 2 (rank "
                                 "2)");
    free_fixture(f);
}

static void a_blank_node_is_blank_until_it_runs(void **state)
{
    struct fixture *f = make_fixture(MESH_BOOT);

    (void)state;
    for (uint32_t rank = 0; rank < NODES; rank++) {
        f->mesh.nodes[rank].blank = true;
        mesh_debug_changed(&f->mesh, rank, JTAG_HALTED, "");
    }
    assert_int_equal(mesh_blank_count(&f->mesh), NODES);
    mesh_debug_changed(&f->mesh, 0, JTAG_LOST, "openocd (process 12)");
    assert_int_equal(mesh_blank_count(&f->mesh), NODES);
    mesh_debug_was_reset(&f->mesh, 0);
    assert_false(f->mesh.nodes[0].was_reset);
    mesh_debug_changed(&f->mesh, 0, JTAG_RUNNING, "openocd (process 12)");
    assert_int_equal(mesh_blank_count(&f->mesh), NODES - 1);
    free_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_any_node_is_halted_the_timeout_stands_still),
        cmocka_unit_test(a_timeout_that_begins_while_a_node_is_halted_waits_for_it),
        cmocka_unit_test(a_dead_node_stops_no_clock),
        cmocka_unit_test(a_halted_node_is_said_to_be_halted_and_by_whom),
        cmocka_unit_test(a_link_that_dies_of_a_debugger_is_told_so),
        cmocka_unit_test(a_blank_node_is_blank_until_it_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
