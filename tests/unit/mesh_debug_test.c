/*
 * What the host makes of what debuggers do to nodes, on cube:2.
 */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "host/mesh_internal.h"
#include "router/router.h"
#include "wire/report.h"

enum { NODES = 4, TIMEOUT_MS = 60000 };

struct fixture {
    uv_loop_t loop;
    struct mesh mesh;
    char text[MESSAGE_MAX]; /* the last trouble */
    int ended, booted;      /* statuses told; -1: none */
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

static void take_end(void *context, int status, json_t *result)
{
    ((struct fixture *)context)->ended = status;
    json_decref(result);
}

static void take_boot(void *context, int status)
{
    ((struct fixture *)context)->booted = status;
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
    f->mesh.owner = (struct mesh_owner){
        .context = f, .emit = take_event, .ended = take_end, .booted = take_boot};
    f->ended = f->booted = -1;
    f->mesh.nodes = calloc(NODES, sizeof *f->mesh.nodes);
    f->mesh.troubles = json_array();
    f->mesh.phase = phase;
    f->mesh.debug_ready = true;
    f->mesh.handles_open = true;
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
    mesh_was_reset(&f->mesh, 3);
    mesh_on_failure_timer(&f->mesh.failure_timer);
    assert_string_equal(f->text,
                        "node 3 was reset through a debugger (openocd (process 12)) during "
                        "idle: reset all ('reset run' in OpenOCD), and the mesh boots anew");
    mesh_debug_changed(&f->mesh, 3, JTAG_RUNNING, "");
    f->text[0] = '\0';
    mesh_link_died(&f->mesh, 2, 3, DEAD_RESTARTED);
    mesh_on_failure_timer(&f->mesh.failure_timer);
    assert_string_equal(f->text, ""); /* the reset explains it */
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
    mesh_was_reset(&f->mesh, 0);
    assert_false(f->mesh.nodes[0].was_reset);
    mesh_debug_changed(&f->mesh, 0, JTAG_RUNNING, "openocd (process 12)");
    assert_int_equal(mesh_blank_count(&f->mesh), NODES - 1);
    free_fixture(f);
}

static void node_tells_links(struct fixture *f, uint32_t node)
{
    enum { DIMS = 2 };
    unsigned ports = machine_ports(&f->mesh.options.network, node);
    struct links_body links = {.port_count = (uint8_t)ports, .complete = true};

    for (unsigned p = 0; p < ports; p++) {
        links.ports[p] = (struct links_port){LINK_UP, (uint8_t)(p < DIMS ? p : 0),
                                             p < DIMS ? node ^ UINT32_C(1) << p : ID_HOST};
    }
    mesh_boot_links(&f->mesh, node, &links);
}

static void all_tell_links(struct fixture *f)
{
    for (uint32_t rank = 0; rank < NODES; rank++) {
        node_tells_links(f, rank);
    }
}

static void reset_in(struct fixture *f, const uint32_t *order, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        mesh_was_reset(&f->mesh, order[i]);
    }
}

static const uint32_t orders[][NODES] = {{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}};

static void when_all_nodes_have_been_reset_the_mesh_boots_anew(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct fixture *f = make_fixture(MESH_READY);

        for (unsigned k = 0; k < 3; k++) { /* again and again */
            f->booted = -1;
            f->mesh.model_ns = 7;
            reset_in(f, orders[i], NODES - 1);
            assert_true(f->mesh.broken);
            mesh_link_died(&f->mesh, orders[i][0], orders[i][0] ^ 1, DEAD_RESTARTED);
            mesh_was_reset(&f->mesh, orders[i][NODES - 1]);
            assert_int_equal(f->mesh.phase, MESH_BOOT);
            assert_false(f->mesh.broken);
            assert_int_equal(f->mesh.dead_link_count, 0);
            assert_int_equal(f->mesh.model_ns, 0);
            assert_false(uv_is_active((uv_handle_t *)&f->mesh.failure_timer));
            assert_string_equal(
                f->text,
                "all 4 nodes were reset through a debugger during idle: the mesh boots anew");
            all_tell_links(f);
            assert_int_equal(f->booted, 0);
            assert_int_equal(f->mesh.phase, MESH_READY);
        }
        free_fixture(f);
    }
}

