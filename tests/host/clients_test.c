/*
 * The clients of a machine that stays: whoever hangs up, or does not read, is taken away by the
 * loop, and never while somebody is told something.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/machine/clients.h"

enum { TURNS_MAX = 1000000 };

struct fixture {
    uv_loop_t loop;
    struct clients clients;
    char path[64];
    unsigned asked, gone, taken;
    bool telling;
};

static void note_request(void *context, struct client *client, const json_t *request)
{
    struct fixture *f = context;

    (void)client;
    f->asked += json_object_get(request, "verb") != NULL;
}

static void note_taken(void *context, const struct line_receipt *receipt)
{
    ((struct fixture *)context)->taken += receipt->bytes;
}

static void note_gone(void *context, struct client *client)
{
    struct fixture *f = context;

    assert_false(f->telling);
    assert_true(client->doomed);
    f->gone++;
    /* What its owner does then is told to the others, some of which may be gone, too. */
    for (struct client *other = f->clients.first; other; other = other->next) {
        client_tell(other, json_pack("{s:s}", "event", "cancelled"));
    }
}

static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct clients_owner owner = {
        .context = f, .request = note_request, .taken = note_taken, .gone = note_gone};
    char directory[] = "/tmp/ecube-clients.XXXXXX";

    assert_non_null(mkdtemp(directory));
    snprintf(f->path, sizeof f->path, "%s/control", directory);
    uv_loop_init(&f->loop);
    assert_int_equal(clients_listen(&f->clients, &f->loop, f->path, &owner), 0);
    return f;
}

static void free_fixture(struct fixture *f)
{
    clients_close(&f->clients);
    for (unsigned i = 0; i < TURNS_MAX && uv_loop_alive(&f->loop); i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(uv_loop_close(&f->loop), 0);
    unlink(f->path);
    *strrchr(f->path, '/') = '\0';
    assert_int_equal(rmdir(f->path), 0);
    free(f);
}

static unsigned count(const struct fixture *f)
{
    unsigned all = 0;

    for (const struct client *client = f->clients.first; client; client = client->next) {
        all++;
    }
    return all;
}

/* A client that is connected; its end. */
static int connect_client(struct fixture *f)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    unsigned before = count(f);

    memcpy(address.sun_path, f->path, sizeof f->path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    for (unsigned i = 0; i < TURNS_MAX && count(f) == before; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(count(f), before + 1);
    return fd;
}

static void tell_all(struct fixture *f)
{
    f->telling = true;
    for (struct client *client = f->clients.first; client; client = client->next) {
        client_tell(client, json_pack("{s:s}", "event", "console"));
    }
    f->telling = false;
}

/* Lets the loop do what it can without waiting. */
static void turn(struct fixture *f)
{
    for (unsigned i = 0; i < 20; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
}

TEST(who_hangs_up_is_taken_away_by_the_loop)
{
    struct fixture *f = make_fixture();
    int fds[3];

    for (unsigned i = 0; i < 3; i++) {
        fds[i] = connect_client(f);
    }
    close(fds[0]);
    close(fds[2]);
    tell_all(f); /* the connections of two fail here */
    tell_all(f);
    assert_int_equal(count(f), 3);
    assert_int_equal(f->gone, 0);
    turn(f);
    assert_int_equal(count(f), 1);
    assert_int_equal(f->gone, 2);
    tell_all(f);
    turn(f);
    assert_int_equal(f->gone, 2);
    close(fds[1]);
    free_fixture(f);
}

static unsigned lines_of(int fd, unsigned *notes)
{
    static char text[1 << 16];
    unsigned lines = 0;
    ssize_t bytes;

    while ((bytes = recv(fd, text, sizeof text, MSG_DONTWAIT)) > 0) {
        for (ssize_t i = 0; i < bytes; i++) {
            lines += text[i] == '\n';
        }
        *notes += memmem(text, (size_t)bytes, "lines were left out", 19) != NULL;
    }
    return lines;
}

TEST(who_looks_on_and_does_not_read_misses_lines_and_is_told)
{
    enum { TOLD = 400, BYTES = 10000 };
    struct fixture *f = make_fixture();
    int fd = connect_client(f);
    char *much = calloc(1, BYTES + 1);
    unsigned notes = 0, lines = 0;

    memset(much, 'x', BYTES);
    for (unsigned i = 0; i < TOLD; i++) {
        client_show(f->clients.first, json_pack("{s:s, s:s}", "event", "console", "text", much));
    }
    assert_true(f->clients.first->left_out > TOLD / 2);
    for (unsigned i = 0; i < 200; i++) {
        turn(f);
        lines += lines_of(fd, &notes);
    }
    assert_int_equal(f->clients.first->left_out, 0);
    assert_in_range(lines, 2, TOLD);
    assert_int_equal(notes, 1);
    free(much);
    close(fd);
    free_fixture(f);
}

TEST(a_receipt_comes_back_when_its_line_is_on_its_way)
{
    enum { TOLD = 40, BYTES = 100000 };
    struct fixture *f = make_fixture();
    int fd = connect_client(f);
    char *much = calloc(1, BYTES + 1);
    struct line_receipt receipt = {1, 2, BYTES};
    unsigned notes = 0;

    memset(much, 'x', BYTES);
    for (unsigned i = 0; i < TOLD; i++) {
        client_tell_line(f->clients.first,
                         json_pack("{s:s, s:s}", "event", "console", "text", much), &receipt);
    }
    turn(f);
    assert_in_range(f->taken, 0, TOLD / 2 * BYTES); /* what fits into the socket */
    for (unsigned i = 0; i < 200; i++) {
        turn(f);
        lines_of(fd, &notes);
    }
    assert_int_equal(f->taken, TOLD * BYTES);
    assert_int_equal(f->gone, 0);
    free(much);
    close(fd);
    free_fixture(f);
}

TEST(a_request_may_come_in_pieces_and_counts_once)
{
    static const char text[] = "{\"verb\": \"ps\"}\n{\"verb\": \"ps\"}\n";
    struct fixture *f = make_fixture();
    int fd = connect_client(f);

    for (unsigned i = 0; i + 1 < sizeof text; i++) {
        assert_int_equal(write(fd, text + i, 1), 1);
        turn(f);
        assert_int_equal(f->asked, i >= 14);
    }
    close(fd);
    free_fixture(f);
}

TEST(one_client_too_many_is_not_listed_until_another_leaves)
{
    struct fixture *f = make_fixture();
    int fds[CLIENTS_MAX + 1], late;

    for (unsigned i = 0; i <= CLIENTS_MAX; i++) {
        fds[i] = connect_client(f);
        assert_int_equal(f->clients.first->listed, i < CLIENTS_MAX);
    }
    close(fds[0]);
    turn(f);
    late = connect_client(f);
    assert_true(f->clients.first->listed);
    close(late);
    for (unsigned i = 1; i <= CLIENTS_MAX; i++) {
        close(fds[i]);
    }
    free_fixture(f);
}
