/*
 * What the host asks of nodes that do not answer, on cube:2: a node that stands still must not find
 * so many questions before it that those to others get stuck behind them.
 */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "host/mesh_internal.h"

enum { NODES = 4, SILENT = 3 };

struct fixture {
    uv_loop_t loop;
    struct mesh mesh;
    unsigned lines;
    bool ended;
};

static void take_event(void *context, json_t *event)
{
    ((struct fixture *)context)->lines += json_object_get(event, "text") != NULL;
    json_decref(event);
}

static void take_end(void *context, int status, json_t *result)
{
    (void)status;
    ((struct fixture *)context)->ended = true;
    json_decref(result);
}

/* A mesh whose host has an outbox and no links: what is asked stays in it. */
static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct message message;
    uv_timer_t *timers[] = {&f->mesh.bound_timer, &f->mesh.query_timer, &f->mesh.tick_timer};

    uv_loop_init(&f->loop);
    assert_int_equal(topology_parse(&f->mesh.options.topology, "cube:2", &message), 0);
    f->mesh.loop = &f->loop;
    f->mesh.owner = (struct mesh_owner){.context = f, .emit = take_event, .ended = take_end};
    f->mesh.nodes = calloc(NODES, sizeof *f->mesh.nodes);
    f->mesh.host.outbox = calloc(OUTBOX_MAX, sizeof *f->mesh.host.outbox);
    f->mesh.troubles = json_array();
    f->mesh.phase = MESH_RUN;
    for (unsigned i = 0; i < 3; i++) {
        uv_timer_init(&f->loop, timers[i]);
        timers[i]->data = &f->mesh;
    }
    return f;
}

static void free_fixture(struct fixture *f)
{
    uv_close((uv_handle_t *)&f->mesh.bound_timer, NULL);
    uv_close((uv_handle_t *)&f->mesh.query_timer, NULL);
    uv_close((uv_handle_t *)&f->mesh.tick_timer, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    json_decref(f->mesh.troubles);
    free(f->mesh.host.outbox);
    free(f->mesh.nodes);
    free(f);
}

/* The node's program runs, and waits for something; or it has ended. */
static void answer_with(struct fixture *f, uint32_t node, enum wait_kind wait)
{
    uint8_t body[STATE_BYTES] = {wait ? PROGRAM_RUNNING : PROGRAM_EXITED, (uint8_t)wait};
    struct mesh_packet packet = {PACKET_STATE, node, body, sizeof body};

    mesh_query_packet(&f->mesh, &packet);
}

static void answer(struct fixture *f, uint32_t node, bool waits)
{
    answer_with(f, node, waits ? WAIT_RECEIVE : WAIT_NOTHING);
}

static void all_answer_but_the_silent_one(struct fixture *f)
{
    for (uint32_t node = 0; node < NODES; node++) {
        if (node != SILENT) {
            answer(f, node, f->mesh.nodes[node].running);
        }
    }
}

static void count_answers(void *context, struct mesh *mesh)
{
    (void)mesh;
    ++*(unsigned *)context;
}

static unsigned questions_to(const struct fixture *f, uint32_t node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < f->mesh.host.outbox_count; i++) {
        count += f->mesh.host.outbox[i].dst == node;
    }
    return count;
}

static void a_node_that_owes_an_answer_is_not_asked_again(void **state)
{
    struct fixture *f = make_fixture();
    unsigned done = 0;

    (void)state;
    for (unsigned i = 1; i <= 3; i++) {
        mesh_query(&f->mesh, count_answers, &done);
        all_answer_but_the_silent_one(f);
        uv_run(&f->loop, UV_RUN_DEFAULT); /* until the bound */
        assert_int_equal(done, i);
        assert_int_equal(questions_to(f, 0), i);
        assert_int_equal(questions_to(f, SILENT), 1);
    }
    answer(f, SILENT, false);
    mesh_query(&f->mesh, count_answers, &done);
    assert_int_equal(questions_to(f, SILENT), 2);
    free_fixture(f);
}

/* Lets the host watch until it would have found that all wait. */
static void watch(struct fixture *f, bool silent_answers)
{
    for (unsigned tick = 0; tick < 12 && !f->ended; tick++) {
        mesh_watch_tick(&f->mesh);
        if (!f->mesh.query_open) {
            continue;
        }
        all_answer_but_the_silent_one(f);
        if (silent_answers) {
            answer(f, SILENT, false);
        } else {
            uv_run(&f->loop, UV_RUN_ONCE); /* the bound */
        }
    }
}

/* What they wait for may be on its way through it. */
static void programs_do_not_wait_for_ever_while_any_node_stands_still(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    for (uint32_t node = 0; node < NODES; node++) {
        f->mesh.nodes[node].running = node != SILENT;
    }
    watch(f, false);
    assert_false(f->ended);
    assert_int_equal(f->lines, 0);
    watch(f, true);
    assert_true(f->ended);
    free_fixture(f);
}

/* One that will send what the others wait for. */
static void programs_do_not_wait_for_ever_while_one_sleeps(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    for (uint32_t node = 0; node < NODES; node++) {
        f->mesh.nodes[node].running = true;
    }
    for (unsigned tick = 0; tick < 24; tick++) {
        mesh_watch_tick(&f->mesh);
        if (f->mesh.query_open) {
            all_answer_but_the_silent_one(f);
            answer_with(f, SILENT, WAIT_SLEEP);
        }
    }
    assert_false(f->ended);
    assert_int_equal(f->lines, 0);
    free_fixture(f);
}

TEST_MAIN(cmocka_unit_test(programs_do_not_wait_for_ever_while_one_sleeps),
          cmocka_unit_test(a_node_that_owes_an_answer_is_not_asked_again),
          cmocka_unit_test(programs_do_not_wait_for_ever_while_any_node_stands_still))
