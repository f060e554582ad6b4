/*
 * How long the host waits for nodes in a download, on cube:2, and what becomes of a job that is
 * ended in the middle of one.
 */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/mesh_internal.h"

enum { NODES = 4, SECOND_US = 1000 * 1000 };

struct fixture {
    uv_loop_t loop;
    struct mesh mesh;
    char line[MESSAGE_MAX]; /* the last */
    unsigned lines, ends;
    int status;
};

static void take_event(void *context, json_t *event)
{
    struct fixture *f = context;
    const char *text = json_string_value(json_object_get(event, "text"));

    if (text) {
        f->lines++;
        snprintf(f->line, sizeof f->line, "%s", text);
    }
    json_decref(event);
}

static void take_end(void *context, int status, json_t *result)
{
    struct fixture *f = context;

    f->ends++;
    f->status = status;
    json_decref(result);
}

/* A download of which node 0 has told the receipt. What the host asks stays in its outbox. */
static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct message message;
    uv_timer_t *timers[] = {&f->mesh.bound_timer, &f->mesh.patience_timer, &f->mesh.tick_timer,
                            &f->mesh.failure_timer};

    uv_loop_init(&f->loop);
    assert_true(network_parse(&f->mesh.options.network, "cube:2", &machine_limits, message.text));
    f->mesh.loop = &f->loop;
    f->mesh.owner = (struct mesh_owner){.context = f, .emit = take_event, .ended = take_end};
    f->mesh.nodes = calloc(NODES, sizeof *f->mesh.nodes);
    f->mesh.host.outbox = calloc(OUTBOX_MAX, sizeof *f->mesh.host.outbox);
    f->mesh.troubles = json_array();
    f->mesh.handles_open = true;
    for (unsigned i = 0; i < 4; i++) {
        uv_timer_init(&f->loop, timers[i]);
        timers[i]->data = &f->mesh;
    }
    mesh_enter_phase(&f->mesh, MESH_DOWNLOAD);
    f->mesh.nodes[0].receipted = true;
    f->mesh.job.receipts = 1;
    f->mesh.job.timeout_ms = 1;
    return f;
}

static void free_fixture(struct fixture *f)
{
    uv_close((uv_handle_t *)&f->mesh.bound_timer, NULL);
    uv_close((uv_handle_t *)&f->mesh.patience_timer, NULL);
    uv_close((uv_handle_t *)&f->mesh.tick_timer, NULL);
    uv_close((uv_handle_t *)&f->mesh.failure_timer, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    json_decref(f->mesh.troubles);
    free(f->mesh.host.outbox);
    free(f->mesh.nodes);
    free(f);
}

static unsigned questions_to(const struct fixture *f, uint32_t node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < f->mesh.host.outbox_count; i++) {
        count += f->mesh.host.outbox[i].dst == node;
    }
    return count;
}

static void answer(struct fixture *f, uint32_t node)
{
    f->mesh.nodes[node].silent_us = 0;
    f->mesh.nodes[node].asked = false;
}

static void a_download_fails_by_a_node_that_does_not_answer(void **state)
{
    struct fixture *f = make_fixture();
    unsigned seconds = 0;

    (void)state;
    for (; seconds < 100 && !f->mesh.broken; seconds++) {
        mesh_load_tick(&f->mesh, SECOND_US);
        if (questions_to(f, 1)) {
            answer(f, 1);
        }
        if (questions_to(f, 3)) {
            answer(f, 3);
        }
    }
    assert_int_equal(seconds, 23); /* one and a half times 15 s, in whole ones */
    assert_int_equal(questions_to(f, 0), 0);
    assert_int_equal(questions_to(f, 2), 1);
    assert_int_equal(f->lines, 2);
    assert_string_equal(f->line, "download failed: node 2 (rank 2) has not answered for 15 s "
                                 "(--patience), 1 of 4 receipts");
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(f->ends, 1);
    assert_int_equal(f->status, STATUS_MESH);
    free_fixture(f);
}

/* As when it is in a debugger; the others only wait for it. */
static void the_node_that_keeps_a_download_waiting_is_named_before_it_is_given_up(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    f->mesh.options.patience_ms = 3600 * 1000;
    for (unsigned i = 0; i < 60; i++) {
        mesh_load_tick(&f->mesh, SECOND_US);
        for (uint32_t node = 1; node < NODES; node++) {
            if (f->mesh.nodes[node].asked && node != 2) {
                answer(f, node);
            }
        }
    }
    assert_false(f->mesh.broken);
    assert_int_equal(f->lines, 1);
    assert_string_equal(f->line, "the download waits: node 2 (rank 2) does not answer (is it "
                                 "stopped in a debugger?)");
    free_fixture(f);
}

static void a_download_in_which_all_answer_goes_on(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        mesh_load_tick(&f->mesh, SECOND_US);
        for (uint32_t node = 1; node < NODES; node++) {
            if (f->mesh.nodes[node].asked) {
                answer(f, node);
            }
        }
    }
    assert_false(f->mesh.broken);
    assert_int_equal(f->lines, 0);
    free_fixture(f);
}

/* Its circuits hold its memory: the mesh is not free before the last receipt. */
static void a_job_that_is_ended_in_its_download_is_told_at_once_and_once(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    mesh_bound(&f->mesh, 1);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(f->ends, 1);
    assert_int_equal(f->status, STATUS_TIMEOUT);
    assert_string_equal(f->line, "the run did not end within 0.001 s: download, 1 of 4 receipts "
                                 "(--timeout sets it)");
    assert_true(mesh_frees(&f->mesh));
    mesh_cancel(&f->mesh, 1);
    assert_int_equal(f->ends, 1);
    mesh_run_begin(&f->mesh);
    assert_int_equal(f->ends, 1);
    assert_int_equal(f->mesh.phase, MESH_READY);
    free_fixture(f);
}

TEST_MAIN(cmocka_unit_test(a_download_fails_by_a_node_that_does_not_answer),
          cmocka_unit_test(the_node_that_keeps_a_download_waiting_is_named_before_it_is_given_up),
          cmocka_unit_test(a_download_in_which_all_answer_goes_on),
          cmocka_unit_test(a_job_that_is_ended_in_its_download_is_told_at_once_and_once))
