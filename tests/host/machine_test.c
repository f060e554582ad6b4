/*
 * A machine in the event loop: two real nodes of cube:1 at the sockets of its host links.
 * Processes, ecube-jtag and the program's file are played here; the loop's timers are fired by hand
 * where they are what a test is about.
 */
#include "tests/testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/computer/available.h"
#include "host/machine/describe.h"
#include "host/machine/machine.h"
#include "node/node.h"
#include "tests/fabric/memory_link.h"

enum {
    NODES = 2,
    PROGRAM = 0x20900000,
    STACK_TOP = PROGRAM + 0x10000,
    IMAGE = PROGRAM + 0x40000,
    PROGRAM_BYTES = 0x60000,
    IMAGE_BYTES = 9000,
    TURNS_MAX = 50000,
    TURN_US = 200,
    CLOSE_TURNS = 10,
    TIMEOUT_MS = 60000,
    TROUBLES_MAX = 32
};

struct player {
    struct node *node;
    void *memory;
    uint8_t *program;
    struct memory_end between;
    struct socket_link host;
    struct link *links[2];
    int fd;
    bool stopped; /* it does nothing */
    bool started; /* its program */
};

struct fixture {
    uv_loop_t loop;
    struct machine machine;
    struct player players[NODES];
    struct memory_fault no_fault;
    uint64_t seed;
    uint16_t incarnation;
    struct jtag_owner jtag_owner;
    uint32_t died; /* nodes, a bit each */
    unsigned booted_count, ended_count, answered_count;
    int booted, ended; /* statuses told last */
    json_t *result;    /* of the last job */
    char troubles[TROUBLES_MAX][MESSAGE_MAX];
    unsigned trouble_count;
};

static struct fixture *world; /* what stands in for processes is called without a context */
static unsigned share_permille;

/* What stands in for the world ----------------------------------------------------------------- */

unsigned launcher_share_permille(const struct launcher *launcher)
{
    (void)launcher;
    return share_permille;
}

void launcher_listen(struct launcher *launcher, void (*news)(void *context), void *context)
{
    (void)launcher, (void)news, (void)context;
}

uint64_t available_bytes(void)
{
    return UINT64_MAX;
}

int launcher_start(struct launcher *launcher, const struct network *network,
                   const struct launcher_crossing *crossings, unsigned crossing_count,
                   const struct target *target, const struct rundir *rundir,
                   const struct launcher_place *place, struct message *message)
{
    (void)crossings, (void)crossing_count, (void)target, (void)rundir, (void)place, (void)message;
    *launcher = (struct launcher){.network = *network};
    for (unsigned i = 0; i < NODES; i++) {
        int pair[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair),
                         0);
        launcher->host_fds[i] = pair[0];
        world->players[i].fd = pair[1];
    }
    return 0;
}

void launcher_reap(struct launcher *launcher, void (*died)(void *context, uint32_t node),
                   void *context)
{
    (void)launcher;
    for (uint32_t node = 0; node < NODES; node++) {
        if (world->died >> node & 1) {
            died(context, node);
        }
    }
    world->died = 0;
}

void launcher_describe(const struct launcher *launcher, uint32_t node, char text[LAUNCHER_NOTE_MAX])
{
    (void)launcher, (void)node;
    snprintf(text, LAUNCHER_NOTE_MAX, "was ended by the test");
}

bool launcher_lost(const struct launcher *launcher, uint32_t node, struct launcher_lost *lost)
{
    (void)launcher, (void)node, (void)lost;
    return false;
}

bool launcher_cut(struct launcher *launcher, uint32_t a, uint32_t b)
{
    (void)launcher, (void)a, (void)b;
    return false;
}

bool launcher_kill(struct launcher *launcher, uint32_t number)
{
    (void)launcher, (void)number;
    return false;
}

struct launcher_place launcher_whole(const struct network *network)
{
    return (struct launcher_place){.count = network->nodes, .host = true};
}

uint32_t launcher_links_within(const struct network *network, const struct launcher_place *place)
{
    (void)place;
    return network_link_count(network);
}

