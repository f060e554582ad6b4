/*
 * The chain's socket with real clients, at nodes whose emulators are gone.
 */
#include "tests/testing.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "jtag/daemon/chain_port.h"

enum { NODES = 2, TURNS_MAX = 20000, GARBAGE_BYTES = 20000, LEAVING_TURNS_MAX = 1000000 };

struct fixture {
    uv_loop_t loop;
    struct notifier notifier;
    struct emulator_machine machine;
    struct debug_node nodes[NODES];
    struct chain_port port;
    char directory[64];
};

static void on_gone(void *context)
{
    (void)context;
}

/* The emulators are dead: what has their sockets' names takes nobody. Without the names they would
 * count as starting. */
static void name_sockets(const struct fixture *f, bool there)
{
    static const char *const kinds[] = {"stub", "qtest"};
    char path[96];

    for (unsigned i = 0; i < 2 * NODES; i++) {
        snprintf(path, sizeof path, "%s/n%u.%s", f->directory, i / 2, kinds[i % 2]);
        if (there) {
            close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        } else {
            unlink(path);
        }
    }
}

static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);

    snprintf(f->directory, sizeof f->directory, "/tmp/ecube-chain.XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    name_sockets(f, true);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&f->loop);
    f->machine = (struct emulator_machine){.directory = f->directory,
                                           .ram = {0x40000000, 0x1000},
                                           .bus_count = 1,
                                           .buses = {{0x40000000, 0x1000}}};
    notifier_start(&f->notifier, &f->loop, -1, NODES, NOTICE_RUNNING, f, on_gone);
    for (unsigned i = 0; i < NODES; i++) {
        assert_int_equal(debug_node_open(&f->nodes[i], &f->loop, &f->machine, i, &f->notifier), 0);
    }
    assert_int_equal(chain_port_listen(&f->port, &f->loop, f->directory, f->nodes, NODES), 0);
    return f;
}

/* What a client has sent is taken before its end is seen. */
static void wait_for_end(struct fixture *f)
{
    for (unsigned i = 0; i < LEAVING_TURNS_MAX && f->port.client_count > 0; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(f->port.client_count, 0);
}

static void free_fixture(struct fixture *f)
{
    wait_for_end(f);
    chain_port_close(&f->port);
    for (unsigned i = 0; i < NODES; i++) {
        debug_node_close(&f->nodes[i]);
    }
    for (unsigned i = 0; i < LEAVING_TURNS_MAX && uv_loop_alive(&f->loop); i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(uv_loop_close(&f->loop), 0);
    name_sockets(f, false);
    assert_int_equal(rmdir(f->directory), 0);
    free(f);
}

static int connect_client(struct fixture *f)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    unsigned before = f->port.client_count;

    snprintf(address.sun_path, sizeof address.sun_path, "%s/chain", f->directory);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    for (unsigned i = 0; i < TURNS_MAX && f->port.client_count == before; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    return fd;
}

/* Sends all, while the loop turns; false: it is not taken. */
static bool send_all(struct fixture *f, int fd, const char *bytes, size_t count)
{
    for (unsigned i = 0; count > 0 && i < TURNS_MAX; i++) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);

        bytes += sent > 0 ? sent : 0;
        count -= sent > 0 ? (size_t)sent : 0;
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    return count == 0;
}

static unsigned receive_all(struct fixture *f, int fd, char *bytes, unsigned room)
{
    unsigned count = 0;

    for (unsigned i = 0; i < 200; i++) {
        ssize_t got = recv(fd, bytes + count, room - count, 0);

        count += got > 0 ? (unsigned)got : 0;
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    return count;
}

/* Clocks: TMS low is no bit of it. */
static void append_clock(char *text, unsigned tms, unsigned tdi)
{
    char bits[3] = {(char)('0' + 2 * tms + tdi), (char)('4' + 2 * tms + tdi)};

    strcat(text, bits);
}

TEST(every_client_sees_a_tap_for_each_node)
{
    struct fixture *f = make_fixture();
    char text[1024] = "", answer[256];
    int fds[2] = {connect_client(f), connect_client(f)};

    for (unsigned i = 0; i < 5; i++) {
        append_clock(text, 1, 0);
    }
    append_clock(text, 0, 0);
    append_clock(text, 1, 0);
    append_clock(text, 0, 0);
    append_clock(text, 0, 0); /* the identities are loaded here, Shift-DR begins */
    strcat(text, "0");
    for (unsigned i = 0; i < 64; i++) {
        strcat(text, "R");
        append_clock(text, 0, 1);
        strcat(text, "0");
    }
    for (unsigned c = 0; c < 2; c++) {
        uint64_t identities = 0;

        assert_true(send_all(f, fds[c], text, strlen(text)));
        assert_int_equal(receive_all(f, fds[c], answer, sizeof answer), 64);
        for (unsigned i = 0; i < 64; i++) {
            identities |= (uint64_t)(answer[i] == '1') << i;
        }
        assert_true(identities == 0x4ba004774ba00477);
    }
    close(fds[0]);
    close(fds[1]);
    free_fixture(f);
}

TEST(garbage_does_no_harm)
{
    struct fixture *f = make_fixture();
    char *garbage = malloc(GARBAGE_BYTES);
    uint32_t random = 1;
    int fd;

    for (unsigned round = 0; round < 8; round++) {
        for (unsigned i = 0; i < GARBAGE_BYTES; i++) {
            random = random * 1664525 + 1013904223;
            garbage[i] = round % 2 ? (char)(random >> 24) : "01234567rstu"[(random >> 24) % 12];
            garbage[i] = garbage[i] == 'Q' || garbage[i] == 'R' ? '0' : garbage[i];
        }
        fd = connect_client(f);
        assert_true(send_all(f, fd, garbage, GARBAGE_BYTES));
        close(fd);
    }
    free(garbage);
    free_fixture(f);
}

TEST(who_does_not_read_is_read_from_no_more)
{
    struct fixture *f = make_fixture();
    char *questions = malloc(GARBAGE_BYTES);
    int fd = connect_client(f), other = connect_client(f);
    char answer[8];
    bool taken = true;

    memset(questions, 'R', GARBAGE_BYTES);
    for (unsigned i = 0; taken && i < 1000; i++) {
        taken = send_all(f, fd, questions, GARBAGE_BYTES);
    }
    assert_false(taken);
    assert_true(send_all(f, other, "RR", 2));
    assert_int_equal(receive_all(f, other, answer, sizeof answer), 2);
    close(fd);
    close(other);
    free(questions);
    free_fixture(f);
}

TEST(who_says_good_bye_is_forgotten)
{
    struct fixture *f = make_fixture();
    int fd = connect_client(f);
    char byte;

    assert_true(send_all(f, fd, "RQR", 3));
    wait_for_end(f);
    assert_int_equal(recv(fd, &byte, 1, 0), 1);
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    close(fd);
    free_fixture(f);
}

TEST(too_many_clients_are_let_go)
{
    struct fixture *f = make_fixture();
    int fds[CHAIN_CLIENTS_MAX + 1];

    for (unsigned i = 0; i <= CHAIN_CLIENTS_MAX; i++) {
        fds[i] = connect_client(f);
    }
    assert_int_equal(f->port.client_count, CHAIN_CLIENTS_MAX);
    for (unsigned i = 0; i <= CHAIN_CLIENTS_MAX; i++) {
        close(fds[i]);
    }
    free_fixture(f);
}