static void a_job_ends_when_a_node_is_reset_and_at_once_when_all_are(void **state)
{
    struct fixture *f = make_fixture(MESH_RUN);

    (void)state;
    f->mesh.nodes[1].running = true;
    reset_in(f, orders[0], 2);
    mesh_on_failure_timer(&f->mesh.failure_timer);
    assert_int_equal(f->ended, STATUS_MESH);
    assert_string_equal(f->text, "nodes 0, 1 were reset through a debugger during run: reset all "
                                 "('reset run' in OpenOCD), and the mesh boots anew");
    reset_in(f, orders[0], NODES);
    assert_int_equal(f->mesh.phase, MESH_BOOT);
    all_tell_links(f);
    f->ended = -1;
    mesh_enter_phase(&f->mesh, MESH_RUN);
    reset_in(f, orders[1], NODES);
    assert_int_equal(f->ended, STATUS_MESH);
    assert_int_equal(f->mesh.phase, MESH_BOOT);
    free_fixture(f);
}

static void the_nodes_that_were_reset_are_named_until_the_mesh_boots_anew(void **state)
{
    struct fixture *f = make_fixture(MESH_READY);
    char text[MESH_RESET_TEXT_MAX];

    (void)state;
    assert_false(mesh_describe_reset(&f->mesh, text));
    mesh_debug_changed(&f->mesh, 1, JTAG_HALTED, "openocd (process 12)");
    reset_in(f, orders[1], 2);
    assert_true(mesh_describe_reset(&f->mesh, text));
    assert_string_equal(text, "nodes 1, 3 were reset through a debugger (openocd (process 12))");
    reset_in(f, orders[1], NODES);
    assert_false(mesh_describe_reset(&f->mesh, text));
    assert_int_equal(f->mesh.nodes[1].debug, JTAG_HALTED);
    assert_string_equal(f->mesh.nodes[1].holder, "openocd (process 12)");
    free_fixture(f);
}

static void a_reset_mends_neither_a_dead_node_nor_a_cut_cable(void **state)
{
    (void)state;
    for (unsigned cut = 0; cut < 2; cut++) {
        struct fixture *f = make_fixture(MESH_READY);

        if (cut) {
            mesh_link_died(&f->mesh, 0, 1, DEAD_CARRIER);
        } else {
            f->mesh.nodes[2].dead = f->mesh.broken = true;
        }
        reset_in(f, orders[0], NODES);
        assert_int_equal(f->mesh.phase, MESH_READY);
        assert_true(f->mesh.broken);
        json_t *dead = mesh_describe_dead(&f->mesh);
        assert_int_equal(json_array_size(dead), 1);
        assert_string_equal(json_string_value(json_array_get(dead, 0)),
                            cut ? "link 0-1" : "node 2");
        json_decref(dead);
        mesh_tell_reset(&f->mesh);
        assert_string_equal(f->text, "all 4 nodes were reset through a debugger during idle: the "
                                     "mesh is broken");
        free_fixture(f);
    }
}

/* What it told before is not so any more. */
static void a_node_that_is_reset_in_the_boot_must_tell_its_links_again(void **state)
{
    struct fixture *f = make_fixture(MESH_BOOT);

    (void)state;
    node_tells_links(f, 1);
    mesh_was_reset(&f->mesh, 1);
    assert_false(f->mesh.broken);
    node_tells_links(f, 0);
    node_tells_links(f, 2);
    node_tells_links(f, 3);
    assert_int_equal(f->booted, -1);
    node_tells_links(f, 1);
    assert_int_equal(f->booted, 0);
    reset_in(f, orders[0], NODES - 1); /* it was before the boot's end: 3 is not reset since */
    assert_int_equal(f->mesh.phase, MESH_READY);
    free_fixture(f);
}

/* They are given their kernels one by one: who has been heard since its reset goes on. */
static void a_reset_before_a_node_is_known_does_not_count(void **state)
{
    struct fixture *f = make_fixture(MESH_BOOT);

    (void)state;
    mesh_was_reset(&f->mesh, 1);
    node_tells_links(f, 1);
    reset_in(f, orders[0], 1);
    reset_in(f, orders[2], 2);
    assert_string_equal(f->text, "");
    assert_true(f->mesh.nodes[1].links_told);
    all_tell_links(f);
    assert_int_equal(f->booted, 0);
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
        cmocka_unit_test(when_all_nodes_have_been_reset_the_mesh_boots_anew),
        cmocka_unit_test(a_job_ends_when_a_node_is_reset_and_at_once_when_all_are),
        cmocka_unit_test(the_nodes_that_were_reset_are_named_until_the_mesh_boots_anew),
        cmocka_unit_test(a_reset_mends_neither_a_dead_node_nor_a_cut_cable),
        cmocka_unit_test(a_node_that_is_reset_in_the_boot_must_tell_its_links_again),
        cmocka_unit_test(a_reset_before_a_node_is_known_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