int launcher_check_descriptors(const struct network *network, const struct launcher_place *place,
                               bool shared, struct message *message)
{
    (void)network, (void)place, (void)shared, (void)message;
    return 0;
}

void launcher_stop(struct launcher *launcher)
{
    for (unsigned i = 0; i < NODES; i++) {
        close(launcher->host_fds[i]);
    }
}

int jtag_start(struct jtag *jtag, uv_loop_t *loop, const struct target *target,
               const struct jtag_options *options, const struct rundir *rundir,
               const struct jtag_owner *owner, struct message *message)
{
    (void)loop, (void)target, (void)options, (void)rundir, (void)message;
    *jtag = (struct jtag){.owner = *owner};
    world->jtag_owner = *owner;
    return 0;
}

void jtag_reap(struct jtag *jtag)
{
    (void)jtag;
}

void jtag_stop(struct jtag *jtag)
{
    (void)jtag;
}

int image_read(struct image *image, const char *path, struct message *message)
{
    if (strcmp(path, "missing.elf") == 0) {
        return message_set(message, "cannot read missing.elf");
    }
    *image = (struct image){.base = IMAGE,
                            .bytes = IMAGE_BYTES,
                            .bss_end = IMAGE + IMAGE_BYTES,
                            .entry = IMAGE,
                            .code_end = IMAGE,
                            .constants_end = IMAGE,
                            .data = malloc(IMAGE_BYTES)};
    memset(image->data, 0x47, IMAGE_BYTES);
    return 0;
}

void image_free(struct image *image)
{
    free(image->data);
    image->data = NULL;
}

/* Its owner ------------------------------------------------------------------------------------ */

static void note_event(void *context, json_t *event)
{
    struct fixture *f = context;
    const char *text = json_string_value(json_object_get(event, "text"));

    assert_non_null(json_string_value(json_object_get(event, "event")));
    if (text) {
        assert_true(f->trouble_count < TROUBLES_MAX);
        snprintf(f->troubles[f->trouble_count++], MESSAGE_MAX, "%s", text);
    }
    json_decref(event);
}

static void note_line(void *context, const struct line *line)
{
    (void)context, (void)line;
}

static void note_boot(void *context, int status)
{
    struct fixture *f = context;

    f->booted_count++;
    f->booted = status;
}

static void note_end(void *context, int status, json_t *result)
{
    struct fixture *f = context;

    f->ended_count++;
    f->ended = status;
    json_decref(f->result);
    f->result = result;
}

static void note_answer(void *context)
{
    ((struct fixture *)context)->answered_count++;
}

/* Nodes ---------------------------------------------------------------------------------------- */

static void begin_node(struct fixture *f, struct player *player)
{
    struct node_config config = {.links = player->links,
                                 .link_count = 2,
                                 .program = player->program,
                                 .program_address = PROGRAM,
                                 .program_bytes = PROGRAM_BYTES,
                                 .stack_top = STACK_TOP,
                                 .image_address = IMAGE,
                                 .memory = player->memory,
                                 .incarnation = f->incarnation};

    player->started = false;
    node_init(player->node, &config);
}

static void make_nodes(struct fixture *f)
{
    memory_link_init(&f->players[0].between, &f->players[1].between, &f->seed, &f->no_fault);
    for (unsigned i = 0; i < NODES; i++) {
        struct player *player = &f->players[i];

        assert_true(socket_link_init(&player->host, player->fd));
        player->links[0] = &player->between.link;
        player->links[1] = &player->host.link;
        player->node = malloc(node_bytes());
        player->memory = malloc(node_memory_bytes(2, 0));
        player->program = calloc(1, PROGRAM_BYTES);
        begin_node(f, player);
    }
}

static void turn(struct fixture *f)
{
    struct node_start start;

    for (unsigned i = 0; i < NODES; i++) {
        struct player *player = &f->players[i];

        if (!player->stopped) {
            socket_link_flush(&player->host);
            node_step(player->node, uv_hrtime() / 1000);
            player->started |= node_take_start(player->node, &start);
        }
    }
    uv_run(&f->loop, UV_RUN_NOWAIT);
    usleep(TURN_US);
}

