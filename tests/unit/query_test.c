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
    assert_true(network_parse(&f->mesh.options.network, "cube:2", &machine_limits, message.text));
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

struct moves {
    bool under_way;            /* something that was sent before the last question */
    bool polls;                /* the program waits by testing */
    uint32_t progress, frames; /* counters */
};

static void answer_moving(struct fixture *f, uint32_t node, enum wait_kind wait,
                          const struct moves *moves)
{
    struct state_body state = {.program = wait ? PROGRAM_RUNNING : PROGRAM_EXITED,
                               .wait = (uint8_t)wait};

    state.flags =
        (uint8_t)((moves->under_way ? 0 : STATE_DELIVERED) | (moves->polls ? STATE_POLLS : 0));
    state.counters[COUNTER_PROGRESS] = moves->progress;
    state.counters[COUNTER_FRAMES_SENT] = moves->frames;
    mesh_query_state(&f->mesh, node, &state);
}

/* The node's program runs, and waits for something; or it has ended. */
static void answer_with(struct fixture *f, uint32_t node, enum wait_kind wait)
{
    static const struct moves none;

    answer_moving(f, node, wait, &none);
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
    for (unsigned tick = 0; tick < 12 * MESH_TICKS_PER_S && !f->ended; tick++) {
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
static void programs_do_not_wait_for_ever_while_one(enum wait_kind waits)
{
    struct fixture *f = make_fixture();

    for (uint32_t node = 0; node < NODES; node++) {
        f->mesh.nodes[node].running = true;
    }
    for (unsigned tick = 0; tick < 24 * MESH_TICKS_PER_S; tick++) {
        mesh_watch_tick(&f->mesh);
        if (f->mesh.query_open) {
            all_answer_but_the_silent_one(f);
            answer_with(f, SILENT, waits);
        }
    }
    assert_false(f->ended);
    assert_int_equal(f->lines, 0);
    free_fixture(f);
}

static void programs_do_not_wait_for_ever_while_one_sleeps(void **state)
{
    (void)state;
    programs_do_not_wait_for_ever_while_one(WAIT_SLEEP);
}

static void programs_do_not_wait_for_ever_while_one_waits_for_its_reader(void **state)
{
    (void)state;
    programs_do_not_wait_for_ever_while_one(WAIT_READER);
}

/* How many ticks pass until the host says that the programs wait for ever, while all of them wait
 * and the last node moves as `each` says, more with every answer; 0: never. */
static unsigned ticks_until_end(const struct moves *each, unsigned ticks)
{
    struct fixture *f = make_fixture();
    struct moves moves = *each;
    unsigned tick;

    for (uint32_t node = 0; node < NODES; node++) {
        f->mesh.nodes[node].running = true;
    }
    for (tick = 1; tick <= ticks && !f->ended; tick++) {
        mesh_watch_tick(&f->mesh);
        f->mesh.host.outbox_count = 0;
        if (f->mesh.query_open) {
            all_answer_but_the_silent_one(f);
            answer_moving(f, SILENT, WAIT_RECEIVE, &moves);
            moves.progress += each->progress;
            moves.frames += each->frames;
        }
    }
    tick = f->ended ? tick - 1 : 0;
    free_fixture(f);
    return tick;
}

enum { LONG_TICKS = 600 * MESH_TICKS_PER_S };

static void programs_wait_for_ever_when_nothing_moves_within_seconds(void **state)
{
    static const struct moves none;
    unsigned ticks = ticks_until_end(&none, LONG_TICKS);

    (void)state;
    assert_in_range(ticks, 5 * MESH_TICKS_PER_S, 12 * MESH_TICKS_PER_S);
}

static void programs_do_not_wait_for_ever_while_bytes_flow(void **state)
{
    static const struct moves bytes = {.progress = 1, .frames = 1};

    (void)state;
    assert_int_equal(ticks_until_end(&bytes, LONG_TICKS), 0);
}

/* On a slow machine it may be there for long. */
static void programs_do_not_wait_for_ever_while_something_is_on_a_link(void **state)
{
    static const struct moves under_way = {.under_way = true};

    (void)state;
    assert_int_equal(ticks_until_end(&under_way, LONG_TICKS), 0);
}

/* Frames go round, what they carry is refused again and again. */
static void programs_wait_for_ever_when_only_frames_move(void **state)
{
    static const struct moves frames = {.frames = 100};

    (void)state;
    assert_in_range(ticks_until_end(&frames, LONG_TICKS), 1, 12 * MESH_TICKS_PER_S);
}

/* It may count how often it tests, and do something else. */
static void a_program_that_tests_has_a_minute(void **state)
{
    static const struct moves polls = {.polls = true};

    (void)state;
    assert_in_range(ticks_until_end(&polls, LONG_TICKS), 60 * MESH_TICKS_PER_S,
                    70 * MESH_TICKS_PER_S);
}

static void what_a_node_answers_is_told_in_words(void **state)
{
    static const struct {
        struct state_body answer;
        const char *words;
    } told[] = {
        {{.program = PROGRAM_RUNNING,
          .wait = WAIT_SEND,
          .transfer = TRANSFER_OPEN,
          .requests = 1,
          .peer = 2,
          .tag = 7,
          .bytes = 4000},
         "waits to send 4000 bytes to rank 2, tag 7"},
        {{.program = PROGRAM_RUNNING,
          .wait = WAIT_SEND,
          .transfer = TRANSFER_KNOWN,
          .requests = 2,
          .peer = 2,
          .tag = 7,
          .bytes = 4000},
         "waits to send 4000 bytes to rank 2, tag 7, which has not asked for it (one of 2 open "
         "requests)"},
        {{.program = PROGRAM_RUNNING,
          .wait = WAIT_SEND,
          .transfer = TRANSFER_MOVES,
          .requests = 1,
          .peer = 2,
          .tag = 7,
          .bytes = 4000},
         "sends 4000 bytes to rank 2, tag 7"},
        {{.program = PROGRAM_RUNNING,
          .wait = WAIT_RECEIVE,
          .transfer = TRANSFER_OPEN,
          .requests = 1,
          .peer = -1,
          .tag = -1,
          .bytes = 9},
         "waits to receive from any rank"},
        {{.program = PROGRAM_RUNNING,
          .wait = WAIT_RECEIVE,
          .transfer = TRANSFER_MOVES,
          .requests = 1,
          .peer = 2,
          .bytes = 9},
         "receives 9 bytes from rank 2, tag 0"},
        {{.program = PROGRAM_RUNNING,
          .wait = WAIT_RECEIVE,
          .transfer = TRANSFER_OPEN,
          .requests = 2,
          .peer = 2,
          .bytes = 9,
          .flags = STATE_POLLS},
         "waits to receive from rank 2, tag 0, by testing (one of 2 open requests)"},
        {{.program = PROGRAM_RUNNING,
          .wait = WAIT_COLLECTIVE,
          .transfer = 0,
          .requests = 1,
          .stage = COLLECTIVE_STEPS,
          .operation = 4,
          .collective_bytes = 16,
          .partner = 2,
          .step = 3,
          .steps = 15},
         "waits in complete exchange of 16 bytes, step 3 of 15, with rank 2"},
        {{.program = PROGRAM_RUNNING,
          .wait = WAIT_COLLECTIVE,
          .transfer = 0,
          .requests = 1,
          .stage = COLLECTIVE_ENTRY,
          .partner = 2},
         "waits in barrier for rank 2 to enter"},
        {{.program = PROGRAM_RUNNING,
          .wait = WAIT_COLLECTIVE,
          .transfer = 0,
          .requests = 1,
          .stage = COLLECTIVE_ENTRY,
          .partner = 99},
         "waits in a collective"},
        {{.program = PROGRAM_RUNNING, .wait = WAIT_CONSOLE, .transfer = 0, .requests = 1},
         "waits for its console text to leave (1 open request)"},
        {{.program = PROGRAM_RUNNING, .wait = WAIT_READER, .transfer = 0, .requests = 0},
         "waits for the reader of its output"},
        {{.program = PROGRAM_RUNNING, .wait = WAIT_SLEEP, .transfer = 0, .requests = 0},
         "sleeps for 0.0 s more"},
        {{.program = PROGRAM_RUNNING,
          .wait = 77,
          .transfer = 77,
          .requests = 255,
          .peer = -9,
          .tag = -9,
          .bytes = 9,
          .stage = 77,
          .operation = 77,
          .collective_bytes = 9,
          .root = 9,
          .partner = 99,
          .step = 9,
          .steps = 9},
         "computes (255 open requests)"},
    };
    struct fixture *f = make_fixture();
    char text[DOING_TEXT_MAX];

    (void)state;
    for (unsigned i = 0; i < sizeof told / sizeof told[0]; i++) {
        mesh_query_state(&f->mesh, 1, &told[i].answer);
        mesh_describe_doing(&f->mesh, 1, true, text);
        assert_string_equal(text, told[i].words);
        json_decref(mesh_describe_nodes(&f->mesh));
    }
    free_fixture(f);
}

/* 0 waits for 1, 1 for 3, and 3 has not called it. */
static void who_has_not_entered_is_found_through_those_who_have(void **state)
{
    static const struct state_body entry[NODES] = {
        {.program = PROGRAM_RUNNING,
         .wait = WAIT_COLLECTIVE,
         .transfer = 0,
         .requests = 1,
         .stage = COLLECTIVE_ENTRY,
         .partner = 1},
        {.program = PROGRAM_RUNNING,
         .wait = WAIT_NOTHING,
         .transfer = 0,
         .requests = 1,
         .stage = COLLECTIVE_ENTRY,
         .partner = 3},
        {.program = PROGRAM_RUNNING,
         .wait = WAIT_COLLECTIVE,
         .transfer = 0,
         .requests = 1,
         .stage = COLLECTIVE_ENTRY,
         .partner = 3},
        {.program = PROGRAM_RUNNING,
         .wait = WAIT_RECEIVE,
         .transfer = TRANSFER_OPEN,
         .requests = 1,
         .tag = 7,
         .bytes = 1},
    };
    struct fixture *f = make_fixture();

    (void)state;
    for (uint32_t node = 0; node < NODES; node++) {
        f->mesh.nodes[node].running = true;
        mesh_query_state(&f->mesh, node, &entry[node]);
    }
    for (uint32_t node = 0; node < NODES; node++) {
        assert_int_equal(mesh_missing(&f->mesh, node), SILENT);
    }
    mesh_tell_waits(&f->mesh, true);
    assert_int_equal(f->lines, NODES + 1);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(f->mesh.troubles, NODES), "text")),
        "programs wait for each other in a circle: rank 0 for 3 for 0");
    free_fixture(f);
}

TEST_MAIN(cmocka_unit_test(programs_do_not_wait_for_ever_while_one_sleeps),
          cmocka_unit_test(programs_do_not_wait_for_ever_while_one_waits_for_its_reader),
          cmocka_unit_test(what_a_node_answers_is_told_in_words),
          cmocka_unit_test(who_has_not_entered_is_found_through_those_who_have),
          cmocka_unit_test(programs_wait_for_ever_when_nothing_moves_within_seconds),
          cmocka_unit_test(programs_do_not_wait_for_ever_while_bytes_flow),
          cmocka_unit_test(programs_do_not_wait_for_ever_while_something_is_on_a_link),
          cmocka_unit_test(programs_wait_for_ever_when_only_frames_move),
          cmocka_unit_test(a_program_that_tests_has_a_minute),
          cmocka_unit_test(a_node_that_owes_an_answer_is_not_asked_again),
          cmocka_unit_test(programs_do_not_wait_for_ever_while_any_node_stands_still))
