/*
 * One node's debug side with real sockets, and an emulator that the test plays.
 */
#include "tests/testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "jtag/stub/emulator.h"

enum { TURNS_MAX = 200000, LOG_MAX = 4096 };

/* One of the emulator's sockets. */
struct end {
    int listener, fd;
    char path[96];
};

struct fixture {
    uv_loop_t loop;
    struct emulator_machine machine;
    struct emulator emulator;
    struct end stub, memory;
    struct rsp_reader reader;
    bool mute;         /* the stub answers nothing */
    bool sleeps;       /* a step ends when an interrupt is pending */
    bool pending;      /* that interrupt */
    bool steps;        /* a step is under way */
    char log[LOG_MAX]; /* what both were asked, without the greeting */
    unsigned done, attached, answered, dropped, stops;
    char answer[256];
    char directory[64];
};

static void on_done(void *context)
{
    ((struct fixture *)context)->done++;
}

static void on_stopped(void *context, enum core_stop why, uint32_t address)
{
    (void)why;
    (void)address;
    ((struct fixture *)context)->stops++;
}

static void on_attached(void *context)
{
    ((struct fixture *)context)->attached++;
}

static void on_answered(void *context, const char *packet, size_t bytes)
{
    struct fixture *f = context;

    f->answered++;
    snprintf(f->answer, sizeof f->answer, "%.*s", (int)bytes, packet);
}

static void on_dropped(void *context)
{
    ((struct fixture *)context)->dropped++;
}

static void open_end(struct fixture *f, struct end *end, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(end->path, sizeof end->path, "%s/%s", f->directory, name);
    memcpy(address.sun_path, end->path, sizeof end->path);
    end->fd = -1;
    end->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(end->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(end->listener, 4), 0);
}

/* The emulator is killed: its sockets' names stay. */
static void close_end(struct end *end)
{
    if (end->fd >= 0) {
        close(end->fd);
    }
    if (end->listener >= 0) {
        close(end->listener);
    }
    end->fd = end->listener = -1;
}

static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct emulator_owner owner = {.context = f, .done = on_done, .stopped = on_stopped};

    signal(SIGPIPE, SIG_IGN);
    snprintf(f->directory, sizeof f->directory, "/tmp/ecube-emulator.XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    open_end(f, &f->stub, "n3.stub");
    open_end(f, &f->memory, "n3.qtest");
    f->machine = (struct emulator_machine){.directory = f->directory,
                                           .distributor = 0x08000000,
                                           .bus_count = 2,
                                           .buses = {{0x40000000, 0x1000}, {0xfffffff0, 0x10}}};
    uv_loop_init(&f->loop);
    emulator_init(&f->emulator, &f->loop, &f->machine, 3, &owner);
    return f;
}