/* Turns until `count` is what is wanted; fails when it never is. */
static void until(struct fixture *f, const unsigned *count, unsigned wanted)
{
    for (unsigned i = 0; i < TURNS_MAX && *count < wanted; i++) {
        turn(f);
    }
    assert_int_equal(*count, wanted);
}

/* Its data is read beside the loop. */
static void until_download(struct fixture *f)
{
    for (unsigned i = 0; i < TURNS_MAX && f->machine.controller.phase != PHASE_DOWNLOAD; i++) {
        turn(f);
    }
    assert_int_equal(f->machine.controller.phase, PHASE_DOWNLOAD);
}

static void until_started(struct fixture *f)
{
    for (unsigned i = 0; i < TURNS_MAX && !(f->players[0].started && f->players[1].started); i++) {
        turn(f);
    }
    assert_true(f->players[0].started && f->players[1].started);
}

static void fire(uv_timer_t *timer)
{
    timer->timer_cb(timer);
}

static struct fixture *make_fixture(bool debuggers)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct machine_options options = {.network_name = "cube:1",
                                      .profile = {65000, 10000, 425, 1000, 0},
                                      .profile_name = "ipsc860",
                                      .patience_ms = 1000,
                                      .link_patience_ms = TIMEOUT_MS,
                                      .timeout_ms = debuggers ? 0 : TIMEOUT_MS};
    struct target target = {.kernel = "kernel.elf"};
    struct machine_owner owner = {.context = f,
                                  .emit = note_event,
                                  .print = note_line,
                                  .booted = note_boot,
                                  .ended = note_end,
                                  .answered = note_answer};
    struct rundir rundir = {.path = "/nowhere"};
    struct message message;

    world = f;
    share_permille = 1000;
    f->seed = 1;
    f->incarnation = 1;
    snprintf(target.jtag, sizeof target.jtag, "%s", debuggers ? "ecube-jtag" : "");
    assert_true(network_parse(&options.network, "cube:1", &machine_limits, message.text));
    uv_loop_init(&f->loop);
    assert_int_equal(
        machine_start(&f->machine, &f->loop, &options, &target, &rundir, &owner, &message), 0);
    make_nodes(f);
    return f;
}

