/*
 * What the host says of a network that is not as it should be, and how long it waits for a better
 * one: nodes' LINKS packets made by hand, on cube:2. The linker (--wrap) puts a share of the
 * processors in the place of the machine's.
 */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/mesh_internal.h"

enum { NODES = 4, DIMS = 2, LINES_MAX = 16, PATIENCE_TICKS = 150 /* of 100 ms: 15 s */ };

unsigned __wrap_available_share_permille(void);

static unsigned share_permille = 1000;

unsigned __wrap_available_share_permille(void)
{
    return share_permille;
}

struct fixture {
    uv_loop_t loop;
    struct mesh mesh;
    struct links_port found[NODES][DIMS + 1]; /* what each node will tell */
    bool silent[NODES];
    char lines[LINES_MAX][MESSAGE_MAX];
    unsigned line_count;
    int status; /* of the boot; -1: not over */
};

static void take_event(void *context, json_t *event)
{
    struct fixture *f = context;
    const char *text = json_string_value(json_object_get(event, "text"));

    if (text) {
        assert_true(f->line_count < LINES_MAX);
        snprintf(f->lines[f->line_count++], MESSAGE_MAX, "%s", text);
    }
    json_decref(event);
}

static void take_booted(void *context, int status)
{
    ((struct fixture *)context)->status = status;
}

static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct message message;
    uv_timer_t *timers[] = {&f->mesh.patience_timer, &f->mesh.failure_timer, &f->mesh.tick_timer,
                            &f->mesh.bound_timer};

    f->status = -1;
    uv_loop_init(&f->loop);
    assert_true(network_parse(&f->mesh.options.network, "cube:2", &machine_limits, message.text));
    f->mesh.loop = &f->loop;
    f->mesh.owner = (struct mesh_owner){.context = f, .emit = take_event, .booted = take_booted};
    f->mesh.debug_ready = true;
    f->mesh.nodes = calloc(NODES, sizeof *f->mesh.nodes);
    f->mesh.handles_open = true;
    for (unsigned i = 0; i < 4; i++) {
        uv_timer_init(&f->loop, timers[i]);
        timers[i]->data = &f->mesh;
    }
    for (uint32_t node = 0; node < NODES; node++) {
        for (unsigned p = 0; p < DIMS; p++) {
            f->found[node][p] = (struct links_port){LINK_UP, (uint8_t)p, node ^ UINT32_C(1) << p};
        }
        f->found[node][DIMS] = (struct links_port){LINK_UP, 0, ID_HOST};
    }
    return f;
}

static void tell_node(struct fixture *f, uint32_t node)
{
    unsigned ports = machine_ports(&f->mesh.options.network, node);
    struct links_body links = {.port_count = (uint8_t)ports, .complete = true};

    memcpy(links.ports, f->found[node], ports * sizeof links.ports[0]);
    mesh_boot_links(&f->mesh, node, &links);
}

static void tell(struct fixture *f)
{
    mesh_boot_begin(&f->mesh);
    for (uint32_t node = 0; node < NODES; node++) {
        if (!f->silent[node]) {
            tell_node(f, node);
        }
    }
}

static void wait_ticks(struct fixture *f, unsigned ticks)
{
    for (unsigned i = 0; i < ticks; i++) {
        mesh_patience_tick(&f->mesh);
    }
}

/* Lets all nodes tell, the patience pass, and the loop run until nothing is to come. */
static void boot(struct fixture *f)
{
    tell(f);
    if (!uv_is_active((uv_handle_t *)&f->mesh.tick_timer)) {
        wait_ticks(f, PATIENCE_TICKS + 1);
    }
    uv_run(&f->loop, UV_RUN_DEFAULT);
}