static void free_fixture(struct fixture *f)
{
    emulator_close(&f->emulator);
    for (unsigned i = 0; i < TURNS_MAX && uv_loop_alive(&f->loop); i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(f->emulator.closing, 0);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    close_end(&f->stub);
    close_end(&f->memory);
    unlink(f->stub.path);
    unlink(f->memory.path);
    assert_int_equal(rmdir(f->directory), 0);
    free(f);
}

/* What has come to an end. */
static ssize_t receive(struct end *end, char *bytes, size_t room)
{
    if (end->fd < 0) {
        end->fd = accept4(end->listener, NULL, NULL, SOCK_NONBLOCK);
    }
    ssize_t count = end->fd < 0 ? -1 : recv(end->fd, bytes, room, 0);

    if (count == 0) {
        close(end->fd);
        end->fd = -1;
    }
    return count;
}

static void note(struct fixture *f, const char *what)
{
    assert_true(strlen(f->log) + strlen(what) + 2 < LOG_MAX);
    strcat(strcat(f->log, what), "\n");
}

static void reply(struct fixture *f, const char *packet)
{
    char framed[256] = "+";
    size_t bytes = 1 + rsp_frame(framed + 1, packet, strlen(packet));

    assert_int_equal(send(f->stub.fd, framed, bytes, 0), bytes);
}

static void play_packet(struct fixture *f, const char *packet)
{
    if (strncmp(packet, "qSupported", 10) == 0) {
        reply(f, "PacketSize=1000");
    } else if (strncmp(packet, "qXfer", 5) == 0) {
        reply(f, "l<reg name=\"r0\" bitsize=\"32\"/>");
    } else if (strncmp(packet, "Qqemu", 5) == 0) {
        reply(f, "OK");
    } else if (strcmp(packet, "?") == 0) {
        reply(f, "T05thread:01;");
    } else {
        note(f, packet);
        f->steps = packet[0] == 's';
        if (strcmp(packet, "p0") == 0) {
            reply(f, "78563412");
        } else if (packet[0] == 'D') {
            reply(f, "OK");
        } else if (f->steps && !f->sleeps) {
            reply(f, "T05thread:01;");
        }
    }
}

static void play_stub(struct fixture *f)
{
    char bytes[1024];
    ssize_t count = receive(&f->stub, bytes, sizeof bytes);

    for (ssize_t i = 0; i < count && !f->mute; i++) {
        enum rsp_event event = rsp_feed(&f->reader, (uint8_t)bytes[i]);

        assert_true(event != RSP_ACK && event != RSP_NAK && event != RSP_DAMAGED);
        if (event == RSP_PACKET) {
            play_packet(f, f->reader.packet);
        } else if (event == RSP_BREAK) {
            note(f, "^C");
            reply(f, "T02thread:01;");
        }
    }
}

static void play_memory(struct fixture *f)
{
    char bytes[1024];
    ssize_t count = receive(&f->memory, bytes, sizeof bytes - 1);

    bytes[count > 0 ? count : 0] = '\0';
    for (char *line = strtok(bytes, "\n"); line && !f->mute; line = strtok(NULL, "\n")) {
        const char *answer = line[0] == 'r' ? "OK 0x00000000000000a5\n" : "OK\n";

        note(f, line);
        f->pending = strstr(line, "0x8000f2f") != NULL;
        send(f->memory.fd, answer, strlen(answer), 0);
    }
    if (f->steps && f->sleeps && f->pending) {
        f->steps = false;
        reply(f, "T05thread:01;");
    }
}

static void turn_until(struct fixture *f, const unsigned *count, unsigned value)
{
    for (unsigned i = 0; i < TURNS_MAX && *count < value; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        play_stub(f);
        play_memory(f);
    }
    assert_int_equal(*count, value);
}

static void turn_until_free(struct fixture *f)
{
    for (unsigned i = 0; i < TURNS_MAX && f->emulator.holder != EMULATOR_FREE; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        play_stub(f);
    }
    assert_int_equal(f->emulator.holder, EMULATOR_FREE);
}

static void assert_asked(struct fixture *f, const char *log)
{
    assert_string_equal(f->log, log);
    f->log[0] = '\0';
}

/* An operation from start to end. */
static struct core_op do_op(struct fixture *f, struct core_op op)
{
    static struct core_op now;
    unsigned before = f->done;

    now = op;
    if (!emulator_begin(&f->emulator, &now)) {
        turn_until(f, &f->done, before + 1);
    }
    return now;
}

static void take(struct fixture *f)
{
    struct emulator_guest guest = {
        .context = f, .attached = on_attached, .answered = on_answered, .dropped = on_dropped};

    emulator_take(&f->emulator, &guest);
}

static void turn_for(struct fixture *f, unsigned ms)
{
    for (unsigned i = 0; i < ms; i++) {
        usleep(1000);
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
}

/* What a timer does is done now. */
static void hasten(uv_timer_t *timer)
{
    assert_true(uv_is_active((const uv_handle_t *)timer));
    uv_timer_set_repeat(timer, 1);
    uv_timer_again(timer);
}

TEST(a_node_is_held_from_halt_to_resume)
{
    struct fixture *f = make_fixture();

    assert_true(do_op(f, (struct core_op){.kind = CORE_READ_REGISTER, .name = "r0"}).failed);
    assert_false(do_op(f, (struct core_op){.kind = CORE_HALT}).failed);
    assert_true(f->emulator.stands);
    assert_int_equal(f->emulator.holder, EMULATOR_CHAIN);
    assert_int_equal(do_op(f, (struct core_op){.kind = CORE_READ_REGISTER, .name = "r0"}).value,
                     0x12345678);
    assert_false(do_op(f, (struct core_op){.kind = CORE_RESUME, .keep = true}).failed);
    assert_false(f->emulator.stands);
    assert_int_equal(f->emulator.holder, EMULATOR_CHAIN);
    assert_false(do_op(f, (struct core_op){.kind = CORE_HALT}).failed);
    assert_asked(f, "p0\nc\n^C\n");
    assert_false(do_op(f, (struct core_op){.kind = CORE_RESUME}).failed);
    assert_asked(f, "D;1\n");
    assert_int_equal(f->emulator.holder, EMULATOR_FREE);
    assert_false(f->emulator.stands);
    free_fixture(f);
}

TEST(a_point_that_is_met_is_told)
{
    struct fixture *f = make_fixture();

    do_op(f, (struct core_op){.kind = CORE_HALT});
    do_op(f, (struct core_op){.kind = CORE_RESUME, .keep = true});
    reply(f, "T05thread:01;");
    turn_until(f, &f->stops, 1);
    assert_true(f->emulator.stands);
    free_fixture(f);
}

TEST(memory_is_reached_while_the_node_runs)
{
    struct fixture *f = make_fixture();
    struct core_op op = {.kind = CORE_WRITE_BUS, .address = 0x40000ffc, .bytes = 4, .value = 7};

    assert_false(do_op(f, op).failed);
    op = (struct core_op){.kind = CORE_READ_BUS, .address = 0x40000fff, .bytes = 1};
    op = do_op(f, op);
    assert_false(op.failed);
    assert_int_equal(op.value, 0xa5);
    assert_asked(f, "writel 0x40000ffc 0x7\nreadb 0x40000fff\n");
    assert_int_equal(f->emulator.holder, EMULATOR_FREE);
    free_fixture(f);
}

TEST(addresses_where_nothing_is_fail)
{
    static const struct {
        uint32_t address;
        uint8_t bytes;
        bool fails;
    } places[] = {{0x3fffffff, 1, true},  {0x40000000, 4, false},
                  {0x40000ffe, 2, false}, {0x40000ffe, 4, true},
                  {0x40001000, 1, true},  {0xfffffffc, 4, false},
                  {0xfffffffe, 4, true},  {0, 4, true}};
    struct fixture *f = make_fixture();

    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct core_op op = {
            .kind = CORE_READ_BUS, .address = places[i].address, .bytes = places[i].bytes};

        assert_int_equal(do_op(f, op).failed, places[i].fails);
    }
    free_fixture(f);
}

TEST(many_writes_wait_for_their_answers)
{
    struct fixture *f = make_fixture();

    for (unsigned i = 0; i < 3 * QTEST_OWED_MAX; i++) {
        struct core_op op = {.kind = CORE_WRITE_BUS, .address = 0x40000000, .bytes = 1, .value = 1};

        assert_false(do_op(f, op).failed);
        assert_true(f->emulator.memory.due <= QTEST_OWED_MAX);
        f->log[0] = '\0';
    }
    free_fixture(f);
}

TEST(what_the_stub_does_comes_behind_the_writes_before)
{
    struct fixture *f = make_fixture();
    struct core_op op = {.kind = CORE_WRITE_BUS, .address = 0x40000000, .bytes = 4, .value = 7};

    do_op(f, (struct core_op){.kind = CORE_HALT});
    f->log[0] = '\0';
    assert_false(do_op(f, op).failed);
    op.value = 8;
    assert_false(do_op(f, op).failed);
    do_op(f, (struct core_op){.kind = CORE_READ_REGISTER, .name = "r0"});
    assert_asked(f, "writel 0x40000000 0x7\nwritel 0x40000000 0x8\np0\n");
    free_fixture(f);
}

TEST(a_sleeping_node_is_woken_for_a_step)
{
    struct fixture *f = make_fixture();

    do_op(f, (struct core_op){.kind = CORE_HALT});
    assert_false(do_op(f, (struct core_op){.kind = CORE_STEP}).failed);
    assert_asked(f, "s\n");
    f->sleeps = true;
    assert_false(do_op(f, (struct core_op){.kind = CORE_STEP}).failed);
    assert_asked(f, "s\nwriteb 0x8000f2f 0x1\nwriteb 0x8000f1f 0x1\n");
    assert_true(f->emulator.stands);
    free_fixture(f);
}

TEST(gdb_hears_of_a_steps_end_when_no_interrupt_is_left)
{
    struct fixture *f = make_fixture();

    f->sleeps = true;
    take(f);
    turn_until(f, &f->attached, 1);
    emulator_pass(&f->emulator, "s", 1, true);
    turn_until(f, &f->answered, 1);
    assert_string_equal(f->answer, "T05thread:01;");
    assert_asked(f, "s\nwriteb 0x8000f2f 0x1\nwriteb 0x8000f1f 0x1\n");
    assert_int_equal(f->emulator.memory.due, 0);
    free_fixture(f);
}

TEST(what_gdb_has_the_chain_does_not_get)
{
    struct fixture *f = make_fixture();
    struct core_op read = {.kind = CORE_READ_BUS, .address = 0x40000000, .bytes = 4};

    take(f);
    turn_until(f, &f->attached, 1);
    assert_true(do_op(f, (struct core_op){.kind = CORE_HALT}).failed);
    assert_false(do_op(f, read).failed);
    emulator_release(&f->emulator, false);
    assert_true(f->emulator.stands);
    assert_false(do_op(f, (struct core_op){.kind = CORE_READ_REGISTER, .name = "r0"}).failed);
    free_fixture(f);
}

TEST(a_node_that_gdb_has_left_running_runs_without_its_points)
{
    struct fixture *f = make_fixture();

    take(f);
    turn_until(f, &f->attached, 1);
    emulator_pass(&f->emulator, "vCont;c", 7, false);
    emulator_abandon(&f->emulator);
    turn_until_free(f);
    assert_asked(f, "vCont;c\n^C\nD;1\n");
    assert_false(f->emulator.stands);
    free_fixture(f);
}

TEST(a_gdb_that_goes_while_it_is_attached_leaves_no_trace)
{
    struct fixture *f = make_fixture();

    take(f);
    emulator_abandon(&f->emulator);
    turn_until_free(f);
    assert_asked(f, "D;1\n");
    assert_false(f->emulator.stands);
    f->emulator.stands = true; /* and one that stood stands */
    take(f);
    emulator_abandon(&f->emulator);
    turn_until_free(f);
    assert_asked(f, "");
    assert_true(f->emulator.stands);
    free_fixture(f);
}

TEST(a_dead_emulator_fails_everything)
{
    struct fixture *f = make_fixture();
    struct core_op read = {.kind = CORE_READ_BUS, .address = 0x40000000, .bytes = 4};

    do_op(f, (struct core_op){.kind = CORE_HALT});
    assert_false(do_op(f, read).failed);
    close_end(&f->stub);
    close_end(&f->memory);
    assert_true(do_op(f, (struct core_op){.kind = CORE_READ_REGISTER, .name = "r0"}).failed);
    assert_true(do_op(f, (struct core_op){.kind = CORE_HALT}).failed);
    assert_true(do_op(f, read).failed);
    assert_true(do_op(f, read).failed);
    take(f);
    turn_until(f, &f->dropped, 1);
    assert_int_equal(f->emulator.holder, EMULATOR_FREE);
    free_fixture(f);
}

/* So it is in the first moments of a boot: QEMU has been started, and has not made its sockets. */
TEST(an_emulator_that_is_just_starting_is_waited_for)
{
    struct fixture *f = make_fixture();
    struct core_op read = {.kind = CORE_READ_BUS, .address = 0x40000000, .bytes = 4};

    close_end(&f->stub);
    close_end(&f->memory);
    unlink(f->stub.path);
    unlink(f->memory.path);
    take(f);
    assert_false(emulator_begin(&f->emulator, &read));
    turn_for(f, 50);
    assert_int_equal(f->attached + f->dropped + f->done, 0);
    open_end(f, &f->stub, "n3.stub");
    open_end(f, &f->memory, "n3.qtest");
    turn_until(f, &f->attached, 1);
    turn_until(f, &f->done, 1);
    assert_false(read.failed);
    emulator_release(&f->emulator, true);
    free_fixture(f);
}

TEST(a_silent_emulator_is_given_up)
{
    struct fixture *f = make_fixture();
    struct core_op halt = {.kind = CORE_HALT};
    struct core_op read = {.kind = CORE_READ_BUS, .address = 0x40000000, .bytes = 4};

    f->mute = true;
    assert_false(emulator_begin(&f->emulator, &halt));
    hasten(&f->emulator.bound);
    turn_until(f, &f->done, 1);
    assert_true(halt.failed);
    assert_int_equal(f->emulator.holder, EMULATOR_FREE);
    assert_false(emulator_begin(&f->emulator, &read));
    hasten(&f->emulator.memory_bound);
    turn_until(f, &f->done, 2);
    assert_true(read.failed);
    take(f);
    hasten(&f->emulator.bound);
    turn_until(f, &f->dropped, 1);
    free_fixture(f);
}

TEST(an_emulator_is_left_before_it_is_reached)
{
    struct fixture *f = make_fixture();
    struct core_op halt = {.kind = CORE_HALT};

    assert_false(emulator_begin(&f->emulator, &halt));
    free_fixture(f);
}