static void free_fixture(struct fixture *f)
{
    machine_close(&f->machine);
    for (unsigned i = 0; i < CLOSE_TURNS; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(uv_loop_close(&f->loop), 0);
    machine_free(&f->machine);
    for (unsigned i = 0; i < NODES; i++) {
        struct player *player = &f->players[i];

        socket_link_close(&player->host);
        close(player->fd);
        free(player->node);
        free(player->memory);
        free(player->program);
    }
    memory_link_free(&f->players[0].between, &f->players[1].between);
    json_decref(f->result);
    free(f);
}

static int load(struct fixture *f, const char *path)
{
    struct job_request request = {.programs = {{.path = path}},
                                  .program_count = 1,
                                  .x = DOWNLOAD_X_BEST,
                                  .timeout_ms = TIMEOUT_MS};
    struct message message = {""};

    for (unsigned i = 0; i < NODES; i++) {
        f->players[i].started = false;
    }
    struct job job;
    return job_plan(&job, NULL, &request, &f->machine.options.network, &f->machine.options.profile,
                    &message) == 0
               ? machine_load(&f->machine, &job, &message)
               : -1;
}

static void end_program(struct fixture *f, unsigned rank, int status)
{
    uint32_t arguments[4] = {(uint32_t)status};
    int32_t result;

    assert_int_equal(
        node_call(f->players[rank].node, uv_hrtime() / 1000, ECUBE_CALL_EXIT, arguments, &result),
        NODE_END);
}

static const char *last_trouble(const struct fixture *f)
{
    return f->trouble_count ? f->troubles[f->trouble_count - 1] : "";
}

static void assert_told(const struct fixture *f, const char *text)
{
    for (unsigned i = 0; i < f->trouble_count; i++) {
        if (strcmp(f->troubles[i], text) == 0) {
            return;
        }
    }
    fail_msg("not told: %s; but: %s", text, last_trouble(f));
}

/* Tests ---------------------------------------------------------------------------------------- */

TEST(a_job_ends_with_the_worst_status_of_its_programs)
{
    struct fixture *f = make_fixture(false);

    until(f, &f->booted_count, 1);
    assert_int_equal(f->booted, 0);
    assert_int_equal(load(f, "missing.elf"), -1);
    for (unsigned job = 1; job <= 3; job++) {
        assert_int_equal(load(f, "a.elf"), 0);
        assert_int_equal(load(f, "b.elf"), -1); /* it is busy */
        until_started(f);
        end_program(f, 0, 0);
        end_program(f, 1, (int)job);
        until(f, &f->ended_count, job);
        assert_int_equal(f->ended, job);
        json_t *exits = json_object_get(f->result, "exits");
        assert_int_equal(json_integer_value(json_array_get(exits, 0)), 0);
        assert_int_equal(json_integer_value(json_array_get(exits, 1)), job);
        const json_t *download = json_object_get(f->result, "download");
        assert_int_equal(json_integer_value(json_object_get(download, "receipts")), NODES);
        assert_true(json_is_real(json_object_get(download, "model_us")));
    }
    assert_false(f->machine.bounded);
    free_fixture(f);
}

TEST(a_timeout_ends_a_boot_with_its_own_status)
{
    struct fixture *f = make_fixture(false);

    assert_true(f->machine.bounded);
    fire(&f->machine.bound_timer);
    assert_int_equal(f->booted_count, 1);
    assert_int_equal(f->booted, STATUS_TIMEOUT);
    assert_string_equal(last_trouble(f), "the run did not end within 60 s: boot, 0 of 2 nodes have "
                                         "all links (--timeout sets it)");
    assert_int_equal(load(f, "a.elf"), -1);
    free_fixture(f);
}

static unsigned ticks_until_the_boot_fails(unsigned share)
{
    struct fixture *f = make_fixture(false);
    unsigned ticks = 0;

    share_permille = share;
    while (f->trouble_count == 0 && ticks < 1000) {
        fire(&f->machine.tick_timer);
        ticks++;
    }
    assert_int_equal(f->booted_count, 0); /* what explains it is collected */
    free_fixture(f);
    return ticks;
}

TEST(a_busy_computer_gives_more_time_to_a_boot)
{
    unsigned idle = ticks_until_the_boot_fails(1000);

    assert_in_range(idle, 9, 11);
    assert_in_range(ticks_until_the_boot_fails(250), 4 * idle - 4, 4 * idle + 4);
    assert_in_range(ticks_until_the_boot_fails(1), 300, 360); /* but not for ever */
}

TEST(a_timeout_ends_a_run_and_says_who_still_runs)
{
    struct fixture *f = make_fixture(false);

    until(f, &f->booted_count, 1);
    assert_int_equal(load(f, "a.elf"), 0);
    until_started(f);
    end_program(f, 1, 0);
    until(f, &f->machine.job.ended, 1);
    fire(&f->machine.bound_timer);
    assert_int_equal(f->ended_count, 0); /* it is found out what they do */
    until(f, &f->ended_count, 1);
    assert_int_equal(f->ended, STATUS_TIMEOUT);
    assert_told(f, "the run did not end within 60 s: 1 of 2 programs have ended (--timeout sets "
                   "it)");
    assert_told(f, "node 0 (rank 0) computes");
    free_fixture(f);
}

TEST(who_interrupts_a_run_hears_what_its_programs_do)
{
    struct fixture *f = make_fixture(false);

    until(f, &f->booted_count, 1);
    assert_int_equal(load(f, "a.elf"), 0);
    until_started(f);
    assert_true(machine_interrupt(&f->machine, 130));
    assert_int_equal(f->ended_count, 0);
    assert_false(machine_interrupt(&f->machine, 130)); /* who is in a hurry does not wait */
    until(f, &f->ended_count, 1);
    assert_int_equal(f->ended, 130);
    assert_told(f, "interrupted: 0 of 2 programs have ended");
    assert_told(f, "node 0 (rank 0) computes");
    assert_told(f, "node 1 (rank 1) computes");
    free_fixture(f);
    f = make_fixture(false);
    assert_true(machine_interrupt(&f->machine, 130));
    assert_int_equal(f->booted, 130);
    assert_string_equal(last_trouble(f), "interrupted: boot, 0 of 2 nodes have all links");
    assert_false(machine_interrupt(&f->machine, 130));
    free_fixture(f);
}

TEST(a_job_that_is_ended_in_its_download_is_told_at_once_and_once)
{
    for (unsigned by_timeout = 0; by_timeout < 2; by_timeout++) {
        struct fixture *f = make_fixture(false);

        until(f, &f->booted_count, 1);
        assert_int_equal(load(f, "a.elf"), 0);
        assert_false(machine_frees(&f->machine));
        if (by_timeout) {
            fire(&f->machine.bound_timer);
        } else {
            machine_cancel(&f->machine, 130);
            machine_cancel(&f->machine, 7);
        }
        assert_int_equal(f->ended_count, 1);
        assert_int_equal(f->ended, by_timeout ? STATUS_TIMEOUT : 130);
        assert_false(f->machine.bounded);
        assert_true(machine_frees(&f->machine)); /* its circuits send what it holds */
        for (unsigned i = 0; i < TURNS_MAX && machine_frees(&f->machine); i++) {
            turn(f);
        }
        assert_int_equal(load(f, "b.elf"), 0);
        until_started(f);
        machine_cancel(&f->machine, 143);
        assert_int_equal(f->ended_count, 2);
        assert_int_equal(f->ended, 143);
        free_fixture(f);
    }
}

TEST(a_dead_node_ends_the_job_and_the_machine_takes_no_other)
{
    struct fixture *f = make_fixture(false);

    until(f, &f->booted_count, 1);
    assert_int_equal(load(f, "a.elf"), 0);
    until_started(f);
    f->died = 2;
    f->players[1].stopped = true;
    raise(SIGCHLD);
    until(f, &f->ended_count, 1);
    assert_int_equal(f->ended, STATUS_MACHINE);
    assert_string_equal(last_trouble(f),
                        "node 1 (rank 1) died during run: its QEMU was ended by the test");
    assert_int_equal(load(f, "b.elf"), -1);
    assert_true(machine_is_broken(&f->machine));
    json_t *dead = describe_dead(&f->machine);
    assert_int_equal(json_array_size(dead), 1);
    assert_string_equal(json_string_value(json_array_get(dead, 0)), "node 1");
    json_decref(dead);
    free_fixture(f);
}

TEST(who_asks_gets_what_every_node_does)
{
    struct fixture *f = make_fixture(false);

    until(f, &f->booted_count, 1);
    machine_ask(&f->machine);
    until(f, &f->answered_count, 1);
    json_t *nodes = describe_nodes(&f->machine);
    assert_int_equal(json_array_size(nodes), NODES);
    for (unsigned i = 0; i < NODES; i++) {
        const json_t *node = json_array_get(nodes, i);
        assert_string_equal(json_string_value(json_object_get(node, "program")), "empty");
    }
    json_decref(nodes);
    free_fixture(f);
}

static bool timeout_counts(const struct fixture *f)
{
    return uv_is_active((const uv_handle_t *)&f->machine.bound_timer);
}

static void debug(const struct fixture *f, uint32_t rank, enum jtag_state state)
{
    f->jtag_owner.changed(f->jtag_owner.context, rank, state, "gdb (process 77)");
}

TEST(while_any_node_is_halted_the_timeout_stands_still)
{
    struct fixture *f = make_fixture(true);

    f->jtag_owner.ready(f->jtag_owner.context);
    until(f, &f->booted_count, 1);
    debug(f, 1, JTAG_LOST);
    assert_int_equal(load(f, "a.elf"), 0);
    assert_false(timeout_counts(f)); /* nor does it begin */
    debug(f, 1, JTAG_RUNNING);
    assert_true(timeout_counts(f));
    debug(f, 0, JTAG_HALTED);
    debug(f, 1, JTAG_HALTED);
    debug(f, 0, JTAG_RUNNING);
    assert_false(timeout_counts(f));
    debug(f, 99, JTAG_RUNNING);
    debug(f, 1, JTAG_RUNNING);
    assert_true(timeout_counts(f));
    assert_in_range(uv_timer_get_due_in(&f->machine.bound_timer), 1, TIMEOUT_MS);
    free_fixture(f);
}

TEST(a_download_says_that_it_waits_for_a_halted_node)
{
    struct fixture *f = make_fixture(true);

    f->jtag_owner.ready(f->jtag_owner.context);
    until(f, &f->booted_count, 1);
    debug(f, 1, JTAG_HALTED);
    f->players[1].stopped = true;
    assert_int_equal(load(f, "a.elf"), 0);
    until_download(f);
    for (unsigned i = 0; i < 100; i++) {
        fire(&f->machine.tick_timer);
    }
    assert_int_equal(f->trouble_count, 1); /* told once, and nobody is given up */
    assert_string_equal(last_trouble(f),
                        "the download waits: node 1 (rank 1) is halted by gdb (process 77)");
    f->players[1].stopped = false;
    debug(f, 1, JTAG_RUNNING);
    until_started(f);
    free_fixture(f);
}

TEST(a_boot_waits_for_the_server_of_debuggers)
{
    struct fixture *f = make_fixture(true);

    until(f, &f->machine.nodes_right, NODES);
    for (unsigned i = 0; i < 100; i++) {
        turn(f);
    }
    assert_int_equal(f->booted_count, 0);
    f->jtag_owner.ready(f->jtag_owner.context);
    assert_int_equal(f->booted_count, 1);
    f->jtag_owner.ended(f->jtag_owner.context, "ended with code 1");
    assert_int_equal(f->booted, 0); /* the machine lives on */
    free_fixture(f);
    f = make_fixture(true);
    f->jtag_owner.ended(f->jtag_owner.context, "ended with code 1");
    assert_int_equal(f->booted, STATUS_MACHINE);
    assert_string_equal(last_trouble(f),
                        "boot failed: the server of debuggers (ecube-jtag) ended with code 1");
    free_fixture(f);
}

/* A debugger resets it: it knows nothing, and both of its links begin anew. */
static void reset(struct fixture *f, uint32_t rank)
{
    struct player *player = &f->players[rank];

    socket_link_restart(&player->host);
    begin_node(f, player);
    f->jtag_owner.was_reset(f->jtag_owner.context, rank);
}

TEST(when_all_nodes_were_reset_the_machine_boots_anew)
{
    struct fixture *f = make_fixture(true);

    f->jtag_owner.ready(f->jtag_owner.context);
    until(f, &f->booted_count, 1);
    for (unsigned round = 1; round <= 3; round++) {
        assert_int_equal(load(f, "a.elf"), 0);
        until_started(f);
        f->incarnation++;
        memory_link_free(&f->players[0].between, &f->players[1].between);
        memory_link_init(&f->players[0].between, &f->players[1].between, &f->seed, &f->no_fault);
        reset(f, round % NODES);
        assert_true(machine_is_broken(&f->machine));
        assert_int_equal(load(f, "b.elf"), -1);
        reset(f, (round + 1) % NODES);
        assert_int_equal(f->ended_count, round);
        assert_int_equal(f->ended, STATUS_MACHINE);
        assert_true(machine_is_booting(&f->machine));
        assert_false(machine_is_broken(&f->machine));
        assert_told(f, "all 2 nodes were reset through a debugger during run: the machine boots "
                       "anew");
        until(f, &f->booted_count, round + 1);
        assert_int_equal(f->booted, 0);
    }
    free_fixture(f);
}