static void free_fixture(struct fixture *f)
{
    uv_close((uv_handle_t *)&f->mesh.bound_timer, NULL);
    uv_close((uv_handle_t *)&f->mesh.patience_timer, NULL);
    uv_close((uv_handle_t *)&f->mesh.failure_timer, NULL);
    uv_close((uv_handle_t *)&f->mesh.tick_timer, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    free(f->mesh.nodes);
    free(f);
}

static void a_whole_network_is_ready_without_a_word(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    boot(f);
    assert_int_equal(f->status, 0);
    assert_int_equal(f->line_count, 0);
    free_fixture(f);
}

static void a_missing_cable_is_one_line(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    f->found[1][1] = f->found[3][1] = (struct links_port){LINK_SILENT, 0, ID_UNKNOWN};
    boot(f);
    assert_int_equal(f->status, STATUS_MESH);
    assert_int_equal(f->line_count, 2);
    assert_string_equal(f->lines[0], "missing: link 1-3 (dimension 1): node 1 hears nothing, "
                                     "node 3 hears nothing");
    assert_string_equal(f->lines[1], "boot failed: 4 of 4 nodes answered, 2 have all their links, "
                                     "nothing new for 15 s (--patience)");
    free_fixture(f);
}

static void a_one_way_cable_is_one_line(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    f->found[0][0] = (struct links_port){LINK_SILENT, 0, ID_UNKNOWN};
    f->found[1][0] = (struct links_port){LINK_HEARD, 0, 0};
    boot(f);
    assert_int_equal(f->line_count, 2);
    assert_string_equal(f->lines[0], "one-way: link 0-1 (dimension 0): node 0 hears nothing, "
                                     "node 1 hears the other end but is not heard");
    free_fixture(f);
}

static void crossed_cables_are_a_line_each(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    f->found[0][0] = (struct links_port){LINK_CROSSED, 1, 2};
    f->found[2][1] = (struct links_port){LINK_CROSSED, 0, 0};
    f->found[0][1] = (struct links_port){LINK_CROSSED, 0, 1};
    f->found[1][0] = (struct links_port){LINK_CROSSED, 1, 0};
    boot(f);
    assert_int_equal(f->line_count, 3);
    assert_string_equal(f->lines[0],
                        "crossed: link 0-1 (dimension 0) leads from node 0 to node 2, port 1, "
                        "and from node 1 to node 0, port 1");
    assert_string_equal(f->lines[1],
                        "crossed: link 0-2 (dimension 1) leads from node 0 to node 1, port 0, "
                        "and from node 2 to node 0, port 0");
    assert_string_equal(f->lines[2], "boot failed: 2 links are crossed, 4 of 4 nodes answered");
    free_fixture(f);
}

/* What nodes find when 0-1 and 2-3 are crossed and node 0 has made a 1 of node 3. */
static void cross_and_rename(struct fixture *f)
{
    f->silent[3] = true;
    f->found[1][0] = (struct links_port){LINK_CROSSED, 0, 2};
    f->found[1][1] = (struct links_port){LINK_CROSSED, 1, 1};
    f->found[2][0] = (struct links_port){LINK_CROSSED, 0, 1};
}

static void crossed_cables_are_named_when_one_gives_a_wrong_number(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    cross_and_rename(f);
    boot(f);
    assert_int_equal(f->line_count, 3);
    assert_string_equal(f->lines[0],
                        "crossed: link 0-1 (dimension 0) leads from node 0 to node 3, port 0, "
                        "and from node 1 to node 2, port 0");
    assert_string_equal(f->lines[1],
                        "crossed: link 2-3 (dimension 0) leads from node 2 to node 1, port 0, "
                        "and from node 3 to node 0, port 0");
    assert_string_equal(f->lines[2], "boot failed: 2 links are crossed, 3 of 4 nodes answered");
    free_fixture(f);
}

static void a_crossed_cable_ends_the_wait_when_all_have_told(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    cross_and_rename(f);
    tell(f);
    assert_true(uv_timer_get_due_in(&f->mesh.tick_timer) > 0); /* for node 3's words */
    f->silent[3] = false;
    tell(f);
    assert_int_equal(uv_timer_get_due_in(&f->mesh.tick_timer), 0);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(f->status, STATUS_MESH);
    free_fixture(f);
}

static void a_silent_node_is_named_once(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    f->silent[3] = true;
    f->found[1][1] = f->found[2][0] = (struct links_port){LINK_SILENT, 0, ID_UNKNOWN};
    boot(f);
    assert_int_equal(f->line_count, 4);
    assert_string_equal(f->lines[2], "missing: node 3 (rank 3) tells nothing: it does not run, or "
                                     "has no way to the host");
    free_fixture(f);
}

static void a_missing_host_link_is_one_line(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    f->found[2][DIMS] = (struct links_port){LINK_SILENT, 0, ID_UNKNOWN};
    boot(f);
    assert_int_equal(f->line_count, 2);
    assert_string_equal(f->lines[0], "missing: host link of node 2: the node hears nothing");
    free_fixture(f);
}

/* One node after the other, each just in time. */
static void a_boot_goes_on_while_nodes_show_something_new(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    mesh_boot_begin(&f->mesh);
    for (uint32_t node = 0; node < NODES; node++) {
        wait_ticks(f, PATIENCE_TICKS - 1);
        assert_int_equal(f->line_count, 0);
        tell_node(f, node);
    }
    assert_int_equal(f->status, 0);
    free_fixture(f);
}

/* Links that come and go are new only once. */
static void the_same_sign_again_is_nothing_new(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    mesh_boot_begin(&f->mesh);
    for (unsigned i = 0; i < PATIENCE_TICKS + 2; i++) {
        f->found[0][0].state = i % 2 ? LINK_UP : LINK_SILENT;
        tell_node(f, 0);
        wait_ticks(f, 1);
    }
    assert_true(f->mesh.broken);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(f->status, STATUS_MESH);
    free_fixture(f);
}

static void a_busy_machine_has_more_time(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    share_permille = 250;
    mesh_boot_begin(&f->mesh);
    wait_ticks(f, 4 * PATIENCE_TICKS - 1);
    assert_false(f->mesh.broken);
    wait_ticks(f, 1);
    assert_true(f->mesh.broken);
    share_permille = 1; /* but not for ever */
    uv_run(&f->loop, UV_RUN_DEFAULT);
    f->mesh.broken = false;
    mesh_boot_begin(&f->mesh);
    wait_ticks(f, 33 * PATIENCE_TICKS);
    assert_true(f->mesh.broken);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    share_permille = 1000;
    free_fixture(f);
}

static void a_timeout_ends_a_boot_with_its_own_status(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    f->mesh.options.timeout_ms = 1;
    mesh_boot_begin(&f->mesh);
    tell_node(f, 0);
    mesh_bound(&f->mesh, 1);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(f->status, STATUS_TIMEOUT);
    assert_int_equal(f->line_count, 1);
    assert_string_equal(f->lines[0], "the run did not end within 0.001 s: boot, 1 of 4 nodes have "
                                     "all links (--timeout sets it)");
    free_fixture(f);
}

TEST_MAIN(cmocka_unit_test(a_whole_network_is_ready_without_a_word),
          cmocka_unit_test(a_missing_cable_is_one_line),
          cmocka_unit_test(a_one_way_cable_is_one_line),
          cmocka_unit_test(crossed_cables_are_a_line_each),
          cmocka_unit_test(crossed_cables_are_named_when_one_gives_a_wrong_number),
          cmocka_unit_test(a_crossed_cable_ends_the_wait_when_all_have_told),
          cmocka_unit_test(a_silent_node_is_named_once),
          cmocka_unit_test(a_missing_host_link_is_one_line),
          cmocka_unit_test(a_boot_goes_on_while_nodes_show_something_new),
          cmocka_unit_test(the_same_sign_again_is_nothing_new),
          cmocka_unit_test(a_busy_machine_has_more_time),
          cmocka_unit_test(a_timeout_ends_a_boot_with_its_own_status))
